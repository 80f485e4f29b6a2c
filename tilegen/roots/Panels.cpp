// SPDX-License-Identifier: Apache-2.0
// Which constants can be stored in panels, and how.
#include "tilegen/roots/Panels.h"

#include "frontend/graph/Sizes.h"

#include <numeric>

using namespace mlir;

namespace tilewright::tilegen {

/// Whether the coordinates of a column beyond the last are outside of the buffer: one of them is the column, or the
/// column divided by a constant that divides the number of columns.
static bool leavesWithColumn(const KernelSpace &space, ArrayRef<AffineExpr> coordinates, ArrayRef<int64_t> sizes) {
  unsigned column = space.loopsOfKind(LoopKind::Column).front();
  AffineExpr n = getAffineDimExpr(column, space.nest.context);
  return llvm::any_of(llvm::zip_equal(coordinates, sizes), [&](auto pair) {
    auto [coordinate, size] = pair;
    auto divided = dyn_cast<AffineBinaryOpExpr>(coordinate);
    auto by = divided ? dyn_cast<AffineConstantExpr>(divided.getRHS()) : AffineConstantExpr();
    bool counts = by && divided.getKind() == AffineExprKind::FloorDiv && divided.getLHS() == n;
    return coordinate == n ||
           (counts && space.loops()[column].size == getAffineConstantExpr(size * by.getValue(), space.nest.context));
  });
}

/// Whether it is known when compiling, which is when panels are made, what is read of a constant and where. Not so for
/// a table of relative positions, of which as much is read as the sequence is long.
static bool isReadAsKnown(const KernelSpace &space, ArrayRef<AffineExpr> coordinates) {
  return llvm::all_of(coordinates, [&](AffineExpr expr) {
    bool known = true;
    expr.walk([&](AffineExpr part) {
      auto loop = dyn_cast<AffineDimExpr>(part);
      known &=
          !isa<AffineSymbolExpr>(part) && (!loop || isa<AffineConstantExpr>(space.loops()[loop.getPosition()].size));
    });
    return known;
  });
}

namespace {
/// A constant that the right side is made of, and where the loops read it.
struct Source {
  unsigned argument;
  Exprs coordinates;
};
} // namespace

/// Finds the constants that a value is computed from through accesses and elementwise operations, and whose elements
/// depend on the column. False if it is computed from anything else, or if a constant cannot be stored in panels.
/// Panels have zeros for columns beyond the last, which is only so if these are outside of the constant.
static bool collectSources(const KernelSpace &space, Value value, Coordinates at, SmallVectorImpl<Source> &sources) {
  if (auto access = value.getDefiningOp<graph::AccessOpInterface>())
    return !access.getFill() && access.getIndexOperands().empty() &&
           collectSources(space, access.getData(), throughAccess(access, at, space.loops().size()), sources);
  if (Operation *op = value.getDefiningOp())
    return isa<graph::IotaOp, arith::ConstantOp>(op) ||
           (op->hasTrait<OpTrait::Elementwise>() && llvm::all_of(op->getOperands(), [&](Value operand) {
              return collectSources(space, operand, at, sources);
            }));
  auto argument = cast<BlockArgument>(value);
  auto type = cast<RankedTensorType>(argument.getType());
  graph::KernelOp kernel = space.source;
  if (!type.hasStaticShape() || !kernel.getArgAttr(argument.getArgNumber(), graph::constantAttr))
    return false;
  unsigned uses = llvm::count_if(space.nest.accesses,
                                 [&](const Access &access) { return access.buffer == argument.getArgNumber(); });
  IndexAlgebra facts = space.nest.algebra();
  for (AffineExpr &expr : at.exprs)
    expr = facts.simplify(expr);
  unsigned column = space.loopsOfKind(LoopKind::Column).front();
  if (llvm::none_of(at.exprs, [&](AffineExpr expr) { return dependsOn(expr, column); }))
    return true;
  sources.push_back({argument.getArgNumber(), at.exprs});
  return uses == 1 && isReadAsKnown(space, at.exprs) && leavesWithColumn(space, at.exprs, type.getShape());
}

/// Whether `value` is computed from arguments by more than accesses and casts. Products of halves and bytes cast
/// anyway.
static bool isArithmetic(Value value) {
  SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op)
      continue;
    if (op->hasTrait<OpTrait::Elementwise>() && !isa<CastOpInterface>(op))
      return true;
    values.insert_range(op->getOperands());
  }
  return false;
}

/// The value that `value` reads through accesses.
static Value behindAccesses(Value value) {
  while (auto access = value.getDefiningOp<graph::AccessOpInterface>())
    value = access.getData();
  return value;
}

static SmallVector<Source> sourcesOf(const KernelSpace &space) {
  SmallVector<Source> sources;
  if (!isa<BlockArgument>(behindAccesses(space.rhs)) && !isArithmetic(space.rhs))
    return sources;
  return collectSources(space, space.rhs, {space.rhsCoordinates, {}}, sources) ? sources : SmallVector<Source>();
}

