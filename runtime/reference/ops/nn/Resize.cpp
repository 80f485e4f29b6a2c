// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample. Interpolation is separable: each axis has, for each output index, a list of input indices with
// weights.
//
//     y[.., i, ..] = sum over k of weight(i, k) * x[.., index(i, k), ..]
//
// Nearest neighbours are one index each and move elements of any type.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>

namespace tilewright::reference {

struct Tap {
  int64_t index;
  double weight;
};

struct ResizeOptions {
  std::string mode, coordinates, nearest, policy;
  double cubic, extrapolation;
  bool excludeOutside, antialias;

  explicit ResizeOptions(Call &call) {
    bool old = call.opset() < 11; // without coordinate modes: asymmetric, rounded down
    mode = call.text("mode", "nearest");
    if (mode == "bilinear" || mode == "trilinear")
      mode = "linear";
    coordinates = old ? "asymmetric" : call.text("coordinate_transformation_mode", "half_pixel");
    nearest = old ? "floor" : call.text("nearest_mode", "round_prefer_floor");
    policy = call.text("keep_aspect_ratio_policy", "stretch");
    cubic = call.real("cubic_coeff_a", -0.75);
    extrapolation = call.real("extrapolation_value", 0);
    excludeOutside = call.integer("exclude_outside", 0);
    antialias = call.integer("antialias", 0);
    require(mode == "nearest" || mode == "linear" || mode == "cubic",
            "expected mode to be nearest, linear or cubic, found '{}'", mode);
  }
};

/// One axis: sizes, the exact factor between them, and the part of the input that tf_crop_and_resize reads.
struct ResizedAxis {
  int64_t input = 1, output = 1;
  double scale = 1, roiStart = 0, roiEnd = 1;
  double length = 1; // of the output, as align_corners and tf_crop_and_resize take it
};

/// The input coordinate of an output index. Nearest neighbours are chosen by float32 coordinates, as all exporters and
/// other runtimes choose them: 10 / 0.1f is 100 in float32, but less in float64.
template <typename Real> static Real coordinate(const ResizeOptions &options, const ResizedAxis &axis, int64_t index) {
  const std::string &mode = options.coordinates;
  auto i = static_cast<Real>(index), input = static_cast<Real>(axis.input), scale = static_cast<Real>(axis.scale);
  auto output = static_cast<Real>(axis.output), length = static_cast<Real>(axis.length), half = Real(0.5);
  auto start = static_cast<Real>(axis.roiStart), end = static_cast<Real>(axis.roiEnd);
  if (mode == "half_pixel")
    return (i + half) / scale - half;
  if (mode == "half_pixel_symmetric") // only what is around the middle is rounded to float32
    return static_cast<Real>(double(input / 2 * (1 - output / (scale * input))) + (double(index) + 0.5) / scale - 0.5);
  if (mode == "pytorch_half_pixel")
    return axis.output > 1 ? (i + half) / scale - half : 0;
  if (mode == "align_corners")
    return length == 1 ? 0 : i * (input - 1) / (length - 1);
  if (mode == "asymmetric")
    return i / scale;
  if (mode == "tf_half_pixel_for_nn")
    return (i + half) / scale;
  if (mode == "tf_crop_and_resize")
    return length == 1 ? (start + end) * (input - 1) / 2
                       : start * (input - 1) + i * (end - start) * (input - 1) / (length - 1);
  malformed(fmt::format("'{}' is no coordinate_transformation_mode", mode));
}

/// Coordinates this close to the middle of two elements are taken to be in the middle, as ONNX Runtime takes them.
static constexpr double nearMiddle = 1e-6;

static int64_t nearestIndex(const std::string &mode, double x, int64_t size) {
  double index = 0;
  if (mode == "round_prefer_floor")
    index = std::ceil(x - 0.5 - nearMiddle);
  else if (mode == "round_prefer_ceil")
    index = std::floor(x + 0.5 + nearMiddle);
  else if (mode == "ceil")
    index = std::ceil(x);
  else if (mode == "floor")
    index = std::floor(x);
  else
    malformed(fmt::format("'{}' is no nearest_mode", mode));
  return static_cast<int64_t>(std::clamp(index, 0.0, static_cast<double>(size - 1)));
}

/// The interpolation kernel of mode linear (a triangle) or cubic (Keys, with coefficient a).
static double kernel(const ResizeOptions &options, double x) {
  x = std::abs(x);
  double a = options.cubic;
  if (options.mode == "linear")
    return std::max(0.0, 1 - x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// The taps of one output index. Antialiasing widens the kernel if the axis shrinks. Taps outside of the input read its
/// border, or are dropped and the others rescaled (exclude_outside).
static std::vector<Tap> taps(const ResizeOptions &options, const ResizedAxis &axis, double x) {
  double stretch = options.antialias ? std::min(axis.scale, 1.0) : 1;
  double reach = (options.mode == "linear" ? 1 : 2) / stretch, sum = 0;
  require(reach < 0x1p32, "a scale of {} is too small", axis.scale);
  std::vector<Tap> result;
  for (double at = std::floor(x - reach) + 1; at < x + reach; ++at) {
    bool outside = at < 0 || at > static_cast<double>(axis.input - 1);
    double weight = options.excludeOutside && outside ? 0 : kernel(options, (at - x) * stretch);
    result.push_back({static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.input - 1))), weight});
    sum += weight;
  }
  if (options.antialias || options.excludeOutside)
    for (Tap &tap : result)
      tap.weight /= sum;
  return result;
}

