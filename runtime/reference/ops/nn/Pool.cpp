// SPDX-License-Identifier: Apache-2.0
// Pooling: windows reduced by maximum, average or norm; their global forms; MaxUnpool; and pooling over regions of
// interest.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"
#include "runtime/reference/Window.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright::reference {

static Shape spatial(const Tensor &x) {
  require(x.rank() >= 3, "expected batch, channels and spatial dimensions, found shape {}", x.shape());
  return Shape(x.shape().begin() + 2, x.shape().end());
}

static Shape withSpatial(const Tensor &x, const Shape &sizes) {
  Shape shape{x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  return shape;
}

static Shape kernelShape(Call &call) {
  auto kernel = call.integers("kernel_shape");
  require(kernel.has_value(), "expected the attribute 'kernel_shape'");
  return windowAttribute(call, "kernel_shape", kernel->size(), 1);
}

/// Calls reduce(image, sources, taps, output offset) for each image (batch and channel) and each output position.
/// `sources` has a stride of the number of positions in a block.
template <typename Reduce> static void slide(const Window &window, int64_t images, Reduce reduce) {
  int64_t positions = window.outputs(), taps = window.taps(), block = std::clamp<int64_t>((1 << 18) / taps, 1, 4096);
  std::vector<int64_t> table(taps * block);
  for (int64_t first = 0; first < positions; first += block) {
    int64_t count = std::min(block, positions - first);
    window.sources(first, count, table.data());
    for (int64_t n = 0; n < images; ++n)
      for (int64_t i = 0; i < count; ++i)
        reduce(n, table.data() + i, count, n * positions + first + i);
  }
}

/// Offsets in one image, from row-major to column-major order if `columnMajor` (storage_order = 1).
static int64_t reordered(int64_t offset, const Shape &sizes, bool columnMajor) {
  if (!columnMajor)
    return offset;
  int64_t result = 0, step = product(sizes);
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    step /= sizes[d];
    result += offset % sizes[d] * step;
    offset /= sizes[d];
  }
  return result;
}

void maxPool(Call &call) {
  const Tensor &x = call.input(0);
  Window window(call, spatial(x), kernelShape(call));
  Shape shape = withSpatial(x, window.output);
  checkSize(x.type(), shape);
  int64_t taps = window.taps(), imageSize = product(window.input);
  bool columnMajor = call.integer("storage_order", 0);
  dispatch(x.type(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> values(x);
    std::vector<T> result(product(shape));
    std::vector<int64_t> indices(result.size());
    slide(window, product(std::span(x.shape()).first(2)),
          [&](int64_t image, const int64_t *sources, int64_t step, int64_t output) {
            int64_t best = -1;
            const T *from = values.data() + image * imageSize;
            for (int64_t t = 0; t < taps; ++t) {
              int64_t source = sources[t * step];
              if (source >= 0 && (best < 0 || from[source] > from[best] || from[source] != from[source]))
                best = source;
            }
            // A window of padding only gives the smallest value.
            result[output] = best >= 0                   ? from[best]
                             : std::is_same_v<T, double> ? static_cast<T>(-HUGE_VAL)
                                                         : std::numeric_limits<T>::min();
            indices[output] = best < 0 ? -1 : image * imageSize + reordered(best, window.input, columnMajor);
          });
    call.give(0, x.type(), shape, result);
    if (call.wants(1))
      call.give(1, DType::I64, shape, indices);
  });
}

/// Reduces windows in double: `finish` gets the sum of map(x) over taps inside of the input, and the number of taps
/// that count.
template <typename Map, typename Finish>
static void poolSum(Call &call, bool countPadding, Map mapping, Finish finish) {
  const Tensor &x = call.input(0);
  require(isFloat(x.type()), "expected floating-point input, found {}", name(x.type()));
  Window window(call, spatial(x), kernelShape(call));
  Shape shape = withSpatial(x, window.output);
  checkSize(x.type(), shape);
  int64_t taps = window.taps(), imageSize = product(window.input);
  Values<double> values(x);
  std::vector<double> result(product(shape));
  slide(window, product(std::span(x.shape()).first(2)),
        [&](int64_t image, const int64_t *sources, int64_t step, int64_t output) {
          double sum = 0;
          int64_t count = 0;
          for (int64_t t = 0; t < taps; ++t) {
            int64_t source = sources[t * step];
            if (source >= 0)
              sum += mapping(values[image * imageSize + source]);
            count += source >= 0 || (countPadding && source == Window::padding);
          }
          result[output] = finish(sum, static_cast<double>(count));
        });
  call.give(0, x.type(), shape, result);
}

void averagePool(Call &call) {
  poolSum(
      call, call.integer("count_include_pad", 0), [](double x) { return x; },
      [](double sum, double count) { return count > 0 ? sum / count : 0; });
}

void lpPool(Call &call) {
  double p = static_cast<double>(call.integer("p", 2));
  poolSum(
      call, false, [=](double x) { return std::pow(std::abs(x), p); },
      [=](double sum, double) { return std::pow(sum, 1 / p); });
}

//===- Global -----------------------------------------------------------------------------------------------------===//

template <typename Update, typename Finish>
static void globalPool(Call &call, double init, Update update, Finish finish) {
  const Tensor &x = call.input(0);
  require(isFloat(x.type()), "expected floating-point input, found {}", name(x.type()));
  int64_t size = product(spatial(x)), images = product(std::span(x.shape()).first(2));
  Values<double> values(x);
  std::vector<double> result(images, init);
  for (int64_t n = 0; n < images; ++n) {
    for (int64_t i = 0; i < size; ++i)
      update(result[n], values[n * size + i]);
    result[n] = finish(result[n], static_cast<double>(size));
  }
  call.give(0, x.type(), withSpatial(x, Shape(x.shape().size() - 2, 1)), result);
}

