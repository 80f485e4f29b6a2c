// SPDX-License-Identifier: Apache-2.0
#include "backend/host/contract/ByteContraction.h"

#include "backend/host/Elementwise.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;

namespace tilewright::host {

static constexpr unsigned leastLanes = 4; // of a vector of words

bool ByteContraction::canEmit(tile::DotOp op) {
  if (!multipliesPackedBytes(op))
    return false;
  auto load = op.getRhs().getDefiningOp<tile::LoadOp>();
  auto type = load.getResult().getType();
  if (math.facts(function.index(load.getOffsets()[type.getRank() - 2])).divisor % quad != 0)
    return false;
  const TileInMemory *buffered = values.memoryOf(op.getLhs());
  return buffered ? buffered->layout.panel == 0 : isDirectOperand(op.getLhs(), true, 1, schedule);
}

/// sum + the products of four pairs of bytes, in each lane. Lanes of `a` and `b` are words of four bytes.
llvm::Value *ByteContraction::addProducts(llvm::Value *sum, llvm::Value *a, llvm::Value *b, bool aUnsigned,
                                          bool bUnsigned) {
  namespace intrinsic = llvm::Intrinsic;
  unsigned lanes = cast<llvm::FixedVectorType>(sum->getType())->getNumElements(),
           size = lanes / 8; // 0, 1, 2: 128, 256, 512 bits
  bool sumsByFours = function.options.has("avx512vnni") || function.options.has("avxvnni");
  if (sumsByFours && aUnsigned != bUnsigned) {
    const llvm::Intrinsic::ID dots[] = {intrinsic::x86_avx512_vpdpbusd_128, intrinsic::x86_avx512_vpdpbusd_256,
                                        intrinsic::x86_avx512_vpdpbusd_512};
    llvm::Type *bytes = vectorOf(ir.getInt8Ty(), quad * lanes);
    return ir.CreateIntrinsic(
        dots[size], {}, {sum, ir.CreateBitCast(aUnsigned ? a : b, bytes), ir.CreateBitCast(aUnsigned ? b : a, bytes)});
  }
  const llvm::Intrinsic::ID pairs[] = {intrinsic::x86_sse2_pmadd_wd, intrinsic::x86_avx2_pmadd_wd,
                                       intrinsic::x86_avx512_pmaddw_d_512};
  llvm::Type *halves = vectorOf(ir.getInt16Ty(), 2 * lanes);
  auto even = [&](llvm::Value *x, bool isUnsigned) {
    x = ir.CreateBitCast(x, halves);
    return isUnsigned ? ir.CreateAnd(x, llvm::ConstantInt::get(halves, 255)) : ir.CreateAShr(ir.CreateShl(x, 8), 8);
  };
  auto odd = [&](llvm::Value *x, bool isUnsigned) {
    x = ir.CreateBitCast(x, halves);
    return isUnsigned ? ir.CreateLShr(x, 8) : ir.CreateAShr(x, 8);
  };
  sum = ir.CreateAdd(sum, ir.CreateIntrinsic(pairs[size], {}, {even(a, aUnsigned), even(b, bUnsigned)}));
  return ir.CreateAdd(sum, ir.CreateIntrinsic(pairs[size], {}, {odd(a, aUnsigned), odd(b, bUnsigned)}));
}

//===- Pieces -----------------------------------------------------------------------------------------------------===//

struct ByteContraction::Pieces {
  Pieces(llvm::IRBuilder<> &ir, unsigned width, unsigned narrow)
      : width(width), lanes(std::clamp(width, leastLanes, narrow)), count(std::max(width / lanes, 1u)),
        vector(vectorOf(ir.getInt32Ty(), lanes)), whole(vectorOf(ir.getInt32Ty(), width)) {}

  bool isOne() const { return count == 1 && lanes == width; }

