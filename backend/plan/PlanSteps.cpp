// SPDX-License-Identifier: Apache-2.0
// One function for each kind of operation in @main; groups and kernels are added when a step first refers to them.
#include "backend/plan/PlanSteps.h"

#include "backend/plan/KernelForm.h"
#include "frontend/import/HostCall.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;
namespace rt = tilewright::runtime;

namespace tilewright {

std::string PlanSteps::nodeAt(size_t index) const {
  auto nodes = module->getAttrOfType<ArrayAttr>(graph::nodesAttr);
  return nodes && index < nodes.size() ? cast<StringAttr>(nodes[index]).str() : std::string();
}

std::string PlanSteps::nodeOf(Operation *op) const {
  return nodeAt(op->getAttrOfType<IntegerAttr>(graph::nodeAttr).getInt());
}

/// Calls `visit` for the kernel's arguments that `buffer` is, or may be a slice of.
static void forEachArgumentBehind(Value buffer, llvm::function_ref<void(BlockArgument)> visit) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return visit(argument);
  if (auto slice = buffer.getDefiningOp<tile::BufferSliceOp>())
    return forEachArgumentBehind(slice.getBuffer(), visit);
  if (auto select = buffer.getDefiningOp<arith::SelectOp>()) {
    forEachArgumentBehind(select.getTrueValue(), visit);
    forEachArgumentBehind(select.getFalseValue(), visit);
  }
}

rt::KernelId PlanSteps::kernelOf(tile::KernelOp kernel) {
  auto [it, inserted] = kernels.try_emplace(kernel, plan.kernels.size());
  if (!inserted)
    return it->second;
  const KernelCode &code = request.code.at(kernel);
  const KernelFacts &facts = code.facts;
  rt::Kernel entry;
  entry.name = kernel.getSymName().str();
  entry.entry = code.entry;
  entry.form = formOf(kernel);
  entry.code = code.index;
  llvm::SmallPtrSet<Value, 4> written;
  kernel.walk([&](tile::StoreOp store) {
    forEachArgumentBehind(store.getBuffer(), [&](BlockArgument argument) { written.insert(argument); });
  });
  kernel.walk(
      [&](tile::BulkStoreOp store) { written.insert(store.getMap().getDefiningOp<tile::TensorMapOp>().getBuffer()); });
  for (BlockArgument argument : kernel.getBody().getArguments().take_front(kernel.getNumBuffers()))
    entry.buffers.push_back(written.contains(argument) ? rt::BufferAccess::Write : rt::BufferAccess::Read);
  for (tile::WorkspaceOp workspace : kernel.getBody().getOps<tile::WorkspaceOp>())
    entry.buffers.push_back(workspace.getZeroed() ? rt::BufferAccess::ReadWrite : rt::BufferAccess::Write);
  entry.scalars = kernel.getNumSymbols();
  entry.tensorMaps = llvm::range_size(kernel.getBody().getOps<tile::TensorMapOp>());
  entry.block = facts.block;
  entry.cluster = facts.cluster;
  entry.staticSharedBytes = facts.staticSharedBytes;
  entry.dynamicSharedBytes = facts.dynamicSharedBytes;
  entry.flags = facts.startsEarly ? rt::Kernel::startsEarly : 0;
  plan.kernels.push_back(std::move(entry));
  return it->second;
}

