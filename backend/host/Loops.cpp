// What takes a loop to compute one register tile: dot, reduce, scf.for with carried tiles; and the loop over columns.
//
// Accumulators live in allocas of one vector each, which the first pass turns into registers.
#include "backend/host/Elementwise.h"
#include "backend/host/Emitter.h"
#include "backend/host/plan/AccessOrder.h"
#include "backend/host/plan/CarriedTiles.h"
#include "backend/host/plan/DotOperands.h"
#include "backend/host/plan/RegisterBlocked.h"
#include "backend/host/plan/SharedValues.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;

namespace tilewright::host {

llvm::Value *Emitter::slot(llvm::Type *type) {
  llvm::BasicBlock &entry = ir.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> top(&entry, entry.begin());
  return top.CreateAlloca(type);
}

void Emitter::overColumns(Ix from, Ix to, Ix wholeTo, unsigned widest, const Position &position,
                          llvm::function_ref<void(const Position &)> body) {
  auto steps = [&](Ix begin, Ix end, unsigned width, bool isWhole, bool needsEnd) {
    math.loop(begin, end, width, [&](Ix column) {
      Position inner = position;
      if (!isWhole)
        inner.forget(0);
      inner.column = column;
      inner.width = width;
      inner.end = needsEnd && !math.alwaysLess(math.add(column, math.constant(width - 1)), to) ? to : nullptr;
      body(inner);
    });
  };
  Facts last = math.facts(to);
  if (last.high == 1) // a tile of one column
    return steps(from, to, 1, false, false);
  Ix wholeSize = math.sub(wholeTo, from);
  Ix wideEnd = from, narrowEnd = from;
  if (!last.high || *last.high >= widest)
    wideEnd = math.add(from, math.roundDown(wholeSize, widest));
  narrowEnd = math.add(from, math.roundDown(wholeSize, narrow));
  steps(from, wideEnd, widest, true, false);
  steps(wideEnd, narrowEnd, narrow, true, false);
  steps(narrowEnd, to, masks ? narrow : 1, false, masks);
}

/// What the load or check of `value` says of the tile's coordinates along `axis`; `operands` get the values that have
/// their own say.
std::optional<Position::Live> Emitter::liveBelow(Value value, unsigned axis, SmallVectorImpl<Value> &operands) {
  Operation *op = value.getDefiningOp();
  auto type = cast<RankedTensorType>(value.getType());
  unsigned dim = type.getRank() - 1 - axis;
  if (!op || held.count(value) || type.getDimSize(dim) == 1)
    return std::nullopt;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    llvm::append_range(operands, load.getIndices());
    return Position::Live{axis, index(load.getOffsets()[dim]), evaluate(load.getBounds(), dim)};
  }
  if (auto check = dyn_cast<tile::CheckOp>(op))
    operands.push_back(check.getIndex());
  else if (isElementwise(op) || isa<tile::BroadcastOp>(op))
    llvm::append_range(operands, op->getOperands());
  return std::nullopt;
}

/// How many coordinates along `axis` all loads below `value` have alive, at most `size`; `facts` get what that says,
/// each once.
Ix Emitter::liveSize(Value value, unsigned axis, Ix size, SmallVectorImpl<Position::Live> &facts) {
  llvm::DenseSet<Value> seen;
  llvm::SetVector<std::pair<Ix, Ix>> ends;
  SmallVector<Value> waiting = {value}, operands;
  while (!waiting.empty()) {
    Value next = waiting.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    operands.clear();
    if (std::optional<Position::Live> fact = liveBelow(next, axis, operands))
      ends.insert({fact->offset, fact->bound});
    llvm::append_range(waiting, llvm::reverse(operands));
  }
  for (auto [offset, bound] : ends) {
    facts.push_back({axis, offset, bound});
    size = math.min(size, math.max(math.sub(bound, offset), math.constant(0)));
  }
  return size;
}

//===- Reductions -------------------------------------------------------------------------------------------------===//

using tile::ReduceKind;

