// SPDX-License-Identifier: Apache-2.0
// The reassociation of a reshape: the finest grouping of the dimensions of both shapes so that groups have equal
// products.
//
//     (batch, seq, 12, 64)  ->  (batch * seq, 768)      groups  {0, 1} -> {0},  {2, 3} -> {1}
#pragma once

#include "frontend/normalize/Rebuild.h"

namespace tilewright::normalize {

struct ReassociationGroup {
  unsigned fromBegin, fromEnd, toBegin, toEnd;

  unsigned fromCount() const { return fromEnd - fromBegin; }
  unsigned toCount() const { return toEnd - toBegin; }
};

/// The groups cover all dimensions of both shapes. Dimensions of size 1 are added to a neighbouring group.
llvm::SmallVector<ReassociationGroup> reassociation(llvm::ArrayRef<mlir::AffineExpr> from,
                                                    llvm::ArrayRef<mlir::AffineExpr> to);

/// The number of dimensions in [begin, end) that are not of size 1.
unsigned countReal(llvm::ArrayRef<mlir::AffineExpr> sizes, unsigned begin, unsigned end);

} // namespace tilewright::normalize
