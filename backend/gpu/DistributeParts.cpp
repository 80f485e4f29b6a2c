// SPDX-License-Identifier: Apache-2.0
// Tiles that several programs share: parts go to a workspace and come back, and arrivals are counted.
//
//   write                  fence beside barrier ; barrier
//   thread 0               fence ; count ; fence ; the answer to shared memory
//   all threads            barrier ; fence beside barrier ; the answer from shared memory
//   the last program       read
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
