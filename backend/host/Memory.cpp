// Reads and writes of global memory through maps, and of tiles held in the workspace.
//
// An address is evaluated for all lanes at once as base + stride * lane, where base is a sum of terms, each in its own
// scope. A division keeps that form if alignment shows that no lane crosses a multiple of the divisor ((64 q + lane)
// mod 64 = lane); otherwise lanes differ by a vector of small integers, and the access is a gather. Lanes of one vector
// lie within 2^31 elements of each other, but for index tiles, which get 64 bits.
#include "backend/host/Elementwise.h"
#include "backend/host/Emitter.h"
#include "backend/host/SpacedLoads.h"
#include "backend/host/plan/AccessOrder.h"
#include "backend/host/plan/CarriedTiles.h"
#include "backend/host/plan/DotOperands.h"
#include "backend/host/plan/RegisterBlocked.h"
#include "backend/host/plan/SharedValues.h"
#include "runtime/plan/KernelAbi.h"

#include "llvm/IR/Intrinsics.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

//===- Coordinates along the lanes --------------------------------------------------------------------------------===//

struct Emitter::Lanes {
  SmallVector<Ix, 4> base;      // summed
  Ix stride = nullptr;          // null: 0
  llvm::Value *delta = nullptr; // a vector of integers, added; null: 0
  bool signedDelta = false;     // delta may be negative
  unsigned count = 0;           // lanes that are looked at; 0: they are all equal

  bool isUniform() const { return !stride && !delta; }
};

static std::optional<int64_t> constantOf(Ix value) {
  if (!value)
    return 0;
  if (auto *constant = dyn_cast<llvm::ConstantInt>(value))
    return constant->getSExtValue();
  return std::nullopt;
}

Ix Emitter::sum(ArrayRef<Ix> terms) {
  Ix result = math.constant(0);
  for (Ix term : math.outermostFirst(terms))
    result = math.add(result, term);
  return result;
}

/// delta + stride * lane as a vector; null if all lanes are equal.
llvm::Value *Emitter::deltas(const Lanes &value, unsigned width) {
  if (!value.stride)
    return value.delta;
  llvm::Type *element = value.delta ? value.delta->getType()->getScalarType() : ir.getInt32Ty();
  llvm::Value *stride = ir.CreateVectorSplat(width, ir.CreateIntCast(value.stride, element, true));
  llvm::Value *steps = ir.CreateMul(lanes(element, width), stride);
  return value.delta ? ir.CreateAdd(value.delta, steps) : steps;
}

static std::pair<llvm::Value *, llvm::Value *> sameWidth(llvm::IRBuilder<> &ir, llvm::Value *a, llvm::Value *b) {
  llvm::Type *type =
      a->getType()->getScalarSizeInBits() > b->getType()->getScalarSizeInBits() ? a->getType() : b->getType();
  return {ir.CreateSExt(a, type), ir.CreateSExt(b, type)};
}

Emitter::Lanes Emitter::addLanes(const Lanes &a, const Lanes &b, unsigned) {
  Lanes result = a;
  result.base.append(b.base.begin(), b.base.end());
  result.stride = !a.stride ? b.stride : !b.stride ? a.stride : math.add(a.stride, b.stride);
  result.signedDelta = a.signedDelta || b.signedDelta;
  result.count = std::max(a.count, b.count);
  if (a.delta && b.delta) {
    auto [x, y] = sameWidth(ir, a.delta, b.delta);
    result.delta = ir.CreateAdd(x, y);
  } else if (b.delta) {
    result.delta = b.delta;
  }
  if (constantOf(result.stride) == 0)
    result.stride = nullptr;
  return result;
}

Emitter::Lanes Emitter::scaleLanes(const Lanes &a, Ix factor, unsigned width) {
  Lanes result;
  if (constantOf(factor) == 0)
    return result;
  for (Ix term : a.base)
    result.base.push_back(math.mul(term, factor));
  result.stride = a.stride ? math.mul(a.stride, factor) : nullptr;
  if (a.delta)
    result.delta = ir.CreateMul(
        a.delta, ir.CreateVectorSplat(width, ir.CreateIntCast(factor, a.delta->getType()->getScalarType(), true)));
  result.signedDelta = a.signedDelta || constantOf(factor).value_or(0) < 0;
  result.count = a.count;
  return result;
}

