// SPDX-License-Identifier: Apache-2.0
// Symbols, @main, and values that are materialized on demand.
#include "frontend/state/ImportState.h"

#include "frontend/flow/FlowOps.h"
#include "runtime/artifact/StringConstants.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cstring>

using namespace mlir;

namespace tilewright {
namespace {

constexpr int64_t maxElements = 1024; // of integer tensors whose contents are computed as expressions

/// Whether all elements are equal, bit by bit.
bool isSplat(const Tensor &tensor) {
  size_t element = elementBytes(tensor.type()), size = tensor.byteSize();
  return size >= element && element > 0 && element <= 8 &&
         std::memcmp(tensor.bytes(), tensor.bytes() + element, size - element) == 0;
}

bool followsElements(DType type) { return type == DType::I64 || type == DType::I32 || type == DType::Bool; }

} // namespace

int64_t integerAt(const Tensor &tensor, int64_t i) {
  switch (tensor.type()) {
  case DType::I64:
    return tensor.data<int64_t>()[i];
  case DType::I32:
    return tensor.data<int32_t>()[i];
  default:
    return tensor.data<uint8_t>()[i]; // bool
  }
}

Type elementType(MLIRContext *context, DType type) {
  switch (type) {
  case DType::F32:
    return Float32Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::Bool:
    return IntegerType::get(context, 1);
  case DType::String:
    return flow::StringType::get(context);
  case DType::Sequence:
    return flow::SequenceType::get(context);
  case DType::Optional:
    return flow::OptionalType::get(context);
  case DType::Map:
    return flow::MapType::get(context);
  default:
    return IntegerType::get(context, elementBytes(type) * 8);
  }
}

ImportState::ImportState(MLIRContext &context, const ImportOptions &options, ImportReport &report)
    : context(&context), options(options), report(report), module(ModuleOp::create(UnknownLoc::get(&context))),
      builder(&context), location(UnknownLoc::get(&context)) {}

void ImportState::enter(const ImportState &outer) {
  symbolNames = outer.symbolNames, nextFresh = outer.nextFresh, nodes = outer.nodes;
  std::ranges::copy(outer.numbers, numbers);
  location = outer.location;
  for (size_t i = 0; i < symbolNames.size(); ++i)
    if (AffineExpr symbol = getAffineSymbolExpr(i, context); outer.isLate(outer.resolve(symbol)))
      takeAsLate(symbol);
  beginMain();
}

void ImportState::beginMain() {
  main = func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
  module->push_back(main);
  builder.setInsertionPointToStart(main.addEntryBlock());
}

ImportedValue *ImportState::addInput(const std::string &name, DType type, const Sizes &sizes, OnnxTypePtr element) {
  ImportedValue *value = newValue(name);
  value->type = type, value->sizes = sizes, value->element = std::move(element);
  unsigned index = main.getNumArguments();
  DictionaryAttr attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(graph::nameAttr, builder.getStringAttr(name)),
       builder.getNamedAttr(graph::dtypeAttr, builder.getStringAttr(tilewright::name(type)))});
  if (failed(main.insertArgument(index, tensorType(sizes, elementType(context, type)), attributes, location)))
    throw ImportFailure{Status(Code::Internal, "an argument could not be added")};
  value->value = main.getArgument(index);
  return value;
}

void ImportState::setOutputs(ArrayRef<ImportedValue *> outputs, ArrayRef<std::string> names) {
  SmallVector<Value> returned;
  SmallVector<Type> types;
  SmallVector<mlir::Attribute> attributes;
  for (auto [output, name] : llvm::zip_equal(outputs, names)) {
    returned.push_back(materialize(*output));
    types.push_back(returned.back().getType());
    attributes.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(graph::nameAttr, builder.getStringAttr(name)),
         builder.getNamedAttr(graph::dtypeAttr, builder.getStringAttr(tilewright::name(output->type)))}));
  }
  func::ReturnOp::create(builder, location, returned);
  main.setType(builder.getFunctionType(main.getArgumentTypes(), types));
  main.setResAttrsAttr(builder.getArrayAttr(attributes));
}

std::string ImportState::addBody(ImportState &body) {
  body.finish();
  nodes = body.nodes;
  std::string name = fmt::format("body_{}", bodies.size());
  body.module->setSymName(name);
  bodies.push_back(std::move(body.module));
  return name;
}

ImportedValue *ImportState::newValue(std::string name) {
  values.emplace_back().name = std::move(name);
  return &values.back();
}

ImportedValue *ImportState::newConstant(std::string name, Tensor tensor) {
  ImportedValue *value = newValue(std::move(name));
  value->type = tensor.type();
  for (int64_t dim : tensor.shape())
    value->sizes.push_back(number(dim));
  value->constant = std::move(tensor);
  return value;
}

//===- Symbols ----------------------------------------------------------------------------------------------------===//

