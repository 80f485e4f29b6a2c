// SPDX-License-Identifier: Apache-2.0
// Building blocks of rewrites: creates accesses at the place of the operation that they replace, and for its ONNX node.
#pragma once

#include "frontend/graph/GraphOps.h"

#include "mlir/IR/PatternMatch.h"

namespace tilewright::normalize {

using Sizes = llvm::SmallVector<mlir::AffineExpr>;

Sizes sizesOf(mlir::Value value);
mlir::RankedTensorType tensorOf(mlir::Value value);
mlir::AffineExpr countOf(mlir::Value value); // the number of elements
bool isUnit(mlir::AffineExpr size);

/// True for arith and math operations that work element by element and have one result.
bool isElementwise(mlir::Operation *op);

/// The permutation that undoes `perm`.
llvm::SmallVector<int64_t> inverse(llvm::ArrayRef<int64_t> perm);

/// The bytes of a constant, a whole number for each element. Empty where they are not available, or bits are packed.
std::span<const std::byte> elementsOf(graph::ConstantOp constant);

/// The bytes of a dense tensor with its dimensions permuted: result dimension i is dimension perm[i].
std::vector<std::byte> permuted(std::span<const std::byte> bytes, llvm::ArrayRef<int64_t> shape,
                                llvm::ArrayRef<int64_t> perm, size_t elementBytes);

/// Creates operations in front of `origin`, with its location and ONNX node. Each function returns its operand if there
/// is nothing to do.
class Rebuild {
public:
  Rebuild(mlir::PatternRewriter &rewriter, mlir::Operation *origin) : rewriter(rewriter), origin(origin) {
    rewriter.setInsertionPoint(origin);
  }

  mlir::Value reshape(mlir::Value data, mlir::ArrayRef<mlir::AffineExpr> sizes);
  /// Result dimension i is operand dimension perm[i].
  mlir::Value transpose(mlir::Value data, llvm::ArrayRef<int64_t> perm);
  /// Operand dimension i becomes result dimension dims[i].
  mlir::Value broadcast(mlir::Value data, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<mlir::AffineExpr> sizes);
  mlir::Value roll(mlir::Value data, llvm::ArrayRef<mlir::AffineExpr> offsets);
  /// A reduction of the kind of `like`.
  mlir::Value reduce(graph::ReduceOp like, mlir::Value input, llvm::ArrayRef<int64_t> axes);
  /// The elementwise operation `op` on other operands, which have these sizes.
  mlir::Value elementwise(mlir::Operation *op, mlir::ValueRange operands, llvm::ArrayRef<mlir::AffineExpr> sizes);

  /// The type with these sizes and the element type of `elementsLike`.
  mlir::RankedTensorType type(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Value elementsLike) const;
  mlir::MLIRContext *context() const { return origin->getContext(); }

private:
  /// Sets the ONNX node of a new operation.
  template <typename Op> mlir::Value named(Op op) {
    if (mlir::Attribute node = origin->getAttr(graph::nodeAttr))
      op->setAttr(graph::nodeAttr, node);
    return op->getResult(0);
  }

  mlir::PatternRewriter &rewriter;
  mlir::Operation *origin;
};

} // namespace tilewright::normalize
