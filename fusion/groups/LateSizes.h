// Sizes that only a host call tells, and the operations that need them without reading what the call returns.
//
// A `graph.dims` of a late size, or an iota or a broadcast over one, reads no value of the host call that binds the
// size's symbol. Groups must stay in an order in which the call comes first, so for them these operations depend on it
// as if they read it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tilewright::fusion {

class LateSizes {
public:
  /// Moves operations of `main` behind the host calls that they wait for: until now nothing asked for more than
  /// operands in front.
  explicit LateSizes(mlir::func::FuncOp main);

  /// The host calls that bind sizes that `op` needs and that none of its operands has, each once.
  llvm::ArrayRef<mlir::Operation *> bindersOf(mlir::Operation *op) const { return list(binders, op); }
  /// The other way round: the operations that wait for `call`.
  llvm::ArrayRef<mlir::Operation *> waitingFor(mlir::Operation *call) const { return list(waiting, call); }

  void addCopy(mlir::Operation *op, mlir::Operation *copy);
  void drop(mlir::Operation *op);

private:
  void placeBehindBinders(mlir::Block &block);

  using Lists = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 2>>;
  static llvm::ArrayRef<mlir::Operation *> list(const Lists &lists, mlir::Operation *op) {
    auto found = lists.find(op);
    return found == lists.end() ? llvm::ArrayRef<mlir::Operation *>() : found->second;
  }

  Lists binders, waiting;
};

} // namespace tilewright::fusion
