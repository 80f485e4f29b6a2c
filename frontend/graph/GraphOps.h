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

/// Names of the attributes that the whole pipeline shares.
inline constexpr llvm::StringLiteral nodeAttr = "graph.node";       // on operations: index into graph.nodes
inline constexpr llvm::StringLiteral nodesAttr = "graph.nodes";     // on the module: ["name|OpType", ...]
inline constexpr llvm::StringLiteral symbolsAttr = "graph.symbols"; // on the module: names of the symbolic dimensions
/// On the module: [[expression, expression, message, relation], ...]: "equal", "not equal" or "at most" at run time.
inline constexpr llvm::StringLiteral guardsAttr = "graph.guards";
/// On the module: [[symbol, kind, expression, expression], ...]: symbols that follow from others, by a kind of
/// SizeDefinition.h.
inline constexpr llvm::StringLiteral definitionsAttr = "graph.definitions";
/// On the module: [symbol, ...] whose value may be 0 where tensors have elements; all others are then at least 1.
inline constexpr llvm::StringLiteral mayBeZeroAttr = "graph.may_be_zero";
inline constexpr llvm::StringLiteral nameAttr = "graph.name"; // on @main's arguments and results: ONNX value name
inline constexpr llvm::StringLiteral dtypeAttr =
    "graph.dtype"; // on @main's arguments and results: ONNX element type, "uint8"
inline constexpr llvm::StringLiteral constantAttr =
    "graph.constant"; // on a kernel's argument: a constant at every launch
inline constexpr llvm::StringLiteral nodesOfAttr = "graph.nodes_of"; // on a launch: the ONNX nodes whose work it does
inline constexpr llvm::StringLiteral flopsAttr = "graph.flops";      // on a launch: its arithmetic, an expression
inline constexpr llvm::StringLiteral bytesAttr = "graph.bytes";      // on a launch: its traffic, an expression
/// On a launch: [[(batch, m, n, k), type of the operands], ...] for each contraction.
inline constexpr llvm::StringLiteral productsAttr = "graph.products";

} // namespace tilewright::graph
