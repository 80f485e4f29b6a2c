// SPDX-License-Identifier: Apache-2.0
// A tile.dot without matrix units.
//
// The factors are in shared memory. For a few steps of k at a time, a thread reads the rows and columns of its
// accumulators, as vectors where rows of shared memory allow, and adds each product.
#include "backend/gpu/contract/MultiplyAdd.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

static TileShape shapeOf(Value tile) { return TileShape(cast<RankedTensorType>(tile.getType()).getShape()); }
static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

KernelDistributor::MultiplyAdd::MultiplyAdd(KernelDistributor &d, DotOp op)
    : d_(d), b_(d.b_), op_(op), layout_(layoutOf(op.getType())), shape_(shapeOf(op.getResult())), m_(shape_.rank() - 2),
      n_(shape_.rank() - 1), lhs_(factor(op.getLhs(), n_, op.getLhsUnsigned())),
      rhs_(factor(op.getRhs(), m_, op.getRhsUnsigned())), element_(elementOf(op.getLhs())),
      sum_(elementOf(op.getResult())), steps_(1u << lhs_.shape.bits(n_)), unrolled_(std::min(steps_, 16u)),
      depth_(std::min(steps_, 4u)) {}

KernelDistributor::MultiplyAdd::Factor KernelDistributor::MultiplyAdd::factor(Value operand, unsigned kDim,
                                                                              bool isUnsigned) {
  return {d_.sharedTiles_.find(operand)->second, layoutOf(operand.getType()), shapeOf(operand), kDim, isUnsigned};
}

Value KernelDistributor::MultiplyAdd::widen(Value value, bool isUnsigned) {
  if (element_ == sum_)
    return value;
  if (isUnsigned)
    return arith::ExtUIOp::create(b_, sum_, value);
  return isa<FloatType>(element_) ? arith::ExtFOp::create(b_, sum_, value).getResult()
                                  : arith::ExtSIOp::create(b_, sum_, value).getResult();
}

/// This thread's elements of `depth_` steps from `k` on. `moved`, if there, is xor-ed to their addresses.
KernelDistributor::MultiplyAdd::Elements KernelDistributor::MultiplyAdd::read(const Factor &factor, unsigned k,
                                                                              Value moved) {
  auto &[shared, layout, shape, kDim, isUnsigned] = factor;
  unsigned fast = shared.layout.fast, width = 1u << rowBits(layout, shared.layout, shared.element).size();
  if (fast == kDim)
    width = std::min(width, depth_);
  Elements elements;
  for (unsigned r = 0; r < layout.registers(); ++r) {
    uint32_t part = layout.element(r), at = shape.coordinate(part, kDim);
    if (at < k || at >= k + depth_ || shape.coordinate(part, fast) % width)
      continue;
    Value piece = d_.readVector(shared, layout, part, width, moved);
    for (unsigned i = 0; i < width; ++i)
      elements[part | i * shape.basis(fast, 0)] = widen(
          width == 1 ? piece : vector::ExtractOp::create(b_, piece, static_cast<int64_t>(i)).getResult(), isUnsigned);
  }
  return elements;
}

/// Adds the products of the first `unrolled_` steps of slots that are moved along k: `lhsMoved` and `rhsMoved`, if not
/// null, are xor-ed to their addresses.
Registers KernelDistributor::MultiplyAdd::multiply(Registers acc, Value lhsMoved, Value rhsMoved) {
  for (unsigned first = 0; first < unrolled_; first += depth_) {
    Elements as = read(lhs_, first, lhsMoved), bs = read(rhs_, first, rhsMoved);
    for (unsigned k = first; k < first + depth_; ++k)
      for (unsigned r = 0; r < layout_.registers(); ++r) {
        uint32_t part = layout_.element(r);
        Value x = as.lookup(shape_.coordinate(part, m_) * lhs_.shape.basis(m_, 0) | k * lhs_.shape.basis(n_, 0));
        Value y = bs.lookup(k * rhs_.shape.basis(m_, 0) | shape_.coordinate(part, n_) * rhs_.shape.basis(n_, 0));
        acc[r] = isa<FloatType>(sum_) ? math::FmaOp::create(b_, x, y, acc[r]).getResult()
                                      : arith::AddIOp::create(b_, acc[r], arith::MulIOp::create(b_, x, y)).getResult();
      }
  }
  return acc;
}

/// Many steps are a loop: unrolled, so many elements would be read ahead that registers spill.
Registers KernelDistributor::MultiplyAdd::loopOverSteps(Registers acc) {
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b_, value); };
  auto loop = scf::ForOp::create(b_, index(0), index(steps_ / unrolled_), index(1), acc);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToEnd(loop.getBody());
  Value trip = arith::IndexCastOp::create(b_, b_.getI32Type(), loop.getInductionVar());
  auto moved = [&](const Factor &factor) {
    SmallVector<uint32_t> contributions;
    for (unsigned bit = llvm::Log2_32(unrolled_); bit < factor.shape.bits(factor.kDim); ++bit)
      contributions.push_back(factor.shared.layout.address(factor.shape.basis(factor.kDim, bit)));
    return d_.linear(trip, contributions);
  };
  Value lhsMoved = moved(lhs_), rhsMoved = moved(rhs_);
  scf::YieldOp::create(b_, multiply(Registers(loop.getRegionIterArgs()), lhsMoved, rhsMoved));
  return Registers(loop.getResults());
}

Registers KernelDistributor::MultiplyAdd::run() {
  Registers acc = d_.registersOf(op_.getAcc());
  return steps_ == unrolled_ ? multiply(acc, {}, {}) : loopOverSteps(acc);
}
