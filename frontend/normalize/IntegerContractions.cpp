// A contraction of dequantized operands is a contraction of the integers, then one rescale of each sum.
//
//     sum_k (a - za) sa * (b - zb) sb   =   sa sb (sum_k a b  -  za sum_k (b - zb)  -  zb sum_k a)
//
//     %a = mulf(sitofp(subi(extui %qa, za)), sa)         %s = graph.contract %qa, %qb {lhs_unsigned} : i8, i8 -> i32
//     %b = mulf(sitofp(%qb), sb)                   ->    %t = subi %s, za * (column sums of %qb, a constant)
//     %c = graph.contract %a, %b                         %c = mulf(sitofp(%t), sa * sb)
//
// The integer sums are exact, so the result is that of the float model up to the rounding of its last three operations.
// A window or pad that fills with zeros fills with the zero point; where only running tells that, it fills with 0 and
// the weights that fall outside are not summed. Where one side is a constant, the other becomes unsigned and it signed
// (x ^ 0x80 is x + 128 read with the other sign), which is the form of VNNI. A product of two computed operands stays
// in floats unless neither has a zero point: its sums would cost two more passes.
#include "frontend/normalize/ByteSums.h"
#include "frontend/normalize/DimGroups.h"
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Quantized.h"

#include "frontend/graph/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {

/// Products of a byte and a signed byte whose sum surely fits into 32 bits.
constexpr int64_t longestSum = (int64_t(1) << 31) / (255 * 128);

/// Channels of a window from which summing its weights inside of the image costs little beside the products: 32-bit
/// sums of taps for byte products of taps and channels.
constexpr int64_t fewChannels = 8;

/// Where dimension `dim` of the integers ends up behind the accesses; nothing if it is taken apart.
std::optional<int64_t> dimBehind(const Quantized &side, int64_t dim) {
  for (Operation *op : llvm::reverse(side.accesses)) {
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      dim = inverse(transpose.getPerm())[dim];
    } else if (auto broadcast = dyn_cast<graph::BroadcastOp>(op)) {
      dim = broadcast.getDims()[dim];
    } else if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
      std::optional<int64_t> found;
      Sizes from = sizesOf(reshape.getData()), to = sizesOf(reshape);
      for (const DimGroup &group : dimGroups(from, to))
        for (unsigned i = group.toBegin; i < group.toEnd; ++i)
          if (dim >= group.fromBegin && dim < group.fromEnd && to[i] == from[dim] &&
              countReal(from, group.fromBegin, group.fromEnd) <= 1)
            found = i;
      if (!found)
        return std::nullopt;
      dim = *found;
    } else {
      return std::nullopt;
    }
  }
  return dim;
}

/// A value for each element along some of the result's dimensions.
struct Along {
  Value value;
  SmallVector<int64_t> dims;
};

/// One contraction under rewriting.
class Rewriting {
public:
  Rewriting(graph::ContractOp op, PatternRewriter &rewriter)
      : op(op), rewriter(rewriter), build(rewriter, op), node(op->getAttr(graph::nodeAttr)) {}
  LogicalResult run();

private:
  bool isConstant(unsigned i);
  LogicalResult chooseSigns();
  Value flipped(Value integers);
  Value laidAlongK(AffineMap &map);
  Value operandOf(unsigned i);
  std::optional<int64_t> resultDim(unsigned i, int64_t operandDim);
  std::optional<int64_t> depth();
  bool keepsOrder(unsigned i);
  SmallVector<std::optional<int64_t>> resultDims(unsigned i);
  Value sumsOfWeights(ArrayRef<std::optional<int64_t>> places, int64_t products, int64_t factor);
  bool fillsWithUnknown(unsigned i);
  bool canSumInside();
  Along sumsInside();
  Along sumsOfRuntime(unsigned i, Value operand);
  bool canSpread(unsigned i, const QuantizationParameter &parameter);
  Along along(unsigned i, const QuantizationParameter &parameter, Type element, double offset = 0);
  Along product(Along a, Along b);
  Value broadcast(const Along &data);
  Value number(double value, Type element, Sizes sizes);
  Value minusZero(unsigned i, Value sums, Value otherOperand);
  Value rescaled(Value sums);
  template <typename Op, typename... Args> Value make(Args &&...args) {
    auto made = Op::create(rewriter, op.getLoc(), std::forward<Args>(args)...);
    if (node)
      made->setAttr(graph::nodeAttr, node);
    return made->getResult(0);
  }

