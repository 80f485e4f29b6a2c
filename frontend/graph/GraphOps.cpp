// SPDX-License-Identifier: Apache-2.0
// The graph dialect: registration, the kernel's syntax, and the operations that hold others.
#include "frontend/graph/GraphOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::graph;

#include "frontend/graph/GraphDialect.cpp.inc"
#include "frontend/graph/GraphEnums.cpp.inc"
#include "frontend/graph/GraphInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "frontend/graph/GraphAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "frontend/graph/GraphOps.cpp.inc"

void GraphDialect::initialize() {
  pool = std::make_shared<ConstantPool>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "frontend/graph/GraphAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "frontend/graph/GraphOps.cpp.inc"
      >();
}

/// Folders return splats; everything larger is in the pool.
Operation *GraphDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===- Kernels and launches ---------------------------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

/// Arguments and results must be there, an argument in one list, and a state must keep its type.
static LogicalResult verifySteps(KernelOp kernel, StepsAttr steps) {
  if (steps.getCount().getNumDims() != 0 || steps.getCount().getNumResults() != 1)
    return kernel.emitOpError() << "expected one number of steps, in symbols alone, got " << steps;
  llvm::SmallDenseSet<int64_t> seen;
  for (DenseI64ArrayAttr list : {steps.getCarried(), steps.getForward(), steps.getBackward()})
    for (int64_t argument : list.asArrayRef())
      if (argument < 0 || argument >= kernel.getNumArguments() || !seen.insert(argument).second)
        return kernel.emitOpError() << "expected arguments of the kernel in its steps, each once, got " << argument;
  for (int64_t result : steps.getBackwardResults().asArrayRef())
    if (result < steps.getCarried().size() || result >= kernel.getNumResults())
      return kernel.emitOpError() << "expected results behind the carried ones to be collected backward, got "
                                  << result;
  for (auto [i, argument] : llvm::enumerate(steps.getCarried().asArrayRef()))
    if (i >= kernel.getNumResults() || kernel.getResultTypes()[i] != kernel.getArgumentTypes()[argument])
      return kernel.emitOpError() << "expected result " << i << " of the type of argument " << argument
                                  << ", which takes it in the next step";
  return success();
}

LogicalResult KernelOp::verify() {
  for (TypeRange types : {TypeRange(getArgumentTypes()), TypeRange(getResultTypes())})
    for (Type type : types)
      if (!llvm::isa<RankedTensorType>(type))
        return emitOpError() << "expected tensors as arguments and results because a launch passes buffers, got "
                             << type;
  return getSteps() ? verifySteps(*this, *getSteps()) : success();
}

/// `type` with a dimension of `count` in front.
static RankedTensorType repeated(Type type, AffineExpr count) {
  auto tensor = llvm::cast<RankedTensorType>(type);
  llvm::SmallVector<AffineExpr> sizes{count};
  llvm::append_range(sizes, getSizes(tensor));
  return makeTensorType(tensor.getContext(), sizes, tensor.getElementType());
}

FunctionType KernelOp::getLaunchType() {
  if (!getSteps())
    return getFunctionType();
  StepsAttr steps = *getSteps();
  llvm::SmallVector<Type> inputs(getArgumentTypes()), results;
  for (auto [i, type] : llvm::enumerate(inputs))
    if (steps.isSequence(i))
      type = repeated(type, steps.getCountExpr());
  ArrayRef<Type> ofStep = getResultTypes(), states = ofStep.take_front(steps.getCarried().size());
  for (Type type : states)
    results.push_back(repeated(type, getAffineConstantExpr(2, getContext())));
  llvm::append_range(results, states);
  for (Type type : ofStep.drop_front(states.size()))
    results.push_back(repeated(type, steps.getCountExpr()));
  return FunctionType::get(getContext(), inputs, results);
}

LogicalResult ReturnOp::verify() {
  TypeRange expected = getParentOp<KernelOp>().getResultTypes();
  if (getOutputs().getTypes() != expected)
    return emitOpError() << "expected the kernel's result types (" << expected << "), got (" << getOutputs().getTypes()
                         << ")";
  return success();
}

llvm::SmallVector<FlatSymbolRefAttr> LaunchOp::getKernels() {
  llvm::SmallVector<FlatSymbolRefAttr> kernels{getKernelAttr()};
  if (auto variants = getVariants())
    for (auto variant : variants->getAsRange<VariantAttr>())
      kernels.push_back(variant.getKernel());
  return kernels;
}