AffineExpr ImportState::symbol(std::string_view name) {
  auto found = std::ranges::find(symbolNames, name);
  size_t index = found - symbolNames.begin();
  if (found == symbolNames.end()) {
    symbolNames.emplace_back(name);
    numbers[0].push_back(3 + 2 * static_cast<int64_t>(index));
    numbers[1].push_back(6 + 5 * static_cast<int64_t>(index));
  }
  return getAffineSymbolExpr(index, context);
}

AffineExpr ImportState::freshSymbol(std::string_view stem) {
  int &next = nextFresh[std::string(stem)];
  std::string name;
  while (name.empty() || llvm::is_contained(symbolNames, name))
    name = fmt::format("{}{}", stem, next++);
  return symbol(name);
}

AffineExpr ImportState::freshSymbol(std::string_view stem, int64_t first, int64_t second) {
  AffineExpr fresh = freshSymbol(stem);
  if (first > 0 && second > 0)
    numbers[0].back() = first, numbers[1].back() = second;
  return fresh;
}

std::string ImportState::print(ArrayRef<AffineExpr> sizes) const {
  std::string text;
  for (AffineExpr size : sizes)
    text += (text.empty() ? "" : ", ") + print(size);
  return "[" + text + "]";
}

RankedTensorType ImportState::tensorType(ArrayRef<AffineExpr> sizes, Type element) const {
  // More than fits in memory, because windows are never stored; but far less than what makes index arithmetic overflow.
  constexpr double most = 1ll << 50;
  constexpr size_t mostDimensions = 64; // as in NumPy; bounds the cost of index arithmetic
  if (sizes.size() > mostDimensions)
    unsupported("expected tensors of at most {} dimensions, got one of {}", mostDimensions, sizes.size());
  double count = 1;
  Sizes resolved = llvm::map_to_vector(sizes, [&](AffineExpr size) { return resolve(size); });
  for (AffineExpr size : resolved) {
    int64_t constant = graph::constantSize(size).value_or(1);
    count *= static_cast<double>(constant);
    if (constant < 0 || count > most)
      malformed("expected sizes from 0 up to 2^50 elements, got {}", print(resolved));
  }
  return graph::makeTensorType(context, resolved, element);
}

//===- Constants --------------------------------------------------------------------------------------------------===//

Value ImportState::splatAttribute(ArrayRef<AffineExpr> sizes, Type element, TypedAttr scalar) {
  RankedTensorType type = tensorType(sizes, element);
  if (type.hasStaticShape())
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, Attribute(scalar)));
  auto zeroRank = DenseElementsAttr::get(RankedTensorType::get({}, element), Attribute(scalar));
  Value value = arith::ConstantOp::create(builder, location, zeroRank);
  return graph::BroadcastOp::create(builder, location, type, value, ArrayRef<int64_t>());
}

Value ImportState::splat(ArrayRef<AffineExpr> sizes, Type element, double value) {
  if (!llvm::isa<FloatType>(element))
    return splatInteger(sizes, element, static_cast<int64_t>(value));
  return splatAttribute(sizes, element, builder.getFloatAttr(element, value));
}

Value ImportState::splatInteger(ArrayRef<AffineExpr> sizes, Type element, int64_t value) {
  return splatAttribute(sizes, element,
                        builder.getIntegerAttr(element, APInt(element.getIntOrFloatBitWidth(), value, true, true)));
}

Value ImportState::constant(const Tensor &tensor) {
  Type element = elementType(context, tensor.type());
  auto type = RankedTensorType::get(tensor.shape(), element);
  std::span<const std::byte> bytes(tensor.bytes(), tensor.byteSize());
  if (isSplat(tensor)) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data(), elementBytes(tensor.type()));
    unsigned width = element.getIntOrFloatBitWidth();
    APInt pattern(width, tensor.type() == DType::Bool ? bits != 0 : bits, false, true);
    TypedAttr scalar = builder.getIntegerAttr(IntegerType::get(context, width), pattern);
    if (auto real = llvm::dyn_cast<FloatType>(element))
      scalar = FloatAttr::get(real, APFloat(real.getFloatSemantics(), pattern));
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, Attribute(scalar)));
  }
  auto pooled = [&](std::span<const std::byte> content, std::shared_ptr<const void> owner) {
    std::string key = context->getOrLoadDialect<graph::GraphDialect>()->constants().add(content, std::move(owner));
    auto op = graph::ConstantOp::create(builder, location, type, key);
    constantTensors[op] = tensor;
    return op;
  };
  if (tensor.type() == DType::String) {
    auto encoded = std::make_shared<std::vector<std::byte>>(runtime::encodeStrings(tensor));
    return pooled(*encoded, encoded);
  }
  // The pool shares the bytes, and keeps their owner (the mapped file or parsed model) alive.
  return pooled(bytes, std::make_shared<Tensor>(tensor));
}

