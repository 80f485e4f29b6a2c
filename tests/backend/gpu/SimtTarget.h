// SPDX-License-Identifier: Apache-2.0
// The distributor's verbs as calls through a table, which SimtMachine.cpp fills.
#pragma once

#include "backend/gpu/GpuTarget.h"
#include "tests/backend/gpu/SimtEngine.h"

namespace tilewright::test {

/// Positions in the table `simt_verbs`.
// clang-format off
enum Verb { ThreadId, BlockId, Shuffle, Barrier, Copy, CommitCopies, WaitCopies, ReadMatrices, Multiply, MultiplyShared,
            CommitProducts, WaitProducts, PublishShared, MultiplyBytes, MultiplySharedBytes, MultiplySharedSingles,
            MultiplyHeld, MultiplyHeldSingles, RoundToTf32, MultiplyTf32, Fence, CountUpTo, AwaitKernels, Exp2, Log2,
            SharedMemory, ArriveInCluster, WaitForCluster, InBlock, AddSingles, AddDoubles, VerbCount };
// clang-format on

class SimtTarget final : public GpuTarget {
public:
  SimtTarget(unsigned lanes, bool readsMatrices) : lanes_(lanes), readsMatrices_(readsMatrices) {}

  unsigned lanes() const override { return lanes_; }
  Value threadId(Builder &b) override;
  Value blockId(Builder &b, unsigned dim) override;
  Value shuffle(Builder &b, Value word, unsigned mask) override;
  Value addRounded(Builder &b, Value own, Value received) override;
  void barrier(Builder &b) override;
  void awaitKernelsBefore(Builder &b) override;
  void fence(Builder &b) override;
  void fenceBesideBarrier(Builder &b) override {
    if (lanes_ == 64) // as AMD
      fence(b);
  }
  Value countUpTo(Builder &b, Value address, unsigned most) override;
  bool predicatesLoads() const override { return lanes_ == 32; } // as NVIDIA, and as AMD
  Value loadWhere(Builder &b, Value live, Value address, Value otherwise) override;
  void copy(Builder &b, Value shared, Value global, unsigned bytes, Value live, bool streamed) override;
  void commitCopies(Builder &b) override;
  void waitCopies(Builder &b, unsigned pending) override;
  bool readsMatrices() const override { return readsMatrices_; }
  llvm::SmallVector<Value> readMatrices(Builder &b, Value address, bool transposed) override;
  llvm::SmallVector<Value> multiply(Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                    llvm::ArrayRef<Value> acc, Unsigned isUnsigned) override;
  void startProducts(Builder &) override {}
  llvm::SmallVector<Value> multiplyShared(Builder &b, mlir::Type element, const SharedMatrix &lhs,
                                          const SharedMatrix &rhs, llvm::ArrayRef<Value> acc,
                                          Unsigned isUnsigned) override;
  llvm::SmallVector<Value> multiplyHeld(Builder &b, Value lhs, const SharedMatrix &rhs,
                                        llvm::ArrayRef<Value> acc) override;
  void commitProducts(Builder &b) override;
  llvm::SmallVector<Value> waitProducts(Builder &b, unsigned pending, llvm::ArrayRef<Value> acc) override;
  void publishShared(Builder &b) override;
  void arriveInCluster(Builder &b, bool releases) override;
  void waitForCluster(Builder &b) override;
  Value inBlock(Builder &b, Value shared, Value block) override;
  CopyEngine *copyEngine() override { return &engine_; }
  NativeMath nativeMath() const override { return {.exp2 = true, .log2 = true}; }
  void lowerMath(mlir::Operation *root) override;
  Value sharedMemory(Builder &b, mlir::ModuleOp module, int64_t bytes) override;
  void markKernel(mlir::LLVM::LLVMFuncOp, unsigned) override {}

private:
  Value call(Builder &b, Verb verb, mlir::Type result, mlir::ValueRange arguments);
  Value memory(Builder &b, mlir::Type type);
  llvm::SmallVector<Value> multiplyWords(Builder &b, llvm::ArrayRef<Value> lhs, llvm::ArrayRef<Value> rhs,
                                         llvm::ArrayRef<Value> acc);

  SimtEngine engine_;
  unsigned lanes_;
  bool readsMatrices_;
};

} // namespace tilewright::test
