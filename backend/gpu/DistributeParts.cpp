// SPDX-License-Identifier: Apache-2.0
// Tiles that several programs share: parts go to a workspace and come back, and arrivals are counted.
//
//   write                  fence beside barrier ; barrier
//   thread 0               fence ; count ; fence ; the answer to shared memory
//   all threads            barrier ; fence beside barrier ; the answer from shared memory
//   the last program       read
//
// Programs that are a cluster give each other shares through shared memory. Each thread arrives at the cluster's
// barrier when it starts, so the wait before the shares are given, which is seldom long, says that all blocks run:
//
//   wait ; write to the others' shared memory ; arrive ; wait ; read what they have written
//
// What blocks have reduced of a row goes the same way, one value of each block to every other. The wait before it is
// needed once in a kernel: each value has a place of its own.
//
// A third arrival would let the others give again, in another program of the block. It took 0.2 to 0.4 us, though
// nobody waited for it, so a block of a cluster takes one program.
//
// In memory a part has first the first 16 bytes of every thread's registers, then the next 16 of every thread. So each
// access of a warp is coalesced.
#include "backend/gpu/KernelDistributor.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

constexpr int64_t bytesOfAccess = 16;

/// How many registers one access moves, if each thread stores `registers` of the part.
static unsigned accessWidth(Type tile, size_t registers) {
  int64_t bytes = elementBytes(cast<RankedTensorType>(tile).getElementType());
  unsigned width = std::max<int64_t>(bytesOfAccess / bytes, 1);
  while (registers % width)
    width /= 2;
  return width;
}

/// The number of this thread among those that run the program.
Value KernelDistributor::threadOfRole() {
  return arith::AddIOp::create(b_, arith::MulIOp::create(b_, warp_, i32(target_.lanes())), lane_);
}

/// Where this thread's first access to a part is, of `width` elements.
Value KernelDistributor::partAddress(Value workspace, Value tile, Value part, Type held, unsigned width) {
  auto sizes = cast<BufferType>(workspace.getType()).getSizes();
  auto size = [&](unsigned i) {
    int64_t constant = cast<AffineConstantExpr>(sizes.getResult(i)).getValue();
    return arith::ConstantOp::create(b_, b_.getI64IntegerAttr(constant)).getResult();
  };
  auto wide = [&](Value index) { return arith::IndexCastOp::create(b_, b_.getI64Type(), scalar(index)).getResult(); };
  Value number = arith::AddIOp::create(b_, arith::MulIOp::create(b_, wide(tile), size(1)), wide(part));
  Value thread = arith::MulIOp::create(b_, threadOfRole(), i32(width));
  Value first = arith::AddIOp::create(b_, arith::MulIOp::create(b_, number, size(2)),
                                      arith::ExtUIOp::create(b_, b_.getI64Type(), thread));
  Value base = scalar(workspace);
  return LLVM::GEPOp::create(b_, base.getType(), cast<RankedTensorType>(held).getElementType(), base,
                             ArrayRef<LLVM::GEPArg>{first});
}

/// The address of this thread's access number `i`, `first` being that of number 0.
static Value accessAt(ImplicitLocOpBuilder &b, Value first, unsigned i, Type held, unsigned width) {
  int64_t elements = (int64_t(1) << (layoutOf(held).lane.size() + layoutOf(held).warp.size())) * width * i;
  return LLVM::GEPOp::create(b, first.getType(), cast<RankedTensorType>(held).getElementType(), first,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(elements)});
}

void KernelDistributor::lowerPartWrite(PartWriteOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  SmallVector<unsigned> live = liveRegisters(type, op.getLive().value_or(ArrayRef<int64_t>()));
  unsigned width = accessWidth(type, live.size());
  auto vector = VectorType::get(width, type.getElementType());
  Value first = partAddress(op.getWorkspace(), op.getTile(), op.getPart(), type, width);
  Registers registers = llvm::map_to_vector(live, [&](unsigned r) { return registerOf(op.getValue(), r); });
  for (unsigned i = 0; i < registers.size(); i += width)
    LLVM::StoreOp::create(b_, vector::FromElementsOp::create(b_, vector, ArrayRef(registers).slice(i, width)),
                          accessAt(b_, first, i / width, type, width), width * elementBytes(type.getElementType()));
}

