// Global memory: each thread's part of a load or store, in accesses as wide as alignment, neighbourhood and bounds
// allow.
//
// Registers that differ in the low bits of one dimension form a chunk. Is the whole chunk live or dead? Then one wide
// access does it: a dead load reads a constant that holds the fill value, a dead store is branched around. If a chunk
// may be cut by the bounds, the block decides once for the whole tile: wide accesses without masks if all of it is
// live, else single elements.
#include "backend/gpu/KernelDistributor.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "runtime/plan/KernelAbi.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

static int64_t elementBytes(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }

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
      if (vector <= best.vector ||
          (aligned && vector * elementBytes(access.tile.getElementType()) < 16)) // two versions pay for the widest only
        continue;
      for (unsigned i = 0; aligned && i < 64; ++i) // only the symbols that matter
        if (vectorWidth(access, d, vector, aligned & ~(SymbolSet(1) << i)) == vector)
          aligned &= ~(SymbolSet(1) << i);
      best = {d, vector, aligned, SmallVector<unsigned>(ArrayRef(bits).take_front(llvm::Log2_64(vector)))};
    }
  }
  return best;
}

//===- Addresses --------------------------------------------------------------------------------------------------===//

/// An access with what its chunks share: index type, coordinates of this thread's first element, bounds, sizes.
struct KernelDistributor::AccessContext {
  KernelDistributor &d;
  Access access;
  Layout layout;
  Chunks chunks;
  TileShape shape;
  SmallVector<Facts> facts, knownSymbols;
  IntegerType type;
  SmallVector<Value> first, sizes, symbols;
  SmallVector<Value> threads,
      remaining; // i32: this thread's position in the tile, and how many positions are live, in each dimension
  /// Of many masks, those of this dimension are computed each time, not kept: some targets have few registers for them.
  std::optional<unsigned> forgotten;

