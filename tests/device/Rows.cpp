// SPDX-License-Identifier: Apache-2.0
// Reductions of rows: within a warp, across warps, several rows per block, rows longer than a tile.
#include "tests/device/Cases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tilewright::test {

static std::string edgeOf(int64_t n) {
  if (n == 1)
    return "size 1";
  if ((n & (n - 1)) == 0)
    return "power of two";
  return ((n + 1) & n) == 0 || ((n - 1) & (n - 2)) == 0 ? "beside a power of two" : "prime";
}

static std::string sharedBy(int64_t parts) {
  return parts > 1 ? fmt::format(", parts = {}, clustered = true", parts) : "";
}

/// Softmax of each row in one tile, which `parts` blocks share if there are several.
static DeviceCase softmax(DType type, int64_t rows, int64_t columns, int64_t tileRows, int64_t tileColumns,
                          int64_t warps, bool runTime = false, int64_t parts = 1) {
  DeviceCase c{.name = fmt::format("softmax_{}_{}x{}_{}warps{}{}", typeText(type), rows, columns, warps,
                                   runTime ? "_dynamic" : "", parts > 1 ? fmt::format("_parts{}", parts) : ""),
               .family = parts > 1 ? "clustered rows" : "row reduction",
               .layout = runTime        ? "run-time sizes"
                         : tileRows > 1 ? "several rows"
                                        : "one row",
               .edge = edgeOf(columns),
               .type = type};
  std::string text = typeText(type), stored = fmt::format("tensor<{}x{}x{}>", tileRows, tileColumns, text),
              wide = fmt::format("tensor<{}x{}xf32>", tileRows, tileColumns);
  std::string one = fmt::format("tensor<{}x1xf32>", tileRows),
              sizes = runTime ? "()[s0, s1] -> (s0, s1)" : fmt::format("() -> ({}, {})", rows, columns);
  std::string buffer = fmt::format("!tile.buffer<{}, {}>", text, sizes),
              access = fmt::format("[%r, %c0] bounds {} map (d0, d1) -> (d0, d1)", sizes);
  bool narrow = type != DType::F32;
  const char *infinity = type == DType::F32 ? "0xFF800000" : type == DType::F16 ? "0xFC00" : "0xFF80";
  c.grid = {(rows + tileRows - 1) / tileRows, 1, 1};
  c.kernel = fmt::format(
      R"(
    tile.kernel @k(%x: {0}, %y: {0}{13})
        attributes {{grid = affine_map<() -> ({1}, 1, 1)>,
                     schedule = #tile.schedule<row_reduction, tile = [{2}], reduce = [{3}], warps = {4}{14}>}} {{
      %p = tile.program_id 0
      %r = tile.size (d0) -> (d0 * {2})(%p)
      %c0 = arith.constant 0 : index
      %l = tile.load %x{5} fill {6} : {7} : {0} -> {8}
      {9}
      %m = tile.reduce <max> %v dim 1 : {10} -> {11}
      %mb = tile.broadcast %m : {11} -> {10}
      %d = arith.subf %v, %mb : {10}
      %e = math.exp %d : {10}
      %s = tile.reduce <sum> %e dim 1 : {10} -> {11}
      %sb = tile.broadcast %s : {11} -> {10}
      %q = arith.divf %e, %sb : {10}
      {12}
      tile.store %h, %y{5} : {8} -> {0}
      tile.return
    }})",
      buffer, c.grid[0], tileRows, tileColumns, warps, access, infinity, text, stored,
      narrow ? fmt::format("%v = arith.extf %l : {} to {}", stored, wide)
             : fmt::format("%zero = arith.constant dense<-0.0> : {0}\n %v = arith.addf %l, %zero : {0}", wide),
      wide, one,
      narrow ? fmt::format("%h = arith.truncf %q : {} to {}", wide, stored)
             : fmt::format("%one = arith.constant dense<1.0> : {0}\n %h = arith.mulf %q, %one : {0}", wide),
      runTime ? ", %s0: index, %s1: index" : "", sharedBy(parts));
  if (runTime)
    c.scalars = {rows, columns};
  c.buffers = {{type, rows * columns}, {type, rows * columns}};
  c.expected = [spec = c.buffers[0], columns](int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < columns; ++j)
      sum += std::exp(inputValue(spec, 0, i / columns * columns + j));
    return std::exp(inputValue(spec, 0, i)) / sum;
  };
  c.tolerance = 2 * roundoff(type) + 1e-6;
  c.small = rows * columns < 5000;
  return c;
}

