// SPDX-License-Identifier: Apache-2.0
// Layouts of a placed kernel agree from operation to operation, with its threads and with its shared memory.
#include "tilegen/tile/PlacedKernel.h"
#include "tilegen/tile/StorePieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
/// How many bits of a thread's number choose its lane, the same in every layout of a kernel; nullopt before the first
/// one.
using LaneBits = std::optional<size_t>;
} // namespace

static TileShape shapeOf(Type tile) { return TileShape(cast<RankedTensorType>(tile).getShape()); }

/// The threads that run `op`: the kernel's, or those of its role.
static int64_t threadsOf(Operation *op, KernelOp kernel) {
  int64_t threads = *kernel.getThreads();
  auto roles = op->getParentOfType<RolesOp>();
  if (!roles)
    return threads;
  Region *body = op->getParentRegion();
  while (body->getParentOp() != roles)
    body = body->getParentRegion();
  return threads / llvm::sum_of(roles.getWarps()) * roles.getWarps()[body->getRegionNumber()];
}

static LogicalResult verifyTile(Operation *op, Type type, int64_t threads, LaneBits &laneBits) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return success();
  auto layout = dyn_cast_or_null<LayoutAttr>(tile.getEncoding());
  if (!layout)
    return op->emitOpError() << "expected tiles with layouts because the kernel is placed, got " << tile;
  size_t lanes = layout.getLane().size(), bits = lanes + layout.getWarp().size();
  if (bits > 30 || int64_t(1) << bits != threads)
    return op->emitOpError() << "expected a layout over the " << threads << " threads that run it, got " << layout;
  if (laneBits.value_or(lanes) != lanes)
    return op->emitOpError() << "expected a layout over warps of " << (1 << *laneBits)
                             << " lanes as elsewhere in the kernel, got " << layout;
  laneBits = lanes;
  return success();
}

/// A tile that has size 1 in some dimensions of another one must have the projection of the other one's layout.
static LogicalResult verifyPart(Operation *op, StringRef name, Type part, Type whole) {
  Layout expected = project(layoutOf(whole), shapeOf(whole), shapeOf(part));
  if (layoutOf(part) != expected)
    return op->emitOpError() << "expected the layout " << toAttr(op->getContext(), expected) << " of its " << name
                             << " because each thread then holds what it needs, got "
                             << cast<RankedTensorType>(part).getEncoding();
  return success();
}

static LogicalResult verifyScratch(ReduceOp reduce, KernelOp kernel) {
  int64_t bytes = exchangedBytes(reduce), room = *kernel.getSharedBytes();
  if (bytes && !reduce.getScratch())
    return reduce.emitOpError() << "expected scratch because warps share its results, got none";
  if (bytes && static_cast<int64_t>(*reduce.getScratch()) + bytes > room)
    return reduce.emitOpError() << "expected an end of its scratch within the kernel's " << room
                                << " bytes of shared memory, got " << *reduce.getScratch() + bytes;
  return success();
}

static LogicalResult verifyScratch(PartArriveOp arrive, KernelOp kernel) {
  int64_t room = *kernel.getSharedBytes();
  if (!arrive.getScratch() || static_cast<int64_t>(*arrive.getScratch()) + arrivalBytes > room)
    return arrive.emitOpError() << "expected scratch within the kernel's " << room
                                << " bytes of shared memory because its threads learn the answer there, got "
                                << arrive.getScratchAttr();
  return success();
}

/// Whether this loop around a tile.part_sum, over the programs of a block, takes one of them, as the number of all
/// programs says or the schedule promises.
static bool takesOneProgram(scf::ForOp loop, KernelOp kernel) {
  std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound()), step = getConstantIntValue(loop.getStep());
  ScheduleAttr schedule = kernel.getScheduleAttr();
  if (!end && schedule && schedule.getMostTiles())
    end = schedule.getMostTiles() * schedule.getParts();
  return end && step && *end <= *step;
}

