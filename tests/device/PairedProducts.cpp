// SPDX-License-Identifier: Apache-2.0
// Two products of one left side in one loop, whose results meet in an epilogue: y = gate * sigmoid(gate) * up.
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::test {
namespace {

struct PairedProduct {
  DType type;
  int64_t m, n, k, bm, bn, bk, warps, stages;
  const char *edge;
  int64_t groups = 0;            // copies by warps of their own
  int64_t parts = 1;             // programs that share the sums of a tile
  bool areTransposed = false;    // the right sides are n x k
  bool areConstant = false;      // no kernel writes the right sides
  bool rowsAreOfRunTime = false; // m is known only at run time
};

constexpr PairedProduct products[] = {
    {DType::F16, 64, 64, 64, 64, 64, 64, 4, 2, "power of two", 1},
    {DType::F16, 72, 136, 328, 64, 64, 64, 4, 4, "multiple of 8", 1},
    {DType::F16, 136, 264, 200, 128, 128, 64, 8, 3, "multiple of 8", 1},
    {DType::F16, 264, 72, 136, 256, 64, 64, 8, 3, "multiple of 8", 1},
    {DType::F16, 200, 136, 136, 128, 64, 64, 4, 3, "multiple of 8", 2},
    {DType::F16, 72, 136, 456, 64, 64, 64, 4, 3, "multiple of 8", 1, 1, true, true},
    {DType::F16, 16, 256, 512, 64, 64, 64, 4, 4, "power of two", 1, 4},
    {DType::F16, 100, 72, 136, 64, 64, 64, 4, 4, "multiple of 8", 1, 1, false, true, true},
    {DType::F16, 61, 67, 71, 64, 64, 64, 4, 3, "prime"},
    {DType::F16, 64, 72, 520, 64, 64, 64, 4, 4, "multiple of 8"},
    {DType::F16, 1, 96, 320, 16, 32, 128, 4, 4, "size 1"},
    {DType::F16, 13, 48, 256, 16, 16, 128, 2, 4, "multiple of 8", 0, 2},
    {DType::F16, 7, 40, 72, 16, 16, 32, 2, 3, "multiple of 8", 0, 1, true},
    {DType::F16, 1000, 1032, 520, 128, 128, 64, 8, 4, "multiple of 8", 1},
    {DType::BF16, 120, 200, 136, 64, 64, 64, 4, 3, "multiple of 8", 1},
    {DType::BF16, 33, 40, 100, 32, 32, 32, 4, 3, "multiple of 4"},
    {DType::F16, 1, 264, 520, 16, 128, 32, 8, 6, "size 1"},
    {DType::F16, 1, 136, 520, 16, 64, 64, 8, 8, "size 1"},
    {DType::F16, 16, 264, 512, 16, 128, 32, 8, 6, "multiple of 8", 0, 2},
    {DType::F16, 32, 264, 264, 32, 128, 32, 8, 6, "multiple of 8"},
    {DType::F16, 64, 136, 264, 64, 64, 64, 8, 4, "multiple of 8"},
    {DType::F32, 64, 64, 64, 64, 64, 16, 4, 3, "power of two"},
    {DType::F32, 50, 61, 37, 32, 32, 32, 4, 3, "prime"},
    {DType::F32, 17, 24, 100, 16, 16, 16, 1, 2, "multiple of 4", 0, 1, true},
};

constexpr const char *kernel = R"(
    tile.kernel @k(%a: {a}, %b: {b}{constant}, %c: {b}{constant}, %y: {y}{argument})
        attributes {{grid = affine_map<(){symbols} -> ({grid}, 1, 1)>,
                     schedule = #tile.schedule<matmul, tile = [{bm}, {bn}], reduce = [{bk}], warps = {warps}, stages = {stages}{groups}{parts}>}} {{
      %p = tile.program_id 0
      %px = tile.size (d0) -> (d0 mod {columns})(%p)
      %py = tile.size (d0) -> (d0 floordiv {columns})(%p)
      %m = tile.size (d0) -> (d0 * {bm})(%py)
      %n = tile.size (d0) -> (d0 * {bn})(%px)
      %c0 = arith.constant 0 : index
      %ck = arith.constant {k} : index
      %step = arith.constant {bk} : index
      %none = arith.constant dense<0.0> : {tc}
      %one = arith.constant dense<1.0> : {tc}
      %acc:2 = scf.for %k = %c0 to %ck step %step iter_args(%gates = %none, %ups = %none) -> ({tc}, {tc}) {{
        %x = tile.load %a[%m, %k] bounds (){symbols} -> ({m}, {k}) map (d0, d1) -> (d0, d1) : {a} -> {ta}
        %gate = tile.load %b[%k, %n] bounds (){symbols} -> ({k}, {n}) map (d0, d1) -> ({map}) : {b} -> {tb}
        %g = tile.dot %x, %gate, %gates : {ta}, {tb}, {tc}
        %up = tile.load %c[%k, %n] bounds (){symbols} -> ({k}, {n}) map (d0, d1) -> ({map}) : {b} -> {tb}
        %u = tile.dot %x, %up, %ups : {ta}, {tb}, {tc}
        scf.yield %g, %u : {tc}, {tc}
      }}
      %minus = arith.negf %acc#0 : {tc}
      %exp = math.exp %minus : {tc}
      %sum = arith.addf %exp, %one : {tc}
      %silu = arith.divf %acc#0, %sum : {tc}
      %product = arith.mulf %silu, %acc#1 : {tc}
      %h = arith.{narrow} %product : {tc} to {ty}
      tile.store %h, %y[%m, %n] bounds (){symbols} -> ({m}, {n}) map (d0, d1) -> (d0, d1) : {ty} -> {y}
      tile.return
    }})";

std::string kernelText(const PairedProduct &p, int64_t columns, int64_t rows) {
  std::string text = typeText(p.type), symbols = p.rowsAreOfRunTime ? "[s0]" : "",
              m = p.rowsAreOfRunTime ? "s0" : std::to_string(p.m);
  auto buffer = [&](const std::string &sizes) {
    return fmt::format("!tile.buffer<{}, (){} -> ({})>", text, symbols, sizes);
  };
  auto tile = [](int64_t first, int64_t second, const std::string &type) {
    return fmt::format("tensor<{}x{}x{}>", first, second, type);
  };
  std::string grid =
      p.rowsAreOfRunTime ? fmt::format("(s0 ceildiv {}) * {}", p.bm, columns) : std::to_string(columns * rows);
  return fmt::format(
      fmt::runtime(kernel), fmt::arg("a", buffer(fmt::format("{}, {}", m, p.k))),
      fmt::arg("b", buffer(p.areTransposed ? fmt::format("{}, {}", p.n, p.k) : fmt::format("{}, {}", p.k, p.n))),
      fmt::arg("y", buffer(fmt::format("{}, {}", m, p.n))), fmt::arg("symbols", symbols),
      fmt::arg("argument", p.rowsAreOfRunTime ? ", %s0: index" : ""), fmt::arg("grid", grid),
      fmt::arg("constant", p.areConstant ? " {graph.constant}" : ""), fmt::arg("columns", columns), fmt::arg("m", m),
      fmt::arg("n", p.n), fmt::arg("k", p.k), fmt::arg("bm", p.bm), fmt::arg("bn", p.bn), fmt::arg("bk", p.bk),
      fmt::arg("warps", p.warps), fmt::arg("stages", p.stages),
      fmt::arg("groups", p.groups ? fmt::format(", groups = {}", p.groups) : ""),
      fmt::arg("parts", p.parts > 1 ? fmt::format(", parts = {}", p.parts) : ""),
      fmt::arg("map", p.areTransposed ? "d1, d0" : "d0, d1"), fmt::arg("ta", tile(p.bm, p.bk, text)),
      fmt::arg("tb", tile(p.bk, p.bn, text)), fmt::arg("tc", tile(p.bm, p.bn, "f32")),
      fmt::arg("ty", tile(p.bm, p.bn, text)), fmt::arg("narrow", p.type == DType::F32 ? "bitcast" : "truncf"));
}

DeviceCase pairedProduct(const PairedProduct &p) {
  DeviceCase c{.name =
                   fmt::format("paired_{}_{}x{}x{}_{}x{}x{}{}{}{}{}{}", typeText(p.type), p.m, p.n, p.k, p.bm, p.bn,
                               p.bk, p.areTransposed ? "_bt" : "", p.areConstant ? "_constant" : "",
                               p.rowsAreOfRunTime ? "_sized" : "", p.groups ? fmt::format("_roles{}", p.groups) : "",
                               p.parts > 1 ? fmt::format("_parts{}", p.parts) : ""),
               .family = "paired products",
               .layout = p.areTransposed ? "NT" : "NN",
               .edge = p.edge,
               .type = p.type};
  int64_t columns = (p.n + p.bn - 1) / p.bn, rows = (p.m + p.bm - 1) / p.bm;
  c.grid = {columns * rows, 1, 1};
  c.kernel = kernelText(p, columns, rows);
  c.buffers = {{p.type, p.m * p.k}, {p.type, p.k * p.n}, {p.type, p.k * p.n}, {p.type, p.m * p.n}};
  if (p.rowsAreOfRunTime)
    c.scalars = {p.m};
  c.expected = [p, specs = c.buffers](int64_t index) {
    int64_t i = index / p.n, j = index % p.n;
    double gate = 0, up = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      double left = inputValue(specs[0], 0, i * p.k + k);
      int64_t at = p.areTransposed ? j * p.k + k : k * p.n + j;
      gate += left * inputValue(specs[1], 1, at);
      up += left * inputValue(specs[2], 2, at);
    }
    return gate / (1 + std::exp(-gate)) * up;
  };
  // Errors of a sum, which truncation gives one sign, count as often as the other factor is large.
  double sums = 0x1p-20 * std::sqrt(double(p.k) + 1) + (elementBytes(p.type) == 2 ? 0x1p-24 * double(p.k) : 0);
  c.tolerance = (p.type == DType::F32 ? 0 : roundoff(p.type)) + std::sqrt(double(p.k)) * sums;
  c.small = p.m * p.n * p.k <= 150 * 150 * 150;
  return c;
}

} // namespace

void addPairedProductCases(std::vector<DeviceCase> &cases) {
  for (const PairedProduct &p : products)
    cases.push_back(pairedProduct(p));
}

} // namespace tilewright::test
