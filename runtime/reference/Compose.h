// Operators inside of operators: a fused operator's kernel is the standard ones that it stands for, evaluated one after
// the other.
//
//     FusedGemm = activation(Gemm(A, B, C))      Tensor y = composed("Gemm", {a, b, c}, attributes);
//
// What a fused operator rounds once, its parts must not round between: intermediate values are double (`wide`), and the
// last step converts to the output's type.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// The outputs of a standard operator (domain "") at `opset`. Fails as the operator itself does. Undefined inputs are
/// absent ones.
std::vector<Tensor> composedAll(std::string_view op, std::vector<Tensor> inputs, const Attributes &attributes,
                                size_t outputs, int64_t opset = 21);

/// The first of them.
Tensor composed(std::string_view op, std::vector<Tensor> inputs, const Attributes &attributes = {}, int64_t opset = 21);

/// The tensor in double, which every kernel takes where it takes floats.
inline Tensor wide(const Tensor &x) { return convert(x, DType::F64); }

/// One number in double.
Tensor wideScalar(double value);

/// x with its last dimension first among the spatial ones (N, C, ...) and back (N, ..., C).
Tensor channelsFirst(const Tensor &x);
Tensor channelsLast(const Tensor &x);

/// The attributes that `names` lists, as the call has them.
Attributes selected(Call &call, std::initializer_list<std::string_view> names);

/// x after the activation that FusedConv, FusedGemm and their kin name by `activation`; unchanged if there is none.
Tensor activated(Call &call, const Tensor &x);

/// The standard operator of the same name at `opset`: for operators that other domains copied.
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
