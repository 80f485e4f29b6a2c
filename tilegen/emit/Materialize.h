// SPDX-License-Identifier: Apache-2.0
// Emits the tile of a value from the tiles of its producers.
//
//   materialize(%2, (d0, d1))                tile.load %x[...] map (d0, d1) -> (d1, d0)
//     %1 = graph.transpose %x perm [1, 0]    math.exp : tensor<4x64xf32>
//     %2 = math.exp %1
//
// Elementwise operations are cloned onto tiles, and accesses compose into the maps of loads. The results of the root's
// contraction or reductions are the tiles that the root's emitter has set for them.
#pragma once

#include "tilegen/emit/TileEmitter.h"
#include "tilegen/roots/Panels.h"

namespace tilewright::tilegen {

class Materializer {
public:
  explicit Materializer(TileEmitter &emitter) : emitter(emitter) {}

  /// The tile of `value` at `place`; null after a diagnostic.
  mlir::Value materialize(mlir::Value value, const Place &place, const Frame &frame);
  /// The same, with `dead` for elements beyond the end of the loops in `masked`.
  mlir::Value materializeMasked(mlir::Value value, Place place, const Frame &frame, llvm::ArrayRef<unsigned> masked,
                                mlir::TypedAttr dead);
  /// Makes `tile` the tile of `result` from now on, at whatever place it is needed: a contraction's or reduction's
  /// result.
  void resolve(mlir::Value result, mlir::Value tile) { resolved[result] = tile; }
  /// Loads the arguments of `forms` from their panels from now on.
  void readPanels(llvm::ArrayRef<PanelForm> forms) { panels.assign(forms.begin(), forms.end()); }
  /// Stores returned value `i`. Fails with a diagnostic.
  mlir::LogicalResult store(unsigned i, const Frame &frame);

private:
  using Key = std::vector<const void *>;
  Key keyOf(mlir::Value value, const Place &place, const Frame &frame, mlir::Attribute fill) const;
  mlir::Value find(const Key &key) const;
  void simplify(Place &place) const;
  mlir::Value emit(mlir::Value value, const Place &place, const Frame &frame);
  mlir::Value emitAccess(graph::AccessOpInterface access, const Place &place, const Frame &frame);
  mlir::Value emitConcat(graph::ConcatOp concat, const Place &place, const Frame &frame);
  mlir::Value emitElementwise(mlir::Operation *op, const Place &place, const Frame &frame);
  mlir::Value loadArgument(mlir::BlockArgument argument, const Place &place, const Frame &frame, mlir::TypedAttr fill);
  mlir::Value loadThroughRenaming(mlir::Value value, Place place, const Frame &frame, mlir::TypedAttr fill);
  mlir::Value materializeWithFill(mlir::Value value, Place place, const Frame &frame, llvm::ArrayRef<unsigned> masked,
                                  mlir::TypedAttr fill);
  mlir::Value checkedIndex(graph::GatherOp gather, unsigned i, Place place, const Frame &frame);
  std::optional<Place> through(graph::AccessOpInterface access, const Place &place, const Frame &frame);

  TileEmitter &emitter;
  llvm::SmallVector<PanelForm> panels;
  llvm::DenseMap<mlir::Value, mlir::Value> resolved;
  std::map<Key, mlir::Value> known;
};

} // namespace tilewright::tilegen