/// What a row has one of, and which the first of the blocks that share it stores: y[r] = the sum + the largest element.
static DeviceCase clusteredSum(DType type, int64_t rows, int64_t columns, int64_t tileColumns, int64_t warps,
                               int64_t parts) {
  std::string text = typeText(type);
  DeviceCase c{.name = fmt::format("cluster_sum_{}_{}x{}_{}warps_parts{}", text, rows, columns, warps, parts),
               .family = "clustered rows",
               .layout = "one row",
               .edge = edgeOf(columns),
               .type = type};
  bool isFloat = findDType(type)->isFloat;
  c.grid = {rows, 1, 1};
  c.kernel =
      fmt::format(R"(
    tile.kernel @k(%x: {0}, %y: {1})
        attributes {{grid = affine_map<() -> ({2}, 1, 1)>,
                     schedule = #tile.schedule<row_reduction, tile = [1], reduce = [{3}], warps = {4}{5}>}} {{
      %p = tile.program_id 0
      %c0 = arith.constant 0 : index
      %v = tile.load %x[%p, %c0] bounds () -> ({2}, {6}) map (d0, d1) -> (d0, d1) fill {7} : {8} : {0} -> {9}
      %s = tile.reduce <sum> %v dim 1 : {9} -> {10}
      %l = tile.load %x[%p, %c0] bounds () -> ({2}, {6}) map (d0, d1) -> (d0, d1) fill {11} : {8} : {0} -> {9}
      %m = tile.reduce <max> %l dim 1 : {9} -> {10}
      %t = arith.{12} %s, %m : {10}
      tile.store %t, %y[%p, %c0] bounds () -> ({2}, 1) map (d0, d1) -> (d0) : {10} -> {1}
      tile.return
    }})",
                  fmt::format("!tile.buffer<{}, () -> ({}, {})>", text, rows, columns),
                  fmt::format("!tile.buffer<{}, () -> ({})>", text, rows), rows, tileColumns, warps, sharedBy(parts),
                  columns, isFloat ? "0.0" : "0", text, fmt::format("tensor<1x{}x{}>", tileColumns, text),
                  fmt::format("tensor<1x1x{}>", text), isFloat ? "-1.0e30" : "-1000000", isFloat ? "addf" : "addi");
  c.buffers = {{type, rows * columns}, {type, rows}};
  c.expected = [spec = c.buffers[0], columns](int64_t r) {
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < columns; ++j) {
      double value = inputValue(spec, 0, r * columns + j);
      sum += value, most = std::max(most, value);
    }
    return sum + most;
  };
  c.tolerance = roundoff(type) * std::sqrt(double(columns)) * (type == DType::F64 ? 8 : 4);
  c.small = rows * columns < 5000;
  return c;
}

static bool isFloat(DType type) { return findDType(type)->isFloat; }

