// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: one dense tensor with its type and shape. (Format 1.0 to 3.0, numpy.lib.format.)
#pragma once

#include "runtime/Status.h"
#include "runtime/Tensor.h"

#include <filesystem>
#include <span>

namespace tilewright {

/// Reads a C-ordered little-endian array. Code::Malformed names what is wrong with the file.
Expected<Tensor> readNpy(const std::filesystem::path &path);

/// The same from memory; `name` stands for the file in messages.
Expected<Tensor> parseNpy(std::span<const std::byte> bytes, const std::string &name);

/// Writes `tensor`; bfloat16, which NumPy does not have, as uint16 bit patterns.
Status writeNpy(const std::filesystem::path &path, const Tensor &tensor);

/// The header that precedes the elements in a file.
std::string npyHeader(const Tensor &tensor);

} // namespace tilewright
