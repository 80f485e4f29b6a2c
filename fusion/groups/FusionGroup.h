// Groups of @main's operations, and the graph that they form.
//
// In the beginning every operation is a group of its own. Groups only ever merge, along an edge from producer to
// consumer, so the graph of groups stays acyclic as long as each merge is convex: no path may leave the pair and come
// back.
#pragma once

#include "fusion/Geometry.h"
#include "fusion/groups/GroupOrder.h"
#include "fusion/groups/LateSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

#include <memory>
#include <vector>

namespace tilewright::fusion {

struct Group {
  llvm::SmallVector<mlir::Operation *> ops; // in program order
  Geometry geometry;
  llvm::SetVector<llvm::StringRef> rules; // by which it grew, in the order in which each was first applied
  bool onHost = false;                    // data-dependent: never merges
  unsigned work = 0;                      // of one element, in additions
  unsigned version = 0;                   // grows with each change of `ops`
  OrderPlace place;

  /// A reshape alone: between kernels it is the same memory under another shape, and no work.
  bool isView() const;
  /// The ONNX nodes whose work the group does, in program order.
  llvm::SmallVector<int64_t> nodes() const;
};

/// A value of `producer` that `user`, an operation of `consumer`, reads.
struct Edge {
  Group *producer;
  Group *consumer;
  mlir::Value value;
  mlir::Operation *user;
};

class GroupGraph {
public:
  explicit GroupGraph(mlir::func::FuncOp main);

  /// The group of `op`; null for constants, sizes and the terminator.
  Group *groupOf(mlir::Operation *op) const { return owners.lookup(op); }
  Group *groupOf(mlir::Value value) const { return value.getDefiningOp() ? groupOf(value.getDefiningOp()) : nullptr; }

  /// All groups, each before those that read its values or wait for sizes that it binds (ties in program order).
  llvm::SmallVector<Group *> inOrder() const;
  /// Every operation that belongs to a group, in program order.
  llvm::SmallVector<mlir::Operation *> operations() const;

  /// The members of both, in program order.
  static llvm::SmallVector<mlir::Operation *> united(const Group &a, const Group &b);
  /// True if some path leads from `from` to `to` through a third group, or if that takes too long to find out.
  bool pathAround(const Group &from, const Group &to) const;

  /// Moves everything of `from` into `into`, which then has `geometry`.
  void merge(Group &into, Group &from, Geometry geometry);
  /// Copies `op`, a group of its own, for some of its uses; the copy is a group of its own.
  mlir::Operation *copyFor(mlir::Operation *op, llvm::ArrayRef<mlir::OpOperand *> uses);
  /// Undoes copyFor.
  void dropCopy(mlir::Operation *copy, mlir::Operation *original);
  /// Takes `op` out of its group: it is a group of its own again, and the rest gets new outputs. False if the rest
  /// could not be a kernel.
  bool release(mlir::Operation *op);

  mlir::func::FuncOp main() const { return function; }

private:
  /// Makes `op` a group of its own, placed behind `anchor`.
  void own(mlir::Operation *op, Group *anchor);
  /// Where `op` depends on: what computes its operands, and the host calls that bind its sizes; and what depends on it.
  /// With null for what is in no group.
  llvm::SmallVector<Group *> sourcesOf(mlir::Operation *op) const;
  llvm::SmallVector<Group *> readersOf(mlir::Operation *op) const;
  bool readsOthers(const Group &group, const Group &producer) const;
  bool isReadByOthers(const Group &group, const Group &consumer) const;
  std::optional<llvm::SmallVector<Group *>> reachedBetween(const Group &from, const Group &to) const;
  void placeUnion(Group &into, Group &from);

  mlir::func::FuncOp function;
  LateSizes lateSizes;
  GroupOrder order;
  std::vector<std::unique_ptr<Group>> groups;
  llvm::DenseMap<mlir::Operation *, Group *> owners;
};

} // namespace tilewright::fusion
