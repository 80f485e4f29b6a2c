// Rules by which divisors, ranges and slopes pass through index arithmetic.
#include "tilegen/place/AccessFacts.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace tilewright::tile;

//===- Arithmetic on facts ----------------------------------------------------------------------------------------===//

static std::optional<int64_t> add(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t sum;
  return a && b && !__builtin_add_overflow(*a, *b, &sum) ? std::optional(sum) : std::nullopt;
}

static std::optional<int64_t> multiply(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t product;
  return a && b && !__builtin_mul_overflow(*a, *b, &product) ? std::optional(product) : std::nullopt;
}

Facts Facts::constant(int64_t value) { return {value < 0 ? -value : value, value, value, 0}; }

Facts tilewright::tile::operator+(const Facts &a, const Facts &b) {
  return {std::gcd(a.divisor, b.divisor), add(a.low, b.low), add(a.high, b.high), add(a.slope, b.slope)};
}

Facts tilewright::tile::operator*(const Facts &a, const Facts &b) {
  Facts result;
  result.divisor = multiply(a.divisor, b.divisor).value_or(1);
  if (a.slope == 0 && b.slope == 0)
    result.slope = 0;
  else if (b.low && b.low == b.high)
    result.slope = multiply(a.slope, b.low);
  else if (a.low && a.low == a.high)
    result.slope = multiply(b.slope, a.low);
  else
    result.slope = std::nullopt;
  std::optional<int64_t> corners[] = {multiply(a.low, b.low), multiply(a.low, b.high), multiply(a.high, b.low),
                                      multiply(a.high, b.high)};
  if (llvm::all_of(corners, [](auto &corner) { return corner.has_value(); })) {
    auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
    result.low = *low, result.high = *high;
  } else if (a.low && b.low && *a.low >= 0 && *b.low >= 0) {
    result.low = multiply(a.low, b.low);
  }
  return result;
}

/// Can x not cross a multiple of c within the vector?
static bool staysInPeriod(const Facts &x, int64_t c, int64_t vector) {
  if (!x.slope || *x.slope < 0)
    return false;
  return *x.slope == 0 || *x.slope * (vector - 1) < std::gcd(x.divisor, c);
}

static Facts floorDivide(const Facts &x, int64_t c, int64_t vector) {
  Facts result;
  result.divisor = x.divisor % c == 0 ? x.divisor / c : 1;
  if (x.low)
    result.low = llvm::divideFloorSigned(*x.low, c);
  if (x.high)
    result.high = llvm::divideFloorSigned(*x.high, c);
  result.slope = staysInPeriod(x, c, vector) ? std::optional<int64_t>(0) : std::nullopt;
  return result;
}

static Facts modulo(const Facts &x, int64_t c, int64_t vector) {
  if (x.within(0, c - 1))
    return x;
  return {std::gcd(x.divisor, c), 0, c - 1, staysInPeriod(x, c, vector) ? x.slope : std::nullopt};
}

Facts tilewright::tile::factsOf(AffineExpr expr, ArrayRef<Facts> dims, ArrayRef<Facts> symbols, int64_t vector) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Facts::constant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Facts lhs = factsOf(binary.getLHS(), dims, symbols, vector), rhs = factsOf(binary.getRHS(), dims, symbols, vector);
  bool fixed = rhs.low && rhs.low == rhs.high && *rhs.low > 0;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    if (fixed)
      return floorDivide(lhs, *rhs.low, vector);
    break;
  case AffineExprKind::CeilDiv:
    if (fixed)
      return floorDivide(lhs + Facts::constant(*rhs.low - 1), *rhs.low, vector);
    break;
  default:
    if (fixed)
      return modulo(lhs, *rhs.low, vector);
    break;
  }
  Facts unknown; // of a division by a run-time size
  unknown.slope = lhs.slope == 0 && rhs.slope == 0 ? std::optional<int64_t>(0) : std::nullopt;
  if (lhs.low && *lhs.low >= 0)
    unknown.low = 0;
  if (expr.getKind() == AffineExprKind::Mod && rhs.high)
    unknown.high = *rhs.high - 1;
  else if (lhs.low && *lhs.low >= 0)
    unknown.high = lhs.high;
  return unknown;
}

