// Builds a runtime plan from a module at the tile stage. BuildPlan.h draws it.
#include "backend/plan/BuildPlan.h"

#include "frontend/flow/FlowOps.h"
#include "frontend/graph/GraphOps.h"
#include "frontend/graph/SizeDefinition.h"
#include "frontend/graph/Sizes.h"
#include "frontend/import/HostCall.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;
namespace rt = tilewright::runtime;

namespace tilewright {
namespace {

/// The memory type of a tensor whose ONNX type is not written: signless integers are signed.
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

class PlanBuilder {
public:
  PlanBuilder(ModuleOp module, const PlanRequest &request, PlanConstants &constants)
      : module(module), request(request), constants(constants), symbolTable(module), exprs(plan.exprs) {}

  /// `given` of the module's first symbols are bound by the step that runs it as a body; those that the plan keeps are
  /// in `keptGiven`.
  Expected<rt::Plan> build(size_t given = 0, std::vector<size_t> *keptGiven = nullptr);

private:
  rt::ExprId expr(AffineExpr expression);
  rt::ExprId symbolExpr(unsigned position);
  rt::ExprId definedExpr(const graph::SizeDefinition &definition);
  rt::SymbolId bindScaled(AffineExpr size, std::string name, uint32_t input, uint32_t dim);
  void checkWholes();
  bool isBoundSymbol(unsigned position) const;
  std::vector<rt::ExprId> sizesOf(Value value);
  std::string stringAt(StringRef attribute, size_t i) const;

  rt::ValueId newValue(rt::ValueKind kind, Value value, DType type, std::string name, uint32_t source = rt::none);
  rt::ValueId aliasOf(Value value, rt::ValueId source, DType type);
  Expected<rt::ValueId> constantOf(Operation *op, Value value);
  Expected<rt::ValueId> packedConstantOf(tile::KernelOp kernel, unsigned argument, Value value);
  Expected<rt::ValueId> idOf(Value value);

  void bindSymbols(func::FuncOp main, size_t given);
  void addInputs(func::FuncOp main);
  bool isBound(ArrayRef<AffineExpr> sizes) const;
  SmallVector<AffineExpr> symbolsOf(tile::KernelOp kernel) const;
  bool isReady(Operation *op) const;
  void addGuards();
  Status addReadySteps();
  Status addOutputs(func::FuncOp main);
  Status addStep(Operation *op);
  Status addLaunch(graph::LaunchOp launch);
  Status addHostCall(graph::HostCallOp call);
  Status addReadSizes(graph::ReadSizesOp read);
  Status addIf(flow::IfOp branch);
  Status addLoop(flow::LoopOp loop);
  Status addBodies(func::FuncOp main);
  Status addBody(StringRef name, size_t given);
  std::vector<rt::BoundSymbol> addResults(Operation *op, std::vector<rt::ValueId> &outputs);
  Expected<std::vector<rt::ValueId>> passTo(const rt::Plan &body, size_t first, ValueRange values);
  Expected<rt::BodyUse> useOf(StringRef body, AffineMap sizes, ValueRange captures);
  rt::KernelId kernelOf(tile::KernelOp kernel);
  rt::GroupId groupOf(Operation *op, StringRef name, StringRef root);

