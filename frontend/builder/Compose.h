// Operators made of operators: a fused operator's handler calls the handlers of the standard ones that it stands for.
//
//     FusedGemm = activation(Gemm(A, B, C))
//
//     ImportedValue *y = composed(b, "Gemm", {given(b, 0), given(b, 1), given(b, 2)}, attributes);
//
// What they build together is one ONNX node's work, and fuses as the standard spelling does.
#pragma once

#include "frontend/ops/Handlers.h"

namespace tilewright::ops {

/// The node's input as a value to hand on; null if it is absent.
ImportedValue *given(NodeBuilder &b, size_t i);

/// A term as a value of an ONNX type, narrowed to it.
ImportedValue *valueOf(NodeBuilder &b, Term term, DType type);

/// And back: half types are widened.
Term termOf(NodeBuilder &b, ImportedValue *value);

/// A constant.
ImportedValue *constantOf(NodeBuilder &b, const Tensor &tensor);

/// The outputs of a standard operator (domain "") by its own handler; declines and fails as that does.
llvm::SmallVector<ImportedValue *> composedAll(NodeBuilder &b, std::string_view op,
                                               llvm::ArrayRef<ImportedValue *> inputs, const Attributes &attributes,
                                               size_t outputs, int64_t opset = 21);

/// The first of them.
ImportedValue *composed(NodeBuilder &b, std::string_view op, llvm::ArrayRef<ImportedValue *> inputs,
                        const Attributes &attributes = {}, int64_t opset = 21);

/// The attributes that `names` lists, as the node has them.
Attributes selected(NodeBuilder &b, std::initializer_list<std::string_view> names);

/// x after the activation that FusedConv, FusedGemm and their kin name by `activation`; x itself if there is none.
ImportedValue *activated(NodeBuilder &b, ImportedValue *x);

/// Output `i` is a composed value.
void give(NodeBuilder &b, ImportedValue *value, size_t i = 0);

/// x [..., K], quantized to 8 bits by its range, times weights [K, N] of bytes, as floats; null where all zero points
/// are 0.
Term productWithBytes(NodeBuilder &b, ImportedValue *x, ImportedValue *weights, ImportedValue *scale,
                      ImportedValue *zero);

/// [N, ..., C] as [N, C, ...] and back.
ImportedValue *imageFirst(NodeBuilder &b, ImportedValue *x);
ImportedValue *imageLast(NodeBuilder &b, ImportedValue *x);

/// The handler of a standard operator that another domain copied, as of `opset`.
template <void (*handler)(NodeBuilder &), int64_t opset> void copied(NodeBuilder &b) {
  b.node.opset = opset;
  handler(b);
}

} // namespace tilewright::ops
