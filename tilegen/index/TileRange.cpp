// SPDX-License-Identifier: Apache-2.0
// The algebra of ranges.
#include "tilegen/index/TileRange.h"

#include "frontend/graph/Sizes.h"
#include "frontend/index/Evaluate.h"

using namespace mlir;

namespace tilewright::index {
namespace {

struct RangeAlgebra {
  using Value = TileRange;
  ArrayRef<int64_t> tiles;

  static bool isOne(const Value &value) { return value.low && value.low == value.high; }

  std::optional<Value> leaf(AffineExpr expr) const {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return Value{expr, expr + (tiles[dim.getPosition()] - 1)};
    if (expr.isSymbolicOrConstant())
      return Value{expr, expr};
    return std::nullopt;
  }

  Value add(const Value &a, const Value &b) const {
    return a.low && b.low ? Value{a.low + b.low, a.high + b.high} : Value{};
  }

  /// The right side of an affine product is the same everywhere.
  Value multiply(const Value &a, const Value &b) const {
    if (!a.low || !isOne(b))
      return {};
    if (isOne(a) || graph::isNonNegative(b.low))
      return {a.low * b.low, a.high * b.low};
    if (graph::isNonNegative(getAffineConstantExpr(0, b.low.getContext()) - b.low))
      return {a.high * b.low, a.low * b.low};
    return {};
  }

  Value floorDivide(const Value &a, const Value &b) const {
    return a.low && isOne(b) ? Value{a.low.floorDiv(b.low), a.high.floorDiv(b.low)} : Value{};
  }

  Value modulo(const Value &a, const Value &b) const {
    if (!a.low || !isOne(b))
      return {};
    AffineExpr first = a.low % b.low, width = a.high - a.low;
    if (isOne(a))
      return {first, first};
    return {first - (first + width).floorDiv(b.low) * b.low, first + width};
  }

  Value ceilDivide(const Value &a, const Value &b) const {
    return a.low && isOne(b) ? Value{a.low.ceilDiv(b.low), a.high.ceilDiv(b.low)} : Value{};
  }
};

} // namespace

TileRange rangeOnTile(AffineExpr expr, ArrayRef<int64_t> tiles) {
  RangeAlgebra algebra{tiles};
  return evaluate(expr, algebra);
}

} // namespace tilewright::index