  ModuleOp module;
  const PlanRequest &request;
  PlanConstants &constants;
  SymbolTable symbolTable;
  rt::Plan plan;
  rt::ExprBuilder exprs;
  DenseMap<Value, rt::ValueId> ids;
  DenseMap<Value, uint32_t> outputNumber; // values that @main returns, to be written in place
  DenseMap<Operation *, rt::KernelId> kernels;
  llvm::DenseSet<unsigned> bound;        // symbols that steps bind, or the step that runs this plan as a body
  DenseMap<unsigned, rt::ExprId> scaled; // symbols that dimensions bind of which they are a part
  std::vector<std::pair<rt::SymbolId, AffineExpr>>
      wholes; // such dimensions, and what they must be; those that no step checks yet
  DenseMap<unsigned, graph::SizeDefinition> defined;
  DenseMap<unsigned, rt::ExprId> definedIds;
  struct KnownBody {
    uint32_t index;
    std::vector<size_t> sizes; // which of the sizes that the operation gives the body's plan takes
  };
  llvm::StringMap<KnownBody> bodies;
  SmallVector<ArrayAttr> guards;    // those that no step checks yet
  SmallVector<Operation *> waiting; // for a symbol that no host call has bound yet
};

//===- Sizes ------------------------------------------------------------------------------------------------------===//

rt::ExprId PlanBuilder::expr(AffineExpr expression) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return exprs.constant(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbolExpr(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  rt::ExprId lhs = expr(binary.getLHS()), rhs = expr(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return exprs.add(lhs, rhs);
  case AffineExprKind::Mul:
    return exprs.mul(lhs, rhs);
  case AffineExprKind::Mod:
    return exprs.binary(rt::ExprKind::Mod, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return exprs.binary(rt::ExprKind::FloorDiv, lhs, rhs);
  default:
    return exprs.binary(rt::ExprKind::CeilDiv, lhs, rhs);
  }
}

rt::ExprId PlanBuilder::symbolExpr(unsigned position) {
  if (auto part = scaled.find(position); part != scaled.end())
    return part->second;
  auto definition = defined.find(position);
  if (definition == defined.end())
    return exprs.symbol(position);
  if (auto known = definedIds.find(position); known != definedIds.end())
    return known->second;
  rt::ExprId id = definedExpr(definition->second);
  return definedIds[position] = id;
}

/// A definition as an expression of the plan: broadcast(a, b) is a * t + b * (1 - t) with t = min(1, |a - 1|), which is
/// 0 where a is 1.
rt::ExprId PlanBuilder::definedExpr(const graph::SizeDefinition &definition) {
  rt::ExprId a = expr(definition.lhs), b = expr(definition.rhs), one = exprs.constant(1), minus = exprs.constant(-1);
  switch (definition.kind) {
  case graph::DefinitionKind::Minimum:
    return exprs.binary(rt::ExprKind::Min, a, b);
  case graph::DefinitionKind::Maximum:
    return exprs.binary(rt::ExprKind::Max, a, b);
  case graph::DefinitionKind::Quotient: // by 0 it is 0, where there is nothing to divide
    return exprs.binary(rt::ExprKind::FloorDiv, a, exprs.binary(rt::ExprKind::Max, b, one));
  case graph::DefinitionKind::Value:
    return a;
  case graph::DefinitionKind::Broadcast:
    break;
  }
  rt::ExprId above = exprs.add(a, minus), below = exprs.add(one, exprs.mul(minus, a));
  rt::ExprId isOther = exprs.binary(rt::ExprKind::Min, one, exprs.binary(rt::ExprKind::Max, above, below));
  return exprs.add(exprs.mul(a, isOther), exprs.mul(b, exprs.add(one, exprs.mul(minus, isOther))));
}

/// Where `size` is c * s + k of a symbol s that nothing binds: a symbol of the plan for the whole, of which s is a
/// part.
rt::SymbolId PlanBuilder::bindScaled(AffineExpr size, std::string name, uint32_t input, uint32_t dim) {
  std::optional<graph::ScaledSymbol> part = graph::asScaledSymbol(size);
  if (!part || isBoundSymbol(part->symbol) || defined.contains(part->symbol))
    return rt::none;
  rt::SymbolId whole = plan.symbols.size();
  const std::string &ofPart = plan.symbols[part->symbol].name;
  if (size_t slash = ofPart.rfind('/'); slash != std::string::npos && slash > 0) // as the import names parts
    name = ofPart.substr(0, slash);
  plan.symbols.push_back({std::move(name), input, dim});
  rt::ExprId multiple = exprs.add(exprs.symbol(whole), exprs.constant(-part->added));
  scaled[part->symbol] = exprs.binary(rt::ExprKind::FloorDiv, multiple, exprs.constant(part->factor));
  wholes.emplace_back(whole, size);
  return whole;
}

/// A dimension that is c * s + k must leave nothing over.
void PlanBuilder::checkWholes() {
  for (auto [whole, size] : wholes) {
    graph::ScaledSymbol part = *graph::asScaledSymbol(size);
    std::string less = part.added ? fmt::format(", less {},", part.added) : "";
    plan.steps.push_back(
        rt::Guard{rt::Relation::Equal, exprs.symbol(whole), expr(size),
                  fmt::format("expected a size '{}'{} that {} divides", plan.symbols[whole].name, less, part.factor)});
  }
  wholes.clear();
}

std::vector<rt::ExprId> PlanBuilder::sizesOf(Value value) {
  std::vector<rt::ExprId> sizes;
  for (AffineExpr size : graph::getSizes(cast<RankedTensorType>(value.getType())))
    sizes.push_back(expr(size));
  return sizes;
}

std::string PlanBuilder::stringAt(StringRef attribute, size_t i) const {
  auto list = module->getAttrOfType<ArrayAttr>(attribute);
  return list && i < list.size() ? cast<StringAttr>(list[i]).str() : std::string();
}

/// The first input dimension that is the bare symbol binds it, or else one that is a multiple of it; the runtime checks
/// the others. The first `given` symbols are bound by the step that runs this plan as a body.
void PlanBuilder::bindSymbols(func::FuncOp main, size_t given) {
  for (size_t i = 0; i < given; ++i)
    bound.insert(i);
  auto names = module->getAttrOfType<ArrayAttr>("graph.symbols");
  for (size_t i = 0; names && i < names.size(); ++i)
    plan.symbols.push_back({cast<StringAttr>(names[i]).str(), rt::none, 0});
  for (const graph::SizeDefinition &definition : graph::definitionsOf(module))
    defined[definition.symbol] = definition;
  for (auto [input, type] : llvm::enumerate(main.getArgumentTypes()))
    for (auto [dim, size] : llvm::enumerate(graph::getSizes(cast<RankedTensorType>(type))))
      if (auto symbol = dyn_cast<AffineSymbolExpr>(size); symbol && symbol.getPosition() >= given &&
                                                          plan.symbols[symbol.getPosition()].input == rt::none &&
                                                          !defined.contains(symbol.getPosition()))
        plan.symbols[symbol.getPosition()] = {plan.symbols[symbol.getPosition()].name, uint32_t(input), uint32_t(dim)};
  for (auto [input, type] : llvm::enumerate(main.getArgumentTypes()))
    for (auto [dim, size] : llvm::enumerate(graph::getSizes(cast<RankedTensorType>(type)))) {
      if (isa<AffineSymbolExpr>(size))
        continue;
      auto name = main.getArgAttrOfType<StringAttr>(input, "graph.name");
      bindScaled(size, fmt::format("{}_d{}", name ? name.str() : fmt::format("input_{}", input), dim), input, dim);
    }
}

//===- Values -----------------------------------------------------------------------------------------------------===//

rt::ValueId PlanBuilder::newValue(rt::ValueKind kind, Value value, DType type, std::string name, uint32_t source) {
  rt::ValueId id = plan.values.size();
  plan.values.push_back({std::move(name), type, kind, sizesOf(value), source, rt::none});
  return id;
}

rt::ValueId PlanBuilder::aliasOf(Value value, rt::ValueId source, DType type) {
  rt::ValueId id = newValue(rt::ValueKind::Alias, value, type, plan.values[source].name, source);
  plan.values[id].byteOffset = exprs.constant(0);
  return id;
}

Expected<rt::ValueId> PlanBuilder::constantOf(Operation *op, Value value) {
  DType type = memoryType(cast<RankedTensorType>(value.getType()).getElementType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return newValue(rt::ValueKind::Constant, value, type, "", constants.add(elements));
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    auto &pool = module.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
    std::span<const std::byte> bytes = pool.get(constant.getKey());
    if (!bytes.data())
      return Status(Code::Internal, fmt::format("no constant '{}' in the pool", constant.getKey().str()));
    return newValue(rt::ValueKind::Constant, value, type, "", constants.add(bytes));
  }
  return Status(Code::Internal, fmt::format("expected launches, host calls and constants in @main, got '{}'",
                                            op->getName().getStringRef().str()));
}

/// The plan's value for an IR value, made at its first use where it is a constant.
Expected<rt::ValueId> PlanBuilder::idOf(Value value) {
  if (auto it = ids.find(value); it != ids.end())
    return it->second;
  Expected<rt::ValueId> id = constantOf(value.getDefiningOp(), value);
  if (id)
    ids[value] = *id;
  return id;
}

/// A constant operand that the kernel wants in panels.
Expected<rt::ValueId> PlanBuilder::packedConstantOf(tile::KernelOp kernel, unsigned argument, Value value) {
  auto map = kernel.getArgAttrOfType<AffineMapAttr>(argument, "tile.packed_from");
  auto constant = value.getDefiningOp<graph::ConstantOp>();
  if (!map || !constant)
    return idOf(value);
  auto buffer = cast<tile::BufferType>(kernel.getArgumentTypes()[argument]);
  auto source = kernel.getArgAttrOfType<TypeAttr>(argument, "tile.source");
  Packing packing;
  packing.map = map.getValue();
  packing.elementBytes = std::max(1u, buffer.getElementType().getIntOrFloatBitWidth() / 8);
  packing.sourceShape.assign(cast<RankedTensorType>(source.getValue()).getShape().begin(),
                             cast<RankedTensorType>(source.getValue()).getShape().end());
  std::vector<rt::ExprId> dims;
  for (AffineExpr size : buffer.getSizes().getResults()) {
    packing.packedShape.push_back(cast<AffineConstantExpr>(size).getValue());
    dims.push_back(expr(size));
  }
  auto &pool = module.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  Expected<uint32_t> entry = constants.addPacked(constant.getKey().str(), pool.get(constant.getKey()), packing);
  if (!entry)
    return entry.status();
  rt::ValueId id = plan.values.size();
  plan.values.push_back(
      {"", memoryType(buffer.getElementType()), rt::ValueKind::Constant, std::move(dims), *entry, rt::none});
  return id;
}

void PlanBuilder::addInputs(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto name = main.getArgAttrOfType<StringAttr>(i, "graph.name");
    auto dtype = main.getArgAttrOfType<StringAttr>(i, "graph.dtype");
    DType type =
        dtype ? parseDType(dtype.getValue()) : memoryType(cast<RankedTensorType>(argument.getType()).getElementType());
    ids[argument] = newValue(rt::ValueKind::Input, argument, type, name ? name.str() : fmt::format("input_{}", i), i);
    plan.inputs.push_back(ids[argument]);
  }
  for (rt::SymbolId symbol = 0; symbol < plan.symbols.size();
       ++symbol) // a dimension that binds a symbol is that symbol
    if (const rt::Symbol &bound = plan.symbols[symbol]; bound.input != rt::none)
      plan.values[plan.inputs[bound.input]].dims[bound.dim] = exprs.symbol(symbol);
}

/// Every output is a value of its own: written in place by the step that makes it where that is possible, copied
/// otherwise.
///
///   return %launch           the launch writes the output
///   return reshape(%launch)  the output is written under its own shape; the launch's result is an alias of it
///   return reshape(%call)    a copy: a host call may have to run before anybody knows how large its result is, so that is no alias
///   return %input, or twice  a copy
Status PlanBuilder::addOutputs(func::FuncOp main) {
  auto returned = cast<func::ReturnOp>(main.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(returned.getOperands())) {
    auto name = main.getResultAttrOfType<StringAttr>(i, "graph.name");
    auto dtype = main.getResultAttrOfType<StringAttr>(i, "graph.dtype");
    DType type =
        dtype ? parseDType(dtype.getValue()) : memoryType(cast<RankedTensorType>(value.getType()).getElementType());
    rt::ValueId output =
        newValue(rt::ValueKind::Output, value, type, name ? name.str() : fmt::format("output_{}", i), i);
    plan.outputs.push_back(output);
    Value made = value;
    while (isa_and_nonnull<graph::ReshapeOp, graph::ViewOp>(made.getDefiningOp()))
      made = made.getDefiningOp()->getOperand(0);
    bool inPlace =
        isa_and_nonnull<graph::LaunchOp, graph::DimsOp>(made.getDefiningOp()) ||
        (made == value && isa_and_nonnull<graph::HostCallOp, flow::IfOp, flow::LoopOp>(made.getDefiningOp()));
    if (!inPlace || ids.count(made))
      continue;
    if (made == value)
      ids[made] = output;
    else
      ids[made] = aliasOf(made, output, memoryType(cast<RankedTensorType>(made.getType()).getElementType()));
    outputNumber[made] = i;
  }
  return Status();
}

//===- Steps ------------------------------------------------------------------------------------------------------===//

rt::KernelId PlanBuilder::kernelOf(tile::KernelOp kernel) {
  auto [it, inserted] = kernels.try_emplace(kernel, plan.kernels.size());
  if (!inserted)
    return it->second;
  const ModuleCode &code = request.code.at(module);
  const KernelFacts &facts = code.code->kernels.at(kernel.getSymName().str());
  rt::Kernel entry;
  entry.name = entry.entry = kernel.getSymName().str();
  entry.code = code.index;
  llvm::SmallPtrSet<Value, 4> written;
  kernel.walk([&](tile::StoreOp store) { written.insert(store.getBuffer()); });
  for (BlockArgument argument : kernel.getBody().getArguments().take_front(kernel.getNumBuffers()))
    entry.buffers.push_back(written.contains(argument) ? rt::BufferAccess::Write : rt::BufferAccess::Read);
  entry.scalars = kernel.getNumSymbols();
  entry.block = facts.block;
  entry.staticSharedBytes = facts.staticSharedBytes;
  entry.dynamicSharedBytes = facts.dynamicSharedBytes;
  plan.kernels.push_back(std::move(entry));
  return it->second;
}

rt::GroupId PlanBuilder::groupOf(Operation *op, StringRef name, StringRef root) {
  rt::Group group;
  group.name = name.str();
  group.rootKind = root.str();
  if (auto nodes = op->getAttrOfType<DenseI64ArrayAttr>("graph.nodes_of"))
    for (int64_t node : nodes.asArrayRef())
      group.members.push_back(stringAt("graph.nodes", node));
  else if (auto node = op->getAttrOfType<IntegerAttr>("graph.node"))
    group.members.push_back(stringAt("graph.nodes", node.getInt()));
  if (auto bytes = op->getAttrOfType<AffineMapAttr>("graph.bytes"))
    group.bytesMoved = expr(bytes.getValue().getResult(0));
  if (auto flops = op->getAttrOfType<AffineMapAttr>("graph.flops"))
    group.flops = expr(flops.getValue().getResult(0));
  auto products = op->getAttrOfType<ArrayAttr>("graph.products");
  for (mlir::Attribute attribute : products ? products.getValue() : ArrayRef<mlir::Attribute>()) {
    auto product = cast<ArrayAttr>(attribute);
    AffineMap sizes = cast<AffineMapAttr>(product[0]).getValue();
    group.products.push_back({expr(sizes.getResult(0)), expr(sizes.getResult(1)), expr(sizes.getResult(2)),
                              expr(sizes.getResult(3)), memoryType(cast<TypeAttr>(product[1]).getValue())});
  }
  plan.groups.push_back(std::move(group));
  return plan.groups.size() - 1;
}

Status PlanBuilder::addLaunch(graph::LaunchOp launch) {
  auto kernel = symbolTable.lookup<tile::KernelOp>(launch.getKernel());
  if (!kernel)
    return Status(Code::Internal, fmt::format("no tile kernel '{}'", launch.getKernel().str()));
  rt::Launch step;
  step.kernel = kernelOf(kernel);
  for (auto [i, operand] : llvm::enumerate(launch.getInputs())) {
    Expected<rt::ValueId> id = packedConstantOf(kernel, i, operand);
    if (!id)
      return id.status();
    step.buffers.push_back(*id);
  }
  for (Value result : launch.getResults()) {
    if (!ids.count(result))
      ids[result] = newValue(rt::ValueKind::Temporary, result,
                             memoryType(cast<RankedTensorType>(result.getType()).getElementType()), "");
    step.buffers.push_back(ids[result]);
  }
  // The kernel's own symbols are a selection of the module's.
  SmallVector<AffineExpr> symbols = symbolsOf(kernel);
  for (AffineExpr symbol : symbols)
    step.scalars.push_back(expr(symbol));
  for (auto [i, extent] : llvm::enumerate(kernel.getGrid().getResults()))
    step.grid[i] = expr(extent.replaceSymbols(symbols));
  if (int64_t bytes = request.code.at(module).code->kernels.at(kernel.getSymName().str()).workspaceBytes)
    step.workspaceBytes = exprs.constant(bytes);
  auto schedule = kernel->getAttrOfType<tile::ScheduleAttr>("schedule");
  step.group = groupOf(launch, kernel.getSymName(), schedule ? graph::stringifyRootKind(schedule.getRoot()) : "");
  plan.steps.push_back(std::move(step));
  return Status();
}

Status PlanBuilder::addHostCall(graph::HostCallOp call) {
  rt::HostCall step;
  step.op = call.getOp().str();
  step.domain = call.getDomain().str();
  step.opset = call.getOpset();
  step.attributes = referenceAttributes(call);
  // ONNX types that signless integers do not tell, as the importer wrote them.
  auto dtypes = call->getAttrOfType<ArrayAttr>("input_dtypes");
  auto typeOf = [&](size_t i, Value value) {
    return dtypes ? parseDType(cast<StringAttr>(dtypes[i]).getValue())
                  : memoryType(cast<RankedTensorType>(value.getType()).getElementType());
  };
  auto operand = call.getInputs().begin();
  for (bool present : call.getPresent()) {
    if (!present) {
      step.inputs.push_back(rt::none);
      continue;
    }
    size_t position = std::distance(call.getInputs().begin(), operand);
    Value value = *operand++;
    Expected<rt::ValueId> id = idOf(value);
    if (!id)
      return id.status();
    DType type = typeOf(position, value);
    step.inputs.push_back(plan.values[*id].dtype == type ? *id : aliasOf(value, *id, type));
  }
  step.binds = addResults(call, step.outputs);
  step.node = stringAt("graph.nodes", call->getAttrOfType<IntegerAttr>("graph.node").getInt());
  step.group = groupOf(call, step.op, "host_call");
  plan.steps.push_back(std::move(step));
  checkWholes();
  addGuards();
  return Status();
}

Status PlanBuilder::addReadSizes(graph::ReadSizesOp read) {
  Expected<rt::ValueId> id = idOf(read.getSizes());
  if (!id)
    return id.status();
  std::string node = stringAt("graph.nodes", read->getAttrOfType<IntegerAttr>("graph.node").getInt());
  rt::ReadSizes step{*id, {}, StringRef(node).split('|').first.str()};
  for (auto [element, symbol] : llvm::enumerate(read.getSymbols())) {
    exprs.symbol(symbol); // which keeps it among the plan's symbols, whoever needs it
    bound.insert(symbol);
    step.binds.push_back({0, uint32_t(element), uint32_t(symbol)});
  }
  plan.steps.push_back(std::move(step));
  addGuards();
  return Status();
}

/// The values of a step's results, made where no output takes their place, and the symbols that they bind.
std::vector<rt::BoundSymbol> PlanBuilder::addResults(Operation *op, std::vector<rt::ValueId> &outputs) {
  std::vector<rt::BoundSymbol> binds;
  auto dtypes = op->getAttrOfType<ArrayAttr>("output_dtypes"); // which signless integers do not tell
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    DType type = dtypes ? parseDType(cast<StringAttr>(dtypes[i]).getValue())
                        : memoryType(cast<RankedTensorType>(result.getType()).getElementType());
    if (!ids.count(result))
      ids[result] = newValue(rt::ValueKind::Temporary, result, type, "");
    outputs.push_back(ids[result]);
    for (auto [dim, size] : llvm::enumerate(graph::getSizes(cast<RankedTensorType>(result.getType()))))
      if (auto symbol = dyn_cast<AffineSymbolExpr>(size); symbol && !isBoundSymbol(symbol.getPosition()) &&
                                                          !defined.contains(symbol.getPosition()) &&
                                                          bound.insert(symbol.getPosition()).second)
        binds.push_back({uint32_t(i), uint32_t(dim), symbol.getPosition()});
  }
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    for (auto [dim, size] : llvm::enumerate(graph::getSizes(cast<RankedTensorType>(result.getType()))))
      if (rt::SymbolId whole = bindScaled(size, fmt::format("size_{}_{}_d{}", plan.steps.size(), i, dim), rt::none, 0);
          whole != rt::none) {
        binds.push_back({uint32_t(i), uint32_t(dim), whole});
        plan.values[outputs[i]].dims[dim] = exprs.symbol(whole);
      }
  return binds;
}

/// The values as inputs `first`... of a body, under the types that it has them in.
Expected<std::vector<rt::ValueId>> PlanBuilder::passTo(const rt::Plan &body, size_t first, ValueRange values) {
  std::vector<rt::ValueId> passed;
  for (auto [i, value] : llvm::enumerate(values)) {
    Expected<rt::ValueId> id = idOf(value);
    if (!id)
      return id.status();
    DType type = body.values[body.inputs.at(first + i)].dtype;
    passed.push_back(plan.values[*id].dtype == type ? *id : aliasOf(value, *id, type));
  }
  return passed;
}

Expected<rt::BodyUse> PlanBuilder::useOf(StringRef name, AffineMap sizes, ValueRange captures) {
  const KnownBody &body = bodies.at(name);
  const rt::Plan &inside = plan.bodies[body.index];
  rt::BodyUse use{body.index, {}, {}};
  for (size_t kept : body.sizes)
    use.sizes.push_back(expr(sizes.getResult(kept)));
  Expected<std::vector<rt::ValueId>> passed = passTo(inside, inside.inputs.size() - captures.size(), captures);
  if (!passed)
    return passed.status();
  use.captures = std::move(*passed);
  return use;
}

Status PlanBuilder::addIf(flow::IfOp op) {
  rt::Branch step;
  Expected<rt::ValueId> condition = idOf(op.getCondition());
  Expected<rt::BodyUse> onTrue = useOf(op.getOnTrue(), op.getTrueSizes(), op.getTrueCaptures()),
                        onFalse = useOf(op.getOnFalse(), op.getFalseSizes(), op.getFalseCaptures());
  for (const Status &status : {condition.status(), onTrue.status(), onFalse.status()})
    if (!status)
      return status;
  step.condition = *condition, step.onTrue = *onTrue, step.onFalse = *onFalse;
  step.binds = addResults(op, step.outputs);
  step.node = stringAt("graph.nodes", op->getAttrOfType<IntegerAttr>("graph.node").getInt());
  step.group = groupOf(op, "If", "branch");
  plan.steps.push_back(std::move(step));
  addGuards();
  return Status();
}

Status PlanBuilder::addLoop(flow::LoopOp op) {
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
      Expected<rt::ValueId> id = idOf(value);
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
  step.node = stringAt("graph.nodes", op->getAttrOfType<IntegerAttr>("graph.node").getInt());
  step.group = groupOf(op, "Loop", "loop");
  plan.steps.push_back(std::move(step));
  addGuards();
  return Status();
}

/// The plans of the bodies that @main's branches and loops run, before any step names them.
Status PlanBuilder::addBodies(func::FuncOp main) {
  for (Operation &op : main.getBody().front()) {
    if (auto branch = dyn_cast<flow::IfOp>(op)) {
      for (const Status &status : {addBody(branch.getOnTrue(), branch.getTrueSizes().getNumResults()),
                                   addBody(branch.getOnFalse(), branch.getFalseSizes().getNumResults())})
        if (!status)
          return status;
    } else if (auto loop = dyn_cast<flow::LoopOp>(op)) {
      if (Status status = addBody(loop.getBody(), loop.getSizes().getNumResults()); !status)
        return status;
    }
  }
  return Status();
}

Status PlanBuilder::addBody(StringRef name, size_t given) {
  auto inside = symbolTable.lookup<ModuleOp>(name);
  if (!inside)
    return Status(Code::Internal, fmt::format("no body '{}'", name.str()));
  auto [entry, isNew] = bodies.try_emplace(name, KnownBody{uint32_t(plan.bodies.size()), {}});
  if (!isNew)
    return Status();
  Expected<rt::Plan> body = PlanBuilder(inside, request, constants).build(given, &entry->second.sizes);
  if (!body)
    return body.status();
  plan.bodies.push_back(std::move(*body));
  return Status();
}

Status PlanBuilder::addStep(Operation *op) {
  return llvm::TypeSwitch<Operation *, Status>(op)
      .Case([&](graph::LaunchOp launch) { return addLaunch(launch); })
      .Case([&](graph::HostCallOp call) { return addHostCall(call); })
      .Case([&](graph::ReadSizesOp read) { return addReadSizes(read); })
      .Case([&](flow::IfOp op) { return addIf(op); })
      .Case([&](flow::LoopOp op) { return addLoop(op); })
      .Case([&](graph::DimsOp dims) {
        if (!ids.count(dims.getResult()))
          ids[dims.getResult()] = newValue(rt::ValueKind::Temporary, dims.getResult(), DType::I64, "");
        rt::WriteDims step{ids[dims.getResult()], {}};
        for (AffineExpr size : dims.getSizes().getResults())
          step.elements.push_back(expr(size));
        plan.steps.push_back(std::move(step));
        return Status();
      })
      .Case<graph::ReshapeOp, graph::ViewOp>([&](auto view) {
        Expected<rt::ValueId> source = idOf(view.getData());
        if (!source)
          return source.status();
        if (!ids.count(view.getResult()))
          ids[view.getResult()] = aliasOf(view.getResult(), *source, plan.values[*source].dtype);
        return Status();
      })
      .Case<arith::ConstantOp, graph::ConstantOp, func::ReturnOp>(
          [](Operation *) { return Status(); }) // constants are made at their first use
      .Default([](Operation *op) {
        return Status(Code::Internal, fmt::format("a plan cannot say '{}', which is left in @main",
                                                  op->getName().getStringRef().str()));
      });
}

/// Those of `graph.guards` whose symbols are bound by now: [lhs, rhs, message], which must be equal for the assumptions
/// of import to hold, or the relation that a fourth element names.
void PlanBuilder::addGuards() {
  llvm::erase_if(guards, [&](ArrayAttr guard) {
    AffineMap lhs = cast<AffineMapAttr>(guard[0]).getValue(), rhs = cast<AffineMapAttr>(guard[1]).getValue();
    if (!isBound(lhs.getResults()) || !isBound(rhs.getResults()))
      return false;
    StringRef name = guard.size() > 3 ? cast<StringAttr>(guard[3]).getValue() : StringRef("equal");
    rt::Relation relation = name == "at most"     ? rt::Relation::LessEqual
                            : name == "not equal" ? rt::Relation::NotEqual
                                                  : rt::Relation::Equal;
    plan.steps.push_back(
        rt::Guard{relation, expr(lhs.getResult(0)), expr(rhs.getResult(0)), cast<StringAttr>(guard[2]).str()});
    return true;
  });
}

bool PlanBuilder::isBoundSymbol(unsigned position) const {
  return plan.symbols[position].input != rt::none || bound.contains(position) || scaled.contains(position);
}

/// Whether the inputs, or the host calls so far, bind every symbol of `sizes`.
bool PlanBuilder::isBound(ArrayRef<AffineExpr> sizes) const {
  bool all = true;
  for (AffineExpr size : sizes)
    size.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      if (!symbol || !all)
        return;
      auto definition = defined.find(symbol.getPosition());
      all = definition == defined.end() ? isBoundSymbol(symbol.getPosition())
                                        : isBound({definition->second.lhs, definition->second.rhs});
    });
  return all;
}

