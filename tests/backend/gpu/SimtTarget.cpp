// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/gpu/SimtTarget.h"
#include "backend/gpu/Intrinsics.h"
#include "backend/math/PairReciprocals.h"
#include "backend/nvptx/SplitSingles.h"
#include "tests/backend/gpu/SimtCalls.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

Value SimtTarget::call(Builder &b, Verb verb, Type result, ValueRange arguments) {
  return callThroughTable(b, "simt_verbs", VerbCount, verb, result, arguments);
}

/// Memory of the calling thread for one value; made at the function's start, so that loops make no more of it.
Value SimtTarget::memory(Builder &b, Type type) {
  Operation *op = b.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
  if (!function)
    function = op->getParentOfType<LLVM::LLVMFuncOp>();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  return LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), type, wordConstant(b, 1), 64);
}

Value SimtTarget::threadId(Builder &b) { return call(b, ThreadId, b.getI32Type(), {}); }
Value SimtTarget::blockId(Builder &b, unsigned dim) { return call(b, BlockId, b.getI32Type(), {wordConstant(b, dim)}); }
Value SimtTarget::shuffle(Builder &b, Value word, unsigned mask) {
  return call(b, Shuffle, b.getI32Type(), {word, wordConstant(b, mask)});
}
Value SimtTarget::addRounded(Builder &b, Value own, Value received) {
  bool isDouble = own.getType().isF64();
  return call(b, isDouble ? AddDoubles : AddSingles, own.getType(), {own, received});
}
void SimtTarget::barrier(Builder &b) { call(b, Barrier, {}, {}); }
void SimtTarget::awaitKernelsBefore(Builder &b) { call(b, AwaitKernels, {}, {}); }
void SimtTarget::fence(Builder &b) { call(b, Fence, {}, {}); }
Value SimtTarget::countUpTo(Builder &b, Value address, unsigned most) {
  return call(b, CountUpTo, b.getI32Type(), {address, wordConstant(b, most)});
}
Value SimtTarget::loadWhere(Builder &b, Value live, Value address, Value otherwise) {
  Type type = otherwise.getType();
  auto load = [&](OpBuilder &inner, Location location) {
    Value loaded = LLVM::LoadOp::create(inner, location, type, address, (type.getIntOrFloatBitWidth() + 7) / 8);
    scf::YieldOp::create(inner, location, loaded);
  };
  auto keep = [&](OpBuilder &inner, Location location) { scf::YieldOp::create(inner, location, otherwise); };
  return scf::IfOp::create(b, live, load, keep).getResult(0);
}
void SimtTarget::copy(Builder &b, Value shared, Value global, unsigned bytes, Value live, bool) {
  call(b, Copy, {}, {shared, global, wordConstant(b, bytes), live ? live : wordConstant(b, bytes)});
}
void SimtTarget::commitCopies(Builder &b) { call(b, CommitCopies, {}, {}); }
void SimtTarget::waitCopies(Builder &b, unsigned pending) { call(b, WaitCopies, {}, {wordConstant(b, pending)}); }

SmallVector<Value> SimtTarget::readMatrices(Builder &b, Value address, bool transposed) {
  auto type = VectorType::get(4, b.getI32Type());
  Value words = memory(b, type);
  call(b, ReadMatrices, {}, {address, wordConstant(b, transposed), words});
  Value vector = LLVM::LoadOp::create(b, type, words);
  SmallVector<Value> results;
  for (int64_t i = 0; i < 4; ++i)
    results.push_back(vector::ExtractOp::create(b, vector, i));
  return results;
}

static SmallVector<Value> elementsOf(GpuTarget::Builder &b, Value vector) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i)
    elements.push_back(vector::ExtractOp::create(b, vector, i));
  return elements;
}

