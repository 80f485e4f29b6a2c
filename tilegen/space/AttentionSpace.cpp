// SPDX-License-Identifier: Apache-2.0
// The iteration space of an attention.
//
//   scores[b, m, n] += queries[b, m, d] * keys[b, n, d]        loops (b..., m, n, e, d)
//   mix[b, m, e] += softmax(f(scores))[b, m, n] * values[b, n, e]
//
// The loops are those of the first contraction and the columns e that the second one adds. The scores' coordinates are
// followed forwards, through reshapes and transposes, so the second contraction's other loops are expressions of the
// first one's. Loops that the queries have and the keys do not are rows, all collapsed into one m: a loop of heads that
// share their keys may be one of them. Where each head has few rows, heads are rows too that read keys and values at
// their own number divided by a constant.
#include "fusion/keys/NeutralMasks.h"
#include "tilegen/space/Followers.h"
#include "tilegen/space/KernelSpace.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;

namespace tilewright::tilegen {

namespace {

class AttentionBuilder {
public:
  AttentionBuilder(graph::KernelOp kernel, fusion::Attention parts)
      : kernel(kernel), parts(parts), returned(cast<graph::ReturnOp>(kernel.getBody().front().getTerminator())),
        space(nestOf(kernel, {})) {}

  FailureOr<KernelSpace> build();

private:
  void makeLoops();
  Exprs coordinatesOf(graph::ContractOp contract, unsigned map, ArrayRef<AffineExpr> loopOf) const;
  bool variesByRow(AffineExpr coordinate) const;
  LogicalResult followScores();
  LogicalResult findMasks(const Followers &followers);
  LogicalResult boundKeys();
  LogicalResult followMix();
  void collectAccesses();
  std::optional<int64_t> sharingOf(unsigned loop, ArrayRef<Access> accesses) const;
  void shareHeads();
  void orderLoops();

  graph::KernelOp kernel;
  fusion::Attention parts;
  graph::ReturnOp returned;
  KernelSpace space;
  SmallVector<AffineExpr> scoresLoops, mixLoops; // the contractions' loops as loops of the space
  Exprs shares;                                  // coordinates of the softmax's result
  unsigned keysSide = 1;                         // the operand of the scores that has the keys
};

/// The most rows of a head that shares a tile with other heads. Heads with more rows fill tiles by themselves, and in
/// tiles of several heads fewer keys can be skipped.
constexpr int64_t fewRows = 32;

} // namespace

/// Adds the loops of the first contraction. All are parallel until followMix finds out which are rows and keys.
void AttentionBuilder::makeLoops() {
  graph::ContractOp scores = parts.scores;
  AffineMap result = scores.getMap(2);
  Exprs sizes(result.getNumDims());
  for (unsigned side : {0, 1})
    for (auto [expr, size] :
         llvm::zip_equal(scores.getMap(side).getResults(), graph::getSizes(scores->getOperand(side))))
      sizes[cast<AffineDimExpr>(expr).getPosition()] = size;
  scoresLoops.resize(sizes.size());
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    scoresLoops[loop] = getAffineDimExpr(space.nest.loops.size(), kernel.getContext());
    space.nest.loops.push_back({sizes[loop], LoopKind::Parallel});
  }
}

Exprs AttentionBuilder::coordinatesOf(graph::ContractOp contract, unsigned map, ArrayRef<AffineExpr> loopOf) const {
  Exprs coordinates;
  for (AffineExpr expr : contract.getMap(map).getResults())
    coordinates.push_back(loopOf[cast<AffineDimExpr>(expr).getPosition()]);
  return coordinates;
}

bool AttentionBuilder::variesByRow(AffineExpr coordinate) const {
  AffineExpr one = getAffineConstantExpr(1, coordinate.getContext());
  return llvm::any_of(llvm::enumerate(space.loops()), [&](auto entry) {
    auto [i, loop] = entry;
    return loop.kind == LoopKind::Row && loop.size != one && dependsOn(coordinate, i);
  });
}

