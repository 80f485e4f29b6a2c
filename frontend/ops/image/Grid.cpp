// SPDX-License-Identifier: Apache-2.0
// Sampling at computed positions: AffineGrid computes positions, GridSample interpolates an image there.
//
//   y[n, c, o..] = sum over taps of weight * x[n, c, index..]
//
// Each dimension has 1 tap (nearest), 2 (linear) or 4 (cubic).
#include "frontend/ops/Handlers.h"
#include "frontend/sizes/RunTimeSizes.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

/// An index into one dimension of the image and its weight, both with the result's sizes.
struct Tap {
  Term index, weight;
};

/// One dimension of the image, with the options of the node.
struct GridAxis {
  NodeBuilder &b;
  std::string mode, padding;
  bool alignCorners;
  Term last; // index of the last pixel, as a float

  Term clamp(Term x) const { return b.minimum(b.maximum(x, 0), last); }

  /// Reflects positions at both borders until they are inside. Borders are the centers of the outer pixels, or their
  /// edges.
  Term reflect(Term x) const {
    double low = alignCorners ? 0 : -0.5;
    Term span = last - 2 * low, turns = 2.0 * span;
    Term folded = b.apply<arith::RemFOp>(b.abs(x - low), turns);
    Term mirrored = b.select(b.compare(F::OGT, I::sgt, folded, span), turns - folded, folded) + low;
    return b.select(b.compare(F::OGT, I::sgt, span, b.like(span, 0)), mirrored,
                    b.like(x, 0)); // with a single pixel there is nothing between centers
  }

  /// Converts [-1, 1] to pixels. Positions are then inside of the image, except for padding_mode zeros. Cubic taps are
  /// clamped to the border one by one; two pixels outside of it, all four are the same pixel.
  Term position(Term normalized) const {
    Term x = alignCorners ? (normalized + 1.0) * 0.5 * last : ((normalized + 1.0) * (last + 1.0) - 1.0) * 0.5;
    if (mode == "nearest")
      x = b.apply<math::RoundEvenOp>(x);
    if (padding == "border")
      x = mode == "cubic" ? b.minimum(b.maximum(x, -2), last + 2.0) : clamp(x);
    else if (padding == "reflection")
      x = reflect(x);
    return mode == "nearest" ? b.apply<math::RoundEvenOp>(x) : x;
  }

  Tap tap(Term at, Term weight, Term isFinite) const {
    Term counts = isFinite;
    if (padding == "reflection")
      at = b.apply<math::RoundEvenOp>(reflect(at));
    else if (padding == "zeros")
      counts = b.apply<arith::AndIOp>(counts, b.compare(F::OEQ, I::eq, at, clamp(at)));
    DType type = at.element().isF64() ? DType::F64 : DType::F32;
    return {b.convert(clamp(at), type, DType::I64), b.select(counts, weight, b.like(weight, 0))};
  }

