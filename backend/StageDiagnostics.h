// SPDX-License-Identifier: Apache-2.0
// Errors of stages: what MLIR reports while one runs becomes a sentence about the ONNX node, or about a file.
#pragma once

#include "backend/Stage.h"
#include "runtime/Status.h"

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace tilewright {

/// Collects the errors of a stage. Only the first is reported.
class StageDiagnostics {
public:
  explicit StageDiagnostics(mlir::MLIRContext &context);

  /// IR that was read from `file` may have been edited, so the file is at fault; otherwise it is a bug of the compiler.
  Status failure(Stage stage, const std::string &file) const;

private:
  mlir::ScopedDiagnosticHandler handler;
  std::string first;
};

} // namespace tilewright