/// Whether the axis is left as it is, even where tf_half_pixel_for_nn would move its elements.
static bool isSame(const ResizeOptions &options, const ResizedAxis &axis) {
  return axis.scale == 1 && axis.output == axis.input && options.coordinates != "tf_crop_and_resize";
}

static bool extrapolates(const ResizeOptions &options, const ResizedAxis &axis, double x) {
  return options.coordinates == "tf_crop_and_resize" && !(x >= 0 && x <= static_cast<double>(axis.input - 1));
}

/// x interpolated along one axis.
static std::vector<double> resizeAxis(const ResizeOptions &options, const ResizedAxis &axis,
                                      const std::vector<double> &x, Shape &shape, int64_t dimension) {
  AxisView view(shape, dimension);
  shape[dimension] = axis.output;
  checkSize(DType::F64, shape);
  std::vector<double> result(product(shape));
  for (int64_t i = 0; i < axis.output; ++i) {
    double at = coordinate<double>(options, axis, i);
    bool outside = extrapolates(options, axis, at);
    std::vector<Tap> weighted = outside ? std::vector<Tap>() : taps(options, axis, at);
    for (int64_t o = 0; o < view.outer; ++o) {
      double *to = result.data() + (o * axis.output + i) * view.inner;
      if (outside)
        std::fill_n(to, view.inner, options.extrapolation);
      for (const Tap &tap : weighted)
        for (int64_t k = 0; k < view.inner; ++k)
          to[k] += tap.weight * x[(o * view.size + tap.index) * view.inner + k];
    }
  }
  return result;
}

//===- Sizes ------------------------------------------------------------------------------------------------------===//

static std::vector<double> numbers(Call &call, int64_t i) {
  if (!call.has(i) || call.input(i).count() == 0)
    return {};
  Values<double> values(call.input(i));
  return {values.begin(), values.end()};
}

/// Sets sizes and exact factors, which the aspect ratio policy may make equal.
static void setSizes(const ResizeOptions &options, std::vector<ResizedAxis> &axes, std::span<const int64_t> which,
                     const std::vector<double> &sizes) {
  double common = 0;
  for (size_t k = 0; k < which.size(); ++k) {
    ResizedAxis &axis = axes[which[k]];
    require(sizes[k] >= 0 && sizes[k] < 0x1p40 && axis.input > 0, "a dimension of {} cannot be resized to {}",
            axis.input, sizes[k]);
    axis.output = static_cast<int64_t>(sizes[k]);
    axis.scale = sizes[k] / static_cast<double>(axis.input);
    bool larger = options.policy == "not_smaller";
    common = k == 0 ? axis.scale : larger ? std::max(common, axis.scale) : std::min(common, axis.scale);
  }
  if (options.policy == "stretch")
    return;
  require(options.policy == "not_larger" || options.policy == "not_smaller", "'{}' is no keep_aspect_ratio_policy",
          options.policy);
  for (int64_t d : which) {
    axes[d].scale = common;
    axes[d].output = std::llround(common * static_cast<double>(axes[d].input));
  }
}

