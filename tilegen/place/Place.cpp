// The stage "place" as its table of contents, and layouts as attributes of types.
#include "tilegen/place/Place.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

//===- Layouts on types -------------------------------------------------------------------------------------------===//

LayoutAttr tile::toAttr(MLIRContext *context, const Layout &layout) {
  auto widen = [](ArrayRef<uint32_t> bases) { return SmallVector<int64_t>(bases.begin(), bases.end()); };
  return LayoutAttr::get(context, widen(layout.reg), widen(layout.lane), widen(layout.warp));
}

Layout tile::toLayout(LayoutAttr attr) {
  auto narrow = [](ArrayRef<int64_t> bases) { return SmallVector<uint32_t>(bases.begin(), bases.end()); };
  return {narrow(attr.getReg()), narrow(attr.getLane()), narrow(attr.getWarp())};
}

Layout tile::layoutOf(Type tile) { return toLayout(cast<LayoutAttr>(cast<RankedTensorType>(tile).getEncoding())); }

RankedTensorType tile::withLayout(RankedTensorType type, const Layout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), toAttr(type.getContext(), layout));
}

SharedLayout tile::sharedLayout(SharedType type) {
  RankedTensorType tile = type.getTile();
  unsigned bytes = llvm::divideCeil(tile.getElementTypeBitWidth(), 8);
  return {TileShape(tile.getShape()), static_cast<unsigned>(type.getFast()), 16 / bytes, 128 / bytes,
          /*swizzled=*/true};
}

const Fragments *tile::fragmentsOf(DotOp dot) {
  auto name = dot->getAttrOfType<StringAttr>("instruction");
  return name ? findFragments(name.getValue()) : nullptr;
}

LoadOp tile::plainLoad(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || !load.getIndices().empty())
    return {};
  bool zero =
      !load.getFill() || matchPattern(*load.getFill(), m_AnyZeroFloat()) || matchPattern(*load.getFill(), m_Zero());
  return zero ? load : LoadOp();
}

//===- Targets ----------------------------------------------------------------------------------------------------===//

/// Of an operand's element, where the table of fragments knows the type; 0 otherwise.
static unsigned bytesOf(MatrixType type) {
  return type == MatrixType::F16 || type == MatrixType::BF16 ? 2 : type == MatrixType::I8 ? 1 : 0;
}

/// Rows of the table of fragments whose instruction the target has, in the table's order.
PlaceFacts tile::placeFacts(const TargetDesc &target) {
  PlaceFacts facts;
  facts.lanes = target.warpWidth;
  facts.copiesAsync = target.asyncCopies;
  facts.sharedBytes = target.sharedBytes;
  for (const Fragments &row : allFragments())
    for (const MatrixInstruction &instruction : target.matrix)
      if (row.lanes() == facts.lanes && row.bytes == bytesOf(instruction.type) && unsigned(instruction.m) == row.m &&
          unsigned(instruction.n) == row.n && unsigned(instruction.k) * row.steps == row.k &&
          unsigned(instruction.warps) == row.warps())
        facts.fragments.push_back({instruction.type, row.name});
  return facts;
}

LogicalResult tile::placeTiles(ModuleOp module, const TargetDesc &target) {
  return placeTiles(module, placeFacts(target));
}

//===- The stage --------------------------------------------------------------------------------------------------===//

static LogicalResult checkSizes(KernelOp kernel) {
  int64_t rank = -1;
  auto result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile)
        continue;
      if (!TileShape::valid(tile.getShape()))
        return op->emitOpError() << "expected tile sizes that are powers of two because layouts are maps of bits, got "
                                 << tile,
               WalkResult::interrupt();
      if (rank >= 0 && tile.getRank() != rank)
        return op->emitOpError() << "expected tiles of rank " << rank << " as elsewhere in the kernel, got " << tile,
               WalkResult::interrupt();
      rank = tile.getRank();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult tile::placeTiles(ModuleOp module, const PlaceFacts &facts) {
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    if (kernel->hasAttr("shared_bytes"))
      continue; // placed already
    if (failed(checkSizes(kernel)))
      return failure();
    flattenLoops(kernel);
    if (failed(assignLayouts(kernel, facts)))
      return failure();
    stageOperands(kernel);
    pipelineLoops(kernel, facts);
    if (failed(allocateShared(kernel, facts)))
      return failure();
  }
  return success();
}
