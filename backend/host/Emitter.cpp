// Pulls values: memo, uniform values as scalars, elementwise operations, broadcasts, coordinates; and index arithmetic
// on demand.
#include "backend/host/Emitter.h"

#include "backend/host/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::host {

void Emitter::fail(Operation *op, const Twine &reason) {
  if (status.ok())
    status = Status(Code::Unsupported, (Twine("kernel '") + kernel.getSymName() + "': the host backend cannot emit '" +
                                        op->getName().getStringRef() + "': " + reason)
                                           .str());
}

llvm::Type *Emitter::typeOf(Value value) { return elementType(context, value.getType()); }

//===- Index arithmetic -------------------------------------------------------------------------------------------===//

Ix Emitter::evaluate(AffineMap map, unsigned result, ArrayRef<Ix> dims) {
  return math.evaluate(map.getResult(result), dims, symbols);
}

/// Not memoized: IndexMath finds equal arithmetic again by itself, in whatever scope it is still valid.
Ix Emitter::index(Value value) {
  if (auto found = indices.find(value); found != indices.end())
    return found->second;
  if (Operation *op = value.getDefiningOp())
    return indexOf(op);
  fail(value.getParentRegion()->getParentOp(), "a block argument is used before it has a value");
  return math.constant(0);
}

Ix Emitter::indexOf(Operation *op) {
  auto operand = [&](unsigned i) { return index(op->getOperand(i)); };
  return llvm::TypeSwitch<Operation *, Ix>(op)
      .Case([&](tile::ProgramIdOp id) { return programId[id.getDim()]; })
      .Case([&](tile::SizeOp size) {
        SmallVector<Ix> dims;
        for (Value value : size.getOperands())
          dims.push_back(index(value));
        return evaluate(size.getExpr(), 0, dims);
      })
      .Case([&](arith::ConstantOp constant) { return math.constant(cast<IntegerAttr>(constant.getValue()).getInt()); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>([&](auto) { return operand(0); })
      .Case([&](arith::AddIOp) { return math.add(operand(0), operand(1)); })
      .Case([&](arith::SubIOp) { return math.sub(operand(0), operand(1)); })
      .Case([&](arith::MulIOp) { return math.mul(operand(0), operand(1)); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [&](auto) { return math.floorDiv(operand(0), operand(1)); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) { return math.ceilDiv(operand(0), operand(1)); })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) { return math.mod(operand(0), operand(1)); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return math.min(operand(0), operand(1)); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return math.max(operand(0), operand(1)); })
      .Default([&](Operation *other) {
        fail(other, "it is not index arithmetic that a kernel may hold");
        return math.constant(0);
      });
}

//===- Memo -------------------------------------------------------------------------------------------------------===//

Emitter::PositionKey Emitter::keyOf(Value value, const Position &position) {
  PositionKey key = {value.getAsOpaquePointer(), reinterpret_cast<const void *>(uintptr_t(position.width)),
                     position.column, reinterpret_cast<const void *>(uintptr_t(position.unseen)),
                     reinterpret_cast<const void *>(uintptr_t(position.lanes))};
  key.insert(key.end(), position.rows.begin(), position.rows.end());
  key.insert(key.end(), position.outer.begin(), position.outer.end());
  return key;
}

void Emitter::remember(Value value, const Position &position, const Rows &rows) {
  PositionKey key = keyOf(value, position);
  pulled[key] = rows;
  if (pulledAtDepth.size() <= math.depth())
    pulledAtDepth.resize(math.depth() + 1);
  pulledAtDepth[math.depth()].push_back(std::move(key));
}

//===- Values -----------------------------------------------------------------------------------------------------===//

/// 0, 1, 2, ... as a vector.
llvm::Value *Emitter::lanes(llvm::Type *type, unsigned width) {
  if (width == 1)
    return llvm::ConstantInt::get(type, 0);
  SmallVector<llvm::Constant *> elements;
  for (unsigned i = 0; i < width; ++i)
    elements.push_back(llvm::ConstantInt::get(type, i));
  return llvm::ConstantVector::get(elements);
}

/// Repeats a single row, and scalars along the lanes.
Rows Emitter::splat(const Rows &scalars, unsigned rows, unsigned width) {
  Rows result;
  for (llvm::Value *scalar : scalars)
    result.push_back(width == 1 || scalar->getType()->isVectorTy() ? scalar : ir.CreateVectorSplat(width, scalar));
  if (result.size() == 1)
    result.resize(rows, result.front());
  return result;
}

Position Emitter::uniformAt(const Position &position) {
  Position result = position;
  result.column = math.constant(0);
  result.width = 1;
  result.run = 0;
  result.end = nullptr;
  return result;
}

/// Whether all lanes at `position` hold the same element. Asked at every value of a kernel, and of all that it is
/// computed from: so each answer is kept.
bool Emitter::isUniform(Value value, const Position &position) {
  PositionKey key = {position.column, reinterpret_cast<const void *>(uintptr_t(position.width))};
  for (const Position::Live &fact : position.live)
    if (fact.axis == 0)
      key.insert(key.end(), {fact.offset, fact.bound});
  llvm::DenseMap<Value, bool> &known = uniform[key];
  if (auto found = known.find(value); found != known.end())
    return found->second;
  bool result = findUniform(value, position);
  known[value] = result;
  return result;
}

bool Emitter::findUniform(Value value, const Position &position) {
  Operation *op = value.getDefiningOp();
  if (!op || held.count(value))
    return false;
  unsigned last = cast<RankedTensorType>(value.getType()).getRank() - 1;
  auto columnIsLive = [&](ValueRange offsets, AffineMap bounds) {
    Ix offset = index(offsets[last]), bound = evaluate(bounds, last);
    return position.isLive(0, offset, bound) ||
           math.alwaysLess(math.add(math.add(offset, position.column), math.constant(position.width - 1)), bound);
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::ConstantOp) { return true; })
      .Case([&](tile::BroadcastOp broadcast) {
        return cast<RankedTensorType>(broadcast.getInput().getType()).getDimSize(last) == 1 ||
               isUniform(broadcast.getInput(), position);
      })
      .Case([&](tile::LoadOp load) {
        return !load.getMap().isFunctionOfDim(last) &&
               llvm::all_of(load.getIndices(), [&](Value index) { return isUniform(index, position); }) &&
               columnIsLive(load.getOffsets(), load.getBounds());
      })
      .Case([&](tile::CheckOp check) {
        return isUniform(check.getIndex(), position) && columnIsLive(check.getOffsets(), check.getBounds());
      })
      .Case([&](tile::CoordinateOp coordinate) { return coordinate.getDim() != last; })
      .Default([&](Operation *other) {
        return isElementwise(other) &&
               llvm::all_of(other->getOperands(), [&](Value operand) { return isUniform(operand, position); });
      });
}