//===- Values -----------------------------------------------------------------------------------------------------===//

SmallVector<Facts> tilewright::tile::symbolFacts(KernelOp kernel, SymbolSet aligned) {
  Facts size;
  size.low = 0;
  SmallVector<Facts> facts(kernel.getNumSymbols(), size);
  for (auto [i, fact] : llvm::enumerate(facts))
    fact.divisor = i < 64 && aligned >> i & 1 ? 16 : 1;
  return facts;
}

static Facts inductionFacts(scf::ForOp loop) {
  Facts lower = factsOf(loop.getLowerBound()), upper = factsOf(loop.getUpperBound()), step = factsOf(loop.getStep());
  Facts result;
  result.divisor = std::gcd(lower.divisor, step.divisor);
  result.low = lower.low;
  result.high = add(upper.high, -1);
  if (result.low && result.high && step.low && step.low == step.high && lower.low == lower.high &&
      *result.high >= *result.low)
    result.high = *result.low + (*result.high - *result.low) / *step.low * *step.low; // the last one reached
  return result;
}

static Facts argumentFacts(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent); loop && argument == loop.getInductionVar())
    return inductionFacts(loop);
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
  result.high = add(factsOf(extent, {}, symbolFacts(kernel), 1).high, -1);
  if (result.high && *result.high <= 0)
    return Facts::constant(0);
  return result;
}

Facts tilewright::tile::factsOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argumentFacts(argument);
  auto dividing = [](Operation *op, auto rule) {
    Facts rhs = factsOf(op->getOperand(1));
    return rhs.low && rhs.low == rhs.high && *rhs.low > 0 ? rule(factsOf(op->getOperand(0)), *rhs.low, 1) : Facts();
  };
  return llvm::TypeSwitch<Operation *, Facts>(value.getDefiningOp())
      .Case([](arith::ConstantIndexOp op) { return Facts::constant(op.value()); })
      .Case([](arith::ConstantOp op) {
        auto integer = dyn_cast<IntegerAttr>(op.getValue());
        return integer ? Facts::constant(integer.getInt()) : Facts();
      })
      .Case([](ProgramIdOp op) { return programFacts(op); })
      .Case([](SizeOp op) {
        SmallVector<Facts> operands;
        for (Value operand : op.getOperands())
          operands.push_back(factsOf(operand));
        return factsOf(op.getExpr().getResult(0), operands, symbolFacts(op->getParentOfType<KernelOp>()), 1);
      })
      .Case([](arith::AddIOp op) { return factsOf(op.getLhs()) + factsOf(op.getRhs()); })
      .Case([](arith::MulIOp op) { return factsOf(op.getLhs()) * factsOf(op.getRhs()); })
      .Case([](arith::SubIOp op) { return factsOf(op.getLhs()) + factsOf(op.getRhs()) * Facts::constant(-1); })
      .Case([&](arith::DivUIOp op) { return dividing(op, floorDivide); })
      .Case([&](arith::RemUIOp op) { return dividing(op, modulo); })
      .Case([](arith::MinSIOp op) {
        Facts a = factsOf(op.getLhs()), b = factsOf(op.getRhs()), result;
        result.divisor = std::gcd(a.divisor, b.divisor);
        if (a.low && b.low)
          result.low = std::min(*a.low, *b.low);
        result.high = a.high && b.high ? std::min(*a.high, *b.high) : a.high ? a.high : b.high;
        return result;
      })
      .Case([](arith::MaxSIOp op) {
        Facts a = factsOf(op.getLhs()), b = factsOf(op.getRhs()), result;
        result.divisor = std::gcd(a.divisor, b.divisor);
        if (a.high && b.high)
          result.high = std::max(*a.high, *b.high);
        result.low = a.low && b.low ? std::max(*a.low, *b.low) : a.low ? a.low : b.low;
        return result;
      })
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
  return factsOf(access.bounds.getResult(dim), {}, symbolFacts(access.op->getParentOfType<KernelOp>(), aligned), 1);
}

