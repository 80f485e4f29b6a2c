// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels: types, lengths, broadcasts, transpositions, and more than 65535 blocks.
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::test {

static std::string edgeOf(int64_t n) {
  if (n <= 1)
    return fmt::format("size {}", n);
  if ((n & (n - 1)) == 0)
    return "power of two";
  return ((n + 1) & n) == 0 || ((n - 1) & (n - 2)) == 0 ? "beside a power of two"
         : n > 40000000                                 ? "over 65535 blocks"
                                                        : "prime";
}

/// y = x + x of n elements; n is a run-time value.
static DeviceCase lengths(DType type, int64_t n, int64_t tile = 1024) {
  DeviceCase c{.name = fmt::format("double_{}_{}", typeText(type), n),
               .family = "pointwise",
               .layout = "row",
               .edge = edgeOf(n),
               .type = type};
  bool isFloat = findDType(type)->isFloat;
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: !tile.buffer<{0}, ()[s0] -> (s0)>, %y: !tile.buffer<{0}, ()[s0] -> (s0)>, %s0: index)
        attributes {{grid = affine_map<()[s0] -> (s0 ceildiv {1}, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [{1}], warps = 4>}} {{
      %p = tile.program_id 0
      %o = tile.size (d0) -> (d0 * {1})(%p)
      %v = tile.load %x[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : !tile.buffer<{0}, ()[s0] -> (s0)> -> tensor<{1}x{0}>
      %w = arith.{2} %v, %v : tensor<{1}x{0}>
      tile.store %w, %y[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : tensor<{1}x{0}> -> !tile.buffer<{0}, ()[s0] -> (s0)>
      tile.return
    }})",
                         typeText(type), tile, isFloat ? "addf" : "addi");
  c.buffers = {{type, n}, {type, n}};
  c.scalars = {n};
  c.grid = {(n + tile - 1) / tile, 1, 1};
  c.expected = [spec = c.buffers[0]](int64_t i) { return 2 * inputValue(spec, 0, i); };
  c.tolerance = 0;
  c.small = n < 5000;
  return c;
}

/// y[i, j] = exp(tanh(x[i, j] + row[j])) - column[i], of half or single precision.
static DeviceCase chain(DType type, int64_t rows, int64_t columns) {
  DeviceCase c{.name = fmt::format("chain_{}_{}x{}", typeText(type), rows, columns),
               .family = "pointwise",
               .layout = "broadcast",
               .edge = edgeOf(columns),
               .type = type};
  std::string text = typeText(type), tile = fmt::format("tensor<8x128x{}>", text), wide = "tensor<8x128xf32>";
  std::string bounds = fmt::format("bounds () -> ({}, {})", rows, columns),
              whole = fmt::format("!tile.buffer<{}, () -> ({}, {})>", text, rows, columns);
  bool narrow = type != DType::F32;
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: {0}, %r: !tile.buffer<f32, () -> ({1})>, %q: !tile.buffer<f32, () -> ({2})>, %y: {0})
        attributes {{grid = affine_map<() -> ({3}, {4}, 1)>, schedule = #tile.schedule<pointwise, tile = [8, 128], warps = 4>}} {{
      %px = tile.program_id 0
      %py = tile.program_id 1
      %j = tile.size (d0) -> (d0 * 128)(%px)
      %i = tile.size (d0) -> (d0 * 8)(%py)
      %c0 = arith.constant 0 : index
      %v = tile.load %x[%i, %j] {5} map (d0, d1) -> (d0, d1) : {0} -> {6}
      %row = tile.load %r[%c0, %j] bounds () -> (1, {1}) map (d0, d1) -> (d1) : !tile.buffer<f32, () -> ({1})> -> tensor<1x128xf32>
      %rows = tile.broadcast %row : tensor<1x128xf32> -> {7}
      %column = tile.load %q[%i, %c0] bounds () -> ({2}, 1) map (d0, d1) -> (d0) : !tile.buffer<f32, () -> ({2})> -> tensor<8x1xf32>
      %columns = tile.broadcast %column : tensor<8x1xf32> -> {7}
)",
                         whole, columns, rows, (columns + 127) / 128, (rows + 7) / 8, bounds, tile, wide);
  c.kernel += narrow ? fmt::format("      %w = arith.extf %v : {} to {}\n", tile, wide) : "";
  c.kernel += fmt::format(R"(
      %s = arith.addf %{0}, %rows : {1}
      %t = math.tanh %s : {1}
      %e = math.exp %t : {1}
      %d = arith.subf %e, %columns : {1}
)",
                          narrow ? "w" : "v", wide);
  c.kernel += narrow ? fmt::format("      %h = arith.truncf %d : {} to {}\n", wide, tile) : "";
  c.kernel +=
      fmt::format("      tile.store %{}, %y[%i, %j] {} map (d0, d1) -> (d0, d1) : {} -> {}\n      tile.return\n    }}",
                  narrow ? "h" : "d", bounds, tile, whole);
  c.buffers = {{type, rows * columns}, {DType::F32, columns}, {DType::F32, rows}, {type, rows * columns}};
  c.grid = {(columns + 127) / 128, (rows + 7) / 8, 1};
  c.expected = [specs = c.buffers, columns](int64_t i) {
    return std::exp(std::tanh(inputValue(specs[0], 0, i) + inputValue(specs[1], 1, i % columns))) -
           inputValue(specs[2], 2, i / columns);
  };
  c.tolerance = 4 * roundoff(type) + 1e-6;
  c.small = rows * columns < 5000;
  return c;
}

