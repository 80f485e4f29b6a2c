// tilewright-opt: reads IR, runs the passes named on its command line, prints IR. What the lit tests drive.
#include "backend/CodePass.h"
#include "backend/Dialects.h"
#include "backend/VerifyStage.h"
#include "fusion/Passes.h"
#include "tilegen/Passes.h"
#include "tilegen/place/PlacePass.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::registerTransformsPasses();
  tilewright::tile::registerPlacePasses();
  tilewright::registerCodePasses();
  tilewright::registerStagePasses();
  tilewright::fusion::registerFusionPasses();
  tilewright::registerTilegenPasses();
  mlir::DialectRegistry registry;
  tilewright::registerDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tilewright's pass driver\n", registry));
}
