// SPDX-License-Identifier: Apache-2.0
// Attention: a product, the softmax of its rows block by block, and a product whose left side stays in registers.
// Ragged rows, keys and heads, one block of keys and many, warps that multiply alone and in fours. Causal masks and
// windows, under which the loop visits only the keys that count in some row of the tile, which may be none.
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>

namespace tilewright::test {

namespace {
/// Row i sees the keys up to i + past, and of these the last `window`.
struct CausalMask {
  int64_t past, window;
  bool sees(int64_t row, int64_t key) const { return key <= row + past && key > row + past - window; }
};

struct Attention {
  DType type;
  int64_t batch, rows, keys, head, tileRows, tileKeys, tileHead, warps, stages;
  bool runTimeKeys = false;
  std::optional<CausalMask> mask = {};
};
} // namespace

/// Bounds of the loop, and what is beside the diagonal or before the window.
constexpr const char *boundsText = R"(
      %ofLastRow = tile.size (d0) -> (d0 + {past} + {tr})(%m)
      %ofFirstRow = tile.size (d0) -> ((d0 + {past} - {window} + 1) floordiv 16 * 16)(%m)
      %first = arith.maxsi %c0, %ofFirstRow : index
      %end = arith.minsi %count, %ofLastRow : index
      %position = tile.size (d0) -> (d0 + {past})(%m)
      %outside = tile.size (d0) -> (d0 + {past} - {window})(%m)
      %rowsAt = tile.coordinate %position dim 1 : tensor<1x{tr}x1xi64>
      %rowsOutside = tile.coordinate %outside dim 1 : tensor<1x{tr}x1xi64>
      %rowAt = tile.broadcast %rowsAt : tensor<1x{tr}x1xi64> -> tensor<1x{tr}x{tk}xi64>
      %rowOutside = tile.broadcast %rowsOutside : tensor<1x{tr}x1xi64> -> tensor<1x{tr}x{tk}xi64>)";
constexpr const char *selectText = R"(
        %keysAt = tile.coordinate %n dim 2 : tensor<1x1x{tk}xi64>
        %keyAt = tile.broadcast %keysAt : tensor<1x1x{tk}xi64> -> tensor<1x{tr}x{tk}xi64>
        %behind = arith.cmpi sle, %keyAt, %rowAt : tensor<1x{tr}x{tk}xi64>
        %within = arith.cmpi sgt, %keyAt, %rowOutside : tensor<1x{tr}x{tk}xi64>
        %sees = arith.andi %behind, %within : tensor<1x{tr}x{tk}xi1>
        %z = arith.select %sees, %existing, %dead : tensor<1x{tr}x{tk}xi1>, tensor<1x{tr}x{tk}xf32>)";

