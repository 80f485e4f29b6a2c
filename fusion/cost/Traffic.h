// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a kernel and the bytes that it must move, as expressions in symbols.
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// Arithmetic operations: two for each multiplication of a contraction, one for each element that a reduction reads or
/// an elementwise operation computes. Conversions count nothing.
mlir::AffineExpr flopsOf(graph::KernelOp kernel);

/// A contraction as a batched matrix product: (batch, m, n, k). A convolution multiplies its windows with its filters.
struct Product {
  std::array<mlir::AffineExpr, 4> sizes;
  mlir::Type type; // of the operands' elements
};

/// Every contraction of the kernel, in program order.
llvm::SmallVector<Product> productsOf(graph::KernelOp kernel);

/// The bytes of a tensor.
mlir::AffineExpr bytesOf(mlir::Type tensor);

/// Bytes read and written, each counted once. An argument that is only read through slices or gathers counts what they
/// read.
mlir::AffineExpr bytesOf(graph::KernelOp kernel);

} // namespace tilewright::fusion
