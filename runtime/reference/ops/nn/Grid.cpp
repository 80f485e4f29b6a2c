// SPDX-License-Identifier: Apache-2.0
// Sampling at fractional positions: GridSample, AffineGrid, RoiAlign, DeformConv.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"
#include "runtime/reference/Window.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilewright::reference {

//===- GridSample -------------------------------------------------------------------------------------------------===//

/// The taps of a position in one dimension: up to four indices with weights; index -1 reads zero.
struct Samples {
  int64_t count = 0;
  int64_t index[4];
  double weight[4];
  void add(int64_t at, double by) {
    index[count] = at;
    weight[count++] = by;
  }
};

struct GridOptions {
  std::string mode, padding;
  bool alignCorners;

  /// Reflects a coordinate at both borders until it is inside.
  double reflect(double x, double size) const {
    double low = alignCorners ? 0 : -0.5, high = alignCorners ? size - 1 : size - 0.5, span = high - low;
    if (span <= 0)
      return 0;
    double folded = std::fmod(std::abs(x - low), 2 * span);
    return low + (folded > span ? 2 * span - folded : folded);
  }

  /// The index after padding; -1 for zero.
  int64_t pad(double at, int64_t size) const {
    double limit = static_cast<double>(size - 1);
    if (padding == "reflection")
      at = std::nearbyint(reflect(at, static_cast<double>(size)));
    else if (padding == "zeros" && (at < 0 || at > limit))
      return -1;
    return static_cast<int64_t>(std::clamp(at, 0.0, limit));
  }

  /// The taps of a coordinate in [-1, 1] of a dimension of `size`.
  Samples sample(double normalized, int64_t size) const {
    double length = static_cast<double>(size);
    double x = alignCorners ? (normalized + 1) / 2 * (length - 1) : ((normalized + 1) * length - 1) / 2;
    Samples result;
    if (!std::isfinite(x)) {
      result.add(-1, 0);
      return result;
    }
    if (mode == "nearest")
      x = std::nearbyint(x);
    if (padding == "border" && mode != "cubic") // cubic taps are clamped one by one
      x = std::clamp(x, 0.0, length - 1);
    else if (padding == "reflection" &&
             (x < (alignCorners ? 0 : -0.5) || x > (alignCorners ? length - 1 : length - 0.5)))
      x = reflect(x, length);
    double low = std::floor(x), t = x - low;
    if (mode == "nearest") {
      result.add(pad(std::nearbyint(x), size), 1);
    } else if (mode == "linear") {
      result.add(pad(low, size), 1 - t);
      result.add(pad(low + 1, size), t);
    } else {
      constexpr double a = -0.75;
      auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
      auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
      result.add(pad(low - 1, size), far(t + 1));
      result.add(pad(low, size), near(t));
      result.add(pad(low + 1, size), near(1 - t));
      result.add(pad(low + 2, size), far(2 - t));
    }
    return result;
  }
};

/// The weighted sum over the product of all dimensions' taps.
static double interpolate(const double *x, std::span<const Samples> samples, std::span<const int64_t> strides) {
  if (samples.empty())
    return *x;
  double sum = 0;
  const Samples &own = samples[0];
  for (int64_t k = 0; k < own.count; ++k)
    if (own.index[k] >= 0)
      sum += own.weight[k] * interpolate(x + own.index[k] * strides[0], samples.subspan(1), strides.subspan(1));
  return sum;
}

