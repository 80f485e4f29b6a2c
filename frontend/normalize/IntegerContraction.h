// SPDX-License-Identifier: Apache-2.0
// A contraction of dequantized operands while it is rewritten as a contraction of integers. IntegerContractions.cpp
// explains the rewrite; ZeroPoints.cpp subtracts what the zero points contribute.
#pragma once

#include "frontend/normalize/Quantized.h"
#include "frontend/normalize/Rebuild.h"

namespace tilewright::normalize {

/// A tensor along some of the result's dimensions; it is the same along the others.
struct Along {
  mlir::Value value;
  llvm::SmallVector<int64_t> dims;
};

class IntegerContraction {
public:
  IntegerContraction(graph::ContractOp op, mlir::PatternRewriter &rewriter)
      : op(op), rewriter(rewriter), build(rewriter, op), node(op->getAttr(graph::nodeAttr)) {}
  mlir::LogicalResult run();

private:
  // Operands. `i` is 0 for lhs, 1 for rhs.
  bool isConstant(unsigned i);
  mlir::LogicalResult chooseSigns();
  mlir::Value withFlippedSign(mlir::Value integers);
  mlir::Value transposedWeights(mlir::AffineMap &map);
  mlir::Value operandOf(unsigned i);
  std::optional<int64_t> resultDim(unsigned i, int64_t operandDim);
  llvm::SmallVector<std::optional<int64_t>> resultDims(unsigned i);
  std::optional<int64_t> depth();
  bool keepsOrder(unsigned i);

  // Parameters.
  mlir::Value number(double value, mlir::Type element, Sizes sizes);
  mlir::Value broadcast(const Along &data);
  bool canSpread(unsigned i, const QuantizationParameter &parameter);
  Along along(unsigned i, const QuantizationParameter &parameter, mlir::Type element, double offset = 0);
  mlir::Value rescaled(mlir::Value sums);

  // ZeroPoints.cpp
  mlir::Value sumsOfWeights(llvm::ArrayRef<std::optional<int64_t>> places, int64_t products, int64_t factor);
  bool fillsWithUnknownZero(unsigned i);
  bool canSumInside();
  Along sumsInside();
  Along sumsAtRunTime(unsigned i, mlir::Value operand);
  Along product(Along a, Along b);
  mlir::Value minusZeroPoint(unsigned i, mlir::Value sums, mlir::Value otherOperand);

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    auto made = Op::create(rewriter, op.getLoc(), std::forward<Args>(args)...);
    if (node)
      made->setAttr(graph::nodeAttr, node);
    return made->getResult(0);
  }

  graph::ContractOp op;
  mlir::PatternRewriter &rewriter;
  Rebuild build;
  mlir::Attribute node;
  Quantized side[2];
  unsigned weights = 1; // the constant side if there is one
  bool isFloat = false;
};

} // namespace tilewright::normalize
