// SPDX-License-Identifier: Apache-2.0
// The iteration space of pointwise, row reduction and window kernels; ContractionSpace.cpp has that of contractions.
//
//   out[r, c] = x[r, c] / broadcast(sum(x, axes [1]))[r, c]
//
// The output's loops are r and c. Followed back from it, the sum is needed at (r): so r is a row, and c, which the sum
// does not depend on and which has the reduced size, is the reduced loop too. Without such a loop (a mean, a pooling),
// the reduced loops are added.
#include "tilegen/space/KernelSpace.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {

//===- KernelSpace ------------------------------------------------------------------------------------------------===//

SmallVector<unsigned> KernelSpace::loopsOfKind(LoopKind kind) const {
  SmallVector<unsigned> found;
  for (auto [i, loop] : llvm::enumerate(nest.loops))
    if (loop.kind == kind)
      found.push_back(i);
  return found;
}

std::optional<int64_t> KernelSpace::mostOf(unsigned loop) const {
  AffineExpr size = nest.loops[loop].size;
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return constant.getValue();
  return assumed && assumed->isMost && assumed->size == size ? std::optional(assumed->value) : std::nullopt;
}

int64_t KernelSpace::expectedSize(unsigned loop, int64_t typical) const {
  AffineExpr size = nest.loops[loop].size;
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return constant.getValue();
  return assumed && assumed->size == size ? assumed->value : typical;
}

/// The row-major position within the loops of one kind.
static AffineExpr positionIn(const KernelSpace &space, LoopKind kind) {
  Exprs coordinates, sizes;
  for (unsigned loop : space.loopsOfKind(kind)) {
    coordinates.push_back(getAffineDimExpr(loop, space.nest.context));
    sizes.push_back(space.nest.loops[loop].size);
  }
  return linearize(space.nest.context, coordinates, sizes);
}

/// The coordinates of axes of these sizes within the reduced loops. Any order of a sum's elements will do. So if each
/// loop is some neighbouring axes, perhaps in another order as behind a transpose of the result, an element is read
/// where the result needs it; else positions in row-major order are equal.
static Exprs coordinatesIn(const KernelSpace &space, ArrayRef<AffineExpr> sizes) {
  MLIRContext *context = space.nest.context;
  SmallVector<unsigned> loops = space.loopsOfKind(LoopKind::Reduction);
  Exprs coordinates;
  for (size_t begin = 0, end = 1; end <= sizes.size(); ++end) {
    ArrayRef<AffineExpr> axes = sizes.slice(begin, end - begin);
    AffineExpr size = product(context, axes);
    auto *loop = llvm::find_if(loops, [&](unsigned i) { return space.nest.loops[i].size == size; });
    if (loop == loops.end())
      continue;
    llvm::append_range(coordinates, delinearize(getAffineDimExpr(*loop, context), axes));
    loops.erase(loop);
    begin = end;
  }
  return coordinates.size() == sizes.size() && loops.empty()
             ? coordinates
             : delinearize(positionIn(space, LoopKind::Reduction), sizes);
}

Exprs KernelSpace::reducedCoordinates(graph::ReduceOp reduce) const {
  unsigned which = llvm::find(loopOps, reduce.getOperation()) - loopOps.begin();
  Exprs sizes = graph::getSizes(reduce.getInput()), reducedSizes;
  for (int64_t axis : reduce.getAxes())
    reducedSizes.push_back(sizes[axis]);
  Exprs reduced = coordinatesIn(*this, reducedSizes), coordinates;
  for (size_t i = 0, kept = 0, inner = 0; i < sizes.size(); ++i)
    coordinates.push_back(llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(i)) ? reduced[inner++]
                                                                                        : loopOpResults[which][kept++]);
  return coordinates;
}

AffineExpr KernelSpace::strideOf(const Access &access, unsigned loop) const {
  IndexAlgebra facts = nest.algebra(access.indexSizes);
  AffineExpr dim = getAffineDimExpr(loop, nest.context);
  index::Polynomial stride;
  for (const index::Term &term : facts.toPolynomial(linearize(nest.context, access.coordinates, access.sizes))) {
    index::Term rest = term;
    auto *at = llvm::find(rest.atoms, dim);
    if (at != rest.atoms.end()) {
      rest.atoms.erase(at);
      stride.add(rest);
    }
    if (llvm::any_of(rest.atoms, [&](AffineExpr atom) { return dependsOn(atom, loop); }))
      return {};
  }
  return facts.toExpr(stride);
}

Value memoryOf(Value operand) {
  while (auto access = operand.getDefiningOp<graph::AccessOpInterface>())
    operand = access.getData();
  return operand;
}

