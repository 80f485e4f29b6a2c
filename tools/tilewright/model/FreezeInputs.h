// SPDX-License-Identifier: Apache-2.0
// Turns a model's small inputs into constants.
#pragma once

#include "tools/tilewright/values/TensorFiles.h"

#include <memory>

namespace tilewright {

/// The model at `path` with the contents of its small inputs as initializers: integers and floats of rank 0 or 1 with
/// at most 64 elements (axes, pads, shapes, scales, k), but never the first input, which is data. `given` are the
/// inputs by position. Code::Unsupported if the model has no such input.
Expected<std::shared_ptr<std::string>> freezeInputs(const std::string &path, const std::vector<NamedTensor> &given);

} // namespace tilewright