/// The symbols of the module that `kernel` takes as scalars.
SmallVector<AffineExpr> PlanBuilder::symbolsOf(tile::KernelOp kernel) const {
  SmallVector<AffineExpr> symbols;
  if (auto selected = kernel->getAttrOfType<DenseI64ArrayAttr>("symbols"))
    for (int64_t symbol : selected.asArrayRef())
      symbols.push_back(getAffineSymbolExpr(symbol, kernel.getContext()));
  return symbols;
}

/// Whether every size that `op` needs is known by now: grouping orders operations by what they read, and no operand
/// says that `graph.dims` or a loop over a late size reads what a host call binds.
bool PlanBuilder::isReady(Operation *op) const {
  auto known = [&](Value value) { return isBound(graph::getSizes(cast<RankedTensorType>(value.getType()))); };
  if (auto dims = dyn_cast<graph::DimsOp>(op); dims && !isBound(dims.getSizes().getResults()))
    return false;
  if (auto launch = dyn_cast<graph::LaunchOp>(op))
    if (auto kernel = symbolTable.lookup<tile::KernelOp>(launch.getKernel()); kernel && !isBound(symbolsOf(kernel)))
      return false;
  auto takes = [&](StringRef name, AffineMap sizes) {
    return llvm::all_of(bodies.at(name).sizes, [&](size_t kept) { return isBound(sizes.getResult(kept)); });
  };
  if (auto branch = dyn_cast<flow::IfOp>(op); branch && !(takes(branch.getOnTrue(), branch.getTrueSizes()) &&
                                                          takes(branch.getOnFalse(), branch.getFalseSizes())))
    return false;
  if (auto loop = dyn_cast<flow::LoopOp>(op); loop && !takes(loop.getBody(), loop.getSizes()))
    return false;
  return (isa<graph::HostCallOp, flow::IfOp, flow::LoopOp>(op) || llvm::all_of(op->getResults(), known)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return known(operand) && !llvm::is_contained(waiting, operand.getDefiningOp());
         });
}

