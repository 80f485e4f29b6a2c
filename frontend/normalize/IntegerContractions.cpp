// SPDX-License-Identifier: Apache-2.0
// Rewrites a contraction of dequantized operands as a contraction of the integers, followed by one rescaling of each
// sum.
//
//     sum_k (a - za) sa * (b - zb) sb   =   sa sb (sum_k a b  -  za sum_k (b - zb)  -  zb sum_k a)
//
//     %a = mulf(sitofp(subi(extui %qa, za)), sa)         %s = graph.contract %qa, %qb {lhs_unsigned} : i8, i8 -> i32
//     %b = mulf(sitofp(%qb), sb)                   ->    %t = subi %s, za * (column sums of %qb, a constant)
//     %c = graph.contract %a, %b                         %c = mulf(sitofp(%t), sa * sb)
//
// The integer sums are exact, so the result differs from that of the float model only by the rounding of its last three
// operations.
//
//  * Windows and pads that fill with 0.0 fill with the zero point instead. If that is only known at run time, they fill
//    with 0, and the sums of the weights leave out the weights that fall on the padding.
//  * If one side is constant, it becomes signed and the other unsigned, as VNNI instructions need. (x ^ 0x80 is x + 128
//    or x - 128, read with the other sign.)
//  * If neither side is constant, the contraction stays in floats unless both zero points are 0: the sums of both sides
//    would cost two more passes over memory.
#include "frontend/normalize/IntegerContraction.h"

#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Reassociation.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {

/// The number of products of an unsigned and a signed byte whose sum cannot overflow 32 bits.
constexpr int64_t longestSum = (int64_t(1) << 31) / (255 * 128);

