// SPDX-License-Identifier: Apache-2.0
// Inputs, attributes, results, accesses and loops. Elementwise operations are in Terms.cpp.
#include "frontend/builder/NodeBuilder.h"

#include "frontend/graph/Shapes.h"
#include "frontend/onnx/TensorData.h"

using namespace mlir;

namespace tilewright {

//===- Inputs and attributes --------------------------------------------------------------------------------------===//

ImportedValue &NodeBuilder::input(size_t i) const {
  if (!has(i))
    malformed("expected input {}, got {} inputs or an empty name", i, node.inputs.size());
  return *node.inputs[i];
}

Term NodeBuilder::raw(size_t i) { return term(state.materialize(input(i))); }
Term NodeBuilder::in(size_t i) { return widen(raw(i)); }

namespace {
template <typename T> const T *attribute(const Attributes &attributes, std::string_view name, const char *kind) {
  auto found = attributes.find(name);
  if (found == attributes.end())
    return nullptr;
  const T *value = std::get_if<T>(&found->second);
  if (!value)
    malformed("expected attribute '{}' to be {}", name, kind);
  return value;
}
} // namespace

int64_t NodeBuilder::integer(std::string_view name, int64_t fallback) const {
  auto *value = attribute<int64_t>(node.attributes, name, "an integer");
  return value ? *value : fallback;
}

double NodeBuilder::real(std::string_view name, double fallback) const {
  auto *value = attribute<float>(node.attributes, name, "a float");
  return value ? *value : fallback;
}

std::string NodeBuilder::text(std::string_view name, std::string_view fallback) const {
  auto *value = attribute<std::string>(node.attributes, name, "a string");
  return value ? *value : std::string(fallback);
}

std::optional<std::vector<int64_t>> NodeBuilder::integers(std::string_view name) const {
  auto *value = attribute<std::vector<int64_t>>(node.attributes, name, "a list of integers");
  return value ? std::optional(*value) : std::nullopt;
}

std::vector<float> NodeBuilder::reals(std::string_view name) const {
  auto *value = attribute<std::vector<float>>(node.attributes, name, "a list of floats");
  return value ? *value : std::vector<float>();
}

std::vector<std::string> NodeBuilder::texts(std::string_view name) const {
  auto *value = attribute<std::vector<std::string>>(node.attributes, name, "a list of strings");
  return value ? *value : std::vector<std::string>();
}

Sizes NodeBuilder::knownSizes(size_t i) const {
  const Sizes *elements = state.elementsOf(input(i));
  if (!elements)
    decline("the contents of input {} are only known at run time", i);
  return *elements;
}

AffineExpr NodeBuilder::knownSize(size_t i) const {
  Sizes sizes = knownSizes(i);
  if (sizes.size() != 1)
    malformed("expected input {} to have one element, got {}", i, sizes.size());
  return sizes[0];
}

std::vector<int64_t> NodeBuilder::knownIntegers(size_t i) const {
  std::vector<int64_t> numbers;
  for (AffineExpr element : knownSizes(i)) {
    std::optional<int64_t> constant = graph::constantSize(element);
    if (!constant)
      decline("the contents of input {} depend on symbolic sizes", i);
    numbers.push_back(*constant);
  }
  return numbers;
}

std::optional<double> numberAt(const Tensor &tensor, int64_t i) {
  switch (tensor.type()) {
  case DType::F32:
    return tensor.data<float>()[i];
  case DType::F64:
    return tensor.data<double>()[i];
  case DType::F16:
    return APFloat(APFloat::IEEEhalf(), APInt(16, tensor.data<uint16_t>()[i])).convertToFloat();
  case DType::BF16:
    return APFloat(APFloat::BFloat(), APInt(16, tensor.data<uint16_t>()[i])).convertToFloat();
  case DType::I64:
    return static_cast<double>(tensor.data<int64_t>()[i]);
  case DType::I32:
    return tensor.data<int32_t>()[i];
  case DType::Bool:
  case DType::U8:
    return tensor.data<uint8_t>()[i];
  case DType::I8:
    return tensor.data<int8_t>()[i];
  default:
    return std::nullopt;
  }
}

std::optional<double> NodeBuilder::scalarConstant(size_t i) const {
  const Tensor *tensor = constant(i);
  return tensor && tensor->count() == 1 ? numberAt(*tensor, 0) : std::nullopt;
}

std::optional<std::vector<int64_t>> NodeBuilder::integersFrom(std::string_view name, size_t i) const {
  if (auto list = integers(name))
    return list;
  return has(i) ? std::optional(knownIntegers(i)) : std::nullopt;
}

void NodeBuilder::expectRank(size_t i, int64_t least, int64_t most) const {
  if (rank(i) < least || rank(i) > most)
    malformed("expected input {} of rank {}, got {}", i,
              least == most ? std::to_string(least) : fmt::format("{} to {}", least, most), print(sizes(i)));
}

void NodeBuilder::expect(bool condition, const std::string &what) const {
  if (!condition)
    malformed("{}", what);
}

int64_t NodeBuilder::axis(int64_t axis, int64_t rank, bool orEnd) const {
  if (axis < -rank || axis >= rank + orEnd)
    malformed("expected an axis from {} to {} because of the rank, got {}", -rank, rank - 1 + orEnd, axis);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> NodeBuilder::axes(std::vector<int64_t> list, int64_t rank) const {
  for (int64_t &entry : list)
    entry = axis(entry, rank);
  std::ranges::sort(list);
  if (std::ranges::adjacent_find(list) != list.end())
    malformed("expected distinct axes, got {} twice", *std::ranges::adjacent_find(list));
  return list;
}

//===- Results ----------------------------------------------------------------------------------------------------===//

void NodeBuilder::out(Term result, DType type, size_t i) {
  if (!wants(i))
    return;
  Type stored = elementType(state.context, type);
  if (isHalf(type) && result.element() != stored)
    result = term(arith::TruncFOp::create(state.builder, state.location, graph::withElementType(result.type(), stored),
                                          result.value));
  if (result.element() != stored)
    throw ImportFailure{Status(Code::Internal, fmt::format("the handler of {} made another element type than {}",
                                                           node.op, tilewright::name(type)))};
  std::vector<int64_t> known;
  for (AffineExpr size : result.sizes())
    known.push_back(graph::constantSize(size).value_or(1));
  ImportedValue &output = *node.outputs[i];
  if (Expected<int64_t> bytes = checkedByteSize(known, type, output.name); !bytes)
    throw ImportFailure{bytes.status()};
  output.type = type;
  output.value = result.value;
  output.sizes = result.sizes();
}

void NodeBuilder::forward(size_t from, size_t i) {
  if (!wants(i))
    return;
  std::string name = std::move(node.outputs[i]->name);
  *node.outputs[i] = input(from);
  node.outputs[i]->name = std::move(name);
}

//===- Sizes ------------------------------------------------------------------------------------------------------===//

void NodeBuilder::unify(AffineExpr a, AffineExpr b, const std::string &what) {
  std::string expected = fmt::format("expected {} = {}, got {}", what, state.print(b), state.print(a));
  if (!state.unify(a, b, fmt::format("node '{}': {}", node.name, expected)))
    malformed("{}", expected);
}

AffineExpr NodeBuilder::divide(AffineExpr size, AffineExpr by, const std::string &what) {
  std::string expected = fmt::format("expected {} that {} divides, got {}", what, state.print(by), state.print(size));
  AffineExpr quotient = state.divide(size, by, fmt::format("node '{}': {}", node.name, expected));
  if (!quotient)
    malformed("{}", expected);
  return quotient;
}

std::optional<int64_t> NodeBuilder::declaredRank(size_t i) const {
  auto found = wants(i) ? state.declaredRanks.find(node.outputs[i]->name) : state.declaredRanks.end();
  return found == state.declaredRanks.end() ? std::nullopt : std::optional(found->second);
}

/// Sizes that are read at run time are assumed to equal the sizes that they meet in the broadcast. If that contradicts
/// what is known of them (the result of Reshape has as many elements as its input), each of them may be 1 instead.
static void findRepeated(ImportState &state, ArrayRef<Sizes> shapes) {
  SmallVector<SizeAssumption> assumed;
  for (const Sizes &shape : shapes)
    for (auto [back, own] : llvm::enumerate(llvm::reverse(shape)))
      for (const Sizes &other : shapes) {
        AffineExpr size = state.resolve(own);
        AffineExpr beside = back < other.size() ? state.resolve(other[other.size() - 1 - back]) : size;
        if (state.isRead(size) && beside != size && graph::constantSize(beside) != 1)
          assumed.emplace_back(size, beside);
      }
  if (!assumed.empty() && state.contradicts(assumed, 1))
    for (auto [size, beside] : assumed)
      state.takeAsRepeated(size);
}

/// Whether `size`, which is not the constant 1, is 1 for some values of its symbols, as far as its form tells.
static bool mayBeOne(AffineExpr size) {
  std::optional<graph::ScaledSymbol> scaled = graph::asScaledSymbol(size);
  if (graph::constantSize(size) || !scaled)
    return !graph::constantSize(size);
  return scaled->added <= 1 && (1 - scaled->added) % scaled->factor == 0;
}

/// The size that `a` and `b` broadcast to, of which none is the constant 1. By default they are assumed to be equal,
/// which leaves one symbol. If either may be 1, because both are given or because only running tells, the model gets a
/// second plan, imported with broadcastWhenRunning.
AffineExpr NodeBuilder::broadcastSize(AffineExpr a, AffineExpr b, size_t dim) {
  a = state.resolve(a), b = state.resolve(b);
  std::string expected = fmt::format("expected shapes that broadcast, got {} beside {} in dimension {}", state.print(a),
                                     state.print(b), dim);
  std::string message = fmt::format("node '{}': {}", node.name, expected);
  auto isGiven = [&](AffineExpr size) {
    return graph::constantSize(size) || state.isInputSymbol(size) || state.isBroadcast(size);
  };
  if (a != b && (state.isRepeated(a) || state.isRepeated(b)))
    return state.broadcast(a, b, message);
  if (a != b && (mayBeOne(a) || mayBeOne(b))) {
    bool isLate = state.isLate(a) || state.isLate(b);
    if (state.options.broadcastWhenRunning && (isGiven(a) || isGiven(b) || isLate))
      return state.broadcast(a, b, message);
    if (isLate)
      state.report.assumedEqualLate.push_back(message);
    else if (isGiven(a) && isGiven(b))
      state.report.assumedEqual.push_back(message);
  }
  if (!state.unify(a, b, message))
    malformed("{}", expected);
  return state.resolve(b);
}

Sizes NodeBuilder::broadcastSizes(ArrayRef<Sizes> shapes) {
  size_t rank = 0;
  for (const Sizes &shape : shapes)
    rank = std::max(rank, shape.size());
  Sizes result(rank, number(1));
  findRepeated(state, shapes);
  for (const Sizes &shape : shapes)
    for (size_t i = 0; i < shape.size(); ++i) {
      AffineExpr size = shape[i], &common = result[rank - shape.size() + i];
      if (graph::constantSize(common) == 1)
        common = size;
      else if (graph::constantSize(size) != 1)
        common = broadcastSize(size, common, rank - shape.size() + i);
    }
  llvm::transform(result, result.begin(), [&](AffineExpr size) { return state.resolve(size); });
  return result;
}

//===- Accesses ---------------------------------------------------------------------------------------------------===//

Term NodeBuilder::conform(Term x, ArrayRef<AffineExpr> sizes) {
  RankedTensorType type = state.tensorType(sizes, x.element());
  return type == x.type() ? x : term(graph::ViewOp::create(state.builder, state.location, type, x.value));
}

Term NodeBuilder::broadcast(Term x, ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> dims) {
  Sizes own = x.sizes(), wanted = own;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (graph::constantSize(own[i]) != 1 && dim < static_cast<int64_t>(sizes.size()))
      wanted[i] = state.resolve(sizes[dim]);
  if (wanted != own) {
    bool mayRepeat = llvm::any_of(own, [&](AffineExpr size) { return state.isRepeated(size); }) ||
                     (state.options.broadcastWhenRunning && llvm::any_of(wanted, [&](AffineExpr size) {
                        return state.isBroadcast(size) || graph::constantSize(size);
                      }));
    x = mayRepeat ? term(graph::RepeatOp::create(state.builder, state.location, state.tensorType(wanted, x.element()),
                                                 x.value))
                  : conform(x, wanted);
  }
  return term(state.builder.createOrFold<graph::BroadcastOp>(state.location, state.tensorType(sizes, x.element()),
                                                             x.value, dims));
}

Term NodeBuilder::broadcast(Term x, ArrayRef<AffineExpr> sizes) {
  auto first = static_cast<int64_t>(sizes.size()) - x.rank();
  return broadcast(x, sizes, llvm::to_vector(llvm::seq<int64_t>(first, sizes.size())));
}

Term NodeBuilder::along(Term vector, Term like, int64_t dim) {
  if (vector.rank() != 1 || dim < 0 || dim >= like.rank())
    malformed("expected a vector along dimension {} of {}, got {}", dim, print(like.sizes()), print(vector.sizes()));
  if (graph::constantSize(vector.sizes()[0]) != 1)
    unify(vector.sizes()[0], like.sizes()[dim], fmt::format("the vector along dimension {}", dim));
  return broadcast(vector, like.sizes(), {dim});
}

Term NodeBuilder::reshape(Term x, ArrayRef<AffineExpr> sizes) {
  AffineExpr from = product(x.sizes()), to = product(sizes);
  if (from != to) {
    unify(to, from, fmt::format("elements of the shape {}", print(sizes)));
    if (product(x.sizes()) != product(sizes))
      return conform(x, sizes);
  }
  return term(
      state.builder.createOrFold<graph::ReshapeOp>(state.location, state.tensorType(sizes, x.element()), x.value));
}

Term NodeBuilder::transpose(Term x, ArrayRef<int64_t> perm) {
  auto type = graph::transposedType(x.type(), perm, [](const Twine &why) { malformed("{}", why.str()); });
  // Transpose constants at import, so that kernels read them in the layout that they need.
  auto constant = x.value.getDefiningOp<graph::ConstantOp>();
  if (auto found = constant ? state.constantTensors.find(constant) : state.constantTensors.end();
      found != state.constantTensors.end() && !llvm::is_sorted(perm)) {
    Attributes attributes{{"perm", std::vector<int64_t>(perm.begin(), perm.end())}};
    ReferenceCall call{.op = "Transpose", .domain = "", .opset = 13, .attributes = &attributes};
    Expected<std::vector<Tensor>> moved = evaluate(call, std::span(&found->second, 1));
    if (!moved)
      throw ImportFailure{moved.status()};
    return constantTerm(moved->front());
  }
  return term(state.builder.createOrFold<graph::TransposeOp>(state.location, *type, x.value, perm));
}

Term NodeBuilder::slice(Term x, int64_t dim, AffineExpr offset, AffineExpr size, int64_t stride) {
  Sizes sizes = x.sizes(), offsets(x.rank(), number(0));
  SmallVector<int64_t> strides(x.rank(), 1);
  sizes[dim] = size, offsets[dim] = graph::canonicalSize(offset), strides[dim] = stride;
  auto map = AffineMap::get(0, state.symbols().size(), offsets, state.context);
  return term(state.builder.createOrFold<graph::SliceOp>(state.location, state.tensorType(sizes, x.element()), x.value,
                                                         map, strides));
}

TypedAttr NodeBuilder::scalar(Type element, double value) const {
  if (auto real = llvm::dyn_cast<FloatType>(element))
    return state.builder.getFloatAttr(real, value);
  return state.builder.getIntegerAttr(element, static_cast<int64_t>(value));
}

Term NodeBuilder::pad(Term x, ArrayRef<int64_t> low, ArrayRef<AffineExpr> sizes, double fill) {
  return term(graph::PadOp::create(state.builder, state.location, state.tensorType(sizes, x.element()), x.value, low,
                                   scalar(x.element(), fill)));
}

Term NodeBuilder::concat(ArrayRef<Term> terms, int64_t axis) {
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (const Term &part : terms) {
    Sizes sizes = terms.front().sizes();
    if (part.rank() == terms.front().rank() && axis >= 0 && axis < part.rank())
      sizes[axis] = part.sizes()[axis];
    values.push_back(conform(part, sizes).value), types.push_back(values.back().getType());
  }
  auto type = graph::concatenatedType(types, axis, [](const Twine &why) { malformed("{}", why.str()); });
  return term(state.builder.createOrFold<graph::ConcatOp>(state.location, *type, axis, values));
}

Term NodeBuilder::gather(Term data, ArrayRef<Term> indices, AffineMap map, ArrayRef<AffineExpr> sizes) {
  SmallVector<Value> values;
  for (const Term &index : indices)
    values.push_back(broadcast(index, sizes).value);
  return term(graph::GatherOp::create(state.builder, state.location, state.tensorType(sizes, data.element()),
                                      data.value, values, map));
}

Term NodeBuilder::sizeAs(AffineExpr size, ArrayRef<AffineExpr> sizes, Type element) {
  size = state.resolve(size); // a symbol in it may have been replaced since the caller read it
  if (std::optional<int64_t> constant = graph::constantSize(size))
    return splat(sizes, element, static_cast<double>(*constant));
  auto map = AffineMap::get(0, state.symbols().size(), size);
  Value scalar =
      graph::DimsOp::create(state.builder, state.location, RankedTensorType::get({}, state.builder.getI64Type()), map);
  auto type = RankedTensorType::get({}, element);
  if (llvm::isa<FloatType>(element))
    scalar = arith::SIToFPOp::create(state.builder, state.location, type, scalar);
  else if (element.getIntOrFloatBitWidth() < 64)
    scalar = arith::TruncIOp::create(state.builder, state.location, type, scalar);
  return broadcast(term(scalar), sizes, {});
}

Term NodeBuilder::wrapped(Term index, AffineExpr size) {
  Term negative = compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, index, like(index, 0));
  return select(negative, index + sizeAs(size, index.sizes(), index.element()), index);
}

Term NodeBuilder::iota(ArrayRef<AffineExpr> sizes, int64_t dim, Type element) {
  return term(graph::IotaOp::create(state.builder, state.location, state.tensorType(sizes, element), dim));
}

//===- Loops ------------------------------------------------------------------------------------------------------===//

Term NodeBuilder::neutral(graph::ReduceKind kind, ArrayRef<AffineExpr> sizes, Type element) {
  if (kind == graph::ReduceKind::Sum || kind == graph::ReduceKind::Prod)
    return splat(sizes, element, kind == graph::ReduceKind::Prod);
  bool isMax = kind == graph::ReduceKind::Max;
  if (llvm::isa<FloatType>(element))
    return splat(sizes, element,
                 isMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits == 1)
    return splatInteger(sizes, element, !isMax);
  return splatInteger(sizes, element,
                      (isMax ? APInt::getSignedMinValue(bits) : APInt::getSignedMaxValue(bits)).getSExtValue());
}

Term NodeBuilder::reduce(graph::ReduceKind kind, Term x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  auto type = graph::reducedType(kind, x.type(), axes, [](const Twine &why) { malformed("{}", why.str()); });
  if (llvm::any_of(x.sizes(), [](AffineExpr size) { return graph::constantSize(size) == 0; })) // nothing to loop over
    return neutral(kind, graph::getSizes(*type), type->getElementType());
  return term(graph::ReduceOp::create(state.builder, state.location, *type, kind, x.value, axes));
}

Term NodeBuilder::spread(Term reduced, Term like, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < like.rank(); ++dim)
    if (!llvm::is_contained(axes, dim))
      dims.push_back(dim);
  return broadcast(reduced, like.sizes(), dims);
}

Term NodeBuilder::mean(Term x, ArrayRef<int64_t> axes) {
  Sizes reduced;
  for (int64_t dim : axes)
    reduced.push_back(x.sizes()[dim]);
  Term sum = reduce(graph::ReduceKind::Sum, x, axes);
  AffineExpr count = product(reduced);
  if (std::optional<int64_t> constant = graph::constantSize(count); constant && *constant > 0 && sum.isFloat())
    return sum * (1.0 / static_cast<double>(*constant));
  Term divisor = sizeAs(count, sum.sizes(), sum.element());
  return sum.isFloat() ? sum / divisor : divideIntegers(sum, divisor, true);
}

Term NodeBuilder::keepDims(Term reduced, Term like, ArrayRef<int64_t> axes, bool keep) {
  if (!keep)
    return reduced;
  Sizes sizes = like.sizes();
  for (int64_t dim : axes)
    sizes[dim] = number(1);
  return reshape(reduced, sizes);
}

} // namespace tilewright
