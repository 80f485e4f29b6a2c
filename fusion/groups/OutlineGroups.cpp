// SPDX-License-Identifier: Apache-2.0
// Outlining, and merging of equal kernels.
#include "fusion/groups/OutlineGroups.h"

#include "frontend/graph/Signature.h"
#include "fusion/OnnxNodes.h"
#include "fusion/cost/Traffic.h"
#include "fusion/groups/KernelBody.h"
#include "fusion/keys/KeyRange.h"
#include "fusion/keys/NeutralMasks.h"

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

/// Notes the kernel's arithmetic and traffic on the launch, for the plan and the bench table. All at once: every set of
/// attributes that an operation had on the way would stay in the context.
static void annotate(graph::LaunchOp launch, graph::KernelOp kernel, ArrayRef<int64_t> nodes, ModuleOp module) {
  auto symbols = module->getAttrOfType<ArrayAttr>(graph::symbolsAttr);
  auto expression = [&](AffineExpr value) {
    return AffineMapAttr::get(AffineMap::get(0, symbols ? symbols.size() : 0, value));
  };
  NamedAttrList notes;
  notes.append(graph::nodesOfAttr, DenseI64ArrayAttr::get(module.getContext(), nodes));
  notes.append(graph::flopsAttr, expression(flopsOf(kernel)));
  notes.append(graph::bytesAttr, expression(bytesOf(kernel)));
  SmallVector<Attribute> products;
  for (const Product &product : productsOf(kernel)) {
    auto sizes = AffineMap::get(0, symbols ? symbols.size() : 0, ArrayRef(product.sizes), module.getContext());
    products.push_back(ArrayAttr::get(module.getContext(), {AffineMapAttr::get(sizes), TypeAttr::get(product.type)}));
  }
  if (!products.empty())
    notes.append(graph::productsAttr, ArrayAttr::get(module.getContext(), products));
  launch->setDiscardableAttrs(notes.getDictionary(module.getContext()));
}

/// Which keys an attention need not visit, and for which its masks change nothing, found before what these are computed
/// from becomes launches.
static llvm::DenseMap<Group *, KeyRange> findKeyRanges(GroupGraph &graph) {
  llvm::DenseMap<Group *, KeyRange> ranges;
  for (Group *group : graph.inOrder()) {
    SmallVector<graph::ContractOp> contracts;
    for (Operation *op : group->ops)
      if (auto contract = dyn_cast<graph::ContractOp>(op))
        contracts.push_back(contract);
    if (group->geometry.kind != RootKind::Attention)
      continue;
    auto attention = std::get<Attention>(takeApart(contracts[0], contracts[1]));
    ranges[group] = findKeyRange(attention);
    noteNeutralMasks(attention);
  }
  return ranges;
}

/// Rank of the logits of a kernel that is an attention.
static void addKeyRange(graph::KernelOp kernel, const KeyRange &range) {
  if (FailureOr<Attention> attention = takeApart(kernel); succeeded(attention))
    setKeyRange(kernel, range, cast<RankedTensorType>(attention->logits.getType()).getRank());
}

OutlinedGroups fusion::outlineGroups(GroupGraph &graph, ModuleOp module) {
  OutlinedGroups outlined;
  llvm::DenseMap<Group *, KeyRange> keyRanges = findKeyRanges(graph);
  SymbolTable symbols(module);
  Operation *end = graph.main().front().getTerminator();
  OpBuilder builder(end);
  SmallVector<Operation *> moved;
  for (Group *group : graph.inOrder()) {
    if (group->onHost || group->isView()) {
      group->ops.front()->moveBefore(end);
      outlined[group] = group->ops.front();
      continue;
    }
    SmallVector<int64_t> nodes = group->nodes();
    SmallVector<Value> inputs;
    graph::KernelOp kernel = buildKernel(*group, kernelName(*group, nodes, module), module, inputs);
    if (auto range = keyRanges.find(group); range != keyRanges.end())
      addKeyRange(kernel, range->second);
    symbols.insert(kernel); // renames it if the name is taken
    auto outputs = ValueRange(group->geometry.outputs);
    auto launch = graph::LaunchOp::create(builder, kernel.getLoc(), outputs.getTypes(),
                                          FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs, ArrayAttr());
    annotate(launch, kernel, nodes, module);
    for (auto [output, result] : llvm::zip_equal(outputs, launch.getResults()))
      output.replaceAllUsesWith(result);
    outlined[group] = launch;
    llvm::append_range(moved, group->ops);
  }
  for (Operation *op : moved) {
    op->dropAllReferences();
    op->dropAllUses();
  }
  for (Operation *op : moved)
    op->erase();
  return outlined;
}

//===- Sharing ----------------------------------------------------------------------------------------------------===//

static void shareEqualKernels(ModuleOp module) {
  std::map<graph::Signature, graph::KernelOp> first;
  llvm::StringMap<StringAttr> renamed;
  for (auto kernel : llvm::make_early_inc_range(module.getOps<graph::KernelOp>())) {
    auto [it, isNew] = first.try_emplace(graph::signatureOf(kernel, {kernel.getSymNameAttrName()}), kernel);
    if (isNew)
      continue;
    renamed[kernel.getSymName()] = it->second.getSymNameAttr();
    kernel.erase();
  }
  module.walk([&](graph::LaunchOp launch) {
    if (auto it = renamed.find(launch.getKernel()); it != renamed.end())
      launch.setKernelAttr(FlatSymbolRefAttr::get(it->second));
  });
}

/// Sets `attribute` on the kernels' arguments for which `holds` is true of what every launch passes.
static void markArguments(ModuleOp module, StringRef attribute, llvm::function_ref<bool(Value)> holds) {
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

/// Inputs of the model, and not of a loop's body: those other kernels have written.
static bool isModelInput(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

void fusion::shareKernels(ModuleOp module) {
  shareEqualKernels(module);
  markArguments(module, graph::constantAttr, [](Value value) { return value.getDefiningOp<graph::ConstantOp>(); });
  markArguments(module, graph::inputAttr, isModelInput);
}
