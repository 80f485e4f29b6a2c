// SPDX-License-Identifier: Apache-2.0
// One kernel's distribution: the state, and the lowering of each kind of operation. Internal to backend/gpu.
#pragma once

#include "backend/gpu/GpuTarget.h"
#include "backend/gpu/IndexEmitter.h"
#include "backend/gpu/InjectedFaults.h"
#include "tilegen/place/AccessFacts.h"
#include "tilegen/place/Place.h"

namespace tilewright {

using Registers = llvm::SmallVector<mlir::Value>;

inline int64_t elementBytes(mlir::Type type) { return (type.getIntOrFloatBitWidth() + 7) / 8; }

class KernelDistributor {
public:
  KernelDistributor(tile::KernelOp kernel, mlir::ModuleOp output, GpuTarget &target, InjectedFaults faults);
  mlir::LogicalResult run();

private:
  using Value = mlir::Value;
  using Operation = mlir::Operation;

  /// A slot of shared memory that a tile.dot reads its operand from.
  struct SharedTile {
    Value base; // of the slot, !llvm.ptr<3>
    tile::SharedLayout layout;
    mlir::Type element;
    Value first, number; // the first slot, and this one's number (i32)
    int64_t slotBytes;
  };
  /// An operand of an instruction that reads shared memory.
  struct MatrixOperand;
  /// How an access is cut: `vector` neighbours along `dim` at a time, which are the registers that differ in `bits`. If
  /// `aligned` is not empty, such chunks are aligned only if the values of its symbols are multiples of `vector`, which
  /// the kernel checks when it runs.
  struct Chunks {
    unsigned dim = 0;
    int64_t vector = 1;
    tile::SymbolSet aligned = 0;
    llvm::SmallVector<unsigned> bits;
  };
  /// A bit of the lane number and a bit of the register number whose elements change places.
  struct LaneExchange {
    unsigned lane, reg;
  };
  /// An access with its index arithmetic prepared: types, coordinates of this thread, sizes.
  struct AccessContext;

  // KernelDistributor.cpp: structure, elementwise work
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOperations(mlir::Block &block);
  void noteContractions(mlir::Region &body);
  mlir::LogicalResult lower(Operation *op);
  void lowerElementwise(Operation *op);
  mlir::LogicalResult lowerConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  Value narrowed(Value value);
  Value widened(Value value, mlir::Type type);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op);
  void lowerBroadcast(tile::BroadcastOp op);
  void lowerCoordinate(tile::CoordinateOp op);
  Value size(tile::SizeOp op);
  void map(Value tile, Registers registers);
  Value registerOf(Value tile, unsigned r);
  Registers registersOf(Value tile);
  void computeWaiting();
  Value scalar(Value value) const { return scalars_.lookupOrDefault(value); }

  // PackedHalves.cpp
  bool packArithmetic(Value tile, unsigned r);
  bool packConversion(Value tile, unsigned r);

  // DistributeLoad.cpp, DistributeStore.cpp: global memory
  void lowerLoad(tile::LoadOp op);
  struct PendingLoad;
  Value loadAt(PendingLoad &load, unsigned r, int64_t count, bool isWhole);
  void loadChunks(PendingLoad &load, size_t first, size_t last);
  void loadBatch(PendingLoad &load, unsigned r);
  class StoreLowering;
  void lowerStore(tile::StoreOp op);
  class StagedStoreLowering; // contract/DistributeStagedStore.cpp
  void lowerStagedStore(tile::StoreOp op);

  // AccessContext.cpp
  Chunks chooseChunks(const tile::Access &access, const tile::Layout &layout, bool mayAssume = true);

  // DistributeAccess.cpp
  void lowerCheck(tile::CheckOp op);
  void lowerCopy(tile::SharedCopyOp op);
  Value fillValue(mlir::Type element, mlir::Attribute fill);
  Value fillAddress(mlir::Type element, mlir::Attribute fill);
  Value isOwner(const tile::Layout &layout);
  llvm::SmallVector<Value> symbols(mlir::IntegerType type);

