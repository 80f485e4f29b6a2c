// SPDX-License-Identifier: Apache-2.0
// Convolutions as contractions of a window, and pooling: guarded loads, and loops over the window around the loop over
// channels.
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::test {

namespace {
struct Window {
  DType type;
  int64_t height, width, channels, filters, kernel, stride, pad;
  int64_t parts = 1; // programs that share the sums of a tile, of a convolution; its grid then has one dimension
  int64_t outHeight() const { return (height + 2 * pad - kernel) / stride + 1; }
  int64_t outWidth() const { return (width + 2 * pad - kernel) / stride + 1; }
};
} // namespace

static std::string describe(const Window &w) {
  return fmt::format("{}_{}x{}x{}_k{}s{}p{}", typeText(w.type), w.height, w.width, w.channels, w.kernel, w.stride,
                     w.pad);
}

/// Channels last: x[h, w, c], filter[kh, kw, c, f], y[oh, ow, f]; m runs over the output's pixels.
static std::string kernelText(const Window &w, int64_t bm, int64_t bn, int64_t bk, int64_t warps, int64_t gridX,
                              int64_t gridY) {
  bool shared = w.parts > 1;
  std::string programs = shared ? fmt::format(R"(%p = tile.program_id 0
      %px = tile.size (d0) -> (d0 mod {0})(%p)
      %py = tile.size (d0) -> (d0 floordiv {0})(%p))",
                                              gridX)
                                : "%px = tile.program_id 0\n      %py = tile.program_id 1";
  std::string text = typeText(w.type);
  int64_t pixels = w.outHeight() * w.outWidth();
  std::string x = fmt::format("!tile.buffer<{}, () -> ({}, {}, {})>", text, w.height, w.width, w.channels),
              y = fmt::format("!tile.buffer<f32, () -> ({}, {})>", pixels, w.filters);
  std::string filter =
      fmt::format("!tile.buffer<{}, () -> ({}, {}, {}, {})>", text, w.kernel, w.kernel, w.channels, w.filters);
  std::string ta = fmt::format("tensor<{}x{}x{}>", bm, bk, text), tb = fmt::format("tensor<{}x{}x{}>", bk, bn, text),
              tc = fmt::format("tensor<{}x{}xf32>", bm, bn);
  // The window's position is added by index operands of tile.size: row = oh * stride + kh - pad.
  std::string kernel =
      fmt::format(R"(
    tile.kernel @k(%x: {0}, %f: {1}, %y: {2})
        attributes {{grid = affine_map<() -> ({3}, {4}, 1)>,
                     schedule = #tile.schedule<matmul, tile = [{5}, {6}], reduce = [1, 1, {7}], warps = {8}, stages = 3, parts = {14}>}} {{
      {13}
      %n = tile.size (d0) -> (d0 * {6})(%px)
      %m = tile.size (d0) -> (d0 * {5})(%py)
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %window = arith.constant {9} : index
      %channels = arith.constant {10} : index
      %step = arith.constant {7} : index
      %zero = arith.constant dense<0.0> : {11}
      %acc = scf.for %t = %c0 to %window step %c1 iter_args(%o = %zero) -> ({11}) {{
        %inner = scf.for %k = %c0 to %channels step %step iter_args(%c = %o) -> ({11}) {{
          %kk = tile.size (d0, d1) -> (d0 * {12} + d1)(%t, %k)
)",
                  x, filter, y, shared ? gridX * gridY : gridX, shared ? 1 : gridY, bm, bn, bk, warps,
                  w.kernel * w.kernel, w.channels, tc, (w.channels + bk - 1) / bk * bk, programs, w.parts);
  int64_t padded = (w.channels + bk - 1) / bk * bk; // each tap's channels start at a multiple of the step
  std::string row = fmt::format("(d0 floordiv {0}) * {1} + (d1 floordiv {2}) floordiv {3} - {4}", w.outWidth(),
                                w.stride, padded, w.kernel, w.pad);
  std::string column = fmt::format("(d0 mod {0}) * {1} + (d1 floordiv {2}) mod {3} - {4}", w.outWidth(), w.stride,
                                   padded, w.kernel, w.pad);
  return kernel + fmt::format(R"(
          %a = tile.load %x[%m, %kk] bounds () -> ({0}, {1}) map (d0, d1) -> ({2}, {3}, d1 mod {4}) guard [0, 1{5}] fill 0.0 : {6}
              : {7} -> {8}
          %b = tile.load %f[%kk, %n] bounds () -> ({1}, {9})
              map (d0, d1) -> ((d0 floordiv {4}) floordiv {10}, (d0 floordiv {4}) mod {10}, d0 mod {4}, d1){11} : {12} -> {13}
          %d = tile.dot %a, %b, %c : {8}, {13}, {14}
          scf.yield %d : {14}
        }}
        scf.yield %inner : {14}
      }}
      tile.store %acc, %y[%m, %n] bounds () -> ({0}, {9}) map (d0, d1) -> (d0, d1) : {14} -> {15}
      tile.return
    }})",
                              pixels, w.kernel * w.kernel * padded, row, column, padded,
                              padded == w.channels ? "" : ", 2", text, x, ta, w.filters, w.kernel,
                              padded == w.channels ? "" : fmt::format(" guard [2] fill 0.0 : {}", text), filter, tb, tc,
                              y);
}

