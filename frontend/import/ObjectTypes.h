// SPDX-License-Identifier: Apache-2.0
// Types of values that are not tensors of numbers: what is known of the elements of a sequence or the content of an
// optional value.
#pragma once

#include "frontend/builder/NodeBuilder.h"

#include "onnx/onnx.pb.h"

namespace tilewright {

/// Key of an Optional node's attribute `type`, which the import keeps as a serialized TypeProto.
inline constexpr std::string_view serializedType = "type (TypeProto)";

/// The type of a value.
OnnxTypePtr typeOf(const ImportedValue &value);
/// The most precise type that covers both. Null means "no elements", which every type covers.
OnnxTypePtr commonType(const OnnxTypePtr &a, const OnnxTypePtr &b);
bool sameType(const OnnxTypePtr &a, const OnnxTypePtr &b);
/// Whether a size contains only the first `symbols` symbols: in a body, those of the surrounding graph.
bool isKnownBy(mlir::AffineExpr size, unsigned symbols);
/// The type as far as it is known outside of a body, whose own symbols come after the first `symbols`.
OnnxTypePtr typeOutside(const OnnxTypePtr &type, unsigned symbols);
/// A type that the model declares. Without a shape its rank is unknown. Unsupported: sparse tensors, and element types
/// that no kernel handles.
OnnxTypePtr declaredType(ImportState &state, const onnx::TypeProto &type, const std::string &name);

/// Result types of an operator on sequences or optional values; nullopt for other operators.
std::optional<std::vector<OnnxType>> objectResultTypes(NodeBuilder &builder);

} // namespace tilewright
