// How a reshape pairs dimensions: the finest cut of both shapes into runs of equal products.
//
//     (batch, seq, 12, 64)  ->  (batch * seq, 768)      groups  {0, 1} -> {0},  {2, 3} -> {1}
#pragma once

#include "frontend/normalize/Rebuild.h"

namespace tilewright::normalize {

struct DimGroup {
  unsigned fromBegin, fromEnd, toBegin, toEnd;

  unsigned fromCount() const { return fromEnd - fromBegin; }
  unsigned toCount() const { return toEnd - toBegin; }
};

/// Groups that cover all dimensions of both. Dimensions of size 1 that fit nowhere belong to a neighbour.
llvm::SmallVector<DimGroup> dimGroups(llvm::ArrayRef<mlir::AffineExpr> from, llvm::ArrayRef<mlir::AffineExpr> to);

/// Dimensions of [begin, end) that are not of size 1.
unsigned countReal(llvm::ArrayRef<mlir::AffineExpr> sizes, unsigned begin, unsigned end);

} // namespace tilewright::normalize