/// Finds the coordinates at which the softmax reads the scores, and at which the mix reads the softmax.
LogicalResult AttentionBuilder::followScores() {
  Followers followers(space.nest, parts.scores.getResult(), coordinatesOf(parts.scores, 2, scoresLoops));
  int64_t axis = parts.max.getAxes().front();
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (&op == parts.mix)
      break;
    auto reduce = dyn_cast<graph::ReduceOp>(op);
    auto broadcast = dyn_cast<graph::BroadcastOp>(op);
    if (reduce == parts.max) {
      space.logits = *followers.find(reduce.getInput());
      space.row = space.logits;
      space.row.erase(space.row.begin() + axis);
    }
    if (reduce && followers.find(reduce.getInput()))
      followers.set(reduce.getResult(), space.row);
    else if (broadcast && followers.find(broadcast.getData()))
      followers.set(broadcast.getResult(), space.logits);
    else if (failed(followers.visit(&op)))
      return op.emitOpError("expected to follow the scores element by element because the kernel's root is attention");
  }
  shares = *followers.find(parts.sharesOperand());
  return findMasks(followers);
}

/// Finds the masks; their bounds are still expressions of the coordinates of the logits.
LogicalResult AttentionBuilder::findMasks(const Followers &followers) {
  FailureOr<SmallVector<fusion::NeutralMask>> masks = fusion::neutralMasksOf(parts);
  if (failed(masks))
    return failure();
  for (const fusion::NeutralMask &found : llvm::reverse(*masks))
    if (const Exprs *at = followers.find(found.mask->getResult(0)))
      space.masks.push_back({found.mask, found.mask->getOperand(found.scores), *at, found.keys.from, found.keys.below});
  return success();
}

/// Expresses in loops the bounds of keys that the attributes of the kernel and of its masks have.
LogicalResult AttentionBuilder::boundKeys() {
  FailureOr<fusion::KeyRange> range = fusion::keyRangeOf(kernel, parts);
  if (failed(range))
    return failure();
  IndexAlgebra algebra = space.nest.algebra();
  auto inLoops = [&](const Exprs &exprs) {
    return llvm::map_to_vector(exprs,
                               [&](AffineExpr expr) { return algebra.simplify(expr.replaceDims(space.logits)); });
  };
  space.keysFrom = inLoops(range->from);
  space.keysBelow = inLoops(range->below);
  for (NeutralMask &mask : space.masks) {
    mask.from = inLoops(mask.from);
    mask.below = inLoops(mask.below);
  }
  return success();
}

/// Finds the loops of the second contraction: those that the softmax has from the scores, and new ones for its columns.
/// The one that it sums over is the keys, which decides which loops of the scores are rows. Then follows the mix to the
/// outputs.
LogicalResult AttentionBuilder::followMix() {
  graph::ContractOp mix = parts.mix, scores = parts.scores;
  mixLoops.resize(mix.getMap(2).getNumDims());
  AffineExpr keys;
  for (auto [expr, at] : llvm::zip_equal(mix.getMap(parts.shares).getResults(), shares)) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    mixLoops[loop] = at;
    if (!mix.getMap(2).isFunctionOfDim(loop))
      keys = at;
  }
  if (!keys || !llvm::is_contained(scoresLoops, keys))
    return mix.emitOpError("expected to sum over a loop of the scores because the kernel's root is attention");
  unsigned keysLoop = llvm::find(scoresLoops, keys) - scoresLoops.begin();
  keysSide = scores.getMap(1).isFunctionOfDim(keysLoop);
  for (unsigned loop = 0; loop < scoresLoops.size(); ++loop) {
    bool kept = scores.getMap(2).isFunctionOfDim(loop), ofKeys = scores.getMap(keysSide).isFunctionOfDim(loop);
    space.nest.loops[loop].kind = !kept || loop == keysLoop ? LoopKind::Reduction
                                  : !ofKeys                 ? LoopKind::Row
                                                            : LoopKind::Parallel;
  }
  for (auto [expr, size] :
       llvm::zip_equal(mix.getMap(1 - parts.shares).getResults(), graph::getSizes(parts.valuesOperand()))) {
    AffineExpr &loop = mixLoops[cast<AffineDimExpr>(expr).getPosition()];
    if (loop && variesByRow(loop))
      return mix.emitOpError("expected values that are the same for all rows because the kernel's root is attention");
    if (loop)
      continue;
    loop = getAffineDimExpr(space.nest.loops.size(), kernel.getContext());
    space.nest.loops.push_back({size, LoopKind::Column});
  }
  Followers followers(space.nest, mix.getResult(), coordinatesOf(mix, 2, mixLoops));
  for (Operation &op : llvm::make_range(std::next(mix->getIterator()), mix->getBlock()->without_terminator().end()))
    if (failed(followers.visit(&op)))
      return op.emitOpError("expected to follow the mix element by element because the kernel's root is attention");
  for (Value output : returned.getOperands()) {
    const Exprs *coordinates = followers.find(output);
    if (!coordinates)
      return returned.emitOpError("expected every output to follow the mix element by element, got one that does not");
    space.nest.tracked.push_back(*coordinates);
  }
  return success();
}

