// SPDX-License-Identifier: Apache-2.0
// Reductions: first over a thread's registers, then over lanes by shuffles, then over warps through shared memory.
//
// The layout fixes the order in which values are combined, so results do not depend on timing. Afterwards every thread
// along the reduced dimension holds the result, as the result's layout says.
#include "backend/gpu/KernelDistributor.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

Value KernelDistributor::combine(ReduceKind kind, Value a, Value b) {
  Type type = a.getType();
  bool isFloat = isa<FloatType>(type), isBool = type.isInteger(1);
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat  ? arith::AddFOp::create(b_, a, b).getResult()
           : isBool ? arith::OrIOp::create(b_, a, b).getResult()
                    : arith::AddIOp::create(b_, a, b).getResult();
  case ReduceKind::Prod:
    return isFloat  ? arith::MulFOp::create(b_, a, b).getResult()
           : isBool ? arith::AndIOp::create(b_, a, b).getResult()
                    : arith::MulIOp::create(b_, a, b).getResult();
  case ReduceKind::Max:
    return isFloat  ? arith::MaximumFOp::create(b_, a, b).getResult()
           : isBool ? arith::OrIOp::create(b_, a, b).getResult()
                    : arith::MaxSIOp::create(b_, a, b).getResult();
  case ReduceKind::Min:
    return isFloat  ? arith::MinimumFOp::create(b_, a, b).getResult()
           : isBool ? arith::AndIOp::create(b_, a, b).getResult()
                    : arith::MinSIOp::create(b_, a, b).getResult();
  }
  llvm_unreachable("closed list");
}

/// The value that the lane with number (own xor mask) has. Shuffles move words: narrower values are widened, wider ones
/// are split.
Value KernelDistributor::shuffle(Value value, unsigned mask) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  IntegerType integer = b_.getIntegerType(bits), word = b_.getI32Type();
  Value raw = isa<FloatType>(type) ? arith::BitcastOp::create(b_, integer, value).getResult() : value;
  if (bits < 32) {
    raw = arith::TruncIOp::create(b_, integer, target_.shuffle(b_, arith::ExtUIOp::create(b_, word, raw), mask));
  } else if (bits == 32) {
    raw = target_.shuffle(b_, raw, mask);
  } else {
    Value half = arith::ConstantOp::create(b_, b_.getI64IntegerAttr(32));
    Value low = target_.shuffle(b_, arith::TruncIOp::create(b_, word, raw), mask);
    Value high = target_.shuffle(b_, arith::TruncIOp::create(b_, word, arith::ShRUIOp::create(b_, raw, half)), mask);
    raw = arith::OrIOp::create(b_, arith::ExtUIOp::create(b_, integer, low),
                               arith::ShLIOp::create(b_, arith::ExtUIOp::create(b_, integer, high), half));
  }
  return isa<FloatType>(type) ? arith::BitcastOp::create(b_, type, raw).getResult() : raw;
}

/// What this lane has and what the other one sent, combined to the same bits in both. Sums of halves are rounded twice,
/// to f32 first, which gives the same as rounding once: f32 has two bits more than twice theirs.
Value KernelDistributor::combineLanes(ReduceKind kind, Value own, Value received) {
  Type type = own.getType();
  if (kind != ReduceKind::Sum || !isa<FloatType>(type) || faults_.contractSums)
    return combine(kind, own, received);
  if (type.getIntOrFloatBitWidth() >= 32)
    return target_.addRounded(b_, own, received);
  Type wide = b_.getF32Type();
  Value sum = target_.addRounded(b_, arith::ExtFOp::create(b_, wide, own), arith::ExtFOp::create(b_, wide, received));
  return arith::TruncFOp::create(b_, type, sum);
}

//===- Over warps -------------------------------------------------------------------------------------------------===//

/// The bit that `basis`, a basis of the warps, stands for in the number of a partial result; 0 if `basis` is not of the
/// reduced dimension.
static uint32_t partialOf(const Layout &layout, uint32_t mask, uint32_t basis) {
  uint32_t position = 0;
  for (uint32_t other : layout.warp)
    if (other & mask) {
      if (other == basis)
        return 1u << position;
      ++position;
    }
  return 0;
}