/// t / divisor, rounded down, by the cheapest exact way: t is a vector of integers.
static llvm::Value *vectorQuotient(llvm::IRBuilder<> &ir, llvm::Value *t, Ix divisor, unsigned width, bool isSigned) {
  llvm::Type *type = t->getType();
  llvm::Value *by = ir.CreateVectorSplat(width, ir.CreateIntCast(divisor, type->getScalarType(), true));
  if (!isSigned && isa<llvm::ConstantInt>(divisor))
    return ir.CreateUDiv(t, by);
  if (!isSigned &&
      type->getScalarSizeInBits() == 32) { // quotients of 32-bit integers are exact in doubles once truncated
    llvm::Type *wide = vectorOf(ir.getDoubleTy(), width);
    return ir.CreateFPToSI(ir.CreateFDiv(ir.CreateSIToFP(t, wide), ir.CreateSIToFP(by, wide)), type);
  }
  llvm::Value *quotient = ir.CreateSDiv(t, by), *rest = ir.CreateSub(t, ir.CreateMul(quotient, by));
  return ir.CreateAdd(quotient, ir.CreateSExt(ir.CreateICmpSLT(rest, llvm::Constant::getNullValue(type)), type));
}

/// Quotient or rest of a sum: terms that stay below what the others are multiples of, and the divisor too, pass through
/// unchanged. So a row of all images' rows keeps its place within a row of one.
std::optional<Emitter::Lanes> Emitter::divideTerms(ArrayRef<Ix> terms, int64_t divisor, bool wantRest) {
  for (Ix candidate : terms) {
    int64_t unit = std::gcd(math.facts(candidate).divisor, divisor);
    SmallVector<Ix> multiples, others;
    for (Ix term : terms)
      (math.facts(term).divisor % unit == 0 ? multiples : others).push_back(term);
    Facts facts = math.facts(sum(others));
    if (others.empty() || !facts.within(0, unit - 1))
      continue;
    Lanes result;
    if (wantRest)
      result.base.assign(others.begin(), others.end());
    Ix whole = sum(multiples), by = math.constant(divisor);
    result.base.push_back(wantRest ? math.mod(whole, by) : math.floorDiv(whole, by));
    return result;
  }
  return std::nullopt;
}

Emitter::Lanes Emitter::divideLanes(const Lanes &value, Ix divisor, bool wantRest, unsigned width) {
  Ix base = sum(value.base);
  auto quotient = [&](Ix stride) { return Lanes{{math.floorDiv(base, divisor)}, stride, nullptr, false, value.count}; };
  auto rest = [&](Ix stride) { return Lanes{{math.mod(base, divisor)}, stride, nullptr, false, value.count}; };
  std::optional<int64_t> stride = constantOf(value.stride), by = constantOf(divisor);
  if (value.isUniform()) {
    if (std::optional<Lanes> parts = by ? divideTerms(value.base, *by, wantRest) : std::nullopt)
      return *parts;
    return wantRest ? rest(nullptr) : quotient(nullptr);
  }
  if (!value.delta && stride && *stride > 0 && by) {
    Facts facts = math.facts(base);
    int64_t reach = *stride * (value.count - 1);
    bool inside = facts.within(0, *by - reach - 1);
    if (inside || reach < std::gcd(facts.divisor, *by))
      return wantRest ? rest(value.stride) : quotient(nullptr);
    if (*stride % *by == 0)
      return wantRest ? rest(nullptr) : quotient(math.constant(*stride / *by));
  }
  bool isSigned = value.signedDelta || !stride || *stride < 0;
  llvm::Value *offsets = deltas(value, width);
  llvm::Value *first = ir.CreateIntCast(math.mod(base, divisor), offsets->getType()->getScalarType(), true);
  llvm::Value *t = ir.CreateAdd(ir.CreateVectorSplat(width, first), offsets);
  llvm::Value *q = vectorQuotient(ir, t, math.max(divisor, math.constant(1)), width, isSigned);
  if (!wantRest)
    return Lanes{{math.floorDiv(base, divisor)}, nullptr, q, isSigned};
  llvm::Value *scale = ir.CreateVectorSplat(width, ir.CreateIntCast(divisor, q->getType()->getScalarType(), true));
  return Lanes{{}, nullptr, ir.CreateSub(t, ir.CreateMul(q, scale))};
}

