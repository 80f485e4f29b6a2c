// Strings among kernels that know numbers: moved and compared as numbers, converted to and from them.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// Runs a kernel that only moves or compares elements. Each string is given to it as its rank among all strings of the
/// call, an int64 (the empty string is 0, which is what such kernels fill with), so equal and ordered strings are equal
/// and ordered numbers. The first `stringOutputs` outputs are ranks, and become strings again.
std::vector<Tensor> runOnNumbers(Kernel kernel, const ReferenceCall &node, std::span<const Tensor> inputs,
                                 size_t stringOutputs);

/// The tensor with another element type, either of which may be String. Numbers are written as ONNX Runtime does:
/// floats with 8 significant digits, "NaN", "INF", "-INF"; and read by the longest prefix that is a number: Malformed
/// where there is none.
Tensor convertStrings(const Tensor &tensor, DType type);

} // namespace tilewright::reference
