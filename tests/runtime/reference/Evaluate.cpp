// SPDX-License-Identifier: Apache-2.0
// Tensors from literals, and comparisons with messages that name the element.
#include "tests/runtime/reference/Evaluate.h"

#include "runtime/reference/Kernel.h"

#include <cmath>

namespace tilewright::test {

Tensor tensor(DType type, Shape shape, std::initializer_list<double> values) {
  return reference::store(type, shape, std::vector<double>(values));
}

Tensor counting(Shape shape, double start, double step, DType type) {
  std::vector<double> values(elementCount(shape));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = start + step * static_cast<double>(i);
  return reference::store(type, shape, values);
}

Expected<std::vector<Tensor>> Node::operator()(std::vector<Tensor> inputs) const {
  ReferenceCall call{op, domain, opset, &attributes, outputs};
  return evaluate(call, inputs);
}

void expectTensor(const Tensor &found, const Tensor &expected) {
  ASSERT_TRUE(found.defined());
  ASSERT_EQ(name(found.type()), name(expected.type()));
  ASSERT_EQ(found.shape(), expected.shape());
  reference::Values<double> left(found), right(expected);
  for (int64_t i = 0; i < left.size(); ++i)
    if (!(std::isnan(left[i]) && std::isnan(right[i])) && left[i] != right[i])
      EXPECT_LE(std::abs(left[i] - right[i]), 1e-6 + 1e-6 * std::abs(right[i]))
          << "element " << i << ": found " << left[i] << ", expected " << right[i];
}

void expectOutputs(const Node &node, std::vector<Tensor> inputs, std::vector<Tensor> expected) {
  SCOPED_TRACE(std::string(node.op));
  Expected<std::vector<Tensor>> outputs = node(std::move(inputs));
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  ASSERT_EQ(outputs->size(), node.outputs);
  ASSERT_LE(expected.size(), outputs->size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i].defined())
      expectTensor((*outputs)[i], expected[i]);
}

void expectMalformed(const Node &node, std::vector<Tensor> inputs, std::string_view part) {
  SCOPED_TRACE(std::string(node.op));
  Expected<std::vector<Tensor>> outputs = node(std::move(inputs));
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.status().code(), Code::Malformed) << outputs.status().message();
  EXPECT_TRUE(outputs.status().message().find(part) != std::string::npos)
      << "found '" << outputs.status().message() << "', expected '" << part << "' in it";
}

} // namespace tilewright::test
