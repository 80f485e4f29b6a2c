// SPDX-License-Identifier: Apache-2.0
// Builds the body of a tile.kernel: loops with their current offsets, tiles over them, loads, stores and masks.
//
// A *frame* is the list of loops that the dimensions of a tile stand for, outermost first. A tile has the loop's tile
// size where its values vary with that loop, and size 1 where they do not: what belongs to a row is computed once a
// row, and broadcast where it meets the rest. Every operation is put as far out as the loops that it depends on allow.
#pragma once

#include "tilegen/space/KernelSpace.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace tilewright::tilegen {

using Frame = llvm::SmallVector<unsigned>;

/// Coordinates of an element, as expressions of the space's loops and then of `indices`: tiles of integers, such as
/// those that a gather reads.
struct Place {
  Coordinates at;
  llvm::SmallVector<mlir::Value> indices;
};

/// What an index is checked against.
struct IndexCheck {
  mlir::AffineExpr size;
  int64_t site;     // the ONNX node of the error message
  mlir::Value mask; // of the indices that are read; null: all
  bool mayBeEmpty;  // whether `size` may be 0
};

class TileEmitter {
public:
  /// `symbols` are the module's symbols that the kernel's stand for, `tiles` the tile size of each loop, `indexType`
  /// the integer type in which coordinates are compared.
  TileEmitter(tile::KernelOp kernel, const KernelSpace &space, llvm::ArrayRef<int64_t> symbols,
              llvm::ArrayRef<int64_t> tiles, mlir::Type indexType);

  //===- Loops and scopes
  mlir::OpBuilder &getBuilder() { return builder; }
  int64_t tileOf(unsigned loop) const { return states[loop].tile; }
  mlir::AffineExpr sizeOf(unsigned loop) const { return space.loops()[loop].size; }
  /// Whether one tile covers the whole loop, whatever the symbols.
  bool isWhole(unsigned loop) const;
  /// Whether every tile of the loop is full.
  bool isEven(unsigned loop) const;
  /// Sets where the current tile begins in `loop`, an index.
  void setOffset(unsigned loop, mlir::Value offset);
  /// Until it is widened, tiles of `loop` are the strip of the whole tile that begins at `start` and is `size` wide.
  void narrow(unsigned loop, int64_t start, int64_t size);
  void widen(unsigned loop);
  /// Runs `body` for every tile of `loops`, outermost first, as nested scf.for with the carried tiles; a loop of one
  /// tile is no scf.for.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> forEachTile(llvm::ArrayRef<unsigned> loops, mlir::ValueRange initial, Body body);
  /// The same for the tiles of `loop` from `first` to below `end`.
  llvm::SmallVector<mlir::Value> forTilesBetween(unsigned loop, mlir::Value first, mlir::Value end,
                                                 mlir::ValueRange initial, Body body);
  /// Runs `body` for every element of the current tiles of `loops`, as straight code.
  llvm::SmallVector<mlir::Value> forEachElement(llvm::ArrayRef<unsigned> loops, mlir::ValueRange initial, Body body);
  /// Runs `build` with the end of `block`, which `around` holds, as the innermost scope.
  void within(mlir::Operation *around, mlir::Block *block, llvm::function_ref<void()> build);
  /// The number of the open scope in which a value is defined; 0 is the kernel's body.
  unsigned depthOf(mlir::Value value) const;
  /// Sets the insertion point to the end of scope `depth`.
  void at(unsigned depth);

  //===- Index values and tiles
  /// Expressions of the module's symbols as expressions of the kernel's; as a map of `dims` dimensions.
  mlir::AffineExpr local(mlir::AffineExpr expr) const;
  mlir::AffineMap localMap(unsigned dims, llvm::ArrayRef<mlir::AffineExpr> exprs) const;
  /// The value of a number, or of an expression of the indices `dims` and of the module's symbols; of type index.
  mlir::Value indexConstant(int64_t value);
  mlir::Value index(mlir::AffineExpr expr, mlir::ValueRange dims);
  mlir::Value splat(mlir::TypedAttr value, llvm::ArrayRef<int64_t> shape);
  mlir::Value broadcast(mlir::Value tile, llvm::ArrayRef<int64_t> shape);
  /// The size 1 in every dimension of a frame.
  static llvm::SmallVector<int64_t> ones(const Frame &frame) { return llvm::SmallVector<int64_t>(frame.size(), 1); }
  /// The shape of a tile of values at coordinates `exprs`: size 1 for loops on which none of them depends.
  llvm::SmallVector<int64_t> shapeOf(llvm::ArrayRef<mlir::AffineExpr> exprs, const Frame &frame) const;
  /// The shape to which `shape` and those of `tiles`, of one rank, can be broadcast.
  static llvm::SmallVector<int64_t> joinShapes(mlir::ValueRange tiles, llvm::SmallVector<int64_t> shape);

