// SPDX-License-Identifier: Apache-2.0
// The import of one operator. The first of these that works: shape arithmetic, constant folding, a handler, the
// reference at run time.
#include "frontend/import/FoldBounds.h"
#include "frontend/import/HostCall.h"
#include "frontend/import/ModelImporter.h"
#include "frontend/ops/OpTable.h"
#include "frontend/ops/StoredWeights.h"
#include "frontend/sizes/ShapeArithmetic.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tilewright {
namespace {

constexpr std::string_view random[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                       "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
/// Whether to keep a DequantizeLinear instead of folding it, so that normalization sees the integers. It uses integer
/// weights of contractions as they are, and folds the rest (normalize/FoldDequantized.cpp). Matrices of four bits stay
/// packed (ops/StoredWeights.h).
bool keepsIntegers(const NodeBuilder &b) {
  if (ops::isStoredMatrix(b))
    return true;
  return b.node.op == "DequantizeLinear" && b.has(0) && (b.type(0) == DType::I8 || b.type(0) == DType::U8) &&
         b.rank(0) > 1 && b.integer("block_size", 0) == 0;
}
/// Operators whose handlers accept elements of any type because they only move them, or check the type themselves.
constexpr std::string_view moving[] = {
    "BitCast", "Cast",   "CastLike",       "Compress", "Concat",   "DepthToSpace",   "DequantizeLinear", "Expand",
    "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "QuantizeLinear", "Reshape",          "Shape",
    "Size",    "Slice",  "SpaceToDepth",   "Split",    "Squeeze",  "Tile",           "Transpose",        "Unsqueeze"};

/// Domains whose operators only one other program can run, with advice.
constexpr std::pair<std::string_view, std::string_view> foreignDomains[] = {
    {"ai.onnx.contrib",
     "it belongs to ONNX Runtime Extensions (tokenizers and decoders of files): run it outside of the model"},
    {"com.microsoft.nchwc",
     "it has a layout of one machine: save the model at ONNX Runtime's optimization level 'extended' or lower"},
    {"org.pytorch.aten", "it calls PyTorch itself: export the model without the ATen fallback"},
};

/// Why an operator that is in no table is unsupported.
std::string whyUnknown(const NodeBuilder::Node &node) {
  for (auto [domain, why] : foreignDomains)
    if (node.domain == domain)
      return std::string(why);
  return "no handler compiles it";
}

/// Declines if the operations after `last` do not verify. This happens for a node with inconsistent sizes that its
/// handler does not check. The reference then sees the node, and either reports the error or computes it.
void expectValid(Block &block, Operation *last) {
  std::string why;
  ScopedDiagnosticHandler handler(block.getParentOp()->getContext(), [&](Diagnostic &diagnostic) {
    if (why.empty())
      llvm::raw_string_ostream(why) << diagnostic;
    return success();
  });
  for (Operation *op = last            ? last->getNextNode()
                       : block.empty() ? nullptr
                                       : &block.front();
       op; op = op->getNextNode())
    if (failed(verify(op, /*verifyRecursively=*/false)))
      decline("what its handler made is not valid: {}", why);
}

/// The type of an input on which compiled kernels have no arithmetic. Types of more than 8 bytes, which kernels cannot
/// even move, take precedence.
std::optional<DType> typeWithoutArithmetic(NodeBuilder &b) {
  std::optional<DType> found;
  for (size_t i = 0; i < b.node.inputs.size(); ++i)
    if (b.has(i) && isStorageOnly(b.type(i)) && (!found || elementBytes(b.type(i)) > 8))
      found = b.type(i);
  return found;
}

/// Records that a boolean result compares two sizes, also through the operators that exporters put between the
/// comparison and an If.
void followComparison(NodeBuilder &b) {
  constexpr std::string_view passing[] = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
  if (!b.node.domain.empty() || !b.has(0) || !b.wants(0))
    return;
  std::optional<SizeComparison> &result = b.node.outputs[0]->compared;
  const Sizes *left = b.node.op == "Equal" && b.has(1) ? b.state.elementsOf(b.input(0)) : nullptr,
              *right = left ? b.state.elementsOf(b.input(1)) : nullptr;
  if (left && right && left->size() == 1 && right->size() == 1)
    result = SizeComparison{left->front(), right->front(), false};
  else if (llvm::is_contained(passing, b.node.op) || b.node.op == "Not")
    result = b.input(0).compared;
  if (result && b.node.op == "Not")
    result->negated = !result->negated;
}

} // namespace

void ModelImporter::importOperator(NodeBuilder::Node &node) {
  NodeBuilder builder(state, node);
  Operation *last = lastOperation();
  std::string whyNot = whyUnknown(node);
  bool asReference = state.options.allAsReference && hasReference(node.op, node.domain, node.opset);
  // Nodes without a seed draw numbers that differ from node to node but not from run to run.
  if (llvm::is_contained(random, node.op))
    node.attributes.try_emplace("seed", static_cast<float>(state.nodes.size() + state.report.fallbacks.size()));
  bool done = followShapeArithmetic(builder) || foldConstants(builder);
  if (!done)
    followComparison(builder);
  if (!done && !asReference)
    done = compileNode(builder, whyNot);
  if (!done && asReference)
    whyNot = "everything was asked through the reference";
  if (!done && !callHost(builder, whyNot))
    state.report.unsupported.push_back({node.name, node.op, node.domain, node.opset, whyNot, state.report.nodeCount});
  labelNewOperations(node.name, node.op, last);
}

Operation *ModelImporter::lastOperation() const {
  Block *block = state.builder.getInsertionBlock();
  return block->empty() ? nullptr : &block->back();
}

/// Sets `graph.node`. Constants belong to no node.
void ModelImporter::labelNewOperations(std::string_view name, std::string_view op, Operation *last) {
  Block *block = state.builder.getInsertionBlock();
  Operation *made = last ? last->getNextNode() : block->empty() ? nullptr : &block->front();
  IntegerAttr id;
  for (; made; made = made->getNextNode()) {
    if (made->hasTrait<OpTrait::ConstantLike>() || llvm::isa<graph::ConstantOp>(made) || made->hasAttr(graph::nodeAttr))
      continue;
    if (!id) {
      id = state.builder.getI64IntegerAttr(static_cast<int64_t>(state.nodes.size()));
      state.nodes.push_back(fmt::format("{}|{}", name, op));
    }
    made->setDiscardableAttr(graph::nodeAttr, id);
  }
}

bool ModelImporter::foldConstants(NodeBuilder &b) {
  NodeBuilder::Node &node = b.node;
  if (!hasReference(node.op, node.domain, node.opset) || llvm::is_contained(random, node.op) || keepsIntegers(b))
    return false;
  std::vector<Tensor> inputs;
  for (ImportedValue *value : node.inputs) {
    const Tensor *tensor = value ? state.constantOf(*value) : nullptr;
    if (value && !tensor)
      return false;
    inputs.push_back(tensor ? *tensor : Tensor());
  }
  if (inputs.empty())
    return false;
  FoldBound bound = foldBound(b);
  if (!isSmallEnough(bound) || *foldedOperations + bound.operations > mostFoldedOperations)
    return false;
  *foldedOperations += bound.operations;
  ReferenceCall call{.op = node.op,
                     .domain = node.domain,
                     .opset = node.opset,
                     .attributes = &node.attributes,
                     .outputCount = node.outputs.size()};
  Expected<std::vector<Tensor>> outputs = evaluate(call, inputs);
  if (!outputs) {
    if (outputs.status().code() == Code::Malformed)
      throw ImportFailure{outputs.status()};
    return false;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i])
      continue;
    if (i >= outputs->size() || !(*outputs)[i].defined() || ((*outputs)[i].type() >= DType::Sequence))
      return false;
    ImportedValue &output = *node.outputs[i];
    output.type = (*outputs)[i].type();
    output.sizes.clear();
    for (int64_t dim : (*outputs)[i].shape())
      output.sizes.push_back(state.number(dim));
    output.constant = (*outputs)[i];
  }
  return true;
}