bool isPackable(const KernelSpace &space) { return !sourcesOf(space).empty(); }

bool isComputedFromConstants(const KernelSpace &space) {
  return !isa<BlockArgument>(behindAccesses(space.rhs)) && isPackable(space);
}

/// Whether iterations of `loop` from `first` to below `end` read outside of the source, whatever the other loops are
/// at.
static bool leaveSource(const KernelSpace &space, const Source &from, unsigned loop, int64_t first, int64_t end) {
  graph::KernelOp kernel = space.source;
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(kernel.getArgumentTypes()[from.argument]).getShape();
  MLIRContext *context = space.nest.context;
  for (int64_t step = first; step < end; ++step) {
    bool leaves = false;
    for (auto [coordinate, size] : llvm::zip_equal(from.coordinates, sizes)) {
      auto at = dyn_cast<AffineConstantExpr>(
          coordinate.replace(getAffineDimExpr(loop, context), getAffineConstantExpr(step, context)));
      leaves |= at && (at.getValue() < 0 || at.getValue() >= size);
    }
    if (!leaves)
      return false;
  }
  return true;
}

/// Whether bytes are stored in groups of four along k. What fills the last group of a column must be outside of the
/// source, so that it is zero; in a slice of a larger constant it may be inside.
static bool packsQuads(const KernelSpace &space, const Source &from, llvm::function_ref<bool(unsigned)> varies,
                       llvm::function_ref<int64_t(unsigned)> sizeOf) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  if (!cast<RankedTensorType>(space.rhs.getType()).getElementType().isInteger(8) || !varies(reduced.back()))
    return false;
  int64_t size = sizeOf(reduced.back());
  return size % quad == 0 || (reduced.size() == 1 && llvm::none_of(space.loopsOfKind(LoopKind::Parallel), varies) &&
                              leaveSource(space, from, reduced.back(), size, llvm::alignTo(size, quad)));
}

/// How many neighbours along `loop` have the same value of `expr`, because it divides the loop's index; 0 if `expr`
/// does not depend on the loop.
static int64_t sharedBy(AffineExpr expr, AffineExpr loop) {
  if (expr == loop)
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::FloorDiv && binary.getLHS() == loop && by)
    return by.getValue();
  return std::gcd(sharedBy(binary.getLHS(), loop), sharedBy(binary.getRHS(), loop));
}

static PanelForm makePanelForm(const KernelSpace &space, const Source &from, int64_t width) {
  const Exprs &source = from.coordinates;
  MLIRContext *context = space.nest.context;
  unsigned column = space.loopsOfKind(LoopKind::Column).front();
  auto shared = [&](unsigned loop) {
    int64_t count = 0;
    for (AffineExpr expr : source)
      count = std::gcd(count, sharedBy(expr, getAffineDimExpr(loop, context)));
    return count;
  };
  auto varies = [&](unsigned loop) { return shared(loop) > 0; };
  auto sizeOf = [&](unsigned loop) { return cast<AffineConstantExpr>(space.loops()[loop].size).getValue(); };
  bool quads = packsQuads(space, from, varies, sizeOf);
  unsigned inner = space.loopsOfKind(LoopKind::Reduction).back();
  PanelForm packing{from.argument, {}, {}, {}};
  Exprs loops(space.loops().size(), getAffineConstantExpr(0, context)); // as expressions of packed coordinates
  auto addDim = [&](int64_t size, AffineExpr coordinate) {
    packing.sizes.push_back(size);
    packing.coordinates.push_back(coordinate);
    return getAffineDimExpr(packing.sizes.size() - 1, context);
  };
  AffineExpr n = getAffineDimExpr(column, context);
  for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
    if (varies(loop))
      loops[loop] = addDim(sizeOf(loop), getAffineDimExpr(loop, context));
  AffineExpr panel = addDim((sizeOf(column) + width - 1) / width, n.floorDiv(width));
  AffineExpr k = getAffineDimExpr(inner, context);
  for (unsigned loop : space.loopsOfKind(LoopKind::Reduction))
    if (quads && loop == inner)
      loops[loop] = addDim((sizeOf(loop) + quad - 1) / quad, k.floorDiv(quad)) * quad;
    else if (int64_t count = shared(loop))
      loops[loop] =
          addDim(llvm::divideCeil(sizeOf(loop), count), getAffineDimExpr(loop, context).floorDiv(count)) * count;
  loops[column] = panel * width + addDim(width, n % width);
  if (quads)
    loops[inner] = loops[inner] + addDim(quad, k % quad);
  Exprs coordinates;
  for (AffineExpr expr : source)
    coordinates.push_back(expr.replaceDims(loops));
  packing.from = AffineMap::get(packing.sizes.size(), 0, coordinates, context);
  return packing;
}

SmallVector<PanelForm> makePanelForms(const KernelSpace &space, int64_t width) {
  return llvm::map_to_vector(sourcesOf(space),
                             [&](const Source &source) { return makePanelForm(space, source, width); });
}

} // namespace tilewright::tilegen
