// SPDX-License-Identifier: Apache-2.0
// Follows coordinates from a kernel's outputs to its arguments: which coordinates of which arguments an output needs,
// without emitting anything.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "tilegen/space/AccessMap.h"

#include <set>

namespace tilewright::tilegen {

/// Coordinates of a value: expressions of loops, then of the index values met on the way.
struct Coordinates {
  Exprs exprs;
  llvm::SmallVector<mlir::AffineExpr> indexSizes;
};

/// The coordinates of `access`'s data for coordinates of its result. Index operands that are new become further index
/// dimensions.
Coordinates throughAccess(graph::AccessOpInterface access, const Coordinates &at, unsigned loops);

/// Where input `i` of `concat` is read for coordinates of the result: shifted along the axis, and out of bounds where
/// another input is meant.
Coordinates throughConcat(graph::ConcatOp concat, unsigned i, const Coordinates &at);
/// Where input `i` of `concat` begins along its axis.
mlir::AffineExpr concatOffset(graph::ConcatOp concat, unsigned i);

/// The dimension of `gather`'s data that index operand `i` selects from, or -1 if it is not a coordinate by itself.
int64_t gatheredDim(graph::GatherOp gather, unsigned i);

/// Collects the accesses to arguments from which values are computed.
class AccessWalk {
public:
  /// Called at contractions and reductions, with the coordinates of their results. The walk goes no further there.
  using AtLoop = llvm::function_ref<void(mlir::Operation *, const Coordinates &)>;

  /// `loops` is how many loops coordinates are written in; found accesses are appended.
  AccessWalk(unsigned loops, llvm::SmallVectorImpl<Access> &accesses) : loops(loops), accesses(accesses) {}

  /// Walks from the element of `value` at `at`. A value is visited once for the same coordinates.
  void walk(mlir::Value value, const Coordinates &at, AtLoop atLoop);

private:
  unsigned loops;
  llvm::SmallVectorImpl<Access> &accesses;
  std::set<std::vector<const void *>> visited; // values, each with its coordinates
};

} // namespace tilewright::tilegen
