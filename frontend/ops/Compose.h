// SPDX-License-Identifier: Apache-2.0
// Operators composed of operators: the handler of a fused operator calls the handlers of the standard operators that
// it replaces.
//
//     FusedGemm = activation(Gemm(A, B, C))
//
//     ImportedValue *y = composed(b, "Gemm", {given(b, 0), given(b, 1), given(b, 2)}, attributes);
//
// Everything they build belongs to one ONNX node, and fuses as the standard operators would.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

/// Input `i` of the node, to pass on; null if it is absent.
ImportedValue *given(NodeBuilder &b, size_t i);

/// Converts a term to a value of an ONNX type (narrowing to half types).
ImportedValue *valueOf(NodeBuilder &b, Term term, DType type);

/// The reverse: half types are widened.
Term termOf(NodeBuilder &b, ImportedValue *value);

ImportedValue *constantOf(NodeBuilder &b, const Tensor &tensor);

/// The outputs of a standard operator (domain ""), built by its handler. Declines and fails as the handler does.
llvm::SmallVector<ImportedValue *> composedAll(NodeBuilder &b, std::string_view op,
                                               llvm::ArrayRef<ImportedValue *> inputs, const Attributes &attributes,
                                               size_t outputs, int64_t opset = 21);

/// The first output.
ImportedValue *composed(NodeBuilder &b, std::string_view op, llvm::ArrayRef<ImportedValue *> inputs,
                        const Attributes &attributes = {}, int64_t opset = 21);

/// Those of the node's attributes that `names` lists.
Attributes selected(NodeBuilder &b, std::initializer_list<std::string_view> names);

/// Applies the activation that FusedConv, FusedGemm and similar operators name in `activation`, if there is one.
ImportedValue *activated(NodeBuilder &b, ImportedValue *x);

/// Makes `value` output `i` of the node.
void give(NodeBuilder &b, ImportedValue *value, size_t i = 0);

/// x [..., K], quantized to 8 bits by its range, times weights [K, N] of bytes, as floats. `zero` is null if all zero
/// points are 0.
Term productWithBytes(NodeBuilder &b, ImportedValue *x, ImportedValue *weights, ImportedValue *scale,
                      ImportedValue *zero);

/// [N, ..., C] as [N, C, ...] and back.
ImportedValue *imageFirst(NodeBuilder &b, ImportedValue *x);
ImportedValue *imageLast(NodeBuilder &b, ImportedValue *x);

} // namespace tilewright::ops
