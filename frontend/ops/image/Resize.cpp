// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: each dimension in turn, by repetition, by a gather, or by a weighted sum of two gathers.
#include "frontend/ops/image/Resize.h"

#include "frontend/builder/Window.h"
#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

/// The change of one dimension.
struct Axis {
  int64_t dim, from, to;
  double scale;
};

/// A dimension of symbolic size. Its source positions are computed at run time, as a vector.
struct SymbolicAxis {
  int64_t dim;
  AffineExpr from, to;
  double scale; // 0: implied by the sizes
};

/// The source position of result coordinate `at`, by `coordinate_transformation_mode`. Nearest neighbours are chosen by
/// positions in float32, as exporters and other runtimes choose them: 10 / 0.1f is 100 there, but less in float64.
template <typename Real> Real sourcePosition(const Axis &axis, int64_t at, const std::string &mode) {
  auto x = static_cast<Real>(at), scale = static_cast<Real>(axis.scale), half = Real(0.5);
  auto from = static_cast<Real>(axis.from), to = static_cast<Real>(axis.to);
  if (mode == "asymmetric")
    return x / scale;
  if (mode == "align_corners")
    return axis.to > 1 ? x * (from - 1) / (to - 1) : 0;
  if (mode == "pytorch_half_pixel" && axis.to <= 1)
    return 0;
  if (mode == "half_pixel_symmetric") { // only the offset is rounded to float32
    Real offset = from / 2 * (1 - to / (scale * from));
    return static_cast<Real>(static_cast<double>(offset) + (static_cast<double>(at) + 0.5) / scale - 0.5);
  }
  if (mode == "half_pixel" || mode == "pytorch_half_pixel")
    return (x + half) / scale - half;
  decline("the coordinate transformation mode '{}' is not compiled", mode);
}

int64_t nearest(double position, const std::string &mode) {
  if (mode == "floor")
    return static_cast<int64_t>(std::floor(position));
  if (mode == "ceil")
    return static_cast<int64_t>(std::ceil(position));
  return static_cast<int64_t>(mode == "round_prefer_ceil" ? std::floor(position + 0.5 + nearMiddle)
                                                          : std::ceil(position - 0.5 - nearMiddle));
}

/// A constant vector of indices.
Term indexVector(NodeBuilder &b, const std::vector<int64_t> &index) {
  Tensor tensor = Tensor::allocate(DType::I64, {static_cast<int64_t>(index.size())});
  std::ranges::copy(index, tensor.data<int64_t>());
  return b.constantTerm(tensor);
}

/// Repeats each element by accesses only: [.., x, ..] -> [.., x, 1, ..] -> [.., x, times, ..] -> [.., x * times, ..].
Term repeated(NodeBuilder &b, Term x, int64_t dim, int64_t times) {
  Sizes split = x.sizes(), joined = x.sizes();
  split.insert(split.begin() + dim + 1, b.number(times));
  joined[dim] = joined[dim] * times;
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < x.rank(); ++i)
    dims.push_back(i + (i > dim));
  return b.reshape(b.broadcast(x, split, dims), joined);
}

/// If the nearest neighbours are each element repeated equally often: how often. Otherwise 0.
int64_t repetitions(const Axis &axis, ArrayRef<int64_t> index) {
  int64_t times = axis.to % axis.from == 0 ? axis.to / axis.from : 0;
  for (int64_t i = 0; i < axis.to && times > 0; ++i)
    times = index[i] == i / times ? times : 0;
  return times;
}

std::vector<int64_t> nearestIndices(const Axis &axis, const std::string &transform, const std::string &rounding) {
  std::vector<int64_t> index;
  for (int64_t i = 0; i < axis.to; ++i)
    index.push_back(
        std::clamp<int64_t>(nearest(sourcePosition<float>(axis, i, transform), rounding), 0, axis.from - 1));
  return index;
}

Term resizeNearest(NodeBuilder &b, Term x, const Axis &axis, const std::string &transform,
                   const std::string &rounding) {
  std::vector<int64_t> index = nearestIndices(axis, transform, rounding);
  int64_t times = repetitions(axis, index);
  return times ? repeated(b, x, axis.dim, times) : b.take(x, {axis.dim}, {indexVector(b, index)});
}

