// The normalize stage's parts.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright::normalize {

void addFoldAccesses(mlir::RewritePatternSet &patterns);
void addPropagateTransposes(mlir::RewritePatternSet &patterns);
void addPropagateReshapes(mlir::RewritePatternSet &patterns);
void addIntegerContractions(mlir::RewritePatternSet &patterns);
void addFlippedIntegers(mlir::RewritePatternSet &patterns);

/// Dequantizes constants of which no integer contraction has become.
void foldDequantized(mlir::func::FuncOp main);

/// Which operations may be one although they came from different ONNX nodes.
enum class Sharing {
  Views, // those that are no work of any node: reshapes and constants
  All,
};

/// One operation for all equal ones; `graph.nodes_of` lists the nodes that a shared one works for.
void shareEqual(mlir::Block &block, Sharing sharing);

/// Operands of commutative operations in the order of their structural hashes, operations depth first from the
/// function's results.
void orderGraph(mlir::func::FuncOp function);

/// Orders the operands of commutative operations among `ops` by what is computed inside, so that equal groups look
/// equal.
void orderOperands(llvm::ArrayRef<mlir::Operation *> ops);

/// The ONNX nodes that an operation works for: several where equal work was shared.
llvm::SmallVector<int64_t> nodesOf(mlir::Operation *op);

} // namespace tilewright::normalize