void gridSample(Call &call) {
  const Tensor &x = call.input(0), &grid = call.input(1);
  GridOptions options{call.text("mode", call.opset() < 20 ? "bilinear" : "linear"), call.text("padding_mode", "zeros"),
                      call.integer("align_corners", 0) != 0};
  if (options.mode == "bilinear" || options.mode == "bicubic")
    options.mode = options.mode.substr(2);
  require(options.mode == "nearest" || options.mode == "linear" || options.mode == "cubic",
          "expected mode to be nearest, linear or cubic, found '{}'", options.mode);
  require(options.padding == "zeros" || options.padding == "border" || options.padding == "reflection",
          "expected padding_mode to be zeros, border or reflection, found '{}'", options.padding);
  int64_t rank = x.rank() - 2;
  require(rank >= 1 && grid.rank() == x.rank() && grid.shape()[0] == x.shape()[0] && grid.shape().back() == rank,
          "expected a grid of {} coordinates for input {}, found shape {}", rank, x.shape(), grid.shape());
  int64_t batch = x.shape()[0], channels = x.shape()[1];
  Shape sizes(x.shape().begin() + 2, x.shape().end()), strides = stridesOf(sizes), shape{batch, channels};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  require(product(sizes) > 0, "expected an input with elements, found shape {}", x.shape());
  checkSize(x.type(), shape);
  int64_t positions = product(std::span(shape).subspan(2)), image = product(sizes);
  Values<double> values(x), coordinates(grid);
  std::vector<double> result(product(shape));
  std::vector<Samples> samples(rank);
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t p = 0; p < positions; ++p) {
      for (int64_t d = 0; d < rank; ++d) // the grid lists the last dimension first
        samples[d] = options.sample(coordinates[(n * positions + p) * rank + rank - 1 - d], sizes[d]);
      for (int64_t c = 0; c < channels; ++c)
        result[(n * channels + c) * positions + p] =
            interpolate(values.data() + (n * channels + c) * image, samples, strides);
    }
  call.give(0, x.type(), shape, result);
}

/// theta [N, r, r + 1] applied to a regular grid over [-1, 1] in r dimensions.
void affineGrid(Call &call) {
  const Tensor &theta = call.input(0);
  Shape size = call.indices(1);
  int64_t rank = static_cast<int64_t>(size.size()) - 2;
  bool alignCorners = call.integer("align_corners", 0);
  require((rank == 2 || rank == 3) && theta.shape() == Shape{size[0], rank, rank + 1},
          "expected a size of 4 or 5 elements and a theta for it, found {} and {}", size, theta.shape());
  Shape sizes(size.begin() + 2, size.end()), shape{size[0]};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  shape.push_back(rank);
  checkSize(theta.type(), shape);
  Values<double> matrices(theta);
  std::vector<double> result, position(rank + 1, 1);
  for (int64_t n = 0; n < size[0] && product(sizes) > 0; ++n) {
    Shape index(rank, 0);
    do {
      for (int64_t d = 0; d < rank; ++d) { // x first: the last dimension
        double i = static_cast<double>(index[rank - 1 - d]), length = static_cast<double>(sizes[rank - 1 - d]);
        position[d] = alignCorners ? (length > 1 ? -1 + 2 * i / (length - 1) : 0) : (2 * i + 1) / length - 1;
      }
      for (int64_t r = 0; r < rank; ++r) {
        double sum = 0;
        for (int64_t d = 0; d <= rank; ++d)
          sum += matrices[(n * rank + r) * (rank + 1) + d] * position[d];
        result.push_back(sum);
      }
    } while (advanceIndex(index, sizes));
  }
  call.give(0, theta.type(), shape, result);
}

//===- RoiAlign ---------------------------------------------------------------------------------------------------===//

/// The four corners around a position times their bilinear weights; zeros more than one pixel outside of the image.
static std::array<double, 4> bilinearProducts(const double *image, int64_t height, int64_t width, double y, double x) {
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width)))
    return {};
  auto place = [](double at, int64_t size, int64_t &low, int64_t &high) {
    at = std::clamp(at, 0.0, static_cast<double>(size - 1));
    low = static_cast<int64_t>(at);
    high = std::min(low + 1, size - 1);
    return at - static_cast<double>(low);
  };
  int64_t y0, y1, x0, x1;
  double v = place(y, height, y0, y1), u = place(x, width, x0, x1);
  return {(1 - v) * (1 - u) * image[y0 * width + x0], (1 - v) * u * image[y0 * width + x1],
          v * (1 - u) * image[y1 * width + x0], v * u * image[y1 * width + x1]};
}

