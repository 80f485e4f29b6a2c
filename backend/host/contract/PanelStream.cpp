// SPDX-License-Identifier: Apache-2.0
#include "backend/host/contract/PanelStream.h"

#include "backend/host/plan/DotOperands.h"

using namespace mlir;

namespace tilewright::host {

static constexpr int64_t lineBytes = 64;
// How many register tiles of rows share the prefetching of the next panel.
static constexpr int64_t passes = 8;
// Up to so many bytes of weights, a product of few rows asks for nothing if it is told not to ask ahead: that a line is
// prefetched just before it is read costs up to a fifth of the time where it comes from a cache. It saves up to a tenth
// of what 67 MB and more take from memory (docs/performance/host-products.md, "Not to ask at all").
static constexpr int64_t mostCachedBytes = 40 << 20;

/// Bytes of the whole matrix that `load` reads panels of.
static int64_t bytesOf(tile::LoadOp load) {
  tile::BufferType buffer = load.getBuffer().getType();
  return llvm::product_of(*tile::constantsOf(buffer.getSizes())) * buffer.getElementType().getIntOrFloatBitWidth() / 8;
}

PanelStream::PanelStream(Memory &memory, KernelFunction &function, tile::DotOp op, const Position &position)
    : memory(memory), function(function), math(function.math), position(position) {
  auto right = op.getRhs().getDefiningOp<tile::LoadOp>();
  if (!right || !isPacked(right) || position.width == 1)
    return;
  load = right;
  stepSize = multipliesPackedBytes(op) ? quad : 1;
  panel = panelColumns(load);
  stepBytes = panel * load.getResult().getType().getElementTypeBitWidth() / 8 * stepSize;
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t together = position.rows.size();
  if (type.getDimSize(type.getRank() - 2) <= together)
    return;
  // The last register tile may have a row more than the others, so `together` may be the row at which it starts.
  isFirst = math.less(position.rows.front(), math.constant(std::max<int64_t>(1, together - 1)));
  pass = math.mod(math.floorDiv(position.rows.front(), math.constant(together)), math.constant(passes));
  findNextPanel();
}

/// Sets nextPanel. The panel's number is the first coordinate that depends on the column. The last panel has none after
/// it.
void PanelStream::findNextPanel() {
  ArrayRef<AffineExpr> sizes = load.getBuffer().getType().getSizes().getResults();
  unsigned column = load.getResult().getType().getRank() - 1, dim = 0;
  while (!load.getMap().getResult(dim).isFunctionOfDim(column))
    ++dim;
  auto sizeOf = [&](size_t i) { return cast<AffineConstantExpr>(sizes[i]).getValue(); };
  int64_t bytes = load.getResult().getType().getElementTypeBitWidth() / 8;
  for (size_t inner = dim + 1; inner < sizes.size(); ++inner)
    bytes *= sizeOf(inner);
  if (sizeOf(dim) == 1)
    return;
  Ix last = math.add(function.index(load.getOffsets()[column]), math.add(position.column, math.constant(panel)));
  nextPanel = math.choose(math.less(last, math.constant(sizeOf(dim) * panel)), math.constant(bytes), math.constant(0));
}

llvm::Value *PanelStream::addressAt(Ix k) {
  Position at = position;
  at.set(1, k);
  return memory.addressOf(load, at, 0, panel);
}

void PanelStream::fetchAhead(Ix k, int64_t count) {
  for (int64_t line = 0; line < count * stepBytes; line += lineBytes)
    memory.prefetch(addressAt(k), math.add(function.fetchAhead(), math.constant(line)));
}

void PanelStream::fetchNextPanel(Ix k, int64_t count) {
  if (!nextPanel)
    return;
  int64_t depth = load.getResult().getType().getDimSize(load.getResult().getType().getRank() - 2) / stepSize,
          share = std::max<int64_t>(1, stepBytes / passes);
  Ix step = math.add(math.floorDiv(k, math.constant(stepSize)), math.mul(pass, math.constant(depth)));
  Ix distance = math.add(nextPanel, math.mul(step, math.constant(share)));
  for (int64_t bytes = 0; bytes < count * share; bytes += lineBytes)
    memory.prefetch(addressAt(math.constant(0)), math.add(distance, math.constant(bytes)));
}

void PanelStream::emit(llvm::function_ref<void(Fetch fetch)> loop) {
  auto nothing = [](Ix, int64_t) {};
  auto ahead = [&](Ix k, int64_t count) { fetchAhead(k, count); };
  if (!load)
    return loop(nothing);
  if (isFirst) {
    math.when(isFirst, [&] { loop(ahead); });
    math.when(math.negate(isFirst), [&] { loop([&](Ix k, int64_t count) { fetchNextPanel(k, count); }); });
    return;
  }
  if (bytesOf(load) > mostCachedBytes)
    return loop(ahead);
  if (function.options.repeats) // all steps but the first find the weights in a cache
    return loop(nothing);
  llvm::Value *isAhead = math.less(math.constant(0), function.fetchAhead());
  math.when(isAhead, [&] { loop(ahead); });
  math.when(math.negate(isAhead), [&] { loop(nothing); });
}

} // namespace tilewright::host
