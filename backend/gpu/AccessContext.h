// SPDX-License-Identifier: Apache-2.0
// An access to global memory, cut into chunks, with the index arithmetic that its chunks share. Internal to
// backend/gpu.
#pragma once

#include "backend/gpu/KernelDistributor.h"

namespace tilewright {

/// The operands that the address and the predicate of every chunk are computed from.
struct KernelDistributor::AccessContext {
  KernelDistributor &d;
  tile::Access access;
  tile::Layout layout;
  Chunks chunks;
  tile::TileShape shape;
  llvm::SmallVector<tile::Facts> facts, knownSymbols;
  mlir::IntegerType type;
  llvm::SmallVector<Value> first, sizes, symbols;
  llvm::SmallVector<Value> threads;   // i32: this thread's position in the tile, in each dimension
  llvm::SmallVector<Value> remaining; // i32: how many positions of the tile are live, in each dimension
  /// A dimension whose comparisons are computed again for each chunk instead of kept in registers, if there are many
  /// chunks; nullopt if there are few.
  std::optional<unsigned> recomputed;
  /// For single elements in a loop along a row: the dimension that it walks. All steps but the last are whole, and have
  /// a version without the comparisons. Steps of other loops have too few loads for that to pay.
  std::optional<unsigned> walked;

  AccessContext(KernelDistributor &d, const tile::Access &access, const tile::Layout &layout, const Chunks &chunks);

  int64_t elementBytes() const { return tilewright::elementBytes(access.tile.getElementType()); }
  /// Registers at which chunks begin.
  llvm::SmallVector<unsigned> starts() const;
  /// The register of the i-th element of the chunk that begins at `start`.
  unsigned registerAt(unsigned start, unsigned i) const;

  struct Place {
    Value address; // element offset
    Value live;    // null: always
  };
  /// Where register r is in memory, and whether it may be accessed; `isWhole` in the version without comparisons.
  Place place(unsigned r, bool isWhole = false);
  Value pointer(Value offset);
  /// Whether register r is within the access's bounds, in each dimension but `except`; null: always.
  Value isInBounds(unsigned r, std::optional<unsigned> except = std::nullopt);

  /// Both conditions; null: always.
  Value both(Value a, Value b) { return !a ? b : !b ? a : mlir::arith::AndIOp::create(d.b_, a, b).getResult(); }
  /// A word, which is not negative, and a constant in the type of addresses.
  Value widen(Value word);
  Value constant(int64_t value) { return mlir::arith::ConstantOp::create(d.b_, d.b_.getIntegerAttr(type, value)); }

  /// Whether loads of single elements have predicates instead of branches: where a thread has several, each with a
  /// condition of its own. Where all have one condition, ptxas makes one predicate of their branches by itself. Beside
  /// a contraction, what is computed in branches takes no registers beside the accumulators. Constants are loaded
  /// early, and loads of overlapping windows are merged: neither happens to assembly.
  bool hasPredicates() const;

  /// Whether a chunk, or a step of a loop, may be live in part only, or sizes may not be the multiples that the chunks
  /// assume.
  bool mayCut() const;
  /// Whether all chunks, or the step, are whole and aligned as they assume: one answer for the whole block.
  Value isWhole();

private:
  void chooseType();
  /// Bits of the register number on which comparisons along `dim` depend.
  unsigned maskedBits(unsigned dim) const;
  void chooseRecomputed();
  std::optional<unsigned> walkedDimension() const;
  Value remainingFrom(Value offset, Value bound);
  llvm::SmallVector<Value> coordinates(unsigned r);
  Value isLiveAlong(unsigned dim);
};

/// Builds what `build` builds under `condition`; null: unconditionally.
template <typename Build> void onlyWhere(mlir::ImplicitLocOpBuilder &b, mlir::Value condition, Build build) {
  if (!condition)
    return build();
  auto branch = mlir::scf::IfOp::create(b, condition, /*withElse=*/false);
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  build();
}

/// Builds a branch with two versions of an access: `wide` where `whole` is true, else `narrow`. Each returns the
/// branch's results, of `types`.
template <typename Wide, typename Narrow>
mlir::ValueRange eitherWay(mlir::ImplicitLocOpBuilder &b, mlir::Value whole, mlir::TypeRange types, Wide wide,
                           Narrow narrow) {
  auto branch = mlir::scf::IfOp::create(b, types, whole, /*withElse=*/true);
  auto fill = [&](mlir::Block *block, auto build) {
    mlir::OpBuilder::InsertionGuard guard(b);
    if (!block->empty())
      block->getTerminator()->erase();
    b.setInsertionPointToEnd(block);
    Registers results = build();
    mlir::scf::YieldOp::create(b, results);
  };
  fill(branch.thenBlock(), wide);
  fill(branch.elseBlock(), narrow);
  return branch.getResults();
}

} // namespace tilewright
