// A reference kernel's result types, learned by running it on zeros.
//
// With symbolic sizes it runs twice, each symbol with another small number. Where the operator only copies sizes, a
// result size that stays and that no symbolic size of the inputs explains is a constant, and one that exactly one of
// them explains is that size. Any other is a fresh symbol, which the call binds from what it returns; it keeps the two
// numbers that it had here, so that the kernels that read it are tried at sizes that fit each other.
#include "frontend/import/HostCall.h"

#include "frontend/import/ObjectFacts.h"
#include "frontend/onnx/TensorData.h"
#include "runtime/artifact/StringConstants.h"

using namespace mlir;

namespace tilewright {
namespace {

/// Operators whose result sizes depend on the elements of what they read, and the only dimension that does where there
/// is one.
struct DataDependentRow {
  std::string_view op;
  int64_t dim;
};
constexpr DataDependentRow dataDependent[] = {{"Compress", -1},         {"NonMaxSuppression", 0}, {"NonZero", 1},
                                              {"StringNormalizer", -1}, {"StringSplit", -1},      {"Unique", -1}};
const DataDependentRow *dataDependentRow(std::string_view op) {
  const auto *row = llvm::find_if(dataDependent, [&](const DataDependentRow &known) { return known.op == op; });
  return row == std::end(dataDependent) ? nullptr : row;
}
/// Whether the rank of the node's result depends on sizes: one trial says nothing of another then.
bool hasRankBySizes(const NodeBuilder &b) {
  return b.node.op == "GatherND" || (b.node.op == "Squeeze" && !b.has(1) && !b.hasAttribute("axes"));
}
/// Operators whose only result has the sizes of their first input, where trials may fail because their other inputs'
/// sizes do not fit it before running.
constexpr std::string_view likeFirst[] = {"Scatter", "ScatterElements", "ScatterND"};
constexpr double maxTrialElements = 1 << 24;

/// Where an operator's result sizes come from, if not all are its inputs' sizes, or constants.
struct SizeRule {
  std::string_view op;
  int64_t computed; // the first dimension of a result whose size may be calculated
  size_t told;      // the first input whose elements tell sizes
};
constexpr int64_t noDim = std::numeric_limits<int64_t>::max();
constexpr size_t noInput = std::numeric_limits<size_t>::max();

constexpr SizeRule sizeRules[] = {
    {"AffineGrid", 0, 1},
    {"Attention", 0, noInput},
    {"AveragePool", 2, noInput},
    {"BlackmanWindow", noDim, 0},
    {"CausalConvWithState", 0, noInput},
    {"CenterCropPad", 0, 1},
    {"Col2Im", 0, 1},
    {"Concat", 0, noInput},
    {"ConstantOfShape", noDim, 0},
    {"Conv", 2, noInput},
    {"ConvInteger", 2, noInput},
    {"ConvTranspose", 1, noInput}, // the channels are groups times those of the weights
    {"ConvTransposeWithDynamicPads", 1, 2},
    {"CropAndResize", 2, 3},
    {"DFT", 0, 1},
    {"DeformConv", 2, noInput},
    {"DepthToSpace", 1, noInput},
    {"Expand", noDim, 1},
    {"ExpandDims", noDim, 1},
    {"Flatten", 0, noInput},
    {"FusedConv", 2, noInput},
    {"GroupQueryAttention", 2, noInput},
    {"HammingWindow", noDim, 0},
    {"HannWindow", noDim, 0},
    {"LinearAttention", 0, noInput},
    {"LpPool", 2, noInput},
    {"MaxPool", 2, noInput},
    {"MaxUnpool", 2, 2},
    {"MelWeightMatrix", 0, 0},
    {"MultiHeadAttention", 0, noInput},
    {"NhwcConv", 1, noInput},
    {"NhwcFusedConv", 1, noInput},
    {"NhwcMaxPool", 1, noInput},
    {"OneHot", noDim, 1},
    {"Pad", 0, 1},
    {"QAttention", 0, noInput},
    {"QLinearAveragePool", 1, noInput},
    {"QLinearConcat", 0, noInput},
    {"QLinearConv", 2, noInput},
    {"Range", 0, 0},
    {"Reshape", 0, 1},
    {"Resize", 0, 1},
    {"STFT", 0, 1},
    {"Shape", 0, noInput},
    {"Slice", 0, 1},
    {"SpaceToDepth", 1, noInput},
    {"Split", 0, 1},
    {"Squeeze", noDim, 1},
    {"Tile", 0, 1},
    {"TopK", noDim, 1},
    {"Unsqueeze", noDim, 1},
    {"Upsample", 0, 1},
};
static_assert(std::ranges::is_sorted(sizeRules, {}, &SizeRule::op));

SizeRule sizeRuleOf(std::string_view op) {
  auto row = std::ranges::lower_bound(sizeRules, op, {}, &SizeRule::op);
  if (row != std::end(sizeRules) && row->op == op)
    return *row;
  return {op, noDim, op.starts_with("Reduce") ? 1 : noInput}; // reductions over axes that are an input
}

void writeElements(Tensor &tensor, const Sizes &elements, ArrayRef<int64_t> numbers) {
  for (auto [i, element] : llvm::enumerate(elements)) {
    int64_t number = graph::evaluate(element, {}, numbers);
    switch (tensor.type()) {
    case DType::I64:
      tensor.data<int64_t>()[i] = number;
      break;
    case DType::I32:
      tensor.data<int32_t>()[i] = static_cast<int32_t>(number);
      break;
    default:
      tensor.data<uint8_t>()[i] = number != 0;
      break; // bool
    }
  }
}

/// What stands for integers that only running tells: sizes, axes, indices. A kernel that refuses zeros may take one of
/// the others.
constexpr int64_t (*standIns[])(int64_t) = {
    [](int64_t) -> int64_t { return 0; },
    // A shape to expand to
    [](int64_t) -> int64_t { return 1; },
    // Axes
    [](int64_t i) { return i; },
    // A shape to reshape to
    [](int64_t i) -> int64_t { return i ? 1 : -1; },
};

/// The kernel's outputs where each symbol stands for one of `numbers`.
Expected<std::vector<Tensor>> runTrial(NodeBuilder &b, ArrayRef<int64_t> numbers, int64_t (*standIn)(int64_t)) {
  std::vector<Tensor> inputs;
  double elements = 0;
  for (auto [position, value] : llvm::enumerate(b.node.inputs)) {
    const Tensor *known = value ? b.state.constantOf(*value) : nullptr;
    if (!value || known) {
      inputs.push_back(known ? *known : Tensor());
      continue;
    }
    Shape shape;
    double count = 1;
    for (AffineExpr size : value->sizes) {
      shape.push_back(std::max<int64_t>(0, graph::evaluate(size, {}, numbers)));
      count *= static_cast<double>(shape.back());
    }
    elements += count;
    if (elements > maxTrialElements)
      return Status(Code::Unsupported, fmt::format("that its inputs have more than {} elements", maxTrialElements));
    inputs.push_back(Tensor::allocate(value->type, shape));
    if (const Sizes *contents = b.state.elementsOf(*value))
      writeElements(inputs.back(), *contents, numbers);
    else if (value->type == DType::I64 && value->rank() <= 1)
      for (int64_t i = 0; i < inputs.back().count(); ++i)
        inputs.back().data<int64_t>()[i] = standIn(i);
    else if (value->type == DType::F32 && position >= sizeRuleOf(b.node.op).told) // scales
      std::fill_n(inputs.back().data<float>(), inputs.back().count(), 1.0f);
  }
  ReferenceCall call{.op = b.node.op,
                     .domain = b.node.domain,
                     .opset = b.node.opset,
                     .attributes = &b.node.attributes,
                     .outputCount = b.node.outputs.size()};
  return evaluate(call, inputs);
}

/// Whether the result's sizes depend on something that is only known at run time.
bool dependsOnData(NodeBuilder &b, const SizeRule &rule) {
  if (dataDependentRow(b.node.op))
    return true;
  for (size_t i = rule.told; i < b.node.inputs.size(); ++i)
    if (b.has(i) && b.rank(i) <= 1 && !b.state.constantOf(b.input(i)) && !b.state.elementsOf(b.input(i)))
      return true;
  return false;
}

/// The symbolic sizes that a node reads, as sizes of its inputs or as their elements, each once.
Sizes symbolicSizesOf(NodeBuilder &b) {
  Sizes list;
  auto add = [&](ArrayRef<AffineExpr> sizes) {
    for (AffineExpr size : sizes)
      if (!graph::constantSize(size) && !llvm::is_contained(list, size))
        list.push_back(size);
  };
  for (ImportedValue *value : b.node.inputs) {
    if (!value)
      continue;
    add(value->sizes);
    if (const Sizes *elements = b.state.elementsOf(*value))
      add(*elements);
  }
  return list;
}

/// A size that is `first` and `second` in the two trials, where the operator copied it from `candidates` or it is a
/// constant. Numbers may be too small for a size of theirs, which is 0 in both then: a constant is not.
AffineExpr copiedSize(ImportState &state, ArrayRef<AffineExpr> candidates, int64_t first, int64_t second) {
  Sizes fitting;
  auto number = [&](AffineExpr size, int trial) {
    return std::max<int64_t>(0, graph::evaluate(size, {}, state.trialNumbers(trial)));
  };
  for (AffineExpr size : candidates)
    if (number(size, 0) == first && number(size, 1) == second)
      fitting.push_back(size);
  if (fitting.empty() && first == second)
    return state.number(first);
  return fitting.size() == 1 && (first != second || first == 0) ? fitting.front()
                                                                : state.freshSymbol("u", first, second);
}

/// The sizes of one output, which both trials gave with the same rank. Those of `scaled` trials tell the rank alone.
Sizes sizesFromTrials(NodeBuilder &b, const Tensor &first, const Tensor &second, bool scaled) {
  SizeRule rule = sizeRuleOf(b.node.op);
  Sizes candidates = symbolicSizesOf(b), sizes;
  const DataDependentRow *onElements = dataDependentRow(b.node.op);
  bool unknown = dependsOnData(b, rule);
  for (auto [dim, numbers] : llvm::enumerate(llvm::zip_equal(first.shape(), second.shape()))) {
    auto [one, two] = numbers;
    if (onElements && onElements->dim >= 0 && onElements->dim != static_cast<int64_t>(dim) && one == two)
      sizes.push_back(b.state.number(one));
    else if (onElements) // zeros say nothing of them
      sizes.push_back(b.state.freshSymbol("u"));
    else if (unknown || scaled || (!candidates.empty() && static_cast<int64_t>(dim) >= rule.computed))
      sizes.push_back(scaled ? b.state.freshSymbol("u") : b.state.freshSymbol("u", one, two));
    else
      sizes.push_back(copiedSize(b.state, candidates, one, two));
  }
  return sizes;
}

mlir::Attribute tensorAttribute(OpBuilder &builder, const Tensor &tensor) {
  std::vector<std::byte> strings =
      tensor.type() == DType::String ? runtime::encodeStrings(tensor) : std::vector<std::byte>();
  std::string_view bytes(reinterpret_cast<const char *>(tensor.bytes()), tensor.byteSize());
  if (tensor.type() == DType::String)
    bytes = {reinterpret_cast<const char *>(strings.data()), strings.size()};
  return builder.getArrayAttr({builder.getStringAttr(name(tensor.type())), builder.getDenseI64ArrayAttr(tensor.shape()),
                               builder.getStringAttr(llvm::toHex(bytes))});
}

DictionaryAttr attributesFor(OpBuilder &builder, const Attributes &attributes) {
  SmallVector<NamedAttribute> named;
  for (const auto &[key, value] : attributes) {
    mlir::Attribute attribute = std::visit(
        [&](const auto &v) -> mlir::Attribute {
          using Kind = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<Kind, int64_t>)
            return builder.getI64IntegerAttr(v);
          else if constexpr (std::is_same_v<Kind, float>)
            return builder.getF32FloatAttr(v);
          else if constexpr (std::is_same_v<Kind, std::string>)
            return builder.getStringAttr(v);
          else if constexpr (std::is_same_v<Kind, std::vector<int64_t>>)
            return builder.getDenseI64ArrayAttr(v);
          else if constexpr (std::is_same_v<Kind, std::vector<float>>)
            return builder.getDenseF32ArrayAttr(v);
          else if constexpr (std::is_same_v<Kind, std::vector<std::string>>)
            return builder.getDictionaryAttr(
                builder.getNamedAttr("strings", builder.getStrArrayAttr(SmallVector<StringRef>(v.begin(), v.end()))));
          else
            return tensorAttribute(builder, v);
        },
        value);
    named.push_back(builder.getNamedAttr(key, attribute));
  }
  return builder.getDictionaryAttr(named);
}

struct ResultFacts {
  DType type;
  Sizes sizes;
  std::shared_ptr<const ElementFacts> element;
};

/// From value_info, where it has rank and type: unknown sizes are fresh symbols.
std::optional<ResultFacts> declaredFacts(ImportState &state, const onnx::ValueInfoProto *info) {
  if (!info || !info->type().has_tensor_type() || !info->type().tensor_type().has_shape() ||
      !checkedDType(info->type().tensor_type().elem_type(), info->name()))
    return std::nullopt;
  ResultFacts facts{static_cast<DType>(info->type().tensor_type().elem_type()), {}, nullptr};
  for (const auto &dim : info->type().tensor_type().shape().dim())
    facts.sizes.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? state.number(dim.dim_value())
                                                                      : state.freshSymbol("u"));
  return facts;
}

} // namespace

