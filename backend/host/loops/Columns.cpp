// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/Columns.h"

#include "backend/host/Elementwise.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright::host {

void Columns::run(Ix from, Ix to, Ix wholeTo, unsigned widest, const Position &position,
                  llvm::function_ref<void(const Position &)> body) {
  auto steps = [&](Ix begin, Ix end, unsigned width, bool isWhole, bool needsEnd) {
    math.loop(begin, end, width, [&](Ix column) {
      Position inner = position;
      if (!isWhole)
        inner.forget(position.laneAxis);
      inner.column = column;
      inner.width = width;
      inner.end = needsEnd && !math.alwaysLess(math.add(column, math.constant(width - 1)), to) ? to : nullptr;
      body(inner);
    });
  };
  Facts last = math.facts(to);
  if (last.high == 1) // a tile of one column
    return steps(from, to, 1, false, false);
  unsigned narrow = std::min(function.vectors.narrow, widest); // a strip of few columns is half a vector
  bool masks = function.vectors.masks;
  Ix wholeSize = math.sub(wholeTo, from);
  Ix wideEnd = from, narrowEnd = from;
  if (!last.high || *last.high >= widest)
    wideEnd = math.add(from, math.roundDown(wholeSize, widest));
  narrowEnd = math.add(from, math.roundDown(wholeSize, narrow));
  steps(from, wideEnd, widest, true, false);
  steps(wideEnd, narrowEnd, narrow, true, false);
  steps(narrowEnd, to, masks ? narrow : 1, false, masks);
}

/// If `value` is a load: its bounds along `axis`. `operands` gets the values to look at next. nullopt for other values,
/// for buffered ones, and along an axis of size 1.
std::optional<Position::Live> Columns::liveBelow(Value value, unsigned axis, SmallVectorImpl<Value> &operands) {
  Operation *op = value.getDefiningOp();
  auto type = cast<RankedTensorType>(value.getType());
  unsigned dim = type.getRank() - 1 - axis;
  if (!op || values.memoryOf(value) || type.getDimSize(dim) == 1)
    return std::nullopt;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    llvm::append_range(operands, load.getIndices());
    return Position::Live{axis, function.index(load.getOffsets()[dim]), function.evaluate(load.getBounds(), dim)};
  }
  if (auto check = dyn_cast<tile::CheckOp>(op))
    operands.push_back(check.getIndex());
  else if (isElementwise(op) || isa<tile::BroadcastOp>(op))
    llvm::append_range(operands, op->getOperands());
  return std::nullopt;
}

Ix Columns::liveSize(Value value, unsigned axis, Ix size, SmallVectorImpl<Position::Live> &facts) {
  llvm::DenseSet<Value> seen;
  llvm::SetVector<std::pair<Ix, Ix>> ends;
  SmallVector<Value> waiting = {value}, operands;
  while (!waiting.empty()) {
    Value next = waiting.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    operands.clear();
    if (std::optional<Position::Live> fact = liveBelow(next, axis, operands))
      ends.insert({fact->offset, fact->bound});
    llvm::append_range(waiting, llvm::reverse(operands));
  }
  for (auto [offset, bound] : ends) {
    facts.push_back({axis, offset, bound});
    size = math.min(size, math.max(math.sub(bound, offset), math.constant(0)));
  }
  return size;
}

} // namespace tilewright::host