static DeviceCase convolution(const Window &w, int64_t bm, int64_t bn, int64_t bk, int64_t warps, std::string edge) {
  std::string parts = w.parts > 1 ? fmt::format("_parts{}", w.parts) : "";
  DeviceCase c{.name = fmt::format("conv_{}_f{}{}", describe(w), w.filters, parts),
               .family = w.parts > 1 ? "shared sums" : "conv",
               .layout = "NHWC",
               .edge = std::move(edge),
               .type = w.type};
  int64_t pixels = w.outHeight() * w.outWidth();
  c.grid = {(w.filters + bn - 1) / bn, (pixels + bm - 1) / bm, 1};
  c.kernel = kernelText(w, bm, bn, bk, warps, c.grid[0], c.grid[1]);
  if (w.parts > 1)
    c.grid = {c.grid[0] * c.grid[1], 1, 1};
  c.buffers = {{w.type, w.height * w.width * w.channels},
               {w.type, w.kernel * w.kernel * w.channels * w.filters},
               {DType::F32, pixels * w.filters}};
  c.expected = [w, specs = c.buffers](int64_t index) {
    int64_t f = index % w.filters, ow = index / w.filters % w.outWidth(), oh = index / w.filters / w.outWidth();
    double total = 0;
    for (int64_t kh = 0; kh < w.kernel; ++kh)
      for (int64_t kw = 0; kw < w.kernel; ++kw) {
        int64_t r = oh * w.stride + kh - w.pad, s = ow * w.stride + kw - w.pad;
        if (r >= 0 && r < w.height && s >= 0 && s < w.width)
          for (int64_t ch = 0; ch < w.channels; ++ch)
            total += inputValue(specs[0], 0, (r * w.width + s) * w.channels + ch) *
                     inputValue(specs[1], 1, ((kh * w.kernel + kw) * w.channels + ch) * w.filters + f);
      }
    return total;
  };
  c.tolerance = 0x1p-20 * std::sqrt(double(w.kernel * w.kernel * w.channels));
  c.small = pixels * w.filters * w.channels < 200000;
  return c;
}

static const char *minusInfinity(DType type) {
  return type == DType::F32 ? "0xFF800000" : type == DType::F16 ? "0xFC00" : "0xFF80";
}

/// The largest of the values at (row, column) that lie in the window of result (oh, ow).
template <typename ValueAt> static double largestOf(const Window &w, int64_t oh, int64_t ow, ValueAt valueAt) {
  double largest = -INFINITY;
  for (int64_t kh = 0; kh < w.kernel; ++kh)
    for (int64_t kw = 0; kw < w.kernel; ++kw) {
      int64_t r = oh * w.stride + kh - w.pad, s = ow * w.stride + kw - w.pad;
      if (r >= 0 && r < w.height && s >= 0 && s < w.width)
        largest = std::max(largest, valueAt(r, s));
    }
  return largest;
}

