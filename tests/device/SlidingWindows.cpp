// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions whose windows are straight code: a thread holds neighbours along the rows of an image, and
// loads what their windows share once. Tiles reach beyond the image on all sides, and loads beyond the results' ends
// have guards alone.
#include "tests/device/Cases.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::test {

namespace {
struct Sliding {
  DType type;
  int64_t images, height, width, channels, kernel, stride, pad;
  std::array<int64_t, 4> tile; // images, rows, columns, channels
  int64_t rows;                // of the window in each step; those of the last step may be beyond its end
  int64_t warps = 1;

  int64_t outHeight() const { return (height + 2 * pad - kernel) / stride + 1; }
  int64_t outWidth() const { return (width + 2 * pad - kernel) / stride + 1; }
  std::array<int64_t, 4> results() const { return {images, outHeight(), outWidth(), channels}; }
  std::array<int64_t, 4> blocks() const {
    std::array<int64_t, 4> counts = results();
    for (size_t i = 0; i < counts.size(); ++i)
      counts[i] = (counts[i] + tile[i] - 1) / tile[i];
    return counts;
  }
};

/// The types of a kernel, as text.
struct Types {
  explicit Types(const Sliding &w) : element(typeText(w.type)) {
    std::string shape = fmt::format("1x1x{}", fmt::join(w.tile, "x")), ofRow = fmt::format("1x1x1x1x1x{}", w.tile[3]);
    image = fmt::format("!tile.buffer<{}, () -> ({}, {}, {}, {})>", element, w.images, w.height, w.width, w.channels);
    filter = fmt::format("!tile.buffer<{}, () -> ({}, {}, {})>", element, w.kernel, w.kernel, w.channels);
    result = fmt::format("!tile.buffer<{}, () -> ({})>", element, fmt::join(w.results(), ", "));
    tile = fmt::format("tensor<{}x{}>", shape, element), sums = fmt::format("tensor<{}xf32>", shape);
    weights = fmt::format("tensor<{}x{}>", ofRow, element), wideWeights = fmt::format("tensor<{}xf32>", ofRow);
  }
  std::string element, image, filter, result, tile, sums, weights, wideWeights;
};
} // namespace

/// Adds the element of the window in row `kh` of a step to %sum; what is added is the value `number`.
static std::string textOfElement(const Sliding &w, const Types &t, int64_t kh, int64_t kw, const std::string &sum,
                                 const std::string &number) {
  std::array<int64_t, 4> blocks = w.blocks();
  bool isWide = w.type == DType::F32;
  std::string text = fmt::format(
      R"(
        %kh{0} = tile.size (d0) -> (d0 + {1})(%row)
        %kw{0} = arith.constant {2} : index
        %v{0} = tile.load %x[%kh{0}, %kw{0}, %n, %oh, %ow, %c] bounds () -> ({3}, {3}, {4}, {5}, {6}, {7})
            map (d0, d1, d2, d3, d4, d5) -> (d2, d3 * {8} + d0 - {9}, d4 * {8} + d1 - {9}, d5)
            guard [1, 2] fill 0.0 : {10} : {11} -> {12}
        %w{0} = tile.load %f[%kh{0}, %kw{0}, %c0, %c0, %c0, %c] bounds () -> ({3}, {3}, 1, 1, 1, {7})
            map (d0, d1, d2, d3, d4, d5) -> (d0, d1, d5) : {13} -> {14}
)",
      number, kh, kw, w.kernel, w.images, blocks[1] * w.tile[1], blocks[2] * w.tile[2], w.channels, w.stride, w.pad,
      t.element, t.image, t.tile, t.filter, t.weights);
  if (!isWide)
    text +=
        fmt::format("        %vv{0} = arith.extf %v{0} : {1} to {2}\n        %ww{0} = arith.extf %w{0} : {3} to {4}\n",
                    number, t.tile, t.sums, t.weights, t.wideWeights);
  return text + fmt::format(R"(
        %wb{0} = tile.broadcast %{1}{0} : {2} -> {3}
        %m{0} = arith.mulf %{4}{0}, %wb{0} : {3}
        %s{0} = arith.addf %{5}, %m{0} : {3}
)",
                            number, isWide ? "w" : "ww", t.wideWeights, t.sums, isWide ? "v" : "vv", sum);
}

