// Products of bytes, summed by fours into 32 bits.
//
//     panel: for each four k, one word a column          a row: four bytes along k, the same word in all lanes
//     sum[column] += a0 b0 + a1 b1 + a2 b2 + a3 b3       vpdpbusd, or two vpmaddwd of bytes widened to 16 bits, which is exact too
//
// The constant operand ends with zeros, so what a row holds beyond its last k counts for nothing.
#include "backend/host/Elementwise.h"
#include "backend/host/Emitter.h"
#include "backend/host/plan/AccessOrder.h"
#include "backend/host/plan/CarriedTiles.h"
#include "backend/host/plan/DotOperands.h"
#include "backend/host/plan/RegisterBlocked.h"
#include "backend/host/plan/SharedValues.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;

namespace tilewright::host {

static constexpr unsigned leastLanes = 4; // of a vector of words

/// Whether the tile begins with a whole quad, and its left side lies in quads: in the workspace, or where it is.
bool Emitter::canMultiplyQuads(tile::DotOp op) {
  if (!multipliesPackedBytes(op))
    return false;
  auto load = op.getRhs().getDefiningOp<tile::LoadOp>();
  auto type = load.getResult().getType();
  if (math.facts(index(load.getOffsets()[type.getRank() - 2])).divisor % quad != 0)
    return false;
  auto memory = held.find(op.getLhs());
  return memory != held.end() ? memory->second.panel == 0 : isDirectOperand(op.getLhs(), true, 1, registerRows);
}

/// sum + the dots of four: lanes are words of four bytes.
llvm::Value *Emitter::addQuads(llvm::Value *sum, llvm::Value *a, llvm::Value *b, bool aUnsigned, bool bUnsigned) {
  namespace intrinsic = llvm::Intrinsic;
  unsigned lanes = cast<llvm::FixedVectorType>(sum->getType())->getNumElements(),
           size = lanes / 8; // 0, 1, 2: 128, 256, 512 bits
  if (!options.feature.empty() && aUnsigned != bUnsigned) {
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

/// rows x columns of accumulators, a vector of the machine each.
Rows Emitter::emitQuads(tile::DotOp op, const Position &position) {
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  auto panels = op.getRhs().getDefiningOp<tile::LoadOp>(), direct = op.getLhs().getDefiningOp<tile::LoadOp>();
  auto sizes = panels.getBuffer().getType().getSizes().getResults();
  int64_t panel = cast<AffineConstantExpr>(sizes[sizes.size() - 2]).getValue();
  unsigned width = position.width, lanes = std::clamp(width, leastLanes, narrow), pieces = std::max(width / lanes, 1u);
  llvm::Type *word = ir.getInt32Ty(), *vector = vectorOf(word, lanes), *whole = vectorOf(word, width);
  auto slice = [&](llvm::Value *value, unsigned piece) -> llvm::Value * { // of `width` lanes
    if (width == 1)
      return ir.CreateInsertElement(llvm::Constant::getNullValue(vector), value, uint64_t(0));
    SmallVector<int> picked;
    for (unsigned lane = 0; lane < lanes; ++lane)
      picked.push_back(piece * lanes + lane < width ? static_cast<int>(piece * lanes + lane) : -1);
    return pieces == 1 && lanes == width ? value : ir.CreateShuffleVector(value, picked);
  };
  SmallVector<SmallVector<llvm::Value *>> accumulators;
  for (llvm::Value *value : pull(op.getAcc(), position)) {
    accumulators.emplace_back();
    for (unsigned piece = 0; piece < pieces; ++piece) {
      accumulators.back().push_back(slot(vector));
      ir.CreateStore(slice(value, piece), accumulators.back().back());
    }
  }
  SmallVector<Position::Live> lhsFacts, rhsFacts;
  Ix size = liveSize(op.getLhs(), 0, math.constant(lhs.getShape().back()), lhsFacts);
  size = liveSize(op.getRhs(), 1, size, rhsFacts);
  math.loop(math.constant(0), size, quad, [&](Ix k) {
    Position left = position, right = position;
    left.set(0, k);
    left.live.append(lhsFacts.begin(), lhsFacts.end());
    right.set(1, k);
    right.live.append(rhsFacts.begin(), rhsFacts.end());
    llvm::Value *base = addressOf(panels, right, 0, panel);
    SmallVector<llvm::Value *> columns;
    for (unsigned piece = 0; piece < pieces; ++piece) {
      llvm::Type *loaded = width == 1 ? word : vectorOf(word, std::min(lanes, width));
      llvm::Value *address = math.pointer(word, base, math.constant(piece * lanes));
      llvm::Value *value = ir.CreateAlignedLoad(loaded, address, llvm::Align(1));
      columns.push_back(pieces == 1 ? slice(value, 0) : value);
    }
    auto memory = held.find(op.getLhs());
    for (auto [row, sums] : llvm::enumerate(accumulators)) {
      llvm::Value *address = memory != held.end() ? heldAddress(memory->second, left, row, ir.getInt8Ty())
                                                  : addressOf(direct, left, row, 0);
      llvm::Value *bytes = ir.CreateVectorSplat(lanes, ir.CreateAlignedLoad(word, address, llvm::Align(1)));
      for (auto [column, place] : llvm::zip_equal(columns, sums))
        ir.CreateStore(addQuads(ir.CreateLoad(vector, place), bytes, column, op.getLhsUnsigned(), op.getRhsUnsigned()),
                       place);
    }
  });
  Rows result;
  for (ArrayRef<llvm::Value *> sums : accumulators) {
    llvm::Value *row = nullptr;
    for (auto [piece, place] : llvm::enumerate(sums)) {
      llvm::Value *sum = ir.CreateLoad(vector, place);
      if (width == 1)
        row = ir.CreateExtractElement(sum, uint64_t(0));
      else if (pieces == 1 && lanes == width)
        row = sum;
      else
        row = insertLanes(row, sum, piece * lanes, whole);
    }
    result.push_back(row);
  }
  return result;
}

/// `row` with the lanes from `first` on replaced by those of `part`.
llvm::Value *Emitter::insertLanes(llvm::Value *row, llvm::Value *part, unsigned first, llvm::Type *whole) {
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

} // namespace tilewright::host
