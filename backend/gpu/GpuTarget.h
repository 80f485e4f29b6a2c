// SPDX-License-Identifier: Apache-2.0
// What differs from GPU to GPU, as virtual functions. Distribution (Distribute.h) is written once for all in terms of
// them; nvptx/ and amdgcn/ implement them.
//
// Shared memory is !llvm.ptr<3>, global memory !llvm.ptr<1>; both vendors number them so.
#pragma once

#include "backend/gpu/CopyEngine.h"
#include "backend/math/MathExpansion.h"
#include "tilegen/tile/Layout.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {

constexpr unsigned globalSpace = 1, sharedSpace = 3;

class GpuTarget {
public:
  using Builder = mlir::ImplicitLocOpBuilder;
  using Value = mlir::Value;

  virtual ~GpuTarget() = default;

  /// Threads of a warp or wavefront.
  virtual unsigned lanes() const = 0;
  /// The thread's number in its block, and the block's in its grid: i32.
  virtual Value threadId(Builder &b) = 0;
  /// The same, read again at this point: what depends on it is computed behind it, and no register keeps that before.
  /// The value of threadId on targets that have registers enough.
  virtual Value threadIdAnew(Builder &b) { return threadId(b); }
  virtual Value blockId(Builder &b, unsigned dim) = 0;
  /// The i32 that the lane with number (own xor mask) passes. Must be executed by all threads of the warp.
  virtual Value shuffle(Builder &b, Value word, unsigned mask) = 0;
  virtual void barrier(Builder &b) = 0;
  /// For kernels that start before the ones before them end (TargetDesc::dependentLaunches): waits until those have
  /// ended and what they wrote is there, then lets the next kernel start. A thread may read nothing but constants
  /// before it, and write nothing.
  virtual void awaitKernelsBefore(Builder &) {}

  /// Orders global memory for all threads of the device: what this thread has written, and its block before a barrier,
  /// comes before what it writes or reads from now on.
  virtual void fence(Builder &b) = 0;
  /// What each thread of a block needs before a barrier behind which one of them calls `fence`, and after a barrier
  /// behind such a call: nothing where barriers pass on what that one has ordered.
  virtual void fenceBesideBarrier(Builder &) {}
  /// Adds 1 to the i32 in global memory, or makes it 0 where it was `most`; returns what it was. Orders nothing else.
  virtual Value countUpTo(Builder &b, Value address, unsigned most) = 0;

  /// Does a branch around a single load become a predicate, so that later loads need not wait for it?
  virtual bool predicatesLoads() const = 0;

  /// Copies `bytes` (4, 8 or 16) from global to shared memory. Only the first `live` bytes (i32; null means all) are
  /// read; the others become zero. The copy need not be complete before waitCopies.
  virtual void copy(Builder &b, Value shared, Value global, unsigned bytes, Value live) = 0;
  virtual void commitCopies(Builder &b) = 0;
  virtual void waitCopies(Builder &b, unsigned pending) = 0;

  /// Does the target have readMatrices?
  virtual bool readsMatrices() const = 0;
  /// Reads four 8x8 matrices of 16-bit elements from shared memory. Lane l passes the address of row l % 8 of matrix l
  /// / 8. It receives four words; word i is the elements in row l / 4 and columns l % 4 * 2 and l % 4 * 2 + 1 of matrix
  /// i, or of its transpose.
  virtual llvm::SmallVector<Value> readMatrices(Builder &b, Value address, bool transposed) = 0;
  /// Which operands of bytes have no sign.
  struct Unsigned {
    bool lhs = false, rhs = false;
  };
  /// One matrix instruction: fragments as vectors of f16, bf16 or i8 elements in register order, accumulators as f32 or
  /// i32.
  virtual llvm::SmallVector<Value> multiply(Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                            llvm::ArrayRef<Value> acc, Unsigned isUnsigned) = 0;

  /// A matrix in shared memory that an instruction reads by itself: in rows of 128 bytes whose 16-byte chunks are
  /// xor-ed with the row's number (tile::SharedLayout).
  struct SharedMatrix {
    Value base;      // of the slot: !llvm.ptr<3>, at a multiple of 1024
    Value warps;     // bytes from there to this warp's part: i32
    uint32_t offset; // bytes from there to this instruction's part
    uint32_t panels; // bytes from one panel to the next
    bool alongK;     // do rows run along k?
  };
  /// To be called before the first multiplyShared after anything else has used the accumulators.
  virtual void startProducts(Builder &) { llvm_unreachable("no instruction of this target reads shared memory"); }
  /// One instruction of 64 x n x 16 (64 x n x 32 for bytes), issued by four warps together. They continue while it
  /// works. `acc` are a thread's n / 2 sums, which start from zero where they are constants of zero.
  virtual llvm::SmallVector<Value> multiplyShared(Builder &, mlir::Type /*element*/, const SharedMatrix & /*lhs*/,
                                                  const SharedMatrix & /*rhs*/, llvm::ArrayRef<Value> /*acc*/,
                                                  Unsigned) {
    llvm_unreachable("no instruction of this target reads shared memory");
  }
  /// The same with a left side in registers: `lhs` is a thread's 8 elements of 64 x 16 halves, or 4 of 64 x 8 singles,
  /// which must stay as they are until waitProducts. Of singles, the right side's included, what tf32 has no bits for
  /// is left out.
  virtual llvm::SmallVector<Value> multiplyHeld(Builder &, Value /*lhs*/, const SharedMatrix & /*rhs*/,
                                                llvm::ArrayRef<Value> /*acc*/) {
    llvm_unreachable("no instruction of this target reads shared memory");
  }
  /// Ends a group of instructions.
  virtual void commitProducts(Builder &) { llvm_unreachable("no instruction of this target reads shared memory"); }
  /// Waits until at most `pending` groups are at work; `acc` are then the sums.
  virtual llvm::SmallVector<Value> waitProducts(Builder &, unsigned /*pending*/, llvm::ArrayRef<Value> /*acc*/) {
    llvm_unreachable("no instruction of this target reads shared memory");
  }
  /// To be called before a barrier: makes what this thread wrote to shared memory visible to such instructions.
  virtual void publishShared(Builder &) {}

  /// What starts bulk copies, or null.
  virtual CopyEngine *copyEngine() { return nullptr; }

  /// The functions that the target has instructions for; lowerMath replaces them by those.
  virtual NativeMath nativeMath() const = 0;
  virtual void lowerMath(mlir::Operation *root) = 0;

  /// The same i32 or i64, hidden from the optimizer, so that it computes what depends on it again instead of keeping it
  /// in registers. `value` itself on targets that have registers enough.
  virtual Value opaque(Builder &, Value value) { return value; }

  /// The address of the block's shared memory, of which it uses `bytes`.
  virtual Value sharedMemory(Builder &b, mlir::ModuleOp module, int64_t bytes) = 0;
  /// Marks a function as a kernel of `threads` threads a block.
  virtual void markKernel(mlir::LLVM::LLVMFuncOp function, unsigned threads) = 0;
};

} // namespace tilewright
