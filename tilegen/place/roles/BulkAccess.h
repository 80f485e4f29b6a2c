// SPDX-License-Identifier: Apache-2.0
// Can the copy engine do this load or store, and how is it told?
//
// The engine copies boxes of a tensor: up to five dimensions, each with a size and a stride in memory, the first of
// stride 1. The address of an access is a polynomial in the coordinates of its tile; where that is a sum of one term a
// dimension, those are the tensor's dimensions:
//
//     tile.load %x[%b, %m, %k] map (d0, d1, d2) -> (d0 floordiv 4, d1, (d0 mod 4) * 64 + d2)    of (2, 128, 256)
//
//     address    d2  +  256 d1  +  64 (d0 mod 4)  +  32768 (d0 floordiv 4)
//     tensor     a box's row and rows; then coordinates that are the same in the whole tile
#pragma once

#include "tilegen/place/AccessFacts.h"

#include <string>

namespace tilewright::tile {

/// How rows of a tile visit the pixels of an image, from the lower corner to the upper one, which counts from the last
/// pixel; x first.
struct PixelBox {
  llvm::SmallVector<int64_t> lower, upper, steps;
  llvm::SmallVector<mlir::AffineExpr> offsets; // added to every pixel: the place in the window; of the load's offsets
};

/// Fastest dimension first.
struct BulkAccess {
  mlir::AffineExpr start;                             // the element at the coordinates 0; of the kernel's symbols
  llvm::SmallVector<mlir::AffineExpr> sizes, strides; // in elements; of the kernel's symbols
  llvm::SmallVector<mlir::AffineExpr> coordinates;    // of the tile's first element; of the load's offsets
  llvm::SmallVector<int64_t> box;
  std::optional<PixelBox> pixels = std::nullopt; // its rows are pixels of a window, rather than neighbours
};

/// `access` as boxes whose rows run along dimension `fast`. Where that cannot be, `why` says so.
std::optional<BulkAccess> bulkAccess(const Access &access, unsigned fast, std::string &why);
/// A load as pixels of windows of images, whose channels run along dimension `fast` (PixelAccess.cpp).
std::optional<BulkAccess> pixelAccess(const Access &load, unsigned fast);

/// The tensor of an access to `buffer`, copied in its boxes; `rounded` to tf32 on the way.
TensorMapOp makeTensorMap(mlir::OpBuilder &b, mlir::Location loc, const BulkAccess &access, mlir::Value buffer,
                          bool rounded = false);
/// The coordinates of the access's tile, whose offsets are given.
llvm::SmallVector<mlir::Value> boxCoordinates(mlir::OpBuilder &b, mlir::Location loc, const BulkAccess &access,
                                              mlir::ValueRange offsets, unsigned symbols);
/// Expressions of the load's offsets as values.
llvm::SmallVector<mlir::Value> valuesOf(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::AffineExpr> exprs,
                                        mlir::ValueRange offsets, unsigned symbols);

} // namespace tilewright::tile
