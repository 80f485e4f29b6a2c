// SPDX-License-Identifier: Apache-2.0
// Finds the operation that binds each symbol, and the operations that need it.
#include "fusion/groups/LateSizes.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/SizeDefinition.h"
#include "frontend/graph/Sizes.h"

#include "llvm/ADT/SmallSet.h"

#include <map>
#include <queue>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {
using Symbols = llvm::SmallSet<unsigned, 4>;

/// Collects the symbols of expressions and types. A defined symbol is replaced by those it is computed from.
class SymbolReader {
public:
  explicit SymbolReader(Operation *module) {
    for (const graph::SizeDefinition &definition : graph::definitionsOf(module)) { // each after those it needs
      Symbols &symbols = defined[definition.symbol];
      for (AffineExpr side : {definition.lhs, definition.rhs})
        read(side, symbols);
    }
  }

  void read(AffineExpr expr, Symbols &into) const {
    expr.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      if (!symbol)
        return;
      if (auto definition = defined.find(symbol.getPosition()); definition != defined.end())
        into.insert(definition->second.begin(), definition->second.end());
      else
        into.insert(symbol.getPosition());
    });
  }
  void read(Type type, Symbols &into) const {
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !tensor.hasStaticShape())
      for (AffineExpr size : graph::getSizes(tensor))
        read(size, into);
  }

private:
  std::map<unsigned, Symbols> defined;
};
} // namespace

/// Whether `op` binds sizes at run time.
static bool bindsSizes(Operation &op) { return isa<graph::HostCallOp, graph::ReadSizesOp>(op); }

/// For each symbol that no input binds, the operation of the first ONNX node, in the model's order, that binds it.
/// Everything that needs the symbol comes later in that order.
static llvm::DenseMap<unsigned, Operation *> findBinders(func::FuncOp main, const SymbolReader &reader) {
  Symbols early;
  for (Type type : main.getArgumentTypes())
    reader.read(type, early);
  auto nodeOf = [](Operation *op) {
    auto node = op->getAttrOfType<IntegerAttr>(graph::nodeAttr);
    return node ? node.getInt() : 0;
  };
  llvm::DenseMap<unsigned, Operation *> binders;
  for (Operation &call : llvm::make_filter_range(main.getOps(), bindsSizes)) {
    Symbols bound;
    for (Type type : call.getResultTypes())
      reader.read(type, bound);
    if (auto read = dyn_cast<graph::ReadSizesOp>(call))
      bound.insert(read.getSymbols().begin(), read.getSymbols().end());
    for (unsigned symbol : bound)
      if (auto [it, isNew] = binders.try_emplace(symbol, &call);
          !early.contains(symbol) && !isNew && nodeOf(&call) < nodeOf(it->second))
        it->second = &call;
  }
  for (unsigned symbol : early)
    binders.erase(symbol);
  return binders;
}

LateSizes::LateSizes(func::FuncOp main) {
  if (llvm::none_of(main.getOps(), bindsSizes))
    return;
  SymbolReader reader(main->getParentOp());
  llvm::DenseMap<unsigned, Operation *> binderOf = findBinders(main, reader);
  if (binderOf.empty())
    return;
  for (Operation &op : main.front().without_terminator()) {
    if (isa<graph::DimsOp>(op)) // its readers wait instead
      continue;
    Symbols needed, held;
    for (Value operand : op.getOperands())
      if (auto dims = operand.getDefiningOp<graph::DimsOp>())
        for (AffineExpr size : dims.getSizes().getResults())
          reader.read(size, needed);
      else
        reader.read(operand.getType(), held);
    for (Type type : op.getResultTypes())
      reader.read(type, needed);
    llvm::SmallVector<Operation *, 2> calls;
    for (unsigned symbol : needed) // results of a call may have sizes that an earlier node binds
      if (Operation *call = binderOf.lookup(symbol);
          call && call != &op && !held.contains(symbol) && !llvm::is_contained(calls, call))
        calls.push_back(call);
    for (Operation *call : calls)
      waiting[call].push_back(&op);
    if (!calls.empty())
      binders[&op] = std::move(calls);
  }
  if (!binders.empty())
    moveBehindBinders(main.front());
}

/// A topological sort that otherwise keeps the program order. In a cycle the first operation stops waiting; building
/// the plan then reports the error.
void LateSizes::moveBehindBinders(Block &block) {
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, size_t> position, open; // `open`: how many dependences are not placed yet
  for (Operation &op : block.without_terminator()) {
    position[&op] = ops.size();
    ops.push_back(&op);
    open[&op] = bindersOf(&op).size() +
                llvm::count_if(op.getOperands(), [](Value operand) { return operand.getDefiningOp() != nullptr; });
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (Operation *op : ops)
    if (open[op] == 0)
      ready.push(position[op]);
  auto release = [&](Operation *op) {
    if (position.contains(op) && --open[op] == 0)
      ready.push(position[op]);
  };
  llvm::SmallVector<bool> placed(ops.size());
  for (size_t count = 0, first = 0; count < ops.size(); ++count) {
    while (placed[first])
      ++first;
    if (ready.empty()) {
      drop(ops[first]);
      ready.push(first);
    }
    Operation *op = ops[ready.top()];
    placed[ready.top()] = true;
    ready.pop();
    op->moveBefore(block.getTerminator());
    for (Operation *user : op->getUsers()) // once for each operand
      release(user);
    for (Operation *waits : waitingFor(op))
      release(waits);
  }
}

void LateSizes::addCopy(Operation *op, Operation *copy) {
  llvm::SmallVector<Operation *, 2> calls(bindersOf(op));
  for (Operation *call : calls)
    waiting[call].push_back(copy);
  if (!calls.empty())
    binders[copy] = std::move(calls);
}

void LateSizes::drop(Operation *op) {
  for (Operation *call : bindersOf(op))
    llvm::erase(waiting[call], op);
  binders.erase(op);
}
