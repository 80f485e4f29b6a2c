// SPDX-License-Identifier: Apache-2.0
// Loads from global memory: in chunks, and in batches where not all registers fit.
#include "backend/gpu/AccessContext.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

/// A load whose chunks are emitted on demand, in batches.
struct KernelDistributor::PendingLoad {
  LoadOp op;
  SmallVector<LaneExchange> exchanges;
  AccessContext context;
  SmallVector<unsigned> starts;
  Value whole, fill; // where chunks may be cut: is the tile whole? what dead chunks read

  Type stored() { return op.getBuffer().getType().getElementType(); }
  Type type(int64_t count) { return count == 1 ? stored() : VectorType::get(count, stored()); }
};

/// `count` elements from register `r` on. A dead access reads the fill value in constant memory instead. Where loads
/// have predicates, single elements have those, or a branch around them: they share one address, while a selected
/// address for each of many elements would not fit in registers.
Value KernelDistributor::loadAt(PendingLoad &load, unsigned r, int64_t count, bool isWhole) {
  auto [offset, live] = load.context.place(r, isWhole);
  auto loadFrom = [&](Value pointer) {
    return LLVM::LoadOp::create(b_, load.type(count), pointer, count * elementBytes(load.stored()));
  };
  if (!live)
    return loadFrom(load.context.pointer(offset));
  if (count > 1 || !target_.predicatesLoads())
    return loadFrom(arith::SelectOp::create(b_, live, load.context.pointer(offset), load.fill));
  Value dead = fillValue(load.stored(), load.op.getFillAttr());
  if (load.context.hasPredicates())
    return target_.loadWhere(b_, live, load.context.pointer(offset), dead);
  return eitherWay(
             b_, live, load.stored(), [&] { return Registers{loadFrom(load.context.pointer(offset))}; },
             [&] { return Registers{dead}; })
      .front();
}

/// Emits the chunks from `first` up to, but without, `last`.
void KernelDistributor::loadChunks(PendingLoad &load, size_t first, size_t last) {
  AccessContext &context = load.context;
  int64_t width = context.chunks.vector;
  auto starts = ArrayRef(load.starts).slice(first, last - first);
  auto wide = [&](bool isWhole) {
    Registers chunks;
    for (unsigned start : starts)
      chunks.push_back(loadAt(load, start, width, isWhole));
    return chunks;
  };
  auto narrow = [&] {
    if (width == 1)
      return wide(/*isWhole=*/false);
    Registers chunks;
    for (unsigned start : starts) {
      Registers elements;
      for (int64_t i = 0; i < width; ++i)
        elements.push_back(loadAt(load, context.registerAt(start, i), 1, /*isWhole=*/false));
      chunks.push_back(vector::FromElementsOp::create(b_, cast<VectorType>(load.type(width)), elements));
    }
    return chunks;
  };
  Registers chunks =
      load.whole
          ? Registers(eitherWay(
                b_, load.whole, SmallVector<Type>(starts.size(), load.type(width)), [&] { return wide(true); }, narrow))
          : wide(false);
  bool isBool = context.access.tile.getElementType().isInteger(1) && !load.stored().isInteger(1);
  Registers &registers = registers_[load.op.getResult()];
  for (auto [start, chunk] : llvm::zip(starts, chunks)) {
    Registers elements;
    for (int64_t i = 0; i < width; ++i) {
      Value element = width == 1 ? chunk : vector::ExtractOp::create(b_, chunk, i).getResult();
      if (isBool)
        element = arith::CmpIOp::create(b_, arith::CmpIPredicate::ne, element,
                                        arith::ConstantOp::create(b_, b_.getIntegerAttr(load.stored(), 0)));
      elements.push_back(element);
    }
    exchangeLanes(load.exchanges, context.chunks.bits, elements);
    for (int64_t i = 0; i < width; ++i)
      registers[context.registerAt(start, i)] = elements[i];
  }
}

/// Emits the batch of chunks that register `r` is in.
void KernelDistributor::loadBatch(PendingLoad &load, unsigned r) {
  // Chunks in flight together. More would not fit in registers beside the accumulators; while lanes exchange elements,
  // both the old and the new ones take registers.
  const size_t batch = load.exchanges.empty() ? 16 : 8;
  for (unsigned bit : load.context.chunks.bits)
    r &= ~(1u << bit);
  size_t position = llvm::find(load.starts, r) - load.starts.begin();
  loadChunks(load, position / batch * batch, std::min(load.starts.size(), position / batch * batch + batch));
}

/// Everything is loaded at once, to have as much in flight as possible. Only the epilogue of a contraction loads in
/// batches, when its store asks for them. That takes a kernel with a single store: with two, a batch could read what
/// the first store has already overwritten.
void KernelDistributor::lowerLoad(LoadOp op) {
  Access access = Access::of(op);
  Layout layout = layoutOf(op.getType());
  SmallVector<LaneExchange> exchanges = widenByLanes(access, layout);
  auto load = std::make_shared<PendingLoad>(
      PendingLoad{op, exchanges, AccessContext(*this, access, layout, chooseChunks(access, layout)), {}, {}, {}});
  load->starts = load->context.starts();
  if (load->context.chunks.vector > 1 || !target_.predicatesLoads())
    load->fill = fillAddress(load->stored(), op.getFillAttr());
  if (load->context.mayCut()) {
    load->whole = load->context.isWhole();
    for (Value index : access.indices)
      registersOf(index); // index tiles are computed before the branches, so that both can use them
  }
  map(op.getResult(), Registers(layout.registers()));
  if (!hasEpilogue_ || op->getParentOp() != kernel_)
    return loadChunks(*load, 0, load->starts.size());
  loads_[op.getResult()] = load;
  waiting_.push_back(op.getResult());
}