SmallVector<Facts> tilewright::tile::dimensionFacts(const Access &access, unsigned dim, int64_t vector) {
  SmallVector<Facts> facts;
  for (auto [d, offset] : llvm::enumerate(access.offsets)) {
    Facts first = factsOf(offset), bound = boundFacts(access, d);
    int64_t size = access.tile.getDimSize(d);
    Facts live = first;
    live.divisor = size == 1 ? first.divisor : d == dim ? std::gcd(first.divisor, vector) : 1;
    live.slope = d == dim ? 1 : 0;
    live.high = add(first.high, size - 1);
    if (auto last = add(bound.high, -1); last && (!live.high || *last < *live.high))
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

Facts tilewright::tile::addressFacts(const Access &access, unsigned dim, int64_t vector, SymbolSet aligned) {
  auto symbols = symbolFacts(access.op->getParentOfType<KernelOp>(), aligned);
  auto dims = dimensionFacts(access, dim, vector);
  AffineMap sizes = access.buffer.getType().getSizes();
  Facts address = Facts::constant(0);
  for (unsigned i = 0; i < access.map.getNumResults(); ++i) {
    Facts size = factsOf(sizes.getResult(i), {}, symbols, 1),
          coordinate = factsOf(access.map.getResult(i), dims, symbols, vector);
    if (auto last = add(size.high, -1)) { // live elements are inside
      coordinate.low = coordinate.low ? std::max<int64_t>(*coordinate.low, 0) : 0;
      coordinate.high = coordinate.high ? std::min(*coordinate.high, *last) : *last;
    }
    address = address * size + coordinate;
  }
  return address;
}

bool tilewright::tile::isContiguous(const Access &access, unsigned dim) {
  return access.tile.getDimSize(dim) > 1 && addressFacts(access, dim, 2).slope == 1;
}

/// Are a vector's elements all inside in guarded dimension `g`, or all outside? So they are if its coordinate stays, or
/// if it walks from a multiple of the vector towards a border at a multiple.
static bool isInsideTogether(const Access &access, int64_t g, ArrayRef<Facts> dims, ArrayRef<Facts> symbols,
                             int64_t vector) {
  Facts coordinate = factsOf(access.map.getResult(g), dims, symbols, vector);
  if (coordinate.slope == 0)
    return true;
  Facts size = factsOf(access.buffer.getType().getSizes().getResult(g), {}, symbols, 1);
  return coordinate.slope == 1 && coordinate.divisor % vector == 0 && size.divisor % vector == 0;
}

int64_t tilewright::tile::vectorWidth(const Access &access, unsigned dim, int64_t limit, SymbolSet aligned) {
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

bool tilewright::tile::isLiveTogether(const Access &access, unsigned dim, int64_t vector, SymbolSet aligned) {
  return isAlwaysLive(access, dim) || boundFacts(access, dim, aligned).divisor % vector == 0;
}

bool tilewright::tile::isAlwaysLive(const Access &access, unsigned dim) {
  Facts offset = factsOf(access.offsets[dim]), bound = boundFacts(access, dim);
  return offset.high && bound.low && *offset.high + access.tile.getDimSize(dim) <= *bound.low;
}

bool tilewright::tile::isAlwaysInside(const Access &access, unsigned coordinate) {
  auto symbols = symbolFacts(access.op->getParentOfType<KernelOp>());
  auto dims = dimensionFacts(access, 0, 1);
  Facts value = factsOf(access.map.getResult(coordinate), dims, symbols, 1);
  Facts size = factsOf(access.buffer.getType().getSizes().getResult(coordinate), {}, symbols, 1);
  return size.low && value.within(0, *size.low - 1);
}

bool tilewright::tile::isUniform(Value tile, unsigned dim) {
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
