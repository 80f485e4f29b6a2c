// SPDX-License-Identifier: Apache-2.0
// Random index expressions, for properties that are tested against brute force.
#pragma once

#include "mlir/IR/AffineExpr.h"

#include <random>

namespace tilewright::tests {

class RandomExpr {
public:
  explicit RandomExpr(unsigned seed) : random(seed) {}
  int64_t pick(int64_t n) { return static_cast<int64_t>(random() % n); }

  /// `steps` operations on `leaves`, small constants and each other; what divides is one of `divisors`, or a small
  /// constant.
  mlir::AffineExpr make(llvm::ArrayRef<mlir::AffineExpr> leaves, llvm::ArrayRef<mlir::AffineExpr> divisors, int steps) {
    llvm::SmallVector<mlir::AffineExpr> pool(leaves);
    pool.push_back(mlir::getAffineConstantExpr(pick(9) - 4, leaves[0].getContext()));
    for (int step = 0; step < steps; ++step) {
      mlir::AffineExpr a = pool[pick(pool.size())], b = pool[pick(pool.size())];
      mlir::AffineExpr by = mlir::getAffineConstantExpr(1 + pick(8), a.getContext());
      if (int64_t i = pick(divisors.size() + 1); i < static_cast<int64_t>(divisors.size()))
        by = divisors[i];
      mlir::AffineExpr made[] = {a + b, a - b, a * (pick(9) - 3), a * by, a.floorDiv(by), a % by, a.ceilDiv(by)};
      pool.push_back(made[pick(7)]);
    }
    return pool.back();
  }

private:
  std::mt19937 random;
};

} // namespace tilewright::tests