void KernelDistributor::lowerPartRead(PartReadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<unsigned> live = liveRegisters(type, op.getLive().value_or(ArrayRef<int64_t>()));
  unsigned width = accessWidth(type, live.size());
  auto vector = VectorType::get(width, type.getElementType());
  Value first = partAddress(op.getWorkspace(), op.getTile(), op.getPart(), type, width),
        zero = arith::ConstantOp::create(b_, b_.getZeroAttr(type.getElementType()));
  Registers registers(layoutOf(type).registers(), zero);
  for (unsigned i = 0; i < live.size(); i += width) {
    Value elements = LLVM::LoadOp::create(b_, vector, accessAt(b_, first, i / width, type, width),
                                          width * elementBytes(type.getElementType()));
    for (unsigned j = 0; j < width; ++j)
      registers[live[i + j]] = vector::ExtractOp::create(b_, elements, j);
  }
  map(op.getResult(), registers);
}

/// Executed by one thread: counts this program's arrival. Returns, as i32, whether it is the last, which sets the
/// counter back to 0.
Value KernelDistributor::countArrival(PartArriveOp op) {
  Value counters = scalar(op.getArrivals()),
        tile = arith::IndexCastOp::create(b_, b_.getI64Type(), scalar(op.getTile()));
  Value counter = LLVM::GEPOp::create(b_, counters.getType(), b_.getI32Type(), counters, ArrayRef<LLVM::GEPArg>{tile});
  if (!faults_.dropReleases)
    target_.fence(b_);
  Value before = faults_.dropArrivals ? i32(0) : target_.countUpTo(b_, counter, op.getParts() - 1);
  if (!faults_.dropAcquires)
    target_.fence(b_);
  Value isLast = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, before, i32(op.getParts() - 1));
  return faults_.allAreLast ? i32(1) : arith::ExtUIOp::create(b_, b_.getI32Type(), isLast).getResult();
}

void KernelDistributor::lowerPartArrive(PartArriveOp op) {
  Value answer = LLVM::GEPOp::create(b_, shared_.getType(), b_.getI8Type(), shared_,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*op.getScratch())});
  if (!faults_.dropReleases)
    target_.fenceBesideBarrier(b_);
  barrier(); // all threads have written their parts, and have read the answer of the program before
  Value isFirst = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, threadOfRole(), i32(0));
  auto branch = scf::IfOp::create(b_, isFirst, /*withElse=*/false);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    LLVM::StoreOp::create(b_, countArrival(op), answer);
  }
  barrier();
  if (!faults_.dropAcquires)
    target_.fenceBesideBarrier(b_);
  Value isLast = LLVM::LoadOp::create(b_, b_.getI32Type(), answer);
  scalars_.map(op.getLast(), arith::CmpIOp::create(b_, arith::CmpIPredicate::ne, isLast, i32(0)));
}

namespace {

/// The shares of one tile that a block is given: as many as there are other blocks, in the order in which it adds them.
struct GivenShares {
  RankedTensorType tile, share;
  unsigned dim;
  unsigned width; // registers of one access
  Value first;    // this thread's first access to the first of them

  int64_t elements() const { return heldElements(share, {}); }
};

} // namespace

/// Stores each share but the one that this block finishes where the block that does expects it. Returns this block's
/// own share: which registers these are is known only when running.
static Registers giveShares(ImplicitLocOpBuilder &b, GpuTarget &target, const GivenShares &given, int64_t parts,
                            Value part, llvm::function_ref<Value(unsigned)> registerOf) {
  auto i32 = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); };
  auto vector = VectorType::get(given.width, given.share.getElementType());
  Registers own;
  for (int64_t number = 0; number < parts; ++number) {
    Registers share = llvm::map_to_vector(registersOfShare(given.tile, given.dim, parts, number), registerOf);
    Value isOwn = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, part, i32(number));
    for (auto [i, value] : llvm::enumerate(share))
      number == 0 ? own.push_back(value) : void(own[i] = arith::SelectOp::create(b, isOwn, value, own[i]));
    Value isOther = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, part, i32(number));
    auto branch = scf::IfOp::create(b, isOther, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    // Block `number` adds first what the next block gives, so this block's place is its distance from there, less one.
    Value distance = arith::AddIOp::create(b, part, i32(parts - number - 1)),
          place = arith::AndIOp::create(b, distance, i32(parts - 1)),
          elements = arith::MulIOp::create(b, place, i32(given.elements())),
          here = LLVM::GEPOp::create(b, given.first.getType(), given.share.getElementType(), given.first,
                                     ArrayRef<LLVM::GEPArg>{elements}),
          there = target.inBlock(b, here, i32(number));
    for (unsigned i = 0; i < share.size(); i += given.width)
      LLVM::StoreOp::create(b, vector::FromElementsOp::create(b, vector, ArrayRef(share).slice(i, given.width)),
                            accessAt(b, there, i / given.width, given.share, given.width),
                            given.width * elementBytes(given.share.getElementType()));
  }
  return own;
}

