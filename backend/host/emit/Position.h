// SPDX-License-Identifier: Apache-2.0
// Where in a tile a register tile lies, and what is known of it.
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
  unsigned width = 1;    // 1: scalars, not vectors
  unsigned run = 0;      // set: lanes from here on are no part of the tile, and the column is a multiple of it
  unsigned laneAxis = 0; // 1: transposed, so that lanes run along a column, `column` is a row and `rows` are columns
  llvm::SmallVector<Live, 4> live;
  Ix end = nullptr; // set: columns from here on are no part of the tile, although lanes reach there
  // Bit per axis: elements outside of the bounds along it are never used, so that a load may clamp the coordinate and
  // read another element instead.
  uint32_t clampable = 0;

  unsigned axes() const { return static_cast<unsigned>(outer.size()) + 2; }
  /// Coordinate along an axis other than 0.
  Ix at(unsigned axis, unsigned row) const { return axis == 1 ? rows[row] : outerAt(axis); }
  Ix outerAt(unsigned axis) const { return outer[outer.size() - (axis - 1)]; }
  Ix &outerAt(unsigned axis) { return outer[outer.size() - (axis - 1)]; }
  void set(unsigned axis, Ix coordinate) {
    if (axis == 0)
      column = coordinate, width = 1, run = 0, end = nullptr;
    else if (axis == 1)
      rows.assign(1, coordinate);
    else
      outerAt(axis) = coordinate;
    forget(axis);
  }
  /// Drops what is known along an axis.
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