/// y[i, j] = x[j, i].
static DeviceCase transposition(DType type, int64_t rows, int64_t columns) {
  DeviceCase c{.name = fmt::format("transpose_{}_{}x{}", typeText(type), rows, columns),
               .family = "pointwise",
               .layout = "transposed",
               .edge = edgeOf(columns),
               .type = type};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: !tile.buffer<{0}, () -> ({2}, {1})>, %y: !tile.buffer<{0}, () -> ({1}, {2})>)
        attributes {{grid = affine_map<() -> ({3}, {4}, 1)>, schedule = #tile.schedule<pointwise, tile = [32, 32], warps = 4>}} {{
      %px = tile.program_id 0
      %py = tile.program_id 1
      %j = tile.size (d0) -> (d0 * 32)(%px)
      %i = tile.size (d0) -> (d0 * 32)(%py)
      %v = tile.load %x[%i, %j] bounds () -> ({1}, {2}) map (d0, d1) -> (d1, d0) : !tile.buffer<{0}, () -> ({2}, {1})> -> tensor<32x32x{0}>
      tile.store %v, %y[%i, %j] bounds () -> ({1}, {2}) map (d0, d1) -> (d0, d1) : tensor<32x32x{0}> -> !tile.buffer<{0}, () -> ({1}, {2})>
      tile.return
    }})",
                         typeText(type), rows, columns, (columns + 31) / 32, (rows + 31) / 32);
  c.buffers = {{type, rows * columns}, {type, rows * columns}};
  c.grid = {(columns + 31) / 32, (rows + 31) / 32, 1};
  c.expected = [spec = c.buffers[0], rows, columns](int64_t i) {
    return inputValue(spec, 0, i % columns * rows + i / columns);
  };
  c.tolerance = 0;
  c.small = rows * columns < 5000;
  return c;
}

