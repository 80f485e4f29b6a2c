// SPDX-License-Identifier: Apache-2.0
// A row for each operator on values that are not numbers, with the types of its results: trial runs on zeros and empty
// strings would not tell them.
#include "frontend/import/ObjectTypes.h"

#include "frontend/onnx/TensorData.h"

using namespace mlir;

namespace tilewright {

OnnxTypePtr typeOf(const ImportedValue &value) {
  bool shaped = !isObject(value.type) || value.type == DType::String;
  return std::make_shared<OnnxType>(
      OnnxType{value.type, shaped ? std::optional(value.sizes) : std::nullopt, value.element});
}

OnnxTypePtr commonType(const OnnxTypePtr &a, const OnnxTypePtr &b) {
  if (!a || !b)
    return a ? a : b;
  OnnxType both = *a;
  both.element = commonType(a->element, b->element);
  if (a->type != b->type || !a->sizes || !b->sizes || a->sizes->size() != b->sizes->size())
    both.sizes.reset();
  else
    for (auto [mine, other] : llvm::zip_equal(*both.sizes, *b->sizes))
      mine = mine == other ? mine : AffineExpr();
  return std::make_shared<OnnxType>(std::move(both));
}

bool sameType(const OnnxTypePtr &a, const OnnxTypePtr &b) {
  if (!a || !b)
    return !a && !b;
  return a->type == b->type && a->sizes == b->sizes && sameType(a->element, b->element);
}

bool isKnownBy(AffineExpr size, unsigned symbols) {
  bool known = true;
  size.walk([&](AffineExpr part) {
    if (auto symbol = llvm::dyn_cast<AffineSymbolExpr>(part))
      known &= symbol.getPosition() < symbols;
  });
  return known;
}

OnnxTypePtr typeOutside(const OnnxTypePtr &type, unsigned symbols) {
  if (!type)
    return nullptr;
  OnnxType outside = *type;
  outside.element = typeOutside(type->element, symbols);
  if (outside.sizes)
    for (AffineExpr &size : *outside.sizes)
      size = size && isKnownBy(size, symbols) ? size : AffineExpr();
  return std::make_shared<OnnxType>(std::move(outside));
}

OnnxTypePtr declaredType(ImportState &state, const onnx::TypeProto &type, const std::string &name) {
  OnnxType result;
  if (type.has_sequence_type() || type.has_optional_type()) {
    const onnx::TypeProto &inner =
        type.has_sequence_type() ? type.sequence_type().elem_type() : type.optional_type().elem_type();
    result = {type.has_sequence_type() ? DType::Sequence : DType::Optional, std::nullopt,
              declaredType(state, inner, name)};
    return std::make_shared<OnnxType>(std::move(result));
  }
  if (type.has_map_type())
    return std::make_shared<OnnxType>(
        OnnxType{DType::Map, std::nullopt, declaredType(state, type.map_type().value_type(), name)});
  if (!type.has_tensor_type())
    unsupported("'{}' is neither a tensor nor a sequence, an optional value or a map", name);
  Expected<DType> dtype = checkedDType(type.tensor_type().elem_type(), name);
  if (!dtype)
    throw ImportFailure{dtype.status()};
  result.type = *dtype;
  if (type.tensor_type().has_shape()) {
    result.sizes.emplace();
    for (const auto &dim : type.tensor_type().shape().dim())
      result.sizes->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? state.number(dim.dim_value())
                                                                          : AffineExpr());
  }
  return std::make_shared<OnnxType>(std::move(result));
}

