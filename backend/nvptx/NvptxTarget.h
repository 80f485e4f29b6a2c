// SPDX-License-Identifier: Apache-2.0
// The verbs of backend/gpu/GpuTarget.h in NVIDIA's intrinsics, for sm_80 and newer.
#pragma once

#include "backend/gpu/GpuTarget.h"
#include "backend/nvptx/NvptxCopyEngine.h"
#include "tilegen/TargetDesc.h"

namespace tilewright {

class NvptxTarget final : public GpuTarget {
public:
  explicit NvptxTarget(const TargetDesc &desc)
      : startsEarly_(desc.dependentLaunches), engine_(desc.roles.prefetchesMaps) {}
  unsigned lanes() const override { return 32; }
  Value threadId(Builder &b) override;
  Value threadIdAnew(Builder &b) override;
  Value uniform(Builder &b, Value word) override;
  Value blockId(Builder &b, unsigned dim) override;
  Value shuffle(Builder &b, Value word, unsigned mask) override;
  Value addRounded(Builder &b, Value own, Value received) override;
  void barrier(Builder &b) override;
  void awaitKernelsBefore(Builder &b) override;
  void fence(Builder &b) override;
  Value countUpTo(Builder &b, Value address, unsigned most) override;
  bool predicatesLoads() const override { return true; }
  Value loadWhere(Builder &b, Value live, Value address, Value otherwise) override;
  void copy(Builder &b, Value shared, Value global, unsigned bytes, Value live, bool streamed) override;
  void commitCopies(Builder &b) override;
  void waitCopies(Builder &b, unsigned pending) override;
  bool readsMatrices() const override { return true; }
  llvm::SmallVector<Value> readMatrices(Builder &b, Value address, bool transposed) override;
  llvm::SmallVector<Value> multiply(Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                    llvm::ArrayRef<Value> acc, Unsigned isUnsigned) override;
  void startProducts(Builder &b) override;
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
  NativeMath nativeMath() const override { return {.exp2 = true, .log2 = true, .rsqrt = true}; }
  void lowerMath(mlir::Operation *root) override;
  Value opaque(Builder &b, Value value) override;
  Value sharedMemory(Builder &b, mlir::ModuleOp module, int64_t bytes) override;
  void markKernel(mlir::LLVM::LLVMFuncOp function, unsigned threads) override;

private:
  bool startsEarly_; // TargetDesc::dependentLaunches
  int opaqueValues_ = 0;
  NvptxCopyEngine engine_;
};

} // namespace tilewright
