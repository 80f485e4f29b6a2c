// Builds kernel bodies out of groups.
#include "fusion/groups/KernelBody.h"

#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {

/// Copies a group into a kernel, outputs first, operands before their users.
class BodyBuilder {
public:
  BodyBuilder(const Group &group, Block &body, SmallVectorImpl<Value> &inputs)
      : body(body), inputs(inputs), builder(OpBuilder::atBlockEnd(&body)) {
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
      // Only a failing gather is reported at its node: everything else is the same for equal layers.
      if (!isa<graph::GatherOp>(op))
        forgetNodes(clone);
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
  SmallVectorImpl<Value> &inputs;
  OpBuilder builder;
  IRMapping mapping;
};

/// `value`, which accesses lead from a truncation to, as it would be without the truncation; null if it is no such
/// value.
Value unrounded(Value value, Type wide, OpBuilder &builder) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto truncation = dyn_cast<arith::TruncFOp>(op))
    return getElementTypeOrSelf(truncation.getIn()) == wide ? truncation.getIn() : Value();
  auto access = dyn_cast<graph::AccessOpInterface>(op);
  if (!access || access.getFill())
    return {};
  Value data = unrounded(access.getData(), wide, builder);
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

/// extf(truncf(x)) is x: inside one kernel a value keeps the precision that it was computed in.
static void keepPrecision(Block &body) {
  OpBuilder builder(body.getParentOp()->getContext());
  for (Operation &op : llvm::make_early_inc_range(body))
    if (auto extension = dyn_cast<arith::ExtFOp>(op))
      if (Value exact = unrounded(extension.getIn(), getElementTypeOrSelf(extension.getType()), builder)) {
        extension.replaceAllUsesWith(exact);
        extension.erase();
      }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

graph::KernelOp fusion::buildKernel(const Group &group, StringRef name, ModuleOp module,
                                    SmallVectorImpl<Value> &inputs) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto outputs = ValueRange(group.geometry.outputs);
  Location loc = outputs.front().getLoc();
  auto kernel = graph::KernelOp::create(builder, loc, builder.getStringAttr(name),
                                        TypeAttr::get(builder.getFunctionType({}, outputs.getTypes())), nullptr,
                                        nullptr, nullptr);
  Block &body = kernel.getBody().emplaceBlock();
  normalize::orderOperands(group.ops);
  BodyBuilder copier(group, body, inputs);
  SmallVector<Value> results;
  for (Value output : outputs)
    results.push_back(copier.copy(output));
  builder.setInsertionPointToEnd(&body);
  graph::ReturnOp::create(builder, loc, results);
  normalize::shareEqual(body, normalize::Sharing::All); // copies made for two members that ended up together
  keepPrecision(body);
  kernel.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), outputs.getTypes()));
  return kernel;
}
