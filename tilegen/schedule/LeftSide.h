// SPDX-License-Identifier: Apache-2.0
// How the left side of a contraction is read on the host where it is a tensor in memory, perhaps through a window.
//
// Windows that may leave the tensor are copied with their fill before the products, or read in place with guards
// (`in_place` of the schedule). In place pays for windows of few elements, if the rows of a program are one row of the
// image: only its first and last windows may leave it then, and most elements share their guards.
#pragma once

#include "tilegen/space/KernelSpace.h"

namespace tilewright::tilegen {

class LeftSide {
public:
  explicit LeftSide(const KernelSpace &space);

  /// Whether some row has elements outside of the tensor.
  bool mayLeave() const { return leaves; }

  /// How many rows a program that reads its windows in place should have: those of one row of the image, or the most
  /// where that length is not known. nullopt if windows have too many elements, or rows of the image are too short or
  /// too long.
  std::optional<int64_t> rowsForInPlace() const;

  /// Whether a program of `rowTile` rows reads its window in place.
  bool isInPlace(int64_t rowTile) const;

private:
  bool leaves = false;
  int64_t taps = 0;            // elements of a row that is read in place; 0: too many, or none of f32
  int64_t together = 0;        // neighbours along the innermost reduced loop that are inside or outside together
  int64_t image = 0;           // what divides the number of a row, in all accesses of the kernel; 0: nothing
  int64_t rowOfImage = 0;      // the same, by the first division of the left side's accesses alone
  bool isUnknownImage = false; // the number of rows is a symbol
  bool hasOneReduction = false;
};

} // namespace tilewright::tilegen