/// Averages samples on a regular grid in each cell of a region; mode max takes the largest weighted corner, as in the
/// specification's implementation.
void roiAlign(Call &call) {
  const Tensor &x = call.input(0), &regions = call.input(1);
  require(x.rank() == 4 && regions.rank() == 2 && regions.shape()[1] == 4,
          "expected an image [N, C, H, W] and regions [R, 4], found {} and {}", x.shape(), regions.shape());
  int64_t channels = x.shape()[1], height = x.shape()[2], width = x.shape()[3];
  int64_t rows = call.integer("output_height", 1), columns = call.integer("output_width", 1),
          ratio = call.integer("sampling_ratio", 0);
  std::string mode = call.text("mode", "avg"),
              transformation = call.text("coordinate_transformation_mode", "half_pixel");
  require(mode == "avg" || mode == "max", "expected mode to be avg or max, found '{}'", mode);
  bool halfPixel = call.opset() >= 16 && transformation == "half_pixel";
  double scale = call.real("spatial_scale", 1), offset = halfPixel ? 0.5 : 0;
  std::vector<int64_t> batches = call.indices(2);
  Shape shape{regions.shape()[0], channels, rows, columns};
  require(static_cast<int64_t>(batches.size()) == shape[0] && height > 0 && width > 0 && ratio >= 0 && ratio < 1 << 16,
          "expected {} batch indices and an image with elements, found {} and {}", shape[0], batches.size(), x.shape());
  checkSize(x.type(), shape);
  Values<double> values(x), corners(regions);
  std::vector<double> result;
  for (int64_t r = 0; r < shape[0]; ++r) {
    require(0 <= batches[r] && batches[r] < x.shape()[0], "index {} is out of range for dimension 0 of size {}",
            batches[r], x.shape()[0]);
    double left = corners[r * 4] * scale - offset, top = corners[r * 4 + 1] * scale - offset;
    double spanX = corners[r * 4 + 2] * scale - offset - left, spanY = corners[r * 4 + 3] * scale - offset - top;
    if (!halfPixel)
      spanX = std::max(spanX, 1.0), spanY = std::max(spanY, 1.0);
    double cellX = spanX / static_cast<double>(columns), cellY = spanY / static_cast<double>(rows);
    auto samples = [&](double cell) {
      require(cell < 0x1p16, "a region of {} cells a side is too large", cell);
      return ratio > 0 ? ratio : std::max<int64_t>(0, static_cast<int64_t>(std::ceil(cell)));
    };
    int64_t ny = samples(cellY), nx = samples(cellX);
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          const double *image = values.data() + (batches[r] * channels + c) * height * width;
          double sum = 0, best = ny * nx > 0 ? -HUGE_VAL : 0;
          for (int64_t a = 0; a < ny; ++a)
            for (int64_t b = 0; b < nx; ++b) {
              double y =
                  top + (static_cast<double>(i) + (static_cast<double>(a) + 0.5) / static_cast<double>(ny)) * cellY;
              double u =
                  left + (static_cast<double>(j) + (static_cast<double>(b) + 0.5) / static_cast<double>(nx)) * cellX;
              for (double product : bilinearProducts(image, height, width, y, u))
                sum += product, best = std::max(best, product);
            }
          result.push_back(mode == "max" ? best : sum / static_cast<double>(std::max<int64_t>(1, ny * nx)));
        }
  }
  call.give(0, x.type(), shape, result);
}

//===- DeformConv -------------------------------------------------------------------------------------------------===//

