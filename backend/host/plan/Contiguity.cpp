// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/Contiguity.h"

#include "tilegen/index/Facts.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

using index::Facts;

/// The greatest common divisor of the numbers by which coordinate `dim` is divided in `expr`; 0 if it is not divided.
static int64_t divisorsOf(AffineExpr expr, unsigned dim) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !expr.isFunctionOfDim(dim))
    return 0;
  int64_t inside = std::gcd(divisorsOf(binary.getLHS(), dim), divisorsOf(binary.getRHS(), dim));
  if (inside || expr.getKind() == AffineExprKind::Add || expr.getKind() == AffineExprKind::Mul)
    return inside;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return divisor ? divisor.getValue() : 1;
}

/// Whether neighbours along `dim` are neighbours in the buffer within each vector of `vector` elements that begins at a
/// multiple of that number.
static bool isContiguousInVectors(AffineMap map, unsigned dim, int64_t vector) {
  SmallVector<Facts> dims(map.getNumDims()), symbols(map.getNumSymbols());
  dims[dim].divisor = vector;
  dims[dim].slope = 1;
  auto slopeOf = [&](AffineExpr expr) { return index::factsOf(expr, dims, symbols, vector).slope; };
  return llvm::all_of(map.getResults().drop_back(), [&](AffineExpr expr) { return slopeOf(expr) == 0; }) &&
         slopeOf(map.getResults().back()) == 1;
}

std::optional<int64_t> contiguousRun(AffineMap map, unsigned dim) {
  if (map.getNumResults() == 0) // a buffer of one element
    return std::nullopt;
  int64_t block = 0;
  for (AffineExpr expr : map.getResults())
    block = std::gcd(block, divisorsOf(expr, dim));
  return isContiguousInVectors(map, dim, std::max<int64_t>(block, 1)) ? std::optional(block) : std::nullopt;
}

static AffineMap withoutLastUnits(AffineMap map, AffineMap sizes) {
  unsigned count = map.getNumResults();
  auto isUnit = [&](unsigned dim) {
    auto size = dyn_cast<AffineConstantExpr>(sizes.getResult(dim)),
         coordinate = dyn_cast<AffineConstantExpr>(map.getResult(dim));
    return size && size.getValue() == 1 && coordinate && coordinate.getValue() == 0;
  };
  while (count > 1 && isUnit(count - 1))
    --count;
  return map.getSliceMap(0, count);
}

AffineMap coordinatesOf(tile::LoadOp access) {
  return withoutLastUnits(access.getMap(), access.getBuffer().getType().getSizes());
}

AffineMap coordinatesOf(tile::StoreOp access) {
  return withoutLastUnits(access.getMap(), access.getBuffer().getType().getSizes());
}

bool isEven(AffineMap map, unsigned dim) {
  return llvm::all_of(map.getResults(), [&](AffineExpr expr) { return divisorsOf(expr, dim) == 0; });
}

bool isContiguous(tile::LoadOp load) {
  return contiguousRun(coordinatesOf(load), load.getResult().getType().getRank() - 1) == 0;
}

} // namespace tilewright::host
