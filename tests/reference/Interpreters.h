// Two interpreters that know nothing of each other: graph kernels by their definition, tile kernels program by program.
// Numbers are doubles.
//
// Elements of a tile that nothing defines (beyond the bounds of a load without fill) are NaN, so that a program that
// lets them reach its results is found out.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "tilegen/tile/TileOps.h"

#include <vector>

namespace tilewright::tests {

struct Dense {
  std::vector<int64_t> shape;
  std::vector<double> elements;
  int64_t count() const;
};

/// The outputs of `kernel`, where symbols are the module's.
std::vector<Dense> interpretGraph(graph::KernelOp kernel, const std::vector<Dense> &inputs,
                                  llvm::ArrayRef<int64_t> symbols);

/// Runs every program of the grid. `buffers` are those of the inputs, then of the outputs; symbols are the kernel's
/// own. False if a load or store leaves its buffer, a check fails, or an element is stored twice; `error` says which.
bool interpretTile(tile::KernelOp kernel, std::vector<Dense> &buffers, llvm::ArrayRef<int64_t> symbols,
                   std::string &error);

} // namespace tilewright::tests