  graph::ContractOp op;
  PatternRewriter &rewriter;
  Rebuild build;
  Attribute node;
  Quantized side[2];
  unsigned weights = 1; // the side that is constant, if one is
  bool isFloat = false;
};

//===- Operands ---------------------------------------------------------------------------------------------------===//

/// A constant whose bytes are here; normalization has folded its reshapes.
bool Rewriting::isConstant(unsigned i) {
  auto constant = side[i].integers.getDefiningOp<graph::ConstantOp>();
  return constant && !bytesOf(constant).empty() &&
         llvm::all_of(side[i].accesses, [](Operation *access) { return isa<graph::TransposeOp>(access); });
}

/// x ^ 0x80: the same numbers, less or more 128, read with the other sign.
Value Rewriting::flipped(Value integers) {
  auto weights = integers.getDefiningOp<graph::ConstantOp>();
  if (!weights)
    return make<arith::XOrIOp>(integers, number(-128, tensorOf(integers).getElementType(), sizesOf(integers)));
  ArrayRef<int8_t> bytes = bytesOf(weights);
  std::vector<std::byte> other(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i)
    other[i] = static_cast<std::byte>(bytes[i] ^ 0x80);
  auto &pool = op.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  return graph::ConstantOp::create(rewriter, op.getLoc(), weights.getType(), pool.add(other));
}

LogicalResult Rewriting::chooseSigns() {
  if (!isConstant(weights)) // two computed operands keep their signs
    return success(!isFloat || (!side[0].hasZero() && !side[1].hasZero()));
  for (unsigned i : {0u, 1u})
    if (bool wanted = i != weights; side[i].isUnsigned != wanted) {
      side[i].integers = flipped(side[i].integers);
      side[i].offset += wanted ? 128 : -128;
      side[i].isUnsigned = wanted;
    }
  return success();
}

/// The constant with its summed dimensions last, in the order in which the other side has them: so a GPU's instructions
/// on bytes read it.
Value Rewriting::laidAlongK(AffineMap &map) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(op->getOperand(weights)).getRank()));
  auto placeOf = [&](int64_t dim) -> int64_t {
    if (std::optional<int64_t> result = resultDim(weights, dim))
      return *result;
    auto inData = op.getMap(1 - weights).getResultPosition(op.getMap(weights).getResult(dim));
    return op.getMap(2).getNumResults() + (inData ? *inData : 0);
  };
  llvm::sort(perm, [&](int64_t a, int64_t b) { return std::pair(placeOf(a), a) < std::pair(placeOf(b), b); });
  map = AffineMap::get(map.getNumDims(), 0, llvm::map_to_vector(perm, [&](int64_t dim) { return map.getResult(dim); }),
                       op.getContext());
  for (Operation *access : side[weights].accesses)
    for (int64_t &dim : perm)
      dim = cast<graph::TransposeOp>(access).getPerm()[dim];
  auto constant = side[weights].integers.getDefiningOp<graph::ConstantOp>();
  ArrayRef<int8_t> bytes = bytesOf(constant);
  SmallVector<int64_t> shape, from(tensorOf(constant).getShape());
  for (int64_t dim : perm)
    shape.push_back(from[dim]);
  auto &pool = op.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  std::string key = llvm::is_sorted(perm)
                        ? constant.getKey().str()
                        : pool.add(permuted(std::as_bytes(std::span(bytes.data(), bytes.size())), from, perm, 1));
  return graph::ConstantOp::create(rewriter, op.getLoc(),
                                   RankedTensorType::get(shape, tensorOf(constant).getElementType()), key);
}