constexpr const char *attentionText = R"(
    tile.kernel @k(%q: {q}, %k: {k}, %v: {k}, %mask: {mask}, %y: {q}{argument})
        attributes {{grid = affine_map<(){symbols} -> ({grid}, 1, 1)>,
                     schedule = #tile.schedule<attention, tile = [1, {tr}, {th}], reduce = [{tk}, {th}], warps = {warps}, stages = {stages}>}} {{
      %p = tile.program_id 0
      %b = tile.size (d0) -> (d0 floordiv {blocks})(%p)
      %m = tile.size (d0) -> ((d0 mod {blocks}) * {tr})(%p)
      %c0 = arith.constant 0 : index
      %step = arith.constant {tk} : index
      %count = tile.size (){symbols} -> ({keys}){bounds}
      %never = arith.constant dense<0xFF800000> : tensor<1x{tr}x1xf32>
      %nothing = arith.constant dense<0.0> : tensor<1x{tr}x1xf32>
      %zeroMix = arith.constant dense<0.0> : tensor<1x{tr}x{th}xf32>
      %zeroScores = arith.constant dense<0.0> : tensor<1x{tr}x{tk}xf32>
      %dead = arith.constant dense<0xFF800000> : tensor<1x{tr}x{tk}xf32>
      %size = arith.constant dense<0> : tensor<1x1x{tk}xi64>
      %scale = arith.constant dense<0.25> : tensor<1x{tr}x{tk}xf32>
      %a = tile.load %q[%b, %m, %c0] bounds (){symbols} -> ({batch}, {rows}, {head}) map (d0, d1, d2) -> (d0, d1, d2) : {q} -> tensor<1x{tr}x{th}x{t}>
      %last:3 = scf.for %n = {first} to {end} step %step iter_args(%max = %never, %sum = %nothing, %mix = %zeroMix)
          -> (tensor<1x{tr}x1xf32>, tensor<1x{tr}x1xf32>, tensor<1x{tr}x{th}xf32>) {{
        %x = tile.load %k[%b, %c0, %n] bounds (){symbols} -> ({batch}, {head}, {keys}) map (d0, d1, d2) -> (d0, d2, d1) : {k} -> tensor<1x{th}x{tk}x{t}>
        %s = tile.dot %a, %x, %zeroScores : tensor<1x{tr}x{th}x{t}>, tensor<1x{th}x{tk}x{t}>, tensor<1x{tr}x{tk}xf32>
        %scaled = arith.mulf %s, %scale : tensor<1x{tr}x{tk}xf32>
        %mk = tile.load %mask[%c0, %c0, %n] bounds (){symbols} -> (1, 1, {keys}) map (d0, d1, d2) -> (d2) : {mask} -> tensor<1x1x{tk}xf32>
        %mb = tile.broadcast %mk : tensor<1x1x{tk}xf32> -> tensor<1x{tr}x{tk}xf32>
        %masked = arith.addf %scaled, %mb : tensor<1x{tr}x{tk}xf32>
        %left = tile.size (d0){symbols} -> (d0 - {keys})(%n)
        %at = tile.coordinate %left dim 2 : tensor<1x1x{tk}xi64>
        %lives = arith.cmpi slt, %at, %size : tensor<1x1x{tk}xi64>
        %livesAll = tile.broadcast %lives : tensor<1x1x{tk}xi1> -> tensor<1x{tr}x{tk}xi1>
        {result} = arith.select %livesAll, %masked, %dead : tensor<1x{tr}x{tk}xi1>, tensor<1x{tr}x{tk}xf32>{select}
        %w = tile.load %v[%b, %n, %c0] bounds (){symbols} -> ({batch}, {keys}, {head}) map (d0, d1, d2) -> (d0, d1, d2) : {k} -> tensor<1x{tk}x{th}x{t}>
        %here = tile.reduce <max> %z dim 2 : tensor<1x{tr}x{tk}xf32> -> tensor<1x{tr}x1xf32>
        %next = arith.maximumf %max, %here : tensor<1x{tr}x1xf32>
        %any = arith.cmpf une, %next, %never : tensor<1x{tr}x1xf32>
        %shift = arith.select %any, %next, %nothing : tensor<1x{tr}x1xi1>, tensor<1x{tr}x1xf32>
        %shifts = tile.broadcast %shift : tensor<1x{tr}x1xf32> -> tensor<1x{tr}x{tk}xf32>
        %below = arith.subf %z, %shifts : tensor<1x{tr}x{tk}xf32>
        %weights = math.exp %below : tensor<1x{tr}x{tk}xf32>
        %more = tile.reduce <sum> %weights dim 2 : tensor<1x{tr}x{tk}xf32> -> tensor<1x{tr}x1xf32>
        %fall = arith.subf %max, %shift : tensor<1x{tr}x1xf32>
        %worth = math.exp %fall : tensor<1x{tr}x1xf32>
        %kept = arith.mulf %sum, %worth : tensor<1x{tr}x1xf32>
        %total = arith.addf %kept, %more : tensor<1x{tr}x1xf32>
        %worths = tile.broadcast %worth : tensor<1x{tr}x1xf32> -> tensor<1x{tr}x{th}xf32>
        %before = arith.mulf %mix, %worths : tensor<1x{tr}x{th}xf32>
        %half = arith.truncf %weights : tensor<1x{tr}x{tk}xf32> to tensor<1x{tr}x{tk}x{t}>
        %mixed = tile.dot %half, %w, %before : tensor<1x{tr}x{tk}x{t}>, tensor<1x{tk}x{th}x{t}>, tensor<1x{tr}x{th}xf32>
        scf.yield %next, %total, %mixed : tensor<1x{tr}x1xf32>, tensor<1x{tr}x1xf32>, tensor<1x{tr}x{th}xf32>
      }}
      %d = tile.broadcast %last#1 : tensor<1x{tr}x1xf32> -> tensor<1x{tr}x{th}xf32>
      %share = arith.divf %last#2, %d : tensor<1x{tr}x{th}xf32>
      %some = arith.cmpf ogt, %last#1, %nothing : tensor<1x{tr}x1xf32>
      %someAll = tile.broadcast %some : tensor<1x{tr}x1xi1> -> tensor<1x{tr}x{th}xi1>
      %r = arith.select %someAll, %share, %zeroMix : tensor<1x{tr}x{th}xi1>, tensor<1x{tr}x{th}xf32>
      %h = arith.truncf %r : tensor<1x{tr}x{th}xf32> to tensor<1x{tr}x{th}x{t}>
      tile.store %h, %y[%b, %m, %c0] bounds (){symbols} -> ({batch}, {rows}, {head}) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x{tr}x{th}x{t}> -> {q}
      tile.return
    }})";

