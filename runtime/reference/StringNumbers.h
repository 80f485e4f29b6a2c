// SPDX-License-Identifier: Apache-2.0
// Strings for kernels of numbers: moved and compared as ranks; conversion between strings and numbers.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// Runs a kernel that only moves or compares elements on strings: replaces each by its rank among all strings of the
/// call, an int64 that compares as the string does. The empty string has rank 0, the fill value of such kernels. The
/// first `stringOutputs` outputs are ranks and become strings again.
std::vector<Tensor> runOnRanks(Kernel kernel, const ReferenceCall &node, std::span<const Tensor> inputs,
                               size_t stringOutputs);

/// The tensor with another element type, either of which may be String. Numbers are written as ONNX Runtime does:
/// floats with 8 significant digits, "NaN", "INF", "-INF"; and parsed from the longest prefix that is a number:
/// Malformed if there is none.
Tensor convertStrings(const Tensor &tensor, DType type);

} // namespace tilewright::reference
