// SPDX-License-Identifier: Apache-2.0
// Verifiers of the operations of tile programs, but for those that placing adds (PlacedOps.cpp).
#include "tilegen/tile/Layout.h"
#include "tilegen/tile/PlacedKernel.h"
#include "tilegen/tile/StorePieces.h"
#include "tilegen/tile/TileAccesses.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright::tile;

//===- Kernel -----------------------------------------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("expected no results: outputs are buffers that the program stores to");
  unsigned buffers = getNumBuffers();
  for (auto [i, type] : llvm::enumerate(getArgumentTypes()))
    if (i < buffers ? !isa<BufferType>(type) : !type.isIndex())
      return emitOpError() << "expected buffers first, then symbols of type index, got " << type << " as argument "
                           << i;
  for (auto [i, type] : llvm::enumerate(getArgumentTypes().take_front(buffers))) {
    AffineMap sizes = cast<BufferType>(type).getSizes();
    if (sizes.getNumSymbols() > getNumSymbols())
      return emitOpError() << "expected at most " << getNumSymbols()
                           << " symbols in a buffer's sizes because the kernel has that many, got "
                           << sizes.getNumSymbols();
    if (getArgAttr(i, packedFromAttr) && !constantsOf(sizes))
      return emitOpError() << "expected constant sizes of argument " << i
                           << " because its panels are packed when the model is compiled, got " << type;
  }
  AffineMap grid = getGrid();
  if (grid.getNumDims() != 0 || grid.getNumResults() != 3 || grid.getNumSymbols() > getNumSymbols())
    return emitOpError() << "expected a grid of three expressions (x, y, z) of the kernel's symbols, got "
                         << getGridAttr();
  if (getThreads().has_value() != getSharedBytes().has_value() || getThreads().value_or(1) < 1 ||
      getSharedBytes().value_or(0) > static_cast<uint64_t>(std::numeric_limits<int32_t>::max()))
    return emitOpError() << "expected threads and shared_bytes, both of a placed kernel, or neither";
  if (std::optional<AffineMap> symbols = getSymbols();
      symbols && (symbols->getNumDims() != 0 || symbols->getNumResults() != getNumSymbols()))
    return emitOpError() << "expected an expression in the module's symbols for each of " << getNumSymbols()
                         << " arguments, got " << getSymbolsAttr();
  return success();
}

/// Does every loop end? What computes with a loop's length divides by its step.
static LogicalResult verifySteps(KernelOp kernel) {
  auto result = kernel.getBody().walk([](scf::ForOp loop) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step || *step > 0)
      return WalkResult::advance();
    loop.emitOpError() << "expected a positive step because the loop would not end, got " << *step;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelOp::verifyRegions() {
  if (failed(verifySteps(*this)))
    return failure();
  return isPlaced() ? verifyPlaced(*this) : success();
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
  if (failed(verifyGuard(*this, getGuard(), buffer)))
    return failure();
  if (getFill() && getFill()->getType() != tile.getElementType())
    return emitOpError() << "expected a fill of type " << tile.getElementType() << ", got " << getFill()->getType();
  return success();
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getBufferMutable(), SideEffects::DefaultResource::get());
}

LogicalResult StoreOp::verify() {
  auto tile = cast<RankedTensorType>(getValue().getType());
  if (failed(verifyAccess(*this, tile, getBuffer().getType(), getOffsets().size(), 0, getBounds(), getMap())))
    return failure();
  if (!getStaged())
    return getScratch() ? emitOpError("expected scratch of a staged store alone, got it without 'staged'") : success();
  if (static_cast<int64_t>(*getStaged()) >= tile.getRank())
    return emitOpError() << "expected rows along one of " << tile.getRank() << " dimensions, got " << *getStaged();
  if (tile.getElementType() != getBuffer().getType().getElementType())
    return emitOpError() << "expected a tile of " << getBuffer().getType().getElementType()
                         << " because nothing is converted on the way through shared memory, got " << tile;
  if (!isa_and_nonnull<LayoutAttr>(tile.getEncoding()) || !stagedPieces(tile, *getStaged()))
    return emitOpError() << "expected a layout of warps that hold whole rows of " << tensorMapRowBytes
                         << " bytes, of elements of 16 or 32 bits, got " << tile;
  return success();
}

void StoreOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getBufferMutable(), SideEffects::DefaultResource::get());
}

LogicalResult CheckOp::verify() {
  auto tile = cast<RankedTensorType>(getIndex().getType());
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

/// The type of sums: f32 for f16 and bf16, i32 for i8, the operands' own for wider types.
static Type accumulatorType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  if (element.isInteger(8))
    return IntegerType::get(element.getContext(), 32);
  return element;
}

/// The instruction must be in the table, take these operands and sizes, and, if it runs asynchronously, have a
/// tile.dot_wait before its sums are used.
static LogicalResult verifyInstruction(DotOp dot) {
  std::optional<StringRef> name = dot.getInstruction();
  if (!name)
    return success();
  const Fragments *fragments = findFragments(*name);
  if (!fragments)
    return dot.emitOpError() << "expected an instruction of the table in tilegen/tile/Layout.cpp, got '" << *name
                             << "'";
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType()), rhs = cast<RankedTensorType>(dot.getRhs().getType()),
       acc = cast<RankedTensorType>(dot.getType());
  Type element = rhs.getElementType();
  unsigned bytes = element.isF32() ? 4 : element.isF16() || element.isBF16() ? 2 : element.isInteger(8) ? 1 : 0;
  if (bytes != fragments->bytes)
    return dot.emitOpError() << "expected operands of "
                             << (fragments->bytes == 4   ? "f32"
                                 : fragments->bytes == 2 ? "f16 or bf16"
                                                         : "i8")
                             << " because " << *name << " multiplies them, got " << element;
  int64_t rank = acc.getRank(), m = acc.getDimSize(rank - 2), n = acc.getDimSize(rank - 1),
          k = lhs.getDimSize(rank - 1);
  if (m < fragments->m || n < fragments->n || k < fragments->k)
    return dot.emitOpError() << "expected m, n and k of at least " << fragments->m << ", " << fragments->n << " and "
                             << fragments->k << " because " << *name << " has them, got " << m << ", " << n << " and "
                             << k;
  for (Operation *user : dot->getUsers())
    if (fragments->readsShared() && !isa<DotOp, DotWaitOp, scf::YieldOp>(user))
      return dot.emitOpError() << "expected tile.dot_wait before its sums are used because " << *name
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
  Type element = rhs.getElementType();
  bool splitsLeft = lhs.getElementType().isF32() && (element.isF16() || element.isBF16());
  if ((lhs.getElementType() != element && !splitsLeft) || acc.getElementType() != accumulatorType(element))
    return emitOpError() << "expected operands of one type, or singles and halves, and an accumulator of "
                         << accumulatorType(element) << ", got " << lhs << ", " << rhs << " and " << acc;
  if ((getLhsUnsigned() || getRhsUnsigned()) && !lhs.getElementType().isInteger(8))
    return emitOpError() << "expected operands of i8 because one is said to be unsigned, got " << lhs;
  for (int64_t i = 0; i < rank - 2; ++i)
    if (lhs.getDimSize(i) != acc.getDimSize(i) || rhs.getDimSize(i) != acc.getDimSize(i))
      return emitOpError() << "expected equal batch sizes in dimension " << i << ", got " << lhs << ", " << rhs
                           << " and " << acc;
  if (lhs.getDimSize(rank - 2) != acc.getDimSize(rank - 2) || rhs.getDimSize(rank - 1) != acc.getDimSize(rank - 1) ||
      lhs.getDimSize(rank - 1) != rhs.getDimSize(rank - 2))
    return emitOpError() << "expected m x k, k x n and m x n, got " << lhs << ", " << rhs << " and " << acc;
  if (liveDepth() > rhs.getDimSize(rank - 2) || liveColumns() > rhs.getDimSize(rank - 1))
    return emitOpError() << "expected a live depth and live columns within the right side, got " << liveDepth()
                         << " and " << liveColumns() << " of " << rhs;
  return verifyInstruction(*this);
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