Emitter::Lanes Emitter::evaluateLanes(AffineExpr expr, ArrayRef<Lanes> dims, unsigned width) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return Lanes{{math.evaluate(expr, {}, symbols)}};
  Lanes a = evaluateLanes(binary.getLHS(), dims, width), b = evaluateLanes(binary.getRHS(), dims, width);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return addLanes(a, b, width);
  case AffineExprKind::Mul:
    return b.isUniform() ? scaleLanes(a, sum(b.base), width) : scaleLanes(b, sum(a.base), width);
  case AffineExprKind::CeilDiv:
    a.base.push_back(math.sub(sum(b.base), math.constant(1)));
    return divideLanes(a, sum(b.base), false, width);
  default:
    return divideLanes(a, sum(b.base), expr.getKind() == AffineExprKind::Mod, width);
  }
}

//===- Accesses ---------------------------------------------------------------------------------------------------===//

struct Emitter::Reference {
  llvm::Value *base;
  tile::BufferType type;
  ValueRange offsets;
  AffineMap bounds, map;
  SmallVector<int64_t> guard = {}; // buffer dimensions that the map may leave
  SmallVector<Rows> indices = {};  // index tiles, at the position
  int64_t panel = 0;               // of a packed constant: columns are padded with zeros to a multiple of this
};

struct Emitter::Access {
  llvm::Value *pointer = nullptr; // of lane 0
  Ix stride = nullptr;
  llvm::Value *delta = nullptr;     // all lanes' offsets, when they are not stride * lane
  llvm::Value *condition = nullptr; // i1; null: always
  llvm::Value *mask = nullptr;      // vector of i1; null: all lanes

  void require(llvm::IRBuilder<> &ir, llvm::Value *lanes) { mask = mask ? ir.CreateAnd(mask, lanes) : lanes; }
};

Emitter::Reference Emitter::referenceTo(tile::LoadOp op) {
  Reference result{buffers[cast<BlockArgument>(op.getBuffer()).getArgNumber()], op.getBuffer().getType(),
                   op.getOffsets(), op.getBounds(), op.getMap()};
  llvm::copy_if(op.getGuard(), std::back_inserter(result.guard),
                [&](int64_t dim) { return !certain.count({op, dim}); });
  return result;
}

/// Lane numbers below `count`.
static llvm::Value *lanesBelow(llvm::IRBuilder<> &ir, IndexMath &math, llvm::Value *lanes, Ix count, unsigned width) {
  Ix clamped = math.max(math.min(count, math.constant(width)), math.constant(0));
  return ir.CreateICmpSLT(lanes, ir.CreateVectorSplat(width, ir.CreateIntCast(clamped, ir.getInt32Ty(), true)));
}

/// offset + place in dimension `i` of a tile, with what was added to the place as a term of its own: a displacement, in
/// the end.
Emitter::Lanes Emitter::coordinateOf(const Reference &reference, const Position &position, unsigned row, unsigned i) {
  unsigned axis = reference.offsets.size() - 1 - i, width = position.width;
  bool isLane = axis == position.lanes;
  Ix offset = index(reference.offsets[i]), place = isLane     ? position.column
                                                   : axis < 2 ? position.rows[row]
                                                              : position.at(axis, row);
  auto [inner, added] = math.split(place);
  Lanes result;
  result.base = {offset, inner, math.constant(added)};
  if (isLane && width > 1) {
    result.stride = math.constant(1);
    result.count = position.run ? position.run : width;
  }
  if (!isLane && position.unseen >> axis & 1) {
    Ix bound = evaluate(reference.bounds, i), coordinate = math.add(offset, place);
    if (!position.isLive(axis, offset, bound) && !math.alwaysLess(coordinate, bound))
      result.base = {math.max(math.min(coordinate, math.sub(bound, math.constant(1))), math.constant(0))};
  }
  return result;
}