//===- Analysis ---------------------------------------------------------------------------------------------------===//

LoopNest nestOf(graph::KernelOp kernel, SmallVector<Loop> loops) {
  auto module = kernel->getParentOfType<ModuleOp>();
  auto mayBeZero = module ? module->getAttrOfType<DenseI64ArrayAttr>(graph::mayBeZeroAttr) : DenseI64ArrayAttr();
  return LoopNest(kernel.getContext(), std::move(loops), mayBeZero ? mayBeZero.asArrayRef() : ArrayRef<int64_t>());
}

namespace {

class SpaceBuilder {
public:
  explicit SpaceBuilder(graph::KernelOp kernel)
      : kernel(kernel), returned(cast<graph::ReturnOp>(kernel.getBody().front().getTerminator())),
        space(nestOf(kernel, {})) {}

  FailureOr<KernelSpace> build(std::optional<RootKind> as);

private:
  bool isEqual(AffineExpr a, AffineExpr b) { return IndexAlgebra(kernel.getContext(), {}).isEqual(a, b); }
  AffineExpr count(Value value) { return product(kernel.getContext(), graph::getSizes(value)); }
  SmallVector<unsigned> outputsByCount();
  void chooseBase();
  bool startFrom(unsigned output);
  unsigned knownReduction();
  LogicalResult addReducedLoops();
  LogicalResult placeOutputs();
  LogicalResult collectAccesses();
  int innermost(ArrayRef<unsigned> loops) const;
  int64_t countAccesses(int loop, int64_t least, int64_t most) const;
  bool overlaps(int inner, int outer, int64_t most) const;
  bool sharesRows(int inner, int outer, int64_t most) const;
  RootKind chooseRoot(int64_t rowVotes, int64_t windowVotes) const;
  void orderLoops(std::optional<RootKind> as);

  Exprs &output(unsigned i) { return space.nest.tracked[i]; }
  Exprs &result(unsigned i) { return space.nest.tracked[returned.getNumOperands() + i]; }

  graph::KernelOp kernel;
  graph::ReturnOp returned;
  KernelSpace space;
  unsigned base = 0;
};

/// Outputs of static size from large to small; symbolic ones count as large, in order.
SmallVector<unsigned> SpaceBuilder::outputsByCount() {
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, returned.getNumOperands()));
  auto weight = [&](unsigned i) {
    auto type = cast<RankedTensorType>(returned.getOperand(i).getType());
    int64_t fixed = 1;
    for (int64_t size : type.getShape())
      fixed *= ShapedType::isDynamic(size) ? 1 : std::max<int64_t>(size, 1);
    return std::pair(type.getNumDynamicDims(), fixed);
  };
  llvm::sort(order, [&](unsigned a, unsigned b) { return weight(a) != weight(b) ? weight(a) > weight(b) : a < b; });
  return order;
}

/// Takes the loops of `i` as the kernel's, and finds where the reductions are needed. False if none is.
bool SpaceBuilder::startFrom(unsigned i) {
  SmallVector<Loop> loops;
  for (AffineExpr size : graph::getSizes(returned.getOperand(i)))
    loops.push_back({size, LoopKind::Parallel});
  space.nest = nestOf(kernel, loops);
  space.nest.tracked.assign(returned.getNumOperands() + space.loopOps.size(), {});
  output(i) = loopExprs(kernel.getContext(), loops.size());
  base = i;
  bool found = false;
  AccessWalk(loops.size(), space.nest.accesses)
      .walk(returned.getOperand(i), {output(i), {}}, [&](Operation *op, const Coordinates &at) {
        result(llvm::find(space.loopOps, op) - space.loopOps.begin()) = at.exprs;
        found = true;
      });
  // Simplified first, because a division of a sum shows no loop to split: behind a reshape of rows
  // (d1 * 1024 + d2) floordiv 10240 is d1 floordiv 10.
  IndexAlgebra facts = space.nest.algebra();
  for (Exprs &exprs : space.nest.tracked)
    for (AffineExpr &expr : exprs)
      expr = facts.simplify(expr);
  space.nest.splitLoops();
  return found;
}

void SpaceBuilder::chooseBase() {
  SmallVector<unsigned> order = outputsByCount();
  for (unsigned i : order)
    if (startFrom(i))
      return;
  startFrom(order.front());
}

/// The first reduction that the base output reads: coordinates are known only for such reductions yet. ArgMax consists
/// of two reductions, of which its result reads the second.
unsigned SpaceBuilder::knownReduction() {
  auto *known =
      llvm::find_if(space.loopOps, [&](Operation *&op) { return !result(&op - space.loopOps.begin()).empty(); });
  // A result without dimensions has no coordinates either: any reduction will do then.
  return known == space.loopOps.end() ? 0 : known - space.loopOps.begin();
}

