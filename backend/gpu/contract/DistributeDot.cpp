// SPDX-License-Identifier: Apache-2.0
// Contractions on matrix units, whose operands are in shared memory.
#include "backend/gpu/contract/MultiplyAdd.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

//===- Matrix units -----------------------------------------------------------------------------------------------===//

/// One fragment as a vector of its 2^bits registers; `part` is its first element.
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
      whole = vector::InsertOp::create(b_, element, whole, static_cast<int64_t>(r) + i);
    }
  }
  return whole;
}

/// Whether the target can read four matrices of these fragments at once (ldmatrix), each of eight rows of 16 bytes.
bool KernelDistributor::readsMatrices(const SharedTile &shared, const Fragments &fragments) const {
  unsigned rowOfMatrix = 16 / elementBytes(shared.element); // 16 bytes
  return target_.readsMatrices() && fragments.feed == Feed::Registers && !fragments.chained &&
         elementBytes(shared.element) >= 2 && 1u << shared.layout.shape.bits(shared.layout.fast) >= rowOfMatrix;
}

/// Whether rows of shared memory run along k.
static bool runsAlongK(const SharedLayout &shared, const Layout &fragments) {
  return shared.shape.coordinate(fragments.lane[0], shared.fast) != 0;
}

/// Four words of this thread: at `part`, and at `part` xor `first`, xor `second` and xor both.
///
/// Each word is this thread's part of a matrix of 8x8 halves or 8x4 words. In a fragment, the position along k in that
/// matrix is given by bits 0 and 1 of the lane's number and, for halves, bit 0 of the register's; the position across k
/// is given by bits 2 to 4 of the lane's number. The instruction takes from each lane the address of one row in shared
/// memory. If rows run along k, the bits across k number them. If rows run across k, the bits along k number them and
/// the instruction transposes, which it can do for halves only.
SmallVector<Value> KernelDistributor::readMatrices(const SharedTile &shared, const Layout &layout, uint32_t part,
                                                   uint32_t first, uint32_t second) {
  bool alongK = runsAlongK(shared.layout, layout);
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
  return LLVM::BitcastOp::create(b, VectorType::get(words.size() * 4 / elementBytes(element), element), vector);
}

/// One operand's fragments at the given parts. Neighbours in the list differ in one register basis.
SmallVector<Value> KernelDistributor::readFragments(const SharedTile &shared, const Layout &layout,
                                                    const Fragments &fragments, ArrayRef<uint32_t> parts,
                                                    unsigned bits) {
  SmallVector<Value> result;
  bool inMatrices = readsMatrices(shared, fragments);
  unsigned bitsOfWord = 0; // bits of the register number that choose an element of a word
  if (inMatrices) {
    bitsOfWord = llvm::Log2_64(4 / elementBytes(shared.element));
    inMatrices = bitsOfWord > 0 || runsAlongK(shared.layout, layout);
  }
  ArrayRef<uint32_t> words = ArrayRef(layout.reg).drop_front(bitsOfWord);
  if (inMatrices && bits == bitsOfWord + 2) {
    for (uint32_t part : parts)
      result.push_back(toFragment(b_, readMatrices(shared, layout, part, words[0], words[1]), shared.element));
  } else if (inMatrices && bits == bitsOfWord + 1 && parts.size() % 2 == 0) {
    for (size_t i = 0; i < parts.size(); i += 2) {
      SmallVector<Value> both = readMatrices(shared, layout, parts[i], words[0], parts[i] ^ parts[i + 1]);
      result.push_back(toFragment(b_, ArrayRef(both).take_front(2), shared.element));
      result.push_back(toFragment(b_, ArrayRef(both).drop_front(2), shared.element));
    }
  } else {
    for (uint32_t part : parts)
      result.push_back(readFragment(shared, layout, part, bits));
  }
  return result;
}

