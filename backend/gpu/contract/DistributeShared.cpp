// SPDX-License-Identifier: Apache-2.0
// Shared memory.
//
// The address of an element in a slot is linear over xor, so a thread's addresses are base + (thread part xor register
// part). The thread part is computed once, the register part is a constant. Bits of the register part that no thread
// part has can be added instead of xor-ed, and an addition of a constant is part of the load or store. The other bits
// take few values, so few addresses are kept in registers in a loop.
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

/// Where the thread's element `part` is in a slot at `base`; `moved`, if there, is xor-ed to the position.
Value KernelDistributor::elementAddress(Value base, Type element, const SharedLayout &shared, const Layout &layout,
                                        uint32_t part, Value moved) {
  auto address = [&](uint32_t basis) { return shared.address(basis); };
  uint32_t toggled = moved ? ~0u : 0;
  for (uint32_t basis : llvm::concat<const uint32_t>(layout.lane, layout.warp))
    toggled |= address(basis);
  Value position = threadPart(layout, address);
  if (moved)
    position = arith::XOrIOp::create(b_, position, moved);
  position = arith::XOrIOp::create(b_, position, i32(address(part) & toggled));
  Value start = LLVM::GEPOp::create(b_, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{position});
  auto rest = static_cast<int32_t>(address(part) & ~toggled);
  return rest ? LLVM::GEPOp::create(b_, base.getType(), element, start, ArrayRef<LLVM::GEPArg>{rest}).getResult()
              : start;
}

void KernelDistributor::lowerWrite(SharedWriteOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  Type element = type.getElementType();
  Layout layout = layoutOf(type);
  SharedLayout shared = sharedLayout(op.getShared().getType());
  Registers values = registersOf(op.getValue());
  Value base = slotAddress(op.getShared(), op.getSlot());
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
    Value address = elementAddress(base, element, shared, layout, layout.element(r));
    LLVM::StoreOp::create(b_, value, address, width * elementBytes(element));
  }
}

KernelDistributor::SharedTile KernelDistributor::sharedTile(Value shared, Value slot) {
  auto type = cast<SharedType>(shared.getType());
  return {slotAddress(shared, slot), sharedLayout(type), type.getTile().getElementType(), scalar(shared), word(slot),
          type.getSlotBytes()};
}

/// Only remembers where the tile is: tile.dot reads its parts, step by step along k.
void KernelDistributor::lowerRead(SharedReadOp op) {
  sharedTiles_.insert({op.getResult(), sharedTile(op.getShared(), op.getSlot())});
}

/// The loads are emitted here, not on demand: operations behind this one may release the slot.
void KernelDistributor::lowerSharedLoad(SharedLoadOp op) {
  Layout layout = layoutOf(op.getType());
  SharedTile shared = sharedTile(op.getShared(), op.getSlot());
  SmallVector<unsigned> bits = rowBits(layout, shared.layout, shared.element);
  unsigned width = 1u << bits.size();
  Registers registers(layout.registers());
  for (unsigned r = 0; r < layout.registers(); ++r) {
    if (registers[r])
      continue;
    Value vector = readVector(shared, layout, layout.element(r), width);
    for (unsigned i = 0; i < width; ++i) {
      unsigned at = r;
      for (auto [position, bit] : llvm::enumerate(bits))
        at |= (i >> position & 1) << bit;
      registers[at] = width == 1 ? vector : vector::ExtractOp::create(b_, vector, static_cast<int64_t>(i)).getResult();
    }
  }
  map(op.getResult(), std::move(registers));
}

/// `count` neighbours of a row of shared memory, from this thread's element `part` on; `moved`, if there, is xor-ed to
/// the address.
Value KernelDistributor::readVector(const SharedTile &shared, const Layout &layout, uint32_t part, unsigned count,
                                    Value moved) {
  Value address = elementAddress(shared.base, shared.element, shared.layout, layout, part, moved);
  Type type = count == 1 ? shared.element : VectorType::get(count, shared.element);
  return LLVM::LoadOp::create(b_, type, address, count * elementBytes(shared.element));
}
