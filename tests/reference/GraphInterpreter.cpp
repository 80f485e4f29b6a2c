// SPDX-License-Identifier: Apache-2.0
// Executes accesses through their maps, loops as loops, and kernels as functions.
#include "tests/reference/GraphInterpreter.h"

#include "frontend/graph/SizeDefinition.h"
#include "frontend/import/HostCall.h"
#include "runtime/reference/Reference.h"
#include "tests/reference/InterpretedValue.h"

#include "mlir/IR/TypeUtilities.h"

#include <cstring>

using namespace mlir;

namespace tilewright::graph {
namespace {

struct Failure {
  Status status;
};

class Interpreter {
public:
  Interpreter(ModuleOp module, Rounding rounding) : module(module), rounding(rounding) {
    auto names = module->getAttrOfType<ArrayAttr>(symbolsAttr);
    symbols.assign(names ? names.size() : 0, 0);
    bound.assign(symbols.size(), false);
    definitions = definitionsOf(module);
    for (const SizeDefinition &definition : definitions)
      bound[definition.symbol] = true;
  }

  std::vector<Tensor> run(std::span<const Tensor> inputs) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.getNumArguments() != inputs.size())
      fail("expected {} inputs, got {}", main ? main.getNumArguments() : 0, inputs.size());
    for (auto [argument, input] : llvm::zip_equal(main.getArguments(), inputs)) {
      auto type = llvm::cast<RankedTensorType>(argument.getType());
      bind(type, input.shape());
      values[argument] = fromTensor(input, type.getElementType());
    }
    std::vector<Tensor> results;
    for (auto [i, value] : llvm::enumerate(runBlock(main.getBody().front())))
      results.push_back(toTensor(value, dtypeOf(main.getResultAttrOfType<StringAttr>(i, dtypeAttr), value.element)));
    return results;
  }

  std::vector<InterpretedValue> run(KernelOp kernel, std::vector<InterpretedValue> inputs, ArrayRef<int64_t> values) {
    symbols.assign(values.begin(), values.end());
    return runKernel(kernel, std::move(inputs));
  }

private:
  template <typename... Args> [[noreturn]] void fail(fmt::format_string<Args...> text, Args &&...args) {
    throw Failure{Status(Code::Malformed, fmt::format(text, std::forward<Args>(args)...))};
  }

  static DType dtypeOf(StringAttr name, Type element) {
    for (const DTypeInfo &row : dtypeTable)
      if (name && name.getValue() == StringRef(row.name.data(), row.name.size()))
        return row.type;
    for (const DTypeInfo &row : dtypeTable) // without a name, the signed one of this width
      if (row.isFloat == llvm::isa<FloatType>(element) &&
          (element.isInteger(1) ? row.type == DType::Bool
                                : row.isSigned && row.bytes * 8 == element.getIntOrFloatBitWidth()))
        if (row.type != DType::F16 || element.isF16())
          return row.type;
    return DType::F32;
  }

  /// The first occurrence of a symbol binds it; every size is checked.
  void bind(RankedTensorType type, const Shape &shape) {
    SmallVector<AffineExpr> sizes = getSizes(type);
    if (sizes.size() != shape.size())
      fail("expected rank {}, got {}", sizes.size(), shape.size());
    for (auto [size, actual] : llvm::zip_equal(sizes, shape))
      if (auto symbol = llvm::dyn_cast<AffineSymbolExpr>(size); symbol && !bound[symbol.getPosition()]) {
        symbols[symbol.getPosition()] = actual;
        bound[symbol.getPosition()] = true;
      }
    for (auto [size, actual] : llvm::zip_equal(sizes, shape))
      if (std::optional<ScaledSymbol> part = asScaledSymbol(size); part && !bound[part->symbol]) {
        symbols[part->symbol] = llvm::divideFloorSigned(actual - part->added, part->factor);
        bound[part->symbol] = true;
      }
    computeDefinitions();
    for (auto [i, size] : llvm::enumerate(sizes))
      if (int64_t expected = evaluate(size, {}, symbols); expected != shape[i])
        fail("expected dimension {} = {} ({}), got {}", i, printSize(size), expected, shape[i]);
  }

