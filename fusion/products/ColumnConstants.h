// SPDX-License-Identifier: Apache-2.0
// Constant operands of several operations side by side, as one operand.
#pragma once

#include "frontend/graph/GraphOps.h"

#include <optional>

namespace tilewright::fusion {

/// One operand of each strand (ProductStrands.h), to be joined along dimension `dim`, in which strand i has columns[i]
/// elements. A null value stands for the constant 1.
struct ColumnOperands {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<int64_t> columns;
  int64_t dim;
};

/// True if a value is one float everywhere, which is known.
bool isOneNumber(mlir::Value value);

/// True if all are constants, or broadcasts and casts of constants, of the same form.
bool areJoinable(const ColumnOperands &operands);

/// The joined operand, of type `type`, created where `builder` stands.
mlir::Value joined(const ColumnOperands &operands, mlir::RankedTensorType type, mlir::OpBuilder &builder);

/// Joins the bytes of constants along `dim`, adds them to the pool of constants, and returns their key.
std::string joinedKey(llvm::ArrayRef<mlir::Operation *> constants, int64_t dim);

/// `type` with `size` elements along `dim`.
mlir::RankedTensorType withSize(mlir::RankedTensorType type, int64_t dim, int64_t size);

} // namespace tilewright::fusion
