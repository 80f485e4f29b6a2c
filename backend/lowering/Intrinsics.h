// Calls of LLVM's target intrinsics by name, which spares the targets' dialects.
#pragma once

#include "backend/lowering/GpuTarget.h"

namespace tilewright {

/// Calls `name`; a null `result` means that it has none.
inline mlir::Value callIntrinsic(mlir::ImplicitLocOpBuilder &b, llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments) {
  auto call = result ? mlir::LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name), arguments)
                     : mlir::LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), arguments);
  return result ? call->getResult(0) : mlir::Value();
}

inline mlir::Value wordConstant(mlir::ImplicitLocOpBuilder &b, int64_t value) {
  return mlir::arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

} // namespace tilewright
