// SPDX-License-Identifier: Apache-2.0
// One tile kernel from its text, and its operations by kind and number.
#pragma once

#include "backend/Dialects.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace tilewright::test {

class ParsedKernel {
public:
  explicit ParsedKernel(const std::string &text) : context(registry(), mlir::MLIRContext::Threading::DISABLED) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << "the test's tile text does not parse";
  }

  tile::KernelOp kernel() { return *module->getOps<tile::KernelOp>().begin(); }
  mlir::Block &block() { return kernel().getBody().front(); }

  /// Operation `i` of this kind, in the order of the text.
  template <typename Op> Op get(unsigned i = 0) {
    llvm::SmallVector<Op> found;
    kernel().walk<mlir::WalkOrder::PreOrder>([&](Op op) { found.push_back(op); });
    EXPECT_LT(i, found.size());
    return found[i];
  }

private:
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry result;
    registerDialects(result);
    return result;
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tilewright::test
