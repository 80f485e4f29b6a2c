// SPDX-License-Identifier: Apache-2.0
#include "tilegen/schedule/LeftSide.h"

#include <numeric>

using namespace mlir;

namespace tilewright::tilegen {

// When reading in place pays: the least neighbours that leave the image together, the most elements of a window, and
// the least and most elements of a row of the image.
static constexpr int64_t leastTogether = 8, mostTaps = 32, leastRowOfImage = 8, longestRowOfImage = 512;

/// The greatest common divisor of the numbers by which `expr` divides loop `dim` itself, rather than a quotient or
/// remainder of it; 0 if it is not divided.
static int64_t firstDivisor(AffineExpr expr, unsigned dim) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !dependsOn(expr, dim))
    return 0;
  int64_t inside = std::gcd(firstDivisor(binary.getLHS(), dim), firstDivisor(binary.getRHS(), dim));
  if (inside || expr.getKind() == AffineExprKind::Add || expr.getKind() == AffineExprKind::Mul)
    return inside;
  return graph::constantSize(binary.getRHS()).value_or(1);
}

/// The greatest common divisor of all numbers by which `expr` divides something that depends on `dim`.
static int64_t commonDivisor(AffineExpr expr, unsigned dim) {
  int64_t result = 0;
  expr.walk([&](AffineExpr inner) {
    auto divided = dyn_cast<AffineBinaryOpExpr>(inner);
    bool divides = inner.getKind() == AffineExprKind::FloorDiv || inner.getKind() == AffineExprKind::Mod;
    if (divides && divided && dependsOn(divided.getLHS(), dim))
      result = std::gcd(result, graph::constantSize(divided.getRHS()).value_or(1));
  });
  return result;
}

/// How many neighbours along the innermost reduced loop are contiguous in `buffer`, and all inside of it or all
/// outside, wherever it is read along reduced loops; 0 if they are not contiguous.
static int64_t guardedTogether(const KernelSpace &space, unsigned buffer) {
  MLIRContext *context = space.nest.context;
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  AffineExpr k = getAffineDimExpr(reduced.back(), context), zero = getAffineConstantExpr(0, context),
             one = getAffineConstantExpr(1, context);
  IndexAlgebra facts = space.nest.algebra();
  int64_t together = graph::constantSize(space.loops()[reduced.back()].size).value_or(1);
  for (const Access &access : space.nest.accesses) {
    bool isSummed = llvm::any_of(access.coordinates, [&](AffineExpr coordinate) {
      return llvm::any_of(reduced, [&](unsigned loop) { return dependsOn(coordinate, loop); });
    });
    if (access.buffer != buffer || !isSummed)
      continue;
    if (space.strideOf(access, reduced.back()) != one)
      return 0;
    MergedCoordinates merged = mergeDims(facts, access.sizes, access.coordinates, space.buffers[buffer]);
    for (auto [coordinate, size] : llvm::zip_equal(merged.coordinates, merged.sizes))
      if (dependsOn(coordinate, reduced.back()) && !facts.isInside(coordinate, size))
        together = std::gcd(
            together, std::gcd(coordinate.replace(k, zero).getLargestKnownDivisor(), size.getLargestKnownDivisor()));
  }
  return together;
}

/// Whether an access may read outside of its buffer. Dimensions that are addressed together are merged first, since it
/// is harder to prove that the separate coordinates of an image of unknown size are inside.
static bool leavesBuffer(const KernelSpace &space, const Access &access) {
  IndexAlgebra facts = space.nest.algebra();
  MergedCoordinates merged = mergeDims(facts, access.sizes, access.coordinates, space.buffers[access.buffer]);
  return llvm::any_of(llvm::zip_equal(merged.coordinates, merged.sizes),
                      [&](auto pair) { return !facts.isInside(std::get<0>(pair), std::get<1>(pair)); });
}

LeftSide::LeftSide(const KernelSpace &space) {
  Value value = space.lhs;
  while (auto access = value.getDefiningOp<graph::AccessOpInterface>())
    value = access.getData();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return;
  unsigned row = space.loopsOfKind(LoopKind::Row).front();
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  for (const Access &access : space.nest.accesses) {
    bool isLeft = access.buffer == argument.getArgNumber() && access.indexSizes.empty();
    leaves |= isLeft && leavesBuffer(space, access);
    for (AffineExpr coordinate : access.coordinates) {
      image = std::gcd(image, commonDivisor(coordinate, row));
      if (isLeft)
        rowOfImage = std::gcd(rowOfImage, firstDivisor(coordinate, row));
    }
  }
  bool isSingle = cast<RankedTensorType>(space.lhs.getType()).getElementType().isF32();
  together = leaves && isSingle ? guardedTogether(space, argument.getArgNumber()) : 0;
  int64_t elements = graph::constantSize(space.loops()[reduced.back()].size).value_or(mostTaps + 1);
  if (elements <= mostTaps && isSingle)
    taps = elements;
  isUnknownImage = !graph::constantSize(space.loops()[row].size);
  hasOneReduction = reduced.size() == 1;
}

std::optional<int64_t> LeftSide::rowsForInPlace() const {
  if (!leaves || !hasOneReduction || !taps)
    return std::nullopt;
  if (image == 0 && isUnknownImage)
    return longestRowOfImage;
  return image >= leastRowOfImage && image <= longestRowOfImage ? std::optional(image) : std::nullopt;
}

bool LeftSide::isInPlace(int64_t rowTile) const {
  return leaves && (together >= leastTogether || (taps && (rowOfImage == 0 || rowOfImage == rowTile)));
}

} // namespace tilewright::tilegen
