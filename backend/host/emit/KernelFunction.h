// SPDX-License-Identifier: Apache-2.0
// The LLVM function of one kernel while it is emitted: its builder, its arguments, and the indices of the tile IR.
//
//   void kernel(const HostKernelArgs *arguments, int64_t first, int64_t last)      runtime/plan/KernelAbi.h
//     for (program = first; program < last; ++program) ...
#pragma once

#include "backend/host/HostOptions.h"
#include "backend/host/IndexMath.h"
#include "backend/host/plan/LiveKeys.h"
#include "runtime/Status.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright::host {

class KernelFunction {
public:
  /// Adds the function to `module` and loads what does not depend on the program.
  KernelFunction(llvm::Module &module, tile::KernelOp kernel, const HostOptions &options);

  /// Emits the loop over programs around `emitProgram` and returns from the function. The first failure is the result.
  Status run(llvm::function_ref<void()> emitProgram);

  /// Whether this is the call's first program, or one of `values` is another index than for the program before.
  llvm::Value *differsFromPrevious(llvm::ArrayRef<mlir::Value> values);

  /// Records that the kernel cannot be compiled, for `run` to return. The caller goes on emitting with an arbitrary
  /// value.
  void fail(mlir::Operation *op, const llvm::Twine &reason);

  /// An index of the tile IR: a constant, the program's id, a symbol, a loop's counter, or arithmetic on these.
  Ix index(mlir::Value value);
  void setIndex(mlir::Value value, Ix index) { indices[value] = index; }
  Ix evaluate(mlir::AffineMap map, unsigned result, llvm::ArrayRef<Ix> dims = {}) {
    return evaluate(map.getResult(result), dims);
  }
  Ix evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Ix> dims = {}) { return math.evaluate(expr, dims, symbols); }

  /// How many keys there are in the current tile, which has room for `size`.
  Ix keysIn(const LiveKeys &keys, Ix size) {
    return math.min(size, math.sub(math.constant(0), index(keys.firstLessCount())));
  }

  llvm::Type *typeOf(mlir::Value value);
  /// The pointer of a buffer argument.
  llvm::Value *bufferOf(mlir::Value value) const {
    return buffers[mlir::cast<mlir::BlockArgument>(value).getArgNumber()];
  }
  /// The kernel's arguments: memory that can always be read, as many bytes as the largest element has.
  llvm::Value *readable() const { return arguments; }
  /// A constant of `bytes` zeros, aligned to a cache line.
  llvm::Value *zeros(int64_t bytes);
  llvm::Value *workspace() const { return workspaceBase; }
  llvm::Value *errorWord() const { return errors; }
  /// HostKernelArgs::fetchAhead, in bytes.
  Ix fetchAhead() const { return aheadBytes; }

  /// An alloca for one value of `type`, which LLVM promotes to registers.
  llvm::Value *slot(llvm::Type *type);

  llvm::LLVMContext &context;
  llvm::IRBuilder<> ir;
  IndexMath math;
  const HostOptions &options;
  const VectorUnit vectors;

private:
  void loadArguments();
  Ix indexOf(mlir::Operation *op);
  llvm::SmallVector<Ix, 3> idsOf(Ix number);

  tile::KernelOp kernel;
  llvm::Function *function;
  llvm::Value *arguments = nullptr, *workspaceBase = nullptr, *errors = nullptr;
  Ix aheadBytes = nullptr;
  llvm::SmallVector<llvm::Value *> buffers;
  llvm::SmallVector<Ix> symbols;
  llvm::SmallVector<Ix, 3> grid, programId;
  Ix firstProgram = nullptr, program = nullptr;
  llvm::DenseMap<mlir::Value, Ix> indices; // of symbols and loops
  Status status;
};

} // namespace tilewright::host
