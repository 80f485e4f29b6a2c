// SPDX-License-Identifier: Apache-2.0
// An index that differs from lane to lane of a vector.
//
//   base + stride * lane          as long as possible: neighbours of a vector are found by one address
//   base + delta[lane]            after a division that lanes cross: the access becomes a gather
//
// base is a sum of terms, each computed in its own scope. A division keeps the first form if alignment shows that no
// lane crosses a multiple of the divisor: (64 q + lane) mod 64 = lane. Lanes of one vector lie within 2^31 elements of
// each other, but for index tiles, which get 64 bits.
#pragma once

#include "backend/host/emit/KernelFunction.h"

namespace tilewright::host {

struct LaneIndex {
  llvm::SmallVector<Ix, 4> base = {}; // summed
  Ix stride = nullptr;                // null: 0
  llvm::Value *delta = nullptr;       // a vector of integers, added; null: 0
  bool signedDelta = false;           // delta may be negative
  unsigned count = 0;                 // number of lanes that are used; 0 if all are equal

  bool isUniform() const { return !stride && !delta; }
};

/// The value of a constant; 0 for null; nullopt if `value` is not constant.
std::optional<int64_t> constantOf(Ix value);

class LaneMath {
public:
  explicit LaneMath(KernelFunction &function) : function(function), ir(function.ir), math(function.math) {}

  /// The value of `expr`, with `dims` for its dimensions.
  LaneIndex evaluate(mlir::AffineExpr expr, llvm::ArrayRef<LaneIndex> dims, unsigned width);
  LaneIndex add(const LaneIndex &a, const LaneIndex &b);
  LaneIndex scale(const LaneIndex &a, Ix factor, unsigned width);
  /// The sum of terms, added in the order that hoists most.
  Ix sum(llvm::ArrayRef<Ix> terms);
  /// delta + stride * lane as a vector; null if all lanes are equal.
  llvm::Value *offsets(Ix stride, llvm::Value *delta, unsigned width);

private:
  struct Algebra;
  LaneIndex divide(const LaneIndex &value, Ix divisor, bool wantRest, unsigned width);
  LaneIndex divideByLane(const LaneIndex &value, Ix base, Ix divisor, bool wantRest, unsigned width);
  std::optional<LaneIndex> divideTerms(llvm::ArrayRef<Ix> terms, int64_t divisor, bool wantRest);

  KernelFunction &function;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
};

} // namespace tilewright::host