/// The maximum of each window; elements outside count as minus infinity.
static DeviceCase pooling(const Window &w, std::string edge) {
  DeviceCase c{.name = fmt::format("pool_{}", describe(w)),
               .family = "window",
               .layout = "NHWC",
               .edge = std::move(edge),
               .type = w.type};
  std::string text = typeText(w.type), tile = fmt::format("tensor<16x64x{}>", text);
  int64_t pixels = w.outHeight() * w.outWidth();
  std::string x = fmt::format("!tile.buffer<{}, () -> ({}, {}, {})>", text, w.height, w.width, w.channels),
              y = fmt::format("!tile.buffer<{}, () -> ({}, {})>", text, pixels, w.channels);
  const char *infinity = minusInfinity(w.type);
  c.grid = {(w.channels + 63) / 64, (pixels + 15) / 16, 1};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: {0}, %y: {1})
        attributes {{grid = affine_map<() -> ({2}, {3}, 1)>,
                     schedule = #tile.schedule<window, tile = [16, 64], reduce = [1, 1], warps = 4>}} {{
      %px = tile.program_id 0
      %py = tile.program_id 1
      %j = tile.size (d0) -> (d0 * 64)(%px)
      %i = tile.size (d0) -> (d0 * 16)(%py)
      %low = arith.constant dense<{4}> : {5}
)",
                         x, y, c.grid[0], c.grid[1], infinity, tile);
  std::string last = "low";
  for (int64_t kh = 0; kh < w.kernel; ++kh)
    for (int64_t kw = 0; kw < w.kernel; ++kw) {
      std::string tap = fmt::format("{}_{}", kh, kw);
      c.kernel += fmt::format(R"(
      %v{0} = tile.load %x[%i, %j] bounds () -> ({1}, {2}) map (d0, d1) -> ((d0 floordiv {3}) * {4} + {5}, (d0 mod {3}) * {4} + {6}, d1)
          guard [0, 1] fill {7} : {8} : {9} -> {10}
      %m{0} = arith.maximumf %{11}, %v{0} : {10}
)",
                              tap, pixels, w.channels, w.outWidth(), w.stride, kh - w.pad, kw - w.pad, infinity, text,
                              x, tile, last);
      last = "m" + tap;
    }
  c.kernel += fmt::format("      tile.store %{}, %y[%i, %j] bounds () -> ({}, {}) map (d0, d1) -> (d0, d1) : {} -> "
                          "{}\n      tile.return\n    }}",
                          last, pixels, w.channels, tile, y);
  c.buffers = {{w.type, w.height * w.width * w.channels}, {w.type, pixels * w.channels}};
  c.expected = [w, spec = c.buffers[0]](int64_t index) {
    int64_t ch = index % w.channels, ow = index / w.channels % w.outWidth(), oh = index / w.channels / w.outWidth();
    return largestOf(w, oh, ow,
                     [&](int64_t r, int64_t s) { return inputValue(spec, 0, (r * w.width + s) * w.channels + ch); });
  };
  c.tolerance = 0;
  c.small = pixels * w.channels < 5000;
  return c;
}

