// SPDX-License-Identifier: Apache-2.0
// Outlining, with equal kernels merged.
#include "fusion/groups/OutlineGroups.h"

#include "frontend/graph/Signature.h"
#include "frontend/normalize/Patterns.h"
#include "fusion/OnnxNodes.h"
#include "fusion/cost/Traffic.h"
#include "fusion/groups/KernelBody.h"
#include "fusion/keys/KeyRange.h"
#include "fusion/keys/NeutralMasks.h"
#include "fusion/keys/ScaledLogits.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

static constexpr size_t longestName = 4; // operator types in a kernel's name

/// The operators of the group's ONNX nodes, as "matmul_add_gelu"; the name of the root if it has none.
static std::string kernelName(const Group &group, ArrayRef<int64_t> nodes, ModuleOp module) {
  SmallVector<std::string> parts;
  for (int64_t node : nodes) {
    std::optional<NodeLabel> label = labelOf(module, node);
    std::string op = label ? label->op.lower() : "";
    llvm::erase_if(op, [](char c) { return !llvm::isAlnum(c); });
    if (!op.empty() && !llvm::is_contained(parts, op))
      parts.push_back(op);
  }
  if (parts.empty())
    return graph::stringifyRootKind(group.geometry.kind).str();
  bool more = parts.size() > longestName;
  parts.truncate(std::min(parts.size(), longestName));
  return llvm::join(parts, "_") + (more ? "_etc" : "");
}

/// Notes of the kernel's arithmetic and traffic for its launches: the plan and the bench table read them.
static NamedAttrList costsOf(graph::KernelOp kernel, ModuleOp module) {
  auto symbols = module->getAttrOfType<ArrayAttr>(graph::symbolsAttr);
  auto expression = [&](AffineExpr value) {
    return AffineMapAttr::get(AffineMap::get(0, symbols ? symbols.size() : 0, value));
  };
  NamedAttrList notes;
  notes.append(graph::flopsAttr, expression(flopsOf(kernel)));
  notes.append(graph::bytesAttr, expression(bytesOf(kernel)));
  SmallVector<Attribute> products;
  for (const Product &product : productsOf(kernel)) {
    auto sizes = AffineMap::get(0, symbols ? symbols.size() : 0, ArrayRef(product.sizes), module.getContext());
    products.push_back(ArrayAttr::get(module.getContext(), {AffineMapAttr::get(sizes), TypeAttr::get(product.type)}));
  }
  if (!products.empty())
    notes.append(graph::productsAttr, ArrayAttr::get(module.getContext(), products));
  return notes;
}

namespace {
/// The kernels of a module, equal ones once. A kernel is compared as soon as it is built: a graph of thousands of equal
/// nodes never holds more than one kernel that is not needed.
class Kernels {
public:
  struct Shared {
    FlatSymbolRefAttr name;
    NamedAttrList costs;
  };

  explicit Kernels(ModuleOp module) : module(module), symbols(module) {}

  /// `kernel`, or the equal one that was there before, in which case `kernel` is erased.
  const Shared &add(graph::KernelOp kernel) {
    auto [it, isNew] = shared.try_emplace(graph::signatureOf(kernel, {kernel.getSymNameAttrName()}));
    if (!isNew) {
      kernel.erase();
      return it->second;
    }
    symbols.insert(kernel); // renames it if the name is taken
    it->second = {FlatSymbolRefAttr::get(kernel.getSymNameAttr()), costsOf(kernel, module)};
    return it->second;
  }

private:
  ModuleOp module;
  SymbolTable symbols;
  std::map<graph::Signature, Shared> shared;
};
} // namespace

/// The range of keys of each attention, found before the operations that compute its masks become launches. Also notes
/// on the masks for which keys they change nothing (NeutralMasks.h).
static llvm::DenseMap<Group *, KeyRange> findKeyRanges(ArrayRef<Group *> groups) {
  llvm::DenseMap<Group *, KeyRange> ranges;
  for (Group *group : groups) {
    if (group->geometry.kind != RootKind::Attention)
      continue;
    SmallVector<graph::ContractOp> contracts;
    for (Operation *op : group->ops)
      if (auto contract = dyn_cast<graph::ContractOp>(op))
        contracts.push_back(contract);
    auto attention = std::get<Attention>(takeApart(contracts[0], contracts[1]));
    ranges[group] = findKeyRange(attention);
    noteNeutralMasks(attention);
  }
  return ranges;
}

/// Sets the attributes of the range of keys on a kernel that is an attention. On GPUs weights of halves are powers of
/// two of the scores, and for that the scale comes last.
static void arrangeAttention(graph::KernelOp kernel, const KeyRange &range, Machine machine) {
  FailureOr<Attention> attention = takeApart(kernel);
  if (failed(attention))
    return;
  setKeyRange(kernel, range, cast<RankedTensorType>(attention->logits.getType()).getRank());
  if (machine == Machine::Gpu && !getElementTypeOrSelf(attention->sharesOperand()).isF32())
    scaleLast(*attention);
}

