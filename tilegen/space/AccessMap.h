// SPDX-License-Identifier: Apache-2.0
// How the loops of a kernel reach its buffers, and the transformations of loops that keep those accesses simple.
//
// An access is coordinates of a buffer as expressions of loops d<i> (and of the module's symbols). Loops can be
//  * split, where accesses divide them:  d0 floordiv 64, d0 mod 64  ->  d0, d1        (heads of an attention)
//  * collapsed, where every access treats neighbours as one linear index:  (d0, d1, d2) -> (d0, d1)  of buffers whose
//    neighbouring dimensions are then merged too. This makes the innermost loop long and its loads contiguous.
#pragma once

#include "tilegen/index/IndexAlgebra.h"

#include "mlir/IR/Value.h"

#include <string>

namespace tilewright::tilegen {

using Exprs = llvm::SmallVector<mlir::AffineExpr>;

/// ((c0 * sizes[1]) + c1) * sizes[2] + c2 ...: the row-major position.
mlir::AffineExpr linearize(mlir::MLIRContext *context, llvm::ArrayRef<mlir::AffineExpr> coordinates,
                           llvm::ArrayRef<mlir::AffineExpr> sizes);

/// The coordinates, in a tensor of `sizes`, of the element at `position`.
Exprs delinearize(mlir::AffineExpr position, llvm::ArrayRef<mlir::AffineExpr> sizes);

/// The product of `sizes`; 1 if there are none.
mlir::AffineExpr product(mlir::MLIRContext *context, llvm::ArrayRef<mlir::AffineExpr> sizes);

/// d0, d1, ..., of `count` loops from `first` on.
Exprs loopExprs(mlir::MLIRContext *context, unsigned count, unsigned first = 0);

struct Access {
  unsigned buffer;                                // arguments of the kernel, then its results
  Exprs sizes;                                    // of the buffer
  Exprs coordinates;                              // of loops, then of `indices` index values
  llvm::SmallVector<mlir::AffineExpr> indexSizes; // what each index value is below
};

enum class LoopKind { Parallel, Reduction, Row, Column };

struct Loop {
  mlir::AffineExpr size;
  LoopKind kind;
};

/// Consecutive dimensions of a buffer that are addressed as one: counts that sum to its rank.
using DimGroups = llvm::SmallVector<unsigned>;

/// Coordinates and sizes after merging.
struct MergedCoordinates {
  Exprs sizes, coordinates;
};
/// Merges the dimensions of each group into one.
MergedCoordinates mergeDims(IndexAlgebra &algebra, llvm::ArrayRef<mlir::AffineExpr> sizes,
                            llvm::ArrayRef<mlir::AffineExpr> coordinates, const DimGroups &groups);

/// The loops of a kernel and everything that is written in them.
class LoopNest {
public:
  LoopNest(mlir::MLIRContext *context, llvm::SmallVector<Loop> loops, llvm::ArrayRef<int64_t> mayBeZero = {})
      : context(context), loops(std::move(loops)), mayBeZero(mayBeZero) {}

  mlir::MLIRContext *context;
  llvm::SmallVector<Loop> loops;
  llvm::SmallVector<Access> accesses;
  llvm::SmallVector<Exprs> tracked;     // other coordinates that follow every transformation
  llvm::SmallVector<int64_t> mayBeZero; // symbols; all others are at least 1

  /// An algebra that knows the sizes of the loops, and behind them those of index values.
  IndexAlgebra algebra(llvm::ArrayRef<mlir::AffineExpr> indexSizes = {}) const;

  /// Splits loops that accesses divide, until none does.
  void splitLoops();
  /// Splits `loop` in two: the inner one has the kind `inner` and the size `divisor`, which must divide that of `loop`.
  void splitLoop(unsigned loop, mlir::AffineExpr divisor, LoopKind inner);
  /// Collapses neighbouring loops of one kind wherever that adds no divisions to accesses, and those of a kind in
  /// `forced` always.
  void collapseLoops(llvm::ArrayRef<LoopKind> forced = {});
  /// Puts loop `order[i]` at place i.
  void reorderLoops(llvm::ArrayRef<unsigned> order);
  /// Replaces the loops: what was d<i> becomes replacement[i], written in the new loops.
  void substitute(llvm::ArrayRef<mlir::AffineExpr> replacement, llvm::SmallVector<Loop> newLoops);
  /// For each of `buffers` buffers, the dimensions that its accesses should address as one.
  llvm::SmallVector<DimGroups> groupBufferDims(unsigned buffers) const;

private:
  bool splitOne();
  bool collapseOne(llvm::ArrayRef<LoopKind> forced);
  unsigned cost() const;
};

} // namespace tilewright::tilegen
