// SPDX-License-Identifier: Apache-2.0
// The iteration space of a kernel with a contraction.
//
//   result[b, m, n] += lhs[b, m, k] * rhs[b, k, n]        loops (b..., k outer..., m, n, k)
//
// Every loop is m, n, k or batch, depending on which of the three tensors have it. Rows are collapsed into one m and
// columns into one n, whatever that does to coordinates (a convolution's row is (image, y, x)). Loops of k and batch
// are collapsed only where that adds no divisions to accesses, so that loads along the innermost k stay contiguous.
//
// There is one exception: a window of few elements that slides along rows of unknown length keeps m = x, and image and
// y are batch loops. Its elements are read in place, and dividing by the unknown length for that would cost more than
// the product.
//
// What follows the contraction must be one-to-one: each output's coordinates are the result's, followed through
// reshapes and transposes.
#include "tilegen/space/Followers.h"
#include "tilegen/space/KernelSpace.h"

#include "fusion/Geometry.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;

namespace tilewright::tilegen {

//===- Analysis ---------------------------------------------------------------------------------------------------===//

/// The shortest innermost reduced loop that is not collapsed with others, and the most elements of a window that is
/// read in place.
static constexpr int64_t shortestInner = 16, fewTaps = 32;

namespace {

class ContractionBuilder {
public:
  ContractionBuilder(graph::KernelOp kernel, ArrayRef<graph::ContractOp> contracts)
      : kernel(kernel), contract(contracts.front()), more(contracts.drop_front()),
        returned(cast<graph::ReturnOp>(kernel.getBody().front().getTerminator())), space(nestOf(kernel, {})) {}

  FailureOr<KernelSpace> build(graph::RootKind as);

private:
  bool names(unsigned map, unsigned loop) { return contract.getMap(map).isFunctionOfDim(loop); }
  LogicalResult makeLoops();
  LogicalResult placeOutputs();
  Exprs coordinatesOf(unsigned map);
  LogicalResult collectAccesses();
  bool slidesAlongUnknownRows();
  void addMissingLoops();

