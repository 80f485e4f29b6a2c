// SPDX-License-Identifier: Apache-2.0
// Global memory: each thread's part of a load or store, in accesses as wide as alignment, neighbourhood and bounds
// allow.
//
// Registers that differ in the low bits of one dimension form a chunk. If a whole chunk is always live or dead
// together, one wide access does it: a dead load reads a constant that holds the fill value, a dead store is branched
// around. If the bounds may cut a chunk, the block decides once for the whole tile: wide accesses without masks if all
// of it is live, else single elements.
#include "backend/gpu/AccessContext.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

//===- Chunks -----------------------------------------------------------------------------------------------------===//

/// Bits of the register number that walk along `dim` from one element to the next.
static SmallVector<unsigned> neighbourBits(const Layout &layout, const TileShape &shape, unsigned dim) {
  SmallVector<unsigned> bits;
  while (bits.size() < shape.bits(dim)) {
    auto *found = llvm::find(layout.reg, shape.basis(dim, bits.size()));
    if (found == layout.reg.end())
      break;
    bits.push_back(found - layout.reg.begin());
  }
  return bits;
}

KernelDistributor::Chunks KernelDistributor::chooseChunks(const Access &access, const Layout &layout, bool mayAssume) {
  TileShape shape(access.tile.getShape());
  Chunks best;
  best.dim = shape.rank() - 1;
  for (unsigned d = 0; d < shape.rank(); ++d) {
    SmallVector<unsigned> bits = neighbourBits(layout, shape, d);
    int64_t limit = std::min<int64_t>(1 << bits.size(), 16 / elementBytes(access.tile.getElementType()));
    for (SymbolSet aligned : {SymbolSet(0), mayAssume ? allSymbols : SymbolSet(0)}) {
      int64_t vector = vectorWidth(access, d, limit, aligned);
      bool isWidest = vector * elementBytes(access.tile.getElementType()) == 16;
      if (vector <= best.vector || (aligned && !isWidest)) // a check of alignment pays only for 16 bytes
        continue;
      for (unsigned i = 0; aligned && i < 64; ++i) // keep only the symbols that matter
        if (vectorWidth(access, d, vector, aligned & ~(SymbolSet(1) << i)) == vector)
          aligned &= ~(SymbolSet(1) << i);
      best = {d, vector, aligned, SmallVector<unsigned>(ArrayRef(bits).take_front(llvm::Log2_64(vector)))};
    }
  }
  return best;
}

//===- Index types and masks --------------------------------------------------------------------------------------===//

KernelDistributor::AccessContext::AccessContext(KernelDistributor &d, const Access &access, const Layout &layout,
                                                const Chunks &chunks)
    : d(d), access(access), layout(layout), chunks(chunks), shape(access.tile.getShape()),
      facts(dimensionFacts(access, chunks.dim, chunks.vector)), knownSymbols(symbolFacts(d.kernel_)) {
  chooseType();
  symbols = d.symbols(type);
  IndexEmitter emitter(d.b_, type, {}, symbols, {}, knownSymbols);
  for (unsigned i = 0; i < shape.rank(); ++i) {
    Value thread = d.threadPart(layout, [&](uint32_t basis) { return shape.coordinate(basis, i); });
    Value offset = arith::IndexCastOp::create(d.b_, type, d.scalar(access.offsets[i]));
    first.push_back(arith::AddIOp::create(d.b_, offset, widen(thread)));
    threads.push_back(thread);
    remaining.push_back(remainingFrom(offset, emitter.emit(access.bounds.getResult(i))));
  }
  for (AffineExpr size : access.buffer.getType().getSizes().getResults())
    sizes.push_back(emitter.emit(size));
  if (chunks.vector == 1)
    walked = walkedDimension();
  chooseRecomputed();
}

