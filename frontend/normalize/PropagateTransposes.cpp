// SPDX-License-Identifier: Apache-2.0
// Transposes sink toward the results, through operations that can work on the operand's order of dimensions, until they
// meet their inverse or become part of a contraction's maps. A CNN, which is imported with a pair of transposes around
// each convolution, becomes channels-last as a whole.
//
//     %t = graph.transpose %x perm P                    %y = f(%x, P^-1 %c)
//     %y = f(%t, %c)                             ->     %t = graph.transpose %y perm P
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Reassociation.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {

graph::TransposeOp transposeOf(Value value) { return value.getDefiningOp<graph::TransposeOp>(); }

/// Whether another order of the value's dimensions costs nothing.
bool isFreeToTranspose(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<graph::BroadcastOp, graph::ConstantOp, graph::IotaOp>(op) || matchPattern(value, m_Constant()));
}

/// The permutation of the transposes that compute all `operands`, except those that are free to transpose. Empty if
/// there is none.
SmallVector<int64_t> commonPermutation(ValueRange operands) {
  SmallVector<int64_t> perm;
  for (Value operand : operands) {
    graph::TransposeOp transpose = transposeOf(operand);
    if (!transpose && isFreeToTranspose(operand))
      continue;
    if (!transpose || (!perm.empty() && ArrayRef<int64_t>(perm) != transpose.getPerm()))
      return {};
    perm = llvm::to_vector(transpose.getPerm());
  }
  return perm;
}

/// The operands in the order before the transpose `perm`.
SmallVector<Value> beforeTranspose(Rebuild &build, ValueRange operands, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> back = inverse(perm);
  return llvm::map_to_vector(operands, [&](Value operand) {
    graph::TransposeOp transpose = transposeOf(operand);
    return transpose ? transpose.getData() : build.transpose(operand, back);
  });
}

struct SinkThroughElementwise : RewritePattern {
  explicit SinkThroughElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    SmallVector<int64_t> perm = commonPermutation(op->getOperands());
    if (perm.empty())
      return failure();
    Rebuild build(rewriter, op);
    SmallVector<Value> operands = beforeTranspose(build, op->getOperands(), perm);
    Value result = build.elementwise(op, operands, sizesOf(operands.front()));
    rewriter.replaceOp(op, build.transpose(result, perm));
    return success();
  }
};

/// Reorders the attributes of slices, rolls and pads, which have an entry for each dimension.
template <typename T> SmallVector<T> reordered(ArrayRef<T> entries, ArrayRef<int64_t> order) {
  return llvm::map_to_vector(order, [&](int64_t dim) { return entries[dim]; });
}
AffineMap reordered(AffineMap offsets, ArrayRef<int64_t> order) {
  return AffineMap::get(0, offsets.getNumSymbols(), reordered(offsets.getResults(), order), offsets.getContext());
}

/// Sinks a transpose through an operation with attributes: `make(type, perm^-1)` creates `op` on operands before the
/// transpose, and a transpose by `perm` follows.
template <typename Op, typename Make>
LogicalResult sinkThrough(Op op, ArrayRef<int64_t> perm, PatternRewriter &rewriter, Make make) {
  Rebuild build(rewriter, op);
  SmallVector<int64_t> back = inverse(perm);
  Sizes sizes = sizesOf(op);
  Op sunk = make(build.type(reordered<AffineExpr>(sizes, back), op), back);
  sunk->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, build.transpose(sunk, perm));
  return success();
}

LogicalResult sinkThroughConcat(graph::ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<int64_t> perm = commonPermutation(op.getInputs());
  if (perm.empty())
    return failure();
  Rebuild build(rewriter, op);
  SmallVector<Value> inputs = beforeTranspose(build, op.getInputs(), perm);
  return sinkThrough(op, perm, rewriter, [&](Type type, ArrayRef<int64_t>) {
    return graph::ConcatOp::create(rewriter, op.getLoc(), type, perm[op.getAxis()], inputs);
  });
}