  graph::KernelOp kernel;
  graph::ContractOp contract;
  SmallVector<graph::ContractOp> more; // of the same left side over the same loops
  graph::ReturnOp returned;
  KernelSpace space;
  SmallVector<AffineExpr> loopOf; // the contraction's loops as loops of the space
  bool swapped = false;           // the contraction's second operand has the rows
};

/// Loops in the order batch, reduced, rows, columns; each in the order in which the result (or, for reduced ones, the
/// left side) names them.
LogicalResult ContractionBuilder::makeLoops() {
  AffineMap lhs = contract.getMap(0), rhs = contract.getMap(1), result = contract.getMap(2);
  unsigned count = lhs.getNumDims();
  Exprs sizes(count), lhsSizes = graph::getSizes(contract.getLhs()), rhsSizes = graph::getSizes(contract.getRhs());
  for (auto [expr, size] : llvm::zip_equal(lhs.getResults(), lhsSizes))
    sizes[cast<AffineDimExpr>(expr).getPosition()] = size;
  for (auto [expr, size] : llvm::zip_equal(rhs.getResults(), rhsSizes))
    sizes[cast<AffineDimExpr>(expr).getPosition()] = size;
  swapped = fusion::sideOfColumns(contract) == 0;
  SmallVector<unsigned> order;
  for (AffineMap map : {result, lhs})
    for (AffineExpr expr : map.getResults())
      if (unsigned loop = cast<AffineDimExpr>(expr).getPosition(); !llvm::is_contained(order, loop))
        order.push_back(loop);
  loopOf.resize(count);
  for (LoopKind kind : {LoopKind::Parallel, LoopKind::Reduction, LoopKind::Row, LoopKind::Column})
    for (unsigned loop : order) {
      bool left = names(swapped, loop), right = names(!swapped, loop), kept = names(2, loop);
      LoopKind actual = !kept           ? LoopKind::Reduction
                        : left && right ? LoopKind::Parallel
                        : left          ? LoopKind::Row
                                        : LoopKind::Column;
      if (!left && !right)
        return contract.emitOpError() << "expected every loop in an operand, got loop " << loop
                                      << " in the result alone";
      if (actual != kind)
        continue;
      loopOf[loop] = getAffineDimExpr(space.nest.loops.size(), kernel.getContext());
      space.nest.loops.push_back({sizes[loop], kind});
    }
  if (llvm::is_contained(loopOf, AffineExpr()))
    return contract.emitOpError("expected every loop in the left side or the result because a sum over the right side "
                                "alone is a reduction of its own");
  return success();
}

Exprs ContractionBuilder::coordinatesOf(unsigned map) {
  Exprs coordinates;
  for (AffineExpr expr : contract.getMap(map).getResults())
    coordinates.push_back(loopOf[cast<AffineDimExpr>(expr).getPosition()]);
  return coordinates;
}

/// The outputs' coordinates: where the contraction's result at the current point ends up.
LogicalResult ContractionBuilder::placeOutputs() {
  Followers followers(space.nest, contract.getResult(), coordinatesOf(2));
  for (graph::ContractOp other : more)
    followers.set(other.getResult(), coordinatesOf(2));
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (failed(followers.visit(&op)))
      return op.emitOpError(
          "expected to follow the contraction element by element because the kernel's root is the contraction");
  for (Value output : returned.getOperands()) {
    const Exprs *coordinates = followers.find(output);
    if (!coordinates)
      return returned.emitOpError(
          "expected every output to follow the contraction element by element, got one that does not use it");
    space.nest.tracked.push_back(*coordinates);
  }
  return success();
}

LogicalResult ContractionBuilder::collectAccesses() {
  LoopNest &nest = space.nest;
  AccessWalk walk(nest.loops.size(), nest.accesses);
  LogicalResult status = success();
  auto second = [&](Operation *op, const Coordinates &) {
    if (op != contract && !llvm::is_contained(more, op))
      status =
          op->emitOpError("expected no reduction beside a contraction because the kernel's root is the contraction");
  };
  walk.walk(contract.getLhs(), {coordinatesOf(0), {}}, second);
  walk.walk(contract.getRhs(), {coordinatesOf(1), {}}, second);
  for (graph::ContractOp other : more)
    walk.walk(other.getRhs(), {coordinatesOf(1), {}}, second);
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    walk.walk(value, {nest.tracked[i], {}}, second);
    nest.accesses.push_back(
        {static_cast<unsigned>(kernel.getNumArguments() + i), graph::getSizes(value), nest.tracked[i], {}});
  }
  return status;
}

/// Whether the left side is a window of few elements along the last row loop, whose size is not known.
bool ContractionBuilder::slidesAlongUnknownRows() {
  AffineExpr taps = getAffineConstantExpr(1, kernel.getContext());
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction))
    taps = taps * space.nest.loops[loop].size;
  SmallVector<unsigned> rows = space.loopsOfKind(LoopKind::Row);
  auto count = dyn_cast<AffineConstantExpr>(taps);
  if (!count || count.getValue() > fewTaps ||
      !cast<RankedTensorType>(contract.getLhs().getType()).getElementType().isF32() || rows.size() < 2 ||
      isa<AffineConstantExpr>(space.nest.loops[rows.back()].size))
    return false;
  IndexAlgebra facts = space.nest.algebra();
  return llvm::any_of(space.nest.accesses, [&](const Access &access) {
    return llvm::any_of(llvm::zip_equal(access.coordinates, access.sizes), [&](auto pair) {
      auto [coordinate, size] = pair;
      return dependsOn(coordinate, rows.back()) && !facts.isInside(coordinate, size);
    });
  });
}

/// Adds loops of size 1 where kinds are missing: a product with a vector has no rows or no columns, an outer product no
/// reduced loop. Then puts the loops into their order.
void ContractionBuilder::addMissingLoops() {
  for (LoopKind kind : {LoopKind::Row, LoopKind::Column, LoopKind::Reduction})
    if (space.loopsOfKind(kind).empty())
      space.nest.loops.push_back({getAffineConstantExpr(1, kernel.getContext()), kind});
  SmallVector<unsigned> order = space.loopsOfKind(LoopKind::Parallel), reduced = space.loopsOfKind(LoopKind::Reduction);
  order.append(reduced.begin(), reduced.end() - 1);
  llvm::append_range(order, space.loopsOfKind(LoopKind::Row));
  llvm::append_range(order, space.loopsOfKind(LoopKind::Column));
  order.push_back(reduced.back());
  space.nest.reorderLoops(order);
}

