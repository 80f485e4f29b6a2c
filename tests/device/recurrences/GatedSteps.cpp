// SPDX-License-Identifier: Apache-2.0
// A step of an LSTM in one kernel: four sums of one left side, whose right sides are parts of one constant, and an
// epilogue that reads what other kernels have written.
//
//   a_g = h R_g + x_g,  g = 0 to 3        c' = sigmoid(a_1) c + sigmoid(a_0) tanh(a_2)        y = sigmoid(a_3) tanh(c')
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::test {
namespace {

constexpr int64_t gates = 4;

struct GatedStep {
  DType type;
  int64_t rows, n, k, bm, bn, bk, warps;
  const char *edge;
  bool isDot = false;            // sums by tile.dot, not by tile.reduce
  bool rowsAreOfRunTime = false; // known only at run time
  int64_t stages = 1;            // of a pipeline that copies
};

constexpr GatedStep steps[] = {
    {DType::F32, 1, 256, 256, 1, 1, 256, 1, "power of two"},
    {DType::F32, 1, 64, 128, 1, 2, 128, 2, "size 1"},
    {DType::F32, 5, 40, 96, 2, 2, 128, 4, "multiple of 8"},
    {DType::F32, 3, 37, 61, 2, 4, 64, 2, "prime"},
    {DType::F32, 7, 31, 33, 4, 2, 64, 4, "beside a power of two", false, true},
    {DType::F32, 2, 24, 600, 1, 2, 256, 2, "multiple of 8"},
    {DType::F16, 1, 48, 128, 1, 4, 128, 1, "size 1"},
    {DType::F16, 4, 40, 344, 2, 2, 128, 2, "multiple of 8"},
    {DType::F32, 19, 29, 47, 16, 16, 16, 2, "prime", true},
    {DType::F16, 16, 64, 128, 16, 32, 32, 4, "power of two", true},
    {DType::F16, 33, 40, 72, 16, 16, 32, 2, "multiple of 8", true, true},
    {DType::BF16, 9, 24, 104, 16, 16, 64, 4, "multiple of 8", true},
    {DType::F16, 5, 32, 1024, 16, 8, 256, 1, "multiple of 8", true, false, 4},
    {DType::F16, 37, 40, 328, 32, 8, 64, 2, "multiple of 8", true, true, 6},
    {DType::BF16, 21, 27, 50, 16, 8, 64, 1, "beside a power of two", true, false, 4},
};

/// Writes the kernel's text for one step.
class StepText {
public:
  explicit StepText(const GatedStep &step)
      : s(step), type(typeText(step.type)), symbols(step.rowsAreOfRunTime ? "[s0]" : ""),
        rows(step.rowsAreOfRunTime ? "s0" : std::to_string(step.rows)), columns((step.n + step.bn - 1) / step.bn) {}

  std::string kernel() const;

private:
  std::string buffer(const std::string &element, const std::string &first, int64_t second) const {
    return fmt::format("!tile.buffer<{}, (){} -> ({}, {})>", element, symbols, first, second);
  }
  static std::string tile(std::initializer_list<int64_t> sizes, const std::string &element) {
    return fmt::format("tensor<{}x{}>", fmt::join(sizes, "x"), element);
  }
  std::string sumsType() const { return s.isDot ? tile({s.bm, s.bn}, "f32") : tile({s.bm, s.bn, 1}, "f32"); }
  std::string gemvSums() const;
  std::string dotSums() const;
  std::string read(const std::string &name, const std::string &of, int64_t width, int64_t offset) const;

  const GatedStep &s;
  std::string type, symbols, rows;
  int64_t columns; // of tiles
};

/// %s0 to %s3 by products that all threads share: of one step, without a loop, or of several.
std::string StepText::gemvSums() const {
  bool loops = s.bk < s.k;
  std::string all = tile({s.bm, s.bn, s.bk}, "f32"), at = loops ? "%k" : "%c0", body, sums;
  auto widened = [&](const std::string &name, std::initializer_list<int64_t> sizes) {
    return fmt::format("%{0}w = arith.{1} %{0} : {2} to {3}\n%{0}b = tile.broadcast %{0}w : {3} -> {4}\n", name,
                       s.type == DType::F32 ? "bitcast" : "extf", tile(sizes, type), tile(sizes, "f32"), all);
  };
  body += fmt::format("%l = tile.load %h[%m, %c0, {}] bounds (){} -> ({}, 1, {}) map (d0, d1, d2) -> (d0, d2) : {} -> "
                      "{}\n",
                      at, symbols, rows, s.k, buffer(type, rows, s.k), tile({s.bm, 1, s.bk}, type)) +
          widened("l", {s.bm, 1, s.bk});
  for (int64_t g = 0; g < gates; ++g) {
    std::string right = fmt::format("r{}", g);
    body += fmt::format("%{} = tile.load %w[%c0, %n, {}] bounds () -> (1, {}, {}) map (d0, d1, d2) -> (d1 + {}, d2) : "
                        "!tile.buffer<{}, () -> ({}, {})> -> {}\n",
                        right, at, s.n, s.k, g * s.n, type, gates * s.n, s.k, tile({1, s.bn, s.bk}, type)) +
            widened(right, {1, s.bn, s.bk}) + fmt::format("%p{0} = arith.mulf %lb, %r{0}b : {1}\n", g, all);
    if (loops)
      body += fmt::format("%q{0} = arith.addf %a{0}, %p{0} : {1}\n", g, all);
    sums += fmt::format("%s{} = tile.reduce <sum> %{} dim 2 : {} -> {}\n", g,
                        loops ? fmt::format("acc#{}", g) : fmt::format("p{}", g), all, sumsType());
  }
  if (!loops)
    return body + sums;
  return fmt::format("%ck = arith.constant {} : index\n%step = arith.constant {} : index\n"
                     "%none = arith.constant dense<0.0> : {}\n"
                     "%acc:4 = scf.for %k = %c0 to %ck step %step iter_args(%a0 = %none, %a1 = %none, %a2 = %none, "
                     "%a3 = %none) -> ({}, {}, {}, {}) {{\n{}scf.yield %q0, %q1, %q2, %q3 : {}, {}, {}, {}\n}}\n{}",
                     s.k, s.bk, all, all, all, all, all, body, all, all, all, all, sums);
}

std::string StepText::dotSums() const {
  std::string t = sumsType();
  std::string body =
                  fmt::format("%l = tile.load %h[%m, %k] bounds (){} -> ({}, {}) map (d0, d1) -> (d0, d1) : {} -> {}\n",
                              symbols, rows, s.k, buffer(type, rows, s.k), tile({s.bm, s.bk}, type)),
              sums;
  for (int64_t g = 0; g < gates; ++g) {
    body +=
        fmt::format("%r{0} = tile.load %w[%k, %n] bounds () -> ({1}, {2}) map (d0, d1) -> (d1 + {3}, d0) : "
                    "!tile.buffer<{4}, () -> ({5}, {1})> -> {6}\n%q{0} = tile.dot %l, %r{0}, %a{0} : {7}, {6}, {8}\n",
                    g, s.k, s.n, g * s.n, type, gates * s.n, tile({s.bk, s.bn}, type), tile({s.bm, s.bk}, type), t);
    sums += fmt::format("%s{0} = arith.addf %acc#{0}, %none : {1}\n", g, t);
  }
  return fmt::format("%ck = arith.constant {} : index\n%step = arith.constant {} : index\n"
                     "%none = arith.constant dense<0.0> : {}\n"
                     "%acc:4 = scf.for %k = %c0 to %ck step %step iter_args(%a0 = %none, %a1 = %none, %a2 = %none, "
                     "%a3 = %none) -> ({}, {}, {}, {}) {{\n{}scf.yield %q0, %q1, %q2, %q3 : {}, {}, {}, {}\n}}\n{}",
                     s.k, s.bk, t, t, t, t, t, body, t, t, t, t, sums);
}

/// A tile of singles of the epilogue: columns of the result, `offset` further on.
std::string StepText::read(const std::string &name, const std::string &of, int64_t width, int64_t offset) const {
  const char *third = s.isDot ? "" : ", %c0", *one = s.isDot ? "" : ", 1", *d = s.isDot ? "" : ", d2";
  return fmt::format("%{} = tile.load %{}[%m, %n{}] bounds (){} -> ({}, {}{}) map (d0, d1{}) -> (d0, d1 + {}) : {} -> "
                     "{}\n",
                     name, of, third, symbols, rows, s.n, one, d, offset, buffer("f32", rows, width), sumsType());
}

std::string StepText::kernel() const {
  std::string t = sumsType(), text, third = s.isDot ? "" : ", %c0", one = s.isDot ? "" : ", 1",
              d = s.isDot ? "" : ", d2";
  int64_t tiles = (s.rows + s.bm - 1) / s.bm;
  text += fmt::format(
      "tile.kernel @k(%h: {}, %w: !tile.buffer<{}, () -> ({}, {})> {{graph.constant}}, %x: {}, %c: {}, %y: {}{}) "
      "attributes {{grid = affine_map<(){} -> ({}, 1, 1)>, schedule = #tile.schedule<{}, tile = [{}, {}], "
      "reduce = [{}], warps = {}, stages = {}>}} {{\n",
      buffer(type, rows, s.k), type, gates * s.n, s.k, buffer("f32", rows, gates * s.n), buffer("f32", rows, s.n),
      buffer("f32", rows, s.n), s.rowsAreOfRunTime ? ", %s: index" : "", symbols,
      s.rowsAreOfRunTime ? fmt::format("(s0 ceildiv {}) * {}", s.bm, columns) : std::to_string(tiles * columns),
      s.isDot ? "matmul" : "gemv", s.bm, s.bn, s.bk, s.warps, s.stages);
  text += fmt::format(
      "%p = tile.program_id 0\n%c0 = arith.constant 0 : index\n"
      "%n = tile.size (d0) -> ((d0 mod {0}) * {1})(%p)\n%m = tile.size (d0) -> ((d0 floordiv {0}) * {2})(%p)\n"
      "%one = arith.constant dense<1.0> : {3}\n",
      columns, s.bn, s.bm, t);
  text += s.isDot ? dotSums() : gemvSums();
  for (int64_t g = 0; g < gates; ++g) {
    text += read(fmt::format("x{}", g), "x", gates * s.n, g * s.n) +
            fmt::format("%g{0} = arith.addf %s{0}, %x{0} : {1}\n", g, t);
    text += g == 2
                ? fmt::format("%v2 = math.tanh %g2 : {}\n", t)
                : fmt::format("%n{0} = arith.negf %g{0} : {1}\n%e{0} = math.exp %n{0} : {1}\n%f{0} = arith.addf %e{0}, "
                              "%one : {1}\n%v{0} = arith.divf %one, %f{0} : {1}\n",
                              g, t);
  }
  return text + read("old", "c", s.n, 0) +
         fmt::format(
             "%kept = arith.mulf %v1, %old : {0}\n%new = arith.mulf %v0, %v2 : {0}\n"
             "%cell = arith.addf %kept, %new : {0}\n%out = math.tanh %cell : {0}\n%z = arith.mulf %v3, %out : {0}\n"
             "tile.store %z, %y[%m, %n{1}] bounds (){2} -> ({3}, {4}{5}) map (d0, d1{6}) -> (d0, d1) : {0} -> {7}\n"
             "tile.return\n}}",
             t, third, symbols, rows, s.n, one, d, buffer("f32", rows, s.n));
}

DeviceCase gatedStep(const GatedStep &s) {
  DeviceCase c{.name = fmt::format("gated_{}_{}x{}x{}_{}x{}x{}{}{}", typeText(s.type), s.rows, s.n, s.k, s.bm, s.bn,
                                   s.bk, s.isDot ? "_dot" : "", s.rowsAreOfRunTime ? "_sized" : ""),
               .family = "gated steps",
               .layout = "NT",
               .edge = s.edge,
               .type = s.type};
  c.grid = {(s.n + s.bn - 1) / s.bn * ((s.rows + s.bm - 1) / s.bm), 1, 1};
  c.kernel = StepText(s).kernel();
  c.buffers = {{s.type, s.rows * s.k},
               {s.type, gates * s.n * s.k},
               {DType::F32, s.rows * gates * s.n},
               {DType::F32, s.rows * s.n},
               {DType::F32, s.rows * s.n}};
  if (s.rowsAreOfRunTime)
    c.scalars = {s.rows};
  c.expected = [s, specs = c.buffers](int64_t index) {
    int64_t i = index / s.n, j = index % s.n;
    double sums[gates];
    for (int64_t g = 0; g < gates; ++g) {
      sums[g] = inputValue(specs[2], 2, i * gates * s.n + g * s.n + j);
      for (int64_t k = 0; k < s.k; ++k)
        sums[g] += inputValue(specs[0], 0, i * s.k + k) * inputValue(specs[1], 1, (g * s.n + j) * s.k + k);
    }
    auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    double cell = sigmoid(sums[1]) * inputValue(specs[3], 3, index) + sigmoid(sums[0]) * std::tanh(sums[2]);
    return sigmoid(sums[3]) * std::tanh(cell);
  };
  c.tolerance = 0x1p-20 * std::sqrt(double(s.k) + 1) + 1e-5; // sigmoid and tanh have slopes of at most 1
  c.small = true;
  return c;
}

} // namespace

void addGatedStepCases(std::vector<DeviceCase> &cases) {
  for (const GatedStep &step : steps)
    cases.push_back(gatedStep(step));
}

} // namespace tilewright::test