/// Replaces the group's results by those of a launch of its kernel. Attributes are set all at once, because every
/// dictionary of attributes that an operation ever had stays in the context.
static graph::LaunchOp launch(const Group &group, const Kernels::Shared &shared, ArrayRef<int64_t> nodes,
                              ArrayRef<Value> inputs, Operation *returned, OpBuilder &builder) {
  auto outputs = ValueRange(group.geometry.outputs);
  auto launch =
      graph::LaunchOp::create(builder, outputs.front().getLoc(), outputs.getTypes(), shared.name, inputs, ArrayAttr());
  NamedAttrList notes = shared.costs;
  notes.append(graph::nodesOfAttr, DenseI64ArrayAttr::get(builder.getContext(), nodes));
  launch->setDiscardableAttrs(notes.getDictionary(builder.getContext()));
  for (auto [i, result] : llvm::enumerate(launch.getResults())) {
    size_t first = llvm::find(outputs, outputs[i]) - outputs.begin();
    if (first == i)
      outputs[i].replaceAllUsesWith(result);
    else // storeForEachReturn has added this result for one more return: the last one that still has the first result
      llvm::find_if(llvm::reverse(returned->getOpOperands()), [&](OpOperand &operand) {
        return operand.get() == launch.getResult(static_cast<unsigned>(first));
      })->set(result);
  }
  return launch;
}

/// A result that @main returns several times is as many results of the kernel, so that none is copied: a step of a
/// recurrence gives its state to the next one, and to the sequence.
static void storeForEachReturn(Group &group, Operation *returned) {
  SmallVector<Value> outputs(group.geometry.outputs);
  for (Value output : outputs)
    for (int64_t more = llvm::count(returned->getOperands(), output); more > 1; --more)
      group.geometry.outputs.push_back(output);
}

OutlinedGroups fusion::outlineGroups(GroupGraph &graph, ModuleOp module) {
  OutlinedGroups outlined;
  const SmallVector<Group *> groups = graph.inOrder();
  llvm::DenseMap<Group *, KeyRange> keyRanges = findKeyRanges(groups);
  Kernels kernels(module);
  normalize::TextHashes hashes;
  ComparedBands bands;
  Operation *end = graph.main().front().getTerminator();
  OpBuilder builder(end);
  for (Group *group : groups) {
    if (group->onHost || group->isView()) {
      group->ops.front()->moveBefore(end);
      outlined[group] = group->ops.front();
      continue;
    }
    if (graph.machine() == Machine::Gpu)
      storeForEachReturn(*group, end);
    SmallVector<int64_t> nodes = group->nodes();
    SmallVector<Value> inputs;
    normalize::orderOperands(group->ops, hashes);
    // Blocks compare indices faster than they read a mask; the host's vectors read it beside products that take longer.
    bool comparesBands = graph.machine() == Machine::Gpu && group->geometry.kind == RootKind::Attention;
    graph::KernelOp kernel =
        buildKernel(*group, kernelName(*group, nodes, module), module, comparesBands ? &bands : nullptr, inputs);
    if (auto range = keyRanges.find(group); range != keyRanges.end())
      arrangeAttention(kernel, range->second, graph.machine());
    outlined[group] = launch(*group, kernels.add(kernel), nodes, inputs, end, builder);
    for (Operation *op : group->ops)
      op->dropAllReferences();
    for (Operation *op : group->ops)
      op->erase();
  }
  return outlined;
}

/// Sets `attribute` on the kernels' arguments for which `holds` is true of what every launch passes.
static void markWhere(ModuleOp module, StringRef attribute, llvm::function_ref<bool(Value)> holds) {
  llvm::StringMap<llvm::BitVector> others;
  module.walk([&](graph::LaunchOp launch) {
    llvm::BitVector &arguments = others.try_emplace(launch.getKernel(), launch.getInputs().size()).first->second;
    for (auto [i, input] : llvm::enumerate(launch.getInputs()))
      if (!holds(input))
        arguments.set(i);
  });
  for (auto kernel : module.getOps<graph::KernelOp>())
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (!others[kernel.getSymName()].test(i))
        kernel.setArgAttr(i, attribute, UnitAttr::get(module.getContext()));
}

/// Whether `value` is an input of the model. Arguments of a loop's body are not, since other kernels have written them.
static bool isModelInput(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto main = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return main && !main->getParentOfType<ModuleOp>()->hasAttr(graph::repeatedAttr);
}

void fusion::markArguments(ModuleOp module) {
  markWhere(module, graph::constantAttr, [](Value value) { return value.getDefiningOp<graph::ConstantOp>(); });
  markWhere(module, graph::inputAttr, isModelInput);
}
