// SPDX-License-Identifier: Apache-2.0
// Models that no exporter writes.
#pragma once

#include "onnx/onnx.pb.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tilewright::test {

/// y = Relu(x), x: float32 [2, 3].
onnx::ModelProto reluModel();

/// Zeros: `count` of them, even if the shape has another number; -1: as many as the shape has.
onnx::TensorProto floatTensor(const std::string &name, std::vector<int64_t> dims, int64_t count = -1);

/// A model with a weight of two floats in an external file.
onnx::ModelProto externalDataModel(const std::string &location, const std::string &offset, const std::string &length);

struct HostileModel {
  std::string what;
  std::function<onnx::ModelProto()> make;
};

/// The table.
std::vector<HostileModel> hostileModels();

} // namespace tilewright::test