static std::string textOf(const Attention &a, int64_t blocks) {
  std::string symbols = a.runTimeKeys ? "[s0]" : "", keys = a.runTimeKeys ? "s0" : std::to_string(a.keys),
              type = typeText(a.type);
  auto buffer = [&](const std::string &element, const std::string &sizes) {
    return fmt::format("!tile.buffer<{}, (){} -> ({})>", element, symbols, sizes);
  };
  auto ofMask = [&](const char *text) {
    return a.mask ? fmt::format(fmt::runtime(text), fmt::arg("past", a.mask->past), fmt::arg("window", a.mask->window),
                                fmt::arg("tr", a.tileRows), fmt::arg("tk", a.tileKeys))
                  : std::string();
  };
  return fmt::format(fmt::runtime(attentionText), fmt::arg("bounds", ofMask(boundsText)),
                     fmt::arg("select", ofMask(selectText)), fmt::arg("first", a.mask ? "%first" : "%c0"),
                     fmt::arg("end", a.mask ? "%end" : "%count"), fmt::arg("result", a.mask ? "%existing" : "%z"),
                     fmt::arg("q", buffer(type, fmt::format("{}, {}, {}", a.batch, a.rows, a.head))),
                     fmt::arg("k", buffer(type, fmt::format("{}, {}, {}", a.batch, keys, a.head))),
                     fmt::arg("mask", buffer("f32", keys)), fmt::arg("argument", a.runTimeKeys ? ", %s0: index" : ""),
                     fmt::arg("symbols", symbols), fmt::arg("grid", blocks * a.batch), fmt::arg("blocks", blocks),
                     fmt::arg("tr", a.tileRows), fmt::arg("tk", a.tileKeys), fmt::arg("th", a.tileHead),
                     fmt::arg("warps", a.warps), fmt::arg("stages", a.stages), fmt::arg("keys", keys),
                     fmt::arg("rows", a.rows), fmt::arg("head", a.head), fmt::arg("batch", a.batch),
                     fmt::arg("t", type));
}

/// The share of each key in a row of the result; kept for the row's other elements.
struct Shares {
  int64_t row = -1;
  std::vector<double> of;
};

static void computeShares(const Attention &a, const std::vector<BufferSpec> &specs, int64_t row, Shares &shares) {
  int64_t b = row / a.rows;
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
  shares = {row, std::vector<double>(a.keys)};
  for (int64_t n = 0; n < a.keys; ++n) {
    double score = 0;
    for (int64_t d = 0; d < a.head; ++d)
      score += inputValue(specs[0], 0, row * a.head + d) * inputValue(specs[1], 1, (b * a.keys + n) * a.head + d);
    bool counts = !a.mask || a.mask->sees(row % a.rows, n);
    shares.of[n] = counts ? score * 0.25 + inputValue(specs[3], 3, n) : -std::numeric_limits<double>::infinity();
    max = std::max(max, shares.of[n]);
  }
  for (double &share : shares.of)
    sum += share = std::isinf(max) ? 0 : std::exp(share - max);
  for (double &share : shares.of)
    share = sum > 0 ? share / sum : 0;
}

static double expectedOf(const Attention &a, const std::vector<BufferSpec> &specs, int64_t index, Shares &shares) {
  int64_t column = index % a.head, row = index / a.head, b = row / a.rows;
  if (shares.row != row)
    computeShares(a, specs, row, shares);
  double mix = 0;
  for (int64_t n = 0; n < a.keys; ++n)
    mix += shares.of[n] * inputValue(specs[2], 2, (b * a.keys + n) * a.head + column);
  return mix;
}