void AttentionBuilder::collectAccesses() {
  LoopNest &nest = space.nest;
  AccessWalk walk(nest.loops.size(), nest.accesses);
  auto stop = [](Operation *, const Coordinates &) {};
  for (unsigned side : {0, 1})
    walk.walk(parts.scores->getOperand(side), {coordinatesOf(parts.scores, side, scoresLoops), {}}, stop);
  walk.walk(parts.valuesOperand(), {coordinatesOf(parts.mix, 1 - parts.shares, mixLoops), {}}, stop);
  walk.walk(parts.logits, {space.logits, {}}, stop);
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    walk.walk(value, {nest.tracked[i], {}}, stop);
    nest.accesses.push_back(
        {static_cast<unsigned>(kernel.getNumArguments() + i), graph::getSizes(value), nest.tracked[i], {}});
  }
}

/// Does `expr` depend on `loop` only through loop floordiv divisor? The first division that is found sets `divisor`.
static bool dividesOnly(AffineExpr expr, AffineExpr loop, std::optional<int64_t> &divisor) {
  if (expr == loop)
    return false;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getLHS() == loop && expr.getKind() == AffineExprKind::FloorDiv && by) {
    if (!divisor)
      divisor = by.getValue();
    return divisor == by.getValue();
  }
  return dividesOnly(binary.getLHS(), loop, divisor) && dividesOnly(binary.getRHS(), loop, divisor);
}

/// How many neighbours of `loop` read the same elements in all `accesses`, because these divide it by one constant;
/// nullopt if they do not.
std::optional<int64_t> AttentionBuilder::sharingOf(unsigned loop, ArrayRef<Access> accesses) const {
  auto size = dyn_cast<AffineConstantExpr>(space.nest.loops[loop].size);
  AffineExpr dim = getAffineDimExpr(loop, space.nest.context);
  std::optional<int64_t> divisor;
  for (const Access &access : accesses) {
    IndexAlgebra facts = space.nest.algebra(access.indexSizes);
    for (AffineExpr expr : access.coordinates)
      if (!dividesOnly(facts.simplify(expr), dim, divisor))
        return std::nullopt;
  }
  return size && divisor && size.getValue() % *divisor == 0 ? divisor : std::nullopt;
}