/// The sum plus the maximum of each row, in steps along the row: y[r] = sum + max. Also for integers.
static DeviceCase walked(DType type, int64_t rows, int64_t columns) {
  DeviceCase c{.name = fmt::format("walk_{}_{}x{}", typeText(type), rows, columns),
               .family = "row reduction",
               .layout = "walked",
               .edge = edgeOf(columns),
               .type = type};
  std::string text = typeText(type), tile = fmt::format("tensor<2x256x{}>", text),
              one = fmt::format("tensor<2x1x{}>", text),
              buffer = fmt::format("!tile.buffer<{}, () -> ({}, {})>", text, rows, columns);
  c.grid = {(rows + 1) / 2, 1, 1};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: {0}, %y: !tile.buffer<{1}, () -> ({2})>)
        attributes {{grid = affine_map<() -> ({3}, 1, 1)>,
                     schedule = #tile.schedule<row_reduction, tile = [2], reduce = [256], warps = 4>}} {{
      %p = tile.program_id 0
      %r = tile.size (d0) -> (d0 * 2)(%p)
      %c0 = arith.constant 0 : index
      %n = arith.constant {4} : index
      %step = arith.constant 256 : index
      %zero = arith.constant dense<{5}> : {6}
      %low = arith.constant dense<{7}> : {8}
      %sum, %largest = scf.for %j = %c0 to %n step %step iter_args(%a = %zero, %b = %low) -> ({6}, {8}) {{
        %v = tile.load %x[%r, %j] bounds () -> ({2}, {4}) map (d0, d1) -> (d0, d1) fill {5} : {1} : {0} -> {6}
        %s = arith.{9} %a, %v : {6}
        %m = tile.reduce <max> %v dim 1 : {6} -> {8}
        %c = arith.{10} %b, %m : {8}
        scf.yield %s, %c : {6}, {8}
      }}
      %t = tile.reduce <sum> %sum dim 1 : {6} -> {8}
      %u = arith.{9} %t, %largest : {8}
      tile.store %u, %y[%r, %c0] bounds () -> ({2}, 1) map (d0, d1) -> (d0) : {8} -> !tile.buffer<{1}, () -> ({2})>
      tile.return
    }})",
                         buffer, text, rows, c.grid[0], columns, isFloat(type) ? "0.0" : "0", tile,
                         isFloat(type) ? "-100.0" : "-100", one, isFloat(type) ? "addf" : "addi",
                         isFloat(type) ? "maximumf" : "maxsi");
  c.buffers = {{type, rows * columns}, {type, rows}};
  c.expected = [spec = c.buffers[0], columns](int64_t i) {
    double sum = 0, largest = columns % 256 ? 0 : -100; // elements out of bounds in the last step are zeros
    for (int64_t j = 0; j < columns; ++j) {
      double x = inputValue(spec, 0, i * columns + j);
      sum += x;
      largest = std::max(largest, x);
    }
    return sum + largest;
  };
  c.tolerance = roundoff(type) * std::sqrt(double(columns)) * 4;
  c.small = rows * columns < 5000;
  return c;
}

