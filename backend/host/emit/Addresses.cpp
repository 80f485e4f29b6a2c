// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/Addresses.h"

#include "backend/host/Elementwise.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright::host {

Reference Addresses::referenceTo(tile::LoadOp op) const {
  Reference result{function.bufferOf(op.getBuffer()), op.getBuffer().getType(), op.getOffsets(), op.getBounds(),
                   op.getMap()};
  llvm::copy_if(op.getGuard(), std::back_inserter(result.guard),
                [&](int64_t dim) { return !certain.count({op, dim}); });
  return result;
}

Reference Addresses::referenceTo(tile::StoreOp op) const {
  return Reference{function.bufferOf(op.getBuffer()), op.getBuffer().getType(), op.getOffsets(), op.getBounds(),
                   op.getMap()};
}

llvm::Value *Addresses::offsetsOf(const Access &access, unsigned width) {
  return lanes.offsets(access.delta ? nullptr : access.stride, access.delta, width);
}

/// offset + place in dimension `i` of a tile. A constant that was added to the place is kept as a separate term, so
/// that it becomes the displacement of the address.
LaneIndex Addresses::coordinateOf(const Reference &reference, const Position &position, unsigned row, unsigned i) {
  unsigned axis = reference.offsets.size() - 1 - i, width = position.width;
  bool isLane = axis == position.laneAxis;
  Ix offset = function.index(reference.offsets[i]), place = position.at(axis, row);
  auto [inner, added] = math.split(place);
  LaneIndex result;
  result.base = {offset, inner, math.constant(added)};
  if (isLane && width > 1) {
    result.stride = math.constant(1);
    result.count = position.run ? position.run : width;
  }
  if (!isLane && position.isClampable(axis)) {
    Ix bound = function.evaluate(reference.bounds, i), coordinate = math.add(offset, place);
    if (!position.isLive(axis, offset, bound) && !math.alwaysLess(coordinate, bound))
      result.base = {math.max(math.min(coordinate, math.sub(bound, math.constant(1))), math.constant(0))};
  }
  return result;
}

/// Sets `coordinates`, and adds a condition or a mask for each dimension in which they may be outside of the bounds.
/// Nothing is needed if that provably cannot be, or if the axis is clampable.
void Addresses::addBounds(const Reference &reference, const Position &position, unsigned row, Access &result,
                          MutableArrayRef<LaneIndex> coordinates) {
  unsigned rank = reference.offsets.size(), width = position.width;
  for (unsigned i = 0; i < rank; ++i) {
    unsigned axis = rank - 1 - i;
    Ix offset = function.index(reference.offsets[i]), bound = function.evaluate(reference.bounds, i);
    bool isLane = axis == position.laneAxis;
    Ix coordinate = math.add(offset, position.at(axis, row));
    coordinates[i] = coordinateOf(reference, position, row, i);
    Ix last = isLane ? math.add(coordinate, math.constant(width - 1)) : coordinate;
    bool isPadded = axis == 0 && reference.panel != 0 && reference.panel % width == 0 &&
                    math.facts(coordinate).divisor % width == 0;
    if (isPadded || position.isLive(axis, offset, bound) || math.alwaysLess(last, bound))
      continue;
    if (isLane && width > 1)
      result.require(ir, lanesBelow(ir, math, math.sub(bound, coordinate), width));
    else if (isLane || !position.isClampable(axis))
      result.condition = math.both(result.condition, math.less(coordinate, bound));
  }
}

Access Addresses::withinBounds(const Reference &reference, const Position &position, unsigned row) {
  Access result;
  SmallVector<LaneIndex> coordinates(reference.offsets.size());
  addBounds(reference, position, row, result, coordinates);
  return result;
}

/// If a vector may be this many elements outside of its dimension, as in all but one input of a concatenation, it is
/// not accessed at all when no lane is inside: the memory may not be mapped, and a masked access to unmapped memory
/// raises no fault but takes a hundred times as long. At the border of a padded image vectors are nearer, and are just
/// masked.
static constexpr int64_t farOutside = 1024;