/// Marks the loops that the known reduction does not depend on as the reduced ones, if they have the reduced size; else
/// adds loops for its axes.
LogicalResult SpaceBuilder::addReducedLoops() {
  MLIRContext *context = kernel.getContext();
  unsigned first = knownReduction();
  auto reduce = cast<graph::ReduceOp>(space.loopOps[first]);
  Exprs inputSizes = graph::getSizes(reduce.getInput()), reducedSizes;
  for (int64_t axis : reduce.getAxes())
    reducedSizes.push_back(inputSizes[axis]);
  AffineExpr reducedCount = product(context, reducedSizes), unusedCount = getAffineConstantExpr(1, context);
  SmallVector<unsigned> unused;
  for (auto [i, loop] : llvm::enumerate(space.nest.loops))
    if (llvm::none_of(result(first), [&](AffineExpr expr) { return dependsOn(expr, i); }) &&
        loop.size != getAffineConstantExpr(1, context)) {
      unused.push_back(i);
      unusedCount = unusedCount * loop.size;
    }
  if (isEqual(unusedCount, reducedCount)) {
    for (unsigned i : unused)
      space.nest.loops[i].kind = LoopKind::Reduction;
    return success();
  }
  for (AffineExpr size : reducedSizes)
    space.nest.loops.push_back({size, LoopKind::Reduction});
  return success();
}

/// Finds the coordinates of outputs other than the base. They have as many elements as the base, in row-major order, or
/// as there are rows, or as the reduced operand has.
LogicalResult SpaceBuilder::placeOutputs() {
  MLIRContext *context = kernel.getContext();
  Exprs baseSizes = graph::getSizes(returned.getOperand(base));
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    if (i == base)
      continue;
    Exprs sizes = graph::getSizes(value);
    Exprs rowSizes;
    for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
      rowSizes.push_back(space.nest.loops[loop].size);
    if (sizes == baseSizes)
      output(i) = output(base);
    else if (isEqual(count(value), count(returned.getOperand(base))))
      output(i) = delinearize(linearize(context, output(base), baseSizes), sizes);
    else if (isEqual(count(value), product(context, rowSizes)))
      output(i) = delinearize(positionIn(space, LoopKind::Parallel), sizes);
    else if (!space.loopOps.empty() && isEqual(count(value), count(space.loopOps[knownReduction()]->getOperand(0)))) {
      auto reduce = cast<graph::ReduceOp>(space.loopOps[knownReduction()]);
      space.loopOpResults.assign(space.nest.tracked.begin() + returned.getNumOperands(), space.nest.tracked.end());
      output(i) =
          delinearize(linearize(context, space.reducedCoordinates(reduce), graph::getSizes(reduce.getInput())), sizes);
    } else
      return returned.emitOpError() << "expected outputs over the same loops because one kernel computes them, got "
                                    << value.getType() << " and " << returned.getOperand(base).getType();
  }
  return success();
}

/// Collects all accesses, through the reductions too, in the final set of loops. Fails where a reduction is used at
/// several coordinates, or has other loops than the others.
LogicalResult SpaceBuilder::collectAccesses() {
  LoopNest &nest = space.nest;
  nest.accesses.clear();
  AccessWalk walk(nest.loops.size(), nest.accesses);
  SmallVector<bool> reached(space.loopOps.size(), false);
  LogicalResult status = success();
  IndexAlgebra facts = nest.algebra();
  std::function<void(Operation *, const Coordinates &)> atLoop = [&](Operation *op, const Coordinates &at) {
    unsigned which = llvm::find(space.loopOps, op) - space.loopOps.begin();
    Exprs simple;
    for (AffineExpr expr : at.exprs)
      simple.push_back(facts.simplify(expr));
    if (reached[which]) {
      if (simple != result(which))
        status = op->emitOpError(
            "expected one row at a time because the kernel has one set of rows, got uses at different coordinates");
      return;
    }
    reached[which] = true;
    result(which) = simple;
    space.loopOpResults.assign(nest.tracked.begin() + returned.getNumOperands(), nest.tracked.end());
    auto reduce = cast<graph::ReduceOp>(op);
    AffineExpr reduced = getAffineConstantExpr(1, op->getContext()), looped = reduced;
    for (int64_t axis : reduce.getAxes())
      reduced = reduced * graph::getSizes(reduce.getInput())[axis];
    for (unsigned loop : space.loopsOfKind(LoopKind::Reduction)) {
      looped = looped * nest.loops[loop].size;
      if (llvm::any_of(simple, [&](AffineExpr expr) { return dependsOn(expr, loop); }))
        status = op->emitOpError("expected a result that does not depend on the reduced loops because all reductions "
                                 "of a kernel share them");
    }
    if (!isEqual(reduced, looped))
      status = op->emitOpError() << "expected " << graph::printSize(facts.simplify(looped))
                                 << " reduced elements because another reduction of the kernel has so many, got "
                                 << graph::printSize(facts.simplify(reduced));
    walk.walk(reduce.getInput(), {space.reducedCoordinates(reduce), {}}, atLoop);
  };
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    walk.walk(value, {output(i), {}}, atLoop);
    nest.accesses.push_back(
        {static_cast<unsigned>(kernel.getNumArguments() + i), graph::getSizes(value), output(i), {}});
  }
  if (llvm::is_contained(reached, false))
    return kernel.emitOpError("expected every reduction to reach an output");
  return status;
}