/// Splits a loop of heads so that heads that read the same keys and values become rows of one head, which reads them
/// once. Only where a head has few rows.
void AttentionBuilder::shareHeads() {
  LoopNest &nest = space.nest;
  int64_t rows = 1;
  for (unsigned loop : space.loopsOfKind(LoopKind::Row)) {
    auto size = dyn_cast<AffineConstantExpr>(nest.loops[loop].size);
    rows *= size ? size.getValue() : 0;
    if (rows == 0 || rows > fewRows)
      return;
  }
  SmallVector<Access> accesses;
  AccessWalk walk(nest.loops.size(), accesses);
  auto stop = [](Operation *, const Coordinates &) {};
  walk.walk(parts.scores->getOperand(keysSide), {coordinatesOf(parts.scores, keysSide, scoresLoops), {}}, stop);
  walk.walk(parts.valuesOperand(), {coordinatesOf(parts.mix, 1 - parts.shares, mixLoops), {}}, stop);
  SmallVector<unsigned> heads = space.loopsOfKind(LoopKind::Parallel);
  for (unsigned loop : llvm::reverse(heads))
    if (std::optional<int64_t> sharing = sharingOf(loop, accesses))
      return nest.splitLoop(loop, getAffineConstantExpr(*sharing, nest.context), LoopKind::Row);
}

/// Puts the loops into their order, and adds a loop of one row or column where there is none.
void AttentionBuilder::orderLoops() {
  for (LoopKind kind : {LoopKind::Row, LoopKind::Column})
    if (space.loopsOfKind(kind).empty())
      space.nest.loops.push_back({getAffineConstantExpr(1, kernel.getContext()), kind});
  SmallVector<unsigned> order = space.loopsOfKind(LoopKind::Parallel), reduced = space.loopsOfKind(LoopKind::Reduction);
  unsigned keys = llvm::any_of(space.logits, [&](AffineExpr expr) { return dependsOn(expr, reduced[0]); }) ? 0 : 1;
  llvm::append_range(order, space.loopsOfKind(LoopKind::Row));
  order.push_back(reduced[keys]);
  llvm::append_range(order, space.loopsOfKind(LoopKind::Column));
  order.push_back(reduced[1 - keys]);
  space.nest.reorderLoops(order);
}

FailureOr<KernelSpace> AttentionBuilder::build() {
  space.source = kernel;
  space.root = graph::RootKind::Attention;
  makeLoops();
  if (failed(followScores()) || failed(followMix()))
    return failure();
  collectAccesses();
  SmallVector<Exprs> &tracked = space.nest.tracked;
  for (const NeutralMask &mask : space.masks)
    tracked.push_back(mask.at);
  unsigned logits = tracked.size();
  tracked.append({space.logits, space.row, coordinatesOf(parts.scores, 1 - keysSide, scoresLoops),
                  coordinatesOf(parts.scores, keysSide, scoresLoops),
                  coordinatesOf(parts.mix, 1 - parts.shares, mixLoops)});
  shareHeads();
  space.logits = tracked[logits];
  // Neighbours of one kind are collapsed, so kinds are brought together first; the keys and the head stay apart.
  orderLoops();
  space.logits = tracked[logits];
  space.nest.collapseLoops({LoopKind::Row, LoopKind::Column});
  space.values = tracked.pop_back_val();
  space.rhsCoordinates = tracked.pop_back_val();
  space.lhsCoordinates = tracked.pop_back_val();
  space.row = tracked.pop_back_val();
  space.logits = tracked.pop_back_val();
  for (NeutralMask &mask : llvm::reverse(space.masks))
    mask.at = tracked.pop_back_val();
  space.outputs = tracked;
  space.loopOps = {parts.scores, parts.max, parts.sum, parts.mix};
  space.lhs = parts.scores->getOperand(1 - keysSide);
  space.rhs = parts.scores->getOperand(keysSide);
  space.attention = parts;
  if (failed(boundKeys()))
    return failure();
  space.buffers = space.nest.groupBufferDims(kernel.getNumArguments() + returned.getNumOperands());
  return std::move(space);
}

FailureOr<KernelSpace> analyzeAttention(graph::KernelOp kernel, std::optional<graph::RootKind>) {
  FailureOr<fusion::Attention> parts = fusion::takeApart(kernel);
  if (failed(parts))
    return failure();
  return AttentionBuilder(kernel, *parts).build();
}

} // namespace tilewright::tilegen
