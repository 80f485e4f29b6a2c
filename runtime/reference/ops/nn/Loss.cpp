// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss; and SoftmaxCrossEntropyLoss, which is that of a LogSoftmax over the classes.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <cmath>

namespace tilewright::reference {

/// Scores [N, C, d...] as log-probabilities, targets [N, d...] as classes, an optional weight for each class.
static void logLikelihoodLoss(Call &call, const std::vector<double> &scores) {
  const Tensor &x = call.input(0);
  AxisView view(x.shape(), 1);
  Shape shape = x.shape();
  shape.erase(shape.begin() + 1);
  require(call.input(1).shape() == shape, "expected targets of shape {}, found {}", shape, call.input(1).shape());
  std::vector<int64_t> targets = call.indices(1);
  std::vector<double> weights(view.size, 1), losses(targets.size());
  if (call.has(2)) {
    require(call.input(2).shape() == Shape{view.size}, "expected weights of shape [{}], found {}", view.size,
            call.input(2).shape());
    Values<double> given(call.input(2));
    weights.assign(given.begin(), given.end());
  }
  std::optional<int64_t> ignored;
  if (call.hasAttribute("ignore_index"))
    ignored = call.integer("ignore_index", 0);
  double sum = 0, total = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(targets.size()); ++i) {
    int64_t target = targets[i];
    if (target == ignored)
      continue;
    require(0 <= target && target < view.size, "index {} is out of range for dimension 1 of size {}", target,
            view.size);
    losses[i] = -scores[(i / view.inner * view.size + target) * view.inner + i % view.inner] * weights[target];
    sum += losses[i];
    total += weights[target];
  }
  std::string reduction = call.text("reduction", "mean");
  if (reduction == "none")
    return call.give(0, x.type(), shape, losses);
  require(reduction == "sum" || reduction == "mean", "expected reduction to be none, sum or mean, found '{}'",
          reduction);
  call.give(0, x.type(), {}, std::vector<double>{reduction == "sum" ? sum : sum / total});
}

static void expectClasses(Call &call) {
  require(call.input(0).rank() >= 2, "expected scores of rank 2 or more, found shape {}", call.input(0).shape());
}

void negativeLogLikelihoodLoss(Call &call) {
  expectClasses(call);
  Values<double> scores(call.input(0));
  logLikelihoodLoss(call, {scores.begin(), scores.end()});
}

void softmaxCrossEntropyLoss(Call &call) {
  expectClasses(call);
  const Tensor &x = call.input(0);
  AxisView view(x.shape(), 1);
  Values<double> values(x);
  std::vector<double> scores(values.begin(), values.end());
  for (int64_t o = 0; o < view.outer && view.size > 0; ++o)
    for (int64_t i = 0; i < view.inner; ++i) {
      double *at = scores.data() + o * view.size * view.inner + i, peak = -HUGE_VAL, sum = 0;
      for (int64_t k = 0; k < view.size; ++k)
        peak = std::max(peak, at[k * view.inner]);
      for (int64_t k = 0; k < view.size; ++k)
        sum += std::exp(at[k * view.inner] - peak);
      for (int64_t k = 0; k < view.size; ++k)
        at[k * view.inner] -= peak + std::log(sum);
    }
  logLikelihoodLoss(call, scores);
  if (call.wants(1))
    call.give(1, x.type(), x.shape(), scores);
}

} // namespace tilewright::reference