/// The partial results of the warps along the reduced dimension, which meet in shared memory: partial p of element e at
/// p * elements + e.
class KernelDistributor::WarpExchange {
public:
  /// `from` is the layout of what is reduced, `to` that of the result; `mask` are the reduced dimension's bits.
  WarpExchange(KernelDistributor &d, ReduceOp op, const Layout &from, const Layout &to, uint32_t mask)
      : d_(d), b_(d.b_), op_(op), from_(from), to_(to), mask_(mask),
        element_(cast<RankedTensorType>(op.getType()).getElementType()),
        stored_(element_.isInteger(1) ? b_.getI8Type() : element_),
        elements_(cast<RankedTensorType>(op.getType()).getNumElements()) {
    for (uint32_t basis : from.warp)
      partials_ *= basis & mask ? 2 : 1;
  }

  /// Combines the partial results of all warps. Every thread gets the result.
  void run(Registers &results) {
    if (partials_ == 1)
      return;
    base_ = LLVM::GEPOp::create(b_, d_.shared_.getType(), b_.getI8Type(), d_.shared_,
                                ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*op_.getScratch())});
    Layout partial = from_; // maps a warp to the place of its partial result
    for (uint32_t &basis : partial.warp)
      basis = partialOf(from_, mask_, basis) * elements_;
    partial.lane.assign(from_.lane.size(), 0);
    Value mine = d_.threadPart(partial, [](uint32_t basis) { return basis; });
    Value first = d_.threadPart(to_, [](uint32_t basis) { return basis; });
    mine = arith::AddIOp::create(b_, mine, first);
    if (op_->getParentOfType<scf::ForOp>())
      d_.barrier(); // other warps may still be reading the partial results of the step before
    // The lanes of a warp that hold the same result store the same bits in one place, which takes no predicate.
    for (unsigned r = 0; r < to_.registers(); ++r) {
      Value value = element_ == stored_ ? results[r] : arith::ExtUIOp::create(b_, stored_, results[r]).getResult();
      LLVM::StoreOp::create(b_, value, address(mine, to_.element(r)));
    }
    d_.barrier();
    for (unsigned r = 0; r < to_.registers(); ++r)
      results[r] = total(first, to_.element(r));
  }

private:
  Value address(Value thread, uint32_t part) {
    Value position = arith::AddIOp::create(b_, thread, d_.i32(part));
    return LLVM::GEPOp::create(b_, base_.getType(), stored_, base_, ArrayRef<LLVM::GEPArg>{position});
  }

  Value total(Value first, uint32_t part) {
    Value sum;
    for (unsigned p = 0; p < partials_; ++p) {
      Value value = LLVM::LoadOp::create(b_, stored_, address(first, p * elements_ + part));
      if (element_ != stored_)
        value = arith::TruncIOp::create(b_, element_, value);
      sum = sum ? d_.combine(op_.getKind(), sum, value) : value;
    }
    return sum;
  }

  KernelDistributor &d_;
  ImplicitLocOpBuilder &b_;
  ReduceOp op_;
  const Layout &from_, &to_;
  uint32_t mask_;
  Type element_, stored_; // in registers, in shared memory
  int64_t elements_;      // of the result
  unsigned partials_ = 1;
  Value base_;
};

//===- All together -----------------------------------------------------------------------------------------------===//

void KernelDistributor::lowerReduce(ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType()), narrowType = cast<RankedTensorType>(op.getType());
  TileShape wide(type.getShape()), narrow(narrowType.getShape());
  Layout from = layoutOf(type), to = layoutOf(narrowType);
  uint32_t mask = wide.mask(op.getDim());
  auto withoutDim = [&](uint32_t element) {
    uint32_t part = 0;
    for (unsigned d = 0; d < narrow.rank(); ++d)
      if (narrow.bits(d))
        part |= wide.coordinate(element, d) * narrow.basis(d, 0);
    return part;
  };
  Registers input = registersOf(op.getInput()), results(to.registers());
  for (unsigned r = 0; r < from.registers(); ++r) {
    Value &result = results[*to.registerOf(withoutDim(from.element(r)))];
    result = result ? combine(op.getKind(), result, input[r]) : input[r];
  }
  for (auto [i, basis] : llvm::enumerate(from.lane))
    if (basis & mask)
      for (Value &result : results)
        result = combineLanes(op.getKind(), result, shuffle(result, 1u << i));
  WarpExchange(*this, op, from, to, mask).run(results);
  map(op.getResult(), results);
}