/// The innermost of `loops` that has more than one iteration; -1 if none has.
int SpaceBuilder::innermost(ArrayRef<unsigned> loops) const {
  AffineExpr one = getAffineConstantExpr(1, space.nest.context);
  auto inside = llvm::find_if(llvm::reverse(loops), [&](unsigned loop) { return space.nest.loops[loop].size != one; });
  return inside == loops.rend() ? -1 : static_cast<int>(*inside);
}

static bool varies(const Access &access, int loop) {
  return loop >= 0 && llvm::any_of(access.coordinates,
                                   [&](AffineExpr expr) { return dependsOn(expr, static_cast<unsigned>(loop)); });
}

/// Of the accesses that vary along the innermost reduced loop, which are read most: how many have a stride from `least`
/// to `most` along `loop`.
int64_t SpaceBuilder::countAccesses(int loop, int64_t least, int64_t most) const {
  int reduced = innermost(space.loopsOfKind(LoopKind::Reduction));
  return llvm::count_if(space.nest.accesses, [&](const Access &access) {
    auto stride = varies(access, reduced) && loop >= 0
                      ? dyn_cast_if_present<AffineConstantExpr>(space.strideOf(access, loop))
                      : AffineConstantExpr();
    return stride && stride.getValue() >= least && stride.getValue() <= most;
  });
}

/// Whether a buffer is read through windows that overlap: a coordinate depends on both loops, and neighbours along
/// `outer` are at most `most` elements apart and closer than the first and the last element along `inner`. A size that
/// is not known counts as long.
bool SpaceBuilder::overlaps(int inner, int outer, int64_t most) const {
  if (inner < 0 || outer < 0)
    return false;
  auto strideAlong = [&](const Access &access, int loop) {
    auto stride = dyn_cast_if_present<AffineConstantExpr>(space.strideOf(access, static_cast<unsigned>(loop)));
    return stride ? std::optional(stride.getValue()) : std::nullopt;
  };
  auto size = dyn_cast<AffineConstantExpr>(space.nest.loops[inner].size);
  return llvm::any_of(space.nest.accesses, [&](const Access &access) {
    std::optional<int64_t> step = strideAlong(access, outer), tap = strideAlong(access, inner);
    bool areApart = step && tap && size && *step >= *tap * size.getValue();
    return step && *step >= 1 && *step <= most && !areApart &&
           llvm::any_of(access.coordinates, [&](AffineExpr coordinate) {
             return dependsOn(coordinate, static_cast<unsigned>(inner)) &&
                    dependsOn(coordinate, static_cast<unsigned>(outer));
           });
  });
}

/// Whether a whole vector of results along `outer` is summed from the same row of at most `most` elements, as in a
/// cumulative sum, where results differ only in which elements count.
bool SpaceBuilder::sharesRows(int inner, int outer, int64_t most) const {
  constexpr int64_t vector = 16;
  auto sizeOf = [&](int loop) {
    auto size = loop >= 0 ? dyn_cast<AffineConstantExpr>(space.nest.loops[loop].size) : AffineConstantExpr();
    return size ? size.getValue() : 0;
  };
  if (sizeOf(outer) < vector || sizeOf(inner) == 0 || sizeOf(inner) > most)
    return false;
  return llvm::none_of(space.nest.accesses,
                       [&](const Access &access) { return varies(access, inner) && varies(access, outer); });
}

