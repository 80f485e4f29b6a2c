// Shared memory and contractions.
//
// A slot's address of an element is linear over xor, so a thread's addresses are  base + (thread part xor register
// part):  the first computed once, the second a constant.
#include "backend/gpu/KernelDistributor.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

static int64_t elementBytes(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }

Value KernelDistributor::slotAddress(Value shared, Value slot) {
  auto type = cast<SharedType>(shared.getType());
  Value base = scalar(shared);
  if (getConstantIntValue(slot) == 0)
    return base;
  Value number = arith::IndexCastOp::create(b_, b_.getI32Type(), scalar(slot));
  Value bytes = arith::MulIOp::create(b_, number, i32(type.getSlotBytes()));
  return LLVM::GEPOp::create(b_, base.getType(), b_.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

/// Bits of the register number that walk along the rows of shared memory, at most 16 bytes of them.
static SmallVector<unsigned> rowBits(const Layout &layout, const SharedLayout &shared, Type element) {
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

/// Nothing is read here: tile.dot reads what it needs, step by step of k.
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

void KernelDistributor::lowerDot(DotOp op) {
  const Fragments *fragments = fragmentsOf(op);
  if (!fragments)
    dotByMultiplyAdd(op);
  else if (fragments->readsShared())
    dotFromShared(op, *fragments);
  else
    dotOnMatrixUnits(op, *fragments);
}

//===- Matrix units -----------------------------------------------------------------------------------------------===//

/// The 2^bits registers of one fragment whose first element is `part`, as one vector.
Value KernelDistributor::readFragment(const SharedTile &shared, const Layout &layout, uint32_t part, unsigned bits) {
  SmallVector<unsigned> inRow = rowBits(layout, shared.layout, shared.element);
  unsigned width = 1u << std::min<size_t>(inRow.size(), bits);
  Value whole;
  auto type = VectorType::get(1 << bits, shared.element);
  if (width == 1u << bits)
    return readVector(shared, layout, part, width);
  for (unsigned r = 0; r < 1u << bits; r += width) {
    Value piece = readVector(shared, layout, part ^ layout.element(r), width);
    if (!whole)
      whole = LLVM::PoisonOp::create(b_, type);
    for (unsigned i = 0; i < width; ++i) {
      Value element = width == 1 ? piece : vector::ExtractOp::create(b_, piece, static_cast<int64_t>(i)).getResult();
      whole = vector::InsertOp::create(b_, element, whole, static_cast<int64_t>(r + i));
    }
  }
  return whole;
}

/// Can the target read four 8x8 matrices of these fragments at once?
bool KernelDistributor::readsMatrices(const SharedTile &shared, const Fragments &fragments) const {
  return target_.readsMatrices() && fragments.feed == Feed::Registers && shared.element.getIntOrFloatBitWidth() == 16 &&
         shared.layout.shape.bits(shared.layout.fast) >= 3;
}

/// The words of this thread at `part`, and at the places that the register bases `first`, `second` and both add.
///
/// In a fragment, register bit 0 and lane bits 0 and 1 walk along k through an 8x8 matrix, lane bits 2 to 4 across it.
/// To read it, lanes pass the addresses of its rows: those bits 2 to 4 if shared memory runs along k, else the bits
/// that walk along k, and the words come transposed.
SmallVector<Value> KernelDistributor::readMatrices(const SharedTile &shared, const Layout &layout, uint32_t part,
                                                   uint32_t first, uint32_t second) {
  bool alongK = shared.layout.shape.coordinate(layout.reg[0], shared.layout.fast) != 0;
  Layout rows;
  if (alongK)
    rows.lane = {layout.lane[2], layout.lane[3], layout.lane[4], first, second};
  else
    rows.lane = {layout.reg[0], layout.lane[0], layout.lane[1], first, second};
  rows.warp = layout.warp;
  Value thread = threadPart(rows, [&](uint32_t basis) { return shared.layout.address(basis); });
  Value position = arith::XOrIOp::create(b_, thread, i32(shared.layout.address(part)));
  Value address =
      LLVM::GEPOp::create(b_, shared.base.getType(), shared.element, shared.base, ArrayRef<LLVM::GEPArg>{position});
  return target_.readMatrices(b_, address, !alongK);
}

static Value toFragment(ImplicitLocOpBuilder &b, ArrayRef<Value> words, Type element) {
  auto wordType = VectorType::get(words.size(), b.getI32Type());
  Value vector = vector::FromElementsOp::create(b, wordType, words);
  return LLVM::BitcastOp::create(b, VectorType::get(words.size() * 2, element), vector);
}

/// One operand's fragments at the given parts, which come in pairs that differ in one register basis.
SmallVector<Value> KernelDistributor::readFragments(const SharedTile &shared, const Layout &layout,
                                                    const Fragments &fragments, ArrayRef<uint32_t> parts,
                                                    unsigned bits) {
  SmallVector<Value> result;
  if (readsMatrices(shared, fragments) && bits == 3) {
    for (uint32_t part : parts)
      result.push_back(
          toFragment(b_, readMatrices(shared, layout, part, layout.reg[1], layout.reg[2]), shared.element));
  } else if (readsMatrices(shared, fragments) && bits == 2 && parts.size() % 2 == 0) {
    for (size_t i = 0; i < parts.size(); i += 2) {
      SmallVector<Value> words = readMatrices(shared, layout, parts[i], layout.reg[1], parts[i] ^ parts[i + 1]);
      result.push_back(toFragment(b_, ArrayRef(words).take_front(2), shared.element));
      result.push_back(toFragment(b_, ArrayRef(words).drop_front(2), shared.element));
    }
  } else {
    for (uint32_t part : parts)
      result.push_back(readFragment(shared, layout, part, bits));
  }
  return result;
}

void KernelDistributor::dotOnMatrixUnits(DotOp op, const Fragments &fragments) {
  const SharedTile &lhs = sharedTiles_.find(op.getLhs())->second, &rhs = sharedTiles_.find(op.getRhs())->second;
  Layout a = layoutOf(op.getLhs().getType()), b = layoutOf(op.getRhs().getType()), c = layoutOf(op.getType());
  TileShape aShape(cast<RankedTensorType>(op.getLhs().getType()).getShape()),
      bShape(cast<RankedTensorType>(op.getRhs().getType()).getShape());
  TileShape cShape(cast<RankedTensorType>(op.getType()).getShape());
  unsigned rank = cShape.rank(), m = rank - 2, n = rank - 1;
  auto count = [](StringRef bits) { return static_cast<unsigned>(bits.count(' ')) + 1; };
  unsigned aBits = count(fragments.reg[0]), bBits = count(fragments.reg[1]), cBits = count(fragments.reg[2]);

  // The positions of fragments in this thread's part of the accumulators: what its other registers add.
  SmallVector<uint32_t> rows, columns;
  for (unsigned r = 0; r < c.registers() >> cBits; ++r) {
    uint32_t part = c.element(r << cBits);
    if (!cShape.coordinate(part, n))
      rows.push_back(cShape.coordinate(part, m));
    if (!cShape.coordinate(part, m))
      columns.push_back(cShape.coordinate(part, n));
  }
  Registers acc = registersOf(op.getAcc());
  for (unsigned k = 0; k < 1u << aShape.bits(n); k += fragments.k) {
    auto lhsPart = [&](uint32_t row) { return row * aShape.basis(m, 0) | k * aShape.basis(n, 0); };
    auto rhsPart = [&](uint32_t column) { return k * bShape.basis(m, 0) | column * bShape.basis(n, 0); };
    SmallVector<Value> as =
        readFragments(lhs, a, fragments, SmallVector<uint32_t>(llvm::map_range(rows, lhsPart)), aBits);
    SmallVector<Value> bs =
        readFragments(rhs, b, fragments, SmallVector<uint32_t>(llvm::map_range(columns, rhsPart)), bBits);
    for (auto [i, row] : llvm::enumerate(rows))
      for (auto [j, column] : llvm::enumerate(columns)) {
        unsigned first = *c.registerOf(row * cShape.basis(m, 0) | column * cShape.basis(n, 0));
        auto part = ArrayRef(acc).slice(first, 1u << cBits);
        llvm::copy(target_.multiply(b_, fragments, as[i], bs[j], part, {op.getLhsUnsigned(), op.getRhsUnsigned()}),
                   acc.begin() + first);
      }
  }
  map(op.getResult(), acc);
}

//===- Matrix units that read shared memory -----------------------------------------------------------------------===//

/// Each warpgroup's part of the accumulators is rows of 64; its neighbouring columns, up to 256, are one instruction.
void KernelDistributor::dotFromShared(DotOp op, const Fragments &fragments) {
  constexpr unsigned widest = 256; // columns of one instruction
  Layout c = layoutOf(op.getType());
  TileShape cShape(cast<RankedTensorType>(op.getType()).getShape());
  unsigned m = cShape.rank() - 2, n = cShape.rank() - 1, columnBits = 0;
  for (uint32_t basis : c.reg)
    columnBits += cShape.coordinate(basis, n) != 0;
  unsigned columns = std::min(4u << columnBits, widest), sums = columns / 2; // four lanes share a row
  auto matrix = [&](Value operand, unsigned kDim) {
    const SharedTile &tile = sharedTiles_.find(operand)->second;
    Layout layout = layoutOf(operand.getType());
    layout.lane.clear();
    std::fill_n(layout.warp.begin(), llvm::Log2_32(fragments.warps()), 0);
    auto bytes = [&](uint32_t flat) {
      return tile.layout.address(flat) * static_cast<uint32_t>(elementBytes(tile.element));
    };
    bool alongK = tile.layout.fast == kDim;
    uint32_t panels = tile.layout.shape.bits(tile.layout.fast) > llvm::Log2_32(tile.layout.bankRow)
                          ? bytes(tile.layout.bankRow * tile.layout.shape.basis(tile.layout.fast, 0))
                          : 0;
    return std::pair(GpuTarget::SharedMatrix{tile.base, threadPart(layout, bytes), 0, panels, alongK}, bytes);
  };
  auto [lhs, lhsBytes] = matrix(op.getLhs(), n);
  auto [rhs, rhsBytes] = matrix(op.getRhs(), m);
  TileShape aShape(cast<RankedTensorType>(op.getLhs().getType()).getShape()),
      bShape(cast<RankedTensorType>(op.getRhs().getType()).getShape());
  Type element = cast<RankedTensorType>(op.getLhs().getType()).getElementType();

  Registers acc = registersOf(op.getAcc());
  target_.startProducts(b_);
  for (unsigned k = 0; k < 1u << aShape.bits(n); k += fragments.k / fragments.steps)
    for (unsigned first = 0; first < acc.size(); first += sums) {
      uint32_t part = c.element(first);
      lhs.offset = lhsBytes(cShape.coordinate(part, m) * aShape.basis(m, 0) | k * aShape.basis(n, 0));
      rhs.offset = rhsBytes(k * bShape.basis(m, 0) | cShape.coordinate(part, n) * bShape.basis(n, 0));
      llvm::copy(target_.multiplyShared(b_, element, lhs, rhs, ArrayRef(acc).slice(first, sums),
                                        {op.getLhsUnsigned(), op.getRhsUnsigned()}),
                 acc.begin() + first);
    }
  target_.commitProducts(b_);
  map(op.getResult(), acc);
}

void KernelDistributor::lowerDotWait(DotWaitOp op) {
  Registers acc;
  for (Value accumulator : op.getAccumulators())
    llvm::append_range(acc, registersOf(accumulator));
  SmallVector<Value> sums = target_.waitProducts(b_, op.getPending(), acc);
  ArrayRef<Value> rest = sums;
  for (Value result : op.getResults()) {
    unsigned count = layoutOf(result.getType()).registers();
    map(result, Registers(rest.take_front(count)));
    rest = rest.drop_front(count);
  }
}

//===- Multiply-add -----------------------------------------------------------------------------------------------===//

void KernelDistributor::dotByMultiplyAdd(DotOp op) {
  const SharedTile &lhs = sharedTiles_.find(op.getLhs())->second, &rhs = sharedTiles_.find(op.getRhs())->second;
  Layout a = layoutOf(op.getLhs().getType()), b = layoutOf(op.getRhs().getType()), c = layoutOf(op.getType());
  auto aType = cast<RankedTensorType>(op.getLhs().getType()), bType = cast<RankedTensorType>(op.getRhs().getType());
  TileShape aShape(aType.getShape()), bShape(bType.getShape()), cShape(cast<RankedTensorType>(op.getType()).getShape());
  unsigned rank = cShape.rank(), m = rank - 2, n = rank - 1;
  Type element = aType.getElementType(), sum = cast<RankedTensorType>(op.getType()).getElementType();
  auto widen = [&](Value value, bool isUnsigned) -> Value {
    if (element == sum)
      return value;
    if (isUnsigned)
      return arith::ExtUIOp::create(b_, sum, value);
    return isa<FloatType>(element) ? arith::ExtFOp::create(b_, sum, value).getResult()
                                   : arith::ExtSIOp::create(b_, sum, value).getResult();
  };
  // Elements of one operand for a group of `depth` steps of k, read as vectors along the rows of shared memory, keyed
  // by their position.
  auto readAll = [&](const SharedTile &shared, const Layout &layout, const TileShape &shape, unsigned kDim, unsigned k,
                     unsigned depth, Value moved, bool isUnsigned) {
    DenseMap<uint32_t, Value> elements;
    unsigned width = 1u << rowBits(layout, shared.layout, shared.element).size();
    if (shared.layout.fast == kDim)
      width = std::min(width, depth);
    for (unsigned r = 0; r < layout.registers(); ++r) {
      uint32_t part = layout.element(r), at = shape.coordinate(part, kDim);
      if (at < k || at >= k + depth || shape.coordinate(part, shared.layout.fast) % width)
        continue;
      Value piece = readVector(shared, layout, part, width, moved);
      for (unsigned i = 0; i < width; ++i)
        elements[part | i * shape.basis(shared.layout.fast, 0)] = widen(
            width == 1 ? piece : vector::ExtractOp::create(b_, piece, static_cast<int64_t>(i)).getResult(), isUnsigned);
    }
    return elements;
  };
  unsigned steps = 1u << aShape.bits(n), depth = std::min(steps, 4u), unrolled = std::min(steps, 16u);
  // The first `unrolled` steps, of slots whose rows are moved along k by what is xor-ed to their addresses.
  auto multiply = [&](Registers acc, Value lhsMoved, Value rhsMoved) {
    for (unsigned first = 0; first < unrolled; first += depth) {
      auto as = readAll(lhs, a, aShape, n, first, depth, lhsMoved, op.getLhsUnsigned());
      auto bs = readAll(rhs, b, bShape, m, first, depth, rhsMoved, op.getRhsUnsigned());
      for (unsigned k = first; k < first + depth; ++k)
        for (unsigned r = 0; r < c.registers(); ++r) {
          uint32_t part = c.element(r);
          Value x = as.lookup(cShape.coordinate(part, m) * aShape.basis(m, 0) | k * aShape.basis(n, 0));
          Value y = bs.lookup(k * bShape.basis(m, 0) | cShape.coordinate(part, n) * bShape.basis(n, 0));
          acc[r] = isa<FloatType>(sum) ? math::FmaOp::create(b_, x, y, acc[r]).getResult()
                                       : arith::AddIOp::create(b_, acc[r], arith::MulIOp::create(b_, x, y)).getResult();
        }
    }
    return acc;
  };
  Registers acc = registersOf(op.getAcc());
  if (steps == unrolled) {
    acc = multiply(acc, {}, {});
  } else { // deep steps are a loop: unrolled as a whole, more is read ahead than fits in registers
    auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b_, value); };
    auto loop = scf::ForOp::create(b_, index(0), index(steps / unrolled), index(1), acc);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToEnd(loop.getBody());
    Value trip = arith::IndexCastOp::create(b_, b_.getI32Type(), loop.getInductionVar());
    auto moved = [&](const SharedTile &shared, const TileShape &shape, unsigned kDim) {
      SmallVector<uint32_t> contributions;
      for (unsigned bit = llvm::Log2_32(unrolled); bit < shape.bits(kDim); ++bit)
        contributions.push_back(shared.layout.address(shape.basis(kDim, bit)));
      return linear(trip, contributions);
    };
    Value lhsMoved = moved(lhs, aShape, n), rhsMoved = moved(rhs, bShape, m);
    scf::YieldOp::create(b_, multiply(Registers(loop.getRegionIterArgs()), lhsMoved, rhsMoved));
    acc.assign(loop.getResults().begin(), loop.getResults().end());
  }
  map(op.getResult(), acc);
}
