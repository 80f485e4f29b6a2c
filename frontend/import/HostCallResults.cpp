// SPDX-License-Identifier: Apache-2.0
// Infers the result types of a reference kernel by trial runs on zeros.
//
// If sizes are symbolic there are two trials, with different small numbers for each symbol. For operators that only
// copy sizes: a result size that is the same in both trials, and that no symbolic size of the inputs matches, is a
// constant; one that exactly one of them matches is that size. Any other size becomes a fresh symbol, bound at run time
// to what the call returns. It keeps its two numbers for later trials, so that these have consistent sizes.
#include "frontend/import/HostCallResults.h"

#include "frontend/import/ObjectTypes.h"
#include "frontend/onnx/TensorData.h"

using namespace mlir;

namespace tilewright {
namespace {

/// Operators whose result sizes depend on elements of their inputs, and the only dimension that does if there is one.
struct DataDependentRow {
  std::string_view op;
  int64_t dim;
};
constexpr DataDependentRow dataDependent[] = {{"NonMaxSuppression", 0}, {"NonZero", 1},    {"StringNormalizer", -1},
                                              {"StringSplit", -1},      {"Tokenizer", -1}, {"Unique", -1}};
const DataDependentRow *dataDependentRow(std::string_view op) {
  const auto *row = llvm::find_if(dataDependent, [&](const DataDependentRow &known) { return known.op == op; });
  return row == std::end(dataDependent) ? nullptr : row;
}
/// Whether the rank of the result depends on sizes, so that trials at other sizes mean nothing.
bool hasRankBySizes(const NodeBuilder &b) {
  return b.node.op == "GatherND" || (b.node.op == "Squeeze" && !b.has(1) && !b.hasAttribute("axes"));
}
/// Operators whose result has the sizes of their first input. Trials could fail, because symbolic sizes of the other
/// inputs may not fit.
constexpr std::string_view likeFirst[] = {"Scatter", "ScatterElements", "ScatterND", "TensorScatter"};
constexpr double maxTrialElements = 1 << 24;

/// Which result sizes are neither sizes of inputs nor constants.
struct SizeRule {
  std::string_view op;
  int64_t computed; // first dimension of a result whose size may be computed
  size_t told;      // first input whose elements are sizes
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
  return {op, noDim, op.starts_with("Reduce") ? 1 : noInput}; // reductions, whose axes are an input
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

/// Values to try for integers that are only known at run time: sizes, axes, indices. A kernel that refuses zeros may
/// accept one of the others.
constexpr int64_t (*standIns[])(int64_t) = {
    [](int64_t) -> int64_t { return 0; },
    [](int64_t) -> int64_t { return 1; },            // a shape to expand to
    [](int64_t i) { return i; },                     // axes
    [](int64_t i) -> int64_t { return i ? 1 : -1; }, // a shape to reshape to
};

/// The outputs of the kernel, with `numbers` as values of the symbols.
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

/// Whether result sizes depend on elements that are only known at run time.
bool dependsOnData(NodeBuilder &b, const SizeRule &rule) {
  if (dataDependentRow(b.node.op))
    return true;
  for (size_t i = rule.told; i < b.node.inputs.size(); ++i)
    if (b.has(i) && b.rank(i) <= 1 && !b.state.constantOf(b.input(i)) && !b.state.elementsOf(b.input(i)))
      return true;
  return false;
}

/// The symbolic sizes among the sizes and the elements of the inputs, each once.
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

/// The size that was `first` and `second` in the two trials: a constant, or copied from `candidates`. A candidate may
/// be 0 in both trials because the numbers are too small for it; a result of 0 is therefore not taken for a constant
/// then.
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

/// Whether this is the length of a cache that GroupQueryAttention returns, and its total_sequence_length is only known
/// at run time: trials do not tell it.
bool isOpenCacheLength(NodeBuilder &b, size_t output, size_t dim) {
  constexpr size_t total = 6;
  return b.node.op == "GroupQueryAttention" && (output == 1 || output == 2) && dim == 2 && b.has(total) &&
         !b.state.elementsOf(b.input(total));
}

/// The sizes of an output that has the same rank in both trials. `scaled` trials only tell the rank.
Sizes sizesFromTrials(NodeBuilder &b, size_t output, const Tensor &first, const Tensor &second, bool scaled) {
  SizeRule rule = sizeRuleOf(b.node.op);
  Sizes candidates = symbolicSizesOf(b), sizes;
  const DataDependentRow *onElements = dataDependentRow(b.node.op);
  bool unknown = dependsOnData(b, rule);
  for (auto [dim, numbers] : llvm::enumerate(llvm::zip_equal(first.shape(), second.shape()))) {
    auto [one, two] = numbers;
    if (onElements && onElements->dim >= 0 && onElements->dim != static_cast<int64_t>(dim) && one == two)
      sizes.push_back(b.state.number(one));
    else if (onElements || isOpenCacheLength(b, output, dim)) // trials with zeros do not tell them
      sizes.push_back(b.state.freshSymbol("u"));
    else if (unknown || scaled || (!candidates.empty() && static_cast<int64_t>(dim) >= rule.computed))
      sizes.push_back(scaled ? b.state.freshSymbol("u") : b.state.freshSymbol("u", one, two));
    else
      sizes.push_back(copiedSize(b.state, candidates, one, two));
  }
  return sizes;
}

/// The type in value_info if it has a shape. Unknown sizes become fresh symbols.
std::optional<ResultType> declaredResult(ImportState &state, const onnx::ValueInfoProto *info) {
  if (!info || !info->type().has_tensor_type() || !info->type().tensor_type().has_shape() ||
      !checkedDType(info->type().tensor_type().elem_type(), info->name()))
    return std::nullopt;
  ResultType result{static_cast<DType>(info->type().tensor_type().elem_type()), {}, nullptr};
  for (const auto &dim : info->type().tensor_type().shape().dim())
    result.sizes.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? state.number(dim.dim_value())
                                                                       : state.freshSymbol("u"));
  return result;
}

} // namespace

/// Results of an operator on sequences, from the types of its inputs. If the rank of an element is unknown, it may be
/// declared in the model.
static Status resultsOfObjects(NodeBuilder &b, ArrayRef<OnnxType> types,
                               ArrayRef<const onnx::ValueInfoProto *> declared, std::vector<ResultType> &results) {
  for (auto [i, type] : llvm::enumerate(types)) {
    bool shaped = !isObject(type.type) || type.type == DType::String;
    std::optional<ResultType> fromModel = shaped && !type.sizes ? declaredResult(b.state, declared[i]) : std::nullopt;
    if (shaped && !type.sizes && !fromModel)
      return {Code::Unsupported,
              fmt::format("the rank of its output {} is not known: elements of a sequence may differ in rank, and the "
                          "model does not say it",
                          i)};
    results.push_back(fromModel ? *fromModel : ResultType{type.type, {}, type.element});
    if (!fromModel && shaped)
      for (AffineExpr size : *type.sizes)
        results.back().sizes.push_back(size ? b.state.resolve(size) : b.state.freshSymbol("u"));
  }
  return {};
}

/// The sizes of Pad's result, if its paddings are known expressions.
static std::optional<Sizes> paddedSizes(NodeBuilder &b) {
  const Sizes *pads = b.node.op == "Pad" && b.has(1) && !b.has(3) ? b.state.elementsOf(b.input(1)) : nullptr;
  if (!pads || static_cast<int64_t>(pads->size()) != 2 * b.rank(0))
    return std::nullopt;
  Sizes sizes;
  for (int64_t dim = 0; dim < b.rank(0); ++dim)
    sizes.push_back(b.state.resolve(b.sizes(0)[dim] + (*pads)[dim] + (*pads)[b.rank(0) + dim]));
  return sizes;
}

/// The sizes of Compress's result. Only the number of elements that the condition chooses may depend on data.
static std::optional<Sizes> compressedSizes(NodeBuilder &b) {
  if (b.node.op != "Compress" || !b.has(0))
    return std::nullopt;
  const Tensor *condition = b.constant(1);
  AffineExpr chosen;
  if (condition && condition->type() == DType::Bool)
    chosen = b.number(std::count_if(condition->data<uint8_t>(), condition->data<uint8_t>() + condition->count(),
                                    [](uint8_t isChosen) { return isChosen != 0; }));
  else
    chosen = b.state.freshSymbol("u");
  if (!b.hasAttribute("axis"))
    return Sizes{chosen};
  Sizes sizes = b.sizes(0);
  sizes[b.axis(b.integer("axis", 0), b.rank(0))] = chosen;
  return sizes;
}

/// Results from trial runs.
static Status resultsFromTrials(NodeBuilder &b, ArrayRef<const onnx::ValueInfoProto *> declared,
                                std::vector<ResultType> &results) {
  ImportState &state = b.state;
  for (auto known : {paddedSizes, compressedSizes})
    if (std::optional<Sizes> sizes = known(b)) {
      results.push_back({b.type(0), *sizes, nullptr});
      return {};
    }
  if (llvm::is_contained(likeFirst, b.node.op)) {
    results.push_back({b.type(0), b.sizes(0), nullptr});
    return {};
  }
  bool twice = !symbolicSizesOf(b).empty();
  Expected<std::vector<Tensor>> one = std::vector<Tensor>(), two = one;
  Status refusal; // the first, which is the most informative
  // Kernels that need divisible sizes, or sizes of 1, may refuse the first numbers: then try multiples, and ones.
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
      results.push_back({first.type(), sizesFromTrials(b, i, first, second, scaled), nullptr});
    else if (auto fromModel = declaredResult(state, declared[i]))
      results.push_back(std::move(*fromModel));
    else
      return {Code::Unsupported,
              fmt::format("the rank of its output {} is not known: the model does not say it, and the reference, tried "
                          "with small sizes, {}",
                          i, two ? "gives no such output" : "says " + refusal.message())};
  }
  return {};
}

Status inferResults(NodeBuilder &b, ArrayRef<const onnx::ValueInfoProto *> declared, std::vector<ResultType> &results) {
  if (std::optional<std::vector<OnnxType>> objects = objectResultTypes(b))
    return resultsOfObjects(b, *objects, declared, results);
  return resultsFromTrials(b, declared, results);
}

} // namespace tilewright
