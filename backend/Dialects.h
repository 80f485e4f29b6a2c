// SPDX-License-Identifier: Apache-2.0
// Every dialect that the pipeline's IR may hold, in one list.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace tilewright {

void registerDialects(mlir::DialectRegistry &registry);

} // namespace tilewright
