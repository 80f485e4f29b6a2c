// SPDX-License-Identifier: Apache-2.0
// Adds values to a plan: inputs, outputs, constants and temporaries.
#include "backend/plan/PlanValues.h"

#include "frontend/flow/FlowOps.h"
#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <fmt/format.h>

using namespace mlir;
namespace rt = tilewright::runtime;

namespace tilewright {

DType memoryType(Type element) {
  if (element.isF32())
    return DType::F32;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  if (element.isF64())
    return DType::F64;
  if (isa<flow::StringType>(element))
    return DType::String;
  if (isa<flow::SequenceType>(element))
    return DType::Sequence;
  if (isa<flow::OptionalType>(element))
    return DType::Optional;
  if (isa<flow::MapType>(element))
    return DType::Map;
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return DType::Bool;
  case 8:
    return DType::I8;
  case 16:
    return DType::I16;
  case 32:
    return DType::I32;
  default:
    return DType::I64;
  }
}

DType memoryType(Value tensor) { return memoryType(cast<RankedTensorType>(tensor.getType()).getElementType()); }

rt::ValueId PlanValues::newValue(rt::ValueKind kind, Value value, DType type, std::string name, uint32_t source) {
  rt::ValueId id = plan.values.size();
  plan.values.push_back({std::move(name), type, kind, sizes.sizesOf(value), source, rt::none});
  return id;
}

rt::ValueId PlanValues::aliasOf(Value value, rt::ValueId source, DType type) {
  rt::ValueId id = newValue(rt::ValueKind::Alias, value, type, plan.values[source].name, source);
  plan.values[id].byteOffset = sizes.constant(0);
  return id;
}

Expected<rt::ValueId> PlanValues::constantOf(Operation *op, Value value) {
  DType type = memoryType(value);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return newValue(rt::ValueKind::Constant, value, type, "", constants.add(elements));
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    auto &pool = module.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
    graph::ConstantBytes contents = pool.read(constant.getKey());
    if (!contents.bytes.data())
      return Status(Code::Internal, fmt::format("no constant '{}' in the pool", constant.getKey().str()));
    return newValue(rt::ValueKind::Constant, value, type, "", constants.add(contents.bytes));
  }
  return Status(Code::Internal, fmt::format("expected launches, host calls and constants in @main, got '{}'",
                                            op->getName().getStringRef().str()));
}

Expected<rt::ValueId> PlanValues::idOf(Value value) {
  if (auto it = ids.find(value); it != ids.end())
    return it->second;
  Expected<rt::ValueId> id = constantOf(value.getDefiningOp(), value);
  if (id)
    ids[value] = *id;
  return id;
}

Expected<rt::ValueId> PlanValues::idAs(Value value, DType type) {
  Expected<rt::ValueId> id = idOf(value);
  if (!id || plan.values[*id].dtype == type)
    return id;
  return aliasOf(value, *id, type);
}

rt::ValueId PlanValues::resultOf(Value result, DType type) {
  if (auto known = ids.find(result); known != ids.end())
    return known->second;
  rt::ValueId id = newValue(rt::ValueKind::Temporary, result, type, "");
  return ids[result] = id;
}

rt::ValueId PlanValues::workspaceOf(tile::WorkspaceOp workspace) {
  tile::BufferType type = workspace.getType();
  std::vector<rt::ExprId> dims;
  for (AffineExpr size : type.getSizes().getResults())
    dims.push_back(sizes.expr(size));
  if (workspace.getZeroed() && zeroed) {
    int64_t size = cast<AffineConstantExpr>(type.getSizes().getResult(0)).getValue();
    if (size > std::exchange(zeroedSize, std::max(size, zeroedSize)))
      plan.values[*zeroed].dims = dims;
    return *zeroed;
  }
  rt::ValueId id = plan.values.size();
  rt::ValueKind kind = workspace.getZeroed() ? rt::ValueKind::Zeroed : rt::ValueKind::Temporary;
  plan.values.push_back({"", memoryType(type.getElementType()), kind, std::move(dims), rt::none, rt::none});
  if (workspace.getZeroed())
    zeroed = id, zeroedSize = cast<AffineConstantExpr>(type.getSizes().getResult(0)).getValue();
  return id;
}

Status PlanValues::alias(Value result, Value source) {
  Expected<rt::ValueId> id = idOf(source);
  if (!id)
    return id.status();
  if (!ids.count(result)) // else the result is an output, and `source` is an alias of it
    ids[result] = aliasOf(result, *id, plan.values[*id].dtype);
  return Status();
}