  SmallVector<Tap> taps(Term normalized) const {
    Term x = position(normalized);
    Term isFinite =
        b.compare(F::OLT, I::slt, b.abs(normalized), b.like(normalized, std::numeric_limits<double>::infinity()));
    if (mode == "nearest")
      return {tap(x, b.like(x, 1), isFinite)};
    Term low = b.apply<math::FloorOp>(x), t = x - low;
    if (mode == "linear")
      return {tap(low, 1.0 - t, isFinite), tap(low + 1.0, t, isFinite)};
    // Keys' cubic kernel; ONNX specifies a = -0.75.
    constexpr double a = -0.75;
    auto near = [](Term d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
    auto far = [](Term d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    return {tap(low - 1.0, far(t + 1.0), isFinite), tap(low, near(t), isFinite),
            tap(low + 1.0, near(1.0 - t), isFinite), tap(low + 2.0, far(2.0 - t), isFinite)};
  }
};

/// x[n, c, index..]
Term readAt(NodeBuilder &b, Term x, ArrayRef<Term> indices, ArrayRef<AffineExpr> sizes) {
  SmallVector<AffineExpr> coordinates;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    coordinates.push_back(getAffineDimExpr(dim < 2 ? dim : x.rank() + dim - 2, b.state.context));
  return b.gather(x, indices, AffineMap::get(x.rank() + indices.size(), 0, coordinates, b.state.context), sizes);
}

/// The sum over all combinations of taps of `axes`. `indices` and `weight` are those of the preceding dimensions.
Term interpolate(NodeBuilder &b, Term x, ArrayRef<SmallVector<Tap>> axes, ArrayRef<AffineExpr> sizes,
                 ArrayRef<Term> indices, Term weight) {
  if (axes.empty())
    return b.widen(readAt(b, x, indices, sizes)) * weight;
  Term sum;
  for (const Tap &tap : axes.front()) {
    SmallVector<Term> chosen(indices);
    chosen.push_back(tap.index);
    Term part = interpolate(b, x, axes.drop_front(), sizes, chosen, indices.empty() ? tap.weight : weight * tap.weight);
    sum = sum.builder ? sum + part : part;
  }
  return sum;
}

} // namespace

/// The grid's last dimension lists coordinates in reverse: for the image's last dimension first.
void gridSample(NodeBuilder &b) {
  std::string mode = b.text("mode", "linear"), padding = b.text("padding_mode", "zeros");
  if (mode == "bilinear" || mode == "bicubic")
    mode = mode.substr(2);
  b.expect(mode == "nearest" || mode == "linear" || mode == "cubic",
           fmt::format("expected mode to be nearest, linear or cubic, got '{}'", mode));
  b.expect(padding == "zeros" || padding == "border" || padding == "reflection",
           fmt::format("expected padding_mode to be zeros, border or reflection, got '{}'", padding));
  b.expectRank(0, 3, 8);
  b.expectRank(1, b.rank(0));
  int64_t spatial = b.rank(0) - 2;
  if (!isFloat(b.type(0)))
    decline("sampling of integers is not compiled");
  if (mode == "cubic" && spatial > 2)
    decline("cubic sampling in more than two dimensions is not compiled");
  Term x = b.raw(0), grid = b.convert(b.raw(1), b.type(1), b.type(0) == DType::F64 ? DType::F64 : DType::F32);
  b.unify(grid.sizes().back(), b.number(spatial), "the length of the grid's coordinates");
  b.unify(grid.sizes()[0], x.sizes()[0], "the grid's batch size");

  Sizes sizes = x.sizes(), places = grid.sizes();
  places.pop_back();
  SmallVector<int64_t> placeDims = {0};
  for (int64_t dim = 2; dim < x.rank(); ++dim) {
    sizes[dim] = places[dim - 1];
    placeDims.push_back(dim);
  }
  std::vector<SmallVector<Tap>> axes;
  for (int64_t dim = 0; dim < spatial; ++dim) {
    Term normalized = b.reshape(b.slice(grid, x.rank() - 1, b.number(spatial - 1 - dim), b.number(1)), places);
    Term last = b.sizeAs(x.sizes()[dim + 2], places, normalized.element()) - 1.0;
    GridAxis axis{b, mode, padding, b.integer("align_corners", 0) != 0, last};
    SmallVector<Tap> &taps = axes.emplace_back(axis.taps(normalized));
    for (Tap &tap : taps)
      tap = {b.broadcast(tap.index, sizes, placeDims), b.broadcast(tap.weight, sizes, placeDims)};
  }
  b.out(interpolate(b, x, axes, sizes, {}, Term()));
}

/// AffineGrid whose sizes are only known at run time: each coordinate is a sum over the dimensions.
static void affineGridWhenRunning(NodeBuilder &b) {
  Sizes size = b.sizesFrom(1);
  int64_t spatial = static_cast<int64_t>(size.size()) - 2;
  b.expect(spatial == 2 || spatial == 3, fmt::format("expected a size of 4 or 5 elements, got {}", size.size()));
  b.expectRank(0, 3);
  Term theta = b.in(0);
  AffineExpr expected[] = {size[0], b.number(spatial), b.number(spatial + 1)};
  for (int64_t dim = 0; dim < 3; ++dim)
    b.unify(theta.sizes()[dim], expected[dim], fmt::format("dimension {} of theta", dim));
  theta = b.conform(b.in(0), {b.state.resolve(size[0]), b.number(spatial), b.number(spatial + 1)});
  Sizes sizes{theta.sizes()[0]};
  for (AffineExpr length : llvm::ArrayRef(size).drop_front(2))
    sizes.push_back(b.state.resolve(length));
  bool alignCorners = b.integer("align_corners", 0);
  DType type = theta.element().isF64() ? DType::F64 : DType::F32;
  SmallVector<Term> steps; // x first: the last dimension
  for (int64_t dim = spatial; dim >= 1; --dim) {
    Sizes line{sizes[dim]};
    Term at = b.convert(b.iota(line, 0, b.state.builder.getI64Type()), DType::I64, DType::F64);
    Term length = b.convert(b.sizeAs(sizes[dim], line, b.state.builder.getI64Type()), DType::I64, DType::F64);
    Term step = (at * 2.0 + 1.0) / length - 1.0;
    if (alignCorners)
      step = b.select(b.compare(F::OGT, I::sgt, length, b.like(length, 1)), at * 2.0 / b.maximum(length - 1.0, 1) - 1.0,
                      b.like(at, 0));
    steps.push_back(b.broadcast(b.convert(step, DType::F64, type), sizes, {dim}));
  }
  SmallVector<Term> parts;
  for (int64_t row = 0; row < spatial; ++row) {
    auto factor = [&](int64_t column) {
      Term one = b.slice(b.slice(theta, 1, b.number(row), b.number(1)), 2, b.number(column), b.number(1));
      return b.broadcast(b.reshape(one, {sizes[0]}), sizes, {0});
    };
    Term sum = factor(spatial);
    for (int64_t i = 0; i < spatial; ++i)
      sum = sum + factor(i) * steps[i];
    Sizes column = sizes;
    column.push_back(b.number(1));
    parts.push_back(b.reshape(sum, column));
  }
  b.out(b.concat(parts, spatial + 1));
}

/// Applies theta [N, r, r + 1] to a regular grid over [-1, 1]^r, a constant [points, r + 1].
void affineGrid(NodeBuilder &b) {
  if (isRunTime(b, 1))
    return affineGridWhenRunning(b);
  std::vector<int64_t> size = b.knownIntegers(1);
  int64_t spatial = static_cast<int64_t>(size.size()) - 2;
  b.expect(spatial == 2 || spatial == 3, fmt::format("expected a size of 4 or 5 elements, got {}", size.size()));
  b.expectRank(0, 3);
  Term theta = b.in(0);
  int64_t expected[] = {size[0], spatial, spatial + 1};
  int64_t places = 1;
  for (int64_t dim = 0; dim < 3; ++dim)
    b.unify(theta.sizes()[dim], b.number(expected[dim]), fmt::format("dimension {} of theta", dim));
  for (int64_t length : llvm::ArrayRef(size).drop_front(2)) {
    b.expect(length > 0 && length <= 1 << 24 && places <= (1 << 24) / length,
             fmt::format("expected 1 to 2^24 places, got a dimension of {}", length));
    places *= length;
  }
  bool alignCorners = b.integer("align_corners", 0);
  Tensor regular = Tensor::allocate(DType::F32, {places, spatial + 1});
  for (int64_t place = 0; place < places; ++place) {
    float *row = regular.data<float>() + place * (spatial + 1);
    int64_t rest = place;
    for (int64_t i = 0; i < spatial; ++i) { // x first: the last dimension
      int64_t length = size[size.size() - 1 - i], at = rest % length;
      rest /= length;
      double step = alignCorners ? (length > 1 ? -1 + 2.0 * at / (length - 1) : 0) : (2.0 * at + 1) / length - 1;
      row[i] = static_cast<float>(step);
    }
    row[spatial] = 1;
  }
  Term grid = b.convert(b.constantTerm(regular), DType::F32, theta.element().isF64() ? DType::F64 : DType::F32);
  Sizes sizes{theta.sizes()[0]};
  for (int64_t length : llvm::ArrayRef(size).drop_front(2))
    sizes.push_back(b.number(length));
  sizes.push_back(b.number(spatial));
  b.out(b.reshape(b.contract(theta, grid, "nrd,pd->npr"), sizes));
}

} // namespace tilewright::ops
