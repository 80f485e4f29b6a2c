// SPDX-License-Identifier: Apache-2.0
#include "backend/host/contract/PanelStream.h"

#include "backend/host/plan/DotOperands.h"

using namespace mlir;

namespace tilewright::host {

static constexpr int64_t lineBytes = 64;
// Best of 1 to 8 KiB, with 1 to 96 rows, on an Intel Xeon (docs/performance.md).
static constexpr int64_t bytesAhead = 2048;

PanelStream::PanelStream(Memory &memory, IndexMath &math, tile::DotOp op, const Position &position)
    : memory(memory), math(math) {
  auto right = op.getRhs().getDefiningOp<tile::LoadOp>();
  if (!right || !isPacked(right) || position.width == 1)
    return;
  load = right;
  ArrayRef<AffineExpr> sizes = right.getBuffer().getType().getSizes().getResults();
  bool quads = multipliesPackedBytes(op);
  panel = cast<AffineConstantExpr>(sizes[sizes.size() - (quads ? 2 : 1)]).getValue();
  bytes = panel * right.getResult().getType().getElementTypeBitWidth() / 8 * (quads ? quad : 1);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t together = position.rows.size();
  if (type.getDimSize(type.getRank() - 2) > together)
    isFirst = math.less(position.rows.front(), math.constant(together));
}

void PanelStream::fetch(const Position &right) {
  for (int64_t line = 0; line < bytes; line += lineBytes)
    memory.prefetch(load, right, panel, math.constant(bytesAhead + line));
}

void PanelStream::emit(llvm::function_ref<void(llvm::function_ref<void(const Position &)> fetch)> loop) {
  auto nothing = [](const Position &) {};
  if (!load)
    return loop(nothing);
  math.when(isFirst, [&] { loop([&](const Position &right) { fetch(right); }); });
  if (isFirst)
    math.when(math.negate(isFirst), [&] { loop(nothing); });
}

} // namespace tilewright::host
