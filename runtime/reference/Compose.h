// SPDX-License-Identifier: Apache-2.0
// Operators made of operators: the kernel of a fused operator evaluates the standard ones that it stands for.
//
//     FusedGemm = activation(Gemm(A, B, C))      Tensor y = composed("Gemm", {a, b, c}, attributes);
//
// A fused operator rounds once, at the end: intermediate values are double (`wide`), and the last step converts to the
// output's type.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// The outputs of a standard operator (domain "") at `opset`. Fails as the operator itself does. Undefined tensors are
/// absent inputs.
std::vector<Tensor> composedAll(std::string_view op, std::vector<Tensor> inputs, const Attributes &attributes,
                                size_t outputs, int64_t opset = 21);

/// The first of them.
Tensor composed(std::string_view op, std::vector<Tensor> inputs, const Attributes &attributes = {}, int64_t opset = 21);

/// The tensor in double, which every kernel of floats accepts.
inline Tensor wide(const Tensor &x) { return convert(x, DType::F64); }

/// A scalar in double.
Tensor wideScalar(double value);

/// x transposed from channels last (N, ..., C) to channels first (N, C, ...), and back.
Tensor channelsFirst(const Tensor &x);
Tensor channelsLast(const Tensor &x);

/// The attributes that `names` lists, as the call has them.
Attributes selected(Call &call, std::initializer_list<std::string_view> names);

/// x after the activation that FusedConv, FusedGemm and their kin name by `activation`; unchanged if there is none.
Tensor activated(Call &call, const Tensor &x);

/// The kernel of the standard operator of the same name at `opset`: for copies of it in other domains.
template <int64_t opset> void asStandard(Call &call) {
  std::vector<Tensor> inputs;
  for (int64_t i = 0; i < call.inputCount(); ++i)
    inputs.push_back(call.has(i) ? call.input(i) : Tensor());
  std::vector<Tensor> outputs =
      composedAll(call.op(), std::move(inputs), call.attributes(), static_cast<size_t>(call.outputCount()), opset);
  for (size_t i = 0; i < outputs.size(); ++i)
    call.give(static_cast<int64_t>(i), outputs[i]);
}

} // namespace tilewright::reference