/// Adds the shares that the block was given to its own.
static void addShares(ImplicitLocOpBuilder &b, const GivenShares &given, int64_t parts, Registers &own) {
  auto vector = VectorType::get(given.width, given.share.getElementType());
  for (int64_t place = 0; place + 1 < parts; ++place) {
    Value first = LLVM::GEPOp::create(b, given.first.getType(), given.share.getElementType(), given.first,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(place * given.elements())});
    for (unsigned i = 0; i < own.size(); i += given.width) {
      Value elements = LLVM::LoadOp::create(b, vector, accessAt(b, first, i / given.width, given.share, given.width),
                                            given.width * elementBytes(given.share.getElementType()));
      for (unsigned j = 0; j < given.width; ++j) {
        Value other = vector::ExtractOp::create(b, elements, static_cast<int64_t>(j));
        own[i + j] = isa<FloatType>(other.getType()) ? arith::AddFOp::create(b, own[i + j], other).getResult()
                                                     : arith::AddIOp::create(b, own[i + j], other).getResult();
      }
    }
  }
}

/// Waits until all blocks of the cluster have started, before the first value is given.
void KernelDistributor::awaitClusterStart() {
  if (!hasClusterStarted_ && !faults_.giveEarly)
    target_.waitForCluster(b_);
  hasClusterStarted_ = true;
}

/// Waits until all blocks of the cluster have given what they give.
void KernelDistributor::awaitGiven() {
  target_.arriveInCluster(b_, /*releases=*/true);
  if (!faults_.addEarly)
    target_.waitForCluster(b_);
}

void KernelDistributor::lowerPartSum(PartSumOp op) {
  auto parts = static_cast<int64_t>(op.getParts());
  Value part = word(op.getPart());
  auto room = static_cast<int32_t>(*op.getScratch());
  awaitClusterStart();
  SmallVector<std::pair<GivenShares, Registers>> sums;
  for (auto [value, result] : llvm::zip(op.getValues(), op.getResults())) {
    auto tile = cast<RankedTensorType>(value.getType()), share = cast<RankedTensorType>(result.getType());
    GivenShares given{tile, share, *cutDim(tile, share, parts), accessWidth(share, layoutOf(share).registers()),
                      Value()};
    Value start = LLVM::GEPOp::create(b_, shared_.getType(), b_.getI8Type(), shared_, ArrayRef<LLVM::GEPArg>{room});
    Value thread = arith::MulIOp::create(b_, threadOfRole(), i32(given.width));
    given.first =
        LLVM::GEPOp::create(b_, start.getType(), share.getElementType(), start, ArrayRef<LLVM::GEPArg>{thread});
    room += static_cast<int32_t>(given.elements() * (parts - 1) * elementBytes(share.getElementType()));
    auto registers = [&, value = value](unsigned r) { return registerOf(value, r); };
    Registers own = giveShares(b_, target_, given, parts, part, registers);
    sums.emplace_back(given, own);
  }
  awaitGiven();
  for (auto [result, sum] : llvm::zip(op.getResults(), sums)) {
    addShares(b_, sum.first, parts, sum.second);
    map(result, sum.second);
  }
}

/// Thread i gives the block's value to block i. The places of a block's memory are in the order of the blocks.
void KernelDistributor::lowerPartReduce(PartReduceOp op) {
  auto parts = static_cast<int64_t>(op.getParts());
  Value value = registerOf(op.getValue(), 0), thread = threadOfRole();
  Type element = value.getType(), stored = element.isInteger(1) ? b_.getI8Type() : element;
  auto placeOf = [&](Value block) -> Value {
    Value room = LLVM::GEPOp::create(b_, shared_.getType(), b_.getI8Type(), shared_,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*op.getScratch())});
    return LLVM::GEPOp::create(b_, room.getType(), stored, room, ArrayRef<LLVM::GEPArg>{block});
  };
  awaitClusterStart();
  Value gives = arith::CmpIOp::create(b_, arith::CmpIPredicate::ult, thread, i32(parts));
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(scf::IfOp::create(b_, gives, /*withElse=*/false).thenBlock());
    Value given = element == stored ? value : arith::ExtUIOp::create(b_, stored, value).getResult();
    LLVM::StoreOp::create(b_, given, target_.inBlock(b_, placeOf(word(op.getPart())), thread));
  }
  awaitGiven();
  Value total;
  for (int64_t block = 0; block < parts; ++block) {
    Value given = LLVM::LoadOp::create(b_, stored, placeOf(i32(block)));
    if (element != stored)
      given = arith::TruncIOp::create(b_, element, given);
    total = total ? combine(op.getKind(), total, given) : given;
  }
  map(op.getResult(), Registers(layoutOf(op.getResult().getType()).registers(), total));
}