/// Makes dead coordinates harmless: nothing to do if none is, another element where nobody looks, a condition or a mask
/// otherwise.
void Emitter::addBounds(const Reference &reference, const Position &position, unsigned row, Access &result,
                        MutableArrayRef<Lanes> coordinates) {
  unsigned rank = reference.offsets.size(), width = position.width;
  for (unsigned i = 0; i < rank; ++i) {
    unsigned axis = rank - 1 - i;
    Ix offset = index(reference.offsets[i]), bound = evaluate(reference.bounds, i);
    bool isLane = axis == position.lanes;
    Ix place = isLane ? position.column : axis < 2 ? position.rows[row] : position.at(axis, row);
    Ix coordinate = math.add(offset, place);
    coordinates[i] = coordinateOf(reference, position, row, i);
    Ix last = isLane ? math.add(coordinate, math.constant(width - 1)) : coordinate;
    bool isPadded = axis == 0 && reference.panel != 0 && reference.panel % width == 0 &&
                    math.facts(coordinate).divisor % width == 0;
    if (isPadded || position.isLive(axis, offset, bound) || math.alwaysLess(last, bound))
      continue;
    if (isLane && width > 1)
      result.require(ir, lanesBelow(ir, math, lanes(ir.getInt32Ty(), width), math.sub(bound, coordinate), width));
    else if (isLane || !(position.unseen >> axis & 1))
      result.condition = math.both(result.condition, math.less(coordinate, bound));
  }
}

/// 0 <= coordinate < size in a buffer dimension that the map may leave.
void Emitter::addGuard(const Reference &reference, unsigned dim, const Lanes &coordinate, unsigned width,
                       Access &result) {
  Ix base = sum(coordinate.base), size = evaluate(reference.type.getSizes(), dim);
  if (coordinate.isUniform()) {
    result.condition =
        math.both(result.condition, math.both(math.less(math.constant(-1), base), math.less(base, size)));
    return;
  }
  std::optional<int64_t> stride = constantOf(coordinate.stride);
  if (!coordinate.delta && stride && *stride > 0 && math.alwaysLess(math.constant(-1), base) &&
      math.alwaysLess(math.add(base, math.constant(*stride * (width - 1))), size))
    return;
  llvm::Value *offsets = deltas(coordinate, width);
  llvm::Type *element = offsets->getType()->getScalarType();
  auto spread = [&](Ix value) { return ir.CreateVectorSplat(width, ir.CreateIntCast(value, element, true)); };
  result.require(ir, ir.CreateICmpULT(ir.CreateAdd(spread(base), offsets), spread(size)));
}

/// Conditions under which `load` reads its buffer at all: those of its guards that are the same for every element at
/// `position`, as far as they are known before the loops inside `scope` begin.
SmallVector<llvm::Value *> Emitter::commonGuards(tile::LoadOp load, const Position &position, Operation *scope) {
  Reference reference = referenceTo(load);
  unsigned rank = reference.offsets.size();
  auto isKnown = [&](unsigned i) {
    auto loop = dyn_cast<BlockArgument>(reference.offsets[i]);
    return !loop || !scope || !scope->isProperAncestor(loop.getOwner()->getParentOp());
  };
  SmallVector<llvm::Value *> result;
  for (int64_t dim : reference.guard) {
    AffineExpr expr = reference.map.getResult(dim);
    bool known = true;
    for (unsigned i = 0; i < rank; ++i)
      known &= !expr.isFunctionOfDim(i) || (isKnown(i) && (position.width == 1 || rank - 1 - i != position.lanes));
    if (!known || reference.map.getNumDims() > rank)
      continue;
    std::optional<std::pair<llvm::Value *, llvm::Value *>> common;
    for (unsigned row = 0; row < position.rows.size() && known; ++row) {
      SmallVector<Lanes> coordinates;
      for (unsigned i = 0; i < rank; ++i)
        coordinates.push_back(isKnown(i) ? coordinateOf(reference, position, row, i) : Lanes());
      Ix base = sum(evaluateLanes(expr, coordinates, position.width).base),
         size = evaluate(reference.type.getSizes(), dim);
      std::pair ends(math.less(math.constant(-1), base), math.less(base, size));
      known = !common || *common == ends;
      common = ends;
    }
    if (known && common)
      result.append({common->first, common->second});
  }
  return result;
}