FailureOr<KernelSpace> ContractionBuilder::build(graph::RootKind as) {
  if (failed(makeLoops()))
    return failure();
  space.source = kernel;
  space.root = as;
  if (failed(placeOutputs()) || failed(collectAccesses()))
    return failure();
  space.nest.tracked.push_back(coordinatesOf(2));
  space.nest.tracked.push_back(coordinatesOf(swapped));
  space.nest.tracked.push_back(coordinatesOf(!swapped));
  if (slidesAlongUnknownRows()) {
    SmallVector<unsigned> rows = space.loopsOfKind(LoopKind::Row);
    for (unsigned loop : ArrayRef(rows).drop_back())
      space.nest.loops[loop].kind = LoopKind::Parallel;
  }
  space.nest.collapseLoops({LoopKind::Row, LoopKind::Column});
  // A short innermost loop (the columns of an image's windows) does not pay as a loop of its own. It is collapsed with
  // the others, although accesses then divide the index.
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  auto inner =
      reduced.empty() ? AffineConstantExpr() : dyn_cast<AffineConstantExpr>(space.nest.loops[reduced.back()].size);
  if (inner && inner.getValue() < shortestInner)
    space.nest.collapseLoops({LoopKind::Reduction});
  addMissingLoops();

  SmallVector<Exprs> &tracked = space.nest.tracked;
  space.rhsCoordinates = tracked.pop_back_val();
  space.lhsCoordinates = tracked.pop_back_val();
  space.loopOpResults = {tracked.pop_back_val()};
  space.outputs = tracked;
  space.loopOps = {contract};
  for (graph::ContractOp other : more) {
    space.loopOps.push_back(other);
    space.loopOpResults.push_back(space.loopOpResults.front());
    space.moreRhs.push_back(other.getRhs());
  }
  space.lhs = swapped ? contract.getRhs() : contract.getLhs();
  space.rhs = swapped ? contract.getLhs() : contract.getRhs();
  space.buffers = space.nest.groupBufferDims(kernel.getNumArguments() + returned.getNumOperands());
  return std::move(space);
}

} // namespace

/// Are neighbours along `along` neighbours in memory, in all accesses that depend on both loops?
static bool areContiguous(const KernelSpace &space, unsigned along, unsigned other) {
  auto varies = [](const Access &access, unsigned loop) {
    return llvm::any_of(access.coordinates, [&](AffineExpr expr) { return dependsOn(expr, loop); });
  };
  return llvm::all_of(space.nest.accesses, [&](const Access &access) {
    return !varies(access, along) || !varies(access, other) ||
           space.strideOf(access, along) == getAffineConstantExpr(1, space.nest.context);
  });
}

bool KernelSpace::columnsAreContiguous() const {
  return areContiguous(*this, loopsOfKind(LoopKind::Column).back(), loopsOfKind(LoopKind::Reduction).back());
}

bool KernelSpace::rowsRunAlongReduction() const {
  return areContiguous(*this, loopsOfKind(LoopKind::Reduction).back(), loopsOfKind(LoopKind::Row).back());
}

bool KernelSpace::columnsRunAlongReduction() const {
  return areContiguous(*this, loopsOfKind(LoopKind::Reduction).back(), loopsOfKind(LoopKind::Column).back());
}

FailureOr<KernelSpace> analyzeContraction(graph::KernelOp kernel, std::optional<graph::RootKind> as) {
  SmallVector<graph::ContractOp> contracts;
  kernel.walk([&](graph::ContractOp op) { contracts.push_back(op); });
  if (contracts.empty() || contracts.size() > fusion::mostContractions)
    return kernel.emitOpError() << "expected one to " << fusion::mostContractions
                                << " contractions because the kernel's root is one, got " << contracts.size();
  if (contracts.size() > 1) {
    FailureOr<fusion::Geometry> geometry = fusion::analyze(kernel);
    if (failed(geometry))
      return failure();
    if (geometry->more.size() + 1 != contracts.size())
      return contracts.back().emitOpError("expected a contraction of the same left side as the others'");
  }
  return ContractionBuilder(kernel, contracts).build(as.value_or(graph::RootKind::Matmul));
}

} // namespace tilewright::tilegen
