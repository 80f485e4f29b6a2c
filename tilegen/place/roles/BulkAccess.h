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
//     tensor     two dimensions of the box, along its rows and across; two coordinates that are the same in the tile
#pragma once

#include "tilegen/place/AccessFacts.h"

#include <string>

namespace tilewright::tile {

/// How rows of a tile visit the pixels of an image: those from corner `lower` to corner `upper`, `steps` pixels apart.
/// `upper` counts from the last pixel of the image. Each vector has x first, then y, then z.
struct PixelBox {
  llvm::SmallVector<int64_t> lower, upper, steps;
  llvm::SmallVector<mlir::AffineExpr> offsets; // added to every pixel: the tap of the window; of the load's offsets
};

/// An access as the copy engine does it: a tensor, and where a box of it begins. Each vector has the dimension that is
/// contiguous in memory first.
struct BulkAccess {
  mlir::AffineExpr start;                             // the element at the coordinates 0; of the kernel's symbols
  llvm::SmallVector<mlir::AffineExpr> sizes, strides; // in elements; of the kernel's symbols
  llvm::SmallVector<mlir::AffineExpr> coordinates;    // of the tile's first element; of the load's offsets
  llvm::SmallVector<int64_t> box;                     // sizes in elements; the first is 128 bytes at most
  std::optional<PixelBox> pixels = std::nullopt;      // the rows of a box are pixels of windows of an image
};

/// `access` as boxes whose rows run along dimension `fast` of the tile and have `leastRowBytes` or more. nullopt where
/// that cannot be; then `why` is the reason, as it follows "because" in a remark.
std::optional<BulkAccess> bulkAccess(const Access &access, unsigned fast, std::string &why,
                                     int64_t leastRowBytes = tensorMapRowBytes);
/// A load as pixels of windows of images, whose channels run along dimension `fast` of the tile (PixelAccess.cpp), of
/// which it has `leastRowBytes` or more. nullopt for loads of another form.
std::optional<BulkAccess> pixelAccess(const Access &load, unsigned fast, int64_t leastRowBytes);

/// The tensor map of an access to `buffer`, an argument of a kernel; created unless the kernel has an equal one, as two
/// strips of a tile and the stores of two groups do. Singles are `rounded` to tf32 when copied.
TensorMapOp makeTensorMap(mlir::OpBuilder &b, mlir::Location loc, const BulkAccess &access, mlir::Value buffer,
                          bool rounded = false);
/// The coordinates at which a box begins, as values, for a tile at `offsets`, in a kernel with that number of
/// `symbols`.
llvm::SmallVector<mlir::Value> boxCoordinates(mlir::OpBuilder &b, mlir::Location loc, const BulkAccess &access,
                                              mlir::ValueRange offsets, unsigned symbols);
/// Expressions of the load's offsets and of the kernel's `symbols` as values.
llvm::SmallVector<mlir::Value> valuesOf(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::AffineExpr> exprs,
                                        mlir::ValueRange offsets, unsigned symbols);

} // namespace tilewright::tile