LogicalResult sinkThroughReduce(graph::ReduceOp op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = transposeOf(op.getInput());
  if (!transpose)
    return failure();
  SmallVector<int64_t> axes, kept; // before the transpose: reduced dimensions, and kept ones in the order of the result
  for (auto [i, dim] : llvm::enumerate(transpose.getPerm()))
    (llvm::is_contained(op.getAxes(), static_cast<int64_t>(i)) ? axes : kept).push_back(dim);
  llvm::sort(axes);
  SmallVector<int64_t> sorted = kept, perm;
  llvm::sort(sorted);
  for (int64_t dim : kept)
    perm.push_back(llvm::find(sorted, dim) - sorted.begin());
  Rebuild build(rewriter, op);
  rewriter.replaceOp(op, build.transpose(build.reduce(op, transpose.getData(), axes), perm));
  return success();
}

LogicalResult sinkThroughSlice(graph::SliceOp op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = transposeOf(op.getData());
  if (!transpose)
    return failure();
  return sinkThrough(op, transpose.getPerm(), rewriter, [&](Type type, ArrayRef<int64_t> back) {
    return graph::SliceOp::create(rewriter, op.getLoc(), type, transpose.getData(), reordered(op.getOffsets(), back),
                                  reordered(op.getStrides(), back));
  });
}

LogicalResult sinkThroughRoll(graph::RollOp op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = transposeOf(op.getData());
  if (!transpose)
    return failure();
  return sinkThrough(op, transpose.getPerm(), rewriter, [&](Type type, ArrayRef<int64_t> back) {
    return graph::RollOp::create(rewriter, op.getLoc(), type, transpose.getData(), reordered(op.getOffsets(), back));
  });
}

LogicalResult sinkThroughPad(graph::PadOp op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = transposeOf(op.getData());
  if (!transpose)
    return failure();
  return sinkThrough(op, transpose.getPerm(), rewriter, [&](Type type, ArrayRef<int64_t> back) {
    return graph::PadOp::create(rewriter, op.getLoc(), type, transpose.getData(), reordered(op.getLow(), back),
                                op.getFill());
  });
}

/// Only if the spatial dimensions are neighbours, and in the same order, before the transpose too.
LogicalResult sinkThroughWindow(graph::WindowOp op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = transposeOf(op.getData());
  if (!transpose)
    return failure();
  int64_t spatial = op.getDims().size(), first = op.getDims().front();
  ArrayRef<int64_t> perm = transpose.getPerm();
  for (int64_t i = 1; i < spatial; ++i)
    if (perm[first + i] != perm[first] + i)
      return failure();
  int64_t before = perm[first]; // the first spatial dimension of the operand in its own order
  // Result dimensions of both windows: dimensions before the spatial ones, outputs, taps, dimensions after.
  auto at = [&](int64_t dim) { return dim >= before + spatial ? dim + spatial : dim; };
  SmallVector<int64_t> order;
  for (int64_t dim : perm) {
    order.push_back(at(dim));
    if (dim == before + spatial - 1)
      for (int64_t k = 0; k < spatial; ++k)
        order.push_back(before + spatial + k);
  }
  auto dims = llvm::to_vector(llvm::seq<int64_t>(before, before + spatial));
  return sinkThrough(op, order, rewriter, [&](Type type, ArrayRef<int64_t>) {
    return graph::WindowOp::create(rewriter, op.getLoc(), type, transpose.getData(), dims, op.getStrides(),
                                   op.getDilations(), op.getLow(), op.getFill(), op.getCopied());
  });
}

/// A contraction reads its operands through maps, so a transpose of an operand becomes another map.
LogicalResult absorbIntoContract(graph::ContractOp op, PatternRewriter &rewriter) {
  SmallVector<Value> operands(op->getOperands());
  SmallVector<AffineMap> maps = {op.getMap(0), op.getMap(1), op.getMap(2)};
  bool changed = false;
  for (unsigned i = 0; i < 2; ++i)
    if (graph::TransposeOp transpose = transposeOf(operands[i])) {
      maps[i] = AffineMap::get(maps[i].getNumDims(), 0, reordered(maps[i].getResults(), inverse(transpose.getPerm())),
                               op.getContext());
      operands[i] = transpose.getData();
      changed = true;
    }
  if (!changed)
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperands(operands);
    op.setMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  return success();
}

/// The permutation that sorts the entries [begin, end) of `perm`, as positions in it; the others stay in place.
SmallVector<int64_t> sortedWithin(ArrayRef<int64_t> perm, unsigned begin, unsigned end) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, perm.size()));
  std::sort(order.begin() + begin, order.begin() + end, [&](int64_t a, int64_t b) { return perm[a] < perm[b]; });
  return order;
}

