// SPDX-License-Identifier: Apache-2.0
// Contractions with matrix instructions, or with register tiles.
//
//   %c = scf.for %k = 0 to K step 64 iter_args(%acc = 0) {
//     %a = tile.load %x ...            the left side, with whatever precedes it
//     %b = tile.load %w ...            the right side; a constant may be stored in panels
//     scf.yield (tile.dot %a, %b, %acc)
//   }
//   the epilogue, computed from the contraction's result %c
//
// A block of threads whose tile has 192 columns has sums of 128 and of 64 columns: tiles on GPUs are powers of two. A
// schedule may say how wide the first of these strips is. They share the left side, and so do the sums of several
// contractions (fusion/Geometry.h).
#include "tilegen/roots/Contraction.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

/// Some columns of the tile, with their operands and epilogue.
struct Strip {
  int64_t start, size;
  ContractionOperands operands;
};

class MatmulEmitter {
public:
  MatmulEmitter(TileEmitter &emitter, tile::ScheduleAttr schedule)
      : emitter(emitter), space(emitter.getSpace()), builder(emitter.getBuilder()),
        reduced(space.loopsOfKind(LoopKind::Reduction)), k(reduced.back()), m(space.loopsOfKind(LoopKind::Row).front()),
        n(space.loopsOfKind(LoopKind::Column).front()), count(space.loopOps.size()) {
    makeStrips(schedule);
    if (schedule.getPack())
      for (Strip &strip : strips)
        strip.operands.readPanels(schedule.getPack());
  }

  LogicalResult emit();

private:
  void makeStrips(tile::ScheduleAttr schedule);
  Frame dimsOf(unsigned row, unsigned column) const;
  SmallVector<int64_t> shapeOf(const Frame &dims) const;
  Value multiply(Strip &strip, size_t contraction, Value sums);
  /// Runs `body` for each strip with its columns as the tile of `n`, until one returns false. False if one did.
  bool forEachStrip(llvm::function_ref<bool(size_t, Strip &)> body);

  TileEmitter &emitter;
  const KernelSpace &space;
  OpBuilder &builder;
  std::vector<Strip> strips;
  SmallVector<unsigned> reduced;
  unsigned k, m, n;
  size_t count; // of contractions: the sums of each strip
};

} // namespace

void MatmulEmitter::makeStrips(tile::ScheduleAttr schedule) {
  for (int64_t start = 0, end = emitter.tileOf(n); start < end;) {
    int64_t rest = end - start, size = rest;
    if (start == 0 && schedule.getStrip())
      size = schedule.getStrip();
    else if (schedule.isOfBlock())
      size = static_cast<int64_t>(llvm::bit_floor<uint64_t>(rest));
    strips.push_back({start, size, ContractionOperands(emitter)});
    start += size;
  }
}

bool MatmulEmitter::forEachStrip(llvm::function_ref<bool(size_t, Strip &)> body) {
  bool ok = true;
  for (size_t i = 0; i < strips.size() && ok; ++i) {
    emitter.narrow(n, strips[i].start, strips[i].size);
    ok = body(i, strips[i]);
    emitter.widen(n);
  }
  return ok;
}

/// The dimensions of a matrix of `row` by `column`: the batch and the outer reduced loops come first.
Frame MatmulEmitter::dimsOf(unsigned row, unsigned column) const {
  Frame dims = space.loopsOfKind(LoopKind::Parallel);
  dims.append(reduced.begin(), reduced.end() - 1);
  dims.append({row, column});
  return dims;
}

SmallVector<int64_t> MatmulEmitter::shapeOf(const Frame &dims) const {
  return llvm::map_to_vector(dims, [&](unsigned loop) { return emitter.tileOf(loop); });
}

/// One step of the reduced loops: the sums with a product added; null after a diagnostic.
Value MatmulEmitter::multiply(Strip &strip, size_t contraction, Value sums) {
  ContractionOperands &operands = strip.operands;
  Frame lhsDims = dimsOf(m, k), rhsDims = dimsOf(k, n);
  Value lhs = operands.lhs(lhsDims, {k});
  if (lhs)
    lhs = emitter.broadcast(lhs, shapeOf(lhsDims));
  Value rhs = operands.rhs(rhsDims, {k}, contraction);
  if (rhs)
    rhs = emitter.broadcast(rhs, shapeOf(rhsDims));
  if (!lhs || !rhs)
    return {};
  emitter.at(std::max({emitter.depthOf(lhs), emitter.depthOf(rhs), emitter.depthOf(sums)}));
  return tile::DotOp::create(builder, emitter.loc, lhs, rhs, sums, operands.isLhsUnsigned(), operands.isRhsUnsigned());
}

LogicalResult MatmulEmitter::emit() {
  Frame dims = dimsOf(m, n);
  Type element = cast<RankedTensorType>(strips.front().operands.getContract().getType()).getElementType();
  SmallVector<Value> zeros;
  forEachStrip([&](size_t, Strip &) {
    zeros.append(count, emitter.splat(cast<TypedAttr>(builder.getZeroAttr(element)), shapeOf(dims)));
    return true;
  });
  bool ok = true;
  SmallVector<Value> sums = emitter.forEachTile(reduced, zeros, [&](ValueRange carried) {
    SmallVector<Value> next(carried);
    ok = forEachStrip([&](size_t i, Strip &strip) {
      for (size_t contraction = 0; contraction < count; ++contraction) {
        Value &sum = next[i * count + contraction];
        sum = multiply(strip, contraction, sum);
        if (!sum)
          return false;
      }
      return true;
    });
    return next;
  });
  ok = ok && forEachStrip([&](size_t i, Strip &strip) {
         return succeeded(strip.operands.storeOutputs(ArrayRef(sums).slice(i * count, count), dims));
       });
  return success(ok);
}

LogicalResult emitMatmul(TileEmitter &emitter, tile::ScheduleAttr schedule) {
  return MatmulEmitter(emitter, schedule).emit();
}

} // namespace tilewright::tilegen
