// SPDX-License-Identifier: Apache-2.0
// The gemv schedule: sums of products over a dimension of the tile, a few rows per block.
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::test {

namespace {
struct Gemv {
  DType type;
  int64_t m, n, k, bm, bn, bk, warps;
  bool transposedB = false;
};
} // namespace

static std::string kernelText(const Gemv &g, int64_t gridX, int64_t gridY) {
  std::string text = typeText(g.type), sum = g.type == DType::F64 ? "f64" : "f32";
  auto buffer = [](const std::string &type, int64_t rows, int64_t columns) {
    return fmt::format("!tile.buffer<{}, () -> ({}, {})>", type, rows, columns);
  };
  std::string a = buffer(text, g.m, g.k), b = g.transposedB ? buffer(text, g.n, g.k) : buffer(text, g.k, g.n),
              y = buffer(sum, g.m, g.n);
  auto tile = [&](int64_t m, int64_t n, int64_t k, const std::string &type) {
    return fmt::format("tensor<{}x{}x{}x{}>", m, n, k, type);
  };
  std::string ta = tile(g.bm, 1, g.bk, text), tb = tile(1, g.bn, g.bk, text), all = tile(g.bm, g.bn, g.bk, sum),
              result = tile(g.bm, g.bn, 1, sum);
  auto widened = [&](const char *from, const char *to, int64_t m, int64_t n, const std::string &narrow) {
    if (text == sum)
      return fmt::format("%{} = tile.broadcast %{} : {} -> {}\n", to, from, narrow, all);
    std::string wide = tile(m, n, g.bk, sum);
    return fmt::format("%{0}w = arith.extf %{0} : {1} to {2}\n        %{3} = tile.broadcast %{0}w : {2} -> {4}\n", from,
                       narrow, wide, to, all);
  };
  std::string kernel = fmt::format(R"(
    tile.kernel @k(%a: {0}, %b: {1}, %y: {2})
        attributes {{grid = affine_map<() -> ({3}, {4}, 1)>,
                     schedule = #tile.schedule<gemv, tile = [{5}, {6}], reduce = [{7}], warps = {8}>}} {{
      %px = tile.program_id 0
      %py = tile.program_id 1
      %n = tile.size (d0) -> (d0 * {6})(%px)
      %m = tile.size (d0) -> (d0 * {5})(%py)
      %c0 = arith.constant 0 : index
      %ck = arith.constant {9} : index
      %step = arith.constant {7} : index
      %zero = arith.constant dense<0.0> : {10}
)",
                                   a, b, y, gridX, gridY, g.bm, g.bn, g.bk, g.warps, g.k, all);
  return kernel + fmt::format(R"(
      %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> ({0}) {{
        %x = tile.load %a[%m, %c0, %k] bounds () -> ({1}, 1, {2}) map (d0, d1, d2) -> (d0, d2) fill 0.0 : {3} : {4} -> {5}
        %w = tile.load %b[%c0, %n, %k] bounds () -> (1, {6}, {2}) map (d0, d1, d2) -> ({7}) fill 0.0 : {3} : {8} -> {9}
        {10}
        {11}
        %p = arith.mulf %xb, %wb : {0}
        %s = arith.addf %c, %p : {0}
        scf.yield %s : {0}
      }}
      %r = tile.reduce <sum> %acc dim 2 : {0} -> {12}
      tile.store %r, %y[%m, %n, %c0] bounds () -> ({1}, {6}, 1) map (d0, d1, d2) -> (d0, d1) : {12} -> {13}
      tile.return
    }})",
                              all, g.m, g.k, text, a, ta, g.n, g.transposedB ? "d1, d2" : "d2, d1", b, tb,
                              widened("x", "xb", g.bm, 1, ta), widened("w", "wb", 1, g.bn, tb), result, y);
}

static DeviceCase gemv(const Gemv &g, std::string edge) {
  std::string layout = g.transposedB ? "NT" : "NN";
  DType sumType = g.type == DType::F64 ? DType::F64 : DType::F32;
  DeviceCase c{
      .name = fmt::format("gemv_{}_{}x{}x{}_{}x{}x{}_{}", typeText(g.type), g.m, g.n, g.k, g.bm, g.bn, g.bk, layout),
      .family = "gemv",
      .layout = layout,
      .edge = std::move(edge),
      .type = g.type};
  c.grid = {(g.n + g.bn - 1) / g.bn, (g.m + g.bm - 1) / g.bm, 1};
  c.kernel = kernelText(g, c.grid[0], c.grid[1]);
  c.buffers = {{g.type, g.m * g.k}, {g.type, g.k * g.n}, {sumType, g.m * g.n}};
  c.expected = [g, specs = c.buffers](int64_t index) {
    int64_t i = index / g.n, j = index % g.n;
    double total = 0;
    for (int64_t k = 0; k < g.k; ++k)
      total +=
          inputValue(specs[0], 0, i * g.k + k) * inputValue(specs[1], 1, g.transposedB ? j * g.k + k : k * g.n + j);
    return total;
  };
  c.tolerance = (g.type == DType::F64 ? 0x1p-50 : 0x1p-20) * std::sqrt(double(g.k) + 1);
  c.small = g.m * g.n * g.k <= 100 * 100 * 20;
  return c;
}

void addGemvCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64})
    for (bool transposed : {false, true}) {
      cases.push_back(gemv({type, 1, 64, 512, 1, 16, 128, 4, transposed}, "power of two"));
      cases.push_back(gemv({type, 1, 61, 509, 1, 16, 128, 4, transposed}, "prime"));
      cases.push_back(gemv({type, 3, 65, 257, 2, 8, 64, 2, transposed}, "beside a power of two"));
      cases.push_back(gemv({type, 5, 1, 1023, 1, 1, 256, 8, transposed}, "size 1"));
      cases.push_back(gemv({type, 1, 24, 0, 1, 8, 64, 2, transposed}, "size 0"));
      cases.push_back(gemv({type, 1, 4096, 2048, 1, 16, 512, 8, transposed}, "power of two"));
    }
  cases.push_back(gemv({DType::F16, 1, 70000 * 2, 32, 1, 2, 32, 1}, "over 65535 blocks"));
}

} // namespace tilewright::test