/// The dimension of the operand with this map over which the loop of a contraction runs, if it is a sum's loop and runs
/// over one dimension of the operand.
std::optional<int64_t> dimensionOfSum(graph::ContractOp op, unsigned side, unsigned loop) {
  if (op.getMap(2).isFunctionOfDim(loop))
    return std::nullopt;
  std::optional<int64_t> found;
  for (auto [dim, at] : llvm::enumerate(op.getMap(side).getResults()))
    if (at == getAffineDimExpr(loop, op.getContext())) {
      if (found)
        return std::nullopt;
      found = static_cast<int64_t>(dim);
    }
  return found;
}

/// `constant` with its dimension `dim`, which merges dimensions of these sizes, merging them in another order.
Value mergedInOrder(Rebuild &build, Value constant, int64_t dim, ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> order) {
  Sizes whole = sizesOf(constant), split = whole;
  split.erase(split.begin() + dim);
  split.insert(split.begin() + dim, sizes.begin(), sizes.end());
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, split.size()));
  for (auto [i, at] : llvm::enumerate(order))
    perm[dim + i] = dim + at;
  return build.reshape(build.transpose(build.reshape(constant, split), perm), whole);
}

/// Merges the dimensions of `group` of a contraction's operand, merge(transpose(x)), in their order in x, if a sum runs
/// over them and the other operand is a constant, which then merges them in that order too.
LogicalResult mergeSumInOrder(graph::ContractOp op, unsigned side, const ReassociationGroup &group,
                              PatternRewriter &rewriter) {
  auto merge = op->getOperand(side).getDefiningOp<graph::ReshapeOp>();
  graph::TransposeOp transpose = transposeOf(merge.getData());
  Sizes from = sizesOf(transpose);
  SmallVector<int64_t> order = sortedWithin(transpose.getPerm(), group.fromBegin, group.fromEnd);
  auto sizes = ArrayRef(from).slice(group.fromBegin, group.fromCount());
  auto loop = dyn_cast<AffineDimExpr>(op.getMap(side).getResult(group.toBegin));
  if (llvm::is_sorted(order) || !loop || !llvm::all_of(sizes, llvm::IsaPred<AffineConstantExpr>))
    return failure();
  std::optional<int64_t> other = dimensionOfSum(op, 1 - side, loop.getPosition());
  if (!other || !dimensionOfSum(op, side, loop.getPosition()))
    return failure();
  SmallVector<int64_t> ofGroup = llvm::map_to_vector(ArrayRef(order).slice(group.fromBegin, group.fromCount()),
                                                     [&](int64_t at) { return at - group.fromBegin; });
  Rebuild build(rewriter, op);
  Value data = build.transpose(transpose.getData(), reordered(transpose.getPerm(), order)),
        sides[] = {build.reshape(data, sizesOf(merge)),
                   mergedInOrder(build, op->getOperand(1 - side), *other, sizes, ofGroup)};
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(side, sides[0]);
    op->setOperand(1 - side, sides[1]);
  });
  return success();
}

/// contract(merge(transpose(x)), constant) -> contract(merge(x), constant in another order): a network's first product
/// behind an image, which exporters flatten channels first, reads it as it is computed, channels last.
LogicalResult absorbMergeIntoContract(graph::ContractOp op, PatternRewriter &rewriter) {
  for (unsigned side : {0, 1}) {
    auto merge = op->getOperand(side).getDefiningOp<graph::ReshapeOp>();
    auto constant = op->getOperand(1 - side).getDefiningOp<graph::ConstantOp>();
    if (!merge || !transposeOf(merge.getData()) || !constant || elementsOf(constant).empty())
      continue;
    for (const ReassociationGroup &group : reassociation(sizesOf(merge.getData()), sizesOf(merge)))
      if (group.toCount() == 1 && group.fromCount() > 1 && succeeded(mergeSumInOrder(op, side, group, rewriter)))
        return success();
  }
  return failure();
}

LogicalResult absorbIntoGather(graph::GatherOp op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = transposeOf(op.getData());
  if (!transpose)
    return failure();
  AffineMap map = op.getMap();
  rewriter.modifyOpInPlace(op, [&] {
    op.getDataMutable().assign(transpose.getData());
    op.setMapAttr(
        AffineMapAttr::get(AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                                          reordered(map.getResults(), inverse(transpose.getPerm())), op.getContext())));
  });
  return success();
}

