// A contraction of dequantized operands is a contraction of the integers, then one rescale of each sum.
//
//     sum_k (a - za) sa * (b - zb) sb   =   sa sb (sum_k a b  -  za sum_k (b - zb)  -  zb sum_k a)
//
//     %a = mulf(sitofp(subi(extui %qa, za)), sa)         %s = graph.contract %qa, %qb {lhs_unsigned} : i8, i8 -> i32
//     %b = mulf(sitofp(%qb), sb)                   ->    %t = subi %s, za * (column sums of %qb, a constant)
//     %c = graph.contract %a, %b                         %c = mulf(sitofp(%t), sa * sb)
//
// The integer sums are exact, so the result is that of the float model up to the rounding of its last three operations. A window or pad
// that fills with zeros fills with the zero point. Where one side is a constant, the other becomes unsigned and it signed (x ^ 0x80 is x +
// 128 read with the other sign), which is the form of VNNI. A product of two computed operands stays in floats unless neither has a zero
// point: its sums would cost two more passes.
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
          if (dim >= group.fromBegin && dim < group.fromEnd && to[i] == from[dim] && countReal(from, group.fromBegin, group.fromEnd) <= 1)
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
  Value laidAlongK(unsigned weights, AffineMap &map);
  Value operandOf(unsigned i);
  std::optional<int64_t> resultDim(unsigned i, int64_t operandDim);
  std::optional<int64_t> depth();
  bool keepsOrder(unsigned i);
  SmallVector<int32_t> sumsOfConstant(unsigned i, SmallVectorImpl<int64_t> &dims);
  Along sumsOfRuntime(unsigned i, Value operand);
  bool canSpread(unsigned i, const QuantizationParameter &parameter);
  Along along(unsigned i, const QuantizationParameter &parameter, Type element, double offset = 0);
  Along product(Along a, Along b);
  Value broadcast(const Along &data);
  Value number(double value, Type element, Sizes sizes);
  Along constant(ArrayRef<int32_t> numbers, ArrayRef<int64_t> dims);
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
  bool isFloat = false;
};

//===- Operands -------------------------------------------------------------------------------------------------------===//

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
  unsigned weights = isConstant(1) ? 1 : 0;
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

/// The constant with its summed dimensions last, in the order in which the other side has them: so a GPU's instructions on bytes read it.
Value Rewriting::laidAlongK(unsigned weights, AffineMap &map) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(op->getOperand(weights)).getRank()));
  auto placeOf = [&](int64_t dim) -> int64_t {
    if (std::optional<int64_t> result = resultDim(weights, dim))
      return *result;
    auto inData = op.getMap(1 - weights).getResultPosition(op.getMap(weights).getResult(dim));
    return op.getMap(2).getNumResults() + (inData ? *inData : 0);
  };
  llvm::sort(perm, [&](int64_t a, int64_t b) { return std::pair(placeOf(a), a) < std::pair(placeOf(b), b); });
  map = AffineMap::get(map.getNumDims(), 0, llvm::map_to_vector(perm, [&](int64_t dim) { return map.getResult(dim); }), op.getContext());
  for (Operation *access : side[weights].accesses)
    for (int64_t &dim : perm)
      dim = cast<graph::TransposeOp>(access).getPerm()[dim];
  auto constant = side[weights].integers.getDefiningOp<graph::ConstantOp>();
  ArrayRef<int8_t> bytes = bytesOf(constant);
  SmallVector<int64_t> shape, from(tensorOf(constant).getShape());
  for (int64_t dim : perm)
    shape.push_back(from[dim]);
  auto &pool = op.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  std::string key = llvm::is_sorted(perm) ? constant.getKey().str()
                                          : pool.add(permuted(std::as_bytes(std::span(bytes.data(), bytes.size())), from, perm, 1));
  return graph::ConstantOp::create(rewriter, op.getLoc(), RankedTensorType::get(shape, tensorOf(constant).getElementType()), key);
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
      clone->setAttr("fill", IntegerAttr::get(element, APInt(8, *side[i].knownZero() & 255)));
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

//===- Sums along k ---------------------------------------------------------------------------------------------------===//