Expected<rt::ValueId> PlanValues::operandOf(tile::KernelOp kernel, unsigned argument, Value value) {
  auto map = kernel.getArgAttrOfType<AffineMapAttr>(argument, tile::packedFromAttr);
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  if (!map || !constant)
    return idOf(value);
  auto buffer = cast<tile::BufferType>(kernel.getArgumentTypes()[argument]);
  auto source = kernel.getArgAttrOfType<TypeAttr>(argument, tile::sourceAttr);
  Packing packing;
  packing.map = map.getValue();
  packing.elementBytes = std::max(1u, buffer.getElementType().getIntOrFloatBitWidth() / 8);
  packing.sourceShape.assign(cast<RankedTensorType>(source.getValue()).getShape().begin(),
                             cast<RankedTensorType>(source.getValue()).getShape().end());
  std::vector<rt::ExprId> dims;
  for (AffineExpr size : buffer.getSizes().getResults()) {
    packing.packedShape.push_back(cast<AffineConstantExpr>(size).getValue());
    dims.push_back(sizes.expr(size));
  }
  auto &pool = module.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  Expected<uint32_t> entry = constants.addPacked(constant.getKey().str(), pool.read(constant.getKey()).bytes, packing);
  if (!entry)
    return entry.status();
  rt::ValueId id = plan.values.size();
  plan.values.push_back(
      {"", memoryType(buffer.getElementType()), rt::ValueKind::Constant, std::move(dims), *entry, rt::none});
  return id;
}

void PlanValues::addInputs(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto name = main.getArgAttrOfType<StringAttr>(i, graph::nameAttr);
    auto dtype = main.getArgAttrOfType<StringAttr>(i, graph::dtypeAttr);
    DType type = dtype ? parseDType(dtype.getValue()) : memoryType(argument);
    ids[argument] = newValue(rt::ValueKind::Input, argument, type, name ? name.str() : fmt::format("input_{}", i), i);
    plan.inputs.push_back(ids[argument]);
  }
  for (rt::SymbolId symbol = 0; symbol < plan.symbols.size();
       ++symbol) // a dimension that binds a symbol must be that symbol
    if (const rt::Symbol &bound = plan.symbols[symbol]; bound.input != rt::none)
      plan.values[plan.inputs[bound.input]].dims[bound.dim] = sizes.planSymbol(symbol);
}

/// Looks through reshapes.
static Value withoutReshapes(Value value) {
  while (isa_and_nonnull<graph::ReshapeOp, graph::ViewOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Every output is a value of its own: written in place by the step that computes it if possible, else copied.
///
///   return %launch           the launch writes the output
///   return reshape(%launch)  the output has its own shape; the launch's result is an alias of it
///   return reshape(%call)    a copy: the result of a host call may be sized after it ran, so it cannot be an alias
///   return %input, or twice  a copy
void PlanValues::addOutputs(func::FuncOp main) {
  auto returned = cast<func::ReturnOp>(main.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    auto name = main.getResultAttrOfType<StringAttr>(i, graph::nameAttr);
    auto dtype = main.getResultAttrOfType<StringAttr>(i, graph::dtypeAttr);
    DType type = dtype ? parseDType(dtype.getValue()) : memoryType(value);
    rt::ValueId output =
        newValue(rt::ValueKind::Output, value, type, name ? name.str() : fmt::format("output_{}", i), i);
    plan.outputs.push_back(output);
    Value made = withoutReshapes(value);
    bool inPlace =
        isa_and_nonnull<graph::LaunchOp, graph::DimsOp>(made.getDefiningOp()) ||
        (made == value && isa_and_nonnull<graph::HostCallOp, flow::IfOp, flow::LoopOp>(made.getDefiningOp()));
    if (!inPlace || ids.count(made))
      continue;
    if (made == value)
      ids[made] = output;
    else
      ids[made] = aliasOf(made, output, memoryType(made));
    outputNumber[made] = i;
  }
}

Status PlanValues::copyOutputs(func::FuncOp main) {
  auto returned = cast<func::ReturnOp>(main.getBody().front().getTerminator());
  for (auto [output, value] : llvm::zip_equal(plan.outputs, returned.getOperands())) {
    auto number = outputNumber.find(withoutReshapes(value));
    if (number != outputNumber.end() && plan.outputs[number->second] == output)
      continue;
    Expected<rt::ValueId> source = idOf(value);
    if (!source)
      return source.status();
    plan.steps.push_back(rt::Copy{output, *source});
  }
  return Status();
}

} // namespace tilewright