//===- Reshapes beside transposes ---------------------------------------------------------------------------------===//
//
// Reshapes rise above transposes if possible: all splits, and merges of dimensions that move together. Any other merge
// stays behind its transpose, and lets a second transpose sink through it to meet the first.

/// The permutation after splitting dimension i into counts[i] dimensions.
SmallVector<int64_t> refined(ArrayRef<int64_t> perm, ArrayRef<unsigned> counts) {
  SmallVector<int64_t> first(counts.size(), 0), result;
  for (size_t dim = 1; dim < counts.size(); ++dim)
    first[dim] = first[dim - 1] + counts[dim - 1];
  for (int64_t dim : perm)
    for (unsigned i = 0; i < counts[dim]; ++i)
      result.push_back(first[dim] + i);
  return result;
}

/// transpose(merge(transpose(x))) -> merge(transpose(x)), with the composed permutation. Dimensions of size 1 may
/// appear or disappear.
LogicalResult sinkMerge(graph::TransposeOp op, PatternRewriter &rewriter) {
  auto reshape = op.getData().getDefiningOp<graph::ReshapeOp>();
  graph::TransposeOp first = reshape ? transposeOf(reshape.getData()) : graph::TransposeOp();
  if (!first)
    return failure();
  Sizes from = sizesOf(reshape.getData()), to = sizesOf(reshape);
  SmallVector<unsigned> counts; // for each dimension of `to`
  for (const ReassociationGroup &group : reassociation(from, to)) {
    if (countReal(to, group.toBegin, group.toEnd) > 1)
      return failure(); // it does more than merge
    counts.append(group.toCount(), 0);
    unsigned merged = group.toBegin;
    while (merged + 1 < group.toEnd && isUnit(to[merged]))
      ++merged;
    if (group.toCount() > 0)
      counts[merged] = group.fromCount();
    else if (group.fromCount() > 0)
      return failure();
  }
  SmallVector<int64_t> perm; // both transposes in one step; in two steps the merge would rise again
  for (int64_t dim : refined(op.getPerm(), counts))
    perm.push_back(first.getPerm()[dim]);
  Rebuild build(rewriter, op);
  rewriter.replaceOp(op, build.reshape(build.transpose(first.getData(), perm), sizesOf(op)));
  return success();
}

/// split(transpose(x)) -> transpose(split(x))
LogicalResult raiseSplit(graph::ReshapeOp op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = transposeOf(op.getData());
  if (!transpose)
    return failure();
  Sizes from = sizesOf(transpose), to = sizesOf(op);
  SmallVector<Sizes> pieces(from.size()); // of each dimension after the transpose
  bool splits = false;
  for (const ReassociationGroup &group : reassociation(from, to)) {
    bool split = group.fromCount() == 1 && countReal(to, group.toBegin, group.toEnd) > 1;
    if (!split && countReal(to, group.toBegin, group.toEnd) > 1 && countReal(from, group.fromBegin, group.fromEnd) > 1)
      return failure();
    splits |= split;
    for (unsigned dim = group.fromBegin; dim < group.fromEnd; ++dim)
      pieces[dim] = split ? Sizes(to.begin() + group.toBegin, to.begin() + group.toEnd) : Sizes{from[dim]};
  }
  if (!splits)
    return failure();
  Sizes fine;
  SmallVector<unsigned> counts;
  for (int64_t position : inverse(transpose.getPerm())) {
    counts.push_back(pieces[position].size());
    llvm::append_range(fine, pieces[position]);
  }
  Rebuild build(rewriter, op);
  Value transposed = build.transpose(build.reshape(transpose.getData(), fine), refined(transpose.getPerm(), counts));
  rewriter.replaceOp(op, build.reshape(transposed, to));
  return success();
}

/// The dimensions of x that `group` of transpose(x) merges, in order. Dimensions of size 1 are left out unless there is
/// no other.
SmallVector<int64_t> mergedDims(const ReassociationGroup &group, ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> dims;
  for (unsigned i = group.fromBegin; i < group.fromEnd; ++i)
    if (!isUnit(sizes[i]))
      dims.push_back(perm[i]);
  return dims.empty() ? SmallVector<int64_t>{perm[group.fromBegin]} : dims;
}