/// The first that is ready of those that wait, again and again.
Status PlanBuilder::addReadySteps() {
  auto ready = [&](Operation *op) { return isReady(op); };
  for (auto next = llvm::find_if(waiting, ready); next != waiting.end(); next = llvm::find_if(waiting, ready)) {
    Operation *op = *next;
    waiting.erase(next);
    if (Status status = addStep(op); !status)
      return status;
  }
  return Status();
}

/// A symbol that fixed sizes have replaced is bound by nothing, and read by nothing; a body need not be given what it
/// does not use.
static void dropUnusedSymbols(rt::Plan &plan, size_t given, std::vector<size_t> *keptGiven) {
  std::vector<bool> used(plan.symbols.size(), false);
  for (const rt::Expr &expr : plan.exprs)
    if (expr.kind == rt::ExprKind::Symbol)
      used[expr.lhs] = true;
  std::vector<int64_t> position(plan.symbols.size());
  std::vector<rt::Symbol> kept;
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    position[i] = kept.size();
    if (!used[i])
      continue;
    kept.push_back(std::move(plan.symbols[i]));
    if (i < given && kept.back().input == rt::none) {
      ++plan.givenSymbols;
      keptGiven->push_back(i);
    }
  }
  plan.symbols = std::move(kept);
  for (rt::Expr &expr : plan.exprs)
    if (expr.kind == rt::ExprKind::Symbol)
      expr.lhs = position[expr.lhs];
  for (rt::Step &step : plan.steps)
    std::visit(
        [&](auto &s) {
          if constexpr (requires { s.binds; })
            for (rt::BoundSymbol &bound : s.binds)
              bound.symbol = position[bound.symbol];
        },
        step);
}

