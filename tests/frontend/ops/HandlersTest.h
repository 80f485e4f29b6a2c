// SPDX-License-Identifier: Apache-2.0
// Every handler against the reference: a model of one node is imported, interpreted, and compared with what
// runtime/reference computes for the node. The node must compile: no fallback. The cases are in files by family.
#pragma once

#include "tests/frontend/TinyModel.h"

namespace tilewright::test {

struct Input {
  Shape shape;
  DType type = DType::F32;
  std::vector<int64_t> constant = {}; // contents of a constant integer input: int64, int32 or a byte each
  bool absent = false;
  bool isWeights = false; // random, but constant
  bool isFed = false;     // the contents are no constant, but given when running
  Shape from = {};        // where not empty, the model's input has this shape and is reshaped to `shape`
};

/// A random input that is constant.
inline Input weights(Shape shape, DType type = DType::F32) {
  Input input{std::move(shape), type};
  input.isWeights = true;
  return input;
}

/// A random input that a Reshape makes of one of shape `from`.
inline Input reshaped(Shape from, Shape shape, DType type = DType::F32) {
  Input input{std::move(shape), type};
  input.from = std::move(from);
  return input;
}

/// An input of int64 with these contents, known only when running.
inline Input fed(Shape shape, std::vector<int64_t> contents) {
  Input input{std::move(shape), DType::I64, std::move(contents)};
  input.isFed = true;
  return input;
}

using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>>;

struct Case {
  std::string op;
  std::vector<Input> inputs;
  std::vector<std::pair<std::string, AttributeValue>> attributes = {};
  int opset = 17;
  int outputs = 1;
  std::string domain = "";
};

std::ostream &operator<<(std::ostream &out, const Case &test);
std::string caseName(const testing::TestParamInfo<Case> &info);
/// The cases, as operators of com.microsoft.
std::vector<Case> ofMicrosoft(std::vector<Case> cases);

class HandlersTest : public testing::TestWithParam<Case> {};

} // namespace tilewright::test
