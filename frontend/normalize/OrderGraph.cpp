// One order for graphs that are the same: by structure, not by names or by the file.
//
// Every operation has a hash of what it is and of what it is computed from. Operands of commutative operations stand in the order of their
// hashes, constants last; operations stand depth first from the function's results, operands in order. Both survive renaming, another topological
// order, identities and swapped operands.
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Rebuild.h"

#include "mlir/IR/OpDefinition.h"

#include <xxhash.h>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {

std::string printed(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// What an operation is, but for its place in the model.
DictionaryAttr meaning(Operation *op) {
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != graph::nodeAttr)
      attributes.push_back(attribute);
  return DictionaryAttr::get(op->getContext(), attributes);
}

/// Values computed from inputs come before those computed from constants alone; among equals the hash decides.
struct Rank {
  bool constant;
  uint64_t hash;
  auto operator<=>(const Rank &) const = default;
};

class Ranks {
public:
  Rank of(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return {false, argument.getArgNumber() + 1};
    Rank rank = ops.lookup(value.getDefiningOp());
    return {rank.constant, rank.hash * 31 + cast<OpResult>(value).getResultNumber()};
  }

  void add(Operation *op) {
    std::string text = op->getName().getStringRef().str() + printed(meaning(op));
    for (Type type : op->getResultTypes())
      text += printed(TypeAttr::get(type));
    SmallVector<uint64_t> parts = {XXH3_64bits(text.data(), text.size())};
    bool constant = true;
    for (Value operand : op->getOperands()) {
      Rank rank = of(operand);
      parts.push_back(rank.hash);
      constant &= rank.constant;
    }
    ops[op] = {constant, XXH3_64bits(parts.data(), parts.size() * sizeof(uint64_t))};
  }

private:
  llvm::DenseMap<Operation *, Rank> ops;
};

/// Operations that `roots` need, operands first.
class DepthFirst {
public:
  void visit(Operation *root) {
    SmallVector<std::pair<Operation *, unsigned>> stack = {{root, 0}};
    if (!seen.insert(root).second)
      return;
    while (!stack.empty()) {
      auto &[op, next] = stack.back();
      if (next == op->getNumOperands()) {
        order.push_back(op);
        stack.pop_back();
        continue;
      }
      Operation *producer = op->getOperand(next++).getDefiningOp();
      if (producer && seen.insert(producer).second)
        stack.push_back({producer, 0});
    }
  }

  SmallVector<Operation *> order;

private:
  llvm::DenseSet<Operation *> seen;
};

} // namespace

void normalize::orderGraph(func::FuncOp function) {
  Block &body = function.front();
  Ranks ranks;
  for (Operation &op : body.without_terminator()) {
    if (op.hasTrait<OpTrait::IsCommutative>() && op.getNumOperands() == 2 && ranks.of(op.getOperand(1)) < ranks.of(op.getOperand(0)))
      op.setOperands({op.getOperand(1), op.getOperand(0)});
    ranks.add(&op);
  }
  DepthFirst walk;
  walk.visit(body.getTerminator());
  for (Operation &op : body) // what no result needs but cannot be left out
    walk.visit(&op);
  Operation *terminator = body.getTerminator();
  for (Operation *op : walk.order)
    if (op != terminator)
      op->moveBefore(terminator);
}

void normalize::shareEqual(func::FuncOp function, Sharing sharing) {
  std::map<std::pair<std::string, std::vector<const void *>>, Operation *> first;
  for (Operation &op : llvm::make_early_inc_range(function.front().without_terminator())) {
    if (!isMemoryEffectFree(&op) || op.getNumRegions())
      continue;
    bool anyNode = sharing == Sharing::All || isa<graph::ReshapeOp, graph::ConstantOp, graph::DimsOp, arith::ConstantOp>(op);
    std::string text = op.getName().getStringRef().str() + printed(anyNode ? meaning(&op) : op.getAttrDictionary());
    std::vector<const void *> key = {op.getResult(0).getType().getAsOpaquePointer()};
    for (Value operand : op.getOperands())
      key.push_back(operand.getAsOpaquePointer());
    auto [it, isNew] = first.try_emplace({std::move(text), std::move(key)}, &op);
    if (isNew)
      continue;
    op.replaceAllUsesWith(it->second->getResults());
    op.erase();
  }
}
