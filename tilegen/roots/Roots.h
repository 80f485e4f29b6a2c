// One emitter a root: each fills the body of a tile kernel whose loops, tile sizes and program offsets are set.
#pragma once

#include "tilegen/emit/Pull.h"

namespace tilewright::tilegen {

mlir::LogicalResult emitPointwise(TileEmitter &emitter);
/// Row reductions and windows: they differ only in which loops are tiled.
mlir::LogicalResult emitReductions(TileEmitter &emitter);
/// `pack` is the width of the right side's panels, 0 for the plain form.
mlir::LogicalResult emitMatmul(TileEmitter &emitter, int64_t pack);

/// A contraction as products and their sum, without tile.dot.
mlir::LogicalResult emitGemv(TileEmitter &emitter);

/// Whether the right side of a contraction is a constant that can be stored in panels, and which argument it is.
std::optional<unsigned> packableArgument(const KernelSpace &space);
/// The form in which panels of `width` columns store it: (panel, batch..., reduced..., column within the panel) -> its
/// own coordinates. Bytes stand in quads: (panel, batch..., reduced... / 4, column within the panel, byte of the quad).
inline constexpr int64_t quad = 4;
struct PanelForm {
  mlir::AffineMap from;             // packed coordinates to those of the source
  llvm::SmallVector<int64_t> sizes; // of the packed form
  Exprs coordinates;                // packed coordinates as expressions of the loops
};
PanelForm makePanelForm(const KernelSpace &space, unsigned argument, int64_t width);

} // namespace tilewright::tilegen