/// The taps of a position; those outside of the image read zero.
static Samples linearSamples(double x, int64_t size) {
  Samples result;
  double length = static_cast<double>(size), low = std::floor(x);
  if (!(x > -1 && x < length))
    return result;
  for (double at : {low, low + 1})
    if (at >= 0 && at < length)
      result.add(static_cast<int64_t>(at), 1 - std::abs(x - at));
  return result;
}

/// A convolution whose taps are moved by offsets, interpolated there, and scaled by a mask.
void deformConv(Call &call) {
  const Tensor &x = call.input(0), &weights = call.input(1), &offset = call.input(2);
  require(x.rank() >= 3 && weights.rank() == x.rank(),
          "expected input and weights of equal rank of 3 or more, found shapes {} and {}", x.shape(), weights.shape());
  int64_t rank = x.rank() - 2, batch = x.shape()[0], channels = x.shape()[1], outputs = weights.shape()[0];
  int64_t groups = call.integer("group", 1), offsetGroups = call.integer("offset_group", 1);
  require(groups >= 1 && offsetGroups >= 1 && channels % groups == 0 && outputs % groups == 0 &&
              channels % offsetGroups == 0 && weights.shape()[1] == channels / groups,
          "expected channels that divide into {} and {} groups, found input {} and weights {}", groups, offsetGroups,
          x.shape(), weights.shape());
  Shape sizes(x.shape().begin() + 2, x.shape().end()), strides = stridesOf(sizes);
  Window window(call, sizes, Shape(weights.shape().begin() + 2, weights.shape().end()));
  int64_t taps = window.taps(), positions = window.outputs(), image = product(sizes), perGroup = channels / groups;
  auto expectShape = [&](int64_t i, int64_t second) {
    Shape expected{batch, second};
    expected.insert(expected.end(), window.output.begin(), window.output.end());
    require(call.input(i).shape() == expected, "expected input {} of shape {}, found {}", i, expected,
            call.input(i).shape());
  };
  expectShape(2, offsetGroups * taps * rank);
  if (call.has(4))
    expectShape(4, offsetGroups * taps);
  require(!call.has(3) || call.input(3).shape() == Shape{outputs}, "expected a bias of shape [{}]", outputs);
  Shape shape{batch, outputs};
  shape.insert(shape.end(), window.output.begin(), window.output.end());
  checkSize(x.type(), shape);
  Values<double> values(x), w(weights), moves(offset), mask(call.has(4) ? call.input(4) : offset),
      bias(call.has(3) ? call.input(3) : weights);
  std::vector<double> result(product(shape)), column(channels * taps);
  std::vector<Samples> samples(rank);
  for (int64_t n = 0; n < batch; ++n) {
    Shape at(rank, 0);
    for (int64_t p = 0; p < positions; ++p, advanceIndex(at, window.output)) {
      Shape tap(rank, 0);
      for (int64_t t = 0; t < taps; ++t, advanceIndex(tap, window.kernel))
        for (int64_t c = 0; c < channels; ++c) {
          int64_t g = n * offsetGroups + c / (channels / offsetGroups);
          for (int64_t d = 0; d < rank; ++d) {
            double base =
                static_cast<double>(at[d] * window.strides[d] + tap[d] * window.dilations[d] - window.padsBegin[d]);
            samples[d] = linearSamples(base + moves[((g * taps + t) * rank + d) * positions + p], sizes[d]);
          }
          double value = interpolate(values.data() + (n * channels + c) * image, samples, strides);
          column[c * taps + t] = call.has(4) ? value * mask[(g * taps + t) * positions + p] : value;
        }
      for (int64_t m = 0; m < outputs; ++m) {
        double sum = call.has(3) ? bias[m] : 0;
        const double *own = column.data() + m / (outputs / groups) * perGroup * taps;
        for (int64_t k = 0; k < perGroup * taps; ++k)
          sum += w[m * perGroup * taps + k] * own[k];
        result[(n * outputs + m) * positions + p] = sum;
      }
    }
  }
  call.give(0, x.type(), shape, result);
}

} // namespace tilewright::reference