/// merge(transpose(x)) -> transpose(merge(x)), if the merged dimensions are neighbours in x too. Dimensions of size 1
/// may be anywhere: (1, L, 64) transposed to (1, 64, L) and merged to (64, L) is (L, 64) transposed.
LogicalResult raiseMerge(graph::ReshapeOp op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = transposeOf(op.getData());
  if (!transpose)
    return failure();
  ArrayRef<int64_t> perm = transpose.getPerm();
  Sizes data = sizesOf(transpose.getData()), from = sizesOf(transpose), to = sizesOf(op), merged;
  SmallVector<ReassociationGroup> groups = reassociation(from, to);
  SmallVector<int64_t> first; // of each group, in x
  for (const ReassociationGroup &group : groups) {
    if (group.toCount() != 1 || group.fromCount() == 0)
      return failure();
    SmallVector<int64_t> dims = mergedDims(group, from, perm);
    for (size_t i = 1; i < dims.size(); ++i)
      if (dims[i] < dims[i - 1] || countReal(data, dims[i - 1] + 1, dims[i]) != 0)
        return failure();
    first.push_back(dims.front());
  }
  if (groups.size() == from.size())
    return failure();
  // The groups in the order of x, and the inverse permutation.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, groups.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return first[a] < first[b]; });
  for (int64_t group : order)
    merged.push_back(to[group]);
  Rebuild build(rewriter, op);
  rewriter.replaceOp(op, build.transpose(build.reshape(transpose.getData(), merged), inverse(order)));
  return success();
}

/// Does the reshape cut the dimensions of `group` in other places than before?
bool isCutAnew(const ReassociationGroup &group, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
  return countReal(from, group.fromBegin, group.fromEnd) > 1 && countReal(to, group.toBegin, group.toEnd) > 1;
}

/// reshape(transpose(x)) -> transpose(reshape(transpose(x))), where the reshape cuts neighbours in new places, so that
/// neither split nor merge rises, and the group with x's last dimension is not last. It is after this: the transpose
/// that remains in front moves rows of x only, and the other sinks on. Transformer-XL shifts its scores so, with the
/// heads behind them.
LogicalResult raiseNewCuts(graph::ReshapeOp op, PatternRewriter &rewriter) {
  graph::TransposeOp transpose = transposeOf(op.getData());
  if (!transpose)
    return failure();
  ArrayRef<int64_t> perm = transpose.getPerm();
  Sizes from = sizesOf(transpose), to = sizesOf(op), cut;
  SmallVector<ReassociationGroup> groups = reassociation(from, to);
  auto isWhole = [](const ReassociationGroup &group) { return group.fromCount() > 0 && group.toCount() > 0; };
  auto *last = llvm::find_if(groups, [&](const ReassociationGroup &group) {
    return isWhole(group) && perm[group.fromEnd - 1] == static_cast<int64_t>(perm.size()) - 1;
  });
  if (!llvm::all_of(groups, isWhole) || last == groups.end() || last == std::prev(groups.end()) ||
      llvm::none_of(groups, [&](const ReassociationGroup &group) { return isCutAnew(group, from, to); }))
    return failure();
  std::rotate(last, std::next(last), groups.end());
  SmallVector<int64_t> before, after;
  for (const ReassociationGroup &group : groups) {
    llvm::append_range(before, perm.slice(group.fromBegin, group.fromCount()));
    llvm::append_range(after, llvm::seq<int64_t>(group.toBegin, group.toEnd));
    llvm::append_range(cut, ArrayRef(to).slice(group.toBegin, group.toCount()));
  }
  Rebuild build(rewriter, op);
  Value reshaped = build.reshape(build.transpose(transpose.getData(), before), cut);
  rewriter.replaceOp(op, build.transpose(reshaped, inverse(after)));
  return success();
}

} // namespace

void normalize::addPropagateTransposes(RewritePatternSet &patterns) {
  patterns.add<SinkThroughElementwise>(patterns.getContext());
  patterns.add(sinkThroughConcat)
      .add(sinkThroughReduce)
      .add(sinkThroughSlice)
      .add(sinkThroughRoll)
      .add(sinkThroughPad)
      .add(sinkThroughWindow);
  patterns.add(absorbIntoContract)
      .add(absorbMergeIntoContract)
      .add(absorbIntoGather)
      .add(sinkMerge)
      .add(raiseSplit)
      .add(raiseMerge)
      .add(raiseNewCuts);
}
