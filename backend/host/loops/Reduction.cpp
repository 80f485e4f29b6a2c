// SPDX-License-Identifier: Apache-2.0
#include "backend/host/loops/Reduction.h"

#include "backend/host/Elementwise.h"
#include "backend/host/plan/BackwardWalk.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilewright::host {

using tile::ReduceKind;

llvm::Value *Reduction::combine(ReduceKind kind, llvm::Value *a, llvm::Value *b) {
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
  if (isMax && !keepsNaN) // one instruction instead of three
    return ir.CreateSelect(ir.CreateFCmpOGT(a, b), a, b);
  llvm::Value *result = ir.CreateBinaryIntrinsic(isMax ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, b);
  if (auto *call = dyn_cast<llvm::Instruction>(result))
    call->setHasNoSignedZeros(true);
  return result;
}

static llvm::Value *identity(ReduceKind kind, llvm::Type *type) {
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

/// Combines the vector's halves until one element is left. The order is the same on every target.
llvm::Value *Reduction::acrossLanes(ReduceKind kind, llvm::Value *vector) {
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

struct Reduction::Accumulators {
  ReduceKind kind;
  llvm::Type *element, *wideElement; // of the result, and while it is summed
  unsigned rows;
  std::map<unsigned, SmallVector<llvm::Value *>> slots = {}; // by width
};

/// Combines the register tile of the input at `position` with the accumulators of its width.
void Reduction::accumulate(tile::ReduceOp op, const Position &position, Accumulators &accumulators) {
  auto &slots = accumulators.slots[position.width];
  llvm::Type *vector = vectorOf(accumulators.wideElement, position.width);
  if (slots.empty())
    for (unsigned row = 0; row < accumulators.rows; ++row)
      slots.push_back(function.slot(vector));
  Rows rows = values.tileOf(op.getInput(), position);
  if (stored.second && stored.first == op.getInput())
    tileMemory.store(*stored.second, rows, position);
  for (unsigned row = 0; row < accumulators.rows; ++row) {
    llvm::Value *value = convertIfFloat(ir, rows[row], accumulators.wideElement, position.width);
    if (position.end)
      value = ir.CreateSelect(columnsBeforeEnd(ir, math, position), value, identity(accumulators.kind, vector));
    ir.CreateStore(combine(accumulators.kind, ir.CreateLoad(vector, slots[row]), value), slots[row]);
  }
}

/// Emits the loop over a row's elements twice: without guards for rows that are inside of their buffers, as nearly all
/// rows of a padded image are, and with guards for the others.
void Reduction::runInsideAndOut(tile::ReduceOp op, const Position &position, llvm::function_ref<void()> loop) {
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  llvm::DenseSet<GuardedDim> dims;
  llvm::Value *inside = nullptr;
  walkBackward(op.getInput(), [&](Value value) {
    auto load = value.getDefiningOp<tile::LoadOp>();
    if (load && !values.memoryOf(value) && load.getResult().getType().getShape() == shape && position.rows.size() == 1)
      for (auto [dim, holds] : addresses.guardsOfRow(load, position, shape[op.getDim()])) {
        dims.insert(dim);
        inside = math.both(inside, holds);
      }
    return value.getDefiningOp() && !values.memoryOf(value) && isElementwise(value.getDefiningOp());
  });
  if (!inside)
    return loop();
  math.when(inside, [&] { addresses.withoutGuards(dims, loop); });
  math.when(math.negate(inside), loop);
}

void Reduction::runLoop(tile::ReduceOp op, const Position &position, Accumulators &accumulators) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  unsigned axis = type.getRank() - 1 - op.getDim();
  Ix size = columns.endOfKeys(op.getInput(), axis, math.constant(type.getDimSize(op.getDim())));
  SmallVector<Position::Live> facts;
  Ix whole = columns.liveSize(op.getInput(), axis, size, facts);
  auto *before = cast<llvm::Instruction>(
      ir.CreateFreeze(ir.getFalse())); // marks where accumulators are set, once their widths are known
  Position source = position;
  if (axis == position.laneAxis) {
    source.forget(axis);
    source.live.append(facts.begin(), facts.end());
    llvm::DenseSet<Value> seen;
    values.computeUniform(op.getInput(), source, seen);
    runInsideAndOut(op, source, [&] {
      columns.run(math.constant(0), size, whole, function.vectors.wide, source,
                  [&](const Position &inner) { accumulate(op, inner, accumulators); });
    });
  } else {
    math.loop(math.constant(0), size, 1, [&](Ix k) {
      source.set(axis, k);
      accumulate(op, source, accumulators);
    });
  }
  {
    llvm::IRBuilder<>::InsertPointGuard guard(ir);
    ir.SetInsertPoint(before);
    for (auto &[width, slots] : accumulators.slots)
      for (llvm::Value *place : slots)
        ir.CreateStore(identity(accumulators.kind, vectorOf(accumulators.wideElement, width)), place);
  }
  before->eraseFromParent();
}

/// The accumulators of all widths, combined.
Rows Reduction::results(const Accumulators &accumulators, unsigned resultWidth, bool sumsLanes) {
  auto [kind, element, wideElement, count, allSlots] = accumulators;
  Rows result(count, nullptr);
  for (auto &[width, slots] : allSlots)
    for (unsigned row = 0; row < count; ++row) {
      llvm::Value *value = ir.CreateLoad(vectorOf(wideElement, width), slots[row]);
      if (sumsLanes && width > 1)
        value = acrossLanes(kind, value);
      result[row] = result[row] ? combine(kind, result[row], value) : value;
    }
  for (llvm::Value *&value : result)
    value =
        convertIfFloat(ir, value ? value : identity(kind, vectorOf(wideElement, resultWidth)), element, resultWidth);
  return result;
}

static bool looksForNaN(tile::KernelOp kernel) {
  auto looks = [](Operation *op) {
    auto compare = dyn_cast<arith::CmpFOp>(op);
    bool isLook =
        compare && (compare.getLhs() == compare.getRhs() ||
                    llvm::is_contained({arith::CmpFPredicate::UNO, arith::CmpFPredicate::ORD}, compare.getPredicate()));
    return isLook || isa<math::IsNaNOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(looks).wasInterrupted();
}

/// The maxima of scores in an attention are subtracted from these before exp, and what exp gives is added up and
/// divided by. If a score is a NaN, so is the sum, and everything that is divided by it, whatever the maximum is. Only
/// guards that replace NaNs could tell.
static bool isOfScores(tile::ReduceOp op) {
  auto kernel = op->getParentOfType<tile::KernelOp>();
  tile::ScheduleAttr schedule = kernel.getScheduleAttr();
  return op.getKind() == ReduceKind::Max && schedule && schedule.getRoot() == graph::RootKind::Attention &&
         !looksForNaN(kernel);
}

Rows Reduction::emit(tile::ReduceOp op, const Position &position) {
  llvm::SaveAndRestore restore(keepsNaN, !isOfScores(op));
  llvm::Type *element = function.typeOf(op.getResult());
  Accumulators accumulators{op.getKind(), element, accumulatorType(function.context, element),
                            static_cast<unsigned>(position.rows.size())};
  runLoop(op, position, accumulators);
  unsigned rank = cast<RankedTensorType>(op.getInput().getType()).getRank();
  return results(accumulators, position.width, rank - 1 - op.getDim() == position.laneAxis);
}

} // namespace tilewright::host
