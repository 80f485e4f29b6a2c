// SPDX-License-Identifier: Apache-2.0
// Resize with scales or sizes that are only known at run time, and the modes that need more than two gathers: cubic,
// antialiased, cropped.
//
//   position(i)   the source position of result coordinate i: an f64 vector for each axis
//   nearest       x[round(position)]
//   linear        x[floor(position)] and its neighbour, weighted
//   otherwise     a product with a matrix:   y[.., i, ..] = sum over t of W[i, t] * x[.., clamp(t - border), ..]
//                                            W[i, t] = kernel((t - border - position(i)) * stretch)
#include "frontend/ops/image/Resize.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

namespace tilewright::ops {
namespace {

struct Options {
  std::string mode, coordinates, nearest, policy;
  double cubic, extrapolation;
  bool excludeOutside, antialias;

  explicit Options(NodeBuilder &b) {
    bool old = b.node.opset < 11; // before there were coordinate modes: asymmetric, rounded down
    mode = b.text("mode", "nearest");
    if (mode == "bilinear" || mode == "trilinear")
      mode = "linear";
    coordinates = old ? "asymmetric" : b.text("coordinate_transformation_mode", "half_pixel");
    nearest = old ? "floor" : b.text("nearest_mode", "round_prefer_floor");
    policy = b.text("keep_aspect_ratio_policy", "stretch");
    cubic = b.real("cubic_coeff_a", -0.75), extrapolation = b.real("extrapolation_value", 0);
    excludeOutside = b.integer("exclude_outside", 0), antialias = b.integer("antialias", 0);
    b.expect(mode == "nearest" || mode == "linear" || mode == "cubic",
             fmt::format("expected mode to be nearest, linear or cubic, got '{}'", mode));
    b.expect(
        policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
        fmt::format("expected keep_aspect_ratio_policy to be stretch, not_larger or not_smaller, got '{}'", policy));
  }
  bool isCropped() const { return coordinates == "tf_crop_and_resize"; }
  /// Taps on each side of a position, if the kernel is not stretched.
  int64_t reach() const { return mode == "cubic" ? 2 : 1; }
};

/// One axis: scalars in f64, and the sizes as expressions.
struct ResizedAxis {
  int64_t dim;
  AffineExpr from, to; // `to` is null until it is known or read
  Term scale, roiStart, roiEnd;
  bool isExact = false; // corners are aligned by scale * from where that shrinks, not by `to`
  AffineExpr border;    // how far taps may be outside of the source
  bool isSame = false;  // not resized
};

Term real(NodeBuilder &b, AffineExpr size) { return b.convert(scalarOf(b, size), DType::I64, DType::F64); }
Term realScalar(NodeBuilder &b, double value) { return b.splat({}, b.state.builder.getF64Type(), value); }
Term isAbove(Term a, Term b) { return a.builder->compare(F::OGT, I::sgt, a, b); }

/// The length of the result that corners are aligned by: its size. ONNX's own tests interpolate to scales below 1 by
/// scale * from instead, which need not be whole. PyTorch, whose scales are constants, and ONNX Runtime do not.
Term alignedLength(NodeBuilder &b, const ResizedAxis &axis) {
  Term output = real(b, axis.to);
  if (!axis.isExact)
    return output;
  return b.select(isAbove(realScalar(b, 1), axis.scale), axis.scale * real(b, axis.from), output);
}

/// Positions where the corners of the source, or of its cropped part, are those of the result.
Term alignedCoordinates(NodeBuilder &b, const Options &options, const ResizedAxis &axis, Term i, DType type) {
  auto narrow = [&](Term x) { return b.convert(x, DType::F64, type); };
  Term wide = alignedLength(b, axis), isOne = b.compare(F::OEQ, I::eq, wide, realScalar(b, 1));
  Term span = narrow(b.select(isOne, realScalar(b, 1), wide - 1.0)), last = narrow(real(b, axis.from)) - 1.0;
  if (!options.isCropped())
    return b.select(isOne, b.like(i, 0), i * last / span);
  Term start = narrow(axis.roiStart), end = narrow(axis.roiEnd);
  return b.select(isOne, (start + end) * last * 0.5, start * last + i * (end - start) * last / span);
}

/// The source position of every result coordinate, in f32 or f64.
Term coordinates(NodeBuilder &b, const Options &options, const ResizedAxis &axis, DType type) {
  const std::string &mode = options.coordinates;
  auto narrow = [&](Term x) { return b.convert(x, DType::F64, type); };
  Term index = b.convert(b.iota({axis.to}, 0, b.state.builder.getI64Type()), DType::I64, DType::F64);
  Term i = narrow(index), scale = narrow(axis.scale), output = narrow(real(b, axis.to));
  Term centered = (i + 0.5) / scale - 0.5;
  if (mode == "half_pixel")
    return centered;
  if (mode == "half_pixel_symmetric") { // only the offset is rounded to float32
    Term input = narrow(real(b, axis.from)), offset = input * 0.5 * (1.0 - output / (scale * input));
    auto wide = [&](Term x) { return b.convert(x, type, DType::F64); };
    return narrow(wide(offset) + (index + 0.5) / wide(scale) - 0.5);
  }
  if (mode == "pytorch_half_pixel")
    return b.select(isAbove(output, b.like(output, 1)), centered, b.like(centered, 0));
  if (mode == "asymmetric")
    return i / scale;
  if (mode == "tf_half_pixel_for_nn")
    return (i + 0.5) / scale;
  if (mode != "align_corners" && !options.isCropped())
    malformed("expected a coordinate_transformation_mode that Resize has, got '{}'", mode);
  return alignedCoordinates(b, options, axis, i, type);
}

/// Positions in f64 as indices, clamped to 0..from-1.
Term sourceIndex(NodeBuilder &b, Term position, const ResizedAxis &axis) {
  return b.convert(b.minimum(b.maximum(position, 0), real(b, axis.from) - 1.0), DType::F64, DType::I64);
}

/// The interpolation kernel: a triangle for mode linear, Keys' function with coefficient a for mode cubic.
Term kernel(NodeBuilder &b, const Options &options, Term x) {
  x = b.abs(x);
  double a = options.cubic;
  if (options.mode == "linear")
    return b.maximum(1.0 - x, 0);
  Term near = ((a + 2) * x - (a + 3)) * x * x + 1.0, far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return b.select(isAbove(b.like(x, 1), x), near, b.select(isAbove(b.like(x, 2), x), far, b.like(x, 0)));
}

Term timesMatrix(NodeBuilder &b, const Options &options, const ResizedAxis &axis, Term x, Term position) {
  AffineExpr taps = graph::canonicalSize(axis.from + axis.border * 2);
  Sizes matrix{axis.to, taps};
  Term at =
      b.convert(b.iota({taps}, 0, b.state.builder.getI64Type()) - scalarOf(b, axis.border), DType::I64, DType::F64);
  Term distance = b.broadcast(at, matrix, {1}) - b.broadcast(position, matrix, {0});
  if (options.antialias)
    distance = distance * b.minimum(axis.scale, 1.0);
  Term weights = kernel(b, options, distance);
  if (options.excludeOutside) {
    Term last = real(b, axis.from) - 1.0;
    Term outside = either(isAbove(b.like(at, 0), at), isAbove(at, last));
    weights = b.select(b.broadcast(outside, matrix, {1}), b.like(weights, 0), weights);
  }
  if (options.excludeOutside || options.antialias)
    weights = weights / b.spread(b.reduce(graph::ReduceKind::Sum, weights, {1}), weights, {1});
  weights = b.convert(weights, DType::F64, x.element().isF64() ? DType::F64 : DType::F32);
  SmallVector<int64_t> order, back(x.rank());
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (dim != axis.dim)
      order.push_back(dim);
  order.push_back(axis.dim);
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = static_cast<int64_t>(to);
  Term rows = b.transpose(b.take(x, {axis.dim}, {sourceIndex(b, at, axis)}), order);
  Sizes sizes = rows.sizes(), rest(sizes.begin(), sizes.end() - 1);
  Term product = b.contract(b.reshape(rows, {b.product(rest), taps}), weights, "rt,it->ri");
  sizes.back() = axis.to;
  return b.transpose(b.reshape(product, sizes), back);
}

Term resizeAlong(NodeBuilder &b, const Options &options, const ResizedAxis &axis, Term x) {
  bool isNearest = options.mode == "nearest";
  Term position = coordinates(b, options, axis, isNearest ? DType::F32 : DType::F64), result = x;
  if (isNearest) {
    Term index = b.convert(nearestIndex(b, options.nearest, position), DType::F32, DType::F64);
    result = b.take(x, {axis.dim}, {sourceIndex(b, index, axis)});
  } else if (options.mode == "linear" && !options.antialias && !options.excludeOutside) {
    Term below = b.apply<math::FloorOp>(position);
    Term low = b.take(x, {axis.dim}, {sourceIndex(b, below, axis)}),
         high = b.take(x, {axis.dim}, {sourceIndex(b, below + 1.0, axis)});
    Term weight =
        b.along(b.convert(position - below, DType::F64, x.element().isF64() ? DType::F64 : DType::F32), low, axis.dim);
    result = low * (1.0 - weight) + high * weight;
  } else {
    result = timesMatrix(b, options, axis, x, position);
  }
  if (!options.isCropped())
    return result;
  Term last = b.convert(real(b, axis.from) - 1.0, DType::F64, isNearest ? DType::F32 : DType::F64);
  Term outside =
      either(b.compare(F::ULT, I::slt, position, b.like(position, 0)), b.compare(F::UGT, I::sgt, position, last));
  result = b.widen(result); // select has no half types
  return b.select(b.along(outside, result, axis.dim), b.like(result, options.extrapolation), result);
}

/// Sets `to` of the axes to what is known of their sizes at import, and `isSame` of those that are not resized.
void followSizes(NodeBuilder &b, const Options &options, std::vector<ResizedAxis> &axes, const Sizes *sizes,
                 const Tensor *scales) {
  if (!sizes && !scales)
    return;
  constexpr int64_t most = 1 << 24;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    float scale = scales ? scales->data<float>()[i] : 1;
    std::optional<int64_t> from = graph::constantSize(axis.from);
    if (sizes)
      axis.to = (*sizes)[i];
    else if (!(scale > 0) || !std::isfinite(scale))
      continue;
    else if (from)
      axis.to = b.number(static_cast<int64_t>(std::min<double>(scaledSize(*from, scale), most + 1)));
    else
      axis.to = scaledSize(axis.from, scale);
    if (std::optional<int64_t> to = axis.to ? graph::constantSize(axis.to) : std::nullopt;
        to && (*to < 1 || *to > most))
      axis.to = {}; // left null; it is refused where it is read
    axis.isSame = axis.to == axis.from && scale == 1 && !options.isCropped();
  }
}

/// Sets scales from sizes, and makes them equal if the aspect ratio policy says so. Returns the sizes.
std::vector<Term> setScales(NodeBuilder &b, const Options &options, std::vector<ResizedAxis> &axes,
                            std::vector<Term> sizes) {
  std::optional<Term> common;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    // Nearest neighbours are chosen in float32, see Resize.cpp.
    DType type = options.mode == "nearest" ? DType::F32 : DType::F64;
    Term from = b.convert(scalarOf(b, axis.from), DType::I64, type);
    axis.scale = b.convert(b.convert(size, DType::I64, type) / from, type, DType::F64);
    bool larger = options.policy == "not_smaller";
    common = !common ? axis.scale : larger ? b.maximum(*common, axis.scale) : b.minimum(*common, axis.scale);
  }
  for (auto [axis, size] : llvm::zip_equal(axes, sizes))
    if (options.policy != "stretch") {
      axis.scale = *common;
      size = b.convert(b.apply<math::FloorOp>(*common * real(b, axis.from) + 0.5), DType::F64, DType::I64);
    }
  return sizes;
}

