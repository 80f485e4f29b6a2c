// SPDX-License-Identifier: Apache-2.0
// Sizes that a host call or read_sizes binds at run time, and operations that need them without reading its results.
//
// A graph.dims of such a size, or an iota or broadcast of such a size, has no operand that is a result of the call that
// binds the symbol. The call must still come first, so groups treat these operations as if they read its result.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright::fusion {

class LateSizes {
public:
  /// Moves operations of `main` behind the calls that bind their sizes.
  explicit LateSizes(mlir::func::FuncOp main);

  /// The calls that bind sizes that `op` needs and that are not sizes of its operands.
  llvm::ArrayRef<mlir::Operation *> bindersOf(mlir::Operation *op) const { return list(binders, op); }
  /// The reverse: the operations that wait for `call`.
  llvm::ArrayRef<mlir::Operation *> waitingFor(mlir::Operation *call) const { return list(waiting, call); }

  /// Lets `copy` wait for what `op` waits for.
  void addCopy(mlir::Operation *op, mlir::Operation *copy);
  /// Lets `op` wait for nothing any more.
  void drop(mlir::Operation *op);

private:
  void moveBehindBinders(mlir::Block &block);

  using Lists = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 2>>;
  static llvm::ArrayRef<mlir::Operation *> list(const Lists &lists, mlir::Operation *op) {
    auto found = lists.find(op);
    return found == lists.end() ? llvm::ArrayRef<mlir::Operation *>() : found->second;
  }

  Lists binders, waiting;
};

} // namespace tilewright::fusion