/// x[n, h, w, c], filter[kh, kw, c], y[n, oh, ow, c]; dimensions are those of the window, then of the results.
static std::string kernelText(const Sliding &w) {
  Types t(w);
  std::array<int64_t, 4> blocks = w.blocks();
  std::string kernel = fmt::format(
      R"(
    tile.kernel @k(%x: {0}, %f: {1}, %y: {2})
        attributes {{grid = affine_map<() -> ({3}, 1, 1)>,
                     schedule = #tile.schedule<window, tile = [{4}], reduce = [{5}, {6}], warps = {7}, unrolled = true>}} {{
      %p = tile.program_id 0
      %c = tile.size (d0) -> ((d0 mod {8}) * {9})(%p)
      %ow = tile.size (d0) -> (((d0 floordiv {8}) mod {10}) * {11})(%p)
      %oh = tile.size (d0) -> (((d0 floordiv {12}) mod {13}) * {14})(%p)
      %n = tile.size (d0) -> ((d0 floordiv {15}) * {16})(%p)
      %c0 = arith.constant 0 : index
      %step = arith.constant {5} : index
      %end = arith.constant {6} : index
      %zero = arith.constant dense<0.0> : {17}
      %sums = scf.for %row = %c0 to %end step %step iter_args(%before = %zero) -> ({17}) {{
)",
      t.image, t.filter, t.result, blocks[0] * blocks[1] * blocks[2] * blocks[3], fmt::join(w.tile, ", "), w.rows,
      w.kernel, w.warps, blocks[3], w.tile[3], blocks[2], w.tile[2], blocks[3] * blocks[2], blocks[1], w.tile[1],
      blocks[3] * blocks[2] * blocks[1], w.tile[0], t.sums);
  std::string sum = "before";
  for (int64_t kh = 0; kh < w.rows; ++kh)
    for (int64_t kw = 0; kw < w.kernel; ++kw) {
      std::string number = fmt::format("{}_{}", kh, kw);
      kernel += textOfElement(w, t, kh, kw, sum, number);
      sum = "s" + number;
    }
  kernel += fmt::format("        scf.yield %{} : {}\n      }}\n", sum, t.sums);
  if (w.type != DType::F32)
    kernel += fmt::format("      %narrow = arith.truncf %sums : {} to {}\n", t.sums, t.tile);
  return kernel + fmt::format(R"(
      tile.store %{}, %y[%c0, %c0, %n, %oh, %ow, %c] bounds () -> (1, 1, {})
          map (d0, d1, d2, d3, d4, d5) -> (d2, d3, d4, d5) : {} -> {}
      tile.return
    }})",
                              w.type == DType::F32 ? "sums" : "narrow", fmt::join(w.results(), ", "), t.tile, t.result);
}

static DeviceCase depthwise(const Sliding &w, std::string edge) {
  DeviceCase c{.name = fmt::format("depthwise_{}_{}x{}x{}x{}_k{}s{}p{}_{}_{}rows_{}warps", typeText(w.type), w.images,
                                   w.height, w.width, w.channels, w.kernel, w.stride, w.pad, fmt::join(w.tile, "x"),
                                   w.rows, w.warps),
               .family = "sliding window",
               .layout = "NHWC",
               .edge = std::move(edge),
               .type = w.type};
  int64_t count = w.images * w.outHeight() * w.outWidth() * w.channels, programs = 1;
  for (int64_t blocks : w.blocks())
    programs *= blocks;
  c.grid = {programs, 1, 1};
  c.kernel = kernelText(w);
  c.buffers = {{w.type, w.images * w.height * w.width * w.channels},
               {w.type, w.kernel * w.kernel * w.channels},
               {w.type, count}};
  c.expected = [w, specs = c.buffers](int64_t index) {
    int64_t ch = index % w.channels, ow = index / w.channels % w.outWidth(),
            oh = index / w.channels / w.outWidth() % w.outHeight(),
            n = index / w.channels / w.outWidth() / w.outHeight();
    double total = 0;
    for (int64_t kh = 0; kh < w.kernel; ++kh)
      for (int64_t kw = 0; kw < w.kernel; ++kw) {
        int64_t r = oh * w.stride + kh - w.pad, s = ow * w.stride + kw - w.pad;
        if (r >= 0 && r < w.height && s >= 0 && s < w.width)
          total += inputValue(specs[0], 0, ((n * w.height + r) * w.width + s) * w.channels + ch) *
                   inputValue(specs[1], 1, (kh * w.kernel + kw) * w.channels + ch);
      }
    return total;
  };
  c.tolerance = std::max(roundoff(w.type), 0x1p-20 * static_cast<double>(w.kernel));
  c.small = count < 20000;
  return c;
}

void addSlidingWindowCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16, DType::F32}) {
    auto add = [&](Sliding w, const char *edge) {
      w.type = type;
      cases.push_back(depthwise(w, edge));
    };
    add({type, 1, 8, 8, 64, 3, 1, 1, {1, 2, 8, 64}, 3}, "power of two");
    add({type, 2, 7, 7, 96, 7, 1, 3, {1, 4, 8, 32}, 1}, "multiple of 8");
    add({type, 2, 7, 7, 96, 7, 1, 3, {1, 2, 8, 32}, 4}, "multiple of 8");
    add({type, 3, 5, 11, 40, 5, 2, 2, {2, 2, 4, 64}, 1}, "multiple of 8");
    add({type, 1, 13, 9, 33, 3, 1, 1, {1, 4, 8, 32}, 3}, "beside a power of two");
    add({type, 1, 11, 5, 17, 5, 1, 2, {1, 4, 8, 32}, 2, 2}, "prime");
    add({type, 5, 3, 3, 8, 3, 1, 1, {4, 4, 4, 8}, 2}, "multiple of 8");
    add({type, 1, 9, 9, 32, 3, 2, 0, {1, 1, 8, 32}, 3}, "power of two");
    add({type, 1, 1, 1, 32, 3, 1, 1, {1, 8, 4, 32}, 1}, "size 1");
    add({type, 4, 56, 56, 96, 7, 1, 3, {1, 8, 4, 32}, 1}, "multiple of 8");
    add({type, 16, 28, 28, 120, 5, 1, 2, {1, 4, 4, 64}, 2, 2}, "multiple of 8");
  }
}

} // namespace tilewright::test