rt::GroupId PlanSteps::groupOf(Operation *op, StringRef name, StringRef root) {
  rt::Group group;
  group.name = name.str();
  group.rootKind = root.str();
  if (auto nodes = op->getAttrOfType<DenseI64ArrayAttr>(graph::nodesOfAttr))
    for (int64_t node : nodes.asArrayRef())
      group.members.push_back(nodeAt(node));
  else if (auto node = op->getAttrOfType<IntegerAttr>(graph::nodeAttr))
    group.members.push_back(nodeAt(node.getInt()));
  if (auto bytes = op->getAttrOfType<AffineMapAttr>(graph::bytesAttr))
    group.bytesMoved = sizes.expr(bytes.getValue().getResult(0));
  if (auto flops = op->getAttrOfType<AffineMapAttr>(graph::flopsAttr))
    group.flops = sizes.expr(flops.getValue().getResult(0));
  auto products = op->getAttrOfType<ArrayAttr>(graph::productsAttr);
  for (mlir::Attribute attribute : products ? products.getValue() : ArrayRef<mlir::Attribute>()) {
    auto product = cast<ArrayAttr>(attribute);
    ArrayRef<AffineExpr> dims = cast<AffineMapAttr>(product[0]).getValue().getResults(); // batch, m, n, k
    group.products.push_back({sizes.expr(dims[0]), sizes.expr(dims[1]), sizes.expr(dims[2]), sizes.expr(dims[3]),
                              memoryType(cast<TypeAttr>(product[1]).getValue())});
  }
  plan.groups.push_back(std::move(group));
  return plan.groups.size() - 1;
}

SmallVector<AffineExpr> PlanSteps::symbolsOf(tile::KernelOp kernel) const {
  std::optional<AffineMap> symbols = kernel.getSymbols();
  return symbols ? SmallVector<AffineExpr>(symbols->getResults()) : SmallVector<AffineExpr>();
}

rt::TensorMap PlanSteps::tensorMapOf(tile::TensorMapOp map, ArrayRef<AffineExpr> symbols) {
  rt::TensorMap entry;
  auto expr = [&](AffineExpr size) { return sizes.expr(size.replaceSymbols(symbols)); };
  entry.buffer = cast<BlockArgument>(map.getBuffer()).getArgNumber();
  entry.start = expr(map.getStart().getResult(0));
  for (auto [size, stride] : llvm::zip(map.getSizes().getResults(), map.getStrides().getResults())) {
    entry.sizes.push_back(expr(size));
    entry.strides.push_back(expr(stride));
  }
  for (int64_t size : map.getType().getBox())
    entry.box.push_back(size);
  entry.rounded = map.getRounded();
  entry.lower.assign(map.getLower().begin(), map.getLower().end());
  entry.upper.assign(map.getUpper().begin(), map.getUpper().end());
  entry.steps.assign(map.getSteps().begin(), map.getSteps().end());
  return entry;
}

/// 1 if `size` is above `bound`, else 0; 1 for no bound.
rt::ExprId PlanSteps::isAbove(rt::ExprId size, std::optional<int64_t> bound) {
  if (!bound)
    return sizes.constant(1);
  return sizes.binary(rt::ExprKind::Min, sizes.constant(1),
                      sizes.binary(rt::ExprKind::FloorDiv, size, sizes.constant(*bound + 1)));
}

/// Adds a launch of the kernel and of each of its variants, one after the other. For sizes that a variant is not for,
/// its grid is empty.
Status PlanSteps::addLaunch(graph::LaunchOp launch) {
  std::optional<int64_t> below;
  rt::ExprId above = rt::none;
  rt::GroupId group = rt::none;
  if (auto variants = launch.getVariants())
    for (auto variant : variants->getAsRange<graph::VariantAttr>()) {
      rt::ExprId size = sizes.expr(variant.getSize().getResult(0)), more = isAbove(size, variant.getMost());
      // 1 if the size is above the bound before and not above this one. A size above this bound is above the one before
      // too, so that is the difference.
      rt::ExprId runs = sizes.difference(isAbove(size, below), more);
      TILEWRIGHT_TRY(addKernel(launch, variant.getKernel(), runs, group));
      below = variant.getMost(), above = more;
    }
  return addKernel(launch, launch.getKernelAttr(), above, group);
}

