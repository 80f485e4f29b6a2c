// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of reference kernels: tensors from literals, evaluation of one node, comparison of values and
// messages.
#pragma once

#include "runtime/reference/Reference.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace tilewright::test {

Tensor tensor(DType type, Shape shape, std::initializer_list<double> values);
inline Tensor floats(Shape shape, std::initializer_list<double> values) {
  return tensor(DType::F32, std::move(shape), values);
}
inline Tensor ints(Shape shape, std::initializer_list<double> values) {
  return tensor(DType::I64, std::move(shape), values);
}
inline Tensor vector(std::initializer_list<double> values) {
  return floats({static_cast<int64_t>(values.size())}, values);
}
inline Tensor indices(std::initializer_list<double> values) {
  return ints({static_cast<int64_t>(values.size())}, values);
}
inline Tensor scalar(double value) { return floats({}, {value}); }

/// start, start + step, ...
Tensor counting(Shape shape, double start = 0, double step = 1, DType type = DType::F32);

/// A node; `call` lists the version where an operator changed.
struct Node {
  std::string_view op;
  int64_t opset = 17;
  Attributes attributes = {};
  size_t outputs = 1;
  std::string_view domain = "";

  Expected<std::vector<Tensor>> operator()(std::vector<Tensor> inputs) const;
};

/// Compares type, shape and values, to 1e-6 relative and absolute.
void expectTensor(const Tensor &found, const Tensor &expected);

/// The node computes `expected` as its outputs; undefined ones are not compared.
void expectOutputs(const Node &node, std::vector<Tensor> inputs, std::vector<Tensor> expected);

/// The node fails as malformed with a message that contains `part`.
void expectMalformed(const Node &node, std::vector<Tensor> inputs, std::string_view part);

} // namespace tilewright::test
