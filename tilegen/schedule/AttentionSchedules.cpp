// SPDX-License-Identifier: Apache-2.0
// Schedules of attention: rows of a program, and keys of a step.
#include "tilegen/schedule/Schedules.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using tilewright::graph::RootKind;

namespace tilewright::tilegen {
namespace {

// Vectors: a step's keys and values are copied into panels, once for all rows of a program, and scores are read
// again from the second-level cache. So many rows at a time, and as many keys as leave the scores there: a row's
// maximum and sum cost as much as some 60 of its keys for every step. Eight heads of 1,024 keys of 64 take 14.0 ms
// with 96 rows and steps of 256 keys, 12.5 with 192 and 512, 11.9 with 256 and 1,024.
// Below a diagonal fewer rows visit fewer keys for nothing: 1,024 causal rows take 7.9 ms by 258, 7.4 by 132 or 96.
constexpr int64_t mostRows = 384, mostKeys = 1024, stepOfUnknown = 512, scoreElements = 1 << 18;
constexpr int64_t mostRowsBelowDiagonal = 132;
constexpr int64_t registerRows = 6;

// Blocks: one warp takes 16 rows. Of 8 x 12 heads with 512 keys of 64 on an H200, 64 rows and 64 keys take 31.9 us, 128
// and 128 take 29.8; of 4 x 32 heads with 2,048 keys of 128 it is 772 and 729 (docs/performance.md).
constexpr int64_t fewRows = 64, fewKeys = 64, manyRows = 128, manyKeys = 128, rowsOfWarp = 16;
constexpr int64_t guessOfUnknown = 1024; // for a size that is only known when running

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

/// A tile of about `limit` that cuts `size` into nearly equal parts, each a multiple of `step` unless it is the
/// whole. What is little more than the limit is not cut.
static int64_t evenTile(int64_t size, int64_t limit, int64_t step) {
  int64_t parts = std::max<int64_t>(1, llvm::divideCeil(size, limit + limit / 8));
  return parts == 1 ? size : llvm::alignTo(llvm::divideCeil(size, parts), step);
}

tile::ScheduleAttr vectors::scheduleAttention(const KernelSpace &space, const TargetDesc &target) {
  AttentionSizes sizes(space);
  int64_t lanes = target.vectorBits / 32;
  // Four vectors where they divide the columns of the values, so that no register tile has three.
  int64_t vectors = target.vectorRegisters == 32 && llvm::alignTo(*sizes.columns, lanes) % (4 * lanes) == 0 ? 4 : 2;
  int64_t keys = sizes.keys ? evenTile(llvm::alignTo(*sizes.keys, lanes), mostKeys, lanes) : stepOfUnknown;
  int64_t most = space.keysBelow.empty() ? mostRows : mostRowsBelowDiagonal;
  int64_t together = std::clamp(scoreElements / keys, registerRows, most);
  int64_t rows = evenTile(sizes.rows.value_or(together), together, registerRows);
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  tile.append({rows, *sizes.columns});
  return tile::ScheduleAttr::ofVector(space.nest.context, RootKind::Attention, tile, {keys, *sizes.head},
                                      {registerRows, vectors * lanes});
}

/// Many rows and keys if they leave a block for every unit; then as many keys as shared memory has room for in two
/// steps beside the rows.
tile::ScheduleAttr blocks::scheduleAttention(const KernelSpace &space, const TargetDesc &target) {
  AttentionSizes sizes(space);
  auto power = [](int64_t size) { return std::max<int64_t>(16, llvm::PowerOf2Ceil(size)); };
  int64_t head = power(*sizes.head), columns = power(*sizes.columns), stages = 2;
  int64_t blocks = llvm::divideCeil(sizes.rows.value_or(guessOfUnknown), manyRows);
  for (unsigned loop : space.loopsOfKind(LoopKind::Parallel))
    blocks *= constantOf(space.loops()[loop].size).value_or(1);
  bool isLarge = blocks >= target.units;
  int64_t rows = std::min(isLarge ? manyRows : fewRows, power(sizes.rows.value_or(guessOfUnknown)));
  int64_t keys = std::min(isLarge ? manyKeys : fewKeys, power(sizes.keys.value_or(guessOfUnknown)));
  auto bytes = [&] { return 2 * (rows * head + stages * keys * (head + columns)); }; // of halves, in shared memory
  while (bytes() > target.sharedBytes && keys > 16)
    keys /= 2;
  SmallVector<int64_t> tile(space.loopsOfKind(LoopKind::Parallel).size(), 1);
  tile.append({rows, columns});
  return tile::ScheduleAttr::ofBlock(space.nest.context, RootKind::Attention, tile, {keys, head}, rows / rowsOfWarp,
                                     stages);
}

} // namespace tilewright::tilegen
