// SPDX-License-Identifier: Apache-2.0
// What each operation of a kernel says about its result, and what an access's map makes of that.
#include "tilegen/place/AccessFacts.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace tilewright::tile {

/// count - 1, the largest of `count` coordinates; nullopt where `count` is not known.
static std::optional<int64_t> lastOf(std::optional<int64_t> count) {
  return count ? std::optional(*count - 1) : std::nullopt;
}

//===- Values -----------------------------------------------------------------------------------------------------===//

SmallVector<Facts> symbolFacts(KernelOp kernel, SymbolSet aligned) {
  Facts size;
  size.low = 0;
  SmallVector<Facts> facts(kernel.getNumSymbols(), size);
  for (auto [i, fact] : llvm::enumerate(facts))
    fact.divisor = i < 64 && aligned >> i & 1 ? 16 : 1;
  return facts;
}

static Facts argumentFacts(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent); loop && argument == loop.getInductionVar())
    return index::inductionOf(factsOf(loop.getLowerBound()), factsOf(loop.getUpperBound()), factsOf(loop.getStep()));
  Facts result;
  if (isa<KernelOp>(parent))
    result.low = 0; // a size
  return result;
}

static Facts programFacts(ProgramIdOp op) {
  auto kernel = op->getParentOfType<KernelOp>();
  Facts result;
  result.low = 0;
  AffineExpr extent = kernel.getGrid().getResult(op.getDim());
  result.high = lastOf(index::factsOf(extent, {}, symbolFacts(kernel)).high);
  if (result.high && *result.high <= 0)
    return Facts::constant(0);
  return result;
}

Facts factsOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argumentFacts(argument);
  auto of = [](Operation *op, auto rule) { return rule(factsOf(op->getOperand(0)), factsOf(op->getOperand(1))); };
  return llvm::TypeSwitch<Operation *, Facts>(value.getDefiningOp())
      .Case([](arith::ConstantIndexOp op) { return Facts::constant(op.value()); })
      .Case([](arith::ConstantOp op) {
        auto integer = dyn_cast<IntegerAttr>(op.getValue());
        return integer ? Facts::constant(integer.getInt()) : Facts();
      })
      .Case([](ProgramIdOp op) { return programFacts(op); })
      .Case([](OrderedProgramOp op) {
        SmallVector<Facts> symbols = symbolFacts(op->getParentOfType<KernelOp>());
        Facts programs = index::factsOf(op.getRows().getResult(0), {}, symbols) *
                         index::factsOf(op.getColumns().getResult(0), {}, symbols);
        return Facts::between(0, lastOf(programs.high));
      })
      .Case([](SizeOp op) {
        SmallVector<Facts> operands;
        for (Value operand : op.getOperands())
          operands.push_back(factsOf(operand));
        return index::factsOf(op.getExpr().getResult(0), operands, symbolFacts(op->getParentOfType<KernelOp>()));
      })
      .Case([&](arith::AddIOp op) { return of(op, std::plus<Facts>()); })
      .Case([&](arith::SubIOp op) { return of(op, std::minus<Facts>()); })
      .Case([&](arith::MulIOp op) { return of(op, std::multiplies<Facts>()); })
      .Case([&](arith::MinSIOp op) { return of(op, index::smaller); })
      .Case([&](arith::MaxSIOp op) { return of(op, index::larger); })
      .Case([&](arith::DivUIOp op) {
        return of(op, [](const Facts &a, const Facts &b) { return index::floorDivide(a, b); });
      })
      .Case(
          [&](arith::RemUIOp op) { return of(op, [](const Facts &a, const Facts &b) { return index::modulo(a, b); }); })
      .Default([](Operation *) { return Facts(); });
}

//===- Accesses ---------------------------------------------------------------------------------------------------===//

Access Access::of(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return {op,
            cast<RankedTensorType>(load.getType()),
            load.getBuffer(),
            load.getOffsets(),
            load.getIndices(),
            load.getBounds(),
            load.getMap(),
            load.getGuard()};
  if (auto copy = dyn_cast<SharedCopyOp>(op))
    return {op,
            copy.getShared().getType().getTile(),
            copy.getBuffer(),
            copy.getOffsets(),
            {},
            copy.getBounds(),
            copy.getMap(),
            copy.getGuard()};
  auto store = cast<StoreOp>(op);
  return {op,
          cast<RankedTensorType>(store.getValue().getType()),
          store.getBuffer(),
          store.getOffsets(),
          {},
          store.getBounds(),
          store.getMap(),
          {}};
}

static Facts boundFacts(const Access &access, unsigned dim, SymbolSet aligned = 0) {
  return index::factsOf(access.bounds.getResult(dim), {}, symbolFacts(access.op->getParentOfType<KernelOp>(), aligned));
}