Term resizeLinear(NodeBuilder &b, Term x, const Axis &axis, const std::string &transform) {
  std::vector<int64_t> below, above;
  Tensor weights = Tensor::allocate(DType::F32, {axis.to});
  for (int64_t i = 0; i < axis.to; ++i) {
    double position = std::clamp(sourcePosition<double>(axis, i, transform), 0.0, static_cast<double>(axis.from - 1));
    below.push_back(static_cast<int64_t>(std::floor(position)));
    above.push_back(std::min(below.back() + 1, axis.from - 1));
    weights.data<float>()[i] = static_cast<float>(position - std::floor(position));
  }
  Term low = b.take(x, {axis.dim}, {indexVector(b, below)}), high = b.take(x, {axis.dim}, {indexVector(b, above)});
  Term weight = b.along(b.convert(b.constantTerm(weights), DType::F32, x.element().isF64() ? DType::F64 : DType::F32),
                        low, axis.dim);
  return low * (1.0 - weight) + high * weight;
}

//===- Symbolic sizes ---------------------------------------------------------------------------------------------===//

/// The source position of every result coordinate, in f32 or f64: a vector of `axis.to` elements.
Term sourcePositions(NodeBuilder &b, const SymbolicAxis &axis, const std::string &transform, DType type) {
  Sizes sizes{axis.to};
  Type i64 = b.state.builder.getI64Type();
  auto real = [&](Term x) { return b.convert(x, DType::I64, type); };
  auto sizeOf = [&](AffineExpr size) { return real(b.sizeAs(size, sizes, i64)); };
  Term x = real(b.iota(sizes, 0, i64)), from = sizeOf(axis.from), to = sizeOf(axis.to);
  Term scale = axis.scale > 0 ? b.splat(sizes, x.element(), axis.scale) : to / from;
  if (transform == "asymmetric")
    return x / scale;
  if (transform == "align_corners")
    return x * (from - 1.0) / b.maximum(to - 1.0, 1.0);
  Term centered = (x + 0.5) / scale - 0.5;
  if (transform == "half_pixel")
    return centered;
  if (transform == "pytorch_half_pixel")
    return b.select(b.compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, to, b.like(to, 1)), centered,
                    b.like(centered, 0));
  if (transform == "half_pixel_symmetric") { // only the offset is rounded to float32
    auto wide = [&](Term x) { return b.convert(x, type, DType::F64); };
    Term offset = from * 0.5 * (1.0 - to / (scale * from));
    return b.convert(wide(offset) + (wide(x) + 0.5) / wide(scale) - 0.5, DType::F64, type);
  }
  decline("the coordinate transformation mode '{}' is not compiled", transform);
}

/// Positions clamped to the source.
Term inside(NodeBuilder &b, Term position, const SymbolicAxis &axis) {
  Term last =
      b.convert(b.sizeAs(axis.from, position.sizes(), b.state.builder.getI64Type()), DType::I64, DType::F64) - 1.0;
  return b.minimum(b.maximum(position, 0), last);
}

Term resizeNearest(NodeBuilder &b, Term x, const SymbolicAxis &axis, const std::string &transform,
                   const std::string &rounding) {
  // For an integer factor it does not depend on the size whether nearest neighbours are
  // repetitions, so try one size.
  if (constexpr int64_t sample = 16;
      axis.scale >= 1 && axis.scale == std::floor(axis.scale) && transform != "align_corners") {
    Axis like{axis.dim, sample, sample * static_cast<int64_t>(axis.scale), axis.scale};
    if (int64_t times = repetitions(like, nearestIndices(like, transform, rounding)))
      return repeated(b, x, axis.dim, times);
  }
  Term whole = nearestIndex(b, rounding, sourcePositions(b, axis, transform, DType::F32));
  whole = b.convert(whole, DType::F32, DType::F64);
  return b.take(x, {axis.dim}, {b.convert(inside(b, whole, axis), DType::F64, DType::I64)});
}