void globalAveragePool(Call &call) {
  globalPool(call, 0, [](double &sum, double x) { sum += x; }, [](double sum, double n) { return sum / n; });
}
void globalMaxPool(Call &call) {
  globalPool(
      call, -HUGE_VAL, [](double &best, double x) { best = best != best || best > x ? best : x; },
      [](double best, double) { return best; });
}
void globalLpPool(Call &call) {
  double p = static_cast<double>(call.integer("p", 2));
  globalPool(
      call, 0, [=](double &sum, double x) { sum += std::pow(std::abs(x), p); },
      [=](double sum, double) { return std::pow(sum, 1 / p); });
}

//===- Unpooling and regions --------------------------------------------------------------------------------------===//

/// Writes each value to the offset that MaxPool reported; all else is 0. Offsets are in the tensor that MaxPool read,
/// whose sizes are inferred; output_shape only extends it.
void maxUnpool(Call &call) {
  const Tensor &x = call.input(0);
  Shape sizes = spatial(x), kernel = kernelShape(call);
  size_t rank = sizes.size();
  require(kernel.size() == rank && call.input(1).shape() == x.shape(),
          "expected indices of shape {} and a kernel of {} dimensions, found {} and {}", x.shape(), rank,
          call.input(1).shape(), kernel);
  Shape strides = windowAttribute(call, "strides", rank, 1), pads = windowAttribute(call, "pads", 2 * rank, 0);
  for (size_t d = 0; d < rank; ++d)
    require(!__builtin_mul_overflow(sizes[d] - 1, strides[d], &sizes[d]) &&
                !__builtin_add_overflow(sizes[d], kernel[d] - pads[d] - pads[d + rank], &sizes[d]),
            "the output is too large");
  Shape inferred = withSpatial(x, sizes), shape = call.has(2) ? call.indices(2) : inferred;
  require(shape.size() == inferred.size(), "expected an output_shape of {} elements, found {}", inferred.size(), shape);
  for (size_t d = 0; d < shape.size(); ++d)
    require(shape[d] >= inferred[d], "expected an output_shape of at least {}, found {}", inferred, shape);
  Tensor &result = call.make(0, x.type(), shape);
  std::vector<int64_t> indices = call.indices(1);
  Shape inferredStrides = stridesOf(inferred), strideInResult = stridesOf(shape);
  int64_t count = product(inferred), bytes = elementBytes(x.type());
  for (int64_t i = 0; i < x.count(); ++i) {
    require(0 <= indices[i] && indices[i] < count, "index {} is outside of an output of {} elements", indices[i],
            count);
    int64_t to = 0;
    for (size_t d = 0; d < inferred.size(); ++d)
      to += indices[i] / inferredStrides[d] % inferred[d] * strideInResult[d];
    std::copy_n(x.bytes() + i * bytes, bytes, result.bytes() + to * bytes);
  }
}

/// Regions [batch, x1, y1, x2, y2] are scaled to input units, rounded, and divided into cells whose edges are rounded
/// outwards.
void maxRoiPool(Call &call) {
  const Tensor &x = call.input(0), &regions = call.input(1);
  auto pooled = call.integers("pooled_shape");
  require(x.rank() == 4 && regions.rank() == 2 && regions.shape()[1] == 5 && pooled && pooled->size() == 2,
          "expected an image [N, C, H, W], regions [R, 5] and a pooled_shape of 2, found {} and {}", x.shape(),
          regions.shape());
  int64_t channels = x.shape()[1], height = x.shape()[2], width = x.shape()[3], rows = (*pooled)[0],
          columns = (*pooled)[1];
  double scale = call.real("spatial_scale", 1);
  Shape shape{regions.shape()[0], channels, rows, columns};
  checkSize(x.type(), shape);
  Values<double> values(x), corners(regions);
  std::vector<double> result;
  for (int64_t r = 0; r < shape[0]; ++r) {
    const double *region = corners.data() + r * 5;
    require(region[0] >= 0 && region[0] < static_cast<double>(x.shape()[0]), "region {} is of image {} of {}", r,
            region[0], x.shape()[0]);
    double left = std::round(region[1] * scale), top = std::round(region[2] * scale);
    double cellWidth = std::max(std::round(region[3] * scale) - left + 1, 1.0) / static_cast<double>(columns);
    double cellHeight = std::max(std::round(region[4] * scale) - top + 1, 1.0) / static_cast<double>(rows);
    auto clamped = [](double at, int64_t size) {
      return at > 0 ? static_cast<int64_t>(std::min(at, static_cast<double>(size))) : 0;
    };
    for (int64_t c = 0; c < channels; ++c) {
      const double *image = values.data() + (static_cast<int64_t>(region[0]) * channels + c) * height * width;
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          int64_t y0 = clamped(std::floor(static_cast<double>(i) * cellHeight) + top, height);
          int64_t y1 = clamped(std::ceil(static_cast<double>(i + 1) * cellHeight) + top, height);
          int64_t x0 = clamped(std::floor(static_cast<double>(j) * cellWidth) + left, width);
          int64_t x1 = clamped(std::ceil(static_cast<double>(j + 1) * cellWidth) + left, width);
          double best = y0 < y1 && x0 < x1 ? -HUGE_VAL : 0; // an empty cell is 0
          for (int64_t y = y0; y < y1; ++y)
            for (int64_t k = x0; k < x1; ++k)
              best = std::max(best, image[y * width + k]);
          result.push_back(best);
        }
    }
  }
  call.give(0, x.type(), shape, result);
}

} // namespace tilewright::reference