SmallVector<Facts> dimensionFacts(const Access &access, unsigned dim, int64_t vector) {
  SmallVector<Facts> facts;
  for (auto [d, offset] : llvm::enumerate(access.offsets)) {
    Facts first = factsOf(offset), bound = boundFacts(access, d);
    int64_t size = access.tile.getDimSize(d);
    Facts live = first;
    live.divisor = size == 1 ? first.divisor : d == dim ? std::gcd(first.divisor, vector) : 1;
    live.slope = d == dim ? 1 : 0;
    live.high = (first + Facts::constant(size - 1)).high;
    if (auto last = lastOf(bound.high); last && (!live.high || *last < *live.high))
      live.high = std::max<int64_t>(*last, 0);
    facts.push_back(live);
  }
  for (Value index : access.indices) {
    Facts value;
    value.slope = isUniform(index, dim) ? std::optional<int64_t>(0) : std::nullopt;
    facts.push_back(value);
  }
  return facts;
}

Facts addressFacts(const Access &access, unsigned dim, int64_t vector, SymbolSet aligned) {
  auto symbols = symbolFacts(access.op->getParentOfType<KernelOp>(), aligned);
  auto dims = dimensionFacts(access, dim, vector);
  AffineMap sizes = access.buffer.getType().getSizes();
  Facts address = Facts::constant(0);
  for (unsigned i = 0; i < access.map.getNumResults(); ++i) {
    Facts size = index::factsOf(sizes.getResult(i), {}, symbols),
          coordinate = index::factsOf(access.map.getResult(i), dims, symbols, vector);
    if (auto last = lastOf(size.high)) { // live elements are inside
      coordinate.low = coordinate.low ? std::max<int64_t>(*coordinate.low, 0) : 0;
      coordinate.high = coordinate.high ? std::min(*coordinate.high, *last) : *last;
    }
    address = address * size + coordinate;
  }
  return address;
}

bool isContiguous(const Access &access, unsigned dim) {
  return access.tile.getDimSize(dim) > 1 && addressFacts(access, dim, 2).slope == 1;
}

bool hasRows(const Access &access, unsigned dim, int64_t length) {
  return length > 1 && length <= access.tile.getDimSize(dim) && factsOf(access.offsets[dim]).divisor % length == 0 &&
         addressFacts(access, dim, length).slope == 1;
}

/// Are a vector's elements all inside of the buffer in guarded dimension `g`, or all outside? They are if they have the
/// same coordinate, or if coordinates increase by 1 from a multiple of `vector` and the size is a multiple too.
static bool isInsideTogether(const Access &access, int64_t g, ArrayRef<Facts> dims, ArrayRef<Facts> symbols,
                             int64_t vector) {
  Facts coordinate = index::factsOf(access.map.getResult(g), dims, symbols, vector);
  if (coordinate.slope == 0)
    return true;
  Facts size = index::factsOf(access.buffer.getType().getSizes().getResult(g), {}, symbols);
  return coordinate.slope == 1 && coordinate.divisor % vector == 0 && size.divisor % vector == 0;
}

int64_t vectorWidth(const Access &access, unsigned dim, int64_t limit, SymbolSet aligned) {
  auto symbols = symbolFacts(access.op->getParentOfType<KernelOp>(), aligned);
  for (int64_t vector = std::min(limit, access.tile.getDimSize(dim)); vector > 1; vector /= 2) {
    if (factsOf(access.offsets[dim]).divisor % vector)
      continue;
    Facts address = addressFacts(access, dim, vector, aligned);
    if (address.slope != 1 || address.divisor % vector)
      continue;
    auto dims = dimensionFacts(access, dim, vector);
    if (llvm::all_of(access.guard, [&](int64_t g) {
          return isAlwaysInside(access, g) || isInsideTogether(access, g, dims, symbols, vector);
        }))
      return vector;
  }
  return 1;
}

bool isLiveTogether(const Access &access, unsigned dim, int64_t vector, SymbolSet aligned) {
  return isAlwaysLive(access, dim) || boundFacts(access, dim, aligned).divisor % vector == 0;
}

bool isAlwaysLive(const Access &access, unsigned dim) {
  Facts offset = factsOf(access.offsets[dim]), bound = boundFacts(access, dim);
  return offset.high && bound.low && *offset.high + access.tile.getDimSize(dim) <= *bound.low;
}

bool isAlwaysInside(const Access &access, unsigned coordinate) {
  auto symbols = symbolFacts(access.op->getParentOfType<KernelOp>());
  auto dims = dimensionFacts(access, 0, 1);
  Facts value = index::factsOf(access.map.getResult(coordinate), dims, symbols);
  Facts size = index::factsOf(access.buffer.getType().getSizes().getResult(coordinate), {}, symbols);
  return size.low && value.within(0, *size.low - 1);
}

bool isUniform(Value tile, unsigned dim) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getDimSize(dim) == 1)
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return isUniform(broadcast.getInput(), dim);
  if (auto load = dyn_cast<LoadOp>(op))
    return isAlwaysLive(Access::of(op), dim) && !load.getMap().isFunctionOfDim(dim) &&
           llvm::all_of(load.getIndices(), [&](Value index) { return isUniform(index, dim); });
  if (auto coordinate = dyn_cast<CoordinateOp>(op))
    return coordinate.getDim() != dim;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto check = dyn_cast<CheckOp>(op))
    return isUniform(check.getIndex(), dim);
  if (isPure(op) && op->hasTrait<OpTrait::Elementwise>())
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isa<RankedTensorType>(operand.getType()) || isUniform(operand, dim);
    });
  return false;
}

} // namespace tilewright::tile
