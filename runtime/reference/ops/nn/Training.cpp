// SPDX-License-Identifier: Apache-2.0
// ai.onnx.preview.training: one step of an optimizer. Inputs are the rate R, the number of updates T, then n tensors X,
// their n gradients G, and n tensors for each state of the optimizer. Outputs are the new X and the new states, in the
// same order.
#include "runtime/reference/Kernels.h"

#include <array>
#include <cmath>

namespace tilewright::reference {

/// Calls update(x, g, states) for each element, which changes x and its states.
template <size_t States, typename Update> static void optimize(Call &call, Update update) {
  int64_t groups = 2 + States, tensors = (call.inputCount() - 2) / groups;
  require(call.inputCount() >= 2 + groups && (call.inputCount() - 2) % groups == 0,
          "expected R, T and as many gradients and states as tensors, found {} inputs", call.inputCount());
  for (int64_t n = 0; n < tensors; ++n) {
    const Tensor &x = call.input(2 + n);
    auto part = [&](int64_t group) -> const Tensor & {
      const Tensor &tensor = call.input(2 + group * tensors + n);
      require(isFloat(x.type()) && tensor.type() == x.type() && tensor.shape() == x.shape(),
              "expected {} of shape {}, found {} of shape {}", name(x.type()), x.shape(), name(tensor.type()),
              tensor.shape());
      return tensor;
    };
    Values<double> values(x), gradients(part(1));
    std::vector<double> result(values.begin(), values.end());
    std::array<std::vector<double>, States> states;
    for (size_t s = 0; s < States; ++s) {
      Values<double> old(part(2 + static_cast<int64_t>(s)));
      states[s].assign(old.begin(), old.end());
    }
    for (int64_t i = 0; i < values.size(); ++i) {
      std::array<double, States> own;
      for (size_t s = 0; s < States; ++s)
        own[s] = states[s][i];
      update(result[i], gradients[i], own);
      for (size_t s = 0; s < States; ++s)
        states[s][i] = own[s];
    }
    call.give(n, x.type(), x.shape(), result);
    for (size_t s = 0; s < States; ++s)
      call.give((1 + static_cast<int64_t>(s)) * tensors + n, x.type(), x.shape(), states[s]);
  }
}

void adagrad(Call &call) {
  double rate = call.scalar(0) / (1 + call.scalar(1) * call.real("decay_factor", 0)),
         norm = call.real("norm_coefficient", 0), epsilon = call.real("epsilon", 1e-6);
  optimize<1>(call, [=](double &x, double gradient, std::array<double, 1> &state) {
    double g = norm * x + gradient;
    state[0] += g * g;
    x -= rate * g / (std::sqrt(state[0]) + epsilon);
  });
}

void adam(Call &call) {
  double rate = call.scalar(0), count = call.scalar(1), alpha = call.real("alpha", 0.9),
         beta = call.real("beta", 0.999), norm = call.real("norm_coefficient", 0),
         after = call.real("norm_coefficient_post", 0), epsilon = call.real("epsilon", 1e-6);
  if (count > 0)
    rate *= std::sqrt(1 - std::pow(beta, count)) / (1 - std::pow(alpha, count));
  optimize<2>(call, [=](double &x, double gradient, std::array<double, 2> &state) {
    double g = norm * x + gradient;
    state[0] = alpha * state[0] + (1 - alpha) * g;
    state[1] = beta * state[1] + (1 - beta) * g * g;
    x = (1 - after) * (x - rate * state[0] / (std::sqrt(state[1]) + epsilon));
  });
}

void momentum(Call &call) {
  std::string mode = call.text("mode", "");
  require(mode == "standard" || mode == "nesterov", "expected mode to be standard or nesterov, found '{}'", mode);
  double rate = call.scalar(0), alpha = call.real("alpha", 0), beta = call.scalar(1) > 0 ? call.real("beta", 0) : 1,
         norm = call.real("norm_coefficient", 0);
  bool nesterov = mode == "nesterov";
  optimize<1>(call, [=](double &x, double gradient, std::array<double, 1> &state) {
    double g = norm * x + gradient;
    state[0] = alpha * state[0] + beta * g;
    x -= rate * (nesterov ? g + alpha * state[0] : state[0]);
  });
}

} // namespace tilewright::reference
