// SPDX-License-Identifier: Apache-2.0
// tilewright-opt: reads IR, runs the passes named on its command line, prints IR. What the lit tests drive.
#include "backend/Dialects.h"
#include "backend/Passes.h"
#include "backend/gpu/Passes.h"
#include "backend/math/Passes.h"
#include "frontend/normalize/Passes.h"
#include "fusion/Passes.h"
#include "tilegen/Passes.h"
#include "tilegen/place/Passes.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::registerTransformsPasses();
  tilewright::normalize::registerNormalizePasses();
  tilewright::fusion::registerFusionPasses();
  tilewright::registerTilegenPasses();
  tilewright::tile::registerPlacePasses();
  tilewright::registerMathPasses();
  tilewright::registerGpuPasses();
  tilewright::registerBackendPasses();
  mlir::DialectRegistry registry;
  tilewright::registerDialects(registry);
  registry.insert<mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::vector::VectorDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tilewright's pass driver\n", registry));
}