  void computeDefinitions() {
    for (const SizeDefinition &definition : definitions)
      symbols[definition.symbol] = SizeDefinition::compute(definition.kind, evaluate(definition.lhs, {}, symbols),
                                                           evaluate(definition.rhs, {}, symbols));
  }

  Shape shapeOf(Type type) {
    Shape shape;
    for (AffineExpr size : getSizes(llvm::cast<RankedTensorType>(type)))
      shape.push_back(evaluate(size, {}, symbols));
    return shape;
  }

  InterpretedValue fresh(Value result) {
    auto type = llvm::cast<RankedTensorType>(result.getType());
    return InterpretedValue(type.getElementType(), shapeOf(type), rounding);
  }

  std::vector<InterpretedValue> runBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      runOperation(&op);
    std::vector<InterpretedValue> results;
    for (Value operand : block.getTerminator()->getOperands())
      results.push_back(values.at(operand));
    return results;
  }

  std::vector<InterpretedValue> runKernel(KernelOp kernel, std::vector<InterpretedValue> inputs) {
    if (kernel.getNumArguments() != inputs.size())
      fail("expected {} inputs of the kernel, got {}", kernel.getNumArguments(), inputs.size());
    for (auto [argument, input] : llvm::zip_equal(kernel.getBody().getArguments(), inputs))
      values[argument] = std::move(input);
    return runBlock(kernel.getBody().front());
  }

  void runOperation(Operation *op);
  void runAccess(AccessOpInterface access, InterpretedValue &result);
  void runConcat(ConcatOp op, InterpretedValue &result);
  void runReduce(ReduceOp op, InterpretedValue &result);
  void runContract(ContractOp op, InterpretedValue &result);
  void runHostCall(HostCallOp op);
  void runReadSizes(ReadSizesOp op);
  void runLaunch(LaunchOp op);
  void loadConstant(ConstantOp op);

  /// Calls `visit(flat index, coordinates)` for every element of `shape` in row-major order.
  template <typename Visit> static void forEach(const Shape &shape, Visit visit) {
    SmallVector<int64_t> at(shape.size(), 0);
    for (int64_t flat = 0, count = elementCount(shape); flat < count; ++flat) {
      visit(flat, at);
      advanceIndex(at, shape);
    }
  }

  ModuleOp module;
  Rounding rounding;
  std::vector<int64_t> symbols;
  std::vector<bool> bound;
  SmallVector<SizeDefinition> definitions;

  struct Values {
    llvm::DenseMap<Value, std::shared_ptr<InterpretedValue>> map;
    InterpretedValue &operator[](Value value) {
      auto &slot = map[value];
      if (!slot)
        slot = std::make_shared<InterpretedValue>();
      return *slot;
    }
    const InterpretedValue &at(Value value) const { return *map.find(value)->second; }
  } values;
};

void Interpreter::runOperation(Operation *op) {
  if (auto call = llvm::dyn_cast<HostCallOp>(op))
    return runHostCall(call);
  if (auto read = llvm::dyn_cast<ReadSizesOp>(op))
    return runReadSizes(read);
  if (auto launch = llvm::dyn_cast<LaunchOp>(op))
    return runLaunch(launch);
  if (auto constant = llvm::dyn_cast<ConstantOp>(op))
    return loadConstant(constant);
  InterpretedValue result = fresh(op->getResult(0));
  if (auto access = llvm::dyn_cast<AccessOpInterface>(op)) {
    runAccess(access, result);
  } else if (auto view = llvm::dyn_cast<ViewOp>(op)) {
    if (elementCount(result.shape) != elementCount(values.at(view.getData()).shape))
      fail("expected {} elements in a view, got {}", elementCount(values.at(view.getData()).shape),
           elementCount(result.shape));
    result = values.at(view.getData()), result.shape = shapeOf(view.getType());
  } else if (auto concat = llvm::dyn_cast<ConcatOp>(op)) {
    runConcat(concat, result);
  } else if (auto reduce = llvm::dyn_cast<ReduceOp>(op)) {
    runReduce(reduce, result);
  } else if (auto contract = llvm::dyn_cast<ContractOp>(op)) {
    runContract(contract, result);
  } else if (auto iota = llvm::dyn_cast<IotaOp>(op)) {
    forEach(result.shape, [&](int64_t flat, ArrayRef<int64_t> at) { result.setInteger(flat, at[iota.getDim()]); });
  } else if (auto dims = llvm::dyn_cast<DimsOp>(op)) {
    for (auto [i, size] : llvm::enumerate(dims.getSizes().getResults()))
      result.setInteger(i, evaluate(size, {}, symbols));
  } else if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
    auto elements = llvm::cast<DenseElementsAttr>(constant.getValue());
    for (auto [i, element] : llvm::enumerate(elements.getValues<mlir::Attribute>()))
      result.set(i, llvm::cast<TypedAttr>(element));
  } else {
    SmallVector<const InterpretedValue *> operands;
    for (Value operand : op->getOperands())
      operands.push_back(&values.at(operand));
    if (!interpretElementwise(op, operands, result))
      fail("the interpreter does not know the operation '{}'", op->getName().getStringRef().str());
  }
  values[op->getResult(0)] = std::move(result);
}