std::optional<unsigned> KernelDistributor::AccessContext::walkedDimension() const {
  auto loop = dyn_cast<scf::ForOp>(access.op->getParentOp());
  auto schedule = d.kernel_.getScheduleAttr();
  if (!loop || !schedule || schedule.getRoot() != graph::RootKind::RowReduction)
    return std::nullopt;
  for (unsigned i = 0; i < shape.rank(); ++i)
    if (access.offsets[i] == loop.getInductionVar() && !isAlwaysLive(access, i))
      return i;
  return std::nullopt;
}

unsigned KernelDistributor::AccessContext::maskedBits(unsigned dim) const {
  if (isAlwaysLive(access, dim))
    return 0;
  return llvm::count_if(layout.reg, [&](uint32_t basis) { return shape.coordinate(basis, dim) != 0; });
}

bool KernelDistributor::AccessContext::hasPredicates() const {
  auto schedule = d.kernel_.getScheduleAttr();
  return d.target_.predicatesLoads() && !d.contracts_ && !isConstant(access.buffer) &&
         !(schedule && schedule.getUnrolled()) &&
         llvm::any_of(llvm::seq(shape.rank()), [&](unsigned dim) { return maskedBits(dim) > 0; });
}

void KernelDistributor::AccessContext::chooseRecomputed() {
  if ((mayCut() ? layout.registers() : starts().size()) <= 8)
    return;
  SmallVector<unsigned> bits;
  for (unsigned i = 0; i < shape.rank(); ++i)
    bits.push_back(maskedBits(i));
  recomputed = llvm::max_element(bits) - bits.begin();
}

/// Chooses 32 bits if no intermediate result of a live element's address can need more, else 64.
void KernelDistributor::AccessContext::chooseType() {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  AffineMap extents = access.buffer.getType().getSizes();
  bool narrow = addressFacts(access, chunks.dim, chunks.vector).within(0, most);
  for (const Facts &fact : ArrayRef(facts).take_front(shape.rank()))
    narrow &= fact.within(-most, most);
  auto fits = [&](AffineExpr expr) { return fitsIn32(expr, facts, knownSymbols); };
  for (AffineExpr expr : access.map.getResults())
    narrow &= access.indices.empty() || !isa<AffineDimExpr>(expr) ? fits(expr) : true;
  narrow &= llvm::all_of(extents.getResults(), fits) && llvm::all_of(access.bounds.getResults(), fits);
  type = narrow && access.indices.empty() ? d.b_.getI32Type() : d.b_.getI64Type();
}

/// max(bound - offset, 0) as i32. Values that 32 bits cannot hold are clamped, which changes nothing because tiles are
/// smaller; so masks are comparisons of 32 bits, whatever the sizes are.
Value KernelDistributor::AccessContext::remainingFrom(Value offset, Value bound) {
  Value rest = arith::MaxSIOp::create(d.b_, arith::SubIOp::create(d.b_, bound, offset), constant(0));
  if (type.isInteger(32))
    return rest;
  rest = arith::MinSIOp::create(d.b_, rest, constant(std::numeric_limits<int32_t>::max()));
  return arith::TruncIOp::create(d.b_, d.b_.getI32Type(), rest);
}

Value KernelDistributor::AccessContext::widen(Value word) {
  return type.isInteger(32) ? word : arith::ExtUIOp::create(d.b_, type, word).getResult();
}

//===- Chunks of this access --------------------------------------------------------------------------------------===//

SmallVector<unsigned> KernelDistributor::AccessContext::starts() const {
  unsigned inChunk = 0;
  for (unsigned bit : chunks.bits)
    inChunk |= 1u << bit;
  SmallVector<unsigned> result;
  for (unsigned r = 0; r < layout.registers(); ++r)
    if (!(r & inChunk))
      result.push_back(r);
  return result;
}

unsigned KernelDistributor::AccessContext::registerAt(unsigned start, unsigned i) const {
  for (auto [position, bit] : llvm::enumerate(chunks.bits))
    if (i >> position & 1)
      start |= 1u << bit;
  return start;
}

