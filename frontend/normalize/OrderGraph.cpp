// SPDX-License-Identifier: Apache-2.0
// Orders a graph by its structure alone, so that equal graphs get the same order whatever their names and file order.
//
// Every operation gets a rank: a hash of the operation and of the ranks of its operands. Operands of commutative
// operations are ordered by rank, and operations depth first from the function's results. The order is therefore
// independent of names, of the topological order in the file, of identities and of swapped operands.
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Rebuild.h"

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SetVector.h"

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

/// The attributes of an operation without its ONNX node. The dictionary with the node is never built here, because
/// there would be a different one for each node, which stays in the context.
DictionaryAttr meaning(Operation *op) {
  NamedAttrList attributes;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName() != graph::nodeAttr && attribute.getName() != graph::nodesOfAttr)
      attributes.push_back(attribute);
  op->getName().populateInherentAttrs(op, attributes);
  return attributes.getDictionary(op->getContext());
}

/// Values that depend on contractions or reductions come first, those that depend on constants only come last. Then the
/// hash decides.
struct Rank {
  enum Kind { Looped, Plain, Constant } kind;
  uint64_t hash;
  auto operator<=>(const Rank &) const = default;
};

} // namespace

uint64_t TextHashes::of(Type type) {
  auto [it, isNew] = types.try_emplace(type);
  if (isNew) {
    std::string text = printed(TypeAttr::get(type));
    it->second = XXH3_64bits(text.data(), text.size());
  }
  return it->second;
}

uint64_t TextHashes::of(Operation *op) {
  DictionaryAttr attributes = meaning(op);
  std::vector<const void *> key = {op->getName().getAsOpaquePointer(), attributes.getAsOpaquePointer()};
  for (Type type : op->getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  auto [it, isNew] = operations.try_emplace(std::move(key));
  if (isNew) {
    std::string text = op->getName().getStringRef().str() + printed(attributes);
    for (Type type : op->getResultTypes())
      text += printed(TypeAttr::get(type));
    it->second = XXH3_64bits(text.data(), text.size());
  }
  return it->second;
}

namespace {
class Ranks {
public:
  /// `outside` ranks values that are not results of added operations.
  Ranks(TextHashes &hashes, llvm::function_ref<Rank(Value)> outside) : hashes(hashes), outside(outside) {}

  Rank of(Value value) {
    Operation *op = value.getDefiningOp();
    auto it = ops.find(op);
    if (!op || it == ops.end())
      return outside(value);
    return {it->second.kind, it->second.hash * 31 + cast<OpResult>(value).getResultNumber()};
  }

  void orderOperands(Operation *op) {
    if (op->hasTrait<OpTrait::IsCommutative>() && op->getNumOperands() == 2 &&
        of(op->getOperand(1)) < of(op->getOperand(0)))
      op->setOperands({op->getOperand(1), op->getOperand(0)});
  }

  /// Ranks an operation whose operands are in order.
  void add(Operation *op) {
    SmallVector<uint64_t> parts = {hashes.of(op)};
    Rank::Kind kind = isa<graph::ContractOp, graph::ReduceOp>(op) ? Rank::Looped : Rank::Constant;
    for (Value operand : op->getOperands()) {
      Rank rank = of(operand);
      parts.push_back(rank.hash);
      kind = std::min(kind, rank.kind);
    }
    ops[op] = {kind, XXH3_64bits(parts.data(), parts.size() * sizeof(uint64_t))};
  }

private:
  TextHashes &hashes;
  llvm::function_ref<Rank(Value)> outside;
  llvm::SmallDenseMap<Operation *, Rank, 8> ops;
};

/// Collects what operations depend on, operands first.
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
  auto byPosition = [](Value value) { return Rank{Rank::Plain, cast<BlockArgument>(value).getArgNumber() + 1}; };
  TextHashes hashes;
  Ranks ranks(hashes, byPosition);
  for (Operation &op : body.without_terminator()) {
    ranks.orderOperands(&op);
    ranks.add(&op);
  }
  DepthFirst walk;
  for (auto read : body.getOps<graph::ReadSizesOp>()) // they have no uses, but others need the sizes they bind
    walk.visit(read);
  walk.visit(body.getTerminator());
  for (Operation &op : body) // operations with side effects that no result depends on
    walk.visit(&op);
  Operation *terminator = body.getTerminator();
  for (Operation *op : walk.order)
    if (op != terminator)
      op->moveBefore(terminator);
}

void normalize::orderOperands(ArrayRef<Operation *> ops, TextHashes &hashes) {
  auto byType = [&](Value value) {
    return Rank{value.getDefiningOp<graph::ConstantOp>() ? Rank::Constant : Rank::Plain, hashes.of(value.getType())};
  };
  Ranks ranks(hashes, byType);
  for (Operation *op : ops) {
    ranks.orderOperands(op);
    if (op != ops.back()) // no other operation reads the last one, so it needs no rank
      ranks.add(op);
  }
}

SmallVector<int64_t> normalize::nodesOf(Operation *op) {
  if (auto nodes = dyn_cast_or_null<DenseI64ArrayAttr>(op->getDiscardableAttr(graph::nodesOfAttr)))
    return llvm::to_vector(nodes.asArrayRef());
  if (auto node = dyn_cast_or_null<IntegerAttr>(op->getDiscardableAttr(graph::nodeAttr)))
    return {node.getInt()};
  return {};
}

namespace {
/// The ONNX nodes of operations that were merged with others.
class SharedNodes {
public:
  void add(Operation *kept, Operation *gone) {
    auto [it, isNew] = shared.try_emplace(kept);
    if (isNew)
      it->second.insert_range(nodesOf(kept));
    it->second.insert_range(nodesOf(gone));
    shared.erase(gone);
  }
  ~SharedNodes() {
    for (auto &[op, nodes] : shared)
      if (nodes.size() > 1)
        op->setAttr(graph::nodesOfAttr, DenseI64ArrayAttr::get(op->getContext(), nodes.getArrayRef()));
  }

private:
  llvm::DenseMap<Operation *, llvm::SetVector<int64_t>> shared;
};
} // namespace

void normalize::shareEqual(Block &block, Sharing sharing) {
  std::map<std::vector<const void *>, Operation *> first; // equal attributes and types are one object
  SharedNodes shared;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (!isMemoryEffectFree(&op) || op.getNumRegions())
      continue;
    bool anyNode =
        sharing == Sharing::All || isa<graph::ReshapeOp, graph::ConstantOp, graph::DimsOp, arith::ConstantOp>(op);
    std::vector<const void *> key = {op.getName().getAsOpaquePointer(), meaning(&op).getAsOpaquePointer(),
                                     op.getResult(0).getType().getAsOpaquePointer()};
    if (!anyNode)
      for (StringRef nodes : {graph::nodeAttr, graph::nodesOfAttr})
        key.push_back(op.getDiscardableAttr(nodes).getAsOpaquePointer());
    for (Value operand : op.getOperands())
      key.push_back(operand.getAsOpaquePointer());
    auto [it, isNew] = first.try_emplace(std::move(key), &op);
    if (isNew)
      continue;
    shared.add(it->second, &op);
    op.replaceAllUsesWith(it->second->getResults());
    op.erase();
  }
}