  AccessContext(KernelDistributor &d, const Access &access, const Layout &layout, Chunks chunks)
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
    chooseForgotten();
  }

  void chooseForgotten() {
    if ((mayCut() ? layout.registers() : starts().size()) <= 8)
      return;
    SmallVector<unsigned> bits(shape.rank(), 0);
    for (unsigned i = 0; i < shape.rank(); ++i)
      if (!isAlwaysLive(access, i))
        bits[i] = llvm::count_if(layout.reg, [&](uint32_t basis) { return shape.coordinate(basis, i) != 0; });
    forgotten = llvm::max_element(bits) - bits.begin();
  }

  /// 32 bits if nothing on the way to a live element's address can need more.
  void chooseType() {
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

  /// max(bound - offset, 0), cut off where 32 bits end: tiles are smaller. So masks are 32-bit comparisons, whatever
  /// the sizes are.
  Value remainingFrom(Value offset, Value bound) {
    Value rest = arith::MaxSIOp::create(d.b_, arith::SubIOp::create(d.b_, bound, offset), constant(0));
    if (type.isInteger(32))
      return rest;
    rest = arith::MinSIOp::create(d.b_, rest, constant(std::numeric_limits<int32_t>::max()));
    return arith::TruncIOp::create(d.b_, d.b_.getI32Type(), rest);
  }

  Value widen(Value word) { return type.isInteger(32) ? word : arith::ExtUIOp::create(d.b_, type, word).getResult(); }
  Value constant(int64_t value) { return arith::ConstantOp::create(d.b_, d.b_.getIntegerAttr(type, value)); }
  int64_t elementBytes() const { return ::elementBytes(access.tile.getElementType()); }

  /// Registers at which chunks begin, and the register of their i-th element.
  SmallVector<unsigned> starts() const {
    unsigned inChunk = 0;
    for (unsigned bit : chunks.bits)
      inChunk |= 1u << bit;
    SmallVector<unsigned> result;
    for (unsigned r = 0; r < layout.registers(); ++r)
      if (!(r & inChunk))
        result.push_back(r);
    return result;
  }
  unsigned registerAt(unsigned start, unsigned i) const {
    for (auto [position, bit] : llvm::enumerate(chunks.bits))
      if (i >> position & 1)
        start |= 1u << bit;
    return start;
  }

  /// The coordinates of register r, then its index operands.
  SmallVector<Value> coordinates(unsigned r) {
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

  Value both(Value a, Value b) { return !a ? b : !b ? a : arith::AndIOp::create(d.b_, a, b).getResult(); }

  struct Place {
    Value address; // element offset
    Value live;    // null: always
  };
  Place place(unsigned r) {
    SmallVector<Value> dims = coordinates(r);
    Value live = isInBounds(r);
    IndexEmitter emitter(d.b_, type, dims, symbols, facts, knownSymbols);
    Value address;
    for (auto [i, expr] : llvm::enumerate(access.map.getResults())) {
      Value coordinate = emitter.emit(expr);
      if (llvm::is_contained(access.guard, static_cast<int64_t>(i)) && !isAlwaysInside(access, i))
        live = both(live, arith::CmpIOp::create(d.b_, arith::CmpIPredicate::ult, coordinate,
                                                sizes[i])); // as unsigned, negative is huge
      address =
          address ? arith::AddIOp::create(d.b_, arith::MulIOp::create(d.b_, address, sizes[i]), coordinate).getResult()
                  : coordinate;
    }
    return {address ? address : constant(0), live};
  }
  Value isInBounds(unsigned r) {
    Value live;
    uint32_t element = layout.element(r);
    for (unsigned i = 0; i < shape.rank(); ++i)
      if (!isAlwaysLive(access, i)) {
        Value position = arith::AddIOp::create(d.b_, threads[i], d.i32(shape.coordinate(element, i)));
        position = i == forgotten ? d.target_.opaque(d.b_, position) : position;
        live = both(live, arith::CmpIOp::create(d.b_, arith::CmpIPredicate::slt, position, remaining[i]));
      }
    return live;
  }

  /// May the bounds cut a chunk, or sizes be no multiples of what the chunks assume?
  bool mayCut() const {
    return chunks.vector > 1 && (chunks.aligned || !isLiveTogether(access, chunks.dim, chunks.vector));
  }
  /// Are the chunks as they should be? The same for the whole block.
  Value isWhole() {
    Value aligned;
    for (auto [i, symbol] : llvm::enumerate(symbols))
      if (i < 64 && chunks.aligned >> i & 1) {
        Value rest = arith::AndIOp::create(d.b_, symbol, constant(chunks.vector - 1));
        aligned = both(aligned, arith::CmpIOp::create(d.b_, arith::CmpIPredicate::eq, rest, constant(0)));
      }
    return isLiveTogether(access, chunks.dim, chunks.vector, chunks.aligned) ? aligned : both(aligned, tileIsLive());
  }
  /// Is all of the tile live along the chunks' dimension?
  Value tileIsLive() {
    return arith::CmpIOp::create(d.b_, arith::CmpIPredicate::sge, remaining[chunks.dim],
                                 d.i32(access.tile.getDimSize(chunks.dim)));
  }

  Value pointer(Value offset) {
    Value base = d.scalar(access.buffer);
    return LLVM::GEPOp::create(d.b_, base.getType(), access.buffer.getType().getElementType(), base,
                               ArrayRef<LLVM::GEPArg>{offset}, LLVM::GEPNoWrapFlags::inbounds);
  }
};

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

/// What a dead element of memory is taken for.
Value KernelDistributor::fillValue(Type element, Attribute fill) {
  llvm::APInt bits = fillBits(element, fill);
  if (auto type = dyn_cast<FloatType>(element))
    return arith::ConstantOp::create(b_, b_.getFloatAttr(type, llvm::APFloat(type.getFloatSemantics(), bits)));
  return arith::ConstantOp::create(b_, b_.getIntegerAttr(element, bits));
}

/// Sixteen bytes of the fill value in constant memory: what dead loads read.
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

/// Is this thread the one that stores what several hold? Null if none shares its elements.
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

//===- Loads ------------------------------------------------------------------------------------------------------===//

namespace {
/// Builds the two versions of an access that the bounds may cut: `wide` if the tile is whole, else `narrow`.
template <typename Wide, typename Narrow>
ValueRange eitherWay(ImplicitLocOpBuilder &b, Value whole, TypeRange types, Wide wide, Narrow narrow) {
  auto branch = scf::IfOp::create(b, types, whole, /*withElse=*/true);
  auto fill = [&](Block *block, auto build) {
    OpBuilder::InsertionGuard guard(b);
    if (!block->empty())
      block->getTerminator()->erase();
    b.setInsertionPointToEnd(block);
    Registers results = build();
    scf::YieldOp::create(b, results);
  };
  fill(branch.thenBlock(), wide);
  fill(branch.elseBlock(), narrow);
  return branch.getResults();
}
} // namespace

/// A load with its chunks, of which some may be done.
struct KernelDistributor::PendingLoad {
  LoadOp op;
  SmallVector<LaneExchange> exchanges;
  AccessContext context;
  SmallVector<unsigned> starts;
  Value whole, fill; // where chunks may be cut: is the tile whole? what dead chunks read

  Type stored() { return op.getBuffer().getType().getElementType(); }
  Type type(int64_t count) { return count == 1 ? stored() : VectorType::get(count, stored()); }
};

/// `count` elements from register `r` on. Where branches become predicates, single elements are branched around: of
/// many, an address each would not fit in registers, while predicated ones share one.
Value KernelDistributor::loadAt(PendingLoad &load, unsigned r, int64_t count) {
  auto [offset, live] = load.context.place(r);
  auto loadFrom = [&](Value pointer) {
    return LLVM::LoadOp::create(b_, load.type(count), pointer, count * elementBytes(load.stored()));
  };
  if (!live)
    return loadFrom(load.context.pointer(offset));
  if (count > 1 || !target_.predicatesLoads())
    return loadFrom(arith::SelectOp::create(b_, live, load.context.pointer(offset), load.fill));
  Value dead = fillValue(load.stored(), load.op.getFillAttr());
  return eitherWay(
             b_, live, load.stored(), [&] { return Registers{loadFrom(load.context.pointer(offset))}; },
             [&] { return Registers{dead}; })
      .front();
}

/// Does chunks `first` to `last` of the load.
void KernelDistributor::loadChunks(PendingLoad &load, size_t first, size_t last) {
  AccessContext &context = load.context;
  int64_t width = context.chunks.vector;
  auto starts = ArrayRef(load.starts).slice(first, last - first);
  auto wide = [&] {
    Registers chunks;
    for (unsigned start : starts)
      chunks.push_back(loadAt(load, start, width));
    return chunks;
  };
  auto narrow = [&] {
    Registers chunks;
    for (unsigned start : starts) {
      Registers elements;
      for (int64_t i = 0; i < width; ++i)
        elements.push_back(loadAt(load, context.registerAt(start, i), 1));
      chunks.push_back(vector::FromElementsOp::create(b_, cast<VectorType>(load.type(width)), elements));
    }
    return chunks;
  };
  Registers chunks =
      load.whole
          ? Registers(eitherWay(b_, load.whole, SmallVector<Type>(starts.size(), load.type(width)), wide, narrow))
          : wide();
  bool isBool = context.access.tile.getElementType().isInteger(1) && !load.stored().isInteger(1);
  Registers &registers = registers_[load.op.getResult()];
  for (auto [start, chunk] : llvm::zip(starts, chunks)) {
    Registers elements;
    for (int64_t i = 0; i < width; ++i) {
      Value element = width == 1 ? chunk : vector::ExtractOp::create(b_, chunk, i).getResult();
      if (isBool)
        element = arith::CmpIOp::create(b_, arith::CmpIPredicate::ne, element,
                                        arith::ConstantOp::create(b_, b_.getIntegerAttr(load.stored(), 0)));
      elements.push_back(element);
    }
    exchangeLanes(load.exchanges, context.chunks.bits, elements);
    for (int64_t i = 0; i < width; ++i)
      registers[context.registerAt(start, i)] = elements[i];
  }
}

/// Does the batch of chunks in which register `r` is.
void KernelDistributor::loadBatch(PendingLoad &load, unsigned r) {
  // In flight together; more would not fit beside the accumulators, or, where lanes exchange, beside both ends of that.
  const size_t batch = load.exchanges.empty() ? 16 : 8;
  for (unsigned bit : load.context.chunks.bits)
    r &= ~(1u << bit);
  size_t position = llvm::find(load.starts, r) - load.starts.begin();
  loadChunks(load, position / batch * batch, std::min(load.starts.size(), position / batch * batch + batch));
}

/// Epilogues of contractions load in batches, when their store asks for it; else everything is loaded at once, to have
/// as much in flight as can be. With a second store the batches after the first one might read what it wrote, in place.
void KernelDistributor::lowerLoad(LoadOp op) {
  Access access = Access::of(op);
  Layout layout = layoutOf(op.getType());
  SmallVector<LaneExchange> exchanges = widenByLanes(access, layout);
  auto load = std::make_shared<PendingLoad>(
      PendingLoad{op, exchanges, AccessContext(*this, access, layout, chooseChunks(access, layout)), {}, {}, {}});
  load->starts = load->context.starts();
  if (load->context.chunks.vector > 1 || !target_.predicatesLoads())
    load->fill = fillAddress(load->stored(), op.getFillAttr());
  if (load->context.mayCut()) {
    load->whole = load->context.isWhole();
    for (Value index : access.indices)
      registersOf(index); // before the branches
  }
  map(op.getResult(), Registers(layout.registers()));
  if (!hasEpilogue_ || op->getParentOp() != kernel_)
    return loadChunks(*load, 0, load->starts.size());
  loads_[op.getResult()] = load;
  waiting_.push_back(op.getResult());
}

//===- Stores -----------------------------------------------------------------------------------------------------===//

void KernelDistributor::lowerStore(StoreOp op) {
  Access access = Access::of(op);
  Layout layout = layoutOf(op.getValue().getType());
  SmallVector<LaneExchange> exchanges = widenByLanes(access, layout);
  AccessContext context(*this, access, layout, chooseChunks(access, layout));
  Type stored = op.getBuffer().getType().getElementType();
  Value owner = isOwner(layout);
  if (owner || (context.mayCut() && !hasEpilogue_))
    registersOf(op.getValue()); // before the branches
  auto valueOf = [&](unsigned r) {
    Value value = registerOf(op.getValue(), r);
    return value.getType() == stored ? value : arith::ExtUIOp::create(b_, stored, value).getResult(); // bool
  };
  auto when = [&](Value condition, auto build) {
    if (!condition)
      return build();
    auto branch = scf::IfOp::create(b_, condition, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    build();
  };
  auto store = [&](unsigned r, Value value, int64_t count) {
    auto [offset, live] = context.place(r);
    when(faults_.dropMasks ? Value() : live,
         [&] { LLVM::StoreOp::create(b_, value, context.pointer(offset), count * elementBytes(stored)); });
  };
  int64_t width = context.chunks.vector;
  auto chunkAt = [&](unsigned start) {
    Registers elements;
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(valueOf(context.registerAt(start, i)));
    exchangeLanes(exchanges, context.chunks.bits, elements);
    return elements;
  };
  auto wide = [&] {
    for (unsigned start : context.starts()) {
      Registers elements = chunkAt(start);
      store(start,
            width == 1 ? elements[0]
                       : vector::FromElementsOp::create(b_, VectorType::get(width, stored), elements).getResult(),
            width);
    }
    return Registers();
  };
  auto narrow = [&] {
    for (unsigned start : context.starts())
      for (auto [i, element] : llvm::enumerate(chunkAt(start)))
        store(context.registerAt(start, i), element, 1);
    return Registers();
  };
  // Behind a contraction each version computes what it stores, chunk by chunk: all of it at once would not fit beside
  // the accumulators.
  auto apart = [&](auto version) {
    return [this, version] {
      auto known = registers_;
      Registers none = version();
      registers_ = std::move(known);
      return none;
    };
  };
  when(owner, [&] {
    if (context.mayCut())
      eitherWay(b_, context.isWhole(), {}, apart(wide), apart(narrow));
    else
      wide();
  });
}

//===- Checks -----------------------------------------------------------------------------------------------------===//

/// One compare-and-swap for each thread that saw a bad index, after looking at all of its own.
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
    LLVM::AtomicCmpXchgOp::create(b_, errorWord_, zero, word, LLVM::AtomicOrdering::monotonic,
                                  LLVM::AtomicOrdering::monotonic);
  }
  map(op.getResult(), results);
}

//===- Copies to shared memory ------------------------------------------------------------------------------------===//

/// Chunks of 4 to 16 bytes that are live as a whole: see copiesWell in tilegen/place.
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
    target_.copy(b_, to, from, bytes, count);
  }
}