Term resizeLinear(NodeBuilder &b, Term x, const SymbolicAxis &axis, const std::string &transform) {
  Term position = inside(b, sourcePositions(b, axis, transform, DType::F64), axis),
       below = b.apply<math::FloorOp>(position);
  Term low = b.take(x, {axis.dim}, {b.convert(below, DType::F64, DType::I64)});
  Term high = b.take(x, {axis.dim}, {b.convert(inside(b, below + 1.0, axis), DType::F64, DType::I64)});
  Term weight =
      b.along(b.convert(position - below, DType::F64, x.element().isF64() ? DType::F64 : DType::F32), low, axis.dim);
  return low * (1.0 - weight) + high * weight;
}

//===- Attributes and inputs --------------------------------------------------------------------------------------===//

std::vector<double> floatsOf(NodeBuilder &b, size_t i) {
  const Tensor *tensor = b.constant(i);
  if (!tensor || tensor->type() != DType::F32)
    decline("scales that are no constants are not compiled");
  return std::vector<double>(tensor->data<float>(), tensor->data<float>() + tensor->count());
}

/// The dimensions that change, with scales given or implied by the sizes.
struct ChangedAxes {
  std::vector<Axis> known;
  std::vector<SymbolicAxis> symbolic;
};

ChangedAxes changedAxes(NodeBuilder &b, std::optional<std::vector<double>> scales, std::optional<Sizes> sizes) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < b.rank(0); ++i)
    dims.push_back(i);
  if (auto axes = b.integers("axes")) {
    dims = *axes;
    for (int64_t &dim : dims)
      dim = b.axis(dim, b.rank(0));
  }
  size_t given = scales ? scales->size() : sizes->size();
  b.expect(given == dims.size(), fmt::format("expected {} scales or sizes, got {}", dims.size(), given));
  ChangedAxes changed;
  for (size_t i = 0; i < dims.size(); ++i) {
    AffineExpr source = b.sizes(0)[dims[i]];
    std::optional<int64_t> from = graph::constantSize(source),
                           result = sizes ? graph::constantSize((*sizes)[i]) : std::nullopt;
    if (scales ? (*scales)[i] == 1 : (*sizes)[i] == source)
      continue;
    if (!from || (sizes && !result)) {
      AffineExpr target = sizes ? (*sizes)[i] : scaledSize(source, (*scales)[i]);
      if (!target)
        decline("resizing a symbolic dimension by {} is not compiled", (*scales)[i]);
      b.expect(!scales || (*scales)[i] > 0, fmt::format("expected positive scales, got {}", scales ? (*scales)[i] : 0));
      changed.symbolic.push_back({dims[i], source, target, scales ? (*scales)[i] : 0});
      continue;
    }
    double wanted = scales ? scaledSize(*from, static_cast<float>((*scales)[i])) : static_cast<double>(*result);
    int64_t to = std::abs(wanted) < 1e15 ? static_cast<int64_t>(wanted) : -1;
    double scale = scales ? (*scales)[i] : static_cast<double>(to) / static_cast<double>(*from);
    constexpr int64_t most = 1 << 24;
    b.expect(std::isfinite(scale) && scale > 0 && to <= most,
             fmt::format("expected a positive scale to at most 2^24 elements, got {}", scale));
    b.expect(*from > 0 && to > 0, fmt::format("expected positive sizes, got {} to {}", *from, to));
    if (to != *from || scale != 1)
      changed.known.push_back({dims[i], *from, to, scale});
  }
  return changed;
}

void resizeBy(NodeBuilder &b, const ChangedAxes &axes, const std::string &transform, const std::string &rounding) {
  std::string mode = b.text("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "bilinear" && mode != "trilinear")
    decline("resizing by mode '{}' is not compiled", mode);
  Term x = mode == "nearest" ? b.raw(0) : b.in(0);
  if (mode != "nearest" && !x.isFloat())
    decline("linear resizing of integers is not compiled");
  // Images are resized with channels last, as convolutions have them, and stored in between.
  auto isSpatial = [](const auto &axis) { return axis.dim >= 2; };
  bool isImage = x.rank() >= 3 && llvm::all_of(axes.known, isSpatial) && llvm::all_of(axes.symbolic, isSpatial);
  if (isImage)
    x = channelsLast(b, x);
  auto resize = [&](auto axis) {
    axis.dim -= isImage;
    x = mode == "nearest" ? resizeNearest(b, x, axis, transform, rounding) : resizeLinear(b, x, axis, transform);
  };
  llvm::for_each(axes.known, resize);
  llvm::for_each(axes.symbolic, resize);
  b.out(isImage ? channelsFirst(b, x) : x);
}

} // namespace

