// SPDX-License-Identifier: Apache-2.0
// The position of a register tile in a tile, with facts about its coordinates.
#pragma once

#include "backend/host/IndexMath.h"

namespace tilewright::host {

/// A register tile: `rows.size()` rows of `width` neighbouring elements. Axes are counted from the innermost: 0 is the
/// column, 1 the row, 2 and up are `outer` from its end. Every coordinate is relative to the tile's origin.
struct Position {
  /// offset + coordinate < bound for the whole register tile along `axis`.
  struct Live {
    unsigned axis;
    Ix offset, bound;
  };

  llvm::SmallVector<Ix, 2> outer;
  llvm::SmallVector<Ix, 8> rows;
  Ix column = nullptr;
  unsigned width = 1; // 1: scalars, not vectors
  unsigned run = 0;   // not 0: lanes from here on are not part of the tile; the column is a multiple of it
  // Lanes run along this axis. It has traded places with axis 0: if it is 1, `column` is a row and `rows` are columns.
  unsigned laneAxis = 0;
  llvm::SmallVector<Live, 4> live;
  Ix end = nullptr; // not null: columns from here on are not part of the tile, although lanes reach there
  // Bit per axis: elements outside of the bounds along it are never used, so that a load may clamp the coordinate and
  // read another element instead.
  uint32_t clampable = 0;

  unsigned axes() const { return static_cast<unsigned>(outer.size()) + 2; }
  /// The coordinate along `axis` of the first lane of row number `row`.
  Ix at(unsigned axis, unsigned row) const {
    unsigned place = placeOf(axis);
    return place == 0 ? column : place == 1 ? rows[row] : outerAt(place);
  }
  void set(unsigned axis, Ix coordinate) {
    unsigned place = placeOf(axis);
    if (place == 0)
      column = coordinate, width = 1, run = 0, end = nullptr;
    else if (place == 1)
      rows.assign(1, coordinate);
    else
      outerAt(place) = coordinate;
    forget(axis);
  }
  /// 0: the coordinate along `axis` is `column`; 1: it is in `rows`; 2 and up: outerAt.
  unsigned placeOf(unsigned axis) const { return axis == laneAxis ? 0 : axis == 0 ? laneAxis : axis; }
  Ix outerAt(unsigned place) const { return outer[outer.size() - (place - 1)]; }
  Ix &outerAt(unsigned place) { return outer[outer.size() - (place - 1)]; }
  /// Drops all facts about an axis.
  void forget(unsigned axis) {
    forgetLive(axis);
    clampable &= ~(1u << axis);
  }
  void forgetLive(unsigned axis) {
    llvm::erase_if(live, [&](const Live &fact) { return fact.axis == axis; });
  }
  bool isLive(unsigned axis, Ix offset, Ix bound) const {
    return llvm::any_of(
        live, [&](const Live &fact) { return fact.axis == axis && fact.offset == offset && fact.bound == bound; });
  }
  bool isClampable(unsigned axis) const { return clampable >> axis & 1; }
};

} // namespace tilewright::host
