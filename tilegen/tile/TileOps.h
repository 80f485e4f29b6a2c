// SPDX-License-Identifier: Apache-2.0
// The tile dialect: types, attributes and operations of block programs. TileOps.td is its manual.
#pragma once

#include "frontend/graph/GraphOps.h"

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

namespace tilewright::tile {
/// [1, 128, 128] in the text of attributes.
mlir::FailureOr<llvm::SmallVector<int64_t>> parseSizeList(mlir::AsmParser &parser);
void printSizeList(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> sizes);

/// Limits of the copy engine's tensors (CUDA Driver API, "cuTensorMapEncodeTiled"): dimensions, elements of a box along
/// one of them, and the bytes of a box's row. Rows are swizzled over their length as matrix instructions read them, so
/// they have 128 bytes or, where a tile's are shorter, 64 or 32.
inline constexpr unsigned minTensorMapRank = 2, maxTensorMapRank = 5;
inline constexpr int64_t maxTensorMapBox = 256, tensorMapRowBytes = 128, leastTensorMapRowBytes = 32;
} // namespace tilewright::tile

#include "tilegen/tile/TileDialect.h.inc"
#include "tilegen/tile/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "tilegen/tile/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "tilegen/tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "tilegen/tile/TileOps.h.inc"

namespace tilewright::tile {

/// Is this buffer of a kernel a constant, which nobody writes while kernels run?
bool isConstant(mlir::Value buffer);
/// Is this buffer of a kernel an input of the model, which no kernel before this one has written?
bool isModelInput(mlir::Value buffer);
/// May a kernel before this one have written this buffer?
inline bool isAwaited(mlir::Value buffer) { return !isConstant(buffer) && !isModelInput(buffer); }

/// How many blocks have to be one cluster for this operation; 1 for what a block does by itself.
int64_t blocksOfCluster(mlir::Operation *op);

/// The constants that a map of sizes consists of; nullopt where one depends on a symbol.
std::optional<llvm::SmallVector<int64_t>> constantsOf(mlir::AffineMap sizes);

/// Attribute of a buffer of a kernel that copies to shared memory read with a hint: what they read leaves the
/// second-level cache first, so that it displaces nothing that somebody reads again.
inline constexpr llvm::StringLiteral streamedAttr = "tile.streamed";
bool isStreamed(mlir::Value buffer);

/// Attribute of a kernel whose blocks take several programs each: the grid of these programs, a map.
inline constexpr llvm::StringLiteral programsAttr = "tile.programs";
/// Attributes of a kernel's arguments, for constants that are stored in panels.
inline constexpr llvm::StringLiteral packedFromAttr = "tile.packed_from"; // the map from the panels to the constant
inline constexpr llvm::StringLiteral sourceAttr = "tile.source";          // the constant's type

} // namespace tilewright::tile
