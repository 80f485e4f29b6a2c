// Groups of operations: membership, order, convexity, merging.
#include "fusion/FusionGroup.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Patterns.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

static bool inProgramOrder(Operation *a, Operation *b) { return a->isBeforeInBlock(b); }

GroupGraph::GroupGraph(func::FuncOp main) : function(main) {
  for (Operation &op : main.front().without_terminator())
    if (!isConstantLike(&op))
      own(&op);
}

void GroupGraph::own(Operation *op) {
  auto group = std::make_unique<Group>();
  group->ops = {op};
  GeometryOrRefusal geometry = analyze(group->ops);
  if (auto *legal = std::get_if<Geometry>(&geometry))
    group->geometry = std::move(*legal);
  else
    group->onHost = true;
  owners[op] = group.get();
  groups.push_back(std::move(group));
}

SmallVector<Operation *> GroupGraph::operations() const {
  SmallVector<Operation *> ops;
  for (Operation &op : main().front())
    if (owners.contains(&op))
      ops.push_back(&op);
  return ops;
}

SmallVector<Operation *> GroupGraph::united(const Group &a, const Group &b) {
  SmallVector<Operation *> ops(a.ops.size() + b.ops.size());
  std::merge(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(), ops.begin(), inProgramOrder);
  return ops;
}

llvm::SetVector<Group *> GroupGraph::consumersOf(const Group &group) const {
  llvm::SetVector<Group *> consumers;
  for (Operation *op : group.ops)
    for (Operation *user : op->getUsers())
      if (Group *consumer = groupOf(user); consumer && consumer != &group)
        consumers.insert(consumer);
  return consumers;
}

/// True if `group` reads values of groups other than `producer`.
bool GroupGraph::readsOthers(const Group &group, const Group &producer) const {
  for (Operation *op : group.ops)
    for (Value operand : op->getOperands())
      if (Group *other = groupOf(operand); other && other != &group && other != &producer)
        return true;
  return false;
}

bool GroupGraph::pathAround(const Group &from, const Group &to) const {
  llvm::SetVector<Group *> reached = consumersOf(from);
  reached.remove(const_cast<Group *>(&to));
  if (reached.empty() || !readsOthers(to, from))
    return false;
  for (size_t i = 0; i < reached.size(); ++i)
    for (Group *next : consumersOf(*reached[i])) {
      if (next == &to)
        return true;
      reached.insert(next);
    }
  return false;
}

void GroupGraph::merge(Group &into, Group &from, Geometry geometry) {
  into.ops = united(into, from);
  into.geometry = std::move(geometry);
  into.rules.insert_range(from.rules);
  for (Operation *op : from.ops)
    owners[op] = &into;
  from.ops.clear();
}

Operation *GroupGraph::copyFor(Operation *op, Group &consumer) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op);
  op->getResult(0).replaceUsesWithIf(copy->getResult(0), [&](OpOperand &use) { return groupOf(use.getOwner()) == &consumer; });
  own(copy);
  return copy;
}

void GroupGraph::dropCopy(Operation *copy, Operation *original) {
  copy->replaceAllUsesWith(original);
  std::erase_if(groups, [&](const std::unique_ptr<Group> &group) { return group.get() == groupOf(copy); });
  owners.erase(copy);
  copy->erase();
}

bool GroupGraph::release(Operation *op) {
  Group &group = *groupOf(op);
  SmallVector<Operation *> rest = group.ops;
  llvm::erase(rest, op);
  GeometryOrRefusal geometry = analyze(rest);
  auto *legal = std::get_if<Geometry>(&geometry);
  if (!legal)
    return false;
  group.ops = std::move(rest);
  group.geometry = std::move(*legal);
  own(op);
  return true;
}

SmallVector<int64_t> Group::nodes() const {
  // What was shared between nodes (a scalar, a cast) counts for those that the group works for anyway.
  llvm::SetVector<int64_t> own;
  for (Operation *op : ops)
    if (SmallVector<int64_t> nodes = normalize::nodesOf(op); nodes.size() == 1)
      own.insert(nodes.front());
  for (Operation *op : ops)
    if (SmallVector<int64_t> nodes = normalize::nodesOf(op); llvm::none_of(nodes, [&](int64_t node) { return own.contains(node); }))
      own.insert(nodes.begin(), nodes.end());
  return own.takeVector();
}

bool Group::isView() const { return ops.size() == 1 && isa<graph::ReshapeOp>(ops.front()); }

/// Depth first over what each group reads: producers come out before their readers.
SmallVector<Group *> GroupGraph::inOrder() const {
  SmallVector<Group *> order;
  llvm::DenseSet<Group *> done;
  std::function<void(Group *)> visit = [&](Group *group) {
    if (!done.insert(group).second)
      return;
    for (Operation *op : group->ops)
      for (Value operand : op->getOperands())
        if (Group *producer = groupOf(operand))
          visit(producer);
    order.push_back(group);
  };
  for (Operation &op : main().front())
    if (Group *group = groupOf(&op))
      visit(group);
  return order;
}
