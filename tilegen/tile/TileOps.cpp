// Verifiers, parsers and printers of the tile dialect.
#include "tilegen/tile/TileOps.h"
#include "tilegen/tile/Layout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

//===- Affine maps without the affine_map<> around them -----------------------------------------------------------===//

static ParseResult parseBareMap(AsmParser &parser, AffineMapAttr &attr) {
  AffineMap map;
  if (parser.parseAffineMap(map))
    return failure();
  attr = AffineMapAttr::get(map);
  return success();
}

static void printBareMap(OpAsmPrinter &printer, Operation *, AffineMapAttr attr) { printer << attr.getValue(); }

static ParseResult parseSizes(AsmParser &parser, AffineMap &sizes) { return parser.parseAffineMap(sizes); }

FailureOr<SmallVector<int64_t>> tile::parseSizeList(AsmParser &parser) {
  SmallVector<int64_t> sizes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(sizes.emplace_back()); }))
    return failure();
  return sizes;
}

void tile::printSizeList(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  printer << "[";
  llvm::interleaveComma(sizes, printer.getStream());
  printer << "]";
}

static ParseResult parseBases(AsmParser &parser, SmallVector<int64_t> &bases) {
  FailureOr<SmallVector<int64_t>> sizes = tile::parseSizeList(parser);
  if (failed(sizes))
    return failure();
  bases = std::move(*sizes);
  return success();
}

static void printBases(AsmPrinter &printer, ArrayRef<int64_t> bases) { tile::printSizeList(printer, bases); }

static void printSizes(AsmPrinter &printer, AffineMap sizes) { printer.getStream() << sizes; }

#include "tilegen/tile/TileDialect.cpp.inc"
#include "tilegen/tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "tilegen/tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "tilegen/tile/TileTypes.cpp.inc"
#define GET_OP_CLASSES
#include "tilegen/tile/TileOps.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilegen/tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilegen/tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilegen/tile/TileOps.cpp.inc"
      >();
}

//===- #tile.schedule ---------------------------------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, graph::RootKind root,
                                   ArrayRef<int64_t> tile, ArrayRef<int64_t> reduce, int64_t warps, int64_t stages,
                                   ArrayRef<int64_t> registers, int64_t pack) {
  for (ArrayRef<int64_t> list : {tile, reduce, registers})
    for (int64_t size : list)
      if (size <= 0)
        return emitError() << "expected positive tile sizes, got " << size;
  if (registers.size() > 3)
    return emitError() << "expected registers to be rows, columns and at most a depth, got " << registers.size()
                       << " numbers";
  if (warps <= 0 || stages <= 0 || pack < 0)
    return emitError() << "expected positive warps and stages and a pack that is not negative, got " << warps << ", "
                       << stages << " and " << pack;
  if (pack > 0 && root != graph::RootKind::Matmul)
    return emitError() << "expected no pack because only a matmul reads panels, got " << pack;
  return success();
}

//===- Shared checks ----------------------------------------------------------------------------------------------===//

/// Symbols in maps stand for the kernel's symbol arguments, so a map may not name more of them than there are.
static LogicalResult verifySymbols(Operation *op, AffineMap map, StringRef what) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (kernel && map.getNumSymbols() > kernel.getNumSymbols())
    return op->emitOpError() << "expected at most " << kernel.getNumSymbols() << " symbols in its " << what
                             << " because the kernel has that many, got " << map.getNumSymbols();
  return success();
}

static LogicalResult verifySizesMap(Operation *op, AffineMap map, unsigned results, StringRef what) {
  if (map.getNumDims() != 0 || map.getNumResults() != results)
    return op->emitOpError() << "expected " << what << " with no dimensions and " << results << " results, got "
                             << map.getNumDims() << " and " << map.getNumResults();
  return verifySymbols(op, map, what);
}