/// The accesses again, on the integers; what they fill with is the zero point.
Value Rewriting::operandOf(unsigned i) {
  Value value = side[i].integers;
  Type element = tensorOf(value).getElementType();
  for (Operation *access : llvm::reverse(side[i].accesses)) {
    Operation *clone = rewriter.clone(*access);
    clone->setOperand(0, value);
    clone->getResult(0).setType(graph::withElementType(tensorOf(access->getResult(0)), element));
    if (clone->hasAttr("fill"))
      clone->setAttr("fill", IntegerAttr::get(element, APInt(8, side[i].knownZero().value_or(0) & 255)));
    if (node)
      clone->setAttr(graph::nodeAttr, node);
    value = clone->getResult(0);
  }
  return value;
}

/// The dimension of the result that follows dimension `operandDim` of an operand; nothing if that is summed.
std::optional<int64_t> Rewriting::resultDim(unsigned i, int64_t operandDim) {
  AffineExpr loop = op.getMap(i).getResult(operandDim);
  auto position = op.getMap(2).getResultPosition(loop);
  return position ? std::optional<int64_t>(*position) : std::nullopt;
}

/// How many products a sum has, if that is known.
std::optional<int64_t> Rewriting::depth() {
  int64_t result = 1;
  Sizes sizes = sizesOf(op.getLhs());
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!resultDim(0, dim)) {
      std::optional<int64_t> known = graph::constantSize(size);
      if (!known)
        return std::nullopt;
      result *= *known;
    }
  return result;
}

//===- Sums along k -----------------------------------------------------------------------------------------------===//

/// Sums of the weights along what has no place, of `products` numbers each, less as many zero points; then times
/// `factor`.
Value Rewriting::sumsOfWeights(ArrayRef<std::optional<int64_t>> places, int64_t products, int64_t factor) {
  SmallVector<int32_t> sums =
      sumBytes(side[weights].integers.getDefiningOp<graph::ConstantOp>(), side[weights].accesses, places);
  for (int32_t &sum : sums)
    sum = static_cast<int32_t>(factor * (sum - products * *side[weights].knownZero()));
  SmallVector<std::pair<int64_t, int64_t>> kept; // place, size
  for (auto [place, size] : llvm::zip_equal(places, tensorOf(op->getOperand(weights)).getShape()))
    if (place)
      kept.emplace_back(*place, size);
  llvm::sort(kept);
  auto type = RankedTensorType::get(llvm::to_vector(llvm::make_second_range(kept)), rewriter.getI32Type());
  if (llvm::all_equal(sums))
    return arith::ConstantOp::create(rewriter, op.getLoc(),
                                     DenseElementsAttr::get(type, sums.empty() ? 0 : sums.front()));
  auto &pool = op.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  return graph::ConstantOp::create(rewriter, op.getLoc(), type,
                                   pool.add(std::as_bytes(std::span(sums.data(), sums.size()))));
}

/// For each dimension of an operand the result's that it becomes; nothing for those that are summed.
SmallVector<std::optional<int64_t>> Rewriting::resultDims(unsigned i) {
  SmallVector<std::optional<int64_t>> dims;
  for (int64_t d = 0, rank = tensorOf(op->getOperand(i)).getRank(); d < rank; ++d)
    dims.push_back(resultDim(i, d));
  return dims;
}

/// True if a window fills with a zero point that only running tells.
bool Rewriting::fillsWithUnknown(unsigned i) {
  return !side[i].knownZero() &&
         llvm::any_of(side[i].accesses, [](Operation *access) { return access->hasAttr("fill"); });
}

/// Whether the weights inside of the image can be summed: one window fills, over so many channels that counting its
/// taps costs little.
bool Rewriting::canSumInside() {
  ArrayRef<Operation *> accesses = side[1 - weights].accesses;
  auto window = dyn_cast<graph::WindowOp>(accesses.front());
  if (!window || llvm::any_of(accesses.drop_front(), [](Operation *access) { return access->hasAttr("fill"); }))
    return false;
  int64_t taps = 1;
  size_t spatial = window.getDims().size();
  for (AffineExpr size : ArrayRef(sizesOf(window)).slice(window.getDims().front() + spatial, spatial))
    taps *= graph::constantSize(size).value_or(0);
  return taps > 0 && depth() && *depth() >= fewChannels * taps;
}

