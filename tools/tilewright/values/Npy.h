// NumPy's .npy files: one dense tensor with its type and shape. (Format 1.0 to 3.0, numpy.lib.format.)
#pragma once

#include "runtime/Status.h"
#include "runtime/Tensor.h"

#include <filesystem>
#include <span>

namespace tilewright {

/// Reads a C-ordered little-endian array. Code::Malformed names what is wrong with the file.
Expected<Tensor> readNpy(const std::filesystem::path &path);

/// The same of bytes in memory; `name` is how messages call them.
Expected<Tensor> parseNpy(std::span<const std::byte> bytes, const std::string &name);

/// Writes `tensor`; bfloat16, which NumPy has no name for, as its uint16 bits.
Status writeNpy(const std::filesystem::path &path, const Tensor &tensor);

/// What precedes the elements in a file: writeNpy's first bytes.
std::string npyHeader(const Tensor &tensor);

} // namespace tilewright
