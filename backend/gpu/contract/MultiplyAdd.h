// SPDX-License-Identifier: Apache-2.0
// A tile.dot without matrix units: each thread multiplies and adds what its accumulators need. Internal to backend/gpu.
#pragma once

#include "backend/gpu/KernelDistributor.h"

namespace tilewright {

class KernelDistributor::MultiplyAdd {
public:
  MultiplyAdd(KernelDistributor &d, tile::DotOp op);
  /// The accumulators afterwards.
  Registers run();

private:
  /// One operand: where it is, its layout for the elements that this thread reads, and its dimension that is summed
  /// over.
  struct Factor {
    const SharedTile &shared;
    tile::Layout layout;
    tile::TileShape shape;
    unsigned kDim;
    bool isUnsigned;
  };
  using Elements = llvm::DenseMap<uint32_t, Value>; // by their flat index in the tile

  Factor factor(Value operand, unsigned kDim, bool isUnsigned);
  Value widen(Value value, bool isUnsigned);
  Elements read(const Factor &factor, unsigned k, Value moved);
  Registers multiply(Registers acc, Value lhsMoved, Value rhsMoved);
  Registers loopOverSteps(Registers acc);

  KernelDistributor &d_;
  mlir::ImplicitLocOpBuilder &b_;
  tile::DotOp op_;
  tile::Layout layout_; // of the accumulators
  tile::TileShape shape_;
  unsigned m_, n_; // dimensions
  Factor lhs_, rhs_;
  mlir::Type element_, sum_;
  unsigned steps_;    // the size of k
  unsigned unrolled_; // steps that are emitted as straight code, in a loop if there are more
  unsigned depth_;    // steps whose elements are read together
};

} // namespace tilewright
