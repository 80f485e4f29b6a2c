// The iteration space of a fused kernel: its loops, where its outputs are in them, and how it addresses its buffers.
//
//   root            loops, in the order of tile dimensions
//   pointwise       the (collapsed) loops of the output
//   row_reduction   those of the rows, and the reduced ones, innermost
//   window          those of the output, and the reduced ones, which are not innermost
//   matmul          batch..., outer reduced..., m, n, k
//   gemv            those of matmul: the schedule's other way to compute a contraction, never a kernel's own root
//
// Schedule selection and emission both start from here, so that a schedule's sizes mean the same to both.
#pragma once

#include "tilegen/space/AccessWalk.h"

namespace tilewright::tilegen {

enum class Root { Pointwise, RowReduction, Matmul, Window, Gemv };
llvm::StringRef rootName(Root root);
/// Whether a schedule named `schedule` can compute a kernel of this root.
bool isScheduledBy(Root root, llvm::StringRef schedule);

struct KernelSpace {
  graph::KernelOp source;
  Root root = Root::Pointwise;
  LoopNest nest;
  llvm::SmallVector<Exprs> outputs;             // coordinates of each returned value
  llvm::SmallVector<DimGroups> buffers;         // merged dimensions of each argument, then of each result
  llvm::SmallVector<mlir::Operation *> loopOps; // the contraction, or the reductions in program order
  llvm::SmallVector<Exprs> loopOpResults;       // coordinates of their results
  mlir::Value lhs, rhs;                         // matmul: the operand with the rows, and the one with the columns
  Exprs lhsCoordinates, rhsCoordinates;

  explicit KernelSpace(LoopNest nest) : nest(std::move(nest)) {}

  llvm::ArrayRef<Loop> loops() const { return nest.loops; }
  llvm::SmallVector<unsigned> loopsOfKind(LoopKind kind) const;
  /// Coordinates of the element of `reduce`'s operand that the loops point at.
  Exprs reducedCoordinates(graph::ReduceOp reduce) const;
  /// The stride of `loop` in an access, in elements: null if it is not a multiple of the loop's index.
  mlir::AffineExpr strideOf(const Access &access, unsigned loop) const;
  /// Of a contraction: whether neighbours along the columns are neighbours in memory wherever the right side is read.
  bool columnsAreContiguous() const;
};

/// The loops of a kernel, with what its module says of symbols.
LoopNest nestOf(graph::KernelOp kernel, llvm::SmallVector<Loop> loops);

/// Fails with a diagnostic at the operation that no root covers.
mlir::FailureOr<KernelSpace> analyzeKernel(graph::KernelOp kernel);

/// The part of analyzeKernel for kernels with a contraction.
mlir::FailureOr<KernelSpace> analyzeContraction(graph::KernelOp kernel, graph::ContractOp contract);

} // namespace tilewright::tilegen