namespace {

using Results = std::vector<OnnxType>;

OnnxType sequenceOf(OnnxTypePtr element) { return {DType::Sequence, std::nullopt, std::move(element)}; }
OnnxType number(DType type) { return {type, Sizes(), nullptr}; }

/// The element type of input 0, of a map the type of its values. Unsupported if it is not known.
Results element(NodeBuilder &b) {
  OnnxTypePtr held = b.input(0).element;
  if (!held)
    unsupported("nothing is known of the elements of '{}'", b.input(0).name);
  return {*held};
}

Results construct(NodeBuilder &b) {
  OnnxTypePtr all;
  for (size_t i = 0; i < b.node.inputs.size(); ++i)
    all = commonType(all, typeOf(b.input(i)));
  return {sequenceOf(all)};
}

Results empty(NodeBuilder &) { return {sequenceOf(nullptr)}; }
Results insert(NodeBuilder &b) { return {sequenceOf(commonType(b.input(0).element, typeOf(b.input(1))))}; }
Results erase(NodeBuilder &b) { return {sequenceOf(b.input(0).element)}; }
Results length(NodeBuilder &) { return {number(DType::I64)}; }
Results hasElement(NodeBuilder &) { return {number(DType::Bool)}; }

Results split(NodeBuilder &b) {
  OnnxType part{b.type(0), b.sizes(0), nullptr};
  int64_t axis = b.axis(b.integer("axis", 0), b.rank(0));
  if (!b.has(1) && b.integer("keepdims", 1) == 0)
    part.sizes->erase(part.sizes->begin() + axis);
  else
    (*part.sizes)[axis] = b.has(1) ? AffineExpr() : b.number(1);
  return {sequenceOf(std::make_shared<OnnxType>(std::move(part)))};
}

Results concat(NodeBuilder &b) {
  OnnxType whole = element(b).front();
  if (!whole.sizes)
    return {whole};
  bool isNew = b.integer("new_axis", 0) != 0;
  int64_t axis = b.axis(b.integer("axis", 0), static_cast<int64_t>(whole.sizes->size()) + isNew);
  if (isNew)
    whole.sizes->insert(whole.sizes->begin() + axis, AffineExpr());
  else
    (*whole.sizes)[axis] = {};
  return {whole};
}

/// Without an input, the attribute `type` has the type of the content.
Results optional(NodeBuilder &b) {
  OnnxTypePtr held = b.has(0) ? typeOf(b.input(0)) : nullptr;
  if (onnx::TypeProto type; !held && type.ParseFromString(b.text(serializedType, "")))
    held = declaredType(b.state, type, "type");
  b.node.attributes.erase(std::string(serializedType));
  return {{DType::Optional, std::nullopt, held}};
}

Results getElement(NodeBuilder &b) { return b.type(0) == DType::Optional ? element(b) : Results{*typeOf(b.input(0))}; }

Results zipMap(NodeBuilder &) {
  auto score = std::make_shared<OnnxType>(number(DType::F32));
  return {sequenceOf(std::make_shared<OnnxType>(OnnxType{DType::Map, std::nullopt, score}))};
}

/// [1, words], of the type of the map's values.
Results dictVectorizer(NodeBuilder &b) {
  size_t count = b.texts("string_vocabulary").size();
  if (count == 0)
    count = b.integers("int64_vocabulary").value_or(std::vector<int64_t>()).size();
  return {{element(b).front().type, Sizes{b.number(1), b.number(static_cast<int64_t>(count))}, nullptr}};
}

constexpr struct {
  std::string_view op, domain;
  Results (*results)(NodeBuilder &);
} rows[] = {
    {"SequenceConstruct", "", construct},
    {"SequenceEmpty", "", empty},
    {"SequenceAt", "", element},
    {"SequenceInsert", "", insert},
    {"SequenceErase", "", erase},
    {"SequenceLength", "", length},
    {"SplitToSequence", "", split},
    {"ConcatFromSequence", "", concat},
    {"Optional", "", optional},
    {"OptionalHasElement", "", hasElement},
    {"OptionalGetElement", "", getElement},
    {"ZipMap", "ai.onnx.ml", zipMap},
    {"DictVectorizer", "ai.onnx.ml", dictVectorizer},
};

} // namespace

std::optional<std::vector<OnnxType>> objectResultTypes(NodeBuilder &b) {
  for (const auto &row : rows)
    if (row.op == b.node.op && row.domain == b.node.domain)
      return row.results(b);
  return std::nullopt;
}

} // namespace tilewright