/// y = x / d + x % d, where d may be 0 and -1: divisions by zero are zero.
static DeviceCase division(DType type, int64_t n) {
  DeviceCase c{.name = fmt::format("divide_{}_{}", typeText(type), n),
               .family = "pointwise",
               .layout = "row",
               .edge = edgeOf(n),
               .type = type};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: !tile.buffer<{0}, () -> ({1})>, %d: !tile.buffer<{0}, () -> ({1})>, %y: !tile.buffer<{0}, () -> ({1})>)
        attributes {{grid = affine_map<() -> ({2}, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [256], warps = 2>}} {{
      %p = tile.program_id 0
      %o = tile.size (d0) -> (d0 * 256)(%p)
      %v = tile.load %x[%o] bounds () -> ({1}) map (d0) -> (d0) : !tile.buffer<{0}, () -> ({1})> -> tensor<256x{0}>
      %w = tile.load %d[%o] bounds () -> ({1}) map (d0) -> (d0) : !tile.buffer<{0}, () -> ({1})> -> tensor<256x{0}>
      %three = arith.constant dense<3> : tensor<256x{0}>
      %e = arith.remsi %w, %three : tensor<256x{0}>
      %q = arith.divsi %v, %e : tensor<256x{0}>
      %r = arith.remsi %v, %w : tensor<256x{0}>
      %s = arith.addi %q, %r : tensor<256x{0}>
      tile.store %s, %y[%o] bounds () -> ({1}) map (d0) -> (d0) : tensor<256x{0}> -> !tile.buffer<{0}, () -> ({1})>
      tile.return
    }})",
                         typeText(type), n, (n + 255) / 256);
  c.buffers = {{type, n}, {type, n}, {type, n}};
  c.grid = {(n + 255) / 256, 1, 1};
  c.expected = [specs = c.buffers](int64_t i) {
    auto x = int64_t(inputValue(specs[0], 0, i)), d = int64_t(inputValue(specs[1], 1, i));
    return double((d % 3 ? x / (d % 3) : 0) + (d ? x % d : 0));
  };
  c.tolerance = 0;
  c.small = n < 5000;
  return c;
}

/// y = 1 + tanh(9 x), or 1 + erf(9 x): a GELU's, in all of their range, and beyond.
static DeviceCase complement(const char *function, double (*exact)(double), double tolerance) {
  constexpr int64_t n = 1021;
  DeviceCase c{.name = fmt::format("complement_{}", function),
               .family = "pointwise",
               .layout = "row",
               .edge = edgeOf(n),
               .type = DType::F32};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: !tile.buffer<f32, () -> ({0})>, %y: !tile.buffer<f32, () -> ({0})>)
        attributes {{grid = affine_map<() -> (1, 1, 1)>, schedule = #tile.schedule<pointwise, tile = [1024], warps = 4>}} {{
      %c0 = arith.constant 0 : index
      %v = tile.load %x[%c0] bounds () -> ({0}) map (d0) -> (d0) : !tile.buffer<f32, () -> ({0})> -> tensor<1024xf32>
      %nine = arith.constant dense<9.0> : tensor<1024xf32>
      %w = arith.mulf %v, %nine : tensor<1024xf32>
      %f = math.{1} %w : tensor<1024xf32>
      %one = arith.constant dense<1.0> : tensor<1024xf32>
      %s = arith.addf %f, %one : tensor<1024xf32>
      tile.store %s, %y[%c0] bounds () -> ({0}) map (d0) -> (d0) : tensor<1024xf32> -> !tile.buffer<f32, () -> ({0})>
      tile.return
    }})",
                         n, function);
  c.buffers = {{DType::F32, n}, {DType::F32, n}};
  c.grid = {1, 1, 1};
  c.expected = [spec = c.buffers[0], exact](int64_t i) { return 1 + exact(double(9 * float(inputValue(spec, 0, i)))); };
  c.tolerance = tolerance;
  c.small = true;
  return c;
}

void addPointwiseCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I64, DType::I32, DType::I8})
    for (int64_t n : {1, 7, 1021, 1023, 1024, 1025, 65537})
      cases.push_back(lengths(type, n));
  for (DType type : {DType::I64, DType::I32})
    cases.push_back(division(type, 1021));
  cases.push_back(complement("tanh", std::tanh, 2e-7));
  cases.push_back(complement("erf", std::erf, 2e-7));
  cases.push_back(lengths(DType::F16, 67108859));
  cases.push_back(lengths(DType::F32, 70000 * 128 + 1, 128));
  cases.back().edge = "over 65535 blocks";
  for (DType type : {DType::F32, DType::F16, DType::BF16})
    for (auto [rows, columns] :
         {std::pair<int64_t, int64_t>{1, 1}, {3, 128}, {13, 127}, {8, 257}, {1031, 4096}, {509, 1021}})
      cases.push_back(chain(type, rows, columns));
  for (DType type : {DType::F32, DType::F16, DType::I8})
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{32, 32}, {61, 67}, {33, 31}, {1024, 2048}})
      cases.push_back(transposition(type, rows, columns));
}

} // namespace tilewright::test