/// What the zero point multiplies where a window fills: the weights less theirs, summed where the window lies inside of
/// the image.
///
///     %inside = graph.window (ones of the image) ... fill 0        %sums = graph.contract %inside, (weights summed over channels)
Along Rewriting::sumsInside() {
  unsigned data = 1 - weights;
  auto window = cast<graph::WindowOp>(side[data].accesses.front());
  MLIRContext *context = op.getContext();
  Type i32 = rewriter.getI32Type();
  int64_t spatial = window.getDims().size(), first = window.getDims().front();
  Sizes image(ArrayRef(sizesOf(window.getData())).slice(first, spatial)),
      windows(ArrayRef(sizesOf(window)).slice(first, 2 * spatial));
  Value inside = make<graph::WindowOp>(graph::makeTensorType(context, windows, i32), number(1, i32, image),
                                       llvm::to_vector(llvm::seq<int64_t>(0, spatial)), window.getStrides(),
                                       window.getDilations(), window.getLow(), rewriter.getI32IntegerAttr(0));
  // Loops of the small contraction: the window's, and those of the weights that are not channels.
  SmallVector<AffineExpr> insideLoops(op.getMap(data).getResults().slice(first, 2 * spatial));
  SmallVector<std::optional<int64_t>> places = resultDims(weights); // a tap's place is behind those of the result
  SmallVector<std::pair<int64_t, AffineExpr>> weightLoops;
  int64_t channels = 1;
  for (auto [d, loop] : llvm::enumerate(op.getMap(weights).getResults())) {
    if (!places[d] && llvm::is_contained(insideLoops, loop))
      places[d] = op.getType().getRank() + cast<AffineDimExpr>(loop).getPosition();
    if (places[d])
      weightLoops.emplace_back(*places[d], loop);
    else
      channels *= tensorOf(op->getOperand(weights)).getDimSize(d);
  }
  llvm::sort(weightLoops, llvm::less_first());
  SmallVector<AffineExpr> numbered, rhs, result;
  auto renumbered = [&](AffineExpr loop) {
    auto *at = llvm::find(numbered, loop);
    if (at == numbered.end())
      at = numbered.insert(at, loop);
    return getAffineDimExpr(at - numbered.begin(), context);
  };
  SmallVector<AffineExpr> lhs = llvm::map_to_vector(insideLoops, renumbered);
  for (auto [place, loop] : weightLoops)
    rhs.push_back(renumbered(loop));
  Along sums;
  Sizes sizes, all = sizesOf(op);
  for (auto [dim, loop] : llvm::enumerate(op.getMap(2).getResults()))
    if (llvm::is_contained(numbered, loop)) {
      result.push_back(renumbered(loop));
      sums.dims.push_back(dim);
      sizes.push_back(all[dim]);
    }
  auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(numbered.size(), 0, results, context); };
  AffineMap maps[] = {mapOf(lhs), mapOf(rhs), mapOf(result)};
  sums.value = make<graph::ContractOp>(graph::makeTensorType(context, sizes, i32), inside,
                                       sumsOfWeights(places, channels, 1), rewriter.getAffineMapArrayAttr(maps));
  return sums;
}

/// Whether the dimensions that an operand shares with the result stand in the result's order.
bool Rewriting::keepsOrder(unsigned i) {
  SmallVector<int64_t> kept;
  for (std::optional<int64_t> dim : resultDims(i))
    if (dim)
      kept.push_back(*dim);
  return llvm::is_sorted(kept);
}

Value Rewriting::broadcast(const Along &data) {
  RankedTensorType type = graph::withElementType(op.getType(), tensorOf(data.value).getElementType());
  return data.value.getType() == type ? data.value : make<graph::BroadcastOp>(type, data.value, data.dims);
}