/// From what the inputs of an operator on sequences are; the rank of an element may be known from the model alone.
static Status factsOfObjects(NodeBuilder &b, ArrayRef<ElementFacts> results,
                             ArrayRef<const onnx::ValueInfoProto *> declared, std::vector<ResultFacts> &facts) {
  for (auto [i, result] : llvm::enumerate(results)) {
    bool shaped = !isObject(result.type) || result.type == DType::String;
    std::optional<ResultFacts> fromModel = shaped && !result.sizes ? declaredFacts(b.state, declared[i]) : std::nullopt;
    if (shaped && !result.sizes && !fromModel)
      return {Code::Unsupported,
              fmt::format("the rank of its output {} is not known: elements of a sequence may differ in rank, and the "
                          "model does not say it",
                          i)};
    facts.push_back(fromModel ? *fromModel : ResultFacts{result.type, {}, result.element});
    if (!fromModel && shaped)
      for (AffineExpr size : *result.sizes)
        facts.back().sizes.push_back(size ? b.state.resolve(size) : b.state.freshSymbol("u"));
  }
  return {};
}

/// The sizes of Pad's result where its paddings are known as sizes.
static std::optional<Sizes> paddedSizes(NodeBuilder &b) {
  const Sizes *pads = b.node.op == "Pad" && b.has(1) && !b.has(3) ? b.state.elementsOf(b.input(1)) : nullptr;
  if (!pads || static_cast<int64_t>(pads->size()) != 2 * b.rank(0))
    return std::nullopt;
  Sizes sizes;
  for (int64_t dim = 0; dim < b.rank(0); ++dim)
    sizes.push_back(b.state.resolve(b.sizes(0)[dim] + (*pads)[dim] + (*pads)[b.rank(0) + dim]));
  return sizes;
}