/// Row reduction or window. It is a row reduction if more accesses are contiguous along the innermost reduced loop than
/// along the innermost kept one, except that it is a window
///  * if rows have few elements, which would leave lanes idle, and something is contiguous along a kept loop (a local
///    response normalization slides along channels), or nearly so (a pooling whose channels come first steps over 2 or
///    3 columns);
///  * if windows overlap, however long they are: sums of a row of 3 taps, or maxima of 13, took 17 to 25 times as long
///    element by element as for whole vectors of neighbours (depthwise products of 96 images of 56x56, planes);
///  * if results share rows, as in a cumulative sum.
RootKind SpaceBuilder::chooseRoot(int64_t rowVotes, int64_t windowVotes) const {
  constexpr int64_t fewElements = 8, shortStep = 4, shortRow = 64;
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  auto fewOf = [&](unsigned loop) { // the loop's size, or more than few
    auto size = dyn_cast<AffineConstantExpr>(space.nest.loops[loop].size);
    return size && size.getValue() <= fewElements ? size.getValue() : fewElements + 1;
  };
  int inner = innermost(reduced), outer = innermost(space.loopsOfKind(LoopKind::Parallel));
  int64_t stepVotes = countAccesses(outer, 2, shortStep);
  bool slides = stepVotes > 0 && stepVotes + windowVotes >= rowVotes && inner >= 0 && fewOf(inner) <= fewElements;
  bool isShort = inner < 0 || fewOf(inner) <= fewElements;
  bool isRow = rowVotes >= windowVotes && !slides && !(windowVotes > 0 && isShort) &&
               !overlaps(inner, outer, shortStep) && !sharesRows(inner, outer, shortRow);
  return isRow ? RootKind::RowReduction : RootKind::Window;
}

/// Puts the reduced loops innermost for rows and outermost for windows.
void SpaceBuilder::orderLoops(std::optional<RootKind> as) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction), kept = space.loopsOfKind(LoopKind::Parallel);
  int inner = innermost(reduced), outer = innermost(kept);
  auto contiguousAlong = [&](int loop) { return countAccesses(loop, 1, 1); };
  int64_t rowVotes = contiguousAlong(inner), windowVotes = contiguousAlong(outer);
  // An access that is the same for all rows, such as a mask of the reduced elements, is read once, so it does not count
  // where other accesses are contiguous along a kept loop.
  if (windowVotes > 0)
    rowVotes -= llvm::count_if(space.nest.accesses, [&](const Access &access) {
      return !varies(access, outer) && inner >= 0 &&
             space.strideOf(access, inner) == getAffineConstantExpr(1, space.nest.context);
    });
  // Where nothing is contiguous along either loop: an image with channels last is read along channels, although its
  // result may be stored as planes. So a kept loop along which something is contiguous becomes the innermost one.
  SmallVector<unsigned> order = kept;
  if (rowVotes == 0 && windowVotes == 0)
    if (auto *along = llvm::find_if(order, contiguousAlong); along != order.end()) {
      windowVotes = contiguousAlong(*along);
      std::rotate(along, along + 1, order.end());
    }
  space.root = as ? *as : chooseRoot(rowVotes, windowVotes);
  order.insert(space.root == RootKind::Window ? order.begin() : order.end(), reduced.begin(), reduced.end());
  space.nest.reorderLoops(order);
}

FailureOr<KernelSpace> SpaceBuilder::build(std::optional<RootKind> as) {
  space.source = kernel;
  kernel.walk([&](graph::ReduceOp reduce) { space.loopOps.push_back(reduce); });
  chooseBase();
  if (!space.loopOps.empty() && failed(addReducedLoops()))
    return failure();
  if (failed(placeOutputs()) || failed(collectAccesses()))
    return failure();
  space.nest.splitLoops();
  if (!space.loopOps.empty())
    orderLoops(as);
  space.nest.collapseLoops();
  if (space.nest.loops.empty()) // a scalar is one point
    space.nest.loops.push_back({getAffineConstantExpr(1, kernel.getContext()), LoopKind::Parallel});
  space.outputs.assign(space.nest.tracked.begin(), space.nest.tracked.begin() + returned.getNumOperands());
  space.loopOpResults.assign(space.nest.tracked.begin() + returned.getNumOperands(), space.nest.tracked.end());
  space.buffers = space.nest.groupBufferDims(kernel.getNumArguments() + returned.getNumOperands());
  return std::move(space);
}

} // namespace

FailureOr<KernelSpace> analyzeOutputs(graph::KernelOp kernel, std::optional<RootKind> as) {
  graph::ContractOp contract;
  kernel.walk([&](graph::ContractOp op) { contract = op; });
  if (contract)
    return contract.emitOpError("expected no contraction because the kernel's root is none");
  return SpaceBuilder(kernel).build(as);
}

} // namespace tilewright::tilegen