bool ModelImporter::compileNode(NodeBuilder &b, std::string &whyNot) {
  Handler handler = findHandler(b.node.domain, b.node.op, b.node.opset);
  if (!handler)
    return false;
  for (ImportedValue *value : b.node.inputs)
    if (value && isObject(value->type) && b.node.op != "Identity") {
      whyNot = fmt::format("a {} is not compiled", name(value->type));
      return false;
    }
  if (std::optional<DType> type = typeWithoutArithmetic(b);
      type && (elementBytes(*type) > 8 || !llvm::is_contained(moving, b.node.op))) {
    whyNot = fmt::format("it is not compiled for {}", name(*type));
    return false;
  }
  Block *block = state.builder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  try {
    handler(b);
    expectValid(*block, last);
  } catch (HandlerDeclined &declined) {
    whyNot = declined.reason;
    // Erase what the handler made before it declined, but not inputs that were materialized meanwhile.
    llvm::SmallPtrSet<Operation *, 8> inputs;
    for (ImportedValue *value : b.node.inputs)
      if (value && value->value)
        inputs.insert(value->value.getDefiningOp());
    while (!block->empty() && &block->back() != last && block->back().use_empty() && !inputs.contains(&block->back())) {
      state.constantTensors.erase(&block->back());
      block->back().erase();
    }
    for (ImportedValue *value : b.node.outputs)
      if (value)
        value->value = {};
    return false;
  }
  for (size_t i = 0; i < b.node.outputs.size(); ++i)
    if (ImportedValue *output = b.node.outputs[i]; output && !output->value && !output->constant && !output->elements) {
      whyNot = fmt::format("output {} is not compiled", i);
      return false;
    }
  return true;
}

bool ModelImporter::callHost(NodeBuilder &b, std::string &why) {
  NodeBuilder::Node &node = b.node;
  if (!hasReference(node.op, node.domain, node.opset))
    return false;
  std::vector<const onnx::ValueInfoProto *> hints;
  for (ImportedValue *output : node.outputs) {
    auto found = output ? declared.find(output->name) : declared.end();
    hints.push_back(found == declared.end() ? nullptr : found->second);
  }
  if (Status built = buildHostCall(b, hints); !built) {
    why += fmt::format(", and {}", built.message());
    return false;
  }
  state.report.fallbacks.push_back({node.name, node.op, node.domain, node.opset, why, state.report.nodeCount});
  if (state.options.noFallback && !state.options.allAsReference)
    unsupported("it would run through the reference ({}), which --no-fallback forbids", why);
  return true;
}

} // namespace tilewright