Emitter::Access Emitter::access(const Reference &reference, const Position &position, unsigned row) {
  Access result;
  unsigned rank = reference.offsets.size(), width = position.width;
  SmallVector<Lanes> coordinates(rank + reference.indices.size());
  addBounds(reference, position, row, result, coordinates);
  if (position.run && position.run < width)
    result.require(ir, lanesBelow(ir, math, lanes(ir.getInt32Ty(), width), math.constant(position.run), width));
  for (auto [i, rows] : llvm::enumerate(reference.indices)) {
    llvm::Value *value = rows[row];
    if (value->getType()->isVectorTy())
      coordinates[rank + i] = Lanes{{}, nullptr, ir.CreateSExt(value, vectorOf(ir.getInt64Ty(), width)), true, width};
    else
      coordinates[rank + i].base = {ir.CreateSExt(value, ir.getInt64Ty())};
  }

  // Row-major, innermost first, so that each dimension's stride is the product of the sizes inside it.
  Lanes address;
  Ix stride = math.constant(1);
  for (unsigned dim = reference.type.getRank(); dim-- > 0;) {
    Lanes coordinate = evaluateLanes(reference.map.getResult(dim), coordinates, width);
    if (llvm::is_contained(reference.guard, dim))
      addGuard(reference, dim, coordinate, width, result);
    address = addLanes(address, scaleLanes(coordinate, stride, width), width);
    stride = math.mul(stride, evaluate(reference.type.getSizes(), dim));
  }

  // One pointer a scope, so that each is advanced only where its terms change; constants last, which machines add for
  // nothing.
  llvm::Type *element = elementType(context, reference.type.getElementType());
  llvm::Type *unit = element->isIntegerTy(1) ? ir.getInt8Ty() : element;
  result.pointer = reference.base;
  Ix displacement = math.constant(0);
  llvm::erase_if(address.base, [&](Ix term) {
    if (constantOf(term))
      displacement = math.add(displacement, term);
    return constantOf(term).has_value();
  });
  SmallVector<Ix> terms = math.outermostFirst(address.base);
  for (size_t i = 0; i < terms.size();) {
    unsigned depth = math.depthOf(terms[i]);
    Ix offset = math.constant(0);
    for (; i < terms.size() && math.depthOf(terms[i]) == depth; ++i)
      offset = math.add(offset, terms[i]);
    result.pointer = math.pointer(unit, result.pointer, offset);
  }
  result.pointer = math.pointer(unit, result.pointer, displacement);
  result.stride = address.stride;
  if (address.delta)
    result.delta = deltas(address, width);
  return result;
}

//===- Elements in memory and in registers ------------------------------------------------------------------------===//

/// bool is a byte; half types travel as 16-bit integers, for which masked accesses exist.
static llvm::Type *memoryType(llvm::Type *element) {
  llvm::LLVMContext &context = element->getContext();
  if (element->isIntegerTy(1))
    return llvm::Type::getInt8Ty(context);
  return element->isHalfTy() || element->isBFloatTy() ? llvm::Type::getInt16Ty(context) : element;
}

llvm::Value *Emitter::fromMemory(llvm::Value *value, llvm::Type *element, unsigned width) {
  if (element->isIntegerTy(1) && !value->getType()->isIntOrIntVectorTy(1))
    return ir.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  return ir.CreateBitCast(value, vectorOf(element, width));
}

llvm::Value *Emitter::toMemory(llvm::Value *value, unsigned width) {
  llvm::Type *type = vectorOf(memoryType(value->getType()->getScalarType()), width);
  return value->getType()->isIntOrIntVectorTy(1) ? ir.CreateZExt(value, type) : ir.CreateBitCast(value, type);
}

static llvm::Align alignOf(llvm::Type *element) {
  return llvm::Align(std::max<uint64_t>(1, element->getPrimitiveSizeInBits() / 8));
}