void Interpreter::runAccess(AccessOpInterface access, InterpretedValue &result) {
  const InterpretedValue &data = values.at(access.getData());
  AffineMap map = access.getAccessMap();
  ValueRange indices = access.getIndexOperands();
  TypedAttr fill = access.getFill();
  forEach(result.shape, [&](int64_t flat, ArrayRef<int64_t> at) {
    SmallVector<int64_t> dims(at);
    for (Value index : indices)
      dims.push_back(values.at(index).integers[flat]);
    int64_t from = 0;
    bool inside = true;
    for (auto [i, coordinate] : llvm::enumerate(map.getResults())) {
      int64_t value = evaluate(coordinate, dims, symbols), size = data.shape[i];
      inside &= value >= 0 && value < size;
      if (!inside && !fill)
        fail("coordinate {} is outside dimension {} of size {} in '{}'", value, i, size,
             access->getName().getStringRef().str());
      from = from * size + value;
    }
    inside ? result.copy(flat, data, from) : result.set(flat, fill);
  });
}

void Interpreter::runConcat(ConcatOp op, InterpretedValue &result) {
  int64_t axis = op.getAxis(), start = 0;
  for (Value input : op.getInputs()) {
    const InterpretedValue &part = values.at(input);
    forEach(part.shape, [&](int64_t flat, ArrayRef<int64_t> at) {
      int64_t to = 0;
      for (size_t dim = 0; dim < at.size(); ++dim)
        to = to * result.shape[dim] + at[dim] + (static_cast<int64_t>(dim) == axis ? start : 0);
      result.copy(to, part, flat);
    });
    start += part.shape[axis];
  }
}

void Interpreter::runReduce(ReduceOp op, InterpretedValue &result) {
  const InterpretedValue &input = values.at(op.getInput());
  ReduceKind kind = op.getKind();
  bool isFloat = input.isFloat();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  unsigned width = input.element.getIntOrFloatBitWidth();
  int64_t least = width == 64 ? INT64_MIN : -(int64_t(1) << (width - 1)), most = -(least + 1);
  double realStart = kind == ReduceKind::Sum    ? 0
                     : kind == ReduceKind::Prod ? 1
                     : kind == ReduceKind::Max  ? -infinity
                                                : infinity;
  int64_t integerStart = kind == ReduceKind::Sum    ? 0
                         : kind == ReduceKind::Prod ? 1
                         : kind == ReduceKind::Max  ? least
                                                    : most;
  std::vector<double> reals(isFloat ? result.count() : 0, realStart);
  std::vector<int64_t> integers(isFloat ? 0 : result.count(), integerStart);
  forEach(input.shape, [&](int64_t flat, ArrayRef<int64_t> at) {
    int64_t to = 0;
    for (size_t dim = 0, next = 0; dim < at.size(); ++dim)
      if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(dim)))
        to = to * result.shape[next++] + at[dim];
    if (isFloat) {
      double x = input.reals[flat], &sum = reals[to];
      bool isNaN = std::isnan(x) || std::isnan(sum);
      sum = kind == ReduceKind::Sum    ? sum + x
            : kind == ReduceKind::Prod ? sum * x
            : isNaN                    ? NAN
            : kind == ReduceKind::Max  ? std::max(sum, x)
                                       : std::min(sum, x);
    } else {
      int64_t x = input.integers[flat], &sum = integers[to];
      sum = kind == ReduceKind::Sum    ? static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x))
            : kind == ReduceKind::Prod ? static_cast<int64_t>(static_cast<uint64_t>(sum) * static_cast<uint64_t>(x))
            : kind == ReduceKind::Max  ? std::max(sum, x)
                                       : std::min(sum, x);
    }
  });
  for (int64_t i = 0; i < result.count(); ++i)
    isFloat ? result.setReal(i, reals[i]) : result.setInteger(i, integers[i]);
}