/// y[r, c] = (x[r, c] * the scale of row r) / the divisor of row r, within 1e30. Scales and divisors are chosen by a
/// number: zeros and infinities, divisors that are subnormal or have a subnormal reciprocal, and usual ones. Quotients
/// of a row are products with a reciprocal.
static DeviceCase rowQuotients(int64_t rows, int64_t columns, int64_t warps) {
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Kind {
    double divisor, scale;
  };
  static constexpr Kind kinds[] = {{0.0, 1},      {infinity, 1},  {-infinity, 1e38}, {9e-39, 9e-39},
                                   {-3e38, 1e38}, {1e-40, 1e-20}, {-1e30, 1e-5},     {1.5, 1}};
  static constexpr int64_t count = std::size(kinds);
  DeviceCase c{.name = fmt::format("row_quotients_{}x{}_{}warps", rows, columns, warps),
               .family = "row reduction",
               .layout = "one row",
               .edge = edgeOf(columns)};
  c.grid = {rows, 1, 1};
  std::string chosen, wide = "tensor<1x256xf32>", one = "tensor<1x1xf32>";
  auto bitsOf = [](double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); };
  for (int64_t i = 0; i < count; ++i)
    chosen += fmt::format(R"(
      %n{0} = arith.constant dense<{0}.0> : {3}
      %v{0} = arith.constant dense<0x{1:08X}> : {3}
      %w{0} = arith.constant dense<0x{2:08X}> : {3}
      %is{0} = arith.cmpf oeq, %k, %n{0} : {3}
      %d{0} = arith.select %is{0}, %v{0}, {4} : tensor<1x1xi1>, {3}
      %s{0} = arith.select %is{0}, %w{0}, {5} : tensor<1x1xi1>, {3})",
                          i, bitsOf(kinds[i].divisor), bitsOf(kinds[i].scale), one,
                          i ? fmt::format("%d{}", i - 1) : "%k", i ? fmt::format("%s{}", i - 1) : "%k");
  c.kernel = fmt::format(
      R"(
    tile.kernel @k(%x: !tile.buffer<f32, () -> ({0}, {1})>, %kinds: !tile.buffer<f32, () -> ({0})>, %y: !tile.buffer<f32, () -> ({0}, {1})>)
        attributes {{grid = affine_map<() -> ({0}, 1, 1)>,
                     schedule = #tile.schedule<row_reduction, tile = [1], reduce = [256], warps = {2}>}} {{
      %r = tile.program_id 0
      %c0 = arith.constant 0 : index
      %k = tile.load %kinds[%r, %c0] bounds () -> ({0}, 1) map (d0, d1) -> (d0) : !tile.buffer<f32, () -> ({0})> -> {3}
      {4}
      %l = tile.load %x[%r, %c0] bounds () -> ({0}, {1}) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> ({0}, {1})> -> {5}
      %sb = tile.broadcast %s{6} : {3} -> {5}
      %m = arith.mulf %l, %sb : {5}
      %b = tile.broadcast %d{6} : {3} -> {5}
      %q = arith.divf %m, %b : {5}
      %most = arith.constant dense<1.0e30> : {5}
      %least = arith.constant dense<-1.0e30> : {5}
      %low = arith.minimumf %q, %most : {5}
      %h = arith.maximumf %low, %least : {5}
      tile.store %h, %y[%r, %c0] bounds () -> ({0}, {1}) map (d0, d1) -> (d0, d1) : {5} -> !tile.buffer<f32, () -> ({0}, {1})>
      tile.return
    }})",
      rows, columns, warps, one, chosen, wide, count - 1);
  c.buffers = {{DType::F32, rows * columns}, {DType::F32, rows, count}, {DType::F32, rows * columns}};
  c.expected = [x = c.buffers[0], chosen = c.buffers[1], columns](int64_t i) {
    const Kind &kind = kinds[static_cast<int64_t>(inputValue(chosen, 1, i / columns))];
    double dividend = rounded(DType::F32, inputValue(x, 0, i) * rounded(DType::F32, kind.scale));
    return std::clamp(dividend / rounded(DType::F32, kind.divisor), -1e30, 1e30);
  };
  c.tolerance = 4 * roundoff(DType::F32);
  c.small = rows * columns < 20000;
  return c;
}

/// Parts of long columns: the sums of each part, a tile of parts and columns at once. x[part, j, c] -> y[part, c].
static DeviceCase columnParts(DType type, int64_t parts, int64_t length, int64_t columns) {
  DeviceCase c{.name = fmt::format("column_parts_{}_{}x{}x{}", typeText(type), parts, length, columns),
               .family = "row reduction",
               .layout = "column parts",
               .edge = edgeOf(length),
               .type = type};
  std::string text = typeText(type),
              x = fmt::format("!tile.buffer<{}, () -> ({}, {}, {})>", text, parts, length, columns),
              y = fmt::format("!tile.buffer<{}, () -> ({}, {})>", text, parts, columns);
  c.grid = {(parts + 3) / 4, 1, 1};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: {0}, %y: {1})
        attributes {{grid = affine_map<() -> ({2}, 1, 1)>,
                     schedule = #tile.schedule<window, tile = [4, 32], reduce = [8], warps = 2>}} {{
      %p = tile.program_id 0
      %r = tile.size (d0) -> (d0 * 4)(%p)
      %c0 = arith.constant 0 : index
      %n = arith.constant {4} : index
      %step = arith.constant 8 : index
      %zero = arith.constant dense<{6}> : tensor<8x4x32x{7}>
      %sum = scf.for %j = %c0 to %n step %step iter_args(%a = %zero) -> (tensor<8x4x32x{7}>) {{
        %v = tile.load %x[%j, %r, %c0] bounds () -> ({4}, {3}, {5}) map (d0, d1, d2) -> (d1, d0, d2) : {0} -> tensor<8x4x32x{7}>
        %s = arith.{8} %a, %v : tensor<8x4x32x{7}>
        scf.yield %s : tensor<8x4x32x{7}>
      }}
      %t = tile.reduce <sum> %sum dim 0 : tensor<8x4x32x{7}> -> tensor<1x4x32x{7}>
      tile.store %t, %y[%c0, %r, %c0] bounds () -> (1, {3}, {5}) map (d0, d1, d2) -> (d1, d2) : tensor<1x4x32x{7}> -> {1}
      tile.return
    }})",
                         x, y, c.grid[0], parts, length, columns, isFloat(type) ? "0.0" : "0", text,
                         isFloat(type) ? "addf" : "addi");
  c.buffers = {{type, parts * length * columns}, {type, parts * columns}};
  c.expected = [spec = c.buffers[0], length, columns](int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < length; ++j)
      sum += inputValue(spec, 0, (i / columns * length + j) * columns + i % columns);
    return sum;
  };
  // Doubles are compared with doubles, which were rounded as often.
  c.tolerance = roundoff(type) * std::sqrt(double(length)) * (type == DType::F64 ? 8 : 4);
  c.small = parts * length * columns < 5000;
  return c;
}