/// Elements at `base` + `offsets`. Machines gather words only: a smaller element is cut out of the aligned word that
/// holds it, which never crosses a page. Without masks (AVX2), lanes that are off read the kernel's arguments: a masked
/// gather would become a branch for every lane.
llvm::Value *Emitter::gather(llvm::Value *base, llvm::Value *offsets, llvm::Value *mask, llvm::Type *memory,
                             llvm::Value *fills) {
  unsigned width = cast<llvm::FixedVectorType>(offsets->getType())->getNumElements(),
           bytes = memory->getPrimitiveSizeInBits() / 8;
  llvm::Type *word = bytes < 4 ? ir.getInt32Ty() : memory, *offsetType = offsets->getType();
  llvm::Value *shifts = nullptr;
  if (bytes < 4) {
    llvm::Value *low = ir.CreateAnd(ir.CreatePtrToInt(base, ir.getInt64Ty()), 3);
    base = ir.CreateGEP(ir.getInt8Ty(), base, ir.CreateNeg(low));
    llvm::Value *lows = ir.CreateVectorSplat(width, ir.CreateIntCast(low, offsetType->getScalarType(), false));
    llvm::Value *places = ir.CreateAdd(ir.CreateMul(offsets, llvm::ConstantInt::get(offsetType, bytes)), lows);
    llvm::Value *within = ir.CreateAnd(places, llvm::ConstantInt::get(offsetType, 3));
    shifts =
        ir.CreateIntCast(ir.CreateShl(within, llvm::ConstantInt::get(offsetType, 3)), vectorOf(word, width), false);
    offsets = ir.CreateSub(places, within);
  }
  llvm::Value *pointers = ir.CreateGEP(bytes < 4 ? ir.getInt8Ty() : memory, base, offsets),
              *on = llvm::Constant::getAllOnesValue(vectorOf(ir.getInt1Ty(), width));
  if (mask && !masks)
    pointers = ir.CreateSelect(mask, pointers, ir.CreateVectorSplat(width, arguments));
  llvm::Type *words = vectorOf(word, width);
  llvm::Value *result = ir.CreateMaskedGather(words, pointers, alignOf(word), mask && masks ? mask : on,
                                              llvm::Constant::getNullValue(words));
  if (shifts)
    result = ir.CreateTrunc(ir.CreateLShr(result, shifts), vectorOf(memory, width));
  return mask ? ir.CreateSelect(mask, result, fills) : result;
}

/// `fill` has the type of an element in memory.
llvm::Value *Emitter::loadAt(const Access &access, llvm::Type *element, llvm::Value *fill, unsigned width) {
  llvm::Type *memory = memoryType(element), *type = vectorOf(memory, width);
  llvm::Align align = alignOf(memory);
  bool isUniform = !access.stride && !access.delta, isContiguous = !access.delta && constantOf(access.stride) == 1;
  if (isUniform) {
    // Where the element is not there, the kernel's arguments are: readable, and long enough for any element.
    llvm::Value *pointer = access.condition ? math.choose(access.condition, access.pointer, arguments) : access.pointer;
    llvm::Value *value = ir.CreateAlignedLoad(memory, pointer, align);
    if (access.condition)
      value = ir.CreateSelect(access.condition, value, fill);
    if (width > 1)
      value = ir.CreateVectorSplat(width, value);
    return access.mask ? ir.CreateSelect(access.mask, value, ir.CreateVectorSplat(width, fill)) : value;
  }
  llvm::Value *fills = ir.CreateVectorSplat(width, fill);
  llvm::Value *result = nullptr;
  auto touch = [&]() -> llvm::Value * {
    if (isContiguous)
      return access.mask ? (llvm::Value *)ir.CreateMaskedLoad(type, access.pointer, align, access.mask, fills)
                         : ir.CreateAlignedLoad(type, access.pointer, align);
    std::optional<int64_t> step = access.delta ? std::nullopt : constantOf(access.stride);
    if (step && *step > 1 && *step <= mostSpacing && (!access.mask || masks)) {
      llvm::Value *spaced = loadSpaced(ir, access.pointer, memory, align, width, *step, access.mask);
      return access.mask ? ir.CreateSelect(access.mask, spaced, fills) : spaced;
    }
    Lanes whole{{}, access.delta ? nullptr : access.stride, access.delta};
    return gather(access.pointer, deltas(whole, width), access.mask, memory, fills);
  };
  if (!access.condition)
    return touch();
  llvm::Value *place = slot(type);
  ir.CreateStore(fills, place);
  math.when(access.condition, [&] { ir.CreateStore(touch(), place); });
  result = ir.CreateLoad(type, place);
  return result;
}

