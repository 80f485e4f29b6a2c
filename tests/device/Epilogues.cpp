// Contractions whose results meet a tile of memory behind the loop, in half types: what lanes exchange for wide loads and stores.
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::test {

namespace {
struct Residual {
  DType type;
  int64_t m, n, k, bm, bn, bk, warps;
  bool runTimeColumns = false; // is n known only when running? Then there are two versions of each access
};
} // namespace

/// y = a * b + r, all of one half type, summed in f32.
static DeviceCase residual(const Residual &p, std::string edge) {
  std::string text = typeText(p.type), symbols = p.runTimeColumns ? "[s0]" : "", n = p.runTimeColumns ? "s0" : std::to_string(p.n);
  DeviceCase c{.name = fmt::format("residual_{}_{}x{}x{}_{}x{}x{}{}", text, p.m, p.n, p.k, p.bm, p.bn, p.bk, p.runTimeColumns ? "_sized" : ""),
               .family = "matmul",
               .layout = p.runTimeColumns ? "run-time sizes" : "NN",
               .edge = std::move(edge),
               .type = p.type};
  auto buffer = [&](const std::string &rows, const std::string &columns) {
    return fmt::format("!tile.buffer<{}, (){} -> ({}, {})>", text, symbols, rows, columns);
  };
  std::string a = buffer(std::to_string(p.m), std::to_string(p.k)), b = buffer(std::to_string(p.k), n), y = buffer(std::to_string(p.m), n);
  std::string ta = fmt::format("tensor<{}x{}x{}>", p.bm, p.bk, text), tb = fmt::format("tensor<{}x{}x{}>", p.bk, p.bn, text),
              ty = fmt::format("tensor<{}x{}x{}>", p.bm, p.bn, text), tc = fmt::format("tensor<{}x{}xf32>", p.bm, p.bn);
  c.grid = {(p.n + p.bn - 1) / p.bn, (p.m + p.bm - 1) / p.bm, 1};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%a: {a}, %b: {b}, %r: {y}, %y: {y}{argument})
        attributes {{grid = affine_map<(){symbols} -> ({gx}, {gy}, 1)>,
                     schedule = #tile.schedule<matmul, tile = [{bm}, {bn}], reduce = [{bk}], warps = {warps}, stages = 4>}} {{
      %px = tile.program_id 0
      %py = tile.program_id 1
      %n = tile.size (d0) -> (d0 * {bn})(%px)
      %m = tile.size (d0) -> (d0 * {bm})(%py)
      %c0 = arith.constant 0 : index
      %ck = arith.constant {k} : index
      %step = arith.constant {bk} : index
      %zero = arith.constant dense<0.0> : {tc}
      %acc = scf.for %k = %c0 to %ck step %step iter_args(%c = %zero) -> ({tc}) {{
        %x = tile.load %a[%m, %k] bounds (){symbols} -> ({rows}, {k}) map (d0, d1) -> (d0, d1) : {a} -> {ta}
        %w = tile.load %b[%k, %n] bounds (){symbols} -> ({k}, {columns}) map (d0, d1) -> (d0, d1) : {b} -> {tb}
        %d = tile.dot %x, %w, %c : {ta}, {tb}, {tc}
        scf.yield %d : {tc}
      }}
      %rv = tile.load %r[%m, %n] bounds (){symbols} -> ({rows}, {columns}) map (d0, d1) -> (d0, d1) : {y} -> {ty}
      %wide = arith.extf %rv : {ty} to {tc}
      %s = arith.addf %acc, %wide : {tc}
      %h = arith.truncf %s : {tc} to {ty}
      tile.store %h, %y[%m, %n] bounds (){symbols} -> ({rows}, {columns}) map (d0, d1) -> (d0, d1) : {ty} -> {y}
      tile.return
    }})",
                         fmt::arg("a", a), fmt::arg("b", b), fmt::arg("y", y), fmt::arg("argument", p.runTimeColumns ? ", %s0: index" : ""),
                         fmt::arg("symbols", symbols), fmt::arg("gx", c.grid[0]), fmt::arg("gy", c.grid[1]), fmt::arg("bm", p.bm),
                         fmt::arg("bn", p.bn), fmt::arg("bk", p.bk), fmt::arg("warps", p.warps), fmt::arg("k", p.k), fmt::arg("tc", tc),
                         fmt::arg("ta", ta), fmt::arg("tb", tb), fmt::arg("ty", ty), fmt::arg("rows", p.m), fmt::arg("columns", n));
  c.buffers = {{p.type, p.m * p.k}, {p.type, p.k * p.n}, {p.type, p.m * p.n}, {p.type, p.m * p.n}};
  if (p.runTimeColumns)
    c.scalars = {p.n};
  c.expected = [p, specs = c.buffers](int64_t index) {
    double total = inputValue(specs[2], 2, index);
    for (int64_t k = 0; k < p.k; ++k)
      total += inputValue(specs[0], 0, index / p.n * p.k + k) * inputValue(specs[1], 1, k * p.n + index % p.n);
    return total;
  };
  c.tolerance = roundoff(p.type) + 0x1p-20 * std::sqrt(double(p.k) + 1) + 0x1p-24 * double(p.k);
  c.small = p.m * p.n * p.k <= 150 * 150 * 150;
  return c;
}

void addEpilogueCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16})
    for (bool sized : {false, true}) {
      cases.push_back(residual({type, 64, 64, 64, 64, 64, 64, 4, sized}, "power of two"));
      cases.push_back(residual({type, 100, 200, 72, 64, 128, 32, 4, sized}, "multiple of 8"));
      cases.push_back(residual({type, 130, 120, 136, 128, 64, 64, 8, sized}, "multiple of 8"));
      cases.push_back(residual({type, 61, 131, 67, 64, 64, 64, 4, sized}, "prime"));
      cases.push_back(residual({type, 65, 65, 64, 16, 32, 32, 2, sized}, "beside a power of two"));
      cases.push_back(residual({type, 1000, 1016, 520, 128, 128, 64, 8, sized}, "multiple of 8"));
    }
}

} // namespace tilewright::test