/// From running the kernel on zeros.
static Status factsFromTrials(NodeBuilder &b, ArrayRef<const onnx::ValueInfoProto *> declared,
                              std::vector<ResultFacts> &facts) {
  ImportState &state = b.state;
  if (std::optional<Sizes> padded = paddedSizes(b)) {
    facts.push_back({b.type(0), *padded, nullptr});
    return {};
  }
  if (llvm::is_contained(likeFirst, b.node.op)) {
    facts.push_back({b.type(0), b.sizes(0), nullptr});
    return {};
  }
  bool twice = !symbolicSizesOf(b).empty();
  Expected<std::vector<Tensor>> one = std::vector<Tensor>(), two = one;
  Status refusal; // of zeros, which says most
  // Kernels that want sizes to divide, or to be 1, may refuse the first numbers: their multiples then, and ones.
  constexpr int64_t scales[] = {1, 12, 64, 0};
  bool found = false, scaled = false;
  for (int64_t scale : scales) {
    if (found || (scale != 1 && (!twice || hasRankBySizes(b))))
      break;
    for (auto standIn : standIns) {
      one = two = runTrial(b, state.scaledTrial(0, scale), standIn);
      if (one && twice)
        two = runTrial(b, state.scaledTrial(1, scale), standIn);
      found = one && two;
      if (found)
        break;
      if (refusal.ok())
        refusal = (one ? two : one).status();
    }
    scaled = scale != 1;
  }

  for (size_t i = 0; i < b.node.outputs.size(); ++i) {
    auto at = [&](const Expected<std::vector<Tensor>> &trial) {
      return one && two && i < trial->size() ? (*trial)[i] : Tensor();
    };
    const Tensor first = at(one), second = at(two);
    if (one && two && b.node.outputs[i] && !first.defined())
      malformed("expected at most {} outputs, got a name for output {}", one->size(), i);
    if (first.defined() && second.defined() && first.rank() == second.rank())
      facts.push_back({first.type(), sizesFromTrials(b, first, second, scaled), nullptr});
    else if (auto fromModel = declaredFacts(state, declared[i]))
      facts.push_back(std::move(*fromModel));
    else
      return {Code::Unsupported,
              fmt::format("the rank of its output {} is not known: the model does not say it, and the reference, tried "
                          "with small sizes, {}",
                          i, two ? "gives no such output" : "says " + refusal.message())};
  }
  return {};
}

