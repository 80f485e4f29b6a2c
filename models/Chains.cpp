// SPDX-License-Identifier: Apache-2.0
// Memory-bound chains, whose time fusion nearly eliminates.
#include "models/Demos.h"

#include <cmath>

using namespace tilewright::models;

/// y = relu(tanh(x s + b) z - 0.5 x) + z / (1 + |x|) ..., twelve nodes, two inputs, one output; broadcasts along rows.
void tilewright::models::buildElementwise(ModelBuilder &m) {
  Value x = m.input("x", {"rows", "columns"}), z = m.input("z", {"rows", "columns"});
  Value scaled = m.op("Mul", {x, m.scalar("scale", 1.25)}, {}, "scaled");
  Value shifted = m.op("Add", {scaled, m.scalar("shift", -0.5)}, {}, "shifted");
  Value bent = m.op("Tanh", {shifted}, {}, "tanh");
  Value mixed = m.op("Mul", {bent, z}, {}, "mixed");
  Value half = m.op("Mul", {x, m.scalar("half", 0.5)}, {}, "half_of");
  Value difference = m.op("Sub", {mixed, half}, {}, "difference");
  Value positive = m.op("Relu", {difference}, {}, "relu");
  Value size = m.op("Abs", {x}, {}, "abs");
  Value denominator = m.op("Add", {size, m.scalar("one", 1)}, {}, "denominator");
  Value quotient = m.op("Div", {z, denominator}, {}, "quotient");
  Value sum = m.op("Add", {positive, quotient}, {}, "sum");
  m.output("y", m.op("Sigmoid", {sum}, {}, "sigmoid"), {"rows", "columns"});
}

/// layerNorm(gelu(layerNorm(x + residual)) + x): two reductions of the same rows with pointwise work between.
void tilewright::models::buildNorm(ModelBuilder &m) {
  constexpr int64_t size = 1024;
  Value x = m.input("x", {"rows", size}), residual = m.input("residual", {"rows", size});
  Value first = m.layerNorm("norm1", m.op("Add", {x, residual}, {}, "add1"), size);
  Value second = m.layerNorm("norm2", m.op("Add", {m.gelu("gelu", first), x}, {}, "add2"), size);
  m.output("y", second, {"rows", size});
}

/// softmax(x / 8 + bias) * 2 over rows of any length.
void tilewright::models::buildSoftmax(ModelBuilder &m) {
  Value x = m.input("x", {"rows", "columns"}), bias = m.input("bias", {"rows", "columns"});
  Value scaled = m.op("Div", {x, m.scalar("eight", 8)}, {}, "scale");
  Value probabilities = m.op("Softmax", {m.op("Add", {scaled, bias}, {}, "add")}, {{"axis", int64_t(-1)}}, "softmax");
  m.output("y", m.op("Mul", {probabilities, m.scalar("two", 2)}, {}, "double"), {"rows", "columns"});
}