/// Sets the lengths that corners are aligned by: those of the output. ONNX's own tests interpolate to scales below 1 by
/// scale * input instead, which need not be whole.
static void setLengths(const ResizeOptions &options, std::vector<ResizedAxis> &axes, bool byScales) {
  bool isExact = byScales && options.mode != "nearest" && !options.antialias;
  for (ResizedAxis &axis : axes)
    axis.length =
        isExact && axis.scale < 1 ? axis.scale * static_cast<double>(axis.input) : static_cast<double>(axis.output);
}

static std::vector<ResizedAxis> resizedAxes(Call &call, const ResizeOptions &options) {
  const Shape &shape = call.input(0).shape();
  std::vector<ResizedAxis> axes(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    axes[d].input = axes[d].output = shape[d];
  std::vector<int64_t> which =
      normalizeAxes(call.integers("axes").value_or(identityMap(call.input(0).rank())), call.input(0).rank());
  std::vector<double> roi, scales, sizes;
  if (call.op() == "Upsample" && call.opset() < 7) { // for images only
    require(shape.size() == 4, "expected an image [N, C, H, W], found {}", shape);
    scales = {1, 1, call.real("height_scale", 0), call.real("width_scale", 0)};
  } else if (call.op() == "Upsample" && call.opset() < 9) {
    auto given = call.reals("scales").value_or(std::vector<float>());
    scales.assign(given.begin(), given.end());
  } else if (call.opset() < 11) {
    scales = numbers(call, 1);
  } else {
    roi = numbers(call, 1), scales = numbers(call, 2), sizes = numbers(call, 3);
  }
  require(scales.empty() != sizes.empty(), "expected either scales or sizes, found {}",
          sizes.empty() ? "neither" : "both");
  require(sizes.size() + scales.size() == which.size(), "expected {} scales or sizes, found {}", which.size(),
          sizes.size() + scales.size());
  if (!sizes.empty())
    setSizes(options, axes, which, sizes);
  for (size_t k = 0; k < scales.size(); ++k) {
    ResizedAxis &axis = axes[which[k]];
    axis.scale = scales[k];
    // In float32, as in all shape inference: 0.7f * 10 is then 7.
    float size = std::floor(static_cast<float>(scales[k]) * static_cast<float>(axis.input));
    require(scales[k] > 0 && size < 0x1p40f, "expected a scale above 0 and a sane size, found {}", scales[k]);
    axis.output = static_cast<int64_t>(size);
  }
  setLengths(options, axes, !scales.empty());
  if (options.coordinates == "tf_crop_and_resize") {
    require(roi.size() == 2 * which.size(), "expected a roi of {} elements, found {}", 2 * which.size(), roi.size());
    for (size_t k = 0; k < which.size(); ++k)
      axes[which[k]].roiStart = roi[k], axes[which[k]].roiEnd = roi[k + which.size()];
  }
  return axes;
}

void resize(Call &call) {
  const Tensor &x = call.input(0);
  ResizeOptions options(call);
  std::vector<ResizedAxis> axes = resizedAxes(call, options);
  Shape shape;
  for (const ResizedAxis &axis : axes)
    shape.push_back(axis.output);
  checkSize(x.type(), shape);
  if (product(shape) == 0 || x.count() == 0) {
    require(product(shape) == 0, "a tensor without elements cannot be resized to {}", shape);
    call.make(0, x.type(), shape);
    return;
  }
  if (options.mode == "nearest") {
    std::vector<IndexMap> maps;
    for (const ResizedAxis &axis : axes) {
      IndexMap &map = maps.emplace_back();
      for (int64_t i = 0; i < axis.output; ++i) {
        double at = isSame(options, axis) ? static_cast<double>(i) : coordinate<float>(options, axis, i);
        map.push_back(extrapolates(options, axis, at) ? fill : nearestIndex(options.nearest, at, axis.input));
      }
    }
    return (void)call.give(0, pick(x, maps, store(x.type(), {}, std::vector<double>{options.extrapolation})));
  }
  Values<double> values(x);
  std::vector<double> result(values.begin(), values.end());
  Shape current = x.shape();
  for (size_t d = 0; d < axes.size(); ++d)
    if (!isSame(options, axes[d]))
      result = resizeAxis(options, axes[d], result, current, static_cast<int64_t>(d));
  call.give(0, x.type(), shape, result);
}

} // namespace tilewright::reference