/// What the constant operand's elements sum to along its reduced dimensions, in the order of `dims`, the result's dimensions that are left.
SmallVector<int32_t> Rewriting::sumsOfConstant(unsigned i, SmallVectorImpl<int64_t> &dims) {
  auto weights = side[i].integers.getDefiningOp<graph::ConstantOp>();
  ArrayRef<int8_t> bytes = bytesOf(weights);
  SmallVector<int64_t> shape(tensorOf(weights).getShape()), strides(shape.size(), 1); // of the operand, in the constant's bytes
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  for (Operation *access : llvm::reverse(side[i].accesses)) {
    SmallVector<int64_t> oldShape = shape, oldStrides = strides;
    for (auto [d, from] : llvm::enumerate(cast<graph::TransposeOp>(access).getPerm()))
      shape[d] = oldShape[from], strides[d] = oldStrides[from];
  }
  SmallVector<std::optional<int64_t>> target;
  for (size_t d = 0; d < shape.size(); ++d)
    target.push_back(resultDim(i, d));
  for (const std::optional<int64_t> &dim : target)
    if (dim)
      dims.push_back(*dim);
  llvm::sort(dims);
  SmallVector<int64_t> sumStrides(shape.size(), 0);
  int64_t count = 1;
  for (int64_t dim : llvm::reverse(dims)) {
    auto *at = llvm::find(target, dim);
    sumStrides[at - target.begin()] = count;
    count *= shape[at - target.begin()];
  }
  // In the order of the bytes, so that the constant is read once, front to back.
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::pair(strides[b], a) < std::pair(strides[a], b); });
  SmallVector<uint32_t> sums(count, 0);
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t place = 0;
  for (int8_t byte : bytes) {
    sums[place] += static_cast<uint32_t>(static_cast<int32_t>(byte));
    for (size_t o = order.size(); o-- > 0;) {
      unsigned d = order[o];
      place += sumStrides[d];
      if (++index[d] < shape[d])
        break;
      place -= sumStrides[d] * shape[d];
      index[d] = 0;
    }
  }
  return SmallVector<int32_t>(sums.begin(), sums.end());
}

/// Whether the dimensions that an operand shares with the result stand in the result's order.
bool Rewriting::keepsOrder(unsigned i) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0, rank = tensorOf(op->getOperand(i)).getRank(); d < rank; ++d)
    if (std::optional<int64_t> dim = resultDim(i, d))
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
  for (int64_t d = 0, rank = tensorOf(operand).getRank(); d < rank; ++d) {
    std::optional<int64_t> dim = resultDim(i, d);
    if (dim)
      kept.push_back(*dim);
    else
      axes.push_back(d);
  }
  RankedTensorType wide = graph::withElementType(tensorOf(operand), rewriter.getI32Type());
  Value extended = side[i].isUnsigned ? make<arith::ExtUIOp>(wide, operand) : make<arith::ExtSIOp>(wide, operand);
  Sizes sizes, all = sizesOf(op);
  for (int64_t dim : kept)
    sizes.push_back(all[dim]);
  auto type = graph::makeTensorType(op.getContext(), sizes, rewriter.getI32Type());
  return {make<graph::ReduceOp>(type, graph::ReduceKind::Sum, extended, axes), kept};
}

//===- Parameters on the result ---------------------------------------------------------------------------------------===//

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

Along Rewriting::constant(ArrayRef<int32_t> numbers, ArrayRef<int64_t> dims) {
  if (llvm::all_equal(numbers))
    return {number(numbers.empty() ? 0 : numbers.front(), rewriter.getI32Type(), {}), {}};
  auto &pool = op.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  SmallVector<int64_t> shape;
  Sizes sizes = sizesOf(op);
  for (int64_t dim : dims)
    shape.push_back(*graph::constantSize(sizes[dim]));
  std::string key = pool.add(std::as_bytes(std::span(numbers.data(), numbers.size())));
  return {graph::ConstantOp::create(rewriter, op.getLoc(), RankedTensorType::get(shape, rewriter.getI32Type()), key),
          llvm::to_vector(dims)};
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

/// a * b, of integers. A scalar is multiplied before anything is repeated, so that what memory may hold is as small as the other factor.
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

/// sums - (zero point of `i`) * sum_k (the other side - its zero point), where the other side is constant; without its zero point where
/// not.
Value Rewriting::minusZero(unsigned i, Value sums, Value otherOperand) {
  if (!side[i].hasZero())
    return sums;
  unsigned other = 1 - i;
  std::optional<int64_t> zero = side[i].knownZero();
  Along others;
  if (isConstant(other)) {
    SmallVector<int64_t> dims;
    SmallVector<int32_t> numbers = sumsOfConstant(other, dims);
    std::optional<int64_t> otherZero = side[other].knownZero();
    std::optional<int64_t> factor = otherZero ? depth() : std::nullopt;
    for (int32_t &entry : numbers)
      entry = static_cast<int32_t>((zero ? *zero : 1) * (entry - (factor ? *factor * *otherZero : 0)));
    others = constant(numbers, dims);
    if (zero)
      return make<arith::SubIOp>(sums, broadcast(others));
  } else {
    others = sumsOfRuntime(other, otherOperand);
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
    std::optional<SmallVector<double>> numbers = side[i].scale->isVector() ? knownNumbers(side[i].scale->value) : std::nullopt;
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
    Value vector =
        graph::ConstantOp::create(rewriter, op.getLoc(), RankedTensorType::get({static_cast<int64_t>(products.size())}, f32), key);
    result = make<arith::MulFOp>(result, broadcast(along(i, {std::nullopt, vector, side[i].scale->dim}, f32)));
  }
  return known == 1 ? result : make<arith::MulFOp>(result, number(known, f32, sizesOf(op)));
}

//===- The rewrite ----------------------------------------------------------------------------------------------------===//

LogicalResult Rewriting::run() {
  isFloat = tensorOf(op.getLhs()).getElementType().isF32();
  for (unsigned i : {0u, 1u}) {
    std::optional<Quantized> found = quantizedOf(op->getOperand(i));
    if (!found)
      return failure();
    side[i] = *found;
    bool fills = llvm::any_of(side[i].accesses, [](Operation *access) { return access->hasAttr("fill"); });
    if (fills && !side[i].knownZero())
      return failure(); // a zero point that only running tells cannot be what a window fills with
    for (const std::optional<QuantizationParameter> &parameter : {side[i].zero, side[i].scale})
      if (parameter && !canSpread(i, *parameter))
        return failure();
  }
  std::optional<int64_t> products = depth();
  if (isFloat && (!products || *products > longestSum))
    return failure();
  unsigned weights = isConstant(1) ? 1 : 0, data = 1 - weights;
  bool known = isConstant(weights);
  if (known ? !side[weights].knownZero() || !products : !isFloat && side[0].hasZero() && side[1].hasZero())
    return failure();
  if (!keepsOrder(data) || (!known && !keepsOrder(weights)) || failed(chooseSigns()))
    return failure();
  AffineMap maps[] = {op.getMap(0), op.getMap(1), op.getMap(2)};
  Value operands[] = {operandOf(0), operandOf(1)};
  if (known)
    operands[weights] = laidAlongK(weights, maps[weights]);
  Value sums = make<graph::ContractOp>(graph::withElementType(op.getType(), rewriter.getI32Type()), operands[0], operands[1],
                                       rewriter.getAffineMapArrayAttr(maps), side[0].isUnsigned, side[1].isUnsigned);
  sums = minusZero(data, sums, operands[weights]);
  sums = minusZero(weights, sums, operands[data]);
  rewriter.replaceOp(op, isFloat ? rescaled(sums) : sums);
  return success();
}

struct IntegerContraction : OpRewritePattern<graph::ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ContractOp op, PatternRewriter &rewriter) const override { return Rewriting(op, rewriter).run(); }
};