/// What loads and stores have in common: offsets, bounds and map agree with the tile and the buffer.
static LogicalResult verifyAccess(Operation *op, RankedTensorType tile, BufferType buffer, unsigned offsets,
                                  unsigned indices, AffineMap bounds, AffineMap map) {
  unsigned rank = tile.getRank();
  if (offsets != rank)
    return op->emitOpError() << "expected " << rank << " offsets because the tile has that rank, got " << offsets;
  if (failed(verifySizesMap(op, bounds, rank, "bounds")))
    return failure();
  if (map.getNumDims() != rank + indices)
    return op->emitOpError() << "expected a map of " << rank + indices
                             << " dimensions (the tile's and one per index), got " << map.getNumDims();
  if (map.getNumResults() != buffer.getRank())
    return op->emitOpError() << "expected a map to " << buffer.getRank()
                             << " coordinates because the buffer has that rank, got " << map.getNumResults();
  Type stored = buffer.getElementType(), held = tile.getElementType();
  if (stored != held && !(held.isInteger(1) && stored.isInteger(8)))
    return op->emitOpError() << "expected tile elements of type " << stored
                             << " as in the buffer (i1 for bool in i8), got " << held;
  return verifySymbols(op, map, "map");
}

//===- Kernel -----------------------------------------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

unsigned KernelOp::getNumBuffers() {
  return llvm::count_if(getArgumentTypes(), [](Type type) { return isa<BufferType>(type); });
}

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("expected no results: outputs are buffers that the program stores to");
  unsigned buffers = getNumBuffers();
  for (auto [i, type] : llvm::enumerate(getArgumentTypes()))
    if (i < buffers ? !isa<BufferType>(type) : !type.isIndex())
      return emitOpError() << "expected buffers first, then symbols of type index, got " << type << " as argument "
                           << i;
  for (Type type : getArgumentTypes())
    if (auto buffer = dyn_cast<BufferType>(type))
      if (buffer.getSizes().getNumSymbols() > getNumSymbols())
        return emitOpError() << "expected at most " << getNumSymbols()
                             << " symbols in a buffer's sizes because the kernel has that many, got "
                             << buffer.getSizes().getNumSymbols();
  AffineMap grid = getGrid();
  if (grid.getNumDims() != 0 || grid.getNumResults() != 3 || grid.getNumSymbols() > getNumSymbols())
    return emitOpError() << "expected a grid of three expressions (x, y, z) of the kernel's symbols, got "
                         << getGridAttr();
  return success();
}

//===- Index arithmetic -------------------------------------------------------------------------------------------===//

LogicalResult SizeOp::verify() {
  AffineMap map = getExpr();
  if (map.getNumResults() != 1)
    return emitOpError() << "expected one expression, got " << map.getNumResults();
  if (map.getNumDims() != getOperands().size())
    return emitOpError() << "expected " << map.getNumDims()
                         << " operands because the expression has that many dimensions, got " << getOperands().size();
  return verifySymbols(*this, map, "expression");
}

//===- Memory -----------------------------------------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  auto tile = cast<RankedTensorType>(getResult().getType());
  BufferType buffer = getBuffer().getType();
  if (failed(verifyAccess(*this, tile, buffer, getOffsets().size(), getIndices().size(), getBounds(), getMap())))
    return failure();
  for (Value index : getIndices()) {
    auto type = cast<RankedTensorType>(index.getType());
    if (type.getShape() != tile.getShape() || !type.getElementType().isSignlessInteger())
      return emitOpError() << "expected integer index tiles of the result's shape, got " << type;
  }
  for (int64_t dim : getGuard())
    if (dim < 0 || dim >= buffer.getRank())
      return emitOpError() << "expected guarded dimensions from 0 to " << buffer.getRank() - 1 << ", got " << dim;
  if (getFill() && getFill()->getType() != tile.getElementType())
    return emitOpError() << "expected a fill of type " << tile.getElementType() << ", got " << getFill()->getType();
  return success();
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getBufferMutable(), SideEffects::DefaultResource::get());
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, cast<RankedTensorType>(getValue().getType()), getBuffer().getType(), getOffsets().size(),
                      0, getBounds(), getMap());
}

void StoreOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getBufferMutable(), SideEffects::DefaultResource::get());
}

LogicalResult CheckOp::verify() {
  auto tile = cast<RankedTensorType>(getIndex().getType());
  if (getIndex().getType() != getResult().getType() || !tile.getElementType().isSignlessInteger())
    return emitOpError() << "expected an integer tile and a result of the same type, got " << tile << " and "
                         << getResult().getType();
  if (static_cast<int64_t>(getOffsets().size()) != tile.getRank())
    return emitOpError() << "expected " << tile.getRank() << " offsets because the tile has that rank, got "
                         << getOffsets().size();
  if (failed(verifySizesMap(*this, getBounds(), tile.getRank(), "bounds")))
    return failure();
  return verifySizesMap(*this, getSize(), 1, "size");
}

void CheckOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), SideEffects::DefaultResource::get()); // the error word
}

