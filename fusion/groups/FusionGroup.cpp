// SPDX-License-Identifier: Apache-2.0
// Membership, order, convexity and merging of groups.
#include "fusion/groups/FusionGroup.h"

#include "fusion/cost/CostModel.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Patterns.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

static bool inProgramOrder(Operation *a, Operation *b) { return a->isBeforeInBlock(b); }

GroupGraph::GroupGraph(func::FuncOp main, Machine machine) : function(main), target(machine), lateSizes(main) {
  Group *last = nullptr;
  for (Operation &op : main.front().without_terminator())
    if (!isConstantLike(&op)) {
      createGroup(&op, last);
      last = groups.back().get();
    }
}

void GroupGraph::createGroup(Operation *op, Ordered *anchor) {
  auto group = std::make_unique<Group>();
  group->ops = {op};
  group->work = elementWork(op);
  GeometryOrRefusal geometry = analyze(group->ops);
  if (auto *legal = std::get_if<Geometry>(&geometry))
    group->geometry = std::move(*legal);
  else
    group->onHost = true;
  owners[op] = group.get();
  order.insertAfter(anchor, *group);
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

SmallVector<Group *> GroupGraph::sourcesOf(Operation *op) const {
  SmallVector<Group *> sources;
  for (Value operand : op->getOperands())
    sources.push_back(groupOf(operand));
  for (Operation *call : lateSizes.bindersOf(op))
    sources.push_back(groupOf(call));
  return sources;
}

/// True if `group` reads values of groups other than `producer`.
bool GroupGraph::readsOthers(const Group &group, const Group &producer) const {
  for (Operation *op : group.ops)
    for (Group *other : sourcesOf(op))
      if (other && other != &group && other != &producer)
        return true;
  return false;
}

/// True if groups other than `consumer` read values of `group`.
bool GroupGraph::isReadByOthers(const Group &group, const Group &consumer) const {
  auto isOther = [&](Operation *reader) {
    Group *other = groupOf(reader);
    return other && other != &group && other != &consumer;
  };
  return llvm::any_of(group.ops, [&](Operation *op) {
    return llvm::any_of(op->getUsers(), isOther) || llvm::any_of(lateSizes.waitingFor(op), isOther);
  });
}

/// How many operands a search for a path may visit. Groups further apart are not worth the compile time.
static constexpr unsigned longestSearch = 2000;

/// The groups that `to` depends on and that are ordered behind `from`. nullopt if one of them depends on `from`, or if
/// the search is too long. The search goes from readers to producers, since an operation has few operands, but a value
/// any number of readers.
std::optional<SmallVector<Group *>> GroupGraph::neededBetween(const Group &from, const Group &to) const {
  llvm::SmallSetVector<Group *, 16> needed;
  unsigned looked = 0;
  auto addSources = [&](const Group &group) {
    for (Operation *op : group.ops)
      for (Group *source : sourcesOf(op)) {
        if (++looked > longestSearch || (source == &from && &group != &to))
          return false;
        if (source && source != &group && source != &from && GroupOrder::isBefore(from, *source))
          needed.insert(source);
      }
    return true;
  };
  if (!addSources(to))
    return std::nullopt;
  for (size_t i = 0; i < needed.size(); ++i)
    if (!addSources(*needed[i]))
      return std::nullopt;
  return SmallVector<Group *>(needed.takeVector());
}

bool GroupGraph::pathAround(const Group &from, const Group &to) const {
  return GroupOrder::isBefore(from, to) && readsOthers(to, from) && isReadByOthers(from, to) &&
         !neededBetween(from, to);
}

/// Before `into` takes in `from`: moves it to a position behind everything that either of them reads and in front of
/// everything that reads either of them, and removes `from` from the order.
void GroupGraph::orderUnion(Group &into, Group &from) {
  bool fromIsFirst = GroupOrder::isBefore(from, into);
  Group &first = fromIsFirst ? from : into, &last = fromIsFirst ? into : from;
  Group *anchor = &last;
  if (!isReadByOthers(first, last)) {
    // Nothing in between reads the first, so the position of the last is right.
  } else if (!readsOthers(last, first)) {
    anchor = &first;
  } else if (auto between = neededBetween(first, last)) { // move what the last reads in front of the first
    llvm::sort(*between, [](const Group *a, const Group *b) { return GroupOrder::isBefore(*a, *b); });
    for (Group *moved : *between) {
      order.erase(*moved);
      order.insertAfter(first.before, *moved);
    }
    anchor = &first;
  }
  if (anchor != &into) {
    order.erase(into);
    order.insertAfter(anchor, into);
  }
  order.erase(from);
}

void GroupGraph::merge(Group &into, Group &from, Geometry geometry) {
  orderUnion(into, from);
  into.ops = united(into, from);
  into.geometry = std::move(geometry);
  for (StringRef rule : from.rules)
    into.addRule(rule);
  into.work += from.work;
  ++into.version;
  for (Operation *op : from.ops)
    owners[op] = &into;
  from.ops.clear();
}

void GroupGraph::replaceAndMerge(Group &into, Group &from, ArrayRef<Operation *> ops, ArrayRef<Operation *> replaced,
                                 Geometry geometry) {
  merge(into, from, std::move(geometry));
  into.ops = llvm::to_vector(ops);
  into.work = 0;
  for (Operation *op : ops) {
    owners[op] = &into;
    into.work += elementWork(op);
  }
  for (Operation *op : llvm::reverse(replaced)) {
    owners.erase(op);
    lateSizes.drop(op);
    op->erase();
  }
}

Operation *GroupGraph::copyFor(Operation *op, ArrayRef<OpOperand *> uses) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op);
  for (OpOperand *use : uses)
    use->set(copy->getResult(0));
  lateSizes.addCopy(op, copy);
  createGroup(copy, groupOf(op));
  return copy;
}