Status buildHostCall(NodeBuilder &b, ArrayRef<const onnx::ValueInfoProto *> declared) {
  ImportState &state = b.state;
  std::vector<ResultFacts> facts;
  std::optional<std::vector<ElementFacts>> objects = objectResults(b);
  if (Status learned = objects ? factsOfObjects(b, *objects, declared, facts) : factsFromTrials(b, declared, facts);
      !learned)
    return learned;

  SmallVector<Value> operands;
  SmallVector<bool> present;
  for (ImportedValue *value : b.node.inputs) {
    present.push_back(value != nullptr);
    if (value)
      operands.push_back(state.materialize(*value));
  }
  SmallVector<Type> types;
  for (const ResultFacts &result : facts)
    types.push_back(state.tensorType(result.sizes, elementType(state.context, result.type)));
  auto call = graph::HostCallOp::create(state.builder, state.location, types, b.node.op, b.node.domain, b.node.opset,
                                        present, attributesFor(state.builder, b.node.attributes), operands);
  SmallVector<StringRef> inputTypes, outputTypes; // signedness, which IR types do not have
  for (ImportedValue *value : b.node.inputs)
    if (value)
      inputTypes.push_back(name(value->type));
  for (size_t i = 0; i < facts.size(); ++i) {
    outputTypes.push_back(name(facts[i].type));
    if (!b.node.outputs[i])
      continue;
    b.node.outputs[i]->type = facts[i].type;
    b.node.outputs[i]->value = call.getResult(i);
    b.node.outputs[i]->sizes = facts[i].sizes;
    b.node.outputs[i]->element = facts[i].element;
  }
  call->setAttr("input_dtypes", state.builder.getStrArrayAttr(inputTypes));
  call->setAttr("output_dtypes", state.builder.getStrArrayAttr(outputTypes));
  return {};
}

