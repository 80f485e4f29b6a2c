// SPDX-License-Identifier: Apache-2.0
// Products of one left side, each with the elementwise operations that follow it, walked in step.
#pragma once

#include "fusion/products/JoinVerdict.h"

#include "frontend/graph/GraphOps.h"

#include <optional>

namespace tilewright::fusion {

/// A contraction whose right side is a constant that nothing else reads.
struct JoinableProduct {
  graph::ContractOp contract;
  int64_t rightDim, resultDim; // the outermost column loop, in the constant and in the result
  int64_t columns;             // its size

  graph::ConstantOp weights() const { return graph::ContractOp(contract).getRhs().getDefiningOp<graph::ConstantOp>(); }
};

/// nullopt if `contract` is no such product, or does not multiply floats.
std::optional<JoinableProduct> joinableProduct(graph::ContractOp contract);

/// The types of the constant and of the result with one column: equal types can be joined.
llvm::SmallVector<mlir::Type> typesWithoutColumns(const JoinableProduct &product);

/// A strand is a product with the elementwise operations that follow it. A step is one operation of each strand: the
/// same in all, with constants as other operands. A strand that lacks a multiplication which others have is multiplied
/// by 1, which is exact.
class ProductStrands {
public:
  explicit ProductStrands(llvm::ArrayRef<JoinableProduct> products);

  /// Joined if the readers of the strand's last value can take a slice of the joined result instead.
  JoinVerdict verdictOn(size_t strand) const;
  /// Replaces the strands by one, and the last value of each by a slice of its result.
  void join();

private:
  /// A strand's part of a step: `op` reads the strand's value at `position` and `other`, if it has two operands. All
  /// null in a strand that is multiplied by 1.
  struct Part {
    mlir::Operation *op = nullptr;
    unsigned position = 0;
    mlir::Value other;
  };
  using Step = llvm::SmallVector<Part>;

  static std::optional<Part> partAfter(mlir::Value value);
  static llvm::SmallVector<Part> scaleAfter(mlir::Value value);
  bool isStep(const Step &step) const;
  bool takeCommonStep();
  bool takeScale();
  mlir::Value joinContractions(mlir::OpBuilder &builder) const;
  mlir::Value joinStep(const Step &step, mlir::Value value, mlir::OpBuilder &builder) const;
  llvm::SmallVector<int64_t> columns() const;

  llvm::SmallVector<JoinableProduct> products;
  llvm::SmallVector<mlir::Value> ends;
  llvm::SmallVector<Step> steps;
};

} // namespace tilewright::fusion