/// An operand that is held in registers, as elements of the type that is multiplied. Singles become a sum of halves,
/// the smallest first, each the rounded rest of those behind it: two of f16 keep 22 bits of an element of 2^-3 or more,
/// and an error of at most 2^-25 of smaller ones; three of bf16 keep all 24 bits.
std::vector<Registers> KernelDistributor::heldParts(Value operand, Type element) {
  Registers registers = registersOf(operand);
  Type single = registers.front().getType();
  if (element == single)
    return {registers};
  std::vector<Registers> parts;
  for (size_t i = 0, count = element.isF16() ? 2 : 3; i < count; ++i) {
    Registers part;
    for (Value &rest : registers) {
      part.push_back(arith::TruncFOp::create(b_, element, rest));
      if (i + 1 < count)
        rest = arith::SubFOp::create(b_, rest, arith::ExtFOp::create(b_, single, part.back()));
    }
    parts.insert(parts.begin(), part);
  }
  return parts;
}

/// Fragments of an operand that is held in `registers`: each is 2^bits neighbours.
SmallVector<Value> KernelDistributor::heldFragments(const Registers &registers, const Layout &layout,
                                                    ArrayRef<uint32_t> parts, unsigned bits) {
  auto type = VectorType::get(1 << bits, registers.front().getType());
  SmallVector<Value> fragments;
  for (uint32_t part : parts)
    fragments.push_back(vector::FromElementsOp::create(
        b_, type, ArrayRef(registers).slice(*layout.registerOf(part), size_t(1) << bits)));
  return fragments;
}

void KernelDistributor::dotOnMatrixUnits(DotOp op, const Fragments &fragments) {
  auto lhs = sharedTiles_.find(op.getLhs()); // end(): it is held in registers
  const SharedTile &rhs = sharedTiles_.find(op.getRhs())->second;
  Layout a = layoutOf(op.getLhs().getType()), b = layoutOf(op.getRhs().getType()), c = layoutOf(op.getType());
  TileShape aShape(cast<RankedTensorType>(op.getLhs().getType()).getShape()),
      bShape(cast<RankedTensorType>(op.getRhs().getType()).getShape());
  TileShape cShape(cast<RankedTensorType>(op.getType()).getShape());
  unsigned rank = cShape.rank(), m = rank - 2, n = rank - 1;
  auto count = [](StringRef bits) { return static_cast<unsigned>(bits.count(' ')) + 1; };
  unsigned aBits = count(fragments.reg[0]), bBits = count(fragments.reg[1]), cBits = count(fragments.reg[2]);

  // The rows and columns at which fragments begin in this thread's accumulators, relative to its first.
  constexpr int64_t columnsOfPair = 16; // fragments of the right side are read in pairs
  auto columnsWanted = static_cast<uint32_t>(llvm::alignTo(op.liveColumns(), columnsOfPair));
  SmallVector<uint32_t> rows, columns;
  for (unsigned r = 0; r < c.registers() >> cBits; ++r) {
    uint32_t part = c.element(r << cBits);
    if (!cShape.coordinate(part, n))
      rows.push_back(cShape.coordinate(part, m));
    if (uint32_t column = cShape.coordinate(part, n); !cShape.coordinate(part, m) && column < columnsWanted)
      columns.push_back(column);
  }
  Registers acc = registersOf(op.getAcc());
  bool isHeld = lhs == sharedTiles_.end();
  std::vector<Registers> held = isHeld ? heldParts(op.getLhs(), rhs.element) : std::vector<Registers>();
  for (unsigned k = 0; k < op.liveDepth(); k += fragments.k) {
    auto lhsPart = [&](uint32_t row) { return row * aShape.basis(m, 0) | k * aShape.basis(n, 0); };
    auto rhsPart = [&](uint32_t column) { return k * bShape.basis(m, 0) | column * bShape.basis(n, 0); };
    SmallVector<uint32_t> lhsParts(llvm::map_range(rows, lhsPart));
    SmallVector<SmallVector<Value>> as;
    if (!isHeld)
      as.push_back(readFragments(lhs->second, a, fragments, lhsParts, aBits));
    for (const Registers &part : held)
      as.push_back(heldFragments(part, a, lhsParts, aBits));
    SmallVector<Value> bs =
        readFragments(rhs, b, fragments, SmallVector<uint32_t>(llvm::map_range(columns, rhsPart)), bBits);
    for (auto [i, row] : llvm::enumerate(rows))
      for (auto [j, column] : llvm::enumerate(columns)) {
        unsigned first = *c.registerOf(row * cShape.basis(m, 0) | column * cShape.basis(n, 0));
        auto part = ArrayRef(acc).slice(first, 1u << cBits);
        for (ArrayRef<Value> of : as)
          llvm::copy(target_.multiply(b_, fragments, of[i], bs[j], part, {op.getLhsUnsigned(), op.getRhsUnsigned()}),
                     acc.begin() + first);
      }
  }
  map(op.getResult(), acc);
}

