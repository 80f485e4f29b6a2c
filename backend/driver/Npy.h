// NumPy's .npy files: one dense tensor with its type and shape. (Format 1.0 to 3.0, numpy.lib.format.)
#pragma once

#include "runtime/Status.h"
#include "runtime/Tensor.h"

#include <filesystem>

namespace tilewright {

/// Reads a C-ordered little-endian array. Code::Malformed names what is wrong with the file.
Expected<Tensor> readNpy(const std::filesystem::path &path);

/// Writes `tensor`; bfloat16, which NumPy has no name for, as its uint16 bits.
Status writeNpy(const std::filesystem::path &path, const Tensor &tensor);

} // namespace tilewright
