// SPDX-License-Identifier: Apache-2.0
// Panels: the form in which a constant right side of a contraction is stored, so that a program reads it in order.
//
//   w: K x N, panels of 64 columns     (panel, k, column within the panel): ceil(N / 64) x K x 64
//
// A right side that is computed from constants element by element, such as weights of four bits with a scale for each
// block, has panels of each of them.
//
// Bytes stand in groups of four along k, so that a machine's dot of four bytes takes whole vectors:
// (panel, k / 4, column within the panel, byte of the four).
#pragma once

#include "tilegen/space/KernelSpace.h"

#include <optional>

namespace tilewright::tilegen {

/// Bytes along k that stand together.
inline constexpr int64_t quad = 4;

/// How one constant is stored in panels.
struct PanelForm {
  unsigned argument;                // the number of the kernel's argument
  mlir::AffineMap from;             // packed coordinates to those of the source
  llvm::SmallVector<int64_t> sizes; // of the packed form
  Exprs coordinates;                // packed coordinates as expressions of the loops
};

/// Whether the right side of a contraction is made of constants that can be stored in panels.
bool isPackable(const KernelSpace &space);

/// Whether the right side is computed from such constants by arithmetic, rather than being one of them behind accesses.
bool isComputedFromConstants(const KernelSpace &space);

/// The panels of `width` columns of each constant that the right side, which is packable, is computed from.
llvm::SmallVector<PanelForm> makePanelForms(const KernelSpace &space, int64_t width);

} // namespace tilewright::tilegen