/// Where lane 0 of a row lies. `panel`: columns are padded to a multiple of this. Where the element is not there, the
/// kernel's arguments are.
llvm::Value *Emitter::addressOf(tile::LoadOp op, const Position &position, unsigned row, int64_t panel) {
  Reference reference = referenceTo(op);
  reference.panel = panel;
  Access place = access(reference, position, row);
  return place.condition ? math.choose(place.condition, place.pointer, arguments) : place.pointer;
}

Rows Emitter::emitLoad(tile::LoadOp op, const Position &position) {
  llvm::Type *element = typeOf(op.getResult());
  llvm::Value *fill = llvm::Constant::getNullValue(memoryType(element));
  if (Attribute attribute = op.getFillAttr()) {
    llvm::Constant *constant =
        isa<FloatAttr>(attribute)
            ? (llvm::Constant *)llvm::ConstantFP::get(context, cast<FloatAttr>(attribute).getValue())
            : llvm::ConstantInt::get(element, cast<IntegerAttr>(attribute).getValue().getZExtValue(), false, true);
    fill = toMemory(constant, 1);
  }
  Reference reference = referenceTo(op);
  if (isPacked(op))
    reference.panel = cast<AffineConstantExpr>(op.getBuffer().getType().getSizes().getResults().back()).getValue();
  for (Value index : op.getIndices())
    reference.indices.push_back(pull(index, isUniform(index, position) ? uniformAt(position) : position));
  Rows rows;
  for (unsigned row = 0; row < position.rows.size(); ++row)
    rows.push_back(
        fromMemory(loadAt(access(reference, position, row), element, fill, position.width), element, position.width));
  return rows;
}

llvm::Value *Emitter::columnsBefore(const Position &position) {
  return lanesBelow(ir, math, lanes(ir.getInt32Ty(), position.width), math.sub(position.end, position.column),
                    position.width);
}

void Emitter::emitStore(tile::StoreOp op, const Position &position, const Rows &rows) {
  Reference reference{buffers[cast<BlockArgument>(op.getBuffer()).getArgNumber()], op.getBuffer().getType(),
                      op.getOffsets(), op.getBounds(), op.getMap()};
  unsigned width = position.width;
  for (unsigned row = 0; row < rows.size(); ++row) {
    Access target = access(reference, position, row);
    if (position.end)
      target.require(ir, columnsBefore(position));
    llvm::Value *value = toMemory(rows[row], width);
    llvm::Align align = alignOf(value->getType()->getScalarType());
    math.when(target.condition, [&] {
      llvm::Value *mask = target.mask ? target.mask : llvm::Constant::getAllOnesValue(vectorOf(ir.getInt1Ty(), width));
      bool isContiguous = width == 1 || (!target.delta && constantOf(target.stride) == 1);
      if (isContiguous && !target.mask)
        ir.CreateAlignedStore(value, target.pointer, align);
      else if (isContiguous)
        ir.CreateMaskedStore(value, target.pointer, align, mask);
      else {
        Lanes whole{{}, target.delta ? nullptr : target.stride, target.delta};
        llvm::Value *offsets = deltas(whole, width);
        llvm::Value *pointers = offsets ? ir.CreateGEP(value->getType()->getScalarType(), target.pointer, offsets)
                                        : ir.CreateVectorSplat(width, target.pointer);
        ir.CreateMaskedScatter(value, pointers, align, mask);
      }
    });
  }
}

