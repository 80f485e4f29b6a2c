// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/TileValues.h"

#include "backend/host/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::host {

TileValues::TileValues(KernelFunction &function, TileMemory &memory)
    : function(function), memory(memory), math(function.math) {
  math.onClose = [this](unsigned depth) {
    if (depth >= knownAtDepth.size())
      return;
    for (const PositionKey &key : knownAtDepth[depth])
      known.erase(key);
    knownAtDepth[depth].clear();
  };
}

//===- What is known ----------------------------------------------------------------------------------------------===//

TileValues::PositionKey TileValues::keyOf(Value value, const Position &position) {
  PositionKey key = {value.getAsOpaquePointer(), reinterpret_cast<const void *>(uintptr_t(position.width)),
                     position.column, reinterpret_cast<const void *>(uintptr_t(position.clampable)),
                     reinterpret_cast<const void *>(uintptr_t(position.laneAxis))};
  key.insert(key.end(), position.rows.begin(), position.rows.end());
  key.insert(key.end(), position.outer.begin(), position.outer.end());
  return key;
}

void TileValues::remember(Value value, const Position &position, const Rows &rows) {
  PositionKey key = keyOf(value, position);
  known[key] = rows;
  if (knownAtDepth.size() <= math.depth())
    knownAtDepth.resize(math.depth() + 1);
  knownAtDepth[math.depth()].push_back(std::move(key));
}

Rows TileValues::tileOf(Value value, const Position &position) {
  auto found = known.find(keyOf(value, position));
  if (found != known.end())
    return found->second;
  Rows rows;
  if (const TileInMemory *tile = memoryOf(value))
    rows = memory.load(*tile, value, position);
  else if (position.width > 1 && isUniform(value, position))
    rows = splat(function.ir, tileOf(value, uniformAt(position)), position.rows.size(), position.width);
  else
    rows = compute(value, position);
  remember(value, position, rows);
  return rows;
}

//===- Memory -----------------------------------------------------------------------------------------------------===//

void TileValues::setMemory(Value value, TileInMemory tile) {
  tiles[value] = std::move(tile);
  uniform.clear();
}

void TileValues::dropMemory(Value value) {
  tiles.erase(value);
  uniform.clear();
}

const TileInMemory *TileValues::memoryOf(Value value) const {
  auto found = tiles.find(value);
  return found == tiles.end() ? nullptr : &found->second;
}

//===- Uniform values ---------------------------------------------------------------------------------------------===//

Position TileValues::uniformAt(const Position &position) {
  Position result = position;
  result.column = math.constant(0);
  result.width = 1;
  result.run = 0;
  result.end = nullptr;
  return result;
}

/// Memoized: it is called for every value of a kernel, and recursively for all that it is computed from.
bool TileValues::isUniform(Value value, const Position &position) {
  PositionKey key = {position.column, reinterpret_cast<const void *>(uintptr_t(position.width)),
                     reinterpret_cast<const void *>(uintptr_t(position.laneAxis))};
  for (const Position::Live &fact : position.live)
    if (fact.axis == position.laneAxis)
      key.insert(key.end(), {fact.offset, fact.bound});
  llvm::DenseMap<Value, bool> &answers = uniform[key];
  if (auto found = answers.find(value); found != answers.end())
    return found->second;
  bool result = findUniform(value, position);
  answers[value] = result;
  return result;
}

bool TileValues::areLanesLive(ValueRange offsets, AffineMap bounds, const Position &position) {
  unsigned dim = offsets.size() - 1 - position.laneAxis;
  Ix offset = function.index(offsets[dim]), bound = function.evaluate(bounds, dim);
  return position.isLive(position.laneAxis, offset, bound) ||
         math.alwaysLess(math.add(math.add(offset, position.column), math.constant(position.width - 1)), bound);
}

bool TileValues::findUniform(Value value, const Position &position) {
  Operation *op = value.getDefiningOp();
  if (!op || memoryOf(value))
    return false;
  unsigned lane = std::max<unsigned>(cast<RankedTensorType>(value.getType()).getRank(), 1) - 1 - position.laneAxis;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::ConstantOp) { return true; })
      .Case([&](tile::BroadcastOp broadcast) {
        return cast<RankedTensorType>(broadcast.getInput().getType()).getDimSize(lane) == 1 ||
               isUniform(broadcast.getInput(), position);
      })
      .Case([&](tile::LoadOp load) {
        return !load.getMap().isFunctionOfDim(lane) &&
               llvm::all_of(load.getIndices(), [&](Value index) { return isUniform(index, position); }) &&
               areLanesLive(load.getOffsets(), load.getBounds(), position);
      })
      .Case([&](tile::CheckOp check) {
        return isUniform(check.getIndex(), position) && areLanesLive(check.getOffsets(), check.getBounds(), position);
      })
      .Case([&](tile::CoordinateOp coordinate) { return coordinate.getDim() != lane; })
      .Default([&](Operation *other) {
        return isElementwise(other) &&
               llvm::all_of(other->getOperands(), [&](Value operand) { return isUniform(operand, position); });
      });
}

void TileValues::computeUniform(Value value, const Position &position, llvm::DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  Position lanes = position;
  lanes.column = math.constant(0);
  lanes.width = function.vectors.narrow;
  if (!op || !seen.insert(value).second || memoryOf(value) || isa<arith::ConstantOp>(op))
    return;
  if (isUniform(value, lanes))
    tileOf(value, uniformAt(lanes));
  else if (isElementwise(op))
    for (Value operand : op->getOperands())
      computeUniform(operand, position, seen);
}

} // namespace tilewright::host
