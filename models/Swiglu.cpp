// SPDX-License-Identifier: Apache-2.0
// The MLP of current language models: x + (silu(n W1) * (n W3)) W2 with n = rmsNorm(x), in primitives as exporters
// write it.
#include "models/Demos.h"

#include <cmath>

void tilewright::models::buildSwiglu(ModelBuilder &m) {
  constexpr int64_t hidden = 512, wide = 1408;
  Value x = m.input("x", {"batch", "seq", hidden});

  Value square = m.op("Pow", {x, m.scalar("two", 2)}, {}, "norm.square");
  Value mean = m.op("ReduceMean", {square}, {{"axes", std::vector<int64_t>{-1}}}, "norm.mean");
  Value root = m.op("Sqrt", {m.op("Add", {mean, m.scalar("epsilon", 1e-6)}, {}, "norm.stabilize")}, {}, "norm.root");
  Value inverse = m.op("Reciprocal", {root}, {}, "norm.reciprocal");
  Value normal = m.op("Mul", {x, inverse}, {}, "norm.normalize");
  Value n = m.op("Mul", {m.weight("norm.scale", {hidden}, 0.1, 1.0), normal}, {}, "norm.scaled");

  Value gate = m.op("MatMul", {n, m.weight("gate.weight", {hidden, wide}, 1 / std::sqrt(double(hidden)))}, {}, "gate");
  Value up = m.op("MatMul", {n, m.weight("up.weight", {hidden, wide}, 1 / std::sqrt(double(hidden)))}, {}, "up");
  Value silu = m.op("Mul", {gate, m.op("Sigmoid", {gate}, {}, "sigmoid")}, {}, "silu");
  Value product = m.op("Mul", {silu, up}, {}, "product");
  Value down =
      m.op("MatMul", {product, m.weight("down.weight", {wide, hidden}, 1 / std::sqrt(double(wide)))}, {}, "down");
  m.output("y", m.op("Add", {x, down}, {}, "residual"), {"batch", "seq", hidden});
}
