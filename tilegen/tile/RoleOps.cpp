// SPDX-License-Identifier: Apache-2.0
// Verifiers of bulk copies, rings and roles.
#include "tilegen/tile/StorePieces.h"
#include "tilegen/tile/TileAccesses.h"
#include "tilegen/tile/TileLayouts.h"

using namespace mlir;
using namespace tilewright::tile;

//===- Bulk copies ------------------------------------------------------------------------------------------------===//

LogicalResult TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError, Type element, ArrayRef<int64_t> box) {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return emitError() << "expected elements of whole bytes, got " << element;
  if (box.size() < minTensorMapRank || box.size() > maxTensorMapRank)
    return emitError() << "expected a box of " << minTensorMapRank << " to " << maxTensorMapRank << " dimensions, got "
                       << box.size();
  for (int64_t size : box)
    if (size < 1 || size > maxTensorMapBox)
      return emitError() << "expected sizes of a box from 1 to " << maxTensorMapBox << ", got " << size;
  int64_t bytes = box[0] * element.getIntOrFloatBitWidth() / 8;
  if (bytes < leastTensorMapRowBytes || bytes > tensorMapRowBytes || !llvm::isPowerOf2_64(bytes))
    return emitError() << "expected rows of 32, 64 or " << tensorMapRowBytes
                       << " bytes because matrix instructions read such rows, got " << box[0] << " of " << element;
  return success();
}

std::optional<SmallVector<int64_t>> tilewright::tile::constantsOf(AffineMap map) {
  SmallVector<int64_t> values;
  for (AffineExpr expr : map.getResults()) {
    auto value = dyn_cast<AffineConstantExpr>(expr);
    if (!value)
      return std::nullopt;
    values.push_back(value.getValue());
  }
  return values;
}

int64_t TensorMapOp::linesOfRow(int64_t elements) {
  return llvm::divideCeil(elements, tensorMapRowBytes * 8 / getType().getElement().getIntOrFloatBitWidth());
}

static LogicalResult verifyAhead(TensorMapOp map) {
  ArrayRef<int64_t> ahead = map.getAhead();
  if (ahead.size() != 2 || map.getType().getBox().size() != 2)
    return map.emitOpError() << "expected to ask ahead for rows of a tensor of two dimensions, got " << ahead.size()
                             << " sizes and " << map.getType();
  auto kernel = map->getParentOfType<KernelOp>();
  std::optional<SmallVector<int64_t>> sizes = constantsOf(map.getSizes()), grid;
  if (kernel)
    grid = constantsOf(kernel.getGrid());
  if (!sizes || !grid || grid->front() < 1 || !constantsOf(map.getStrides()) || !constantsOf(map.getStart()))
    return map.emitOpError("expected constants for the tensor and for one or more blocks because the blocks share what "
                           "they ask for ahead");
  for (auto [elements, size] : llvm::zip_equal(ahead, *sizes))
    if (elements < 1 || elements > size)
      return map.emitOpError() << "expected to ask ahead for 1 to " << size << " elements of a dimension, got "
                               << elements;
  if (map.linesOfRow(ahead[0]) > TensorMapOp::mostLinesAhead / ahead[1])
    return map.emitOpError() << "expected to ask ahead for " << TensorMapOp::mostLinesAhead << " lines of "
                             << tensorMapRowBytes << " bytes at most because each is an instruction, got " << ahead[1]
                             << " rows of " << map.linesOfRow(ahead[0]);
  return success();
}

LogicalResult TensorMapOp::verify() {
  TensorMapType type = getType();
  unsigned rank = type.getBox().size();
  if (!isa<BlockArgument>(getBuffer()))
    return emitOpError("expected an argument of the kernel because its launch says where the tensor is");
  if (failed(verifySizesMap(*this, getStart(), 1, "start")) ||
      failed(verifySizesMap(*this, getSizes(), rank, "sizes")) ||
      failed(verifySizesMap(*this, getStrides(), rank, "strides")))
    return failure();
  if (type.getElement() != getBuffer().getType().getElementType())
    return emitOpError() << "expected elements of type " << getBuffer().getType().getElementType()
                         << " because nothing is converted on the way, got " << type.getElement();
  size_t pixels = getLower().size();
  if (getUpper().size() != pixels || getSteps().size() != pixels || (pixels && pixels + 2 != rank))
    return emitOpError() << "expected corners and steps of " << rank - 2
                         << " dimensions because the others are channels and images, got " << pixels << ", "
                         << getUpper().size() << " and " << getSteps().size();
  if (llvm::any_of(getSteps(), [](int64_t step) { return step < 1; }))
    return emitOpError() << "expected positive steps from pixel to pixel, got " << getStepsAttr();
  if (getRounded() && !type.getElement().isF32())
    return emitOpError() << "expected elements of f32 because they are rounded to tf32, got " << type.getElement();
  if (getStrides().getResult(0) != getAffineConstantExpr(1, getContext()))
    return emitOpError() << "expected a first stride of 1 because rows are copied whole, got " << getStridesAttr();
  return getAhead().empty() ? success() : verifyAhead(*this);
}