double scaledSize(int64_t size, float scale) { return std::floor(scale * static_cast<float>(size)); }

AffineExpr scaledSize(AffineExpr size, double scale) {
  constexpr int64_t largestDenominator = 1024;
  for (int64_t denominator = 1; denominator <= largestDenominator; denominator *= 2)
    if (double numerator = scale * static_cast<double>(denominator);
        numerator == std::floor(numerator) && numerator < 1 << 20)
      return graph::canonicalSize((size * static_cast<int64_t>(numerator)).floorDiv(denominator));
  return {};
}

// In float32 until the position is whole: kernels may keep what is rounded to float32 in between as it was before.
Term nearestIndex(NodeBuilder &b, const std::string &mode, Term position) {
  Term low = b.apply<math::FloorOp>(position);
  if (mode == "floor")
    return low;
  if (mode == "ceil")
    return b.apply<math::CeilOp>(position);
  b.expect(mode == "round_prefer_floor" || mode == "round_prefer_ceil",
           fmt::format("expected a nearest_mode that Resize has, got '{}'", mode));
  double least = mode == "round_prefer_ceil" ? 0.5 - nearMiddle : 0.5 + nearMiddle;
  Term isAbove = b.compare(arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, position - low, b.like(low, least));
  return b.select(isAbove, low + 1.0, low);
}

/// Whether the indices and weights of a Resize are not known at import.
static bool isGeneral(NodeBuilder &b, size_t given) {
  std::string transform = b.text("coordinate_transformation_mode", "half_pixel");
  return b.integer("antialias", 0) || b.text("keep_aspect_ratio_policy", "stretch") != "stretch" ||
         b.text("mode", "nearest") == "cubic" ||
         (b.text("mode", "nearest") != "nearest" && b.integer("exclude_outside", 0)) ||
         transform == "tf_crop_and_resize" || transform == "tf_half_pixel_for_nn" ||
         (b.has(given) && !b.constant(given) && !b.state.elementsOf(b.input(given)));
}

void resize(NodeBuilder &b) {
  bool early = b.node.opset < 11; // has only scales, and only the mode asymmetric
  std::optional<std::vector<double>> scales;
  std::optional<Sizes> sizes;
  size_t at = early ? 1 : 2;
  bool bySizes = !early && b.has(3);
  if (isGeneral(b, bySizes ? 3 : at))
    return resizeWhenRunning(b, bySizes ? std::nullopt : std::optional(at),
                             bySizes ? std::optional<size_t>(3) : std::nullopt);
  if (!early && b.has(3))
    sizes = b.knownSizes(3);
  else if (b.has(at))
    scales = floatsOf(b, at);
  b.expect(scales || sizes, "expected scales or sizes, got neither");
  std::string transform = early ? "asymmetric" : b.text("coordinate_transformation_mode", "half_pixel");
  resizeBy(b, changedAxes(b, scales, sizes), transform, early ? "floor" : b.text("nearest_mode", "round_prefer_floor"));
}

void upsample(NodeBuilder &b) {
  std::vector<double> scales;
  if (b.node.opset >= 9) {
    if (!b.constant(1))
      return resizeWhenRunning(b, 1, std::nullopt);
    scales = floatsOf(b, 1);
  } else {
    auto found = b.node.attributes.find("scales");
    const auto *list = found == b.node.attributes.end() ? nullptr : std::get_if<std::vector<float>>(&found->second);
    b.expect(list != nullptr, "expected scales, got none");
    scales.assign(list->begin(), list->end());
  }
  resizeBy(b, changedAxes(b, scales, std::nullopt), "asymmetric", "floor");
}

} // namespace tilewright::ops
