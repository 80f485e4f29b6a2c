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
  /// The same, but read again at this point, so that LLVM cannot compute earlier what depends on it and hold that in
  /// registers. Targets that have enough registers return threadId.
  virtual Value threadIdAnew(Builder &b) { return threadId(b); }
  /// The word, which is the same in all lanes of the warp and of which the target's compiler is told so, if it does not
  /// see that by itself. All lanes of the warp come here together.
  virtual Value uniform(Builder &, Value word) { return word; }
  virtual Value blockId(Builder &b, unsigned dim) = 0;
  /// The i32 `word` of the lane whose number is this one's xor `mask`. Must be executed by all threads of the warp.
  virtual Value shuffle(Builder &b, Value word, unsigned mask) = 0;
  /// The sum of two f32 or f64, which is not contracted with a multiplication that gives `own`. So two lanes that add
  /// what they have and what the other one sent get the same bits: what is sent has been rounded.
  virtual Value addRounded(Builder &b, Value own, Value received) = 0;
  virtual void barrier(Builder &b) = 0;
  /// For kernels that start before the ones before them end (TargetDesc::dependentLaunches): waits until those have
  /// ended and what they wrote is there, then lets the next kernel start. A thread may read nothing but constants
  /// before it, and write nothing.
  virtual void awaitKernelsBefore(Builder &) {}

  /// Orders global memory for all threads of the device: what this thread has written, and its block before a barrier,
  /// comes before what it writes or reads from now on.
  virtual void fence(Builder &b) = 0;
  /// One thread calls `fence` for its block, between two barriers. On some targets that thread's fence orders the whole
  /// block's accesses, because barriers pass the order on; there this does nothing. On others each thread calls a fence
  /// of its own, by this, before the first barrier and after the second.
  virtual void fenceBesideBarrier(Builder &) {}
  /// Atomically adds 1 to the i32 at `address` in global memory, or sets it to 0 if it was `most`. Returns the old
  /// value. Orders no other access.
  virtual Value countUpTo(Builder &b, Value address, unsigned most) = 0;

  /// Whether loads have predicates, so that a condition costs no branch. Then the target has loadWhere.
  virtual bool predicatesLoads() const = 0;
  /// The element at `address` in global memory if `live` (i1) is true, else `otherwise`, which has its type.
  virtual Value loadWhere(Builder &, Value /*live*/, Value /*address*/, Value /*otherwise*/) {
    llvm_unreachable("this target has no predicates");
  }

  /// Copies `bytes` (4, 8 or 16) from global to shared memory. Only the first `live` bytes (i32; null means all) are
  /// read; the others become zero. The copy need not be complete before waitCopies. What is `streamed` leaves the cache
  /// first, if the target can say so.
  virtual void copy(Builder &b, Value shared, Value global, unsigned bytes, Value live, bool streamed) = 0;
  virtual void commitCopies(Builder &b) = 0;
  virtual void waitCopies(Builder &b, unsigned pending) = 0;

  /// Whether the target has readMatrices.
  virtual bool readsMatrices() const = 0;
  /// Reads four 8x8 matrices of 16-bit elements from shared memory. Lane l passes the address of row l % 8 of matrix l
  /// / 8. It receives four words; word i is the elements in row l / 4 and columns l % 4 * 2 and l % 4 * 2 + 1 of matrix
  /// i, or of its transpose.
  virtual llvm::SmallVector<Value> readMatrices(Builder &b, Value address, bool transposed) = 0;
  /// Which operands, if they are bytes, are unsigned.
  struct Unsigned {
    bool lhs = false, rhs = false;
  };
  /// One matrix instruction: fragments as vectors of f16, bf16 or i8 elements in register order, accumulators as f32 or
  /// i32.
  virtual llvm::SmallVector<Value> multiply(Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                            llvm::ArrayRef<Value> acc, Unsigned isUnsigned) = 0;

  /// A matrix in shared memory that an instruction reads by itself (wgmma): in rows of 128, 64 or 32 bytes with the
  /// swizzle of that width, which xors the number of a 16-byte chunk with the number of the 128 bytes that it is in
  /// (tile::SharedLayout).
  struct SharedMatrix {
    static constexpr uint32_t chunkBytes = 16;
    Value base;      // of the first slot: !llvm.ptr<3>, at a multiple of 1024
    Value chunks;    // chunks from there to this warp's part of the slot: i32
    uint32_t offset; // bytes from there to this instruction's part
    uint32_t panels; // bytes from one panel to the next
    bool alongK;     // do rows run along k?
    uint32_t rowBytes;
  };
  /// To be called before the first multiplyShared after anything else has used the accumulators.
  virtual void startProducts(Builder &) { llvm_unreachable("no instruction of this target reads shared memory"); }
  /// One instruction of 64 x n x 16 (64 x n x 32 for bytes), issued by four warps together. It is asynchronous: the
  /// warps continue before it has ended. `acc` are a thread's n / 2 sums. If they are constants of zero, the
  /// instruction overwrites the sums instead of adding to them.
  virtual llvm::SmallVector<Value> multiplyShared(Builder &, mlir::Type /*element*/, const SharedMatrix & /*lhs*/,
                                                  const SharedMatrix & /*rhs*/, llvm::ArrayRef<Value> /*acc*/,
                                                  Unsigned) {
    llvm_unreachable("no instruction of this target reads shared memory");
  }
  /// The same with a left side in registers: `lhs` is a thread's 8 elements of 64 x 16 halves, or 4 of 64 x 8 singles.
  /// These registers must not change until waitProducts. Singles of both sides are truncated to tf32.
  virtual llvm::SmallVector<Value> multiplyHeld(Builder &, Value /*lhs*/, const SharedMatrix & /*rhs*/,
                                                llvm::ArrayRef<Value> /*acc*/) {
    llvm_unreachable("no instruction of this target reads shared memory");
  }
  /// Ends a group of asynchronous instructions, which waitProducts counts.
  virtual void commitProducts(Builder &) { llvm_unreachable("no instruction of this target reads shared memory"); }
  /// Waits until at most `pending` groups have not ended. Returns the values of `acc` after that.
  virtual llvm::SmallVector<Value> waitProducts(Builder &, unsigned /*pending*/, llvm::ArrayRef<Value> /*acc*/) {
    llvm_unreachable("no instruction of this target reads shared memory");
  }
  /// To be called before a barrier: makes what this thread wrote to shared memory visible to such instructions.
  virtual void publishShared(Builder &) {}

  /// Blocks of a cluster run at the same time and have a barrier of their own, on targets with clusters. A thread first
  /// arrives there; if it `releases`, what it has read and written comes before what others do behind their wait. Then
  /// it waits until all threads of the cluster's blocks that have not ended have arrived as often.
  virtual void arriveInCluster(Builder &, bool /*releases*/) { llvm_unreachable("this target has no clusters"); }
  virtual void waitForCluster(Builder &) { llvm_unreachable("this target has no clusters"); }
  /// The place in the shared memory of block number `block` (i32) of the cluster that corresponds to `shared` in this
  /// one. It may be written once that block has started, and until it ends.
  virtual Value inBlock(Builder &, Value /*shared*/, Value /*block*/) {
    llvm_unreachable("this target has no clusters");
  }

  /// Null if the target has no copy engine.
  virtual CopyEngine *copyEngine() { return nullptr; }

  /// The functions that the target has instructions for; lowerMath replaces them by those.
  virtual NativeMath nativeMath() const = 0;
  virtual void lowerMath(mlir::Operation *root) = 0;

  /// A copy of the i32 or i64 `value` that the optimizer cannot see through, so that it computes what depends on it
  /// again instead of keeping it in registers. Targets that have enough registers return `value`.
  virtual Value opaque(Builder &, Value value) { return value; }

  /// The address of the block's shared memory, of which it uses `bytes`.
  virtual Value sharedMemory(Builder &b, mlir::ModuleOp module, int64_t bytes) = 0;
  /// Marks a function as a kernel of `threads` threads a block.
  virtual void markKernel(mlir::LLVM::LLVMFuncOp function, unsigned threads) = 0;
};

} // namespace tilewright
