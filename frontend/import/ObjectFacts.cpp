// One row for each operator on sequences and optional values: what its results are, from what its inputs are.
#include "frontend/import/ObjectFacts.h"

#include "frontend/onnx/TensorData.h"

using namespace mlir;

namespace tilewright {

using Facts = std::shared_ptr<const ElementFacts>;

Facts factsOf(const ImportedValue &value) {
  bool shaped = !isObject(value.type) || value.type == DType::String;
  return std::make_shared<ElementFacts>(
      ElementFacts{value.type, shaped ? std::optional(value.sizes) : std::nullopt, value.element});
}

Facts join(Facts a, Facts b) {
  if (!a || !b)
    return a ? a : b;
  ElementFacts both = *a;
  both.element = join(a->element, b->element);
  if (a->type != b->type || !a->sizes || !b->sizes || a->sizes->size() != b->sizes->size())
    both.sizes.reset();
  else
    for (auto [mine, other] : llvm::zip_equal(*both.sizes, *b->sizes))
      mine = mine == other ? mine : AffineExpr();
  return std::make_shared<ElementFacts>(std::move(both));
}

bool same(const Facts &a, const Facts &b) {
  if (!a || !b)
    return !a && !b;
  return a->type == b->type && a->sizes == b->sizes && same(a->element, b->element);
}

Facts declaredElement(ImportState &state, const onnx::TypeProto &type, const std::string &name) {
  ElementFacts facts;
  if (type.has_sequence_type() || type.has_optional_type()) {
    const onnx::TypeProto &inner =
        type.has_sequence_type() ? type.sequence_type().elem_type() : type.optional_type().elem_type();
    facts = {type.has_sequence_type() ? DType::Sequence : DType::Optional, std::nullopt,
             declaredElement(state, inner, name)};
    return std::make_shared<ElementFacts>(std::move(facts));
  }
  if (type.has_map_type())
    return std::make_shared<ElementFacts>(ElementFacts{DType::Map, std::nullopt, nullptr});
  if (!type.has_tensor_type())
    unsupported("'{}' is neither a tensor nor a sequence, an optional value or a map", name);
  Expected<DType> dtype = checkedDType(type.tensor_type().elem_type(), name);
  if (!dtype)
    throw ImportFailure{dtype.status()};
  facts.type = *dtype;
  if (type.tensor_type().has_shape()) {
    facts.sizes.emplace();
    for (const auto &dim : type.tensor_type().shape().dim())
      facts.sizes->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? state.number(dim.dim_value())
                                                                         : AffineExpr());
  }
  return std::make_shared<ElementFacts>(std::move(facts));
}

namespace {

using Results = std::vector<ElementFacts>;

ElementFacts sequenceOf(Facts element) { return {DType::Sequence, std::nullopt, std::move(element)}; }
ElementFacts number(DType type) { return {type, Sizes(), nullptr}; }

/// What input 0 holds; nothing at all if no element is known of it.
Results element(NodeBuilder &b) {
  Facts facts = b.input(0).element;
  if (!facts)
    unsupported("nothing is known of the elements of '{}'", b.input(0).name);
  return {*facts};
}

Results construct(NodeBuilder &b) {
  Facts all;
  for (size_t i = 0; i < b.node.inputs.size(); ++i)
    all = join(all, factsOf(b.input(i)));
  return {sequenceOf(all)};
}

Results empty(NodeBuilder &) { return {sequenceOf(nullptr)}; }
Results insert(NodeBuilder &b) { return {sequenceOf(join(b.input(0).element, factsOf(b.input(1))))}; }
Results erase(NodeBuilder &b) { return {sequenceOf(b.input(0).element)}; }
Results length(NodeBuilder &) { return {number(DType::I64)}; }
Results hasElement(NodeBuilder &) { return {number(DType::Bool)}; }

Results split(NodeBuilder &b) {
  ElementFacts part{b.type(0), b.sizes(0), nullptr};
  int64_t axis = b.axis(b.integer("axis", 0), b.rank(0));
  if (!b.has(1) && b.integer("keepdims", 1) == 0)
    part.sizes->erase(part.sizes->begin() + axis);
  else
    (*part.sizes)[axis] = b.has(1) ? AffineExpr() : b.number(1);
  return {sequenceOf(std::make_shared<ElementFacts>(std::move(part)))};
}

Results concat(NodeBuilder &b) {
  ElementFacts whole = element(b).front();
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

/// The attribute `type` says what an optional value without an input would hold.
Results optional(NodeBuilder &b) {
  Facts held = b.has(0) ? factsOf(b.input(0)) : nullptr;
  if (onnx::TypeProto type; !held && type.ParseFromString(b.text(serializedType, "")))
    held = declaredElement(b.state, type, "type");
  b.node.attributes.erase(std::string(serializedType));
  return {{DType::Optional, std::nullopt, held}};
}

Results getElement(NodeBuilder &b) { return b.type(0) == DType::Optional ? element(b) : Results{*factsOf(b.input(0))}; }

constexpr struct {
  std::string_view op;
  Results (*results)(NodeBuilder &);
} rows[] = {
    {"SequenceConstruct", construct},   {"SequenceEmpty", empty},           {"SequenceAt", element},
    {"SequenceInsert", insert},         {"SequenceErase", erase},           {"SequenceLength", length},
    {"SplitToSequence", split},         {"ConcatFromSequence", concat},     {"Optional", optional},
    {"OptionalHasElement", hasElement}, {"OptionalGetElement", getElement},
};

} // namespace

std::optional<std::vector<ElementFacts>> objectResults(NodeBuilder &b) {
  if (!b.node.domain.empty())
    return std::nullopt;
  for (const auto &row : rows)
    if (row.op == b.node.op)
      return row.results(b);
  return std::nullopt;
}

} // namespace tilewright
