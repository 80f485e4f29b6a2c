// SPDX-License-Identifier: Apache-2.0
// What a target with a copy engine has besides GpuTarget's verbs: copies of boxes of a tensor, barriers in shared
// memory that count arrivals and bytes, and roles of warps. ../nvptx and the imitated GPU of tests/backend/gpu
// implement it.
//
// A barrier here is an mbarrier. It has phases, numbered from 0. A phase ends, and the next one begins, when it has had
// the number of arrivals that the barrier was made with and all bytes that it was told to expect. One waits for the
// parity of a phase's number: the wait ends when the last phase that ended has that parity. Before phase 0 ends, a wait
// for parity 1 ends at once.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {

class CopyEngine {
public:
  using Builder = mlir::ImplicitLocOpBuilder;
  using Value = mlir::Value;

  virtual ~CopyEngine() = default;

  /// Says that argument number `index` of the kernel is a tensor map (KernelAbi.h).
  virtual void markTensorMap(mlir::LLVM::LLVMFuncOp function, unsigned index) = 0;
  /// Prefetches a tensor map, so that the first copy need not wait for it. Executed by one thread.
  virtual void prefetchMap(Builder &b, Value map) = 0;
  /// Asks for the line of 128 bytes at a global address, so that it is in the second-level cache when a copy reads it.
  virtual void prefetchLine(Builder &b, Value address) = 0;
  /// Starts the copy of the box at `coordinates` (i32, fastest dimension first) to `shared`. Its bytes count for
  /// `barrier`. `offsets` (i32, x first) are added to each pixel where the map's rows are pixels; else there are none.
  /// What is `streamed` leaves the second-level cache first, if the target can say so.
  virtual void copyBox(Builder &b, Value shared, Value map, llvm::ArrayRef<Value> coordinates,
                       llvm::ArrayRef<Value> offsets, Value barrier, bool streamed) = 0;

  /// Starts the copy of the box at `shared` to `coordinates` of the tensor. Elements that would lie outside of the
  /// tensor are not stored. What threads wrote to shared memory must be published before (GpuTarget::publishShared).
  virtual void storeBox(Builder &b, Value shared, Value map, llvm::ArrayRef<Value> coordinates) = 0;
  /// Ends a group of the stores that this thread has started.
  virtual void commitStores(Builder &b) = 0;
  /// Waits until all but the last `pending` groups of this thread have read their shared memory.
  virtual void awaitStores(Builder &b, unsigned pending) = 0;
  /// Whether this thread is the one of its warp, always the same, that starts copies (i1). Whole warps call it. `lane`
  /// is the thread's number in the warp.
  virtual Value elect(Builder &b, Value lane) = 0;
  /// Writes four 8x8 matrices of 16-bit elements to shared memory, as GpuTarget::readMatrices reads them: lane l passes
  /// the address of row l % 8 of matrix l / 8, and four words. Word i is the pair of elements in row l / 4 of matrix i
  /// that starts in column l % 4 * 2.
  virtual void writeMatrices(Builder &b, Value address, llvm::ArrayRef<Value> words) = 0;
  /// A barrier of the warp, which orders shared memory.
  virtual void meetWarp(Builder &b) = 0;

  /// Makes a barrier at `address` whose phases take `arrivals` arrivals each. Executed by one thread, which calls
  /// publishBarriers behind the last one, before a barrier of the block.
  virtual void makeBarrier(Builder &b, Value address, unsigned arrivals) = 0;
  virtual void publishBarriers(Builder &b) = 0;
  /// Arrives, and makes the phase expect `bytes` more.
  virtual void expectBytes(Builder &b, Value barrier, unsigned bytes) = 0;
  virtual void arrive(Builder &b, Value barrier) = 0;
  /// Waits for a phase of that parity (i32).
  virtual void waitPhase(Builder &b, Value barrier, Value parity) = 0;
  /// Lets so much time pass that copies which can start have ended. Only injected faults need it.
  virtual void pause(Builder &b) = 0;

  /// A barrier of `threads` threads; `number` (i32) is from 1 to 15.
  virtual void roleBarrier(Builder &b, Value number, unsigned threads) = 0;
  /// Gives each thread of the calling warps `registers` registers; `more` says whether that is more or fewer than they
  /// have.
  virtual void setRegisters(Builder &b, unsigned registers, bool more) = 0;
};

} // namespace tilewright