/// `runs` is an expression that is 1 for sizes for which the kernel runs and 0 for others; rt::none: it always runs.
/// All kernels of a launch have one `group`, which the first sets.
Status PlanSteps::addKernel(graph::LaunchOp launch, FlatSymbolRefAttr name, rt::ExprId runs, rt::GroupId &group) {
  auto kernel = symbolTable.lookup<tile::KernelOp>(name.getValue());
  if (!kernel)
    return Status(Code::Internal, fmt::format("no tile kernel '{}'", name.getValue().str()));
  rt::Launch step;
  step.kernel = kernelOf(kernel);
  for (auto [i, operand] : llvm::enumerate(launch.getInputs())) {
    Expected<rt::ValueId> id = values.operandOf(kernel, i, operand);
    if (!id)
      return id.status();
    step.buffers.push_back(*id);
  }
  for (Value result : launch.getResults())
    step.buffers.push_back(values.resultOf(result, memoryType(result)));
  for (tile::WorkspaceOp workspace : kernel.getBody().getOps<tile::WorkspaceOp>())
    step.buffers.push_back(values.workspaceOf(workspace));
  SmallVector<AffineExpr> symbols = symbolsOf(kernel);
  for (AffineExpr symbol : symbols)
    step.scalars.push_back(sizes.expr(symbol));
  for (auto [i, extent] : llvm::enumerate(kernel.getGrid().getResults()))
    step.grid[i] = sizes.expr(extent.replaceSymbols(symbols));
  if (runs != rt::none)
    step.grid[0] = sizes.binary(rt::ExprKind::Mul, step.grid[0], runs);
  for (tile::TensorMapOp map : kernel.getBody().getOps<tile::TensorMapOp>())
    step.tensorMaps.push_back(tensorMapOf(map, symbols));
  if (int64_t bytes = request.code.at(kernel).facts.workspaceBytes)
    step.workspaceBytes = sizes.constant(bytes);
  tile::ScheduleAttr schedule = kernel.getScheduleAttr();
  if (schedule && schedule.getMostTiles()) {                               // the workspace has room for no more tiles
    auto taken = kernel->getAttrOfType<AffineMapAttr>(tile::programsAttr); // if blocks take several
    AffineMap programs = taken ? taken.getValue() : kernel.getGrid();
    rt::ExprId count = sizes.expr(programs.getResult(0).replaceSymbols(symbols));
    if (runs != rt::none)
      count = sizes.binary(rt::ExprKind::Mul, count, runs);
    plan.steps.push_back(rt::Guard{
        rt::Relation::LessEqual, count, sizes.constant(schedule.getMostTiles() * schedule.getParts()),
        fmt::format("expected no more tiles of kernel '{}' than its schedule promises", name.getValue().str())});
  }
  if (group == rt::none)
    group = groupOf(launch, launch.getKernel(), schedule ? graph::stringifyRootKind(schedule.getRoot()) : StringRef());
  step.group = group;
  plan.steps.push_back(std::move(step));
  return Status();
}

Status PlanSteps::addHostCall(graph::HostCallOp call) {
  rt::HostCall step;
  step.op = call.getOp().str();
  step.domain = call.getDomain().str();
  step.opset = call.getOpset();
  step.attributes = referenceAttributes(call);
  // ONNX types, which signless integers do not determine; the importer records them.
  auto dtypes = call->getAttrOfType<ArrayAttr>("input_dtypes");
  auto typeOf = [&](size_t i, Value value) {
    return dtypes ? parseDType(cast<StringAttr>(dtypes[i]).getValue()) : memoryType(value);
  };
  auto operand = call.getInputs().begin();
  for (bool present : call.getPresent()) {
    if (!present) {
      step.inputs.push_back(rt::none);
      continue;
    }
    size_t position = std::distance(call.getInputs().begin(), operand);
    Value value = *operand++;
    Expected<rt::ValueId> id = values.idAs(value, typeOf(position, value));
    if (!id)
      return id.status();
    step.inputs.push_back(*id);
  }
  step.binds = addResults(call, step.outputs);
  step.node = nodeOf(call);
  step.group = groupOf(call, step.op, "host_call");
  plan.steps.push_back(std::move(step));
  sizes.addWholeGuards();
  sizes.addGuards();
  return Status();
}

