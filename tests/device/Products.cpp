// Contractions: types, layouts of the operands, prologues that cannot be copied as they are, ragged edges in every dimension.
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::test {

namespace {
struct Product {
  DType type;
  int64_t m, n, k, bm, bn, bk, warps, stages;
  bool transposedA = false, transposedB = false, prologue = false;
};
} // namespace

static DeviceCase product(const Product &p, std::string edge) {
  std::string text = typeText(p.type), sum = p.type == DType::F64 ? "f64" : "f32";
  DType sumType = p.type == DType::F64 ? DType::F64 : DType::F32;
  DeviceCase c{.name = fmt::format("product_{}_{}x{}x{}_{}x{}x{}{}{}{}", text, p.m, p.n, p.k, p.bm, p.bn, p.bk, p.transposedA ? "_at" : "",
                                   p.transposedB ? "_bt" : "", p.prologue ? "_prologue" : ""),
               .family = "matmul",
               .layout = fmt::format("{}{}", p.transposedA ? "T" : "N", p.transposedB ? "T" : "N"),
               .edge = std::move(edge),
               .type = p.type};
  auto buffer = [](const std::string &type, int64_t rows, int64_t columns) {
    return fmt::format("!tile.buffer<{}, () -> ({}, {})>", type, rows, columns);
  };
  std::string a = p.transposedA ? buffer(text, p.k, p.m) : buffer(text, p.m, p.k),
              b = p.transposedB ? buffer(text, p.n, p.k) : buffer(text, p.k, p.n);
  std::string y = buffer(sum, p.m, p.n), bias = fmt::format("!tile.buffer<{}, () -> ({})>", sum, p.n);
  std::string ta = fmt::format("tensor<{}x{}x{}>", p.bm, p.bk, text), tb = fmt::format("tensor<{}x{}x{}>", p.bk, p.bn, text),
              tc = fmt::format("tensor<{}x{}x{}>", p.bm, p.bn, sum);
  c.grid = {(p.n + p.bn - 1) / p.bn, (p.m + p.bm - 1) / p.bm, 1};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%a: {0}, %b: {1}, %bias: {2}, %y: {3})
        attributes {{grid = affine_map<() -> ({4}, {5}, 1)>,
                     schedule = #tile.schedule<matmul, tile = [{6}, {7}], reduce = [{8}], warps = {9}, stages = {10}>}} {{
      %px = tile.program_id 0
      %py = tile.program_id 1
      %n = tile.size (d0) -> (d0 * {7})(%px)
      %m = tile.size (d0) -> (d0 * {6})(%py)
      %c0 = arith.constant 0 : index
      %ck = arith.constant {11} : index
      %step = arith.constant {8} : index
      %zero = arith.constant dense<0.0> : {12}
)",
                         a, b, bias, y, c.grid[0], c.grid[1], p.bm, p.bn, p.bk, p.warps, p.stages, p.k, tc);
  c.kernel += fmt::format(R"(
      %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> ({0}) {{
        %x = tile.load %a[%m, %k] bounds () -> ({1}, {2}) map (d0, d1) -> ({3}) : {4} -> {5}
        {6}
        %w = tile.load %b[%k, %n] bounds () -> ({2}, {7}) map (d0, d1) -> ({8}) : {9} -> {10}
        %d = tile.dot %{11}, %w, %c : {5}, {10}, {0}
        scf.yield %d : {0}
      }}
)",
                          tc, p.m, p.k, p.transposedA ? "d1, d0" : "d0, d1", a, ta,
                          p.prologue ? fmt::format("%x2 = arith.addf %x, %x : {}", ta) : "", p.n, p.transposedB ? "d1, d0" : "d0, d1", b,
                          tb, p.prologue ? "x2" : "x");
  c.kernel += fmt::format(R"(
      %bv = tile.load %bias[%c0, %n] bounds () -> (1, {0}) map (d0, d1) -> (d1) : {1} -> tensor<1x{2}x{3}>
      %bb = tile.broadcast %bv : tensor<1x{2}x{3}> -> {4}
      %s = arith.addf %acc, %bb : {4}
      tile.store %s, %y[%m, %n] bounds () -> ({5}, {0}) map (d0, d1) -> (d0, d1) : {4} -> {6}
      tile.return
    }})",
                          p.n, bias, p.bn, sum, tc, p.m, y);
  c.buffers = {{p.type, p.m * p.k}, {p.type, p.k * p.n}, {sumType, p.n}, {sumType, p.m * p.n}};
  c.expected = [p, specs = c.buffers](int64_t index) {
    int64_t i = index / p.n, j = index % p.n;
    double total = 0;
    for (int64_t k = 0; k < p.k; ++k)
      total += inputValue(specs[0], 0, p.transposedA ? k * p.m + i : i * p.k + k) *
               inputValue(specs[1], 1, p.transposedB ? j * p.k + k : k * p.n + j);
    return (p.prologue ? 2 : 1) * total + inputValue(specs[2], 2, j);
  };
  c.tolerance = (p.type == DType::F64 ? 0x1p-50 : 0x1p-20) * std::sqrt(double(p.k) + 1);
  if (elementBytes(p.type) == 2) // matrix units cut their sums off instead of rounding them: errors of one sign, which add up
    c.tolerance += 0x1p-24 * double(p.k);
  c.small = p.m * p.n * p.k <= 150 * 150 * 150;
  return c;
}

void addProductCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16})
    for (bool at : {false, true})
      for (bool bt : {false, true}) {
        cases.push_back(product({type, 64, 64, 128, 64, 64, 32, 4, 3, at, bt}, "power of two"));
        cases.push_back(product({type, 61, 67, 71, 64, 64, 32, 4, 3, at, bt}, "prime"));
        cases.push_back(product({type, 65, 129, 72, 64, 64, 32, 4, 4, at, bt}, "beside a power of two"));
        cases.push_back(product({type, 120, 136, 104, 128, 128, 32, 4, 3, at, bt}, "multiple of 8"));
        cases.push_back(product({type, 1024, 768, 512, 128, 128, 32, 4, 3, at, bt}, "power of two"));
        cases.push_back(product({type, 257, 1021, 768, 128, 256, 32, 8, 4, at, bt}, "prime"));
        cases.push_back(product({type, 128, 64, 96, 128, 64, 32, 4, 2, at, bt, true}, "multiple of 8"));
        cases.push_back(product({type, 256, 256, 2048, 128, 128, 64, 4, 3, at, bt}, "power of two"));
        // Steps of 64 k, which instructions that read shared memory by themselves need: one step, then pipelines in which products of two
        // steps overlap, with a warpgroup's part in one panel or several, and operands that pass through registers.
        cases.push_back(product({type, 64, 64, 64, 64, 64, 64, 4, 4, at, bt}, "power of two"));
        cases.push_back(product({type, 61, 67, 331, 64, 64, 64, 4, 4, at, bt}, "prime"));
        cases.push_back(product({type, 64, 72, 520, 64, 64, 64, 4, 4, at, bt}, "multiple of 8")); // slots come round twice
        cases.push_back(product({type, 96, 248, 56, 64, 256, 64, 4, 4, at, bt}, "multiple of 8"));
        cases.push_back(product({type, 250, 120, 64, 256, 128, 64, 8, 4, at, bt}, "power of two"));
        cases.push_back(product({type, 96, 248, 136, 64, 128, 64, 8, 4, at, bt}, "multiple of 8"));
        cases.push_back(product({type, 129, 65, 321, 128, 128, 64, 8, 5, at, bt}, "beside a power of two"));
        cases.push_back(product({type, 72, 64, 448, 64, 64, 128, 4, 4, at, bt, true}, "multiple of 8"));
        cases.push_back(product({type, 1000, 1032, 520, 128, 128, 64, 8, 4, at, bt}, "multiple of 8"));
      }
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    cases.push_back(product({type, 1, 64, 64, 16, 64, 32, 2, 2}, "size 1"));
    cases.push_back(product({type, 64, 1, 33, 32, 32, 32, 2, 2}, "size 1"));
    cases.push_back(product({type, 33, 40, 1, 32, 32, 16, 2, 2}, "size 1"));
    cases.push_back(product({type, 16, 24, 0, 32, 32, 16, 2, 2}, "size 0"));
    cases.push_back(product({type, 32, 32, 16, 32, 32, 16, 2, 3}, "power of two"));
    cases.push_back(product({type, 17, 37, 47, 16, 32, 16, 2, 2}, "prime"));
  }
  for (DType type : {DType::F32, DType::F64})
    for (bool at : {false, true})
      for (bool bt : {false, true}) {
        cases.push_back(product({type, 64, 64, 64, 64, 64, 16, 4, 2, at, bt}, "power of two"));
        cases.push_back(product({type, 50, 61, 37, 32, 64, 16, 4, 3, at, bt}, "prime"));
        cases.push_back(product({type, 300, 200, 129, 64, 64, 16, 4, 3, at, bt}, "beside a power of two"));
        cases.push_back(product({type, 40, 33, 100, 16, 32, 64, 1, 2, at, bt}, "beside a power of two"));
      }
  cases.push_back(product({DType::F16, 3, 70000 * 16, 16, 16, 16, 16, 1, 2}, "over 65535 blocks"));
}

} // namespace tilewright::test
