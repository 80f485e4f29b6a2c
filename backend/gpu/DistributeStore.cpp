// SPDX-License-Identifier: Apache-2.0
// Stores to global memory.
#include "backend/gpu/AccessContext.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

/// A store with its chunks: whole chunks at once (wide), or their elements one by one (narrow).
class KernelDistributor::StoreLowering {
public:
  StoreLowering(KernelDistributor &d, StoreOp op, const Layout &layout, ArrayRef<LaneExchange> exchanges)
      : d_(d), b_(d.b_), value_(op.getValue()), stored_(op.getBuffer().getType().getElementType()),
        exchanges_(exchanges), context_(d, Access::of(op), layout, d.chooseChunks(Access::of(op), layout)) {}

  void run() {
    Value owner = d_.isOwner(context_.layout);
    if (owner || (context_.mayCut() && !d_.hasEpilogue_))
      d_.registersOf(value_); // computed before the branches, so that all of them can use it
    onlyWhere(b_, owner, [&] {
      if (context_.mayCut())
        eitherWay(
            b_, context_.isWhole(), {}, [&] { return apart(&StoreLowering::storeChunks); },
            [&] { return apart(&StoreLowering::storeElements); });
      else
        storeChunks();
    });
  }

private:
  Value elementAt(unsigned r) {
    Value value = d_.registerOf(value_, r);
    return value.getType() == stored_ ? value : arith::ExtUIOp::create(b_, stored_, value).getResult(); // bool
  }

  Registers chunkAt(unsigned start) {
    Registers elements;
    for (int64_t i = 0; i < context_.chunks.vector; ++i)
      elements.push_back(elementAt(context_.registerAt(start, i)));
    d_.exchangeLanes(exchanges_, context_.chunks.bits, elements);
    return elements;
  }

  void storeAt(unsigned r, Value value, int64_t count, bool isWhole = false) {
    auto [offset, live] = context_.place(r, isWhole);
    onlyWhere(b_, d_.faults_.dropMasks ? Value() : live, [&, offset = offset] {
      LLVM::StoreOp::create(b_, value, context_.pointer(offset), count * elementBytes(stored_));
    });
  }

  void storeChunks() {
    int64_t width = context_.chunks.vector;
    for (unsigned start : context_.starts()) {
      Registers elements = chunkAt(start);
      storeAt(start,
              width == 1 ? elements[0]
                         : vector::FromElementsOp::create(b_, VectorType::get(width, stored_), elements).getResult(),
              width, /*isWhole=*/context_.mayCut());
    }
  }

  void storeElements() {
    for (unsigned start : context_.starts())
      for (auto [i, element] : llvm::enumerate(chunkAt(start)))
        storeAt(context_.registerAt(start, i), element, 1);
  }

  /// Emits one of the two versions. In the epilogue of a contraction each version computes its values itself, chunk by
  /// chunk, because all of them would not fit in registers beside the accumulators. So what one has computed is
  /// forgotten for the other.
  Registers apart(void (StoreLowering::*version)()) {
    auto known = d_.registers_;
    (this->*version)();
    d_.registers_ = std::move(known);
    return {};
  }

  KernelDistributor &d_;
  ImplicitLocOpBuilder &b_;
  Value value_;
  Type stored_; // element type in memory
  ArrayRef<LaneExchange> exchanges_;
  AccessContext context_;
};

void KernelDistributor::lowerStore(StoreOp op) {
  Layout layout = layoutOf(op.getValue().getType());
  SmallVector<LaneExchange> exchanges = widenByLanes(Access::of(op), layout);
  StoreLowering(*this, op, layout, exchanges).run();
}