void Interpreter::runContract(ContractOp op, InterpretedValue &result) {
  const InterpretedValue *operands[] = {&values.at(op.getLhs()), &values.at(op.getRhs()), &result};
  unsigned loops = op.getMap(0).getNumDims();
  Shape bounds(loops, 1);
  SmallVector<int64_t> strides[3];
  for (int i = 0; i < 3; ++i) { // the maps are projected permutations: a stride for each loop says all
    strides[i].assign(loops, 0);
    AffineMap map = op.getMap(i);
    int64_t stride = 1;
    for (unsigned dim = map.getNumResults(); dim-- > 0;) {
      bounds[map.getDimPosition(dim)] = operands[i]->shape[dim];
      strides[i][map.getDimPosition(dim)] = stride;
      stride *= operands[i]->shape[dim];
    }
  }
  int64_t at[3] = {0, 0, 0};
  std::vector<double> reals(result.isFloat() ? result.count() : 0, 0.0);
  std::vector<int64_t> integers(result.isFloat() ? 0 : result.count(), 0);
  auto integerAt = [&](int i, bool isUnsigned) {
    int64_t value = operands[i]->integers[at[i]];
    return isUnsigned ? value & 255 : value;
  };
  SmallVector<int64_t> counter(loops, 0);
  for (int64_t n = 0, count = elementCount(bounds); n < count; ++n) {
    if (result.isFloat())
      reals[at[2]] += operands[0]->reals[at[0]] * operands[1]->reals[at[1]];
    else
      integers[at[2]] += integerAt(0, op.getLhsUnsigned()) * integerAt(1, op.getRhsUnsigned());
    for (unsigned loop = loops; loop-- > 0;) {
      for (int i = 0; i < 3; ++i)
        at[i] += strides[i][loop];
      if (++counter[loop] < bounds[loop])
        break;
      for (int i = 0; i < 3; ++i)
        at[i] -= strides[i][loop] * bounds[loop];
      counter[loop] = 0;
    }
  }
  for (int64_t i = 0; i < result.count(); ++i)
    result.isFloat() ? result.setReal(i, reals[i]) : result.setInteger(i, integers[i]);
}

void Interpreter::runHostCall(HostCallOp op) {
  Attributes attributes = referenceAttributes(op);
  std::vector<Tensor> inputs;
  auto inputTypes = op->getAttrOfType<ArrayAttr>("input_dtypes");
  size_t next = 0;
  for (bool present : op.getPresent()) {
    if (!present) {
      inputs.emplace_back();
      continue;
    }
    const InterpretedValue &value = values.at(op.getInputs()[next]);
    inputs.push_back(
        toTensor(value, dtypeOf(inputTypes ? llvm::cast<StringAttr>(inputTypes[next]) : StringAttr(), value.element)));
    ++next;
  }
  std::string name = op.getOp().str(), domain = op.getDomain().str();
  ReferenceCall call{.op = name,
                     .domain = domain,
                     .opset = static_cast<int64_t>(op.getOpset()),
                     .attributes = &attributes,
                     .outputCount = op->getNumResults()};
  Expected<std::vector<Tensor>> outputs = evaluate(call, inputs);
  if (!outputs)
    throw Failure{outputs.status()};
  for (auto [result, output] : llvm::zip(op.getResults(), *outputs)) {
    auto type = llvm::cast<RankedTensorType>(result.getType());
    bind(type, output.shape());
    values[result] = fromTensor(output, type.getElementType());
  }
}

void Interpreter::runReadSizes(ReadSizesOp op) {
  for (auto [symbol, number] : llvm::zip_equal(op.getSymbols(), values.at(op.getSizes()).integers)) {
    if (number < 0)
      fail("expected sizes of at least 0, got {}", number);
    symbols[symbol] = number, bound[symbol] = true;
  }
  computeDefinitions();
}