/// The same for an operand that is computed: a reduction beside the contraction.
Along Rewriting::sumsOfRuntime(unsigned i, Value operand) {
  SmallVector<int64_t> axes, kept;
  for (auto [d, dim] : llvm::enumerate(resultDims(i)))
    if (dim)
      kept.push_back(*dim);
    else
      axes.push_back(static_cast<int64_t>(d));
  RankedTensorType wide = graph::withElementType(tensorOf(operand), rewriter.getI32Type());
  Value extended = side[i].isUnsigned ? make<arith::ExtUIOp>(wide, operand) : make<arith::ExtSIOp>(wide, operand);
  Sizes sizes, all = sizesOf(op);
  for (int64_t dim : kept)
    sizes.push_back(all[dim]);
  auto type = graph::makeTensorType(op.getContext(), sizes, rewriter.getI32Type());
  return {make<graph::ReduceOp>(type, graph::ReduceKind::Sum, extended, axes), kept};
}

//===- Parameters on the result -----------------------------------------------------------------------------------===//

Value Rewriting::number(double value, Type element, Sizes sizes) {
  RankedTensorType type = graph::makeTensorType(op.getContext(), sizes, element);
  Attribute attribute = isa<FloatType>(element) ? (Attribute)rewriter.getFloatAttr(element, value)
                                                : rewriter.getIntegerAttr(element, static_cast<int64_t>(value));
  if (type.hasStaticShape())
    return arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, attribute));
  auto scalar = RankedTensorType::get({}, element);
  Value one = arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(scalar, attribute));
  return make<graph::BroadcastOp>(type, one, ArrayRef<int64_t>());
}

bool Rewriting::canSpread(unsigned i, const QuantizationParameter &parameter) {
  if (!parameter.isVector())
    return true;
  std::optional<int64_t> behind = dimBehind(side[i], parameter.dim);
  return behind && resultDim(i, *behind);
}

/// A parameter of operand `i`, plus `offset`.
Along Rewriting::along(unsigned i, const QuantizationParameter &parameter, Type element, double offset) {
  if (parameter.number)
    return {number(*parameter.number + offset, element, {}), {}};
  SmallVector<int64_t> dims;
  if (parameter.isVector())
    dims.push_back(*resultDim(i, *dimBehind(side[i], parameter.dim)));
  Value value = parameter.value;
  if (offset != 0)
    value = make<arith::AddIOp>(value, number(offset, element, sizesOf(value)));
  return {value, dims};
}

/// a * b, of integers. A scalar is multiplied before anything is repeated, so that what memory may hold is as small as
/// the other factor.
Along Rewriting::product(Along a, Along b) {
  if (a.dims.empty())
    std::swap(a, b);
  SmallVector<int64_t> dims = a.dims;
  if (!b.dims.empty()) {
    dims = llvm::to_vector(llvm::seq<int64_t>(0, op.getType().getRank()));
    a.value = broadcast(a), b.value = broadcast(b);
  } else if (!a.dims.empty()) {
    b.value = make<graph::BroadcastOp>(tensorOf(a.value), b.value, ArrayRef<int64_t>());
  }
  return {make<arith::MulIOp>(b.value, a.value), dims};
}

/// sums - (zero point of `i`) * sum_k (the other side): for the data, of the weights less their zero point.
Value Rewriting::minusZero(unsigned i, Value sums, Value otherOperand) {
  if (!side[i].hasZero())
    return sums;
  Along others;
  if (i == weights || !isConstant(weights)) {
    others = sumsOfRuntime(1 - i, otherOperand);
  } else if (fillsWithUnknown(i)) {
    others = sumsInside();
  } else {
    SmallVector<std::optional<int64_t>> places = resultDims(weights);
    std::optional<int64_t> zero = side[i].knownZero();
    others.value = sumsOfWeights(places, *depth(), zero.value_or(1));
    for (const std::optional<int64_t> &place : places)
      if (place)
        others.dims.push_back(*place);
    llvm::sort(others.dims);
    if (zero)
      return make<arith::SubIOp>(sums, broadcast(others));
  }
  QuantizationParameter parameter = side[i].zero.value_or(QuantizationParameter{0.0, {}, -1});
  Along zeros = along(i, parameter, rewriter.getI32Type(), static_cast<double>(side[i].offset));
  return make<arith::SubIOp>(sums, broadcast(product(zeros, others)));
}