bool KernelDistributor::AccessContext::mayCut() const {
  return walked || (chunks.vector > 1 && (chunks.aligned || !isLiveTogether(access, chunks.dim, chunks.vector)));
}

Value KernelDistributor::AccessContext::isWhole() {
  if (walked)
    return isLiveAlong(*walked);
  Value aligned;
  for (auto [i, symbol] : llvm::enumerate(symbols))
    if (i < 64 && chunks.aligned >> i & 1) {
      Value rest = arith::AndIOp::create(d.b_, symbol, constant(chunks.vector - 1));
      aligned = both(aligned, arith::CmpIOp::create(d.b_, arith::CmpIPredicate::eq, rest, constant(0)));
    }
  return isLiveTogether(access, chunks.dim, chunks.vector, chunks.aligned) ? aligned
                                                                           : both(aligned, isLiveAlong(chunks.dim));
}

/// Is all of the tile live along the dimension?
Value KernelDistributor::AccessContext::isLiveAlong(unsigned dim) {
  return arith::CmpIOp::create(d.b_, arith::CmpIPredicate::sge, remaining[dim], d.i32(access.tile.getDimSize(dim)));
}

//===- Addresses --------------------------------------------------------------------------------------------------===//

/// The tile coordinates of register r, then the values of the access' index tiles at r.
SmallVector<Value> KernelDistributor::AccessContext::coordinates(unsigned r) {
  SmallVector<Value> dims;
  uint32_t element = layout.element(r);
  for (unsigned i = 0; i < shape.rank(); ++i) {
    uint32_t step = shape.coordinate(element, i);
    dims.push_back(
        step ? arith::AddIOp::create(d.b_, first[i], constant(step), arith::IntegerOverflowFlags::nsw).getResult()
             : first[i]);
  }
  for (Value index : access.indices) {
    Value value = d.registerOf(index, r);
    unsigned bits = value.getType().getIntOrFloatBitWidth();
    if (bits < 64)
      value = arith::ExtSIOp::create(d.b_, type, value);
    dims.push_back(value);
  }
  return dims;
}

Value KernelDistributor::AccessContext::isInBounds(unsigned r, std::optional<unsigned> except) {
  Value live;
  uint32_t element = layout.element(r);
  for (unsigned i = 0; i < shape.rank(); ++i)
    if (i != except && !isAlwaysLive(access, i)) {
      Value position = arith::AddIOp::create(d.b_, threads[i], d.i32(shape.coordinate(element, i)));
      position = i == recomputed ? d.target_.opaque(d.b_, position) : position;
      live = both(live, arith::CmpIOp::create(d.b_, arith::CmpIPredicate::slt, position, remaining[i]));
    }
  return live;
}

KernelDistributor::AccessContext::Place KernelDistributor::AccessContext::place(unsigned r, bool isWhole) {
  SmallVector<Value> dims = coordinates(r);
  Value live = isInBounds(r, isWhole ? walked : std::nullopt);
  IndexEmitter emitter(d.b_, type, dims, symbols, facts, knownSymbols);
  Value address;
  for (auto [i, expr] : llvm::enumerate(access.map.getResults())) {
    Value coordinate = emitter.emit(expr);
    if (llvm::is_contained(access.guard, static_cast<int64_t>(i)) && !isAlwaysInside(access, i))
      live = both(live, arith::CmpIOp::create(d.b_, arith::CmpIPredicate::ult, coordinate,
                                              sizes[i])); // as unsigned, negative is huge
    address = address
                  ? arith::AddIOp::create(d.b_, arith::MulIOp::create(d.b_, address, sizes[i]), coordinate).getResult()
                  : coordinate;
  }
  return {address ? address : constant(0), live};
}

Value KernelDistributor::AccessContext::pointer(Value offset) {
  Value base = d.scalar(access.buffer);
  return LLVM::GEPOp::create(d.b_, base.getType(), access.buffer.getType().getElementType(), base,
                             ArrayRef<LLVM::GEPArg>{offset}, LLVM::GEPNoWrapFlags::inbounds);
}