/// The dimension of the operand that dimension `dim` of the integers becomes through the accesses. Nothing if a reshape
/// splits or merges it.
std::optional<int64_t> dimBehind(const Quantized &side, int64_t dim) {
  for (Operation *op : llvm::reverse(side.accesses)) {
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      dim = inverse(transpose.getPerm())[dim];
    } else if (auto broadcast = dyn_cast<graph::BroadcastOp>(op)) {
      dim = broadcast.getDims()[dim];
    } else if (auto reshape = dyn_cast<graph::ReshapeOp>(op)) {
      std::optional<int64_t> found;
      Sizes from = sizesOf(reshape.getData()), to = sizesOf(reshape);
      for (const ReassociationGroup &group : reassociation(from, to))
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

} // namespace

//===- Operands ---------------------------------------------------------------------------------------------------===//

/// Whether side `i` is a constant with known bytes, seen through transposes only (reshapes have been folded).
bool IntegerContraction::isConstant(unsigned i) {
  auto constant = side[i].integers.getDefiningOp<graph::ConstantOp>();
  return constant && !bytesOf(constant).empty() &&
         llvm::all_of(side[i].accesses, [](Operation *access) { return isa<graph::TransposeOp>(access); });
}

/// x ^ 0x80. Read with the other signedness, these are the same numbers plus or minus 128.
Value IntegerContraction::withFlippedSign(Value integers) {
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

LogicalResult IntegerContraction::chooseSigns() {
  if (!isConstant(weights)) // two computed operands keep their signs
    return success(!isFloat || (!side[0].hasZero() && !side[1].hasZero()));
  for (unsigned i : {0u, 1u})
    if (bool wanted = i != weights; side[i].isUnsigned != wanted) {
      side[i].integers = withFlippedSign(side[i].integers);
      side[i].offset += wanted ? 128 : -128;
      side[i].isUnsigned = wanted;
    }
  return success();
}

/// The weights with the summed dimensions last, in the other side's order: the layout that the byte matrix instructions
/// of GPUs need.
Value IntegerContraction::transposedWeights(AffineMap &map) {
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

/// The operand: the accesses, now on the integers, and filling with the zero point.
Value IntegerContraction::operandOf(unsigned i) {
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

/// The dimension of the result that dimension `operandDim` of an operand becomes; nothing if it is summed.
std::optional<int64_t> IntegerContraction::resultDim(unsigned i, int64_t operandDim) {
  AffineExpr loop = op.getMap(i).getResult(operandDim);
  auto position = op.getMap(2).getResultPosition(loop);
  return position ? std::optional<int64_t>(*position) : std::nullopt;
}

/// The number of products in each sum, if it is known.
std::optional<int64_t> IntegerContraction::depth() {
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

/// The same for each dimension of an operand.
SmallVector<std::optional<int64_t>> IntegerContraction::resultDims(unsigned i) {
  SmallVector<std::optional<int64_t>> dims;
  for (int64_t d = 0, rank = tensorOf(op->getOperand(i)).getRank(); d < rank; ++d)
    dims.push_back(resultDim(i, d));
  return dims;
}

/// Whether the dimensions that an operand shares with the result have the same order in both.
bool IntegerContraction::keepsOrder(unsigned i) {
  SmallVector<int64_t> kept;
  for (std::optional<int64_t> dim : resultDims(i))
    if (dim)
      kept.push_back(*dim);
  return llvm::is_sorted(kept);
}

//===- Parameters on the result -----------------------------------------------------------------------------------===//

/// A constant tensor with `value` in every element.
Value IntegerContraction::number(double value, Type element, Sizes sizes) {
  RankedTensorType type = graph::makeTensorType(op.getContext(), sizes, element);
  Attribute attribute = isa<FloatType>(element) ? (Attribute)rewriter.getFloatAttr(element, value)
                                                : rewriter.getIntegerAttr(element, static_cast<int64_t>(value));
  if (type.hasStaticShape())
    return arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, attribute));
  auto scalar = RankedTensorType::get({}, element);
  Value one = arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(scalar, attribute));
  return make<graph::BroadcastOp>(type, one, ArrayRef<int64_t>());
}

Value IntegerContraction::broadcast(const Along &data) {
  RankedTensorType type = graph::withElementType(op.getType(), tensorOf(data.value).getElementType());
  return data.value.getType() == type ? data.value : make<graph::BroadcastOp>(type, data.value, data.dims);
}

/// Whether a parameter varies along one dimension of the result at most.
bool IntegerContraction::canSpread(unsigned i, const QuantizationParameter &parameter) {
  if (!parameter.isVector())
    return true;
  std::optional<int64_t> behind = dimBehind(side[i], parameter.dim);
  return behind && resultDim(i, *behind);
}

/// A parameter of operand `i`, plus `offset`, along the result.
Along IntegerContraction::along(unsigned i, const QuantizationParameter &parameter, Type element, double offset) {
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

/// sums * (scale of lhs * scale of rhs). The product of known scales is computed here.
Value IntegerContraction::rescaled(Value sums) {
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

LogicalResult IntegerContraction::run() {
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
  if (fillsWithUnknownZero(weights) || (fillsWithUnknownZero(data) && !(known && canSumInside())))
    return failure();
  if (!keepsOrder(data) || (!known && !keepsOrder(weights)) || failed(chooseSigns()))
    return failure();
  AffineMap maps[] = {op.getMap(0), op.getMap(1), op.getMap(2)};
  Value operands[] = {operandOf(0), operandOf(1)};
  if (known)
    operands[weights] = transposedWeights(maps[weights]);
  Value sums =
      make<graph::ContractOp>(graph::withElementType(op.getType(), rewriter.getI32Type()), operands[0], operands[1],
                              rewriter.getAffineMapArrayAttr(maps), side[0].isUnsigned, side[1].isUnsigned);
  sums = minusZeroPoint(data, sums, operands[weights]);
  sums = minusZeroPoint(weights, sums, operands[data]);
  rewriter.replaceOp(op, isFloat ? rescaled(sums) : sums);
  return success();
}

namespace {
struct IntegerContractionPattern : OpRewritePattern<graph::ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(graph::ContractOp op, PatternRewriter &rewriter) const override {
    return IntegerContraction(op, rewriter).run();
  }
};
} // namespace

void normalize::addIntegerContractions(RewritePatternSet &patterns) {
  patterns.add<IntegerContractionPattern>(patterns.getContext());
}
