// SPDX-License-Identifier: Apache-2.0
// Global memory but for loads and stores: sizes, fill values, checks of indices, copies to shared memory.
#include "backend/gpu/AccessContext.h"
#include "runtime/plan/KernelAbi.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

//===- What accesses need -----------------------------------------------------------------------------------------===//

SmallVector<Value> KernelDistributor::symbols(IntegerType type) {
  SmallVector<Value> values;
  for (unsigned i = 0; i < kernel_.getNumSymbols(); ++i)
    values.push_back(arith::IndexCastOp::create(b_, type, scalar(kernel_.getSymbol(i))));
  return values;
}

static llvm::APInt fillBits(Type element, Attribute fill) {
  if (auto number = dyn_cast_or_null<FloatAttr>(fill))
    return number.getValue().bitcastToAPInt();
  if (auto number = dyn_cast_or_null<IntegerAttr>(fill))
    return number.getValue().zextOrTrunc(element.getIntOrFloatBitWidth());
  return llvm::APInt(element.getIntOrFloatBitWidth(), 0);
}

/// The value of an element that is not live.
Value KernelDistributor::fillValue(Type element, Attribute fill) {
  llvm::APInt bits = fillBits(element, fill);
  if (auto type = dyn_cast<FloatType>(element))
    return arith::ConstantOp::create(b_, b_.getFloatAttr(type, llvm::APFloat(type.getFloatSemantics(), bits)));
  return arith::ConstantOp::create(b_, b_.getIntegerAttr(element, bits));
}

/// Sixteen bytes of the fill value in constant memory, which dead loads read.
Value KernelDistributor::fillAddress(Type element, Attribute fill) {
  llvm::APInt bits = fillBits(element, fill);
  llvm::SmallString<16> hex;
  bits.toString(hex, 16, /*Signed=*/false);
  std::string name = ("fill_" + Twine(bits.getBitWidth()) + "_" + hex).str();
  auto global = output_.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(output_.getBody());
    auto type = VectorType::get(16 / elementBytes(element), b_.getIntegerType(bits.getBitWidth()));
    global = LLVM::GlobalOp::create(b_, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                    DenseElementsAttr::get(type, bits),
                                    /*alignment=*/16, globalSpace);
  }
  return LLVM::AddressOfOp::create(b_, global);
}

/// Whether this thread stores: of the threads that hold the same elements, one does. Null if no two threads hold the
/// same.
Value KernelDistributor::isOwner(const Layout &layout) {
  auto repeated = [&](Value source, ArrayRef<uint32_t> bases) -> Value {
    uint32_t mask = 0;
    for (auto [i, basis] : llvm::enumerate(bases))
      if (!basis)
        mask |= 1u << i;
    return mask ? arith::AndIOp::create(b_, source, i32(mask)).getResult() : Value();
  };
  Value lane = repeated(lane_, layout.lane), warp = repeated(warp_, layout.warp);
  if (!lane && !warp)
    return {};
  Value any = lane && warp ? arith::OrIOp::create(b_, lane, warp).getResult() : lane ? lane : warp;
  return arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, any, i32(0));
}

//===- Checks -----------------------------------------------------------------------------------------------------===//

/// A thread compares all of its indices first, and writes the error word at most once.
void KernelDistributor::lowerCheck(CheckOp op) {
  auto tile = cast<RankedTensorType>(op.getType());
  auto element = cast<IntegerType>(tile.getElementType());
  TileShape shape(tile.getShape());
  Layout layout = layoutOf(tile);
  IntegerType i64 = b_.getI64Type();
  SmallVector<Value> sizes = symbols(i64);
  auto known = symbolFacts(kernel_);
  IndexEmitter emitter(b_, i64, {}, sizes, {}, known);
  auto resize = [&](Value value, IntegerType type) -> Value {
    unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getWidth();
    return from == to  ? value
           : from < to ? arith::ExtSIOp::create(b_, type, value).getResult()
                       : arith::TruncIOp::create(b_, type, value).getResult();
  };
  Value size = emitter.emit(op.getSize().getResult(0)), zero = emitter.constant(0);
  Value last = arith::MaxSIOp::create(b_, arith::SubIOp::create(b_, size, emitter.constant(1)), zero);
  SmallVector<Value> first, bounds;
  for (unsigned d = 0; d < shape.rank(); ++d) {
    Value thread =
        arith::ExtUIOp::create(b_, i64, threadPart(layout, [&](uint32_t basis) { return shape.coordinate(basis, d); }));
    first.push_back(arith::AddIOp::create(b_, arith::IndexCastOp::create(b_, i64, scalar(op.getOffsets()[d])), thread));
    bounds.push_back(emitter.emit(op.getBounds().getResult(d)));
  }
  Value anyBad;
  Registers results;
  for (auto [r, index] : llvm::enumerate(registersOf(op.getIndex()))) {
    Value value = resize(index, i64), bad = arith::CmpIOp::create(b_, arith::CmpIPredicate::uge, value, size);
    for (unsigned d = 0; d < shape.rank(); ++d) {
      Value coordinate = arith::AddIOp::create(b_, first[d], emitter.constant(shape.coordinate(layout.element(r), d)));
      bad = arith::AndIOp::create(b_, bad, arith::CmpIOp::create(b_, arith::CmpIPredicate::slt, coordinate, bounds[d]));
    }
    anyBad = anyBad ? arith::OrIOp::create(b_, anyBad, bad).getResult() : bad;
    results.push_back(resize(arith::MinSIOp::create(b_, arith::MaxSIOp::create(b_, value, zero), last), element));
  }
  auto report = scf::IfOp::create(b_, anyBad, /*withElse=*/false);
  {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(report.thenBlock());
    Value word = emitter.constant(errorWordOf(Fault::IndexOutOfRange, op.getSite()));
    // A plain atomic store, not a compare-and-swap: the word may be in host memory, where that is not allowed, and it
    // does not matter which of several faults is reported (docs/decisions.md, "A fault is stored, not exchanged").
    LLVM::StoreOp::create(b_, word, errorWord_, /*alignment=*/8, /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
  }
  map(op.getResult(), results);
}

//===- Copies to shared memory ------------------------------------------------------------------------------------===//

/// Every chunk has 4 to 16 bytes and is live or dead as a whole: tilegen/place makes copies only of such loads
/// (copiesWell).
void KernelDistributor::lowerCopy(SharedCopyOp op) {
  Access access = Access::of(op);
  Layout layout = toLayout(op.getLayout());
  AccessContext context(*this, access, layout, chooseChunks(access, layout, /*mayAssume=*/false));
  SharedLayout shared = sharedLayout(op.getShared().getType());
  Type element = access.tile.getElementType();
  int64_t bytes = context.chunks.vector * elementBytes(element);
  Value base = slotAddress(op.getShared(), op.getSlot());
  Value thread = threadPart(layout, [&](uint32_t basis) { return shared.address(basis); });
  Value fill = fillAddress(element, {});
  for (unsigned start : context.starts()) {
    auto [offset, live] = context.place(start);
    Value position = arith::XOrIOp::create(b_, thread, i32(shared.address(layout.element(start))));
    Value to = LLVM::GEPOp::create(b_, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{position});
    Value from = context.pointer(offset), count;
    if (live) {
      from = arith::SelectOp::create(b_, live, from, fill);
      count = arith::SelectOp::create(b_, live, i32(bytes), i32(0));
    }
    target_.copy(b_, to, from, bytes, count, isStreamed(op.getBuffer()));
  }
}