static DeviceCase attention(const Attention &a, std::string edge) {
  int64_t blocks = (a.rows + a.tileRows - 1) / a.tileRows;
  std::string mask = a.mask ? fmt::format("_causal{}_{}", a.mask->past, a.mask->window) : "";
  DeviceCase c{.name = fmt::format("attention_{}_{}x{}x{}x{}_{}x{}x{}{}{}", typeText(a.type), a.batch, a.rows, a.keys,
                                   a.head, a.tileRows, a.tileKeys, a.tileHead, mask, a.runTimeKeys ? "_sized" : ""),
               .family = "attention",
               .layout = a.runTimeKeys ? "run-time sizes" : "NT",
               .edge = std::move(edge),
               .type = a.type};
  c.grid = {blocks * a.batch, 1, 1};
  c.kernel = textOf(a, blocks);
  c.buffers = {{a.type, a.batch * a.rows * a.head},
               {a.type, a.batch * a.keys * a.head},
               {a.type, a.batch * a.keys * a.head},
               {DType::F32, a.keys},
               {a.type, a.batch * a.rows * a.head}};
  if (a.runTimeKeys)
    c.scalars = {a.keys};
  c.expected = [a, specs = c.buffers, shares = std::make_shared<Shares>()](int64_t index) {
    return expectedOf(a, specs, index, *shares);
  };
  // Weights are rounded to halves before they are multiplied, and so is the result.
  c.tolerance = 3 * roundoff(a.type);
  c.small = a.rows * a.keys * a.head * a.batch <= 130 * 130 * 130;
  return c;
}

void addAttentionCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16}) {
    auto add = [&](int64_t batch, int64_t rows, int64_t keys, int64_t head, int64_t tileRows, int64_t tileKeys,
                   int64_t tileHead, int64_t warps, const char *edge, std::optional<CausalMask> mask = {}) {
      for (bool sized : {false, true})
        cases.push_back(
            attention({type, batch, rows, keys, head, tileRows, tileKeys, tileHead, warps, 2, sized, mask}, edge));
    };
    constexpr int64_t wide = 1 << 20;
    add(1, 64, 64, 64, 64, 64, 64, 4, "power of two");
    add(2, 64, 256, 64, 64, 64, 64, 4, "power of two");
    add(2, 67, 131, 64, 64, 64, 64, 4, "prime");
    add(1, 65, 129, 80, 64, 32, 128, 4, "beside a power of two");
    add(3, 17, 61, 32, 16, 32, 32, 1, "prime");
    add(1, 1, 257, 64, 16, 64, 64, 1, "size 1");
    add(1, 40, 72, 96, 32, 32, 128, 2, "multiple of 8");
    add(1, 128, 64, 128, 128, 32, 128, 8, "power of two");
    add(1, 128, 1000, 128, 128, 128, 128, 8, "multiple of 8");
    add(1, 64, 3, 64, 64, 64, 64, 4, "prime");
    add(2, 1000, 1024, 64, 64, 64, 64, 4, "multiple of 8");
    add(1, 512, 777, 256, 64, 64, 256, 4, "prime");
    add(1, 128, 128, 64, 64, 64, 64, 4, "power of two", CausalMask{0, wide});
    add(2, 67, 131, 64, 64, 64, 64, 4, "prime", CausalMask{64, wide}); // behind a cache
    add(1, 129, 129, 64, 64, 32, 64, 4, "beside a power of two", CausalMask{0, 20});
    add(1, 200, 72, 64, 64, 32, 64, 4, "multiple of 8", CausalMask{0, 30}); // the last rows see no key
    add(1, 130, 40, 32, 64, 32, 32, 4, "prime", CausalMask{-70, wide});     // nor do the first
    add(1, 1, 257, 64, 16, 64, 64, 1, "size 1", CausalMask{256, 100});
    add(1, 1000, 1000, 128, 128, 128, 128, 8, "multiple of 8", CausalMask{0, wide});
    add(1, 1000, 1024, 64, 64, 64, 64, 4, "multiple of 8", CausalMask{24, 200});
  }
}

} // namespace tilewright::test
