#include "backend/host/plan/Contiguity.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

int64_t divisorsOf(AffineExpr expr, unsigned dim) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !expr.isFunctionOfDim(dim))
    return 0;
  int64_t inside = std::gcd(divisorsOf(binary.getLHS(), dim), divisorsOf(binary.getRHS(), dim));
  if (inside || expr.getKind() == AffineExprKind::Add || expr.getKind() == AffineExprKind::Mul)
    return inside;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return divisor ? divisor.getValue() : 1;
}

/// By how much `expr` grows when coordinate `dim` grows by one within a block: a quotient by a multiple of the block does
/// not change there, and a remainder grows as the coordinate does. Nothing if it does not grow evenly.
static std::optional<int64_t> stepWithin(AffineExpr expr, unsigned dim, int64_t block) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 1;
  std::optional<int64_t> a = stepWithin(binary.getLHS(), dim, block), b = stepWithin(binary.getRHS(), dim, block);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *a + *b;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul)
    return factor ? std::optional(*a * factor.getValue()) : std::nullopt;
  if (*a == 0 && *b == 0)
    return 0;
  if (*a != 1 || !factor || !block || factor.getValue() % block)
    return std::nullopt;
  return expr.getKind() == AffineExprKind::Mod ? 1 : 0;
}

std::optional<int64_t> contiguousRun(AffineMap map, unsigned dim) {
  if (map.getNumResults() == 0) // a buffer of one element
    return std::nullopt;
  int64_t block = 0;
  for (AffineExpr expr : map.getResults())
    block = std::gcd(block, divisorsOf(expr, dim));
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (stepWithin(expr, dim, block) != (i + 1 == map.getNumResults() ? 1 : 0))
      return std::nullopt;
  return block;
}

bool isContiguous(tile::LoadOp load) {
  AffineMap map = load.getMap();
  unsigned last = cast<RankedTensorType>(load.getResult().getType()).getRank() - 1;
  for (AffineExpr expr : map.getResults().drop_back())
    if (expr.isFunctionOfDim(last))
      return false;
  AffineExpr dim = getAffineDimExpr(last, load.getContext());
  return !simplifyAffineExpr(map.getResults().back() - dim, map.getNumDims(), map.getNumSymbols())
              .isFunctionOfDim(last);
}

} // namespace tilewright::host
