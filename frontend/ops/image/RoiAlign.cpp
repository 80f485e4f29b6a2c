// SPDX-License-Identifier: Apache-2.0
// RoiAlign: each region is cut into cells, and each cell is the average (or maximum) of samples on a regular grid of
// samples * samples positions, which are interpolated between the four pixels around them.
//
//   y[r, c, i, j] = 1 / samples^2 * sum over samples and their corners of weight * x[batch[r], c, index_y, index_x]
#include "frontend/ops/Handlers.h"

#include <array>

using namespace mlir;

namespace tilewright::ops {
namespace {

using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

/// Each sample of a side reads two pixels, so this bounds the loads of an element: 64.
constexpr int64_t mostSamples = 4;

/// A pixel beside a position along one dimension, and its weight; both [R, cells].
struct Corner {
  Term index, weight;
};
using Sample = std::array<Corner, 2>;

DType type(Term x) { return x.element().isF64() ? DType::F64 : DType::F32; }

/// One dimension of the image. Lengths and positions are in pixels.
struct RoiAxis {
  NodeBuilder &b;
  int64_t cells, samples;
  AffineExpr pixels;
  bool isHalfPixel; // pixel centers are at 0.5; otherwise regions are at least one pixel long

  /// The samples of all cells, at the same place in each. `low` and `high` are the borders of the regions, [R].
  SmallVector<Sample> sample(Term low, Term high) const {
    Sizes sizes = {low.sizes()[0], b.number(cells)};
    Term length = isHalfPixel ? high - low : b.maximum(high - low, 1);
    Term begin = b.broadcast(low, sizes, {0}), cell = b.broadcast(length / static_cast<double>(cells), sizes, {0});
    Term number = b.convert(b.iota(sizes, 1, b.state.builder.getI64Type()), DType::I64, type(low));
    SmallVector<Sample> result;
    for (int64_t at = 0; at < samples; ++at)
      result.push_back(
          cornersOf(begin + (number + (static_cast<double>(at) + 0.5) / static_cast<double>(samples)) * cell));
    return result;
  }

private:
  /// Positions up to one pixel outside of the image count as its border, others as zero.
  Sample cornersOf(Term position) const {
    Term size = b.sizeAs(pixels, position.sizes(), position.element()), last = size - 1.0;
    Term isInside = b.apply<arith::AndIOp>(b.compare(F::OGE, I::sge, position, b.like(position, -1)),
                                           b.compare(F::OLE, I::sle, position, size));
    Term clamped = b.minimum(b.maximum(position, 0), last), low = b.apply<math::FloorOp>(clamped);
    Term high = b.minimum(low + 1.0, last), t = clamped - low, none = b.like(t, 0);
    return {Corner{b.convert(low, type(low), DType::I64), b.select(isInside, 1.0 - t, none)},
            Corner{b.convert(high, type(high), DType::I64), b.select(isInside, t, none)}};
  }
};

/// The corners of samples along dimension `dim` of the result.
void spread(NodeBuilder &b, SmallVector<Sample> &samples, ArrayRef<AffineExpr> sizes, int64_t dim) {
  for (Sample &sample : samples)
    for (Corner &corner : sample)
      corner = {b.broadcast(corner.index, sizes, {0, dim}), b.broadcast(corner.weight, sizes, {0, dim})};
}

} // namespace

void roiAlign(NodeBuilder &b) {
  b.expectRank(0, 4);
  b.expectRank(1, 2);
  b.expectRank(2, 1);
  std::string mode = b.text("mode", "avg"), transformation = b.text("coordinate_transformation_mode", "half_pixel");
  b.expect(mode == "avg" || mode == "max", fmt::format("expected mode to be avg or max, got '{}'", mode));
  int64_t rows = b.integer("output_height", 1), columns = b.integer("output_width", 1),
          samples = b.integer("sampling_ratio", 0);
  b.expect(rows > 0 && columns > 0, fmt::format("expected an output with cells, got {}x{}", rows, columns));
  b.expect(samples >= 0, fmt::format("expected a sampling_ratio of at least 0, got {}", samples));
  if (samples == 0 || samples > mostSamples)
    decline("a sampling_ratio of {} is not compiled", samples);
  if (!isFloat(b.type(0)))
    decline("regions of integers are not compiled");
  Term x = b.raw(0), regions = b.in(1), batch = b.convert(b.raw(2), b.type(2), DType::I64);
  b.unify(regions.sizes()[1], b.number(4), "the number of a region's coordinates");
  b.unify(batch.sizes()[0], regions.sizes()[0], "the number of batch indices");
  Sizes regionSizes = {b.raw(1).sizes()[0]};
  bool isHalfPixel = b.node.opset >= 16 && transformation == "half_pixel";
  double scale = b.real("spatial_scale", 1), offset = isHalfPixel ? 0.5 : 0;
  auto border = [&](int64_t column) {
    return b.reshape(b.slice(regions, 1, b.number(column), b.number(1)), regionSizes) * scale - offset;
  };
  Sizes sizes = {regionSizes[0], x.sizes()[1], b.number(rows), b.number(columns)};
  SmallVector<Sample> down = RoiAxis{b, rows, samples, x.sizes()[2], isHalfPixel}.sample(border(1), border(3)),
                      across = RoiAxis{b, columns, samples, x.sizes()[3], isHalfPixel}.sample(border(0), border(2));
  spread(b, down, sizes, 2);
  spread(b, across, sizes, 3);
  Term image = b.broadcast(batch, sizes, {0}), result;
  AffineExpr d[7];
  bindDimsList(b.state.context, MutableArrayRef(d));
  AffineMap map = AffineMap::get(7, 0, {d[4], d[1], d[5], d[6]}, b.state.context);
  for (const Sample &v : down)
    for (const Sample &u : across)
      for (const Corner &y : v)
        for (const Corner &z : u) {
          Term part = b.widen(b.gather(x, {image, y.index, z.index}, map, sizes)) * (y.weight * z.weight);
          result = !result.builder ? part : mode == "max" ? b.maximum(result, part) : result + part;
        }
  b.out(mode == "max" ? result : result * (1.0 / static_cast<double>(samples * samples)));
}

} // namespace tilewright::ops