//===- Tiles ------------------------------------------------------------------------------------------------------===//

LogicalResult CoordinateOp::verify() {
  int64_t rank = cast<RankedTensorType>(getResult().getType()).getRank();
  if (getDim() < 0 || static_cast<int64_t>(getDim()) >= rank)
    return emitOpError() << "expected a dimension from 0 to " << rank - 1 << ", got " << getDim();
  return success();
}

/// f16, bf16 accumulate in f32, i8 in i32, and wider types in themselves.
static Type accumulatorType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  if (element.isInteger(8))
    return IntegerType::get(element.getContext(), 32);
  return element;
}

/// The attribute `instruction`, which placing sets, names one that is known; and where that goes on by itself, its sums
/// are waited for.
static LogicalResult verifyInstruction(DotOp dot) {
  auto name = dot->getAttrOfType<StringAttr>("instruction");
  if (!name)
    return success();
  const Fragments *fragments = findFragments(name.getValue());
  if (!fragments)
    return dot.emitOpError() << "expected an instruction of the table in tilegen/tile/Layout.cpp, got " << name;
  for (Operation *user : dot->getUsers())
    if (fragments->readsShared() && !isa<DotOp, DotWaitOp, scf::YieldOp>(user))
      return dot.emitOpError() << "expected tile.dot_wait before its sums are used because " << name.getValue()
                               << " goes on by itself, got a use by " << user->getName();
  return success();
}

LogicalResult DotOp::verify() {
  auto lhs = cast<RankedTensorType>(getLhs().getType()), rhs = cast<RankedTensorType>(getRhs().getType()),
       acc = cast<RankedTensorType>(getAcc().getType());
  int64_t rank = acc.getRank();
  if (rank < 2 || lhs.getRank() != rank || rhs.getRank() != rank)
    return emitOpError() << "expected three tiles of one rank of at least 2, got " << lhs.getRank() << ", "
                         << rhs.getRank() << " and " << rank;
  if (lhs.getElementType() != rhs.getElementType() || acc.getElementType() != accumulatorType(lhs.getElementType()))
    return emitOpError() << "expected operands of one type and an accumulator of "
                         << accumulatorType(lhs.getElementType()) << ", got " << lhs << ", " << rhs << " and " << acc;
  if ((getLhsUnsigned() || getRhsUnsigned()) && !lhs.getElementType().isInteger(8))
    return emitOpError() << "expected operands of i8 because one is said to be unsigned, got " << lhs;
  for (int64_t i = 0; i < rank - 2; ++i)
    if (lhs.getDimSize(i) != acc.getDimSize(i) || rhs.getDimSize(i) != acc.getDimSize(i))
      return emitOpError() << "expected equal batch sizes in dimension " << i << ", got " << lhs << ", " << rhs
                           << " and " << acc;
  if (lhs.getDimSize(rank - 2) != acc.getDimSize(rank - 2) || rhs.getDimSize(rank - 1) != acc.getDimSize(rank - 1) ||
      lhs.getDimSize(rank - 1) != rhs.getDimSize(rank - 2))
    return emitOpError() << "expected m x k, k x n and m x n, got " << lhs << ", " << rhs << " and " << acc;
  return verifyInstruction(*this);
}

LogicalResult DotWaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getAccumulators().getTypes());
  return success();
}

LogicalResult ReduceOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()), result = cast<RankedTensorType>(getResult().getType());
  int64_t dim = getDim();
  if (dim < 0 || dim >= input.getRank())
    return emitOpError() << "expected a dimension from 0 to " << input.getRank() - 1 << ", got " << dim;
  SmallVector<int64_t> shape(input.getShape());
  shape[dim] = 1;
  if (result.getShape() != ArrayRef(shape) || result.getElementType() != input.getElementType())
    return emitOpError() << "expected a result like " << input << " with size 1 in dimension " << dim << ", got "
                         << result;
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()), result = cast<RankedTensorType>(getResult().getType());
  if (input.getRank() != result.getRank() || input.getElementType() != result.getElementType())
    return emitOpError() << "expected equal ranks and element types, got " << input << " and " << result;
  for (int64_t i = 0; i < input.getRank(); ++i)
    if (input.getDimSize(i) != 1 && input.getDimSize(i) != result.getDimSize(i))
      return emitOpError() << "expected size 1 or " << result.getDimSize(i) << " in dimension " << i << ", got "
                           << input.getDimSize(i);
  return success();
}
