// The verbs that a GPU answers. The distributor (Distribute.h) is written in them, once for all; nvptx/ and amdgcn/
// implement them.
//
// Shared memory is !llvm.ptr<3>, global memory !llvm.ptr<1>; both vendors number them so.
#pragma once

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
  virtual Value blockId(Builder &b, unsigned dim) = 0;
  /// The i32 that the lane with number (own xor mask) passes in the same call.
  virtual Value shuffle(Builder &b, Value word, unsigned mask) = 0;
  virtual void barrier(Builder &b) = 0;

  /// Does a branch around one load cost no more than a predicate, and let the next loads start?
  virtual bool predicatesLoads() const = 0;

  /// Copies `bytes` (4, 8 or 16) from global to shared memory, of which the first `live` (i32; null means all) are read
  /// and the others zero. The copy may complete as late as in waitCopies.
  virtual void copy(Builder &b, Value shared, Value global, unsigned bytes, Value live) = 0;
  virtual void commitCopies(Builder &b) = 0;
  virtual void waitCopies(Builder &b, unsigned pending) = 0;

  /// Can readMatrices be called?
  virtual bool readsMatrices() const = 0;
  /// Four 8x8 matrices of 16-bit elements from shared memory: lane l passes the address of row l % 8 of matrix l / 8,
  /// and receives as word i the elements (row l / 4, columns l % 4 * 2 and one more) of matrix i, or of its transpose.
  virtual llvm::SmallVector<Value> readMatrices(Builder &b, Value address, bool transposed) = 0;
  /// Which operands of bytes have no sign.
  struct Unsigned {
    bool lhs = false, rhs = false;
  };
  /// One matrix instruction: fragments as vectors of f16, bf16 or i8 elements in register order, accumulators as f32 or
  /// i32.
  virtual llvm::SmallVector<Value> multiply(Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                            llvm::ArrayRef<Value> acc, Unsigned isUnsigned) = 0;

  /// A matrix in shared memory, in rows of 128 bytes whose 16-byte chunks are xor-ed with the row's number
  /// (tile::SharedLayout), as an instruction reads it by itself.
  struct SharedMatrix {
    Value base;      // of the slot: !llvm.ptr<3>, at a multiple of 1024
    Value warps;     // bytes from there to this warp's part: i32
    uint32_t offset; // and to this instruction's
    uint32_t panels; // bytes from one panel to the next
    bool alongK;     // do rows run along k?
  };
  /// Before the first multiplyShared after something else used the accumulators.
  virtual void startProducts(Builder &) { llvm_unreachable("no instruction of this target reads shared memory"); }
  /// One instruction of 64 x n x 16 (of bytes 32), issued by four warps together, which goes on while they do. `acc`
  /// are a thread's n / 2 sums.
  virtual llvm::SmallVector<Value> multiplyShared(Builder &, mlir::Type /*element*/, const SharedMatrix & /*lhs*/,
                                                  const SharedMatrix & /*rhs*/, llvm::ArrayRef<Value> /*acc*/,
                                                  Unsigned) {
    llvm_unreachable("no instruction of this target reads shared memory");
  }
  /// Ends a group of instructions.
  virtual void commitProducts(Builder &) { llvm_unreachable("no instruction of this target reads shared memory"); }
  /// Waits until at most `pending` groups are at work; `acc` are then the sums.
  virtual llvm::SmallVector<Value> waitProducts(Builder &, unsigned /*pending*/, llvm::ArrayRef<Value> /*acc*/) {
    llvm_unreachable("no instruction of this target reads shared memory");
  }
  /// Before a barrier: lets such instructions see what this thread wrote to shared memory.
  virtual void publishShared(Builder &) {}

  /// Functions that the target computes by itself, and their replacement by its instructions.
  virtual NativeMath nativeMath() const = 0;
  virtual void lowerMath(mlir::Operation *root) = 0;

  /// The same i32 or i64, of which the optimizer knows nothing, so that nothing computed from it is kept for later;
  /// `value` itself where that brings nothing.
  virtual Value opaque(Builder &, Value value) { return value; }

  /// The address of the block's shared memory, of which it uses `bytes`.
  virtual Value sharedMemory(Builder &b, mlir::ModuleOp module, int64_t bytes) = 0;
  /// Marks a function as a kernel of `threads` threads a block.
  virtual void markKernel(mlir::LLVM::LLVMFuncOp function, unsigned threads) = 0;
};

} // namespace tilewright
