// SPDX-License-Identifier: Apache-2.0
// The parts of the normalize stage.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

#include <map>
#include <vector>

namespace tilewright::normalize {

void addFoldAccesses(mlir::RewritePatternSet &patterns);
void addRolls(mlir::RewritePatternSet &patterns);
void addPropagateTransposes(mlir::RewritePatternSet &patterns);
void addPropagateReshapes(mlir::RewritePatternSet &patterns);
void addSinkRepeats(mlir::RewritePatternSet &patterns);
void addIntegerContractions(mlir::RewritePatternSet &patterns);
void addFlippedIntegers(mlir::RewritePatternSet &patterns);

/// Dequantizes constants that no integer contraction uses.
void foldDequantized(mlir::func::FuncOp main);

/// Which operations `shareEqual` may merge although they belong to different ONNX nodes.
enum class Sharing {
  Views, // reshapes and constants, which cost nothing
  All,
};

/// Merges equal operations of a block, as far as `sharing` allows. `graph.nodes_of` on the remaining operation lists
/// the ONNX nodes of all.
void shareEqual(mlir::Block &block, Sharing sharing);

/// Orders operands of commutative operations by structural hash, and operations depth first from the function's
/// results.
void orderGraph(mlir::func::FuncOp function);

/// Hashes of operations and types by their text, which does not change from run to run. Printing is slow, and few
/// operations of a graph differ in it, so each text is hashed once.
class TextHashes {
public:
  /// The hash of an operation, without its operands and its ONNX node.
  uint64_t of(mlir::Operation *op);
  uint64_t of(mlir::Type type);

private:
  std::map<std::vector<const void *>, uint64_t> operations;
  llvm::DenseMap<mlir::Type, uint64_t> types;
};

/// Orders the operands of commutative operations by hashes that depend on `ops` only, so that equal groups of
/// operations become textually equal.
void orderOperands(llvm::ArrayRef<mlir::Operation *> ops, TextHashes &hashes);

/// The ONNX nodes that an operation belongs to: several if equal operations were merged.
llvm::SmallVector<int64_t> nodesOf(mlir::Operation *op);

} // namespace tilewright::normalize
