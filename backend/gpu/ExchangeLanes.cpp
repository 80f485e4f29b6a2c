// SPDX-License-Identifier: Apache-2.0
// Wider accesses to global memory, by exchanging elements between lanes.
//
// In the accumulators of matrix instructions, a thread holds two neighbours of a row, and its neighbour lanes hold the
// next ones. The columns of one row of halves that a group of four lanes holds, before and after the exchange:
//
//     register   0 1  2 3   4 5   6 7              0 1 2 3 4 5 6 7
//     lane 0     0 1  8 9  16 17 24 25             0 1 2 3 4 5 6 7
//     lane 1     2 3 10 11 18 19 26 27      <->    8 9 10 ...
//     lane 2     4 5 12 13 20 21 28 29            16 17 18 ...
//     lane 3     6 7 14 15 22 23 30 31            24 25 26 ...
//
// so one access of 16 bytes replaces four of 4. In the layout, the exchange swaps a basis of the lanes with one of the
// registers; it costs one shuffle for each two words.
#include "backend/gpu/KernelDistributor.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

constexpr unsigned quadBits = 2; // of the lane's number: every target exchanges cheaply between four lanes

/// A dimension along which the access may be `elements` wide; nullopt if there is none.
static std::optional<unsigned> wideDimension(const Access &access, int64_t elements) {
  for (unsigned d = access.tile.getRank(); d-- > 0;)
    if (vectorWidth(access, d, elements, allSymbols) == elements)
      return d;
  return std::nullopt;
}

SmallVector<KernelDistributor::LaneExchange> KernelDistributor::widenByLanes(const Access &access, Layout &layout) {
  unsigned bits = access.tile.getElementTypeBitWidth();
  bool repeats = llvm::is_contained(layout.lane, 0u) || llvm::is_contained(layout.warp, 0u);
  if ((bits != 16 && bits != 32) || repeats || !access.indices.empty() ||
      chooseChunks(access, layout).vector * bits == 128)
    return {};
  TileShape shape(access.tile.getShape());
  std::optional<unsigned> dim = wideDimension(access, 128 / bits);
  if (!dim)
    return {};
  Layout wide = layout;
  SmallVector<LaneExchange> exchanges;
  for (unsigned bit = 0; bit < llvm::Log2_32(128 / bits); ++bit) {
    uint32_t wanted = bit < shape.bits(*dim) ? shape.basis(*dim, bit) : 0;
    if (llvm::is_contained(wide.reg, wanted))
      continue;
    unsigned lane = llvm::find(wide.lane, wanted) - wide.lane.begin();
    unsigned reg =
        llvm::find_if(wide.reg, [&](uint32_t basis) { return shape.coordinate(basis, *dim) >= 128 / bits; }) -
        wide.reg.begin();
    if (lane >= quadBits || reg == wide.reg.size())
      return {};
    std::swap(wide.lane[lane], wide.reg[reg]);
    exchanges.push_back({lane, reg});
  }
  if (exchanges.empty() || chooseChunks(access, wide).dim != *dim)
    return {};
  layout = wide;
  return exchanges;
}

void KernelDistributor::exchangeLanes(ArrayRef<LaneExchange> exchanges, ArrayRef<unsigned> chunkBits,
                                      MutableArrayRef<Value> elements) {
  if (exchanges.empty())
    return;
  Type element = elements.front().getType();
  auto position = [&](const LaneExchange &exchange) { return llvm::find(chunkBits, exchange.reg) - chunkBits.begin(); };
  // Neighbours that the exchange does not separate are shuffled as one word.
  size_t together = std::min<size_t>(32 / element.getIntOrFloatBitWidth(), size_t(1) << position(exchanges.front()));
  auto type = VectorType::get(together, element);
  SmallVector<Value> words;
  for (size_t i = 0; i < elements.size(); i += together) {
    Value word = elements[i];
    if (together > 1)
      word = LLVM::BitcastOp::create(b_, b_.getI32Type(),
                                     vector::FromElementsOp::create(b_, type, elements.slice(i, together)));
    words.push_back(word);
  }
  for (const LaneExchange &exchange : exchanges) {
    Value bit = arith::AndIOp::create(b_, lane_, i32(1 << exchange.lane));
    Value upper = arith::CmpIOp::create(b_, arith::CmpIPredicate::ne, bit, i32(0));
    size_t step = (size_t(1) << position(exchange)) / together;
    for (size_t i = 0; i < words.size(); ++i) {
      if (i & step)
        continue;
      Value &low = words[i], &high = words[i | step];
      Value received = shuffle(arith::SelectOp::create(b_, upper, low, high), 1 << exchange.lane);
      low = arith::SelectOp::create(b_, upper, received, low);
      high = arith::SelectOp::create(b_, upper, high, received);
    }
  }
  for (auto [i, word] : llvm::enumerate(words)) {
    if (together == 1) {
      elements[i] = word;
      continue;
    }
    Value parts = LLVM::BitcastOp::create(b_, type, word);
    for (size_t j = 0; j < together; ++j)
      elements[i * together + j] = vector::ExtractOp::create(b_, parts, static_cast<int64_t>(j));
  }
}