void GroupGraph::eraseUnused(Operation *op) {
  Group &group = *groupOf(op);
  llvm::erase(group.ops, op);
  group.work -= elementWork(op);
  ++group.version;
  owners.erase(op);
  lateSizes.drop(op);
  op->erase();
}

void GroupGraph::dropCopy(Operation *copy, Operation *original) {
  copy->replaceAllUsesWith(original);
  Group &group = *groupOf(copy);
  group.ops.clear();
  order.erase(group);
  owners.erase(copy);
  lateSizes.drop(copy);
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
  group.work -= elementWork(op);
  ++group.version;
  bool isRead = llvm::any_of(op->getUsers(), [&](Operation *user) { return groupOf(user) == &group; });
  createGroup(op, isRead ? group.before : &group);
  return true;
}

void Group::addRule(StringRef rule) {
  if (!llvm::is_contained(rules, rule))
    rules.push_back(rule);
}

SmallVector<int64_t> Group::nodes() const {
  if (ops.size() == 1)
    return normalize::nodesOf(ops.front());
  // An operation shared by several nodes (a scalar, a cast) counts only if the group computes none of these otherwise.
  llvm::SmallSetVector<int64_t, 8> own;
  for (Operation *op : ops)
    if (SmallVector<int64_t> nodes = normalize::nodesOf(op); nodes.size() == 1)
      own.insert(nodes.front());
  for (Operation *op : ops)
    if (SmallVector<int64_t> nodes = normalize::nodesOf(op);
        llvm::none_of(nodes, [&](int64_t node) { return own.contains(node); }))
      own.insert(nodes.begin(), nodes.end());
  return SmallVector<int64_t>(own.takeVector());
}

bool Group::isView() const { return ops.size() == 1 && isa<graph::ReshapeOp>(ops.front()); }

namespace {
/// The state of the walk in a group.
struct Visit {
  Group *group;
  unsigned op = 0;                // the next operation
  SmallVector<Group *> open = {}; // what the last operation depends on and is not visited yet, in reverse order
};
} // namespace

/// Depth first along dependences, so that producers come before their readers.
SmallVector<Group *> GroupGraph::inOrder() const {
  SmallVector<Group *> order;
  llvm::DenseSet<Group *> done;
  SmallVector<Visit> stack;
  auto enter = [&](Group *group) {
    if (group && done.insert(group).second)
      stack.push_back({group});
  };
  for (Operation &op : main().front()) {
    enter(groupOf(&op));
    while (!stack.empty()) {
      Visit &visit = stack.back();
      if (!visit.open.empty()) {
        enter(visit.open.pop_back_val());
      } else if (visit.op < visit.group->ops.size()) {
        visit.open = sourcesOf(visit.group->ops[visit.op++]);
        std::reverse(visit.open.begin(), visit.open.end());
      } else {
        order.push_back(visit.group);
        stack.pop_back();
      }
    }
  }
  return order;
}