  //===- Coordinates as values
  /// A tile of the values of `expr`, of the integer type `type`.
  mlir::Value evaluate(mlir::AffineExpr expr, const Place &place, const Frame &frame, mlir::Type type);
  /// A mask of the elements inside [0, size) in every dimension; null where all are proved to be.
  mlir::Value insideMask(const Place &place, llvm::ArrayRef<mlir::AffineExpr> sizes, const Frame &frame);
  /// A mask of the elements below the loop's size, or below `end`, an index.
  mlir::Value liveMask(unsigned loop, const Frame &frame);
  mlir::Value liveMask(unsigned loop, mlir::Value end, const Frame &frame);
  /// `tile` where the mask is true, `otherwise` elsewhere.
  mlir::Value select(mlir::Value mask, mlir::Value tile, mlir::TypedAttr otherwise);

  //===- Memory
  /// If set, elements beyond the ends of parallel loops may be loaded where guards keep them inside of their buffer.
  /// Results that lie there are never stored. Then what neighbouring results share has one mask for all of them.
  void mayLoadBeyondEnds(bool mayLoad) { loadsBeyondEnds = mayLoad; }
  /// The tile at `place` of a buffer of `sizes`. Elements beyond the loops' ends, and those outside of the buffer, load
  /// as `fill`; null is 0.
  mlir::Value load(mlir::Value buffer, const Place &place, llvm::ArrayRef<mlir::AffineExpr> sizes, const Frame &frame,
                   mlir::Type element, mlir::TypedAttr fill);
  /// Stores a tile in the innermost scope.
  void store(mlir::Value tile, mlir::Value buffer, llvm::ArrayRef<mlir::AffineExpr> coordinates, const Frame &frame);
  /// A tile.check of an index tile. Where the mask is false, nothing is reported and the result is 0.
  mlir::Value check(mlir::Value index, const IndexCheck &check, const Frame &frame);

  IndexAlgebra algebra(const Place &place) const { return space.nest.algebra(place.at.indexSizes); }
  const KernelSpace &getSpace() const { return space; }
  mlir::Type getIndexType() const { return indexType; }
  tile::KernelOp getKernel() const { return kernel; }
  unsigned depth() const { return scopes.size() - 1; }
  mlir::Value offsetOf(unsigned loop) const { return states[loop].offset; }
  mlir::Location loc;

private:
  struct LoopState {
    int64_t whole; // from one tile to the next
    int64_t tile;  // `whole`, or the strip that the loop is narrowed to
    mlir::Value offset;
    mlir::Value offsetOfWhole;
  };
  struct Scope {
    mlir::Block *block;
    mlir::Operation *before; // null: the end
  };
  struct Window {
    llvm::SmallVector<mlir::Value> offsets;
    llvm::SmallVector<mlir::AffineExpr> bounds;
    unsigned depth = 0;
  };
  Window windowOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::AffineExpr> exprs, const Frame &frame);
  llvm::SmallVector<mlir::AffineExpr> frameExprs(llvm::ArrayRef<mlir::AffineExpr> exprs, const Frame &frame,
                                                 unsigned indices) const;
  struct Coordinates; // the algebra of them
  mlir::Value castInteger(mlir::Value tile, mlir::Type type);
  void extendBounds(Window &window, llvm::ArrayRef<mlir::AffineExpr> exprs, llvm::ArrayRef<int64_t> guard,
                    const Frame &frame) const;

  tile::KernelOp kernel;
  mlir::MLIRContext *context;
  const KernelSpace &space;
  mlir::OpBuilder builder;
  llvm::SmallVector<LoopState> states;
  llvm::SmallVector<Scope> scopes;
  llvm::SmallVector<mlir::AffineExpr> localSymbols; // by module symbol: the kernel's symbol, or 0 if it has none
  llvm::DenseMap<int64_t, mlir::Value> indexConstants;
  unsigned numSymbols;
  mlir::Type indexType;
  bool loadsBeyondEnds = false;
};

} // namespace tilewright::tilegen
