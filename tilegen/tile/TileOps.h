// The tile dialect: types, attributes and operations of block programs. TileOps.td is its manual.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tilegen/tile/TileDialect.h.inc"
#include "tilegen/tile/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "tilegen/tile/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "tilegen/tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "tilegen/tile/TileOps.h.inc"

namespace tilewright::tile {

/// Attributes of a kernel's arguments, for constants that are stored in panels.
inline constexpr llvm::StringLiteral packedFromAttr = "tile.packed_from"; // the map from the panels to the constant
inline constexpr llvm::StringLiteral sourceAttr = "tile.source";          // the constant's type

} // namespace tilewright::tile
