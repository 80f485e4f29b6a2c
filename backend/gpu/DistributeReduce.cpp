// Reductions: first over a thread's registers, then over lanes by shuffles, then over warps through shared memory.
//
// Each step combines in an order that the layout fixes, so a result does not depend on timing. Afterwards every thread
// of the reduced dimension holds the result, which is what the projected layout says.
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

/// Shuffles a value of any width as words.
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

/// The warps' partial results meet in shared memory: partial p of element e at p * elements + e.
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
        result = combine(op.getKind(), result, shuffle(result, 1u << i));

  unsigned partials = 1;
  for (uint32_t basis : from.warp)
    partials *= basis & mask ? 2 : 1;
  if (partials > 1) {
    Type element = type.getElementType(), stored = element.isInteger(1) ? b_.getI8Type() : element;
    int64_t elements = narrow.elements(), scratch = op->getAttrOfType<IntegerAttr>("scratch").getInt();
    Value base = LLVM::GEPOp::create(b_, shared_.getType(), b_.getI8Type(), shared_,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(scratch)});
    auto address = [&](Value thread, uint32_t part) -> Value {
      Value position = arith::AddIOp::create(b_, thread, i32(part));
      return LLVM::GEPOp::create(b_, base.getType(), stored, base, ArrayRef<LLVM::GEPArg>{position});
    };
    Layout partial = from; // the warps along the dimension say which partial result is whose
    for (uint32_t &basis : partial.warp)
      basis = partialOf(from, mask, basis) * elements;
    partial.lane.assign(from.lane.size(), 0);
    Value mine = threadPart(partial, [](uint32_t basis) { return basis; });
    Value element0 = threadPart(to, [](uint32_t basis) { return basis; });
    mine = arith::AddIOp::create(b_, mine, element0);
    if (op->getParentOfType<scf::ForOp>())
      barrier(); // others may still read what the step before left here
    for (unsigned r = 0; r < to.registers(); ++r) {
      Value value = element == stored ? results[r] : arith::ExtUIOp::create(b_, stored, results[r]).getResult();
      LLVM::StoreOp::create(b_, value, address(mine, to.element(r)));
    }
    barrier();
    for (unsigned r = 0; r < to.registers(); ++r) {
      Value total;
      for (unsigned p = 0; p < partials; ++p) {
        Value value = LLVM::LoadOp::create(b_, stored, address(element0, p * elements + to.element(r)));
        if (element != stored)
          value = arith::TruncIOp::create(b_, element, value);
        total = total ? combine(op.getKind(), total, value) : value;
      }
      results[r] = total;
    }
  }
  map(op.getResult(), results);
}