/// Clusters are whole, and the same for all of the kernel.
template <typename Part> static LogicalResult verifyCluster(Part part, KernelOp kernel) {
  auto parts = static_cast<int64_t>(part.getParts());
  if (parts != kernel.getClusterBlocks())
    return part.emitOpError() << "expected " << kernel.getClusterBlocks()
                              << " parts as elsewhere in the kernel because a block is in one cluster, got " << parts;
  AffineExpr blocks = kernel.getGrid().getResult(0);
  if (!blocks.isMultipleOf(parts))
    return part.emitOpError() << "expected a multiple of " << parts
                              << " blocks along x because clusters are whole, got " << kernel.getGridAttr();
  constexpr int64_t alignment = 16; // of the widest access
  int64_t bytes = givenBytes(part), room = *kernel.getSharedBytes();
  if (!part.getScratch() || *part.getScratch() % alignment || static_cast<int64_t>(*part.getScratch()) + bytes > room)
    return part.emitOpError() << "expected " << bytes << " bytes of scratch, at a multiple of " << alignment
                              << " within the kernel's " << room
                              << " bytes of shared memory, because other blocks write there, got "
                              << part.getScratchAttr();
  return success();
}

static LogicalResult verifyPartSum(PartSumOp sum, KernelOp kernel) {
  for (auto loop = sum->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
    if (!takesOneProgram(loop, kernel))
      return sum.emitOpError()
             << "expected no loop around it that a block may go through twice, because other blocks of "
                "its cluster might then write to shared memory that it still reads";
  return verifyCluster(sum, kernel);
}

/// A value is given once, so that nobody still reads what another block overwrites.
static LogicalResult verifyPartReduce(PartReduceOp reduce, KernelOp kernel) {
  if (reduce->getParentOp() != kernel)
    return reduce.emitOpError() << "expected to stand in the kernel itself because all threads give a value once";
  return verifyCluster(reduce, kernel);
}

/// The rooms of a store through shared memory, in scratch at a multiple of `alignment`.
template <typename Store> static LogicalResult verifyRooms(Store store, int64_t alignment, KernelOp kernel) {
  int64_t bytes = roomBytes(store), room = *kernel.getSharedBytes();
  if (!store.getScratch() || *store.getScratch() % alignment ||
      static_cast<int64_t>(*store.getScratch()) + bytes > room)
    return store.emitOpError() << "expected " << bytes << " bytes of scratch, at a multiple of " << alignment
                               << " within the kernel's " << room << " bytes of shared memory, got "
                               << store.getScratchAttr();
  return success();
}

/// Singles that an instruction reads from shared memory without rounding must come from a copy engine that rounds them.
static LogicalResult verifyRounding(DotOp dot, SharedReadOp operand) {
  const Fragments *fragments = fragmentsOf(dot);
  if (!fragments || !fragments->needsRounding())
    return success();
  for (Operation *user : operand.getShared().getUsers()) {
    auto copy = dyn_cast<BulkCopyOp>(user);
    auto map = copy ? copy.getMap().getDefiningOp<TensorMapOp>() : TensorMapOp();
    if (!(map && map.getRounded()) && !isa<SharedReadOp>(user))
      return dot.emitOpError() << "expected operands that the copy engine has rounded because " << fragments->name
                               << " reads no more bits, got one that " << user->getName() << " writes";
  }
  return success();
}

/// Accumulators and operands must have the layouts of the instruction's fragments, and operands come from shared
/// memory, except for the one that the instruction takes in registers.
static LogicalResult verifyDot(DotOp dot) {
  auto acc = cast<RankedTensorType>(dot.getType());
  if (llvm::any_of(acc.getShape().drop_back(2), [](int64_t size) { return size != 1; }))
    return dot.emitOpError() << "expected batch sizes of 1 in a placed kernel, got " << acc;
  Layout layout = layoutOf(acc);
  auto verifyLayout = [&](StringRef name, Type type, const Layout &expected) -> LogicalResult {
    if (layoutOf(type) == expected)
      return success();
    return dot.emitOpError() << "expected the layout " << toAttr(dot.getContext(), expected) << " of its " << name
                             << ", got " << cast<RankedTensorType>(type).getEncoding();
  };
  if (const Fragments *fragments = fragmentsOf(dot)) {
    unsigned warps = 1u << layout.warp.size(), lanes = 1u << layout.lane.size();
    if (warps < fragments->warps() || lanes != fragments->lanes())
      return dot.emitOpError() << "expected " << fragments->warps() << " warps or more of " << fragments->lanes()
                               << " lanes because " << fragments->name << " takes them, got " << warps << " of "
                               << lanes;
    if (failed(verifyLayout("accumulator", acc, operandLayout(dot, Operand::C, acc))))
      return failure();
  }
  for (Value operand : {dot.getLhs(), dot.getRhs()}) {
    bool isLhs = operand == dot.getLhs();
    const Fragments *fragments = fragmentsOf(dot);
    if (!isLhs && fragments && fragments->transposed && operand.getDefiningOp<SharedReadOp>())
      return dot.emitOpError() << "expected a right side in registers because " << fragments->name
                               << " takes it from there, got one from tile.shared_read";
    if (isLhs && getElementTypeOrSelf(operand) != getElementTypeOrSelf(dot.getRhs()) &&
        operand.getDefiningOp<SharedReadOp>())
      return dot.emitOpError() << "expected a left side of singles in registers because it is split into halves there, "
                                  "got one from tile.shared_read";
    if (!operand.getDefiningOp<SharedReadOp>() && !(fragments && fragments->mayHold(isLhs ? Operand::A : Operand::B)))
      return dot.emitOpError() << "expected operands from tile.shared_read because the kernel is placed; only the left "
                                  "side of a matrix instruction may be in registers, or the right side of one that "
                                  "computes the transpose";
    if (auto read = operand.getDefiningOp<SharedReadOp>(); read && failed(verifyRounding(dot, read)))
      return failure();
    auto type = cast<RankedTensorType>(operand.getType());
    if (failed(verifyLayout(isLhs ? "left side" : "right side", type,
                            operandLayout(dot, isLhs ? Operand::A : Operand::B, type))))
      return failure();
  }
  return success();
}

/// Elementwise operations work register by register, so all of their tiles must have one layout.
static LogicalResult verifyElementwise(Operation *op) {
  Attribute layout;
  for (Type type :
       llvm::concat<Type>(SmallVector<Type>(op->getOperandTypes()), SmallVector<Type>(op->getResultTypes())))
    if (auto tile = dyn_cast<RankedTensorType>(type)) {
      if (layout && tile.getEncoding() != layout)
        return op->emitOpError() << "expected one layout for all of its tiles, got " << layout << " and "
                                 << tile.getEncoding();
      layout = tile.getEncoding();
    }
  return success();
}

static LogicalResult verifyOperation(Operation *op, KernelOp kernel) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](BroadcastOp op) { return verifyPart(op, "input", op.getInput().getType(), op.getType()); })
      .Case([&](ReduceOp op) {
        LogicalResult part = verifyPart(op, "result", op.getType(), op.getInput().getType());
        return failed(part) ? part : verifyScratch(op, kernel);
      })
      .Case([&](DotOp op) { return verifyDot(op); })
      .Case([&](PartSumOp op) { return verifyPartSum(op, kernel); })
      .Case([&](PartReduceOp op) { return verifyPartReduce(op, kernel); })
      .Case([&](PartArriveOp op) { return verifyScratch(op, kernel); })
      .Case([&](BulkStoreOp op) { return verifyRooms(op, roomAlignment, kernel); })
      .Case([&](StoreOp op) { return op.getStaged() ? verifyRooms(op, storedChunkBytes, kernel) : success(); })
      .Case([&](scf::IfOp op) -> LogicalResult {
        if (op.getNumResults() || !op.getElseRegion().empty())
          return op.emitOpError() << "expected no results and no else in a placed kernel, where only copies and "
                                     "what follows shared sums are conditional";
        return success();
      })
      .Case<scf::ForOp, scf::YieldOp, SharedCopyOp, SharedWriteOp, SharedReadOp, SharedLoadOp, DotWaitOp, RolesOp>(
          [](Operation *) { return success(); }) // whose own verifiers say it all
      .Default(verifyElementwise);
}

LogicalResult tilewright::tile::verifyPlaced(KernelOp kernel) {
  LaneBits laneBits;
  auto result = kernel.getBody().walk([&](Operation *op) {
    int64_t threads = threadsOf(op, kernel);
    for (Type type : op->getResultTypes())
      if (failed(verifyTile(op, type, threads, laneBits)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        if (failed(verifyTile(op, type, threads, laneBits)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  result = kernel.getBody().walk([&](Operation *op) {
    return failed(verifyOperation(op, kernel)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
