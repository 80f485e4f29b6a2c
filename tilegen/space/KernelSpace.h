// SPDX-License-Identifier: Apache-2.0
// The iteration space of a fused kernel: its loops, where its outputs are in them, and how it addresses its buffers.
//
//   root            loops, in the order of tile dimensions
//   Pointwise       the (collapsed) loops of the output
//   RowReduction    those of the rows, and the reduced ones, innermost
//   Window          those of the output, and the reduced ones, which are not innermost
//   Matmul, Gemv    batch..., outer reduced..., m, n, k
//   Attention       batch..., rows, keys (reduced), columns of the values, head (reduced)
//
// Schedule selection and emission both start from here, so that a schedule's sizes mean the same to both.
#pragma once

#include "fusion/Attention.h"
#include "tilegen/space/AccessWalk.h"

namespace tilewright::tilegen {

/// A mask of an attention's scores, and the keys for which its result equals the operand that it masks
/// (fusion/keys/NeutralMasks.h).
struct NeutralMask {
  mlir::Operation *mask;
  mlir::Value scores; // the operand that it masks
  Exprs at;           // coordinates of the result
  Exprs from, below;  // in loops
};

/// The value that schedule selection assumes for a size that is only known when running.
struct AssumedSize {
  mlir::AffineExpr size; // of a loop
  int64_t value;
  bool isMost; // the launch makes sure that the size is not larger
};

struct KernelSpace {
  graph::KernelOp source;
  graph::RootKind root = graph::RootKind::Pointwise; // as which the loops are ordered
  LoopNest nest;
  llvm::SmallVector<Exprs> outputs;             // coordinates of each returned value
  llvm::SmallVector<DimGroups> buffers;         // merged dimensions of each argument, then of each result
  llvm::SmallVector<mlir::Operation *> loopOps; // the contractions, or the reductions in program order
  llvm::SmallVector<Exprs> loopOpResults;       // coordinates of their results
  mlir::Value lhs, rhs;                         // matmul: the operand with the rows, and the one with the columns
  llvm::SmallVector<mlir::Value> moreRhs;       // of further contractions of lhs, at the same coordinates as rhs
  Exprs lhsCoordinates, rhsCoordinates;
  std::optional<fusion::Attention> attention; // whose queries and keys are lhs and rhs
  Exprs logits, row, values;                  // coordinates of what its softmax reads, of the results of its
                                              // reductions, and of what its second contraction mixes
  Exprs keysFrom, keysBelow;                  // where the keys that count in a row begin and end, as far as loops tell
  llvm::SmallVector<NeutralMask> masks;       // in program order
  std::optional<AssumedSize> assumed;         // for schedule selection

  explicit KernelSpace(LoopNest nest) : nest(std::move(nest)) {}

  llvm::ArrayRef<Loop> loops() const { return nest.loops; }
  llvm::SmallVector<unsigned> loopsOfKind(LoopKind kind) const;
  /// The size of `loop` for schedule selection: what is assumed of one that is not known, else `typical`.
  int64_t expectedSize(unsigned loop, int64_t typical = 1024) const;
  /// The size that `loop` has at most, if that is known or promised.
  std::optional<int64_t> mostOf(unsigned loop) const;
  /// Coordinates of the element of `reduce`'s operand that the loops point at.
  Exprs reducedCoordinates(graph::ReduceOp reduce) const;
  /// The stride of `loop` in an access, in elements; 0 if the access does not depend on it, null if its address is not
  /// linear in it.
  mlir::AffineExpr strideOf(const Access &access, unsigned loop) const;
  /// Of a contraction: whether neighbours along the columns are neighbours in memory wherever the right side is read.
  bool columnsAreContiguous() const;
  /// The same of neighbours along the innermost reduced loop, wherever the left side is read.
  bool rowsRunAlongReduction() const;
  /// The same, wherever the right side is read.
  bool columnsRunAlongReduction() const;
};

/// What an operand of the kernel reads through accesses: an argument, or what computes it.
mlir::Value memoryOf(mlir::Value operand);

/// A nest of `loops` for `kernel`, with the symbols that its module says may be 0.
LoopNest nestOf(graph::KernelOp kernel, llvm::SmallVector<Loop> loops);

// The iteration spaces of the table of roots. Each fails with a diagnostic at the operation that does not fit.

/// Of a kernel whose loops are those of its outputs, with or without reductions. Whether the reduced loops are
/// innermost (rows) or not (windows) follows from memory, unless `as` says it.
mlir::FailureOr<KernelSpace> analyzeOutputs(graph::KernelOp kernel, std::optional<graph::RootKind> as);

/// Of a kernel with one contraction, or several of one left side (fusion/Geometry.h); the same whether it is computed
/// as matmul or gemv.
mlir::FailureOr<KernelSpace> analyzeContraction(graph::KernelOp kernel, std::optional<graph::RootKind> as);

/// Of a kernel with a softmax between two contractions.
mlir::FailureOr<KernelSpace> analyzeAttention(graph::KernelOp kernel, std::optional<graph::RootKind> as);

} // namespace tilewright::tilegen