Expected<rt::Plan> PlanBuilder::build(size_t given, std::vector<size_t> *keptGiven) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return Status(Code::Internal, "the module has no @main");
  plan.target = request.target;
  plan.mode = request.mode;
  plan.requirements = request.requirements;
  bindSymbols(main, given);
  if (Status status = addBodies(main); !status)
    return status;
  addInputs(main);
  checkWholes();
  if (auto list = module->getAttrOfType<ArrayAttr>("graph.guards"))
    llvm::append_range(guards, list.getAsRange<ArrayAttr>());
  addGuards();
  if (Status status = addOutputs(main); !status)
    return status;
  for (Operation &op : main.getBody().front()) {
    waiting.push_back(&op);
    if (Status status = addReadySteps(); !status)
      return status;
  }
  if (!waiting.empty())
    return Status(Code::Internal,
                  fmt::format("nothing binds the sizes of '{}'", waiting.front()->getName().getStringRef().str()));
  // Outputs that no step writes in place are copies.
  auto returned = cast<func::ReturnOp>(main.getBody().front().getTerminator());
  for (auto [output, value] : llvm::zip_equal(plan.outputs, returned.getOperands())) {
    Value made = value;
    while (isa_and_nonnull<graph::ReshapeOp, graph::ViewOp>(made.getDefiningOp()))
      made = made.getDefiningOp()->getOperand(0);
    if (auto it = outputNumber.find(made); it != outputNumber.end() && plan.outputs[it->second] == output)
      continue;
    Expected<rt::ValueId> source = idOf(value);
    if (!source)
      return source.status();
    plan.steps.push_back(rt::Copy{output, *source});
  }
  if (!guards.empty())
    return Status(Code::Internal,
                  fmt::format("nothing binds the sizes of the guard '{}'", cast<StringAttr>(guards.front()[2]).str()));
  auto nodes =
      keptGiven ? ArrayAttr() : module->getAttrOfType<ArrayAttr>("graph.nodes"); // a body's are among its root's
  if (nodes)
    for (mlir::Attribute node : nodes) {
      auto [name, op] = cast<StringAttr>(node).getValue().split('|');
      plan.faults.push_back(
          fmt::format("node '{}' ({}): an index is outside the dimension that it selects from", name.str(), op.str()));
    }
  dropUnusedSymbols(plan, given, keptGiven);
  return std::move(plan);
}

} // namespace

Expected<rt::Plan> buildPlan(ModuleOp module, const PlanRequest &request, PlanConstants &constants) {
  return PlanBuilder(module, request, constants).build();
}

} // namespace tilewright