Status PlanSteps::addReadSizes(graph::ReadSizesOp read) {
  Expected<rt::ValueId> id = values.idOf(read.getSizes());
  if (!id)
    return id.status();
  std::string node = nodeOf(read);
  rt::ReadSizes step{*id, {}, StringRef(node).split('|').first.str()};
  for (auto [element, symbol] : llvm::enumerate(read.getSymbols())) {
    sizes.bindElement(symbol);
    step.binds.push_back({0, uint32_t(element), uint32_t(symbol)});
  }
  plan.steps.push_back(std::move(step));
  sizes.addGuards();
  return Status();
}

/// Adds the values of a step's results to `outputs`. Returns the symbols that dimensions of the results bind.
std::vector<rt::BoundSymbol> PlanSteps::addResults(Operation *op, std::vector<rt::ValueId> &outputs) {
  auto dtypes = op->getAttrOfType<ArrayAttr>("output_dtypes"); // ONNX types, which signless integers do not determine
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    outputs.push_back(
        values.resultOf(result, dtypes ? parseDType(cast<StringAttr>(dtypes[i]).getValue()) : memoryType(result)));
  return sizes.bindResults(op->getResults(), outputs);
}

/// The values to pass as inputs `first`... of a body, in the types that the body declares.
Expected<std::vector<rt::ValueId>> PlanSteps::passTo(const rt::Plan &body, size_t first, ValueRange operands) {
  std::vector<rt::ValueId> passed;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Expected<rt::ValueId> id = values.idAs(operand, body.values[body.inputs.at(first + i)].dtype);
    if (!id)
      return id.status();
    passed.push_back(*id);
  }
  return passed;
}

Expected<rt::BodyUse> PlanSteps::useOf(StringRef name, AffineMap bodySizes, ValueRange captures) {
  const PlanBody &body = bodies.at(name);
  const rt::Plan &inside = plan.bodies[body.index];
  rt::BodyUse use{body.index, {}, {}};
  for (size_t kept : body.sizes)
    use.sizes.push_back(sizes.expr(bodySizes.getResult(kept)));
  Expected<std::vector<rt::ValueId>> passed = passTo(inside, inside.inputs.size() - captures.size(), captures);
  if (!passed)
    return passed.status();
  use.captures = std::move(*passed);
  return use;
}

Status PlanSteps::addDims(graph::DimsOp dims) {
  rt::WriteDims step{values.resultOf(dims.getResult(), DType::I64), {}};
  for (AffineExpr size : dims.getSizes().getResults())
    step.elements.push_back(sizes.expr(size));
  plan.steps.push_back(std::move(step));
  return Status();
}

Status PlanSteps::addIf(flow::IfOp op) {
  rt::Branch step;
  Expected<rt::ValueId> condition = values.idOf(op.getCondition());
  Expected<rt::BodyUse> onTrue = useOf(op.getOnTrue(), op.getTrueSizes(), op.getTrueCaptures()),
                        onFalse = useOf(op.getOnFalse(), op.getFalseSizes(), op.getFalseCaptures());
  for (const Status &status : {condition.status(), onTrue.status(), onFalse.status()})
    if (!status)
      return status;
  step.condition = *condition, step.onTrue = *onTrue, step.onFalse = *onFalse;
  step.binds = addResults(op, step.outputs);
  step.node = nodeOf(op);
  step.group = groupOf(op, "If", "branch");
  plan.steps.push_back(std::move(step));
  sizes.addGuards();
  return Status();
}

