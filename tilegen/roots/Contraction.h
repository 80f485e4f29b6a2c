// SPDX-License-Identifier: Apache-2.0
// What the two ways to compute a contraction share: the tile of an operand, and the stores.
#pragma once

#include "tilegen/emit/Materialize.h"
#include "tilegen/roots/Panels.h"

namespace tilewright::tilegen {

/// The operands of a kernel's contraction, or of several of one left side, as tiles. The left side is the operand that
/// has the row loops of the kernel's space; in the contraction itself it may be the second operand.
class ContractionOperands {
public:
  explicit ContractionOperands(TileEmitter &emitter)
      : emitter(emitter), space(emitter.getSpace()), contract(mlir::cast<graph::ContractOp>(space.loopOps[0])),
        values(emitter) {}

  graph::ContractOp getContract() const { return contract; }
  bool isLhsUnsigned() const { return isUnsigned(space.lhs); }
  bool isRhsUnsigned() const { return isUnsigned(space.rhs); }

  /// The tile of the left side over the loops `dims`, with zero beyond the end of the loops in `masked`; null after a
  /// diagnostic.
  mlir::Value lhs(const Frame &dims, llvm::ArrayRef<unsigned> masked) {
    return materialize(space.lhs, space.lhsCoordinates, dims, masked);
  }
  /// The right side is read from panels of `width` columns from now on.
  void readPanels(int64_t width) { values.readPanels(makePanelForms(space, width)); }
  /// The same of the right side of contraction `i` of the kernel.
  mlir::Value rhs(const Frame &dims, llvm::ArrayRef<unsigned> masked, size_t i = 0) {
    return materialize(i > 0 ? space.moreRhs[i - 1] : space.rhs, space.rhsCoordinates, dims, masked);
  }

  /// Stores every output, with the tiles `sums` as the results of the contractions. Fails with a diagnostic.
  mlir::LogicalResult storeOutputs(mlir::ValueRange sums, const Frame &dims);

private:
  bool isUnsigned(mlir::Value operand) const {
    graph::ContractOp op = contract;
    return operand == op.getLhs() ? op.getLhsUnsigned() : op.getRhsUnsigned();
  }
  mlir::Value materialize(mlir::Value operand, llvm::ArrayRef<mlir::AffineExpr> coordinates, const Frame &dims,
                          llvm::ArrayRef<unsigned> masked);

  TileEmitter &emitter;
  const KernelSpace &space;
  graph::ContractOp contract;
  Materializer values;
};

} // namespace tilewright::tilegen
