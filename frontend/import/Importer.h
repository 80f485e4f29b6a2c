// SPDX-License-Identifier: Apache-2.0
// ONNX models become graph IR. This is the frontend's entry point, and the only one that the driver needs.
#pragma once

#include "frontend/state/ImportOptions.h"
#include "frontend/state/ImportReport.h"
#include "runtime/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright {

/// Registers all dialects that imported modules use.
void registerFrontendDialects(mlir::DialectRegistry &registry);

/// Reads the model at `path`. Fails with one sentence: Io (no such file), Malformed (not a valid or safe model),
/// Unsupported (names the node, operator and opset; all of them are in `report`), Usage (options that do not fit the
/// model).
Expected<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext &context, const std::string &path,
                                                        const ImportOptions &options, ImportReport *report = nullptr);

/// The same for a model in memory. External data is looked for in `folder`.
Expected<mlir::OwningOpRef<mlir::ModuleOp>> importModelBytes(mlir::MLIRContext &context, std::string_view bytes,
                                                             const std::string &folder, const ImportOptions &options,
                                                             ImportReport *report = nullptr);

} // namespace tilewright
