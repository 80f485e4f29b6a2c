// SPDX-License-Identifier: Apache-2.0
// Sequences, maps and optional values in the files of ONNX test data (frontend/onnx/Values.proto).
#pragma once

#include "runtime/Status.h"
#include "tools/tilewright/values/NamedTensor.h"

#include <filesystem>

namespace tilewright {

/// Reads a value of `type`: a Sequence, an Optional or a Map, which the file itself does not tell apart.
Expected<NamedTensor> readValueProto(const std::filesystem::path &path, DType type);

} // namespace tilewright