Status PlanSteps::addLoop(flow::LoopOp op) {
  rt::Loop step;
  step.counted = op.getCounted(), step.conditional = op.getConditional();
  const rt::Plan &body = plan.bodies[bodies.at(op.getBody()).index];
  size_t first = step.counted ? 2 : 0;
  Expected<std::vector<rt::ValueId>> carried = passTo(body, first, op.getCarried()),
                                     scanned = passTo(body, first + op.getCarried().size(), op.getScanned());
  Expected<rt::BodyUse> use = useOf(op.getBody(), op.getSizes(), op.getCaptures());
  for (const Status &status : {carried.status(), scanned.status(), use.status()})
    if (!status)
      return status;
  for (auto [value, place] : {std::pair{op.getTripCount(), &step.tripCount}, {op.getCondition(), &step.condition}})
    if (value) {
      Expected<rt::ValueId> id = values.idOf(value);
      if (!id)
        return id.status();
      *place = *id;
    }
  step.carried = *carried, step.body = *use;
  for (auto [value, reverse] : llvm::zip_equal(*scanned, op.getReverseScanned()))
    step.scanned.push_back({value, reverse});
  std::vector<rt::ValueId> outputs;
  step.binds = addResults(op, outputs);
  step.finals.assign(outputs.begin(), outputs.begin() + step.carried.size());
  for (auto [value, reverse] :
       llvm::zip_equal(llvm::drop_begin(outputs, step.carried.size()), op.getReverseCollected()))
    step.collected.push_back({value, reverse});
  step.node = nodeOf(op);
  step.group = groupOf(op, "Loop", "loop");
  plan.steps.push_back(std::move(step));
  sizes.addGuards();
  return Status();
}

Status PlanSteps::add(Operation *op) {
  return llvm::TypeSwitch<Operation *, Status>(op)
      .Case([&](graph::LaunchOp launch) { return addLaunch(launch); })
      .Case([&](graph::HostCallOp call) { return addHostCall(call); })
      .Case([&](graph::ReadSizesOp read) { return addReadSizes(read); })
      .Case([&](flow::IfOp op) { return addIf(op); })
      .Case([&](flow::LoopOp op) { return addLoop(op); })
      .Case([&](graph::DimsOp dims) { return addDims(dims); })
      .Case<graph::ReshapeOp, graph::ViewOp>([&](auto view) { return values.alias(view.getResult(), view.getData()); })
      .Case<arith::ConstantOp, graph::ConstantOp, func::ReturnOp>(
          [](Operation *) { return Status(); }) // constants are added at their first use
      .Default([](Operation *op) {
        return Status(Code::Internal, fmt::format("a plan cannot say '{}', which is left in @main",
                                                  op->getName().getStringRef().str()));
      });
}

bool PlanSteps::hasBoundSizes(Operation *op) const {
  auto takes = [&](StringRef body, AffineMap bodySizes) {
    return llvm::all_of(bodies.at(body).sizes, [&](size_t kept) { return sizes.isBound(bodySizes.getResult(kept)); });
  };
  if (auto dims = dyn_cast<graph::DimsOp>(op); dims && !sizes.isBound(dims.getSizes().getResults()))
    return false;
  if (auto launch = dyn_cast<graph::LaunchOp>(op))
    if (auto kernel = symbolTable.lookup<tile::KernelOp>(launch.getKernel());
        kernel && !sizes.isBound(symbolsOf(kernel)))
      return false;
  if (auto branch = dyn_cast<flow::IfOp>(op); branch && !(takes(branch.getOnTrue(), branch.getTrueSizes()) &&
                                                          takes(branch.getOnFalse(), branch.getFalseSizes())))
    return false;
  if (auto loop = dyn_cast<flow::LoopOp>(op); loop && !takes(loop.getBody(), loop.getSizes()))
    return false;
  auto isBound = [&](Value value) { return sizes.isBound(value); };
  bool bindsItsResults = isa<graph::HostCallOp, flow::IfOp, flow::LoopOp>(op);
  return (bindsItsResults || llvm::all_of(op->getResults(), isBound)) && llvm::all_of(op->getOperands(), isBound);
}

} // namespace tilewright
