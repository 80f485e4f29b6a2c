// SPDX-License-Identifier: Apache-2.0
// The flow dialect in C++. FlowOps.td is its manual.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "frontend/flow/FlowDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "frontend/flow/FlowTypes.h.inc"

#define GET_OP_CLASSES
#include "frontend/flow/FlowOps.h.inc"
