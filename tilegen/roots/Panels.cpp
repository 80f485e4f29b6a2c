// SPDX-License-Identifier: Apache-2.0
// Which constants can be stored in panels, and how.
#include "tilegen/roots/Panels.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;

namespace tilewright::tilegen {

/// Whether a column beyond the last lies outside of the buffer: some coordinate is the column, or what goes up with
/// every so many columns.
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

/// The argument behind renamings of the right side, with its coordinates. PanelForm fills with zeros what lies outside
/// the source, so columns must leave it.
static std::optional<std::pair<unsigned, Exprs>> packedSource(const KernelSpace &space) {
  Coordinates at{space.rhsCoordinates, {}};
  Value value = space.rhs;
  while (auto access = value.getDefiningOp<graph::AccessOpInterface>()) {
    if (access.getFill() || !access.getIndexOperands().empty())
      return std::nullopt;
    at = throughAccess(access, at, space.loops().size());
    value = access.getData();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  graph::KernelOp source = space.source;
  if (!argument || !cast<RankedTensorType>(argument.getType()).hasStaticShape() ||
      !source.getArgAttr(argument.getArgNumber(), graph::constantAttr))
    return std::nullopt;
  unsigned uses = llvm::count_if(space.nest.accesses,
                                 [&](const Access &access) { return access.buffer == argument.getArgNumber(); });
  IndexAlgebra facts = space.nest.algebra();
  for (AffineExpr &expr : at.exprs)
    expr = facts.simplify(expr);
  if (uses != 1 || !leavesWithColumn(space, at.exprs, cast<RankedTensorType>(argument.getType()).getShape()))
    return std::nullopt;
  return std::pair(argument.getArgNumber(), at.exprs);
}

std::optional<unsigned> packableArgument(const KernelSpace &space) {
  auto source = packedSource(space);
  return source ? std::optional(source->first) : std::nullopt;
}

/// Whether bytes stand in fours along k. What fills up the last four of a column must lie outside of the source.
static bool packsQuads(const KernelSpace &space, llvm::function_ref<bool(unsigned)> varies,
                       llvm::function_ref<int64_t(unsigned)> sizeOf) {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  if (!cast<RankedTensorType>(space.rhs.getType()).getElementType().isInteger(8) || !varies(reduced.back()))
    return false;
  return sizeOf(reduced.back()) % quad == 0 ||
         (reduced.size() == 1 && llvm::none_of(space.loopsOfKind(LoopKind::Parallel), varies));
}

PanelForm makePanelForm(const KernelSpace &space, int64_t width) {
  Exprs source = packedSource(space)->second;
  MLIRContext *context = space.nest.context;
  unsigned column = space.loopsOfKind(LoopKind::Column).front();
  auto varies = [&](unsigned loop) {
    return llvm::any_of(source, [&](AffineExpr expr) { return dependsOn(expr, loop); });
  };
  auto sizeOf = [&](unsigned loop) { return cast<AffineConstantExpr>(space.loops()[loop].size).getValue(); };
  bool quads = packsQuads(space, varies, sizeOf);
  unsigned inner = space.loopsOfKind(LoopKind::Reduction).back();
  PanelForm packing;
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
    else if (varies(loop))
      loops[loop] = addDim(sizeOf(loop), getAffineDimExpr(loop, context));
  loops[column] = panel * width + addDim(width, n % width);
  if (quads)
    loops[inner] = loops[inner] + addDim(quad, k % quad);
  Exprs from;
  for (AffineExpr expr : source)
    from.push_back(expr.replaceDims(loops));
  packing.from = AffineMap::get(packing.sizes.size(), 0, from, context);
  return packing;
}

} // namespace tilewright::tilegen