/// Adds the condition or mask 0 <= coordinate < size for a buffer dimension that the map may leave.
void Addresses::addGuard(const Reference &reference, unsigned dim, const LaneIndex &coordinate, unsigned width,
                         Access &result) {
  Ix base = lanes.sum(coordinate.base), size = function.evaluate(reference.type.getSizes(), dim);
  if (coordinate.isUniform()) {
    result.condition =
        math.both(result.condition, math.both(math.less(math.constant(-1), base), math.less(base, size)));
    return;
  }
  std::optional<int64_t> stride = constantOf(coordinate.stride);
  if (!coordinate.delta && stride && *stride > 0 && math.alwaysLess(math.constant(-1), base) &&
      math.alwaysLess(math.add(base, math.constant(*stride * (width - 1))), size))
    return;
  llvm::Value *offsets = lanes.offsets(coordinate.stride, coordinate.delta, width);
  llvm::Type *element = offsets->getType()->getScalarType();
  auto spread = [&](Ix value) { return ir.CreateVectorSplat(width, ir.CreateIntCast(value, element, true)); };
  result.require(ir, ir.CreateICmpULT(ir.CreateAdd(spread(base), offsets), spread(size)));
  if (coordinate.delta || !stride || *stride <= 0)
    return;
  Ix last = math.add(base, math.constant(*stride * (width - 1)));
  if (!math.alwaysLess(math.constant(-farOutside), last))
    result.condition = math.both(result.condition, math.less(math.constant(-1), last));
  if (!math.alwaysLess(base, math.add(size, math.constant(farOutside))))
    result.condition = math.both(result.condition, math.less(base, size));
}

/// Computes the pointer in steps, one for each scope, so that each step is recomputed only where its terms change.
/// Constants are added last, as the displacement of the access instruction, which costs nothing.
void Addresses::setPointer(const Reference &reference, LaneIndex address, unsigned width, Access &result) {
  llvm::Type *element = elementType(function.context, reference.type.getElementType());
  llvm::Type *unit = element->isIntegerTy(1) ? ir.getInt8Ty() : element;
  result.pointer = reference.base;
  Ix displacement = math.constant(0);
  llvm::erase_if(address.base, [&](Ix term) {
    if (constantOf(term))
      displacement = math.add(displacement, term);
    return constantOf(term).has_value();
  });
  SmallVector<Ix> terms = math.outermostFirst(address.base);
  for (size_t i = 0; i < terms.size();) {
    unsigned depth = math.depthOf(terms[i]);
    Ix offset = math.constant(0);
    for (; i < terms.size() && math.depthOf(terms[i]) == depth; ++i)
      offset = math.add(offset, terms[i]);
    result.pointer = math.pointer(unit, result.pointer, offset);
  }
  result.pointer = math.pointer(unit, result.pointer, displacement);
  result.stride = address.stride;
  if (address.delta)
    result.delta = lanes.offsets(address.stride, address.delta, width);
}

Access Addresses::access(const Reference &reference, const Position &position, unsigned row) {
  Access result;
  unsigned rank = reference.offsets.size(), width = position.width;
  SmallVector<LaneIndex> coordinates(rank + reference.indices.size());
  addBounds(reference, position, row, result, coordinates);
  if (position.run && position.run < width)
    result.require(ir, lanesBelow(ir, math, math.constant(position.run), width));
  for (auto [i, rows] : llvm::enumerate(reference.indices)) {
    llvm::Value *value = rows[row];
    if (value->getType()->isVectorTy())
      coordinates[rank + i] =
          LaneIndex{{}, nullptr, ir.CreateSExt(value, vectorOf(ir.getInt64Ty(), width)), true, width};
    else
      coordinates[rank + i].base = {ir.CreateSExt(value, ir.getInt64Ty())};
  }
  // Row-major, innermost first, so that each dimension's stride is the product of the sizes inside it.
  LaneIndex address;
  Ix stride = math.constant(1);
  for (unsigned dim = reference.type.getRank(); dim-- > 0;) {
    LaneIndex coordinate = lanes.evaluate(reference.map.getResult(dim), coordinates, width);
    if (llvm::is_contained(reference.guard, dim))
      addGuard(reference, dim, coordinate, width, result);
    address = lanes.add(address, lanes.scale(coordinate, stride, width));
    stride = math.mul(stride, function.evaluate(reference.type.getSizes(), dim));
  }
  setPointer(reference, std::move(address), width, result);
  return result;
}

