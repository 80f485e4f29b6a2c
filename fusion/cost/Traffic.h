// How much arithmetic a kernel does and how many bytes it must move, as expressions in the symbols.
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::fusion {

/// Floating-point operations: two for each step of a contraction, one for each element of a reduction's input and of
/// elementwise work.
mlir::AffineExpr flopsOf(graph::KernelOp kernel);

/// The size of a contraction as one product for each batch: (batch, m, n, k). A convolution is the product of its
/// windows with its filters.
struct Product {
  std::array<mlir::AffineExpr, 4> sizes;
  mlir::Type type; // of the operands' elements
};

/// Every contraction of the kernel, in order.
llvm::SmallVector<Product> productsOf(graph::KernelOp kernel);

/// Unique bytes read and written. An argument that is only read through slices or gathers counts what those read.
mlir::AffineExpr bytesOf(graph::KernelOp kernel);

} // namespace tilewright::fusion