  // ExchangeLanes.cpp
  /// The exchanges within groups of four lanes that let one access move 16 bytes; empty if accesses would not become
  /// wider. Changes `layout` to the layout after them.
  llvm::SmallVector<LaneExchange> widenByLanes(const tile::Access &access, tile::Layout &layout);
  /// Does these exchanges to one chunk's registers; a second call undoes them. Must be executed by all threads of the
  /// warp.
  void exchangeLanes(llvm::ArrayRef<LaneExchange> exchanges, llvm::ArrayRef<unsigned> chunkBits,
                     llvm::MutableArrayRef<Value> elements);

  // DistributeReduce.cpp
  void lowerReduce(tile::ReduceOp op);
  class WarpExchange;
  Value combine(tile::ReduceKind kind, Value a, Value b);
  Value combineLanes(tile::ReduceKind kind, Value own, Value received);
  Value shuffle(Value value, unsigned mask);

  // DistributeShared.cpp: shared memory; DistributeDot.cpp, MultiplyAdd.cpp: contractions
  void lowerWrite(tile::SharedWriteOp op);
  SharedTile sharedTile(Value shared, Value slot);
  Value elementAddress(Value base, mlir::Type element, const tile::SharedLayout &shared, const tile::Layout &layout,
                       uint32_t part, Value moved = {});
  void lowerRead(tile::SharedReadOp op);
  void lowerSharedLoad(tile::SharedLoadOp op);
  void lowerDot(tile::DotOp op);
  void dotOnMatrixUnits(tile::DotOp op, const tile::Fragments &fragments);
  void dotFromShared(tile::DotOp op, const tile::Fragments &fragments);
  void lowerDotWait(tile::DotWaitOp op);
  class MultiplyAdd;
  Value slotAddress(Value shared, Value slot);
  static llvm::SmallVector<unsigned> rowBits(const tile::Layout &layout, const tile::SharedLayout &shared,
                                             mlir::Type element);
  Value readVector(const SharedTile &shared, const tile::Layout &layout, uint32_t part, unsigned count,
                   Value moved = {});
  bool readsMatrices(const SharedTile &shared, const tile::Fragments &fragments) const;
  llvm::SmallVector<Value> readMatrices(const SharedTile &shared, const tile::Layout &layout, uint32_t part,
                                        uint32_t first, uint32_t second);
  llvm::SmallVector<Value> readFragments(const SharedTile &shared, const tile::Layout &layout,
                                         const tile::Fragments &fragments, llvm::ArrayRef<uint32_t> parts,
                                         unsigned bits);
  std::vector<Registers> heldParts(Value operand, mlir::Type element);
  llvm::SmallVector<Value> heldFragments(const Registers &registers, const tile::Layout &layout,
                                         llvm::ArrayRef<uint32_t> parts, unsigned bits);
  MatrixOperand matrixOperand(Value tile, unsigned sideDim, unsigned kDim, unsigned warps);
  Value readFragment(const SharedTile &shared, const tile::Layout &layout, uint32_t part, unsigned bits);