//===- Guards -----------------------------------------------------------------------------------------------------===//

SmallVector<llvm::Value *> Addresses::commonGuards(tile::LoadOp load, const Position &position, Operation *scope) {
  Reference reference = referenceTo(load);
  unsigned rank = reference.offsets.size();
  auto isKnown = [&](unsigned i) {
    auto loop = dyn_cast<BlockArgument>(reference.offsets[i]);
    return !loop || !scope || !scope->isProperAncestor(loop.getOwner()->getParentOp());
  };
  SmallVector<llvm::Value *> result;
  for (int64_t dim : reference.guard) {
    AffineExpr expr = reference.map.getResult(dim);
    bool known = true;
    for (unsigned i = 0; i < rank; ++i)
      known &= !expr.isFunctionOfDim(i) || (isKnown(i) && (position.width == 1 || rank - 1 - i != position.laneAxis));
    if (!known || reference.map.getNumDims() > rank)
      continue;
    std::optional<std::pair<llvm::Value *, llvm::Value *>> common;
    for (unsigned row = 0; row < position.rows.size() && known; ++row) {
      SmallVector<LaneIndex> coordinates;
      for (unsigned i = 0; i < rank; ++i)
        coordinates.push_back(isKnown(i) ? coordinateOf(reference, position, row, i) : LaneIndex());
      Ix base = lanes.sum(lanes.evaluate(expr, coordinates, position.width).base),
         size = function.evaluate(reference.type.getSizes(), dim);
      std::pair ends(math.less(math.constant(-1), base), math.less(base, size));
      known = !common || *common == ends;
      common = ends;
    }
    if (known && common)
      result.append({common->first, common->second});
  }
  return result;
}

/// The constant by which `expr` grows with dimension `dim`; nullopt if it is not constant.
static std::optional<int64_t> stepAlong(AffineExpr expr, unsigned dim, AffineMap map) {
  AffineExpr place = getAffineDimExpr(dim, expr.getContext());
  auto step = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(expr.replace(place, place + 1) - expr, map.getNumDims(), map.getNumSymbols()));
  return step ? std::optional(step.getValue()) : std::nullopt;
}

SmallVector<std::pair<GuardedDim, llvm::Value *>> Addresses::guardsOfRow(tile::LoadOp load, const Position &position,
                                                                         int64_t columns) {
  Reference reference = referenceTo(load);
  unsigned rank = reference.offsets.size();
  SmallVector<std::pair<GuardedDim, llvm::Value *>> result;
  if (reference.map.getNumDims() > rank)
    return result;
  Position first = position;
  first.set(position.laneAxis, math.constant(0));
  SmallVector<LaneIndex> coordinates;
  for (unsigned i = 0; i < rank; ++i)
    coordinates.push_back(coordinateOf(reference, first, 0, i));
  for (int64_t dim : reference.guard) {
    AffineExpr expr = reference.map.getResult(dim);
    std::optional<int64_t> step = stepAlong(expr, rank - 1 - position.laneAxis, reference.map);
    if (!step)
      continue;
    Ix begin = lanes.sum(lanes.evaluate(expr, coordinates, 1).base),
       end = math.add(begin, math.constant(*step * (columns - 1))),
       size = function.evaluate(reference.type.getSizes(), dim);
    if (*step < 0)
      std::swap(begin, end);
    result.push_back({{load, dim}, math.both(math.less(math.constant(-1), begin), math.less(end, size))});
  }
  return result;
}

void Addresses::whereInside(ArrayRef<llvm::Value *> guards, llvm::function_ref<void()> body) {
  llvm::Value *all = nullptr;
  for (llvm::Value *guard : guards)
    all = math.both(all, guard);
  math.when(all, [&] {
    for (llvm::Value *guard : all ? guards : ArrayRef<llvm::Value *>())
      if (!isa<llvm::Constant>(guard))
        math.assume(guard);
    body();
  });
}

void Addresses::withoutGuards(llvm::DenseSet<GuardedDim> dims, llvm::function_ref<void()> body) {
  dims.insert_range(certain);
  std::swap(certain, dims);
  body();
  std::swap(certain, dims);
}

} // namespace tilewright::host