Value ImportState::materialize(ImportedValue &value) {
  if (value.value)
    return value.value;
  if (const Tensor *tensor = constantOf(value))
    return value.value = constant(*tensor);
  if (!value.elements)
    throw ImportFailure{
        Status(Code::Internal, fmt::format("value '{}' has neither contents nor a place in the IR", value.name))};
  // Sizes are evaluated on the host as a vector of i64, then converted to the shape and type in the model.
  auto map = AffineMap::get(0, symbolNames.size(), *value.elements, context);
  auto flat = RankedTensorType::get({static_cast<int64_t>(value.elements->size())}, builder.getI64Type());
  Value result = graph::DimsOp::create(builder, location, flat, map);
  RankedTensorType type = tensorType(value.sizes, builder.getI64Type());
  if (type != flat)
    result = graph::ReshapeOp::create(builder, location, type, result);
  if (value.type == DType::I32 || value.type == DType::Bool)
    result = arith::TruncIOp::create(builder, location, graph::withElementType(type, elementType(context, value.type)),
                                     result);
  return value.value = result;
}

const Sizes *ImportState::elementsOf(ImportedValue &value) {
  if (!value.elements && value.constant && followsElements(value.constant->type()) &&
      value.constant->count() <= maxElements) {
    value.elements.emplace();
    for (int64_t i = 0; i < value.constant->count(); ++i)
      value.elements->push_back(number(integerAt(*value.constant, i)));
  }
  return value.elements ? &*value.elements : nullptr;
}

const Tensor *ImportState::constantOf(ImportedValue &value) {
  if (value.constant)
    return &*value.constant;
  if (!value.elements ||
      !llvm::all_of(*value.elements, [](AffineExpr e) { return graph::constantSize(e).has_value(); }))
    return nullptr;
  Shape shape;
  for (AffineExpr size : value.sizes)
    shape.push_back(graph::constantSize(size).value());
  Tensor tensor = Tensor::allocate(value.type, shape);
  for (auto [i, element] : llvm::enumerate(*value.elements)) {
    int64_t number = *graph::constantSize(element);
    if (value.type == DType::I64)
      tensor.data<int64_t>()[i] = number;
    else if (value.type == DType::I32)
      tensor.data<int32_t>()[i] = static_cast<int32_t>(number);
    else
      tensor.data<uint8_t>()[i] = number != 0;
  }
  value.constant = std::move(tensor);
  return &*value.constant;
}

void ImportState::finish() {
  SmallVector<StringRef> symbols(symbolNames.begin(), symbolNames.end()), names(nodes.begin(), nodes.end());
  (*module)->setAttr(graph::symbolsAttr, builder.getStrArrayAttr(symbols));
  (*module)->setAttr(graph::nodesAttr, builder.getStrArrayAttr(names));
  // If a handler declined after it had read sizes, its read has been erased. Erase the guards on these symbols too.
  llvm::SmallDenseSet<int64_t> gone = readSymbols;
  for (auto read : main.getBody().front().getOps<graph::ReadSizesOp>())
    for (int64_t symbol : read.getSymbols())
      gone.erase(symbol);
  auto isGone = [&](AffineExpr expr) {
    bool found = false;
    expr.walk([&](AffineExpr part) {
      auto symbol = llvm::dyn_cast<AffineSymbolExpr>(part);
      found |= symbol && gone.contains(symbol.getPosition());
    });
    return found;
  };
  for (const graph::SizeDefinition &definition : orderedDefinitions())
    if (isGone(definition.lhs) || isGone(definition.rhs))
      gone.insert(definition.symbol);
  llvm::erase_if(guards, [&](mlir::Attribute guard) {
    auto sides = llvm::cast<ArrayAttr>(guard);
    return llvm::any_of(ArrayRef(sides.getValue()).take_front(2), [&](mlir::Attribute side) {
      return isGone(llvm::cast<AffineMapAttr>(side).getValue().getResult(0));
    });
  });
  if (!guards.empty())
    (*module)->setAttr(graph::guardsAttr, builder.getArrayAttr(guards));
  if (!definitions.empty())
    (*module)->setAttr(graph::definitionsAttr,
                       builder.getArrayAttr(llvm::map_to_vector(orderedDefinitions(), [&](auto &definition) {
                         return Attribute(definition.toAttribute(context));
                       })));
  llvm::SmallVector<int64_t> read;
  llvm::copy_if(readSymbols, std::back_inserter(read), [&](int64_t symbol) { return !gone.contains(symbol); });
  if (llvm::SmallVector<int64_t> list = graph::symbolsThatMayBeZero(orderedDefinitions(), read); !list.empty())
    (*module)->setAttr(graph::mayBeZeroAttr, builder.getDenseI64ArrayAttr(list));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (OwningOpRef<ModuleOp> &body : bodies)
    module->push_back(body.release());
  bodies.clear();
}

} // namespace tilewright