/// ext(x ^ 0x80) = ext'(x) +- 128: whoever else reads flipped integers reads what is in memory.
template <typename Extend, typename Other, int64_t offset> struct ExtendOfFlipped : OpRewritePattern<Extend> {
  using OpRewritePattern<Extend>::OpRewritePattern;
  LogicalResult matchAndRewrite(Extend op, PatternRewriter &rewriter) const override {
    auto flip = op.getIn().template getDefiningOp<arith::XOrIOp>();
    auto type = cast<RankedTensorType>(op.getType());
    SplatElementsAttr mask;
    if (!flip || !matchPattern(flip.getRhs(), m_Constant(&mask)) || !tensorOf(op.getIn()).getElementType().isInteger(8) ||
        mask.getSplatValue<APInt>() != 128 || !type.hasStaticShape())
      return failure();
    Value wide = Other::create(rewriter, op.getLoc(), type, flip.getLhs());
    Value offsets = arith::ConstantOp::create(rewriter, op.getLoc(),
                                              DenseElementsAttr::get(type, rewriter.getIntegerAttr(type.getElementType(), offset)));
    auto difference = arith::SubIOp::create(rewriter, op.getLoc(), wide, offsets);
    if (Attribute node = op->getAttr(graph::nodeAttr))
      for (Operation *made : {wide.getDefiningOp(), difference.getOperation()})
        made->setAttr(graph::nodeAttr, node);
    rewriter.replaceOp(op, difference.getResult());
    return success();
  }
};

/// (x - a) - b = x - (a + b)
struct CombineDifferences : OpRewritePattern<arith::SubIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SubIOp op, PatternRewriter &rewriter) const override {
    auto before = op.getLhs().getDefiningOp<arith::SubIOp>();
    SplatElementsAttr a, b;
    if (!before || !matchPattern(before.getRhs(), m_Constant(&a)) || !matchPattern(op.getRhs(), m_Constant(&b)))
      return failure();
    Value sum = arith::ConstantOp::create(
        rewriter, op.getLoc(), DenseElementsAttr::get(cast<ShapedType>(op.getType()), a.getSplatValue<APInt>() + b.getSplatValue<APInt>()));
    rewriter.modifyOpInPlace(op, [&] { op->setOperands({before.getLhs(), sum}); });
    return success();
  }
};

} // namespace

void normalize::addIntegerContractions(RewritePatternSet &patterns) {
  patterns.add<IntegerContraction, ExtendOfFlipped<arith::ExtSIOp, arith::ExtUIOp, 128>,
               ExtendOfFlipped<arith::ExtUIOp, arith::ExtSIOp, -128>, CombineDifferences>(patterns.getContext());
}
