// SPDX-License-Identifier: Apache-2.0
// The checks that every fusion must pass.
#include "fusion/Legality.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"
#include "fusion/Attention.h"
#include "fusion/cost/CostModel.h"
#include "fusion/cost/Iterations.h"
#include "fusion/cost/KernelLimits.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// Whether the operands of all contractions are of one type: f16, bf16, or also f32 if `which` is Floats.
static bool multiplies(ArrayRef<Operation *> ops, AttentionFusion which) {
  SmallVector<Type> elements;
  for (Operation *op : ops)
    if (isa<graph::ContractOp>(op))
      for (Type type : op->getOperandTypes())
        elements.push_back(getElementTypeOrSelf(type));
  return llvm::all_equal(elements) && llvm::all_of(elements, [&](Type element) {
           return element.isF16() || element.isBF16() || (which == AttentionFusion::Floats && element.isF32());
         });
}

/// Are scores products of halves, and are values of the same halves mixed in singles?
static bool widensValues(ArrayRef<Operation *> ops) {
  SmallVector<graph::ContractOp> contracts; // in program order
  for (Operation *op : ops)
    if (auto contract = dyn_cast<graph::ContractOp>(op))
      contracts.push_back(contract);
  if (contracts.size() != 2 || !multiplies({contracts[0]}, AttentionFusion::Halves))
    return false;
  return llvm::count_if(contracts[1].getOperands(), [&](Value operand) {
           return llvm::is_contained(ops, operand.getDefiningOp()) && valuesBeforeWidening(contracts[0], operand);
         }) == 1;
}

/// Multiplications of a contraction, with `ofUnknown` for each size that is not known; nullopt if there is such a size
/// and no `ofUnknown`.
static std::optional<double> multiplicationsOf(graph::ContractOp op, std::optional<int64_t> ofUnknown) {
  SmallVector<std::optional<int64_t>> loops(op.getMap(2).getNumDims());
  for (unsigned side : {0, 1}) {
    SmallVector<AffineExpr> sizes(graph::getSizes(cast<RankedTensorType>(op->getOperand(side).getType())));
    for (auto [expr, size] : llvm::zip_equal(op.getMap(side).getResults(), sizes))
      loops[cast<AffineDimExpr>(expr).getPosition()] = graph::constantSize(size);
  }
  double product = 1; // not an integer, which large sizes would overflow
  for (std::optional<int64_t> loop : loops) {
    if (!loop && !ofUnknown)
      return std::nullopt;
    product *= static_cast<double>(loop ? *loop : *ofUnknown);
  }
  return product;
}

/// Whether several contractions of one left side are faster in one kernel. Two of halves always are. Singles, or more
/// than two, run at half of the matrix units' rate or less in a common kernel, because warp roles
/// (tilegen/place/roles) take at most two sums of halves or one of singles. That loss is small where starting a kernel
/// takes most of the time: with few multiplications, above all in the body of a loop. The limits were measured on an
/// H100 (docs/performance.md).
static bool areSummedTogether(ArrayRef<Operation *> ops, size_t count) {
  constexpr double mostOfHalves = 1 << 28, mostOfStep = 1 << 26, mostOfRow = 1 << 22, mostElsewhere = 1 << 25;
  constexpr int64_t rowsOfStep = 16; // where they are not known
  bool areHalves = multiplies(ops, AttentionFusion::Halves);
  if (count == 2 && areHalves)
    return true;
  auto first = cast<graph::ContractOp>(*llvm::find_if(ops, llvm::IsaPred<graph::ContractOp>));
  bool isStep = first->getParentOfType<ModuleOp>()->hasAttr(graph::repeatedAttr);
  std::optional<double> each = multiplicationsOf(first, isStep ? std::optional(rowsOfStep) : std::nullopt);
  bool hasOneRow = iterationsWithout(first, 0, 1) == 1;
  double most = areHalves ? mostOfHalves : isStep ? mostOfStep : hasOneRow ? mostOfRow : mostElsewhere;
  return multiplies(ops, AttentionFusion::Floats) && each && *each * static_cast<double>(count) <= most;
}

GeometryOrRefusal fusion::checkKernel(ArrayRef<Operation *> ops, Machine machine) {
  GeometryOrRefusal geometry = analyze(ops);
  if (std::holds_alternative<Refusal>(geometry))
    return geometry;
  ArrayRef<Operation *> more = std::get<Geometry>(geometry).more;
  if (!more.empty() && (machine == Machine::Cpu || !areSummedTogether(ops, 1 + more.size())))
    return Refusal{Reason::Target, more.back()};
  if (std::optional<Refusal> refusal = tooManyTiles(ops, std::get<Geometry>(geometry)))
    return *refusal;
  if (std::optional<Refusal> refusal = repeatedWork(ops, std::get<Geometry>(geometry), machine))
    return *refusal;
  return geometry;
}

GeometryOrRefusal fusion::checkUnion(const GroupGraph &graph, const Group &producer, const Group &consumer) {
  if (producer.onHost || consumer.onHost)
    return Refusal{Reason::DataDependent, consumer.ops.front()};
  if (isTooLarge(producer, consumer))
    return Refusal{Reason::TooLarge, consumer.ops.front()};
  GeometryOrRefusal geometry = checkKernel(GroupGraph::united(producer, consumer), graph.machine());
  if (std::holds_alternative<Refusal>(geometry))
    return geometry;
  if (graph.pathAround(producer, consumer))
    return Refusal{Reason::NotConvex, consumer.ops.front()};
  return geometry;
}

/// No path leaves the three and comes back, since nothing else reads what `scores` and `softmax` compute: only what the
/// mix computes is an output of an attention.
GeometryOrRefusal fusion::checkAttention(const FusionOptions &options, const Group &scores, const Group &softmax,
                                         const Group &mix) {
  AttentionFusion which = options.attention;
  if (isTooLarge(scores, softmax) || isTooLarge(softmax, mix) || isTooLarge(scores, mix))
    return Refusal{Reason::TooLarge, mix.ops.front()};
  Group both;
  both.ops = GroupGraph::united(scores, softmax);
  SmallVector<Operation *> ops = GroupGraph::united(both, mix);
  GeometryOrRefusal geometry = checkKernel(ops, options.machine);
  if (std::holds_alternative<Refusal>(geometry))
    return geometry;
  if (which == AttentionFusion::None)
    return Refusal{Reason::Target, mix.ops.front()};
  bool goesByType = which == AttentionFusion::Halves || which == AttentionFusion::Floats;
  if (goesByType && !multiplies(ops, which) && !(which == AttentionFusion::Floats && widensValues(ops)))
    return Refusal{Reason::Target, mix.ops.front()};
  if (which == AttentionFusion::Large)
    if (std::optional<Refusal> refusal = smallAttention(ops))
      return *refusal;
  return geometry;
}