  unsigned width, lanes, count; // columns of the register tile, of a piece, pieces
  llvm::Type *vector, *whole;   // of a piece, and of the register tile
};

/// The lanes of `value`, a vector of all columns, that belong to piece number `piece`.
llvm::Value *ByteContraction::slice(const Pieces &pieces, llvm::Value *value, unsigned piece) {
  if (pieces.width == 1)
    return ir.CreateInsertElement(llvm::Constant::getNullValue(pieces.vector), value, uint64_t(0));
  SmallVector<int> picked;
  for (unsigned lane = piece * pieces.lanes; lane < (piece + 1) * pieces.lanes; ++lane)
    picked.push_back(lane < pieces.width ? static_cast<int>(lane) : -1);
  return pieces.isOne() ? value : ir.CreateShuffleVector(value, picked);
}

/// `row` with the lanes from `first` on replaced by those of `part`.
llvm::Value *ByteContraction::insertLanes(llvm::Value *row, llvm::Value *part, unsigned first, llvm::Type *whole) {
  unsigned width = cast<llvm::FixedVectorType>(whole)->getNumElements(),
           lanes = cast<llvm::FixedVectorType>(part->getType())->getNumElements();
  SmallVector<int> spread(width, -1), joined;
  for (unsigned lane = 0; lane < width; ++lane) {
    bool inside = lane >= first && lane < first + lanes;
    spread[lane] = inside ? static_cast<int>(lane - first) : -1;
    joined.push_back(static_cast<int>(inside ? width + lane : lane));
  }
  llvm::Value *widened = ir.CreateShuffleVector(part, spread);
  return row ? ir.CreateShuffleVector(row, widened, joined) : widened;
}

/// The sums of all pieces as one vector.
llvm::Value *ByteContraction::join(const Pieces &pieces, ArrayRef<llvm::Value *> sums) {
  llvm::Value *row = nullptr;
  for (auto [piece, place] : llvm::enumerate(sums)) {
    llvm::Value *sum = ir.CreateLoad(pieces.vector, place);
    if (pieces.width == 1)
      row = ir.CreateExtractElement(sum, uint64_t(0));
    else if (pieces.isOne())
      row = sum;
    else
      row = insertLanes(row, sum, piece * pieces.lanes, pieces.whole);
  }
  return row;
}

//===- The loop ---------------------------------------------------------------------------------------------------===//

SmallVector<ByteContraction::Sums> ByteContraction::startSums(tile::DotOp op, const Position &position,
                                                              const Pieces &pieces) {
  SmallVector<Sums> result;
  for (llvm::Value *value : values.tileOf(op.getAcc(), position)) {
    result.emplace_back();
    for (unsigned piece = 0; piece < pieces.count; ++piece) {
      result.back().push_back(function.slot(pieces.vector));
      ir.CreateStore(slice(pieces, value, piece), result.back().back());
    }
  }
  return result;
}

/// Loads four k of all columns, by piece.
ByteContraction::Sums ByteContraction::loadColumns(tile::LoadOp panels, const Position &position,
                                                   const Pieces &pieces) {
  llvm::Type *word = ir.getInt32Ty();
  llvm::Value *base = memory.addressOf(panels, position, 0, panelColumns(panels));
  Sums columns;
  for (unsigned piece = 0; piece < pieces.count; ++piece) {
    llvm::Type *loaded = pieces.width == 1 ? word : vectorOf(word, std::min(pieces.lanes, pieces.width));
    llvm::Value *address = math.pointer(word, base, math.constant(int64_t(piece) * pieces.lanes));
    llvm::Value *value = ir.CreateAlignedLoad(loaded, address, llvm::Align(1));
    columns.push_back(pieces.count == 1 ? slice(pieces, value, 0) : value);
  }
  return columns;
}

/// Adds the products of four k.
void ByteContraction::addStep(tile::DotOp op, const Position &left, const Position &right, const Pieces &pieces,
                              ArrayRef<Sums> sums) {
  Sums columns = loadColumns(op.getRhs().getDefiningOp<tile::LoadOp>(), right, pieces);
  const TileInMemory *buffered = values.memoryOf(op.getLhs());
  for (auto [row, places] : llvm::enumerate(sums)) {
    llvm::Value *address = buffered ? tileMemory.address(*buffered, left, row, ir.getInt8Ty())
                                    : memory.addressOf(op.getLhs().getDefiningOp<tile::LoadOp>(), left, row, 0);
    llvm::Value *bytes =
        ir.CreateVectorSplat(pieces.lanes, ir.CreateAlignedLoad(ir.getInt32Ty(), address, llvm::Align(1)));
    for (auto [column, place] : llvm::zip_equal(columns, places))
      ir.CreateStore(
          addProducts(ir.CreateLoad(pieces.vector, place), bytes, column, op.getLhsUnsigned(), op.getRhsUnsigned()),
          place);
  }
}

Rows ByteContraction::emit(tile::DotOp op, const Position &position) {
  Pieces pieces(ir, position.width, function.vectors.narrow);
  SmallVector<Sums> sums = startSums(op, position, pieces);
  SmallVector<Position::Live> lhsFacts, rhsFacts;
  int64_t depth = cast<RankedTensorType>(op.getLhs().getType()).getShape().back();
  Ix size = columns.liveSize(op.getLhs(), 0, math.constant(depth), lhsFacts);
  size = columns.liveSize(op.getRhs(), 1, size, rhsFacts);
  PanelStream(memory, function, op, position).emit([&](PanelStream::Fetch fetch) {
    math.loop(math.constant(0), size, quad, [&](Ix k) {
      Position left = position, right = position;
      left.set(0, k);
      left.live.append(lhsFacts.begin(), lhsFacts.end());
      right.set(1, k);
      right.live.append(rhsFacts.begin(), rhsFacts.end());
      fetch(k, 1);
      addStep(op, left, right, pieces, sums);
    });
  });
  Rows result;
  for (const Sums &row : sums)
    result.push_back(join(pieces, row));
  return result;
}

} // namespace tilewright::host