llvm::Value *Emitter::combine(ReduceKind kind, llvm::Value *a, llvm::Value *b) {
  bool isFloat = a->getType()->isFPOrFPVectorTy();
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat ? ir.CreateFAdd(a, b) : ir.CreateAdd(a, b);
  case ReduceKind::Prod:
    return isFloat ? ir.CreateFMul(a, b) : ir.CreateMul(a, b);
  default:
    break;
  }
  bool isMax = kind == ReduceKind::Max;
  if (!isFloat && a->getType()->isIntOrIntVectorTy(1))
    return isMax ? ir.CreateOr(a, b) : ir.CreateAnd(a, b);
  if (!isFloat)
    return ir.CreateBinaryIntrinsic(isMax ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, a, b);
  llvm::Value *result = ir.CreateBinaryIntrinsic(isMax ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, b);
  if (auto *call = dyn_cast<llvm::Instruction>(result))
    call->setHasNoSignedZeros(true);
  return result;
}

llvm::Value *Emitter::identity(ReduceKind kind, llvm::Type *type) {
  bool isFloat = type->isFPOrFPVectorTy();
  switch (kind) {
  case ReduceKind::Sum:
    return llvm::Constant::getNullValue(type);
  case ReduceKind::Prod:
    return isFloat ? (llvm::Value *)llvm::ConstantFP::get(type, 1.0) : llvm::ConstantInt::get(type, 1);
  case ReduceKind::Max:
    return isFloat ? (llvm::Value *)llvm::ConstantFP::getInfinity(type, true)
                   : llvm::ConstantInt::get(type, type->isIntOrIntVectorTy(1)
                                                      ? llvm::APInt(1, 0)
                                                      : llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
  case ReduceKind::Min:
    return isFloat ? (llvm::Value *)llvm::ConstantFP::getInfinity(type)
                   : llvm::ConstantInt::get(type, type->isIntOrIntVectorTy(1)
                                                      ? llvm::APInt(1, 1)
                                                      : llvm::APInt::getSignedMaxValue(type->getScalarSizeInBits()));
  }
  return nullptr;
}

/// Halves until one element is left: the order does not depend on the target.
llvm::Value *Emitter::acrossLanes(ReduceKind kind, llvm::Value *vector) {
  unsigned width = cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  for (; width > 1; width /= 2) {
    SmallVector<int> low, high;
    for (unsigned i = 0; i < width / 2; ++i)
      low.push_back(i), high.push_back(i + width / 2);
    vector = combine(kind, ir.CreateShuffleVector(vector, low), ir.CreateShuffleVector(vector, high));
  }
  return ir.CreateExtractElement(vector, uint64_t(0));
}

/// Half types accumulate in f32.
static llvm::Type *accumulatorType(llvm::LLVMContext &context, llvm::Type *type) {
  return type->isHalfTy() || type->isBFloatTy() ? llvm::Type::getFloatTy(context) : type;
}

Rows Emitter::emitReduce(tile::ReduceOp op, const Position &position) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  unsigned axis = type.getRank() - 1 - op.getDim(), count = position.rows.size();
  ReduceKind kind = op.getKind();
  llvm::Type *element = typeOf(op.getResult()), *wideElement = accumulatorType(context, element);
  Ix size = math.constant(type.getDimSize(op.getDim()));
  SmallVector<Position::Live> facts;
  Ix whole = liveSize(op.getInput(), axis, size, facts);

  // One accumulator for each row and each vector width that the loop uses.
  std::map<unsigned, SmallVector<llvm::Value *>> accumulators;
  auto accumulate = [&](const Position &inner) {
    auto &slots = accumulators[inner.width];
    llvm::Type *vector = vectorOf(wideElement, inner.width);
    if (slots.empty())
      for (unsigned row = 0; row < count; ++row)
        slots.push_back(slot(vector));
    Rows rows = pull(op.getInput(), inner);
    for (unsigned row = 0; row < count; ++row) {
      llvm::Value *value = convertIfFloat(rows[row], wideElement, inner.width);
      if (inner.end)
        value = ir.CreateSelect(columnsBefore(inner), value, identity(kind, vector));
      ir.CreateStore(combine(kind, ir.CreateLoad(vector, slots[row]), value), slots[row]);
    }
  };
  auto *before = cast<llvm::Instruction>(
      ir.CreateFreeze(ir.getFalse())); // marks where accumulators start, once it is known which there are
  Position source = position;
  if (axis == 0) {
    source.forget(0);
    source.live.append(facts.begin(), facts.end());
    llvm::DenseSet<Value> seen;
    pullUniform(op.getInput(), source, seen);
    overColumns(math.constant(0), size, whole, wide, source, accumulate);
  } else {
    math.loop(math.constant(0), size, 1, [&](Ix k) {
      source.set(axis, k);
      accumulate(source);
    });
  }
  {
    llvm::IRBuilder<>::InsertPointGuard guard(ir);
    ir.SetInsertPoint(before);
    for (auto &[width, slots] : accumulators)
      for (llvm::Value *place : slots)
        ir.CreateStore(identity(kind, vectorOf(wideElement, width)), place);
  }
  before->eraseFromParent();

  Rows result(count, nullptr);
  for (auto &[width, slots] : accumulators)
    for (unsigned row = 0; row < count; ++row) {
      llvm::Value *value = ir.CreateLoad(vectorOf(wideElement, width), slots[row]);
      if (axis == 0 && width > 1)
        value = acrossLanes(kind, value);
      result[row] = result[row] ? combine(kind, result[row], value) : value;
    }
  for (llvm::Value *&value : result)
    value =
        convertIfFloat(value ? value : identity(kind, vectorOf(wideElement, position.width)), element, position.width);
  return result;
}

