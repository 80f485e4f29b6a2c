// SPDX-License-Identifier: Apache-2.0
// The transforms of scores in ai.onnx.ml, with ONNX Runtime's special cases for a single score.
#include "runtime/reference/Scores.h"

#include <algorithm>
#include <cmath>

namespace tilewright::reference {

static double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// The quantile of the normal distribution by Winitzki's approximation of the inverse error function, which ONNX
/// Runtime uses.
static double probit(double p) {
  double x = 2 * p - 1, logarithm = std::log((1 - x) * (1 + x)), a = 2 / (3.14159 * 0.147) + 0.5 * logarithm;
  return 1.41421356 * std::copysign(std::sqrt(-a + std::sqrt(a * a - logarithm / 0.147)), x);
}

/// Softmax; with `keepZeros`, scores of zero stay zero.
static void softmax(std::vector<double> &scores, bool keepZeros) {
  double peak = *std::max_element(scores.begin(), scores.end()), sum = 0;
  for (double &score : scores) {
    bool isZero = keepZeros && std::abs(score) <= 1e-7;
    score = isZero ? score * std::exp(-peak) : std::exp(score - peak);
    sum += isZero ? 0 : score;
  }
  for (double &score : scores)
    score /= sum;
}

void writeScores(std::vector<double> scores, const std::string &transform, SecondScore second,
                 std::vector<double> &to) {
  if (transform != "NONE" && transform != "SOFTMAX" && transform != "LOGISTIC" && transform != "SOFTMAX_ZERO" &&
      transform != "PROBIT")
    malformed(fmt::format("expected post_transform to be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT, found '{}'",
                          transform));
  if (scores.size() == 1 && transform != "PROBIT") {
    double one = scores[0];
    if (transform == "LOGISTIC")
      scores = second == SecondScore::none ? std::vector{logistic(one)} : std::vector{logistic(-one), logistic(one)};
    else if (second != SecondScore::none)
      scores = {second == SecondScore::complement ? static_cast<float>(1 - one) : -one, one};
  } else if (transform == "PROBIT") {
    std::ranges::transform(scores, scores.begin(), probit);
  } else if (transform == "LOGISTIC") {
    std::ranges::transform(scores, scores.begin(), logistic);
  } else if (transform != "NONE" && !scores.empty()) {
    softmax(scores, transform == "SOFTMAX_ZERO");
  }
  to.insert(to.end(), scores.begin(), scores.end());
}

} // namespace tilewright::reference
