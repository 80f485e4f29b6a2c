// A model whose small inputs have become constants: what a compiler knows of it once the values are at hand.
#pragma once

#include "tools/tilewright/values/TensorFiles.h"

#include <memory>

namespace tilewright {

/// The model at `path` with the contents of its deciding inputs as initializers: integers and floats of rank 0 or 1
/// with at most 64 elements (axes, pads, shapes, scales, k), but never the first input, so that something is left to
/// compute. `given` are the inputs by position. Code::Unsupported if there is none of them.
Expected<std::shared_ptr<std::string>> freezeInputs(const std::string &path, const std::vector<NamedTensor> &given);

} // namespace tilewright