//===- Matrix units that read shared memory -----------------------------------------------------------------------===//

/// An operand of an instruction that reads shared memory. `side` is its dimension that is not k.
struct KernelDistributor::MatrixOperand {
  GpuTarget::SharedMatrix matrix; // without an offset; nothing if the operand is held
  SharedLayout layout;
  uint32_t elementBytes;
  TileShape shape;
  unsigned side, k;

  uint32_t at(uint32_t sideCoordinate, uint32_t kCoordinate) const {
    return sideCoordinate * shape.basis(side, 0) | kCoordinate * shape.basis(k, 0);
  }
  /// From the slot's start.
  uint32_t bytes(uint32_t flat) const { return layout.address(flat) * elementBytes; }
};

/// An instruction's operand in shared memory. `sideDim` and `kDim` are its dimensions.
KernelDistributor::MatrixOperand KernelDistributor::matrixOperand(Value tile, unsigned sideDim, unsigned kDim,
                                                                  unsigned warps) {
  TileShape shape(cast<RankedTensorType>(tile.getType()).getShape());
  auto found = sharedTiles_.find(tile);
  if (found == sharedTiles_.end()) // it is held
    return {{}, {shape}, 0, shape, sideDim, kDim};
  const SharedTile &slot = found->second;
  const SharedLayout &shared = slot.layout;
  auto bytes = static_cast<uint32_t>(elementBytes(slot.element));
  uint32_t row = std::min(1u << shared.shape.bits(shared.fast), shared.bankRow);
  MatrixOperand operand{{slot.first, {}, 0, 0, shared.fast == kDim, row * bytes}, shared, bytes, shape, sideDim, kDim};
  Layout layout = layoutOf(tile.getType());
  layout.lane.clear();
  std::fill_n(layout.warp.begin(), llvm::Log2_32(warps), 0);
  constexpr uint32_t chunkBytes = GpuTarget::SharedMatrix::chunkBytes;
  Value ofWarp = threadPart(layout, [&](uint32_t basis) { return operand.bytes(basis) / chunkBytes; });
  operand.matrix.chunks =
      arith::AddIOp::create(b_, arith::MulIOp::create(b_, slot.number, i32(slot.slotBytes / chunkBytes)), ofWarp);
  if (shared.shape.bits(shared.fast) > llvm::Log2_32(shared.bankRow))
    operand.matrix.panels = operand.bytes(shared.bankRow * shared.shape.basis(shared.fast, 0));
  return operand;
}

