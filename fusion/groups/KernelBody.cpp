// SPDX-License-Identifier: Apache-2.0
// Copies operations, then removes intermediate rounding.
#include "fusion/groups/KernelBody.h"

#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {

/// Copies values of a group into a kernel, each after its operands.
class BodyBuilder {
public:
  BodyBuilder(const Group &group, Block &body, ComparedBands *bands, SmallVectorImpl<Value> &inputs)
      : body(body), bands(bands), inputs(inputs), builder(OpBuilder::atBlockEnd(&body)) {
    members.insert(group.ops.begin(), group.ops.end());
  }

  Value copy(Value value) {
    if (Value done = mapping.lookupOrNull(value))
      return done;
    Operation *op = value.getDefiningOp();
    if (op && isa<arith::ConstantOp>(op)) {
      forgetNodes(builder.clone(*op, mapping));
    } else if (op && members.contains(op)) {
      for (Value operand : op->getOperands())
        copy(operand);
      Operation *clone = builder.clone(*op, mapping);
      // Without their nodes, kernels of equal layers are equal. A gather keeps its node for the run-time error message.
      if (!isa<graph::GatherOp>(op))
        forgetNodes(clone);
    } else if (Value band = bands && op ? bands->emit(op, builder) : Value()) {
      mapping.map(value, band);
    } else {
      inputs.push_back(value);
      mapping.map(value, body.addArgument(value.getType(), value.getLoc()));
    }
    return mapping.lookup(value);
  }

private:
  static void forgetNodes(Operation *op) {
    op->removeAttr(graph::nodeAttr);
    op->removeAttr(graph::nodesOfAttr);
  }

  llvm::SmallPtrSet<Operation *, 16> members;
  Block &body;
  ComparedBands *bands;
  SmallVectorImpl<Value> &inputs;
  OpBuilder builder;
  IRMapping mapping;
};

/// Finds values as they were before they were rounded to a half type. Each is looked at once: selections may read the
/// same value on many ways.
class Unrounded {
public:
  explicit Unrounded(MLIRContext *context) : builder(context) {}

  /// If `value` is a truncation, possibly behind accesses and selections: the same value without it, of type `wide`.
  /// Otherwise null.
  Value of(Value value, Type wide) {
    auto [at, isNew] = known.try_emplace({value, wide});
    if (!isNew)
      return at->second;
    Value found = find(value, wide);
    return known[{value, wide}] = found;
  }

private:
  Value find(Value value, Type wide);
  Value find(arith::SelectOp select, Type wide);

  OpBuilder builder;
  llvm::DenseMap<std::pair<Value, Type>, Value> known;
};

/// The same selection of values that are not rounded; null if both sides are halves anyway.
Value Unrounded::find(arith::SelectOp select, Type wide) {
  Value yes = of(select.getTrueValue(), wide), no = of(select.getFalseValue(), wide);
  if (!yes && !no)
    return {};
  builder.setInsertionPoint(select);
  RankedTensorType type = graph::withElementType(cast<RankedTensorType>(select.getType()), wide);
  auto widened = [&](Value side) { return arith::ExtFOp::create(builder, side.getLoc(), type, side).getResult(); };
  auto selected =
      arith::SelectOp::create(builder, select.getLoc(), select.getCondition(),
                              yes ? yes : widened(select.getTrueValue()), no ? no : widened(select.getFalseValue()));
  selected->setDiscardableAttrs(select->getDiscardableAttrDictionary());
  return selected;
}

Value Unrounded::find(Value value, Type wide) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto truncation = dyn_cast<arith::TruncFOp>(op))
    return getElementTypeOrSelf(truncation.getIn()) == wide ? truncation.getIn() : Value();
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return find(select, wide);
  auto access = dyn_cast<graph::AccessOpInterface>(op);
  if (!access || access.getFill())
    return {};
  Value data = of(access.getData(), wide);
  if (!data)
    return {};
  IRMapping mapping;
  mapping.map(access.getData(), data);
  builder.setInsertionPoint(op);
  Operation *clone = builder.clone(*op, mapping);
  clone->getResult(0).setType(graph::withElementType(cast<RankedTensorType>(value.getType()), wide));
  return clone->getResult(0);
}

} // namespace

/// Replaces extf(truncf(x)) by x: inside one kernel a value keeps the precision in which it was computed.
static void keepPrecision(Block &body) {
  Unrounded unrounded(body.getParentOp()->getContext());
  for (Operation &op : llvm::make_early_inc_range(body))
    if (auto extension = dyn_cast<arith::ExtFOp>(op))
      if (Value exact = unrounded.of(extension.getIn(), getElementTypeOrSelf(extension.getType()))) {
        extension.replaceAllUsesWith(exact);
        extension.erase();
      }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

graph::KernelOp fusion::buildKernel(const Group &group, StringRef name, ModuleOp module, ComparedBands *bands,
                                    SmallVectorImpl<Value> &inputs) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto outputs = ValueRange(group.geometry.outputs);
  Location loc = outputs.front().getLoc();
  auto kernel = graph::KernelOp::create(builder, loc, builder.getStringAttr(name),
                                        TypeAttr::get(builder.getFunctionType({}, outputs.getTypes())),
                                        /*schedule=*/nullptr, nullptr, nullptr, /*root=*/nullptr, /*steps=*/nullptr);
  Block &body = kernel.getBody().emplaceBlock();
  BodyBuilder copier(group, body, bands, inputs);
  SmallVector<Value> results;
  for (Value output : outputs)
    results.push_back(copier.copy(output));
  builder.setInsertionPointToEnd(&body);
  graph::ReturnOp::create(builder, loc, results);
  normalize::shareEqual(body, normalize::Sharing::All); // an access was copied for each reader that is now in here
  keepPrecision(body);
  kernel.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), outputs.getTypes()));
  return kernel;
}