Rows Emitter::pull(Value value, const Position &position) {
  auto found = pulled.find(keyOf(value, position));
  if (found != pulled.end())
    return found->second;
  Rows rows;
  if (auto memory = held.find(value); memory != held.end())
    rows = loadHeld(memory->second, value, position);
  else if (position.width > 1 && isUniform(value, position))
    rows = splat(pull(value, uniformAt(position)), position.rows.size(), position.width);
  else
    rows = compute(value, position);
  remember(value, position, rows);
  return rows;
}

/// Computes what is equal in all lanes of a row before the loop over its columns, where the memo then finds it.
void Emitter::pullUniform(Value value, const Position &position, llvm::DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  Position lanes = position;
  lanes.column = math.constant(0);
  lanes.width = narrow;
  if (!op || !seen.insert(value).second || held.count(value) || isa<arith::ConstantOp>(op))
    return;
  if (isUniform(value, lanes))
    pull(value, uniformAt(lanes));
  else if (isElementwise(op))
    for (Value operand : op->getOperands())
      pullUniform(operand, position, seen);
}

Rows Emitter::compute(Value value, const Position &position) {
  Operation *op = value.getDefiningOp();
  Rows poison(position.rows.size(), llvm::PoisonValue::get(vectorOf(typeOf(value), position.width)));
  if (!op) {
    fail(value.getParentRegion()->getParentOp(), "a carried tile is read at another place than it is computed at");
    return poison;
  }
  return llvm::TypeSwitch<Operation *, Rows>(op)
      .Case([&](tile::LoadOp load) { return emitLoad(load, position); })
      .Case([&](tile::CheckOp check) { return emitCheck(check, position); })
      .Case([&](tile::BroadcastOp broadcast) { return emitBroadcast(broadcast, position); })
      .Case([&](tile::CoordinateOp coordinate) { return emitCoordinate(coordinate, position); })
      .Case([&](tile::ReduceOp reduce) { return emitReduce(reduce, position); })
      .Case([&](tile::DotOp dot) { return emitDot(dot, position); })
      .Case([&](scf::ForOp loop) { return emitFor(loop, cast<OpResult>(value).getResultNumber(), position); })
      .Default([&](Operation *other) {
        Rows rows = emitElements(other, position);
        return rows.empty() ? poison : rows;
      });
}