/// Four warps issue each instruction together. It computes 64 rows and up to 256 neighbouring columns of the
/// accumulators; if it computes the transpose, 64 columns and up to 256 rows. Columns that are not live are 0, so that
/// nothing computes or keeps them.
void KernelDistributor::dotFromShared(DotOp op, const Fragments &fragments) {
  constexpr unsigned widest = 256, columnsTogether = 8; // columns of one instruction are a multiple
  constexpr int64_t bytesHeld = 16;                     // of a left side in registers, for each thread
  Layout c = layoutOf(op.getType());
  TileShape cShape(cast<RankedTensorType>(op.getType()).getShape());
  unsigned m = cShape.rank() - 2, n = cShape.rank() - 1;
  MatrixOperand lhs = matrixOperand(op.getLhs(), m, n, fragments.warps()),
                rhs = matrixOperand(op.getRhs(), n, m, fragments.warps());
  Value left = fragments.transposed ? op.getRhs() : op.getLhs();
  if (fragments.transposed)
    std::swap(lhs, rhs);
  unsigned columnBits = 0;
  for (uint32_t basis : c.reg)
    columnBits += cShape.coordinate(basis, rhs.side) != 0;
  unsigned columns = std::min(4u << columnBits, widest), sums = columns / 2; // four lanes share a row
  bool hasAllColumns = !fragments.transposed && 4u << columnBits == columns &&
                       llvm::none_of(c.warp, [&](uint32_t basis) { return cShape.coordinate(basis, n); });
  unsigned live = hasAllColumns ? llvm::alignTo(op.liveColumns(), columnsTogether) / 2 : sums;
  bool isHeld = !sharedTiles_.contains(left);
  // If the instruction computes the transpose, both sides are singles, and either may be held.
  Type element = op.getRhs().getType().getElementType();
  std::vector<Registers> held = isHeld ? heldParts(left, element) : std::vector<Registers>();
  Layout leftLayout = layoutOf(left.getType());
  unsigned heldBits = llvm::Log2_64(bytesHeld / elementBytes(element));

  Registers acc = registersOf(op.getAcc());
  target_.startProducts(b_);
  for (unsigned k = 0; k < op.liveDepth(); k += fragments.k / fragments.steps)
    for (unsigned first = 0; first < acc.size(); first += sums) {
      uint32_t element0 = c.element(first), row = lhs.at(cShape.coordinate(element0, lhs.side), k);
      rhs.matrix.offset = rhs.bytes(rhs.at(cShape.coordinate(element0, rhs.side), k));
      auto part = ArrayRef(acc).slice(first, live);
      auto add = [&](ArrayRef<Value> next) { llvm::copy(next, acc.begin() + first); };
      for (const Registers &of : held)
        add(target_.multiplyHeld(b_, heldFragments(of, leftLayout, row, heldBits).front(), rhs.matrix, part));
      if (isHeld)
        continue;
      lhs.matrix.offset = lhs.bytes(row);
      add(target_.multiplyShared(b_, element, lhs.matrix, rhs.matrix, part,
                                 {op.getLhsUnsigned(), op.getRhsUnsigned()}));
    }
  target_.commitProducts(b_);
  for (unsigned first = 0; first < acc.size(); first += sums)
    for (Value &dead : MutableArrayRef(acc).slice(first + live, sums - live))
      dead = arith::ConstantOp::create(b_, b_.getZeroAttr(dead.getType()));
  map(op.getResult(), acc);
}

/// Are there stores between `op` and the wait before it?
static bool followsStores(DotWaitOp op) {
  for (Operation *before = op->getPrevNode(); before && !isa<DotWaitOp>(before); before = before->getPrevNode())
    if (isa<StoreOp>(before))
      return true;
  return false;
}

/// Of the accumulators, those that are not live are constants, for which nothing has to wait. Nothing tells ptxas that
/// stores in front of a wait are not to come behind it, but that the warp meets between them.
void KernelDistributor::lowerDotWait(DotWaitOp op) {
  if (role_ && followsStores(op))
    target_.copyEngine()->meetWarp(b_);
  Registers acc, running;
  for (Value accumulator : op.getAccumulators())
    llvm::append_range(acc, registersOf(accumulator));
  auto isRunning = [](Value sum) { return !sum.getDefiningOp<arith::ConstantOp>(); };
  llvm::copy_if(acc, std::back_inserter(running), isRunning);
  SmallVector<Value> sums = faults_.dropProductWaits ? running : target_.waitProducts(b_, op.getPending(), running);
  const Value *next = sums.begin();
  for (Value &sum : acc)
    if (isRunning(sum))
      sum = *next++;
  ArrayRef<Value> rest = acc;
  for (Value result : op.getResults()) {
    unsigned count = layoutOf(result.getType()).registers();
    map(result, Registers(rest.take_front(count)));
    rest = rest.drop_front(count);
  }
  for (Value accumulator : op.getAccumulators())
    if (auto loop = accumulator.getDefiningOp<scf::ForOp>(); loop && loop->getBlock() == op->getBlock())
      return leaveMainLoop(loop);
}

//===- All together -----------------------------------------------------------------------------------------------===//

void KernelDistributor::lowerDot(DotOp op) {
  const Fragments *fragments = fragmentsOf(op);
  if (!fragments)
    map(op.getResult(), MultiplyAdd(*this, op).run());
  else if (fragments->readsShared())
    dotFromShared(op, *fragments);
  else
    dotOnMatrixUnits(op, *fragments);
}