//===- Contractions -----------------------------------------------------------------------------------------------===//

static bool isZero(Attribute fill) {
  auto number = dyn_cast_or_null<FloatAttr>(fill);
  return number && number.getValue().isZero();
}

/// rows x columns of accumulators: for each k one vector of rhs, and for each row one broadcast element of lhs.
Rows Emitter::emitDot(tile::DotOp op, const Position &position) {
  if (canMultiplyQuads(op))
    return emitQuads(op, position);
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  unsigned rank = lhs.getRank(), width = position.width;
  llvm::Type *element = typeOf(op.getResult()), *vector = vectorOf(element, width);
  SmallVector<llvm::Value *> accumulators;
  for (llvm::Value *value : pull(op.getAcc(), position)) {
    accumulators.push_back(slot(vector));
    ir.CreateStore(value, accumulators.back());
  }
  // A dead k adds nothing: dead elements are zero.
  SmallVector<Position::Live> lhsFacts, rhsFacts;
  Ix size = liveSize(op.getLhs(), 0, math.constant(lhs.getDimSize(rank - 1)), lhsFacts);
  size = liveSize(op.getRhs(), 1, size, rhsFacts);
  auto widen = [&](llvm::Value *value, unsigned lanes, bool isUnsigned) -> llvm::Value * {
    if (element->isIntegerTy())
      return ir.CreateIntCast(value, vectorOf(element, lanes), !isUnsigned);
    return convertFloat(ir, value, element, lanes);
  };
  auto at = [&](Ix k) {
    Position left = position, right = position;
    left.set(0, k);
    left.live.append(lhsFacts.begin(), lhsFacts.end());
    right.set(1, k);
    right.live.append(rhsFacts.begin(), rhsFacts.end());
    return std::pair(left, right);
  };
  auto turn = [&](Ix k) {
    auto [left, right] = at(k);
    llvm::Value *b = widen(pull(op.getRhs(), right).front(), width, op.getRhsUnsigned());
    Rows a = pull(op.getLhs(), left);
    for (auto [row, place] : llvm::enumerate(accumulators)) {
      llvm::Value *scalar = splat({widen(a[row], 1, op.getLhsUnsigned())}, 1, width).front(),
                  *sum = ir.CreateLoad(vector, place);
      llvm::Value *next = element->isIntegerTy() ? ir.CreateAdd(sum, ir.CreateMul(scalar, b))
                                                 : ir.CreateIntrinsic(llvm::Intrinsic::fma, {vector}, {scalar, b, sum});
      ir.CreateStore(next, place);
    }
  };
  if (held.count(op.getLhs()) || !hasFewTaps(op.getLhs()))
    math.loop(math.constant(0), size, 1, turn);
  else // neighbours under the same guards run together, or not at all if what they read then is zero
    for (int64_t k = 0, end = 0, taps = lhs.getDimSize(rank - 1); k < taps; k = end) {
      auto load = op.getLhs().getDefiningOp<tile::LoadOp>();
      auto guardsAt = [&](int64_t tap) {
        return isZero(load.getFillAttr()) ? commonGuards(load, at(math.constant(tap)).first, nullptr)
                                          : SmallVector<llvm::Value *>();
      };
      SmallVector<llvm::Value *> guards = guardsAt(k);
      for (end = k + 1; end < taps && guardsAt(end) == guards;)
        ++end;
      whereLive(guards, [&] {
        for (int64_t tap = k; tap < end; ++tap)
          turn(math.constant(tap));
      });
    }
  Rows result;
  for (llvm::Value *place : accumulators)
    result.push_back(ir.CreateLoad(vector, place));
  return result;
}

