// SPDX-License-Identifier: Apache-2.0
// Mutations that make a valid node malformed.
#pragma once

#include "onnx/onnx.pb.h"

#include <functional>
#include <string>
#include <vector>

namespace tilewright::test {

struct Mutation {
  std::string name;
  std::function<void(onnx::ModelProto &)> apply;
};

/// Every wrong count, attribute, type, rank and size that the first node of `model` can be given, in a fixed order.
std::vector<Mutation> mutationsOf(const onnx::ModelProto &model);

} // namespace tilewright::test