/// The same of planes x[c, h, w], as the schedule has them: the elements of a window are straight code (`unrolled`), in
/// tiles of one plane, 8 rows and 32 columns, and loads beyond the results' ends have guards alone.
static DeviceCase poolingOfPlanes(const Window &w, std::string edge) {
  DeviceCase c = pooling(w, std::move(edge));
  c.name += "_planes", c.layout = "NCHW";
  std::string text = typeText(w.type), tile = fmt::format("tensor<1x8x32x{}>", text);
  int64_t rows = (w.outHeight() + 7) / 8, columns = (w.outWidth() + 31) / 32;
  std::string x = fmt::format("!tile.buffer<{}, () -> ({}, {}, {})>", text, w.channels, w.height, w.width),
              y = fmt::format("!tile.buffer<{}, () -> ({}, {}, {})>", text, w.channels, w.outHeight(), w.outWidth());
  const char *infinity = minusInfinity(w.type);
  c.grid = {w.channels * rows * columns, 1, 1};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: {0}, %y: {1})
        attributes {{grid = affine_map<() -> ({2}, 1, 1)>,
                     schedule = #tile.schedule<window, tile = [1, 8, 32], reduce = [{3}, {3}], warps = 4, unrolled = true>}} {{
      %p = tile.program_id 0
      %s = tile.size (d0) -> ((d0 mod {4}) * 32)(%p)
      %r = tile.size (d0) -> (((d0 floordiv {4}) mod {5}) * 8)(%p)
      %c = tile.size (d0) -> (d0 floordiv {6})(%p)
      %low = arith.constant dense<{7}> : {8}
)",
                         x, y, c.grid[0], w.kernel, columns, rows, columns * rows, infinity, tile);
  std::string last = "low";
  for (int64_t kh = 0; kh < w.kernel; ++kh)
    for (int64_t kw = 0; kw < w.kernel; ++kw) {
      std::string tap = fmt::format("{}_{}", kh, kw);
      c.kernel += fmt::format(R"(
      %v{0} = tile.load %x[%c, %r, %s] bounds () -> ({1}, {2}, {3}) map (d0, d1, d2) -> (d0, d1 * {4} + {5}, d2 * {4} + {6})
          guard [1, 2] fill {7} : {8} : {9} -> {10}
      %m{0} = arith.maximumf %{11}, %v{0} : {10}
)",
                              tap, w.channels, rows * 8, columns * 32, w.stride, kh - w.pad, kw - w.pad, infinity, text,
                              x, tile, last);
      last = "m" + tap;
    }
  c.kernel += fmt::format("      tile.store %{}, %y[%c, %r, %s] bounds () -> ({}, {}, {}) map (d0, d1, d2) -> (d0, d1, "
                          "d2) : {} -> {}\n      tile.return\n    }}",
                          last, w.channels, w.outHeight(), w.outWidth(), tile, y);
  c.expected = [w, spec = c.buffers[0]](int64_t index) {
    int64_t ow = index % w.outWidth(), oh = index / w.outWidth() % w.outHeight(),
            ch = index / w.outWidth() / w.outHeight();
    return largestOf(w, oh, ow,
                     [&](int64_t r, int64_t s) { return inputValue(spec, 0, (ch * w.height + r) * w.width + s); });
  };
  return c;
}

void addWindowCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16, DType::F32}) {
    int64_t bk = type == DType::F32 ? 16 : 32;
    cases.push_back(convolution({type, 8, 8, 32, 32, 3, 1, 1}, 64, 32, bk, 2, "power of two"));
    cases.push_back(convolution({type, 9, 7, 24, 40, 3, 2, 1}, 32, 32, bk, 2, "multiple of 8"));
    cases.push_back(convolution({type, 7, 7, 3, 17, 5, 2, 2}, 32, 32, 16, 2, "prime"));
    cases.push_back(convolution({type, 5, 5, 33, 31, 1, 1, 0}, 32, 32, bk, 2, "beside a power of two"));
    cases.push_back(convolution({type, 28, 28, 128, 128, 3, 1, 1}, 64, 64, bk, 4, "power of two"));
    cases.push_back(convolution({type, 8, 8, 32, 32, 3, 1, 1, 3}, 64, 32, bk, 2, "power of two"));
    cases.push_back(convolution({type, 9, 7, 24, 40, 3, 2, 1, 4}, 32, 32, bk, 2, "multiple of 8"));
    cases.push_back(convolution({type, 7, 7, 256, 256, 3, 1, 1, 8}, 16, 64, bk, 4, "prime"));
    cases.push_back(pooling({type, 8, 8, 64, 0, 2, 2, 0}, "power of two"));
    cases.push_back(pooling({type, 7, 11, 13, 0, 3, 1, 1}, "prime"));
    cases.push_back(pooling({type, 9, 5, 65, 0, 3, 2, 1}, "beside a power of two"));
    cases.push_back(pooling({type, 1, 1, 1, 0, 1, 1, 0}, "size 1"));
    cases.push_back(pooling({type, 56, 56, 256, 0, 3, 2, 1}, "multiple of 8"));
    cases.push_back(poolingOfPlanes({type, 16, 32, 3, 0, 2, 2, 0}, "power of two"));
    cases.push_back(poolingOfPlanes({type, 11, 37, 5, 0, 3, 1, 1}, "prime"));
    cases.push_back(poolingOfPlanes({type, 17, 65, 2, 0, 5, 2, 2}, "beside a power of two"));
    cases.push_back(poolingOfPlanes({type, 112, 112, 64, 0, 3, 2, 1}, "multiple of 8"));
  }
}

} // namespace tilewright::test