Attributes referenceAttributes(graph::HostCallOp call) {
  Attributes attributes;
  for (NamedAttribute named : call.getNodeAttributes()) {
    tilewright::Attribute &value = attributes[named.getName().str()];
    mlir::Attribute given = named.getValue();
    if (auto integer = llvm::dyn_cast<IntegerAttr>(given))
      value = integer.getInt();
    else if (auto real = llvm::dyn_cast<FloatAttr>(given))
      value = static_cast<float>(real.getValueAsDouble());
    else if (auto text = llvm::dyn_cast<StringAttr>(given))
      value = text.str();
    else if (auto integers = llvm::dyn_cast<DenseI64ArrayAttr>(given))
      value = std::vector<int64_t>(integers.asArrayRef().begin(), integers.asArrayRef().end());
    else if (auto reals = llvm::dyn_cast<DenseF32ArrayAttr>(given))
      value = std::vector<float>(reals.asArrayRef().begin(), reals.asArrayRef().end());
    else if (auto strings = llvm::dyn_cast<DictionaryAttr>(given)) {
      std::vector<std::string> list;
      for (mlir::Attribute text : strings.getAs<ArrayAttr>("strings"))
        list.push_back(llvm::cast<StringAttr>(text).str());
      value = std::move(list);
    } else {
      auto parts = llvm::cast<ArrayAttr>(given);
      StringRef typeName = llvm::cast<StringAttr>(parts[0]).getValue();
      auto dims = llvm::cast<DenseI64ArrayAttr>(parts[1]).asArrayRef();
      std::string bytes = llvm::fromHex(llvm::cast<StringAttr>(parts[2]).getValue());
      if (parseDType(typeName) == DType::String) {
        value = runtime::decodeStrings(std::as_bytes(std::span(bytes)), Shape(dims.begin(), dims.end()));
        continue;
      }
      Tensor tensor = Tensor::allocate(parseDType(typeName), Shape(dims.begin(), dims.end()));
      std::memcpy(tensor.bytes(), bytes.data(), std::min(bytes.size(), tensor.byteSize()));
      value = std::move(tensor);
    }
  }
  return attributes;
}

} // namespace tilewright