/// sums * (scale of lhs * scale of rhs): the product of known scales is rounded once, here.
Value Rewriting::rescaled(Value sums) {
  Type f32 = rewriter.getF32Type();
  Value result = make<arith::SIToFPOp>(graph::withElementType(op.getType(), f32), sums);
  float known = 1;
  SmallVector<unsigned> open;
  for (unsigned i : {0u, 1u})
    if (side[i].scale && side[i].scale->number)
      known *= static_cast<float>(*side[i].scale->number);
    else if (side[i].scale)
      open.push_back(i);
  for (unsigned i : open) {
    std::optional<SmallVector<double>> numbers =
        side[i].scale->isVector() ? knownNumbers(side[i].scale->value) : std::nullopt;
    if (!numbers) {
      result = make<arith::MulFOp>(result, broadcast(along(i, *side[i].scale, f32)));
      continue;
    }
    SmallVector<float> products;
    for (double number : *numbers)
      products.push_back(static_cast<float>(number) * known);
    known = 1;
    auto &pool = op.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
    std::string key = pool.add(std::as_bytes(std::span(products.data(), products.size())));
    Value vector = graph::ConstantOp::create(rewriter, op.getLoc(),
                                             RankedTensorType::get({static_cast<int64_t>(products.size())}, f32), key);
    result = make<arith::MulFOp>(result, broadcast(along(i, {std::nullopt, vector, side[i].scale->dim}, f32)));
  }
  return known == 1 ? result : make<arith::MulFOp>(result, number(known, f32, sizesOf(op)));
}

//===- The rewrite ------------------------------------------------------------------------------------------------===//

LogicalResult Rewriting::run() {
  isFloat = tensorOf(op.getLhs()).getElementType().isF32();
  for (unsigned i : {0u, 1u}) {
    std::optional<Quantized> found = quantizedOf(op->getOperand(i));
    if (!found)
      return failure();
    side[i] = *found;
    for (const std::optional<QuantizationParameter> &parameter : {side[i].zero, side[i].scale})
      if (parameter && !canSpread(i, *parameter))
        return failure();
  }
  std::optional<int64_t> products = depth();
  if (isFloat && (!products || *products > longestSum))
    return failure();
  weights = isConstant(1) ? 1 : 0;
  unsigned data = 1 - weights;
  bool known = isConstant(weights);
  if (known ? !side[weights].knownZero() || !products : !isFloat && side[0].hasZero() && side[1].hasZero())
    return failure();
  if (fillsWithUnknown(weights) || (fillsWithUnknown(data) && !(known && canSumInside())))
    return failure();
  if (!keepsOrder(data) || (!known && !keepsOrder(weights)) || failed(chooseSigns()))
    return failure();
  AffineMap maps[] = {op.getMap(0), op.getMap(1), op.getMap(2)};
  Value operands[] = {operandOf(0), operandOf(1)};
  if (known)
    operands[weights] = laidAlongK(maps[weights]);
  Value sums =
      make<graph::ContractOp>(graph::withElementType(op.getType(), rewriter.getI32Type()), operands[0], operands[1],
                              rewriter.getAffineMapArrayAttr(maps), side[0].isUnsigned, side[1].isUnsigned);
  sums = minusZero(data, sums, operands[weights]);
  sums = minusZero(weights, sums, operands[data]);
  rewriter.replaceOp(op, isFloat ? rescaled(sums) : sums);
  return success();
}

struct IntegerContraction : OpRewritePattern<graph::ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ContractOp op, PatternRewriter &rewriter) const override {
    return Rewriting(op, rewriter).run();
  }
};

} // namespace

void normalize::addIntegerContractions(RewritePatternSet &patterns) {
  patterns.add<IntegerContraction>(patterns.getContext());
}