LogicalResult BulkCopyOp::verify() {
  ArrayRef<int64_t> box = getMap().getType().getBox();
  SharedType shared = getShared().getType();
  if (getCoordinates().size() != box.size())
    return emitOpError() << "expected " << box.size()
                         << " coordinates because the tensor has that many dimensions, got " << getCoordinates().size();
  if (shared.getTile().getElementType() != getMap().getType().getElement())
    return emitOpError() << "expected a tile of " << getMap().getType().getElement()
                         << " because nothing is converted on the way, got " << shared.getTile();
  int64_t row = shared.getTile().getDimSize(shared.getFast()), rows = shared.getTile().getNumElements() / row,
          boxRows = 1;
  for (int64_t size : box.drop_front())
    boxRows *= size;
  int64_t width = std::min(row, tensorMapRowBytes * 8 / shared.getTile().getElementTypeBitWidth());
  if (width != box[0] || boxRows != rows)
    return emitOpError() << "expected boxes of " << rows << " rows of " << width
                         << " because panels of them make a tile, got " << boxRows << " of " << box[0];
  auto map = getMap().getDefiningOp<TensorMapOp>();
  if (map && map.getLower().size() != getOffsets().size())
    return emitOpError() << "expected " << map.getLower().size()
                         << " offsets because the tensor's pixels have that many dimensions, got "
                         << getOffsets().size();
  if (shared.getSlots() != getRing().getType().getSlots())
    return emitOpError() << "expected a ring of " << shared.getSlots() << " slots as the tiles have, got "
                         << getRing().getType().getSlots();
  return success();
}

LogicalResult BulkStoreOp::verify() {
  ArrayRef<int64_t> box = getMap().getType().getBox();
  auto tile = cast<RankedTensorType>(getValue().getType());
  if (getCoordinates().size() != box.size())
    return emitOpError() << "expected " << box.size()
                         << " coordinates because the tensor has that many dimensions, got " << getCoordinates().size();
  if (tile.getElementType() != getMap().getType().getElement())
    return emitOpError() << "expected a tile of " << getMap().getType().getElement()
                         << " because nothing is converted on the way, got " << tile;
  if (auto map = getMap().getDefiningOp<TensorMapOp>(); map && (map.getRounded() || !map.getLower().empty()))
    return emitOpError() << "expected a tensor that is neither rounded nor walked as pixels because it is stored to";
  if (static_cast<int64_t>(getFast()) >= tile.getRank())
    return emitOpError() << "expected rows along one of " << tile.getRank() << " dimensions, got " << getFast();
  if (!isa_and_nonnull<LayoutAttr>(tile.getEncoding()))
    return emitOpError() << "expected a tile with a layout because warps store what they hold, got " << tile;
  std::optional<StorePieces> pieces = storePieces(tile, getFast());
  if (!pieces)
    return emitOpError() << "expected warps that hold whole rows of " << tensorMapRowBytes << " bytes, got " << tile;
  if (box[0] != pieces->width)
    return emitOpError() << "expected boxes of " << pieces->width << " elements a row because pieces have as many, got "
                         << getMap().getType();
  if (box[1] != pieces->rows || llvm::any_of(box.drop_front(2), [](int64_t size) { return size != 1; }))
    return emitOpError() << "expected boxes of " << pieces->rows << " rows because a warp holds as many together, got "
                         << getMap().getType();
  if (pieces->count() % getRooms())
    return emitOpError() << "expected rooms that divide " << pieces->count()
                         << " pieces because each tile begins with the first room, got " << getRooms();
  if (getShares() > 1 && !getTurn())
    return emitOpError() << "expected a turn because shares take one each, got " << getShares() << " shares";
  if (pieces->mostShares() % static_cast<int64_t>(getShares()))
    return emitOpError() << "expected shares that divide " << pieces->mostShares() << " vectors of "
                         << StorePieces::shareElements << " elements of a thread, got " << getShares();
  return success();
}

//===- Rings ------------------------------------------------------------------------------------------------------===//

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots, int64_t releases) {
  if (slots < 1 || releases < 1)
    return emitError() << "expected slots and warps that release them, got " << slots << " and " << releases;
  return success();
}

LogicalResult RingAllocOp::verify() {
  constexpr int64_t barrierBytes = 8;
  int64_t offset = getOffset();
  if (offset % barrierBytes)
    return emitOpError() << "expected an offset that is a multiple of " << barrierBytes
                         << " because a barrier has as many bytes, got " << offset;
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (kernel && kernel.isPlaced() && offset + getType().getBytes() > static_cast<int64_t>(*kernel.getSharedBytes()))
    return emitOpError() << "expected an end within the kernel's " << *kernel.getSharedBytes()
                         << " bytes of shared memory, got " << offset + getType().getBytes();
  return success();
}

