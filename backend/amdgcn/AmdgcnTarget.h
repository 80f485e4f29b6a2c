// SPDX-License-Identifier: Apache-2.0
// The verbs of backend/gpu/GpuTarget.h in AMD's intrinsics, for CDNA 2 and 3 (gfx90a, gfx942).
#pragma once

#include "backend/gpu/GpuTarget.h"

namespace tilewright {

class AmdgcnTarget final : public GpuTarget {
public:
  explicit AmdgcnTarget(unsigned lanes) : lanes_(lanes) {}

  unsigned lanes() const override { return lanes_; }
  Value threadId(Builder &b) override;
  Value blockId(Builder &b, unsigned dim) override;
  Value shuffle(Builder &b, Value word, unsigned mask) override;
  Value addRounded(Builder &b, Value own, Value received) override;
  void barrier(Builder &b) override;
  void fence(Builder &b) override;
  void fenceBesideBarrier(Builder &b) override { fence(b); }
  Value countUpTo(Builder &b, Value address, unsigned most) override;
  bool predicatesLoads() const override { return false; } // a branch waits for its loads
  void copy(Builder &b, Value shared, Value global, unsigned bytes, Value live, bool streamed) override;
  void commitCopies(Builder &) override {}
  void waitCopies(Builder &, unsigned) override {}
  bool readsMatrices() const override { return false; }
  llvm::SmallVector<Value> readMatrices(Builder &b, Value address, bool transposed) override;
  llvm::SmallVector<Value> multiply(Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                    llvm::ArrayRef<Value> acc, Unsigned) override;
  NativeMath nativeMath() const override { return {.exp2 = true, .log2 = true, .rsqrt = true}; }
  void lowerMath(mlir::Operation *root) override;
  Value opaque(Builder &b, Value value) override;
  Value sharedMemory(Builder &b, mlir::ModuleOp module, int64_t bytes) override;
  void markKernel(mlir::LLVM::LLVMFuncOp function, unsigned threads) override;

private:
  unsigned lanes_, opaqueValues_ = 0;
};

} // namespace tilewright
