// SPDX-License-Identifier: Apache-2.0
// Calls of LLVM's target intrinsics by name, so that the targets' MLIR dialects are not needed.
#pragma once

#include "backend/gpu/GpuTarget.h"
#include "backend/math/ReciprocalDivisions.h"

namespace tilewright {

/// Calls the intrinsic `name`. A null `result` type: it returns nothing, and neither does this (null).
inline mlir::Value callIntrinsic(mlir::ImplicitLocOpBuilder &b, llvm::StringRef name, mlir::Type result,
                                 mlir::ValueRange arguments) {
  auto call = result ? mlir::LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name), arguments)
                     : mlir::LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), arguments);
  return result ? call->getResult(0) : mlir::Value();
}

inline mlir::Value wordConstant(mlir::ImplicitLocOpBuilder &b, int64_t value) {
  return mlir::arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

/// Replaces each division that ReciprocalDivisions marked by a product with the result of the intrinsic `reciprocal`.
inline void multiplyByReciprocals(mlir::Operation *root, llvm::StringRef reciprocal) {
  root->walk([&](mlir::arith::DivFOp division) {
    if (!division->hasAttr(byReciprocalAttr))
      return;
    mlir::ImplicitLocOpBuilder b(division.getLoc(), division);
    mlir::Value inverse = callIntrinsic(b, reciprocal, b.getF32Type(), division.getRhs());
    division.replaceAllUsesWith(mlir::arith::MulFOp::create(b, division.getLhs(), inverse).getResult());
    division.erase();
  });
}

/// An operation of f32 and the intrinsic that computes it.
using IntrinsicRow = std::pair<llvm::StringRef, llvm::StringRef>;

/// Replaces the operations on f32 below `root` that `rows` name by their intrinsics.
inline void replaceByIntrinsics(mlir::Operation *root, llvm::ArrayRef<IntrinsicRow> rows) {
  root->walk([&](mlir::Operation *op) {
    for (auto [name, intrinsic] : rows)
      if (op->getName().getStringRef() == name && op->getResult(0).getType().isF32()) {
        mlir::ImplicitLocOpBuilder b(op->getLoc(), op);
        op->replaceAllUsesWith(mlir::ValueRange{callIntrinsic(b, intrinsic, b.getF32Type(), op->getOperands())});
        op->erase();
        return;
      }
  });
}

} // namespace tilewright
