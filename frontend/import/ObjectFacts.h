// What the import knows of values that are no tensors of numbers: which elements a sequence has, what an optional value
// holds.
#pragma once

#include "frontend/builder/NodeBuilder.h"

#include "onnx/onnx.pb.h"

namespace tilewright {

/// The attribute `type` of an Optional node, as the import keeps it: a serialized TypeProto.
inline constexpr std::string_view serializedType = "type (TypeProto)";

/// What `value` is, as an element of something.
std::shared_ptr<const ElementFacts> factsOf(const ImportedValue &value);
/// What holds of both; null stands for "no elements", which agrees with everything.
std::shared_ptr<const ElementFacts> join(std::shared_ptr<const ElementFacts> a, std::shared_ptr<const ElementFacts> b);
/// Whether both say the same.
bool same(const std::shared_ptr<const ElementFacts> &a, const std::shared_ptr<const ElementFacts> &b);
/// What a model declares: a type without a shape has an unknown rank. Unsupported: sparse tensors and types that no
/// kernel holds.
std::shared_ptr<const ElementFacts> declaredElement(ImportState &state, const onnx::TypeProto &type,
                                                    const std::string &name);

/// Facts of the results of an operator on sequences or optional values; nothing for other operators. A result of
/// unknown rank has no sizes, a size that elements do not share is null.
std::optional<std::vector<ElementFacts>> objectResults(NodeBuilder &builder);

} // namespace tilewright