/// Operands and sums go through memory, as vectors.
SmallVector<Value> SimtTarget::multiplyWords(Builder &b, ArrayRef<Value> lhs, ArrayRef<Value> rhs,
                                             ArrayRef<Value> acc) {
  SmallVector<Value> pointers;
  for (ArrayRef<Value> values : {lhs, rhs, acc}) {
    auto type = VectorType::get(values.size(), values.front().getType());
    pointers.push_back(memory(b, type));
    LLVM::StoreOp::create(b, vector::FromElementsOp::create(b, type, values), pointers.back());
  }
  call(b, MultiplyTf32, {}, pointers);
  return elementsOf(b, LLVM::LoadOp::create(b, VectorType::get(acc.size(), b.getF32Type()), pointers.back()));
}

/// The instruction's number is its m (16 with n = 8: mma.sync). For AMD's, operands change places and k is cut into
/// steps, as in backend/amdgcn.
SmallVector<Value> SimtTarget::multiply(Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                        ArrayRef<Value> acc, Unsigned isUnsigned) {
  if (cast<VectorType>(lhs.getType()).getElementType().isF32())
    return multiplySingles(
        b, fragments, lhs, rhs, acc, [&](Value value) { return call(b, RoundToTf32, b.getI32Type(), {value}); },
        [&](auto left, auto right, auto sums) { return multiplyWords(b, left, right, sums); });
  auto accType = VectorType::get(acc.size(), acc.front().getType());
  Value sums = memory(b, accType), a = memory(b, lhs.getType()), c = memory(b, rhs.getType());
  auto element = cast<VectorType>(lhs.getType()).getElementType();
  LLVM::StoreOp::create(b, vector::FromElementsOp::create(b, accType, acc), sums);
  bool exchanged = fragments.n != 8, bytes = element.isInteger(8);
  LLVM::StoreOp::create(b, exchanged ? rhs : lhs, a);
  LLVM::StoreOp::create(b, exchanged ? lhs : rhs, c);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  if (bytes)
    call(b, MultiplyBytes, {}, {wordConstant(b, isUnsigned.lhs), wordConstant(b, isUnsigned.rhs), a, c, sums});
  for (unsigned step = 0; step < fragments.steps && !bytes; ++step) {
    auto at = [&](Value base) {
      return LLVM::GEPOp::create(b, pointer, b.getI16Type(), base,
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(step * 4)});
    };
    call(b, Multiply, {},
         {wordConstant(b, fragments.n == 8 ? 8 : fragments.m), wordConstant(b, element.isBF16()), at(a), at(c), sums});
  }
  Value vector = LLVM::LoadOp::create(b, accType, sums);
  SmallVector<Value> results;
  for (int64_t i = 0; i < accType.getNumElements(); ++i)
    results.push_back(vector::ExtractOp::create(b, vector, i));
  return results;
}

/// Where an instruction's part of the matrix starts.
static Value startOf(GpuTarget::Builder &b, const GpuTarget::SharedMatrix &matrix) {
  Value bytes = arith::MulIOp::create(b, matrix.chunks, wordConstant(b, GpuTarget::SharedMatrix::chunkBytes));
  Value offset = arith::AddIOp::create(b, bytes, wordConstant(b, matrix.offset));
  return LLVM::GEPOp::create(b, matrix.base.getType(), b.getI8Type(), matrix.base, ArrayRef<LLVM::GEPArg>{offset});
}