/// Sets sizes from scales, in float32 as all implementations of shape inference do: 0.7f * 10 is then 7.
std::vector<Term> setSizes(NodeBuilder &b, std::vector<ResizedAxis> &axes, const std::vector<Term> &scales,
                           RunTimeSizes &read) {
  std::vector<Term> sizes;
  for (auto [axis, scale] : llvm::zip_equal(axes, scales)) {
    read.require(b.compare(F::OGT, I::sgt, scale, b.like(scale, 0)), "expected scales above 0");
    axis.scale = b.convert(scale, DType::F32, DType::F64);
    Term from = b.convert(scalarOf(b, axis.from), DType::I64, DType::F32);
    sizes.push_back(b.convert(b.apply<math::FloorOp>(scale * from), DType::F32, DType::I64));
  }
  return sizes;
}

} // namespace

void resizeWhenRunning(NodeBuilder &b, std::optional<size_t> scalesInput, std::optional<size_t> sizesInput) {
  Options options(b);
  RunTimeSizes read(b);
  std::vector<ResizedAxis> axes;
  std::vector<int64_t> dims = b.integers("axes").value_or(std::vector<int64_t>());
  for (int64_t dim = 0; dim < b.rank(0) && !b.hasAttribute("axes"); ++dim)
    dims.push_back(dim);
  for (int64_t dim : dims) {
    axes.emplace_back().dim = b.axis(dim, b.rank(0));
    axes.back().from = b.sizes(0)[axes.back().dim];
  }
  std::vector<Term> given = sizesInput ? b.scalars(*sizesInput) : b.scalars(*scalesInput, DType::F32);
  b.expect(given.size() == axes.size(), fmt::format("expected {} scales or sizes, got {}", axes.size(), given.size()));
  std::vector<Term> sizes = sizesInput ? setScales(b, options, axes, given) : setSizes(b, axes, given, read);
  if (options.isCropped()) {
    std::vector<Term> roi = b.scalars(1, DType::F64);
    b.expect(roi.size() == 2 * axes.size(),
             fmt::format("expected a roi of {} elements, got {}", 2 * axes.size(), roi.size()));
    for (size_t i = 0; i < axes.size(); ++i)
      axes[i].roiStart = roi[i], axes[i].roiEnd = roi[i + axes.size()];
  }
  followSizes(b, options, axes,
              sizesInput && options.policy == "stretch" ? b.state.elementsOf(b.input(*sizesInput)) : nullptr,
              scalesInput && b.type(*scalesInput) == DType::F32 ? b.constant(*scalesInput) : nullptr);
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    if (!axis.to)
      axis.to = read.add(size, axis.from);
    axis.isExact = scalesInput && !b.constant(*scalesInput) && options.mode != "nearest" && !options.antialias;
    axis.border = b.number(options.reach() + 1);
    if (options.antialias) {
      Term reach = static_cast<double>(options.reach()) / b.minimum(axis.scale, 1.0);
      axis.border = read.add(b.convert(b.minimum(b.apply<math::CeilOp>(reach), 1 << 20) + 1.0, DType::F64, DType::I64),
                             axis.border);
    }
  }
  Term x = options.mode == "nearest" ? b.raw(0) : b.in(0);
  if (!x.isFloat() && (options.mode != "nearest"))
    decline("resizing integers by mode '{}' is not compiled", options.mode);
  read.read();
  for (const ResizedAxis &axis : axes)
    if (!axis.isSame)
      x = resizeAlong(b, options, axis, x);
  b.out(x);
}

} // namespace tilewright::ops