//===- Roles ------------------------------------------------------------------------------------------------------===//

std::optional<int64_t> OrderedProgramOp::programAt(int64_t index) {
  std::optional<SmallVector<int64_t>> rows = constantsOf(getRows()), columns = constantsOf(getColumns());
  auto isCount = [](int64_t value) { return value >= 1 && value <= INT32_MAX; }; // programs are counted in 32 bits
  if (!rows || !columns || !isCount(rows->front()) || !isCount(columns->front()))
    return std::nullopt;
  int64_t most = std::min<int64_t>(getGroup(), rows->front()), programs = columns->front() * most,
          firstRow = index / programs * most, height = std::clamp<int64_t>(rows->front() - firstRow, 1, most),
          within = index % programs;
  return (firstRow + within % height) * columns->front() + within / height;
}

LogicalResult OrderedProgramOp::verify() {
  if (failed(verifySizesMap(*this, getRows(), 1, "rows")))
    return failure();
  return verifySizesMap(*this, getColumns(), 1, "columns");
}

/// Does this operation access no global memory but constants? Operations with regions count for what is in them.
static bool touchesConstantsAlone(Operation *op) {
  if (auto copy = dyn_cast<BulkCopyOp>(op)) {
    auto map = copy.getMap().getDefiningOp<TensorMapOp>();
    return map && isConstant(map.getBuffer());
  }
  if (auto copy = dyn_cast<SharedCopyOp>(op))
    return isConstant(copy.getBuffer());
  if (auto load = dyn_cast<LoadOp>(op))
    return isConstant(load.getBuffer());
  return isa<RingAcquireOp, RingWaitOp, RingReleaseOp, RingDrainOp, SharedAllocOp, WorkspaceOp>(op) ||
         op->getNumRegions() || isMemoryEffectFree(op);
}

LogicalResult AwaitKernelsOp::verify() {
  if (!isa<KernelOp, RolesOp>((*this)->getParentOp()))
    return emitOpError() << "expected to stand in a kernel or a role itself because all that follows relies on it, got "
                         << (*this)->getParentOp()->getName();
  for (Operation *op = (*this)->getPrevNode(); op; op = op->getPrevNode()) {
    auto result = op->walk([](Operation *op) {
      if (touchesConstantsAlone(op))
        return WalkResult::advance();
      op->emitOpError("expected nothing but copies of constants before tile.await_kernels because other kernels may "
                      "still read and write everything else");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

int64_t RolesOp::registersAtStart(int64_t warps) {
  constexpr int64_t lanes = 32, step = 8, most = 255;
  return std::min(registersOfUnit / (warps * lanes) / step * step, most);
}

LogicalResult RolesOp::verify() {
  size_t roles = getBodies().size();
  if (getWarps().size() != roles || getRegisters().size() != roles || getElected().size() != roles)
    return emitOpError() << "expected warps, registers and elected for each of " << roles << " roles, got "
                         << getWarps().size() << ", " << getRegisters().size() << " and " << getElected().size();
  for (int64_t warps : getWarps())
    if (warps < 1 || warps % 4)
      return emitOpError() << "expected a multiple of four warps for each role because four share instructions and "
                              "registers, got "
                           << warps;
  // PTX ISA, "setmaxnreg".
  constexpr int64_t least = 24, most = 256, step = 8;
  for (int64_t registers : getRegisters())
    if (registers && (registers < least || registers > most || registers % step))
      return emitOpError() << "expected no registers, which leaves them as they are, or from " << least << " to "
                           << most << ", a multiple of " << step << ", got " << registers;
  // A warp that asks for registers waits until others gave them back.
  int64_t warps = llvm::sum_of(getWarps()), atStart = registersAtStart(warps), wanted = 0;
  for (auto [ofRole, registers] : llvm::zip(getWarps(), getRegisters()))
    wanted += ofRole * (registers ? registers : atStart);
  if (wanted > warps * atStart)
    return emitOpError() << "expected roles with at most " << warps * atStart << " registers a lane of all " << warps
                         << " warps because they start with " << atStart << " each, got " << wanted;
  if (!isa<KernelOp>((*this)->getParentOp()))
    return emitOpError() << "expected to stand in a tile.kernel itself because roles do not nest, got "
                         << (*this)->getParentOp()->getName();
  for (auto [body, elected] : llvm::zip(getBodies(), getElected())) {
    if (!elected)
      continue;
    auto result = body.walk([&](Operation *op) {
      if (!isa<BarrierOp>(op) && !llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
        return WalkResult::advance();
      op->emitOpError("expected no tiles and no barriers in a role that one thread runs");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}
