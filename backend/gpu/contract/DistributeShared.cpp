// SPDX-License-Identifier: Apache-2.0
// Shared memory.
//
// The address of an element in a slot is linear over xor, so a thread's addresses are base + (thread part xor register
// part). The thread part is computed once, the register part is a constant.
#include "backend/gpu/KernelDistributor.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

Value KernelDistributor::slotAddress(Value shared, Value slot) {
  auto type = cast<SharedType>(shared.getType());
  Value base = scalar(shared);
  if (getConstantIntValue(slot) == 0)
    return base;
  Value number = arith::IndexCastOp::create(b_, b_.getI32Type(), scalar(slot));
  Value bytes = arith::MulIOp::create(b_, number, i32(type.getSlotBytes()));
  return LLVM::GEPOp::create(b_, base.getType(), b_.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

/// The bits of a register's number that step from one element to the next in a row of shared memory, lowest first; as
/// many as 16 bytes hold.
SmallVector<unsigned> KernelDistributor::rowBits(const Layout &layout, const SharedLayout &shared, Type element) {
  SmallVector<unsigned> bits;
  while (bits.size() < shared.shape.bits(shared.fast) && (elementBytes(element) << bits.size()) < 16) {
    auto *found = llvm::find(layout.reg, shared.shape.basis(shared.fast, bits.size()));
    if (found == layout.reg.end())
      break;
    bits.push_back(found - layout.reg.begin());
  }
  return bits;
}

void KernelDistributor::lowerWrite(SharedWriteOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  Type element = type.getElementType();
  Layout layout = layoutOf(type);
  SharedLayout shared = sharedLayout(op.getShared().getType());
  Registers values = registersOf(op.getValue());
  Value base = slotAddress(op.getShared(), op.getSlot());
  Value thread = threadPart(layout, [&](uint32_t basis) { return shared.address(basis); });
  SmallVector<unsigned> bits = rowBits(layout, shared, element);
  unsigned width = 1u << bits.size(), inChunk = 0;
  for (unsigned bit : bits)
    inChunk |= 1u << bit;
  for (unsigned r = 0; r < layout.registers(); ++r) {
    if (r & inChunk)
      continue;
    Registers elements;
    for (unsigned i = 0; i < width; ++i) {
      unsigned at = r;
      for (auto [position, bit] : llvm::enumerate(bits))
        at |= (i >> position & 1) << bit;
      elements.push_back(values[at]);
    }
    Value value = width == 1
                      ? elements[0]
                      : vector::FromElementsOp::create(b_, VectorType::get(width, element), elements).getResult();
    Value position = arith::XOrIOp::create(b_, thread, i32(shared.address(layout.element(r))));
    Value address = LLVM::GEPOp::create(b_, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{position});
    LLVM::StoreOp::create(b_, value, address, width * elementBytes(element));
  }
}

/// Only remembers where the tile is: tile.dot reads its parts, step by step along k.
void KernelDistributor::lowerRead(SharedReadOp op) {
  sharedTiles_.insert({op.getResult(),
                       {slotAddress(op.getShared(), op.getSlot()), sharedLayout(op.getShared().getType()),
                        op.getShared().getType().getTile().getElementType()}});
}

/// `count` neighbours of a row of shared memory, from this thread's element `part` on; `moved`, if there, is xor-ed to
/// the address.
Value KernelDistributor::readVector(const SharedTile &shared, const Layout &layout, uint32_t part, unsigned count,
                                    Value moved) {
  Value thread = threadPart(layout, [&](uint32_t basis) { return shared.layout.address(basis); });
  if (moved)
    thread = arith::XOrIOp::create(b_, thread, moved);
  Value position = arith::XOrIOp::create(b_, thread, i32(shared.layout.address(part)));
  Value address =
      LLVM::GEPOp::create(b_, shared.base.getType(), shared.element, shared.base, ArrayRef<LLVM::GEPArg>{position});
  Type type = count == 1 ? shared.element : VectorType::get(count, shared.element);
  return LLVM::LoadOp::create(b_, type, address, count * elementBytes(shared.element));
}
