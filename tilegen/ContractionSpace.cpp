// The iteration space of a kernel with a contraction.
//
//   result[b, m, n] += lhs[b, m, k] * rhs[b, k, n]        loops (b..., k outer..., m, n, k)
//
// Every loop is m, n, k or batch by which of the three name it. Rows are collapsed into one m and columns into one n, whatever that does to
// coordinates (a convolution's row is (image, y, x)); k and batch loops only where no access gets harder, so that loads along the
// innermost k stay contiguous. What follows the contraction must be one-to-one: each output's coordinates are the inverse of the
// map that pulls the contraction's result to it.
#include "tilegen/KernelSpace.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;

namespace tilewright::tilegen {

static Exprs sizesOf(Value value) { return graph::getSizes(cast<RankedTensorType>(value.getType())); }

//===- Inverting one-to-one accesses ----------------------------------------------------------------------------------===//

namespace {
/// One loop of a mixed-radix number: coordinate = ... + loop * stride + ...
struct Digit {
  unsigned loop;
  AffineExpr stride;
};
} // namespace

/// The loops and strides that make up `expr`, or nothing if it has any other term.
static std::optional<SmallVector<Digit>> digitsOf(IndexAlgebra &facts, AffineExpr expr) {
  SmallVector<Digit> digits;
  for (const Term &term : facts.toSum(expr)) {
    auto *at = llvm::find_if(term.atoms, [](AffineExpr atom) { return isa<AffineDimExpr>(atom); });
    if (at == term.atoms.end())
      return std::nullopt;
    Term stride = term;
    stride.atoms.erase(stride.atoms.begin() + (at - term.atoms.begin()));
    if (llvm::any_of(stride.atoms, [](AffineExpr atom) { return !atom.isSymbolicOrConstant(); }))
      return std::nullopt;
    digits.push_back({cast<AffineDimExpr>(*at).getPosition(), facts.toExpr({stride})});
  }
  return digits;
}

/// The loops of `nest` as expressions of `values`, where values[i] = exprs[i] of size sizes[i] and exprs is one-to-one and onto.
static std::optional<Exprs> invert(const LoopNest &nest, ArrayRef<AffineExpr> exprs, ArrayRef<AffineExpr> sizes,
                                   ArrayRef<AffineExpr> values) {
  IndexAlgebra facts = nest.algebra();
  Exprs inverse(nest.loops.size());
  AffineExpr one = getAffineConstantExpr(1, nest.context);
  for (auto [expr, size, value] : llvm::zip_equal(exprs, sizes, values)) {
    std::optional<SmallVector<Digit>> digits = digitsOf(facts, expr);
    if (!digits)
      return std::nullopt;
    AffineExpr stride = one;
    while (!digits->empty()) {
      auto *at = llvm::find_if(*digits, [&](const Digit &digit) { return facts.isEqual(digit.stride, stride); });
      if (at == digits->end() || inverse[at->loop])
        return std::nullopt;
      AffineExpr extent = nest.loops[at->loop].size, whole = value.floorDiv(stride);
      stride = facts.simplify(stride * extent);
      inverse[at->loop] = digits->size() == 1 ? whole : whole % extent;
      digits->erase(at);
    }
    if (!facts.isEqual(stride, size))
      return std::nullopt;
  }
  for (auto [loop, expr] : llvm::zip_equal(nest.loops, inverse)) {
    if (!expr && loop.size != one)
      return std::nullopt;
    if (!expr)
      expr = getAffineConstantExpr(0, nest.context);
  }
  return inverse;
}

//===- Analysis -------------------------------------------------------------------------------------------------------===//

/// The shortest innermost reduced loop that stands alone.
static constexpr int64_t shortestInner = 16;

namespace {

class ContractionBuilder {
public:
  ContractionBuilder(graph::KernelOp kernel, graph::ContractOp contract)
      : kernel(kernel), contract(contract), returned(cast<graph::ReturnOp>(kernel.getBody().front().getTerminator())),
        space(LoopNest(kernel.getContext(), {})) {}