  // DistributeRoles.cpp: roles, rings, bulk copies
  struct RingPosition {
    Value slot, uses; // i32: the slot's number, and how often it was used before
  };
  /// A loop-carried value that counts steps by one and selects a slot in rings of `slots`.
  struct StepCounter {
    unsigned argument; // its number among the loop-carried values
    int64_t slots;
  };
  Value word(Value index);
  RingPosition positionOf(Value ring, Value step);
  RingPosition positionOf(int64_t slots, Value step);
  RingPosition after(RingPosition position, int64_t slots);
  RingPosition before(RingPosition position, int64_t slots);
  llvm::SmallVector<StepCounter> stepCounters(mlir::scf::ForOp op);
  /// Records the ring positions of the steps among `counted`: the last values of `words`, two for each counter.
  void notePositions(llvm::ArrayRef<StepCounter> counters, mlir::ValueRange counted, mlir::ValueRange words);
  Value ringBarrier(Value ring, Value slot, bool isEmpty);
  void lowerRingAlloc(tile::RingAllocOp op);
  void makeRings(llvm::ArrayRef<tile::RingAllocOp> rings);
  void lowerRingAcquire(tile::RingAcquireOp op);
  void lowerRingWait(tile::RingWaitOp op);
  void lowerRingDrain(tile::RingDrainOp op);
  void lowerRingRelease(tile::RingReleaseOp op);
  void release(Value ring, Value step);
  void lowerBulkCopy(tile::BulkCopyOp op);
  class BulkStoreLowering;
  llvm::SmallVector<Value> takeWaiting(mlir::Block *block);
  void lowerBulkStore(tile::BulkStoreOp op);
  void finishBulkStores(mlir::Region &body);
  void byFirstLane(llvm::function_ref<void()> build);
  void prefetchMaps(llvm::ArrayRef<tile::TensorMapOp> maps);
  void prefetchElements(tile::TensorMapOp map);
  void lowerOrderedProgram(tile::OrderedProgramOp op);
  mlir::LogicalResult lowerRole(tile::RolesOp op, unsigned number, unsigned firstWarp);
  mlir::LogicalResult lowerRoles(tile::RolesOp op);

  // DistributeParts.cpp: tiles that several programs share
  Value threadOfRole();
  Value partAddress(Value workspace, Value tile, Value part, mlir::Type held, unsigned width);
  void lowerPartWrite(tile::PartWriteOp op);
  void lowerPartRead(tile::PartReadOp op);
  void lowerPartArrive(tile::PartArriveOp op);
  Value countArrival(tile::PartArriveOp op);
  void lowerPartSum(tile::PartSumOp op);
  void lowerPartReduce(tile::PartReduceOp op);
  void awaitClusterStart();
  void awaitGiven();

  // Linear maps of this thread's number
  /// The part of a linear map that this thread's number gives, as i32: the xor of contribution(basis) over the layout's
  /// lane and warp bases whose bit is set in the thread's number.
  Value threadPart(const tile::Layout &layout, llvm::function_ref<uint32_t(uint32_t)> contribution);
  Value linear(Value source, llvm::ArrayRef<uint32_t> contributions);
  Value i32(int64_t value) { return mlir::arith::ConstantOp::create(b_, b_.getI32IntegerAttr(value)); }
  void numberThread(Value thread);
  bool hasShortSteps();
  bool sparesRegisters(tile::RolesOp op, unsigned number);
  void leaveMainLoop(mlir::scf::ForOp loop);
  void barrier();
  mlir::LogicalResult lowerOther(mlir::Operation *op);
  void lowerBufferSlice(tile::BufferSliceOp op);
  void lowerChoice(mlir::arith::SelectOp op);
  void lowerStepEnd(tile::StepEndOp op);
  void lowerBarrier(tile::BarrierOp op);
  void awaitKernels();

  tile::KernelOp kernel_;
  mlir::ModuleOp output_;
  GpuTarget &target_;
  InjectedFaults faults_;
  mlir::ImplicitLocOpBuilder b_;
  mlir::IRMapping scalars_;                    // index values, buffers
  llvm::DenseMap<Value, Registers> registers_; // tiles; null where not computed yet
  llvm::SmallVector<Value> waiting_;           // tiles with registers that are not computed yet
  llvm::DenseMap<Value, std::shared_ptr<PendingLoad>> loads_;
  llvm::DenseMap<std::pair<Value, int64_t>, RingPosition> positions_; // of loop-carried steps, by number of slots
  struct Role {
    unsigned number, threads, firstWarp;
    bool sparesRegisters; // its loops keep few values in registers (sparesRegisters)
  };
  std::optional<Role> role_;                      // of the warps whose program is emitted; nullopt: all warps
  bool contracts_ = false, hasEpilogue_ = false;  // noteContractions
  bool multipliesShared_ = false;                 // some instruction reads shared memory by itself
  llvm::DenseMap<Value, SharedTile> sharedTiles_; // results of tile.shared_read
  bool hasClusterStarted_ = false;                // awaitClusterStart
  Value lane_, warp_, shared_, errorWord_;
};

} // namespace tilewright
