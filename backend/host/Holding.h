// Which tiles of a kernel are computed once and held in memory, and which are computed where they are used.
#pragma once

#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tilewright::host {

/// A contraction or a loop that yields tiles: computed a register tile at a time.
bool isHeavy(mlir::Operation *op);

/// Holds a store or another effect that must happen exactly once.
bool hasEffects(mlir::Operation *op);

/// Whether every element that `loop` yields depends on carried elements of the same position only, so that the loop can
/// run for one register tile alone.
bool runsByPosition(mlir::scf::ForOp loop);

/// Whether carried tile `i` is read by nothing but its own next value, at the same position: it can be updated in
/// place.
bool updatesInPlace(mlir::scf::ForOp loop, unsigned i);

/// The load of which carried tile `i` takes an element each turn, and stays as it is where that is the load's fill (a
/// sum of products of zeros, a maximum with minus infinity). Null if there is no such load.
tile::LoadOp loadOfTurn(mlir::scf::ForOp loop, unsigned i);

/// Whether the turns of a loop become straight code: few, none of them a loop, all the same for every size.
bool isUnrolled(mlir::scf::ForOp loop);

/// Whether the left side of a dot is a window of few elements that each program reads for one row of the image: its
/// elements are read in place, one turn of straight code for each, and the guards are the same for many of them.
bool hasFewTaps(mlir::Value lhs);

/// The loads that `value` is computed from which may leave their buffers.
void collectGuarded(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isHeld,
                    llvm::SmallVectorImpl<tile::LoadOp> &result);

/// Whether the buffer is a constant stored in panels.
bool isPacked(tile::LoadOp load);

/// Whether the right side of `dot` is a constant of bytes in panels of quads along k (tilegen/roots/Roots.h).
bool multipliesQuads(tile::DotOp dot);

/// Whether `value`, an operand of a dot, is as cheap to read from where it is as from the workspace. `rows`: rows of
/// the result; `registerRows`: of those computed together.
bool isDirectOperand(mlir::Value value, bool isLhs, int64_t rows, unsigned registerRows);

/// Whether every dot below `op` has direct operands.
bool hasDirectOperands(mlir::Operation *op, unsigned registerRows);

/// How many neighbours along a row all loads that `value` is computed from find together, counted from the row's start,
/// where those are few: a window's columns. 0: many, or none. `masks`: elements of less than 32 bits can be masked.
int64_t runOfRow(mlir::Value value, bool masks);

/// Vectors of at most `widest` elements that `store` need not scatter, if its neighbours lie together in blocks of
/// whole vectors.
unsigned widestStore(tile::StoreOp store, unsigned widest, unsigned narrow);

/// Whether `load` is a row that is gathered, and read for many rows.
bool isGatheredOnce(tile::LoadOp load);

/// Whether `store` would scatter each row of its tile, but stores `lanes` rows of one column together.
bool storesAcross(tile::StoreOp store, unsigned lanes);

/// Whether each row of `value`, a load perhaps converted, would be gathered, while `lanes` rows of one column lie
/// together.
bool loadsAcross(mlir::Value value, unsigned lanes);

/// The loads of which that is true that `value` is computed from element by element.
void collectLoadsAcross(mlir::Value value, unsigned lanes, llvm::SmallVectorImpl<mlir::Value> &result);

/// Which values of a block are needed in several of its loops. One sweep over the block finds all.
class SharedValues {
public:
  explicit SharedValues(mlir::Block &block);

  /// An elementwise value that costs much and is needed in several loops, where those part: it is held.
  bool isSharedAndCostly(mlir::Value value) const;

private:
  llvm::SmallBitVector consumersOf(mlir::Value value);
  unsigned numberOf(const void *consumer);

  mlir::Block &block;
  llvm::DenseMap<const void *, unsigned> numbers; // of consumers
  llvm::DenseMap<mlir::Value, llvm::SmallBitVector> consumers;
};

/// Whether a heavy value has a single use, which leads through single uses of elementwise operations to a store, or to
/// a yield of its own block.
bool feedsOneStore(mlir::Value heavy);

/// The heavy values that `value` reaches through elementwise operations.
void collectHeavy(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isHeld,
                  llvm::SmallVectorImpl<mlir::Value> &result);

} // namespace tilewright::host