void Interpreter::runLaunch(LaunchOp op) {
  auto kernel = module.lookupSymbol<KernelOp>(op.getKernel());
  if (!kernel)
    fail("launch of '{}', which is not a graph kernel", op.getKernel().str());
  std::vector<InterpretedValue> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(values.at(input));
  std::vector<InterpretedValue> results = runKernel(kernel, std::move(inputs));
  for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
    values[result] = std::move(value);
}

void Interpreter::loadConstant(ConstantOp op) {
  auto bytes = llvm::cast<GraphDialect>(op->getDialect())->constants().get(op.getKey());
  if (!bytes.data())
    fail("the constant pool has no entry '{}'", op.getKey().str());
  auto type = llvm::cast<RankedTensorType>(op.getType());
  Tensor view = Tensor::view(dtypeOf({}, type.getElementType()), shapeOf(type), const_cast<std::byte *>(bytes.data()));
  values[op.getResult()] = fromTensor(view, type.getElementType());
}

} // namespace

InterpretedValue fromTensor(const Tensor &tensor, Type element) {
  InterpretedValue value(element, tensor.shape());
  unsigned bytes = element.isInteger(1) ? 1 : element.getIntOrFloatBitWidth() / 8;
  for (int64_t i = 0; i < value.count(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes() + i * bytes, bytes);
    if (auto real = llvm::dyn_cast<FloatType>(element)) {
      APFloat number(real.getFloatSemantics(), APInt(bytes * 8, bits));
      bool lost = false;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      value.reals[i] = number.convertToDouble();
    } else {
      value.setInteger(i, element.isInteger(1) ? bits != 0 : static_cast<int64_t>(bits));
    }
  }
  return value;
}

Tensor toTensor(const InterpretedValue &value, DType type) {
  Tensor tensor = Tensor::allocate(type, value.shape);
  unsigned bytes = elementBytes(type);
  for (int64_t i = 0; i < value.count(); ++i) {
    uint64_t bits;
    if (auto real = llvm::dyn_cast<FloatType>(value.element)) {
      APFloat number(value.reals[i]);
      bool lost = false;
      number.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      bits = number.bitcastToAPInt().getZExtValue();
    } else {
      bits = static_cast<uint64_t>(value.integers[i]);
    }
    std::memcpy(tensor.bytes() + i * bytes, &bits, std::min<size_t>(bytes, sizeof bits));
  }
  return tensor;
}

Expected<std::vector<Tensor>> interpret(ModuleOp module, std::span<const Tensor> inputs) {
  try {
    return Interpreter(module, Rounding::ToElementType).run(inputs);
  } catch (Failure &failure) {
    return failure.status;
  }
}

static InterpretedValue fromDense(const tests::Dense &dense, Type element) {
  InterpretedValue value(element, Shape(dense.shape.begin(), dense.shape.end()), Rounding::None);
  for (int64_t i = 0; i < value.count(); ++i)
    value.isFloat() ? value.setReal(i, dense.elements[i])
                    : value.setInteger(i, static_cast<int64_t>(dense.elements[i]));
  return value;
}

static tests::Dense toDense(const InterpretedValue &value) {
  tests::Dense dense{{value.shape.begin(), value.shape.end()}, {}};
  for (int64_t i = 0; i < value.count(); ++i)
    dense.elements.push_back(value.isFloat() ? value.reals[i] : static_cast<double>(value.integers[i]));
  return dense;
}

Expected<std::vector<tests::Dense>> interpretKernel(KernelOp kernel, const std::vector<tests::Dense> &inputs,
                                                    llvm::ArrayRef<int64_t> symbols) {
  std::vector<InterpretedValue> values;
  for (auto [input, type] : llvm::zip_equal(inputs, kernel.getArgumentTypes()))
    values.push_back(fromDense(input, getElementTypeOrSelf(type)));
  try {
    std::vector<tests::Dense> outputs;
    Interpreter interpreter(kernel->getParentOfType<ModuleOp>(), Rounding::None);
    for (const InterpretedValue &result : interpreter.run(kernel, std::move(values), symbols))
      outputs.push_back(toDense(result));
    return outputs;
  } catch (Failure &failure) {
    return failure.status;
  }
}

} // namespace tilewright::graph