/// A live index outside [0, size) sets the error word, unless some fault was there first. Dead lanes are not looked at.
Rows Emitter::emitCheck(tile::CheckOp op, const Position &position) {
  Reference reference{nullptr, {}, op.getOffsets(), op.getBounds(), {}};
  Rows rows = pull(op.getIndex(), position), result;
  unsigned width = position.width;
  llvm::Type *type = rows.front()->getType();
  llvm::Value *size = ir.CreateIntCast(evaluate(op.getSize(), 0), type->getScalarType(), true),
              *zero = llvm::Constant::getNullValue(type);
  llvm::Value *sizes = splat({size}, 1, width).front();
  llvm::Value *last = ir.CreateSub(sizes, llvm::ConstantInt::get(type, 1));
  for (unsigned row = 0; row < rows.size(); ++row) {
    Access live;
    SmallVector<Lanes> coordinates(reference.offsets.size());
    addBounds(reference, position, row, live, coordinates);
    if (position.end)
      live.require(ir, columnsBefore(position));
    llvm::Value *bad = ir.CreateICmpUGE(rows[row], sizes);
    if (live.mask)
      bad = ir.CreateAnd(bad, live.mask);
    if (width > 1)
      bad = ir.CreateOrReduce(bad);
    if (live.condition)
      bad = ir.CreateAnd(bad, live.condition);
    math.when(bad, [&] {
      uint64_t word = errorWordOf(Fault::IndexOutOfRange, static_cast<uint32_t>(op.getSite()));
      ir.CreateAtomicCmpXchg(errorWord, ir.getInt64(0), ir.getInt64(word), llvm::Align(8),
                             llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
    });
    llvm::Value *atMost = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rows[row], last);
    result.push_back(ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, atMost, zero));
  }
  return result;
}

//===- Held tiles -------------------------------------------------------------------------------------------------===//

llvm::Value *Emitter::heldAddress(const Held &held, const Position &position, unsigned row, llvm::Type *element) {
  unsigned axes = held.shape.size();
  auto coordinate = [&](unsigned axis) {
    Ix place = axis == 0 ? position.column : position.at(axis, row);
    return axis < held.origin.size() ? math.sub(place, held.origin[axis]) : place;
  };
  SmallVector<Ix> terms;
  Ix column = coordinate(0);
  int64_t stride = held.rowStride;
  if (held.panel) {
    Ix panel = math.constant(held.panel);
    int64_t rows = axes > 1 ? held.shape[axes - 2] : 1;
    terms = {math.mul(math.floorDiv(column, panel), math.constant(rows * held.panel)), math.mod(column, panel)};
    stride = held.panel;
  } else {
    terms = {column};
  }
  for (unsigned axis = 1; axis < axes; ++axis) {
    terms.push_back(math.mul(coordinate(axis), math.constant(stride)));
    stride = axis == 1 ? held.shape[axes - 2] * held.rowStride : stride * held.shape[axes - 1 - axis];
  }
  llvm::Value *pointer = held.base;
  for (Ix term : math.outermostFirst(terms))
    pointer = math.pointer(element, pointer, term);
  return pointer;
}

Rows Emitter::loadHeld(const Held &held, Value value, const Position &position) {
  llvm::Type *element = held.element ? held.element : typeOf(value), *memory = memoryType(element);
  Rows rows;
  for (unsigned row = 0; row < position.rows.size(); ++row) {
    llvm::Value *pointer = heldAddress(held, position, row, memory);
    rows.push_back(fromMemory(ir.CreateAlignedLoad(vectorOf(memory, position.width), pointer, alignOf(memory)), element,
                              position.width));
  }
  return rows;
}

void Emitter::storeHeld(const Held &held, const Rows &rows, const Position &position) {
  for (unsigned row = 0; row < rows.size(); ++row) {
    llvm::Value *value = held.element && held.element->isFloatTy()
                             ? convertFloat(ir, rows[row], held.element, position.width)
                             : rows[row];
    value = toMemory(value, position.width);
    llvm::Type *memory = value->getType()->getScalarType();
    llvm::Value *address = heldAddress(held, position, row, memory);
    if (position.run && position.run < position.width)
      ir.CreateMaskedStore(
          value, address, alignOf(memory),
          lanesBelow(ir, math, lanes(ir.getInt32Ty(), position.width), math.constant(position.run), position.width));
    else
      ir.CreateAlignedStore(value, address, alignOf(memory));
  }
}

} // namespace tilewright::host