/// A softmax of columns that a block holds: y[i, j, c] = exp(x[i, j, c]) / the sum of these over j.
static DeviceCase heldColumns(DType type, int64_t images, int64_t length, int64_t columns, int64_t tile, int64_t held,
                              int64_t warps) {
  DeviceCase c{.name = fmt::format("held_columns_{}_{}x{}x{}_{}warps", typeText(type), images, length, columns, warps),
               .family = "row reduction",
               .layout = fmt::format("held columns, {} warps", warps),
               .edge = edgeOf(length),
               .type = type};
  std::string text = typeText(type), sizes = fmt::format("{}, {}, {}", images, length, columns),
              buffer = fmt::format("!tile.buffer<{}, () -> ({})>", text, sizes),
              narrow = fmt::format("tensor<{}x1x{}x{}>", held, tile, text),
              wide = fmt::format("tensor<{}x1x{}xf32>", held, tile), one = fmt::format("tensor<1x1x{}xf32>", tile);
  int64_t blocks = (columns + tile - 1) / tile;
  c.grid = {images * blocks, 1, 1};
  bool isNarrow = type != DType::F32;
  c.kernel = fmt::format(
      R"(
    tile.kernel @k(%x: {0}, %y: {0})
        attributes {{grid = affine_map<() -> ({1}, 1, 1)>,
                     schedule = #tile.schedule<window, tile = [1, {2}], reduce = [{3}], warps = {4}>}} {{
      %p = tile.program_id 0
      %i = tile.size (d0) -> (d0 floordiv {5})(%p)
      %c = tile.size (d0) -> ((d0 mod {5}) * {2})(%p)
      %c0 = arith.constant 0 : index
      %v = tile.load %x[%c0, %i, %c] bounds () -> ({6}, {7}, {8}) map (d0, d1, d2) -> (d1, d0, d2) fill -60000.0 : {9} : {0} -> {10}
      {14}
      %m = tile.reduce <max> %w dim 0 : {11} -> {12}
      %mb = tile.broadcast %m : {12} -> {11}
      %d = arith.subf %w, %mb : {11}
      %e = math.exp %d : {11}
      %s = tile.reduce <sum> %e dim 0 : {11} -> {12}
      %sb = tile.broadcast %s : {12} -> {11}
      %q = arith.divf %e, %sb : {11}
      {15}
      tile.store %r, %y[%c0, %i, %c] bounds () -> ({6}, {7}, {8}) map (d0, d1, d2) -> (d1, d0, d2) : {10} -> {0}
      tile.return
    }})",
      buffer, c.grid[0], tile, held, warps, blocks, length, images, columns, text, narrow, wide, one, sizes,
      isNarrow ? fmt::format("%w = arith.extf %v : {} to {}", narrow, wide)
               : fmt::format("%zero = arith.constant dense<-0.0> : {0}\n %w = arith.addf %v, %zero : {0}", wide),
      isNarrow ? fmt::format("%r = arith.truncf %q : {} to {}", wide, narrow)
               : fmt::format("%one = arith.constant dense<1.0> : {0}\n %r = arith.mulf %q, %one : {0}", wide));
  c.buffers = {{type, images * length * columns}, {type, images * length * columns}};
  c.expected = [spec = c.buffers[0], length, columns](int64_t i) {
    int64_t first = i / (length * columns) * length * columns + i % columns;
    double sum = 0;
    for (int64_t j = 0; j < length; ++j)
      sum += std::exp(inputValue(spec, 0, first + j * columns));
    return std::exp(inputValue(spec, 0, i)) / sum;
  };
  c.tolerance = 2 * roundoff(type) + 2e-6;
  c.small = images * length * columns < 5000;
  return c;
}

void addRowCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F32, DType::F16, DType::BF16}) {
    cases.push_back(softmax(type, 5, 1, 1, 32, 1));
    cases.push_back(softmax(type, 3, 7, 2, 8, 1));
    cases.push_back(softmax(type, 13, 37, 4, 64, 4));
    cases.push_back(softmax(type, 130, 37, 4, 64, 4)); // of so many sums some show how their terms were rounded
    cases.push_back(softmax(type, 4, 1024, 1, 1024, 4));
    cases.push_back(softmax(type, 3, 1023, 1, 1024, 8));
    cases.push_back(softmax(type, 2, 1025, 1, 2048, 8));
    cases.push_back(softmax(type, 5, 64, 2, 64, 2, true)); // aligned and unaligned rows
    cases.push_back(softmax(type, 5, 61, 2, 64, 2, true));
    cases.push_back(softmax(type, 4, 1000, 1, 1024, 4, true));
    cases.push_back(softmax(type, 4, 1021, 1, 1024, 4, true));
    cases.push_back(softmax(type, 70001, 61, 1, 64, 1));
    cases.back().edge = "over 65535 blocks";
    cases.push_back(heldColumns(type, 3, 49, 24, 8, 64, 1));  // some in one warp, others in several
    cases.push_back(heldColumns(type, 2, 37, 20, 16, 64, 4)); // rows that are no multiple of a vector
    cases.push_back(heldColumns(type, 2, 196, 4, 4, 256, 2));
    cases.push_back(heldColumns(type, 8, 785, 8, 8, 1024, 8));
    cases.push_back(heldColumns(type, 2, 3137, 24, 8, 4096, 16));
  }
  for (DType type : {DType::F32, DType::F16, DType::BF16})
    for (int64_t parts : {2, 4, 8}) {
      cases.push_back(softmax(type, 3, 1504, 1, 2048, 1, false, parts));
      cases.push_back(softmax(type, 3, 513, 1, 1024, 1, false, parts)); // of 8, some have nothing of the row
      cases.push_back(softmax(type, 2, 2021, 1, 2048, 1, true, parts));
      cases.push_back(softmax(type, 9, 50257, 1, 65536, parts == 8 ? 8 : 16, false, parts));
    }
  for (DType type : {DType::F32, DType::F64, DType::I64, DType::I32})
    for (int64_t parts : {2, 8}) {
      cases.push_back(clusteredSum(type, 4, 1000, 1024, 1, parts));
      cases.push_back(clusteredSum(type, 4, 1023, 1024, 2, parts));
      cases.push_back(clusteredSum(type, 33, 16001, 16384, 4, parts));
    }
  cases.push_back(rowQuotients(64, 250, 2));
  cases.push_back(rowQuotients(40, 256, 1));
  for (DType type : {DType::F32, DType::F64, DType::I64, DType::I32})
    for (int64_t columns : {1, 255, 256, 257, 1021, 5000})
      cases.push_back(walked(type, 7, columns));
  for (DType type : {DType::F32, DType::F64, DType::I32}) {
    cases.push_back(columnParts(type, 4, 32, 32));
    cases.push_back(columnParts(type, 7, 13, 24)); // the last tile of parts, step and columns all partial
    cases.push_back(columnParts(type, 5, 1, 16));
    cases.push_back(columnParts(type, 125, 160, 17));
  }
}

} // namespace tilewright::test