  FailureOr<KernelSpace> build();

private:
  bool names(unsigned map, unsigned loop) { return contract.getMap(map).isFunctionOfDim(loop); }
  LogicalResult makeLoops();
  LogicalResult placeOutput(unsigned i);
  Exprs coordinatesOf(unsigned map);
  LogicalResult collectAccesses();
  void addMissingLoops();

  graph::KernelOp kernel;
  graph::ContractOp contract;
  graph::ReturnOp returned;
  KernelSpace space;
  SmallVector<AffineExpr> loopOf; // the contraction's loops as loops of the space
  bool swapped = false;
};

/// Loops in the order batch, reduced, rows, columns; each in the order in which the result (or, for reduced ones, the left side) names
/// them.
LogicalResult ContractionBuilder::makeLoops() {
  AffineMap lhs = contract.getMap(0), rhs = contract.getMap(1), result = contract.getMap(2);
  unsigned count = lhs.getNumDims();
  Exprs sizes(count), lhsSizes = sizesOf(contract.getLhs()), rhsSizes = sizesOf(contract.getRhs());
  for (auto [expr, size] : llvm::zip_equal(lhs.getResults(), lhsSizes))
    sizes[cast<AffineDimExpr>(expr).getPosition()] = size;
  for (auto [expr, size] : llvm::zip_equal(rhs.getResults(), rhsSizes))
    sizes[cast<AffineDimExpr>(expr).getPosition()] = size;
  // The columns are the operand's that names the result's last loop.
  for (AffineExpr expr : llvm::reverse(result.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (names(0, loop) == names(1, loop))
      continue;
    swapped = names(0, loop);
    break;
  }
  SmallVector<unsigned> order;
  for (AffineMap map : {result, lhs})
    for (AffineExpr expr : map.getResults())
      if (unsigned loop = cast<AffineDimExpr>(expr).getPosition(); !llvm::is_contained(order, loop))
        order.push_back(loop);
  loopOf.resize(count);
  for (LoopKind kind : {LoopKind::Parallel, LoopKind::Reduction, LoopKind::Row, LoopKind::Column})
    for (unsigned loop : order) {
      bool left = names(swapped, loop), right = names(!swapped, loop), kept = names(2, loop);
      LoopKind actual = !kept ? LoopKind::Reduction : left && right ? LoopKind::Parallel : left ? LoopKind::Row : LoopKind::Column;
      if (!left && !right)
        return contract.emitOpError() << "expected every loop in an operand, got loop " << loop << " in the result alone";
      if (actual != kind)
        continue;
      loopOf[loop] = getAffineDimExpr(space.nest.loops.size(), kernel.getContext());
      space.nest.loops.push_back({sizes[loop], kind});
    }
  if (llvm::is_contained(loopOf, AffineExpr()))
    return contract.emitOpError(
        "expected every loop in the left side or the result because a sum over the right side alone is a reduction of its own");
  return success();
}

Exprs ContractionBuilder::coordinatesOf(unsigned map) {
  Exprs coordinates;
  for (AffineExpr expr : contract.getMap(map).getResults())
    coordinates.push_back(loopOf[cast<AffineDimExpr>(expr).getPosition()]);
  return coordinates;
}

/// Output `i`'s coordinates: where the contraction's result at the current point ends up.
LogicalResult ContractionBuilder::placeOutput(unsigned i) {
  SmallVector<Loop> own;
  for (AffineExpr size : sizesOf(returned.getOperand(i)))
    own.push_back({size, LoopKind::Parallel});
  LoopNest nest(kernel.getContext(), own);
  nest.tracked = {loopExprs(kernel.getContext(), own.size()), {}};
  bool reached = false, same = true;
  AccessWalk(own.size(), nest.accesses).walk(returned.getOperand(i), {nest.tracked[0], {}}, [&](Operation *, const Coordinates &at) {
    same = same && (!reached || at.exprs == nest.tracked[1]);
    nest.tracked[1] = at.exprs;
    reached = true;
  });
  if (!reached || !same)
    return returned.emitOpError() << "expected output " << i << " to follow the contraction element by element, got "
                                  << (reached ? "uses at different coordinates" : "one that does not use it");
  nest.splitLoops();
  std::optional<Exprs> loops = invert(nest, nest.tracked[1], sizesOf(contract.getResult()), coordinatesOf(2));
  if (!loops)
    return returned.emitOpError() << "expected output " << i << " to hold each element of the contraction's result once";
  IndexAlgebra facts = space.nest.algebra();
  for (AffineExpr expr : nest.tracked[0])
    space.nest.tracked[i].push_back(facts.simplify(expr.replaceDims(*loops)));
  return success();
}

LogicalResult ContractionBuilder::collectAccesses() {
  LoopNest &nest = space.nest;
  AccessWalk walk(nest.loops.size(), nest.accesses);
  LogicalResult status = success();
  auto second = [&](Operation *op, const Coordinates &) {
    if (op != contract.getOperation())
      status = op->emitOpError("expected no reduction beside a contraction because the kernel's root is the contraction");
  };
  walk.walk(contract.getLhs(), {coordinatesOf(0), {}}, second);
  walk.walk(contract.getRhs(), {coordinatesOf(1), {}}, second);
  IndexAlgebra facts = nest.algebra();
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    walk.walk(value, {nest.tracked[i], {}}, second);
    nest.accesses.push_back({static_cast<unsigned>(kernel.getNumArguments() + i), sizesOf(value), nest.tracked[i], {}});
  }
  return status;
}

/// A product with a vector has one row or one column; an outer product one reduced element.
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

FailureOr<KernelSpace> ContractionBuilder::build() {
  if (failed(makeLoops()))
    return failure();
  space.source = kernel;
  space.root = Root::Matmul;
  space.nest.tracked.resize(returned.getNumOperands());
  for (unsigned i = 0; i < returned.getNumOperands(); ++i)
    if (failed(placeOutput(i)))
      return failure();
  if (failed(collectAccesses()))
    return failure();
  space.nest.tracked.push_back(coordinatesOf(2));
  space.nest.tracked.push_back(coordinatesOf(swapped));
  space.nest.tracked.push_back(coordinatesOf(!swapped));
  space.nest.collapseLoops({LoopKind::Row, LoopKind::Column});
  // A short innermost loop (the columns of an image's windows) is not worth a loop around it: better one that divides its index.
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  auto inner = reduced.empty() ? AffineConstantExpr() : dyn_cast<AffineConstantExpr>(space.nest.loops[reduced.back()].size);
  if (inner && inner.getValue() < shortestInner)
    space.nest.collapseLoops({LoopKind::Reduction});
  addMissingLoops();

  SmallVector<Exprs> &tracked = space.nest.tracked;
  space.rhsCoordinates = tracked.pop_back_val();
  space.lhsCoordinates = tracked.pop_back_val();
  space.loopOpResults = {tracked.pop_back_val()};
  space.outputs = tracked;
  space.loopOps = {contract};
  space.lhs = swapped ? contract.getRhs() : contract.getLhs();
  space.rhs = swapped ? contract.getLhs() : contract.getRhs();
  space.buffers = space.nest.groupBufferDims(kernel.getNumArguments() + returned.getNumOperands());
  return std::move(space);
}

} // namespace

bool KernelSpace::columnsAreContiguous() const {
  unsigned column = loopsOfKind(LoopKind::Column).back(), reduced = loopsOfKind(LoopKind::Reduction).back();
  auto varies = [](const Access &access, unsigned loop) {
    return llvm::any_of(access.coordinates, [&](AffineExpr expr) { return dependsOn(expr, loop); });
  };
  return llvm::all_of(nest.accesses, [&](const Access &access) {
    return !varies(access, column) || !varies(access, reduced) || strideOf(access, column) == getAffineConstantExpr(1, nest.context);
  });
}

FailureOr<KernelSpace> analyzeContraction(graph::KernelOp kernel, graph::ContractOp contract) {
  return ContractionBuilder(kernel, contract).build();
}

} // namespace tilewright::tilegen
