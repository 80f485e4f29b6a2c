// SPDX-License-Identifier: Apache-2.0
// The list of dialects: three of our own, and those of MLIR that they build on.
#include "backend/Dialects.h"

#include "frontend/flow/FlowOps.h"
#include "frontend/graph/GraphOps.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<flow::FlowDialect, graph::GraphDialect, tile::TileDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::func::FuncDialect>();
}

} // namespace tilewright