SmallVector<Value> SimtTarget::multiplyShared(Builder &b, Type element, const SharedMatrix &lhs,
                                              const SharedMatrix &rhs, ArrayRef<Value> acc, Unsigned isUnsigned) {
  auto accType = VectorType::get(acc.size(), acc.front().getType());
  Value sums = memory(b, accType);
  LLVM::StoreOp::create(b, vector::FromElementsOp::create(b, accType, acc), sums);
  bool bytes = element.isInteger(8);
  SmallVector<Value> arguments{wordConstant(b, acc.size() * 2),
                               wordConstant(b, bytes ? isUnsigned.lhs | isUnsigned.rhs << 1 : element.isBF16()), sums};
  for (const SharedMatrix *matrix : {&lhs, &rhs}) {
    arguments.push_back(startOf(b, *matrix));
    arguments.push_back(wordConstant(b, matrix->panels));
    arguments.push_back(wordConstant(b, matrix->alongK));
    arguments.push_back(wordConstant(b, matrix->rowBytes));
  }
  call(b, bytes ? MultiplySharedBytes : element.isF32() ? MultiplySharedSingles : MultiplyShared, {}, arguments);
  Value vector = LLVM::LoadOp::create(b, accType, sums);
  SmallVector<Value> results;
  for (int64_t i = 0; i < accType.getNumElements(); ++i)
    results.push_back(vector::ExtractOp::create(b, vector, i));
  return results;
}
SmallVector<Value> SimtTarget::multiplyHeld(Builder &b, Value lhs, const SharedMatrix &rhs, ArrayRef<Value> acc) {
  auto accType = VectorType::get(acc.size(), acc.front().getType());
  Value sums = memory(b, accType), held = memory(b, lhs.getType());
  LLVM::StoreOp::create(b, vector::FromElementsOp::create(b, accType, acc), sums);
  LLVM::StoreOp::create(b, lhs, held);
  Type element = cast<VectorType>(lhs.getType()).getElementType();
  call(b, element.isF32() ? MultiplyHeldSingles : MultiplyHeld, {},
       {wordConstant(b, acc.size() * 2), wordConstant(b, element.isBF16()), sums, held, startOf(b, rhs),
        wordConstant(b, rhs.panels), wordConstant(b, rhs.alongK), wordConstant(b, rhs.rowBytes)});
  Value vector = LLVM::LoadOp::create(b, accType, sums);
  SmallVector<Value> results;
  for (int64_t i = 0; i < accType.getNumElements(); ++i)
    results.push_back(vector::ExtractOp::create(b, vector, i));
  return results;
}
void SimtTarget::commitProducts(Builder &b) { call(b, CommitProducts, {}, {}); }
SmallVector<Value> SimtTarget::waitProducts(Builder &b, unsigned pending, ArrayRef<Value> acc) {
  call(b, WaitProducts, {}, {wordConstant(b, pending)});
  return SmallVector<Value>(acc);
}

void SimtTarget::publishShared(Builder &b) { call(b, PublishShared, {}, {}); }
void SimtTarget::arriveInCluster(Builder &b, bool) { call(b, ArriveInCluster, {}, {}); }
void SimtTarget::waitForCluster(Builder &b) { call(b, WaitForCluster, {}, {}); }
Value SimtTarget::inBlock(Builder &b, Value shared, Value block) {
  return call(b, InBlock, shared.getType(), {shared, block});
}

/// As LLVM does it for GPUs: an addition is contracted with the multiplication before it, even if others need the
/// rounded product too. For the host, LLVM would leave such products alone.
static void contractSums(Operation *root) {
  root->walk([](arith::AddFOp sum) {
    for (auto [factor, other] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
      if (auto product = factor.getDefiningOp<arith::MulFOp>()) {
        GpuTarget::Builder b(sum.getLoc(), sum);
        sum.replaceAllUsesWith(math::FmaOp::create(b, product.getLhs(), product.getRhs(), other).getResult());
        sum.erase();
        return;
      }
  });
}

void SimtTarget::lowerMath(Operation *root) {
  contractSums(root);
  if (lanes_ == 32) // as NVIDIA
    pairReciprocals(root);
  root->walk([&](Operation *op) {
    if (!isa<math::Exp2Op, math::Log2Op>(op))
      return;
    Builder b(op->getLoc(), op);
    op->replaceAllUsesWith(ValueRange{call(b, isa<math::Exp2Op>(op) ? Exp2 : Log2, b.getF32Type(), op->getOperands())});
    op->erase();
  });
}

Value SimtTarget::sharedMemory(Builder &b, ModuleOp, int64_t) {
  Value address = call(b, SharedMemory, LLVM::LLVMPointerType::get(b.getContext()), {});
  return LLVM::AddrSpaceCastOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), sharedSpace), address);
}
