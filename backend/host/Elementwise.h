// SPDX-License-Identifier: Apache-2.0
// Elementwise arith and math operations as LLVM instructions on scalars and vectors.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/IR/IRBuilder.h"

namespace tilewright::host {

/// The LLVM type of an element: index is i64; an i1 is an i1 in registers.
llvm::Type *elementType(llvm::LLVMContext &context, mlir::Type type);

/// `type` itself, or a vector of `width` of it if width > 1.
llvm::Type *vectorOf(llvm::Type *type, unsigned width);

/// Whether the results of `op` are computed element by element from operands of the same shape.
bool isElementwise(mlir::Operation *op);

/// A rough number of instructions that `op` takes for one vector: what it costs to compute it again.
unsigned elementwiseCost(mlir::Operation *op);

/// n, if `op` is a product p 2^n that is one instruction (scalesAttr of backend/math/MathFunctions.h): emitElementwise
/// then takes n in place of the power. Null for every other operation.
mlir::Value exponentOfScale(mlir::Operation *op);

/// Emits `op` on operands of `width` lanes; null if there is no rule for it.
llvm::Value *emitElementwise(llvm::IRBuilder<> &ir, mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands,
                             unsigned width);

/// Converts between floating-point types, scalars or vectors of `width`. Rounds to nearest even. No conversion calls a
/// library.
llvm::Value *convertFloat(llvm::IRBuilder<> &ir, llvm::Value *value, llvm::Type *element, unsigned width);

} // namespace tilewright::host