static llvm::Constant *constantOf(llvm::Type *type, Attribute element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return llvm::ConstantFP::get(type->getContext(), number.getValue());
  return llvm::ConstantInt::get(type, cast<IntegerAttr>(element).getValue().getSExtValue());
}

llvm::Value *Emitter::convertIfFloat(llvm::Value *value, llvm::Type *element, unsigned width) {
  return value->getType()->isFPOrFPVectorTy() ? convertFloat(ir, value, element, width) : value;
}

Rows Emitter::emitElements(Operation *op, const Position &position) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!elements) {
      fail(op, "only constants of one value are tiles");
      return {};
    }
    return splat({constantOf(typeOf(constant), elements.getSplatValue<Attribute>())}, position.rows.size(),
                 position.width);
  }
  if (!isElementwise(op)) {
    fail(op, "there is no rule for this operation on tiles");
    return {};
  }
  SmallVector<Rows> operands;
  for (Value operand : op->getOperands())
    operands.push_back(pull(operand, position));
  Rows result;
  for (unsigned row = 0; row < position.rows.size(); ++row) {
    SmallVector<llvm::Value *> values;
    for (const Rows &rows : operands)
      values.push_back(rows[row]);
    result.push_back(emitElementwise(ir, op, values, position.width));
  }
  return result;
}

Rows Emitter::emitBroadcast(tile::BroadcastOp op, const Position &position) {
  auto from = cast<RankedTensorType>(op.getInput().getType()), to = cast<RankedTensorType>(op.getResult().getType());
  Position source = position;
  for (unsigned axis = 0, rank = from.getRank(); axis < rank; ++axis)
    if (from.getDimSize(rank - 1 - axis) != to.getDimSize(rank - 1 - axis))
      source.set(axis, math.constant(0));
  return splat(pull(op.getInput(), source), position.rows.size(), position.width);
}

Rows Emitter::emitCoordinate(tile::CoordinateOp op, const Position &position) {
  llvm::Type *type = typeOf(op.getResult());
  unsigned axis = cast<RankedTensorType>(op.getResult().getType()).getRank() - 1 - op.getDim();
  Ix offset = index(op.getOffset());
  Rows rows;
  for (unsigned row = 0; row < position.rows.size(); ++row) {
    Ix first = math.add(offset, axis == 0 ? position.column : position.at(axis, row));
    llvm::Value *value = splat({ir.CreateIntCast(first, type, true)}, 1, position.width).front();
    rows.push_back(axis == 0 ? ir.CreateAdd(value, lanes(type, position.width)) : value);
  }
  return rows;
}

} // namespace tilewright::host
