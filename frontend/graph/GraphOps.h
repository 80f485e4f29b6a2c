// SPDX-License-Identifier: Apache-2.0
// The graph dialect in C++. GraphOps.td is its manual.
#pragma once

#include "frontend/graph/ConstantPool.h"
#include "frontend/graph/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "frontend/graph/GraphEnums.h.inc"

#include "frontend/graph/GraphDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "frontend/graph/GraphAttrs.h.inc"

#include "frontend/graph/GraphInterfaces.h.inc"

#define GET_OP_CLASSES
#include "frontend/graph/GraphOps.h.inc"

namespace tilewright::graph {

// Names of attributes that all stages share.

// On the module:

/// ["name|OpType", ...]: the ONNX nodes.
inline constexpr llvm::StringLiteral nodesAttr = "graph.nodes";
/// Names of the symbolic dimensions.
inline constexpr llvm::StringLiteral symbolsAttr = "graph.symbols";
/// [[expression, expression, message, relation], ...]: checked at run time; "equal", "not equal" or "at most".
inline constexpr llvm::StringLiteral guardsAttr = "graph.guards";
/// [[symbol, kind, expression, expression], ...]: symbols computed from other symbols; kinds in SizeDefinition.h.
inline constexpr llvm::StringLiteral definitionsAttr = "graph.definitions";
/// [symbol, ...]: symbols that may be 0 even if no tensor is empty. All others are then at least 1.
inline constexpr llvm::StringLiteral mayBeZeroAttr = "graph.may_be_zero";

/// A unit attribute: the module is the body of a loop, and runs once for each iteration.
inline constexpr llvm::StringLiteral repeatedAttr = "graph.repeated";

// On operations, arguments and results:

/// On an operation: its ONNX node, an index into graph.nodes.
inline constexpr llvm::StringLiteral nodeAttr = "graph.node";
/// On a launch: the ONNX nodes that it computes.
inline constexpr llvm::StringLiteral nodesOfAttr = "graph.nodes_of";
/// On @main's arguments and results: the name of the ONNX value.
inline constexpr llvm::StringLiteral nameAttr = "graph.name";
/// On @main's arguments and results: the ONNX element type, as "uint8".
inline constexpr llvm::StringLiteral dtypeAttr = "graph.dtype";
/// On a kernel's argument: the operand is a constant at every launch.
inline constexpr llvm::StringLiteral constantAttr = "graph.constant";
/// On a kernel's argument: the operand is an input of the model at every launch.
inline constexpr llvm::StringLiteral inputAttr = "graph.input";
/// On a launch: its arithmetic, an expression.
inline constexpr llvm::StringLiteral flopsAttr = "graph.flops";
/// On a launch: its traffic, an expression.
inline constexpr llvm::StringLiteral bytesAttr = "graph.bytes";
/// On a launch: [[(batch, m, n, k), type of the operands], ...] for each contraction.
inline constexpr llvm::StringLiteral productsAttr = "graph.products";

} // namespace tilewright::graph
