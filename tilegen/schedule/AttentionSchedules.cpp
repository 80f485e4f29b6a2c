// SPDX-License-Identifier: Apache-2.0
// Schedules of attention: rows of a program, and keys of a step.
#include "tilegen/schedule/Schedules.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {
namespace {

// Vectors: the keys of a step, and the values beside them, stay in the second-level cache while all rows of a program
// meet them; scores of a program's rows do too. Both sides are copied into panels once for each program.
constexpr int64_t vectorRows = 96, vectorKeys = 256;

// Blocks: one warp takes 16 rows.
constexpr int64_t blockRows = 64, blockKeys = 64, rowsOfWarp = 16;

} // namespace

static std::optional<int64_t> constantOf(AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant ? std::optional(std::max<int64_t>(1, constant.getValue())) : std::nullopt;
}

/// Sizes of an attention's loops where they are known.
namespace {
struct AttentionSizes {
  explicit AttentionSizes(const KernelSpace &space) {
    auto sizeOf = [&](unsigned loop) { return constantOf(space.loops()[loop].size); };
    rows = sizeOf(space.loopsOfKind(LoopKind::Row).front());
    keys = sizeOf(space.loopsOfKind(LoopKind::Reduction).front());
    columns = sizeOf(space.loopsOfKind(LoopKind::Column).front());
    head = sizeOf(space.loopsOfKind(LoopKind::Reduction).back());
  }
  std::optional<int64_t> rows, keys, columns, head;
};
} // namespace

tile::ScheduleAttr vectors::scheduleAttention(const KernelSpace &space, const TargetDesc &target) {
  AttentionSizes sizes(space);
  int64_t lanes = target.vectorBits / 32, together = target.vectorRegisters == 32 ? 6 : 4,
          width = (target.vectorRegisters == 32 ? 4 : 2) * lanes;
  int64_t rows = std::min(vectorRows, sizes.rows.value_or(vectorRows));
  int64_t keys = std::min<int64_t>(vectorKeys, llvm::alignTo(sizes.keys.value_or(vectorKeys), lanes));
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  tile.append({rows, *sizes.columns});
  return tile::ScheduleAttr::ofVector(space.nest.context, RootKind::Attention, tile, {keys, *sizes.head},
                                      {together, width});
}

tile::ScheduleAttr blocks::scheduleAttention(const KernelSpace &space, const TargetDesc &) {
  AttentionSizes sizes(space);
  auto power = [](int64_t size) { return std::max<int64_t>(16, llvm::PowerOf2Ceil(size)); };
  int64_t rows = std::min(blockRows, power(sizes.rows.value_or(blockRows)));
  int64_t keys = std::min(blockKeys, power(sizes.keys.value_or(blockKeys)));
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  tile.append({rows, power(*sizes.columns)});
  return tile::ScheduleAttr::ofBlock(space.nest.context, RootKind::Attention, tile, {keys, power(*sizes.head)},
                                     rows / rowsOfWarp, /*stages=*/2);
}

} // namespace tilewright::tilegen
