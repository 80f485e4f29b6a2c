// SPDX-License-Identifier: Apache-2.0
// Optimizers: update each of n tensors X, given its gradient G and one or two states V, H.
//
//   inputs    rate, count, X1..Xn, G1..Gn, V1..Vn, H1..Hn        outputs    X1..Xn, V1..Vn, H1..Hn
#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

/// `step(x, gradient, states)` returns the new x and changes the states; `scalars` are rate and count.
template <typename Step> void optimize(NodeBuilder &b, size_t states, Step step) {
  size_t given = b.node.inputs.size(), n = given > 2 ? (given - 2) / (2 + states) : 0;
  b.expect(n > 0 && given == 2 + n * (2 + states),
           fmt::format("expected {} inputs for each tensor, got {}", 2 + states, given - 2));
  for (size_t i = 0; i < n; ++i) {
    DType type = b.type(2 + i);
    b.expect(type == DType::F32 || type == DType::F64, "expected floats or doubles");
    std::vector<Term> state;
    for (size_t s = 0; s < states; ++s)
      state.push_back(b.in(2 + (2 + s) * n + i));
    b.out(step(b.in(2 + i), b.in(2 + n + i), state), type, i);
    for (size_t s = 0; s < states; ++s)
      b.out(state[s], type, (1 + s) * n + i);
  }
}

/// Input `i`, a scalar, as the element type of `like`.
Term scalarLike(NodeBuilder &b, size_t i, Term like) {
  return b.reshape(b.convert(b.raw(i), b.type(i), like.element().isF64() ? DType::F64 : DType::F32), {});
}

Term isPositive(NodeBuilder &b, Term x) {
  return b.compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, x, b.like(x, 0));
}

} // namespace

void adagrad(NodeBuilder &b) {
  double norm = b.real("norm_coefficient", 0), epsilon = b.real("epsilon", 1e-6), decay = b.real("decay_factor", 0);
  optimize(b, 1, [&](Term x, Term gradient, std::vector<Term> &state) {
    Term rate = scalarLike(b, 0, x) / (scalarLike(b, 1, x) * decay + 1.0), g = x * norm + gradient;
    state[0] = state[0] + g * g;
    return x - rate * g / (b.sqrt(state[0]) + epsilon);
  });
}

void adam(NodeBuilder &b) {
  double alpha = b.real("alpha", 0.9), beta = b.real("beta", 0.999), norm = b.real("norm_coefficient", 0),
         after = b.real("norm_coefficient_post", 0), epsilon = b.real("epsilon", 1e-6);
  optimize(b, 2, [&](Term x, Term gradient, std::vector<Term> &state) {
    Term rate = scalarLike(b, 0, x), count = scalarLike(b, 1, x), started = isPositive(b, count);
    auto left = [&](double factor) { return 1.0 - b.exp(count * std::log(factor)); };
    rate = b.select(started, rate * b.sqrt(left(beta)) / b.select(started, left(alpha), b.like(count, 1)), rate);
    Term g = x * norm + gradient;
    state[0] = state[0] * alpha + g * (1 - alpha);
    state[1] = state[1] * beta + g * g * (1 - beta);
    return (x - rate * state[0] / (b.sqrt(state[1]) + epsilon)) * (1 - after);
  });
}

void momentum(NodeBuilder &b) {
  std::string mode = b.text("mode", "");
  b.expect(mode == "standard" || mode == "nesterov",
           fmt::format("expected mode to be standard or nesterov, got '{}'", mode));
  double alpha = b.real("alpha", 0), beta = b.real("beta", 0), norm = b.real("norm_coefficient", 0);
  optimize(b, 1, [&](Term x, Term gradient, std::vector<Term> &state) {
    Term rate = scalarLike(b, 0, x), count = scalarLike(b, 1, x), g = x * norm + gradient;
    state[0] = state[0] * alpha + b.select(isPositive(b, count), b.like(count, beta), b.like(count, 1)) * g;
    return x - rate * (mode == "nesterov" ? g + state[0] * alpha : state[0]);
  });
}

} // namespace tilewright::ops