//===- scf.for in registers ---------------------------------------------------------------------------------------===//

/// The body where all guards hold, which it need not ask again.
void Emitter::whereLive(ArrayRef<llvm::Value *> guards, llvm::function_ref<void()> body) {
  llvm::Value *all = nullptr;
  for (llvm::Value *guard : guards)
    all = math.both(all, guard);
  math.when(all, [&] {
    for (llvm::Value *guard : all ? guards : ArrayRef<llvm::Value *>())
      if (!isa<llvm::Constant>(guard))
        math.assume(guard);
    body();
  });
}

Rows Emitter::emitFor(scf::ForOp op, unsigned result, const Position &position) {
  std::optional<int64_t> step = getConstantIntValue(op.getStep());
  if (!step) {
    fail(op, "expected a constant step");
    return pull(op.getInitArgs()[result], position);
  }
  SmallVector<unsigned> carried = carriedTilesOf(op, result);
  std::map<unsigned, SmallVector<llvm::Value *>> slots;
  for (unsigned i : carried)
    for (llvm::Value *value : pull(op.getInitArgs()[i], position)) {
      slots[i].push_back(slot(value->getType()));
      ir.CreateStore(value, slots[i].back());
    }
  auto read = [&](unsigned i) {
    Rows rows;
    for (llvm::Value *place : slots[i])
      rows.push_back(ir.CreateLoad(vectorOf(typeOf(op.getResult(i)), position.width), place));
    return rows;
  };
  auto turn = [&](Ix iv) {
    indices[op.getInductionVar()] = iv;
    tile::LoadOp load = carried.size() == 1 ? loadOfIteration(op, result) : nullptr;
    whereLive(load ? commonGuards(load, position, op) : SmallVector<llvm::Value *>(), [&] {
      for (unsigned i : carried)
        remember(op.getRegionIterArg(i), position, read(i));
      std::map<unsigned, Rows> next;
      for (unsigned i : carried)
        next[i] = pull(op.getBody()->getTerminator()->getOperand(i), position);
      for (unsigned i : carried)
        for (auto [value, place] : llvm::zip_equal(next[i], slots[i]))
          ir.CreateStore(value, place);
    });
  };
  if (isUnrolled(op))
    for (int64_t iv = *getConstantIntValue(op.getLowerBound()), end = *getConstantIntValue(op.getUpperBound());
         iv < end; iv += *step)
      math.once([&] { turn(math.constant(iv)); });
  else
    math.loop(index(op.getLowerBound()), index(op.getUpperBound()), *step, turn);
  for (unsigned i : carried)
    if (i != result)
      remember(op.getResult(i), position, read(i));
  return read(result);
}

} // namespace tilewright::host
