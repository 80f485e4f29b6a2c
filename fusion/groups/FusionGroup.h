// SPDX-License-Identifier: Apache-2.0
// Groups of operations of @main, and the graph that they form.
//
// At first every operation is a group of its own. Then groups merge along edges from producers to consumers. The graph
// stays acyclic because every merge is convex: no path leaves the two groups and comes back.
#pragma once

#include "fusion/FusionMode.h"
#include "fusion/Geometry.h"
#include "fusion/groups/GroupOrder.h"
#include "fusion/groups/LateSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <vector>

namespace tilewright::fusion {

struct Group : Ordered {
  llvm::SmallVector<mlir::Operation *> ops; // in program order
  Geometry geometry;
  llvm::SmallVector<llvm::StringRef, 1> rules; // that formed it, in the order of their first application
  bool onHost = false;                         // data-dependent: never merges
  unsigned work = 0;                           // for one element, in additions
  unsigned version = 0;                        // incremented by each change of `ops`
  std::optional<Reason> notInParts;            // why splitProduct refused a product of which the group reads parts

  /// Notes that a rule has added to the group, if none of `rules` is the same.
  void addRule(llvm::StringRef rule);
  /// Whether the group is a single reshape, which costs nothing between kernels: the same memory with another shape.
  bool isView() const;
  /// The ONNX nodes that the group computes, in program order.
  llvm::SmallVector<int64_t> nodes() const;
};

/// `user`, an operation of `consumer`, reads `value`, a result of `producer`.
struct Edge {
  Group *producer;
  Group *consumer;
  mlir::Value value;
  mlir::Operation *user;
};

class GroupGraph {
public:
  GroupGraph(mlir::func::FuncOp main, Machine machine);

  /// The group of an operation; null for constants, sizes and the terminator.
  Group *groupOf(mlir::Operation *op) const { return owners.lookup(op); }
  Group *groupOf(mlir::Value value) const { return value.getDefiningOp() ? groupOf(value.getDefiningOp()) : nullptr; }

  /// All groups in a topological order. A group that needs a size comes after the group that binds it. Ties are in
  /// program order.
  llvm::SmallVector<Group *> inOrder() const;
  /// All operations of groups, in program order.
  llvm::SmallVector<mlir::Operation *> operations() const;

  /// The operations of both groups, in program order.
  static llvm::SmallVector<mlir::Operation *> united(const Group &a, const Group &b);
  /// True if a path leads from `from` to `to` through a third group. Also true if the search takes too long.
  bool pathAround(const Group &from, const Group &to) const;

  /// Moves the operations of `from` into `into`, whose geometry becomes `geometry`.
  void merge(Group &into, Group &from, Geometry geometry);
  /// The same for a union that consists of `ops`, in program order: other operations stand in it for those of both
  /// groups that are `replaced`. Erases the latter.
  void replaceAndMerge(Group &into, Group &from, llvm::ArrayRef<mlir::Operation *> ops,
                       llvm::ArrayRef<mlir::Operation *> replaced, Geometry geometry);
  /// Copies `op`, the only operation of its group, and lets `uses` read the copy, which becomes a group of its own.
  mlir::Operation *copyFor(mlir::Operation *op, llvm::ArrayRef<mlir::OpOperand *> uses);
  /// Erases an operation of a larger group that nothing reads any more.
  void eraseUnused(mlir::Operation *op);
  /// Reverts copyFor.
  void dropCopy(mlir::Operation *copy, mlir::Operation *original);
  /// Moves `op` out of its group into one of its own, and updates the outputs of the rest. False if the rest cannot be
  /// a kernel.
  bool release(mlir::Operation *op);

  mlir::func::FuncOp main() const { return function; }
  Machine machine() const { return target; }

private:
  /// Creates a group for `op`, ordered after `anchor`.
  void createGroup(mlir::Operation *op, Ordered *anchor);
  /// The groups that `op` depends on: they compute its operands or bind its sizes. Null for operations that are in no
  /// group.
  llvm::SmallVector<Group *> sourcesOf(mlir::Operation *op) const;
  bool readsOthers(const Group &group, const Group &producer) const;
  bool isReadByOthers(const Group &group, const Group &consumer) const;
  std::optional<llvm::SmallVector<Group *>> neededBetween(const Group &from, const Group &to) const;
  void orderUnion(Group &into, Group &from);

  mlir::func::FuncOp function;
  Machine target;
  LateSizes lateSizes;
  GroupOrder order;
  std::vector<std::unique_ptr<Group>> groups;
  llvm::DenseMap<mlir::Operation *, Group *> owners;
};

} // namespace tilewright::fusion
