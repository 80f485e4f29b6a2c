// The group stage: normalized graph IR in, kernels and their launches out.
//
//     func.func @main(%x, %w, %b) {                           func.func @main(%x, %w, %b) {
//       %0 = graph.contract %x, %w                              %0 = graph.launch @gemm_relu(%x, %w, %b)
//       %1 = graph.broadcast %b                       ->        return %0
//       %2 = arith.addf %0, %1                                }
//       %3 = arith.maximumf %2, %zero                         graph.kernel @gemm_relu(%x, %w {graph.constant}, %b {graph.constant}) { ... }
//       return %3
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

#include <optional>

namespace tilewright::fusion {

struct FusionReport;

enum class FusionMode {
  None,     // one kernel an ONNX node
  Epilogue, // contractions and reductions take the elementwise work that follows them
  All,      // every rule of the table
};

/// "none", "epilogue" or "all".
std::optional<FusionMode> parseFusionMode(llvm::StringRef name);
llvm::StringRef name(FusionMode mode);

/// Afterwards @main holds launches, host calls, constants, sizes and reshapes (free views) only, and every kernel is
/// one that `analyze` knows. With `report`, also says why each remaining edge between kernels is one.
mlir::LogicalResult formGroups(mlir::ModuleOp module, FusionMode mode, FusionReport *report = nullptr);

} // namespace tilewright::fusion