LogicalResult LaunchOp::verify() {
  ArrayAttr variants = getVariantsAttr();
  VariantAttr last;
  for (mlir::Attribute attribute : variants ? variants.getValue() : ArrayRef<mlir::Attribute>()) {
    auto variant = llvm::dyn_cast<VariantAttr>(attribute);
    if (!variant)
      return emitOpError() << "expected variants of its kernel, got " << attribute;
    if (variant.getSize().getNumResults() != 1 || variant.getSize().getNumDims() != 0)
      return emitOpError() << "expected variants for one size of symbols alone, got " << variant;
    if (last && (variant.getSize() != last.getSize() || variant.getMost() <= last.getMost()))
      return emitOpError() << "expected variants for one size in the order of their bounds, got " << variant
                           << " behind " << last;
    last = variant;
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (FlatSymbolRefAttr name : getKernels()) {
    Operation *callee = symbols.lookupNearestSymbolFrom(*this, name);
    if (!callee)
      return emitOpError() << "expected a kernel of the name '" << name.getValue() << "', found none";
    auto kernel = llvm::dyn_cast<KernelOp>(callee);
    if (!kernel) // a tile.kernel takes buffers, whose agreement the plan checks
      continue;
    FunctionType type = kernel.getLaunchType();
    if (getInputs().getTypes() != type.getInputs() || getResultTypes() != TypeRange(type.getResults()))
      return emitOpError() << "expected the types of the kernel '" << name.getValue() << "', " << type << ", got ("
                           << getInputs().getTypes() << ") -> (" << getResultTypes() << ")";
  }
  return success();
}

//===- Sources ----------------------------------------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (getKey().size() != 32 || !llvm::all_of(getKey(), [](char c) { return llvm::isHexDigit(c) && !llvm::isUpper(c); }))
    return emitOpError()
           << "expected a key of 32 lower-case hexadecimal digits because the pool is addressed by content, got '"
           << getKey() << "'";
  auto type = llvm::cast<RankedTensorType>(getType());
  auto &pool = llvm::cast<GraphDialect>((*this)->getDialect())->constants();
  if (!pool.contains(getKey())) // text without its constants file is still IR
    return success();
  if (!type.getElementType().isIntOrFloat()) // strings, of any length
    return success();
  unsigned bits = type.getElementTypeBitWidth();
  size_t expected = static_cast<size_t>(type.getNumElements()) * ((bits + 7) / 8);
  if (pool.size(getKey()) != expected)
    return emitOpError() << "expected " << expected << " bytes because of the type " << type << ", the pool has "
                         << pool.size(getKey());
  return success();
}

LogicalResult IotaOp::verify() {
  auto type = llvm::cast<RankedTensorType>(getType());
  if (getDim() >= static_cast<uint64_t>(type.getRank()))
    return emitOpError() << "expected a dimension below the rank " << type.getRank() << ", got " << getDim();
  return success();
}

LogicalResult DimsOp::verify() {
  auto type = llvm::cast<RankedTensorType>(getType());
  AffineMap sizes = getSizes();
  if (sizes.getNumDims() != 0)
    return emitOpError() << "expected expressions of symbols alone because sizes do not depend on coordinates, got "
                         << getSizesAttr();
  int64_t count = sizes.getNumResults();
  bool fits = type.getRank() == 0 ? count == 1 : type.getRank() == 1 && type.getDimSize(0) == count;
  if (!fits)
    return emitOpError() << "expected room for " << count << " sizes, got " << type;
  return success();
}

LogicalResult ReadSizesOp::verify() {
  auto module = getOperation()->getParentOfType<ModuleOp>();
  auto names = module ? module->getAttrOfType<ArrayAttr>(symbolsAttr) : ArrayAttr(); // there from the end of import on
  for (int64_t symbol : getSymbols())
    if (symbol < 0 || (names && symbol >= static_cast<int64_t>(names.size())))
      return emitOpError() << "expected symbols that the module has, got " << symbol;
  auto type = llvm::cast<RankedTensorType>(getSizes().getType());
  if (type.getRank() != 1 || type.getDimSize(0) != static_cast<int64_t>(getSymbols().size()))
    return emitOpError() << "expected a vector of as many elements as symbols, " << getSymbols().size() << ", got "
                         << type;
  return success();
}

//===- Host calls -------------------------------------------------------------------------------------------------===//

LogicalResult HostCallOp::verify() {
  size_t given = llvm::count(getPresent(), true);
  if (given != getInputs().size())
    return emitOpError() << "expected " << given << " operands because so many inputs are present, got "
                         << getInputs().size();
  return success();
}
