// SPDX-License-Identifier: Apache-2.0
// Two dimensions and a symbol, for tests of index expressions.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

namespace tilewright::tests {

struct ExprTest : testing::Test {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::AffineExpr d0 = mlir::getAffineDimExpr(0, &context), d1 = mlir::getAffineDimExpr(1, &context);
  mlir::AffineExpr s0 = mlir::getAffineSymbolExpr(0, &context);
};

} // namespace tilewright::tests
