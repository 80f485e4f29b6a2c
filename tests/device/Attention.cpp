// SPDX-License-Identifier: Apache-2.0
// Attention: a product, the softmax of its rows block by block, and a product whose left side stays in registers.
// Ragged rows, keys and heads, one block of keys and many, warps that multiply alone and in fours. With roles also
// loops whose bounds differ from program to program, shared heads of keys, operands that are slices of one product's
// result, keys that lie as columns, and queries that are computed. Causal masks and windows, under which the loop runs
// over the keys that count in some row of the tile, which may be none. Keys split among programs, into parts of equal
// length or not, some of them empty.
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
  int64_t groups = 0;    // with 1 the copies have warps of their own
  int64_t sharing = 1;   // query heads that share one of keys
  bool isJoined = false; // queries, keys and values are columns of a matrix of three times as many
  bool isScaled = false; // queries are halved before they are multiplied
  bool isTurned = false; // keys lie as columns
  std::optional<CausalMask> mask = {};
  int64_t parts = 1;  // programs that have a part of the keys each
  bool skips = false; // steps that exclude no key do not look
  int64_t order = 1;  // of pairs, for so many blocks

  int64_t columns() const { return 3 * batch * head; } // if joined
  /// Element `d` of row `row` in one of the three operands.
  int64_t at(int64_t operand, int64_t b, int64_t row, int64_t d) const {
    int64_t size = operand ? keys : rows, heads = operand ? sharing : 1;
    if (isTurned && operand == 1)
      return (b * head + d) * keys + row;
    return isJoined ? row * columns() + (operand * batch + b) * head + d : (b / heads * size + row) * head + d;
  }
};
} // namespace

constexpr const char *attentionText = R"(
    tile.kernel @k(%q: {q}, %k: {k}, %v: {v}, %mask: {mask}, %y: {y}{argument})
        attributes {{grid = affine_map<(){symbols} -> ({grid}, 1, 1)>,
                     schedule = #tile.schedule<attention, tile = [1, {tr}, {th}], reduce = [{tk}, {th}], warps = {warps}, stages = {stages}, groups = {groups}, order = {order}{parts}>}} {{
      {program}
      %b = tile.size (d0) -> (d0 floordiv {blocks})(%p)
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
      %{loaded} = tile.load %q[%b, %m, %c0] bounds (){symbols} -> ({batch}, {rows}, {head}) map (d0, d1, d2) -> ({qMap}) : {q} -> tensor<1x{tr}x{th}x{t}>
      {queries}
      %{looped}:3 = scf.for %n = %first to %end step %step iter_args(%max = %never, %sum = %nothing, %mix = %zeroMix)
          -> (tensor<1x{tr}x1xf32>, tensor<1x{tr}x1xf32>, tensor<1x{tr}x{th}xf32>) {{
        %x = tile.load %k[%b, %c0, %n] bounds (){symbols} -> ({batch}, {head}, {keys}) map (d0, d1, d2) -> ({kMap}) : {k} -> tensor<1x{th}x{tk}x{t}>
        %s = tile.dot %a, %x, %zeroScores : tensor<1x{tr}x{th}x{t}>, tensor<1x{th}x{tk}x{t}>, tensor<1x{tr}x{tk}xf32>
        %scaled = arith.mulf %s, %scale : tensor<1x{tr}x{tk}xf32>
        %mk = tile.load %mask[%c0, %c0, %n] bounds (){symbols} -> (1, 1, {keys}) map (d0, d1, d2) -> (d2) : {mask} -> tensor<1x1x{tk}xf32>
        %mb = tile.broadcast %mk : tensor<1x1x{tk}xf32> -> tensor<1x{tr}x{tk}xf32>
        %masked = arith.addf %scaled, %mb : tensor<1x{tr}x{tk}xf32>
        {indices}
        %w = tile.load %v[%b, %n, %c0] bounds (){symbols} -> ({batch}, {keys}, {head}) map (d0, d1, d2) -> ({vMap}) : {v} -> tensor<1x{tk}x{th}x{t}>
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
        %shares = arith.truncf %weights : tensor<1x{tr}x{tk}xf32> to tensor<1x{tr}x{tk}x{t}>
        %mixed = tile.dot %shares, %w, %before : tensor<1x{tr}x{tk}x{t}>, tensor<1x{tk}x{th}x{t}>, tensor<1x{tr}x{th}xf32>
        scf.yield %next, %total, %mixed : tensor<1x{tr}x1xf32>, tensor<1x{tr}x1xf32>, tensor<1x{tr}x{th}xf32>
      }}
      {join}
      %d = tile.broadcast %last#1 : tensor<1x{tr}x1xf32> -> tensor<1x{tr}x{th}xf32>
      %share = arith.divf %last#2, %d : tensor<1x{tr}x{th}xf32>
      %some = arith.cmpf ogt, %last#1, %nothing : tensor<1x{tr}x1xf32>
      %someAll = tile.broadcast %some : tensor<1x{tr}x1xi1> -> tensor<1x{tr}x{th}xi1>
      %r = arith.select %someAll, %share, %zeroMix : tensor<1x{tr}x{th}xi1>, tensor<1x{tr}x{th}xf32>
      %h = arith.truncf %r : tensor<1x{tr}x{th}xf32> to tensor<1x{tr}x{th}x{t}>
      tile.store %h, %y[%b, %m, %c0] bounds (){symbols} -> ({batch}, {rows}, {head}) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x{tr}x{th}x{t}> -> {y}
      tile.return
    }})";

/// How two parts of the keys become one.
constexpr const char *joinText = R"(
      %last:3 = tile.part_join %loop#0, %loop#1, %loop#2{live}
          : tensor<1x{tr}x1xf32>, tensor<1x{tr}x1xf32>, tensor<1x{tr}x{th}xf32>
          -> tensor<1x{tr}x1xf32>, tensor<1x{tr}x1xf32>, tensor<1x{tr}x{th}xf32> {{
      ^bb0(%m0: tensor<1x{tr}x1xf32>, %l0: tensor<1x{tr}x1xf32>, %x0: tensor<1x{tr}x{th}xf32>,
           %m1: tensor<1x{tr}x1xf32>, %l1: tensor<1x{tr}x1xf32>, %x1: tensor<1x{tr}x{th}xf32>):
        %both = arith.maximumf %m0, %m1 : tensor<1x{tr}x1xf32>
        %isAny = arith.cmpf une, %both, %never : tensor<1x{tr}x1xf32>
        %base = arith.select %isAny, %both, %nothing : tensor<1x{tr}x1xi1>, tensor<1x{tr}x1xf32>
        %f0 = arith.subf %m0, %base : tensor<1x{tr}x1xf32>
        %f1 = arith.subf %m1, %base : tensor<1x{tr}x1xf32>
        %w0 = math.exp %f0 : tensor<1x{tr}x1xf32>
        %w1 = math.exp %f1 : tensor<1x{tr}x1xf32>
        %t0 = arith.mulf %l0, %w0 : tensor<1x{tr}x1xf32>
        %t1 = arith.mulf %l1, %w1 : tensor<1x{tr}x1xf32>
        %t = arith.addf %t0, %t1 : tensor<1x{tr}x1xf32>
        %wide0 = tile.broadcast %w0 : tensor<1x{tr}x1xf32> -> tensor<1x{tr}x{th}xf32>
        %wide1 = tile.broadcast %w1 : tensor<1x{tr}x1xf32> -> tensor<1x{tr}x{th}xf32>
        %y0 = arith.mulf %x0, %wide0 : tensor<1x{tr}x{th}xf32>
        %y1 = arith.mulf %x1, %wide1 : tensor<1x{tr}x{th}xf32>
        %y2 = arith.addf %y0, %y1 : tensor<1x{tr}x{th}xf32>
        tile.part_yield %both, %t, %y2 : tensor<1x{tr}x1xf32>, tensor<1x{tr}x1xf32>, tensor<1x{tr}x{th}xf32>
      }})";
constexpr const char *inTurnText = R"(%p = tile.program_id 0
      %m = tile.size (d0) -> ((d0 mod {blocks}) * {tr})(%p))";
/// The last tile of rows, the first, the last but one, ...; as many of the last as there are blocks, then of the first.
constexpr const char *pairsText = R"(%block = tile.program_id 0
      %p = tile.ordered_program %block rows () -> ({pairs}) columns () -> (2) group {order}
      %ofFirst = tile.size (d0) -> (((d0 mod {blocks}) floordiv 2) * {tr})(%p)
      %ofLast = tile.size (d0) -> ((-((d0 mod {blocks}) floordiv 2) - ((d0 mod {blocks}) mod 2) * {blocks} + {blocks} - 1) * {tr})(%p)
      %m = arith.maxsi %ofFirst, %ofLast : index)";

constexpr const char *allKeys = R"(
      %first = arith.constant 0 : index
      %wholeFrom = arith.constant 0 : index
      %whole = arith.addi %count, %c0 : index
      %end = arith.addi %count, %c0 : index)";
/// Bounds of the loop, and what is beside the diagonal or before the window.
constexpr const char *boundsText = R"(
      %ofLastRow = tile.size (d0) -> (d0 + {past} + {tr})(%m)
      %ofFirstRow = tile.size (d0) -> ((d0 + {past} - {window} + 1) floordiv 16 * 16)(%m)
      %first = arith.maxsi %c0, %ofFirstRow : index
      %end = arith.minsi %count, %ofLastRow : index
      %belowFirstRow = tile.size (d0) -> (d0 + {past} + 1)(%m)
      %wholeFrom = tile.size (d0) -> (d0 + {past} + {tr} - {window})(%m)
      %whole = arith.minsi %count, %belowFirstRow : index
      %position = tile.size (d0) -> (d0 + {past})(%m)
      %outside = tile.size (d0) -> (d0 + {past} - {window})(%m)
      %rowsAt = tile.coordinate %position dim 1 : tensor<1x{tr}x1xi64>
      %rowsOutside = tile.coordinate %outside dim 1 : tensor<1x{tr}x1xi64>
      %rowAt = tile.broadcast %rowsAt : tensor<1x{tr}x1xi64> -> tensor<1x{tr}x{tk}xi64>
      %rowOutside = tile.broadcast %rowsOutside : tensor<1x{tr}x1xi64> -> tensor<1x{tr}x{tk}xi64>)";
/// What excludes keys by their indices: in every step, or in a loop over the keys of a step of which some are excluded.
constexpr const char *indicesText = R"(%left = tile.size (d0){symbols} -> (d0 - {keys})(%{position})
        %at = tile.coordinate %left dim 2 : tensor<1x1x{tk}xi64>
        %lives = arith.cmpi slt, %at, %size : tensor<1x1x{tk}xi64>
        %livesAll = tile.broadcast %lives : tensor<1x1x{tk}xi1> -> tensor<1x{tr}x{tk}xi1>
        %{shown} = arith.select %livesAll, %{from}, %dead : tensor<1x{tr}x{tk}xi1>, tensor<1x{tr}x{tk}xf32>{inner})";
constexpr const char *skippedText = R"(%early = tile.size (d0, d1) -> (d0 - d1)(%wholeFrom, %n)
        %late = tile.size (d0, d1) -> (d0 + {tk} - d1)(%n, %whole)
        %excluded = arith.maxsi %early, %late : index
        %one = arith.constant 1 : index
        %times = arith.minsi %excluded, %one : index
        %z = scf.for %i = %c0 to %times step %step iter_args(%carried = %masked) -> (tensor<1x{tr}x{tk}xf32>) {{
        %o = tile.size (d0, d1) -> (d0 + d1)(%n, %i)
        {inner}
        scf.yield %u : tensor<1x{tr}x{tk}xf32>
        }})";
constexpr const char *selectText = R"(
        %keysAt = tile.coordinate %{position} dim 2 : tensor<1x1x{tk}xi64>
        %keyAt = tile.broadcast %keysAt : tensor<1x1x{tk}xi64> -> tensor<1x{tr}x{tk}xi64>
        %behind = arith.cmpi sle, %keyAt, %rowAt : tensor<1x{tr}x{tk}xi64>
        %within = arith.cmpi sgt, %keyAt, %rowOutside : tensor<1x{tr}x{tk}xi64>
        %sees = arith.andi %behind, %within : tensor<1x{tr}x{tk}xi1>
        %{last} = arith.select %sees, %existing, %dead : tensor<1x{tr}x{tk}xi1>, tensor<1x{tr}x{tk}xf32>)";

constexpr const char *scaledQueries = R"(%half = arith.constant dense<0.5> : tensor<1x{tr}x{th}x{t}>
      %a = arith.mulf %raw, %half : tensor<1x{tr}x{th}x{t}>)";

static std::string textOf(const Attention &a, int64_t blocks) {
  std::string symbols = a.runTimeKeys ? "[s0]" : "", keys = a.runTimeKeys ? "s0" : std::to_string(a.keys),
              type = typeText(a.type);
  auto buffer = [&](const std::string &element, const std::string &sizes) {
    return fmt::format("!tile.buffer<{}, (){} -> ({})>", element, symbols, sizes);
  };
  auto matrix = [&](const std::string &rows, int64_t heads) {
    return a.isJoined ? buffer(type, fmt::format("{}, {}", rows, a.columns()))
                      : buffer(type, fmt::format("{}, {}, {}", heads, rows, a.head));
  };
  auto mapOf = [&](int64_t operand, const char *row, const char *element) {
    return a.isJoined ? fmt::format("{}, d0 * {} + {} + {}", row, a.head, element, operand * a.batch * a.head)
                      : fmt::format("d0 floordiv {}, {}, {}", operand ? a.sharing : 1, row, element);
  };
  CausalMask mask = a.mask.value_or(CausalMask{});
  auto fill = [&](const char *text, const std::string &inner = "") {
    return fmt::format(
        fmt::runtime(text), fmt::arg("tr", a.tileRows), fmt::arg("tk", a.tileKeys), fmt::arg("th", a.tileHead),
        fmt::arg("t", type), fmt::arg("past", mask.past), fmt::arg("window", mask.window), fmt::arg("symbols", symbols),
        fmt::arg("keys", keys), fmt::arg("position", a.skips ? "o" : "n"), fmt::arg("last", a.skips ? "u" : "z"),
        fmt::arg("from", a.skips ? "carried" : "masked"),
        fmt::arg("shown", a.mask    ? "existing"
                          : a.skips ? "u"
                                    : "z"),
        fmt::arg("inner", inner), fmt::arg("blocks", blocks), fmt::arg("pairs", blocks * a.batch / 2),
        fmt::arg("order", a.order),
        fmt::arg("live", a.rows < a.tileRows ? fmt::format(" live [1, {}, {}]", a.rows, a.tileHead) : ""));
  };
  std::string indices = fill(indicesText, a.mask ? fill(selectText) : "");
  return fmt::format(
      fmt::runtime(attentionText), fmt::arg("q", matrix(std::to_string(a.rows), a.batch)),
      fmt::arg("k", a.isTurned ? buffer(type, fmt::format("{}, {}, {}", a.batch, a.head, keys))
                               : matrix(keys, a.batch / a.sharing)),
      fmt::arg("v", matrix(keys, a.batch / a.sharing)),
      fmt::arg("y", buffer(type, fmt::format("{}, {}, {}", a.batch, a.rows, a.head))),
      fmt::arg("qMap", mapOf(0, "d1", "d2")), fmt::arg("kMap", a.isTurned ? "d0, d1, d2" : mapOf(1, "d2", "d1")),
      fmt::arg("vMap", mapOf(2, "d1", "d2")), fmt::arg("loaded", a.isScaled ? "raw" : "a"),
      fmt::arg("program", fill(a.order > 1 ? pairsText : inTurnText)), fmt::arg("order", a.order),
      fmt::arg("queries", a.isScaled ? fill(scaledQueries) : ""),
      fmt::arg("bounds", fill(a.mask ? boundsText : allKeys)), fmt::arg("looped", a.parts > 1 ? "loop" : "last"),
      fmt::arg("join", a.parts > 1 ? fill(joinText) : ""),
      fmt::arg("parts", a.parts > 1 ? fmt::format(", parts = {}", a.parts) : ""),
      fmt::arg("indices", a.skips ? fill(skippedText, indices) : indices), fmt::arg("mask", buffer("f32", keys)),
      fmt::arg("argument", a.runTimeKeys ? ", %s0: index" : ""), fmt::arg("symbols", symbols),
      fmt::arg("grid", blocks * a.batch), fmt::arg("blocks", blocks), fmt::arg("tr", a.tileRows),
      fmt::arg("tk", a.tileKeys), fmt::arg("th", a.tileHead), fmt::arg("warps", a.warps), fmt::arg("stages", a.stages),
      fmt::arg("groups", a.groups), fmt::arg("keys", keys), fmt::arg("rows", a.rows), fmt::arg("head", a.head),
      fmt::arg("batch", a.batch), fmt::arg("t", type));
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
      score += inputValue(specs[0], 0, a.at(0, b, row % a.rows, d)) * inputValue(specs[1], 1, a.at(1, b, n, d));
    shares.of[n] = score * (a.isScaled ? 0.125 : 0.25) + inputValue(specs[3], 3, n);
    if (a.mask && !a.mask->sees(row % a.rows, n))
      shares.of[n] = -std::numeric_limits<double>::infinity();
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
    mix += shares.of[n] * inputValue(specs[2], 2, a.at(2, b, n, column));
  return mix;
}

static std::string nameOf(const Attention &a) {
  std::string name = fmt::format("attention_{}_{}x{}x{}x{}_{}x{}x{}", typeText(a.type), a.batch, a.rows, a.keys, a.head,
                                 a.tileRows, a.tileKeys, a.tileHead);
  for (auto [is, word] : {std::pair(a.runTimeKeys, "_sized"),
                          {a.groups != 0, "_roles"},
                          {a.sharing > 1, "_shared"},
                          {a.isJoined, "_joined"},
                          {a.isTurned, "_turned"},
                          {a.skips, "_skips"},
                          {a.order > 1, "_pairs"},
                          {a.isScaled, "_scaled"}})
    name += is ? word : "";
  name += a.parts > 1 ? fmt::format("_parts{}", a.parts) : "";
  return a.mask ? name + fmt::format("_causal{}_{}", a.mask->past, a.mask->window) : name;
}

static DeviceCase attention(const Attention &a, std::string edge) {
  int64_t blocks = (a.rows + a.tileRows - 1) / a.tileRows, joined = a.isJoined ? 3 : 1;
  DeviceCase c{.name = nameOf(a),
               .family = a.parts > 1 ? "split keys" : "attention",
               .layout = a.runTimeKeys ? "run-time sizes" : "NT",
               .edge = std::move(edge),
               .type = a.type};
  c.grid = {blocks * a.batch, 1, 1};
  c.kernel = textOf(a, blocks);
  int64_t keys = a.batch / a.sharing * a.keys * a.head * joined;
  c.buffers = {{a.type, a.batch * a.rows * a.head * joined},
               {a.type, keys},
               {a.type, keys},
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

constexpr int64_t wide = 1 << 20; // a window that leaves no key out

/// More programs than blocks, of different lengths.
static DeviceCase pairs() {
  return attention({.type = DType::F16,
                    .batch = 48,
                    .rows = 130,
                    .keys = 130,
                    .head = 64,
                    .tileRows = 64,
                    .tileKeys = 64,
                    .tileHead = 64,
                    .warps = 4,
                    .stages = 2,
                    .groups = 1,
                    .mask = CausalMask{0, wide},
                    .skips = true,
                    .order = 132},
                   "multiple of 8");
}

/// With roles: four warps take 64 rows.
static void addRoles(DType type, std::vector<DeviceCase> &cases) {
  auto add = [&](Attention a, const char *edge) {
    a.groups = 1;
    for (a.runTimeKeys = false;; a.runTimeKeys = true) {
      cases.push_back(attention(a, edge));
      if (a.runTimeKeys || a.isTurned) // a run-time number of columns may not be aligned
        return;
    }
  };
  auto of = [&](int64_t batch, int64_t rows, int64_t keys, int64_t head, int64_t tileRows, int64_t tileKeys,
                int64_t tileHead, int64_t stages = 2) {
    return Attention{type, batch, rows, keys, head, tileRows, tileKeys, tileHead, tileRows / 16, stages};
  };
  add(of(1, 64, 256, 64, 64, 64, 64, 3), "power of two");
  add(of(2, 67, 131, 64, 64, 64, 64), "prime");
  add(of(1, 140, 150, 64, 128, 128, 64, 3), "multiple of 8");
  add(of(1, 130, 131, 128, 128, 128, 128), "prime");
  add(of(3, 65, 129, 32, 64, 64, 64), "beside a power of two");
  add(of(1, 65, 129, 80, 64, 64, 128, 1), "beside a power of two");
  add(of(1, 40, 72, 96, 64, 64, 128), "multiple of 8");
  add(of(1, 66, 70, 256, 64, 64, 256), "multiple of 8");
  add(of(1, 64, 3, 64, 64, 64, 64), "prime");
  add(of(2, 1000, 1024, 64, 128, 128, 64, 3), "multiple of 8");
  auto with = [&](Attention a, auto change, const char *edge) { change(a), add(a, edge); };
  with(of(4, 67, 70, 64, 64, 64, 64), [](Attention &a) { a.sharing = 2; }, "prime");
  with(of(2, 70, 131, 64, 64, 64, 64), [](Attention &a) { a.isJoined = true; }, "prime");
  with(of(2, 67, 136, 64, 64, 64, 64), [](Attention &a) { a.isTurned = true; }, "multiple of 8");
  with(of(2, 67, 131, 64, 64, 64, 64), [](Attention &a) { a.isScaled = true; }, "prime");
  with(of(1, 170, 190, 64, 64, 64, 64), [](Attention &a) { a.mask = {0, 1000}; }, "multiple of 8");
  with(of(1, 170, 190, 64, 64, 64, 64), [](Attention &a) { a.mask = {0, 40}; }, "multiple of 8");
  auto skipping = [](int64_t past, int64_t window) {
    return [=](Attention &a) { a.skips = true, a.mask = {past, window}; };
  };
  with(of(2, 67, 200, 64, 64, 64, 64), [](Attention &a) { a.skips = true; }, "multiple of 8");
  with(of(1, 170, 190, 64, 64, 64, 64), skipping(0, wide), "multiple of 8");
  with(of(1, 260, 260, 64, 128, 64, 64, 3), skipping(0, wide), "multiple of 8");
  with(of(1, 67, 197, 64, 64, 64, 64), skipping(130, wide), "prime");
  with(of(1, 160, 320, 64, 64, 64, 64), skipping(100, 200), "multiple of 8"); // masked, whole, masked
  with(of(1, 200, 72, 64, 64, 64, 64), skipping(0, 30), "multiple of 8");     // the last rows see no key
  with(of(1, 130, 70, 32, 64, 64, 64), skipping(-70, wide), "prime");         // nor do the first
}

/// Keys split among programs.
static void addParts(DType type, std::vector<DeviceCase> &cases) {
  auto add = [&](int64_t batch, int64_t rows, int64_t keys, int64_t head, int64_t tileRows, int64_t tileKeys,
                 int64_t parts, const char *edge, std::optional<CausalMask> mask = {}) {
    for (int64_t groups : {0, 1})
      for (bool sized : {false, true}) {
        if ((groups && (tileRows < 64 || tileKeys < 64)) || (sized && type == DType::BF16))
          continue;
        // Roles copy rows of 64 halves; others leave two steps room in 64 KiB.
        int64_t tileHead = groups ? std::max<int64_t>(head, 64) : head, mostKeys = groups ? tileKeys : 4096 / head;
        cases.push_back(attention({.type = type,
                                   .batch = batch,
                                   .rows = rows,
                                   .keys = keys,
                                   .head = head,
                                   .tileRows = tileRows,
                                   .tileKeys = std::min(tileKeys, mostKeys),
                                   .tileHead = tileHead,
                                   .warps = tileRows / 16,
                                   .stages = 2,
                                   .runTimeKeys = sized,
                                   .groups = groups,
                                   .mask = mask,
                                   .parts = parts},
                                  edge));
      }
  };
  constexpr int64_t wide = 1 << 20;
  add(2, 64, 256, 64, 64, 64, 2, "power of two");
  add(2, 1, 320, 64, 16, 64, 5, "size 1");
  add(2, 8, 512, 64, 64, 64, 4, "multiple of 8");
  add(1, 16, 384, 128, 64, 64, 3, "multiple of 8");
  if (type == DType::BF16) // the rest is the same for both
    return;
  add(3, 17, 131, 32, 64, 32, 2, "prime");        // parts of two and of three steps
  add(1, 20, 72, 32, 32, 32, 8, "multiple of 8"); // fewer steps than parts
  add(1, 3, 64, 32, 64, 64, 2, "prime");          // one step
  add(1, 9, 328, 64, 64, 64, 4, "multiple of 8");
  add(1, 16, 150, 64, 64, 64, 6, "multiple of 8");
  add(2, 5, 200, 64, 64, 64, 3, "multiple of 8", CausalMask{195, wide});
  add(1, 67, 131, 32, 64, 64, 2, "prime", CausalMask{40, 50});
  add(1, 130, 140, 32, 64, 64, 3, "multiple of 8", CausalMask{-70, wide});
  add(1, 67, 131, 32, 64, 32, 4, "prime", CausalMask{40, 50});    // parts of different keys in each block of rows
  add(1, 130, 40, 32, 64, 32, 2, "prime", CausalMask{-70, wide}); // the first rows see no key
  add(8, 16, 2048, 256, 64, 64, 8, "power of two");
  add(8, 128, 8192, 128, 64, 128, 8, "power of two");
}

void addAttentionCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16}) {
    auto add = [&](int64_t batch, int64_t rows, int64_t keys, int64_t head, int64_t tileRows, int64_t tileKeys,
                   int64_t tileHead, int64_t warps, const char *edge, std::optional<CausalMask> mask = {},
                   bool skips = false) {
      for (bool sized : {false, true})
        cases.push_back(attention({.type = type,
                                   .batch = batch,
                                   .rows = rows,
                                   .keys = keys,
                                   .head = head,
                                   .tileRows = tileRows,
                                   .tileKeys = tileKeys,
                                   .tileHead = tileHead,
                                   .warps = warps,
                                   .stages = 2,
                                   .runTimeKeys = sized,
                                   .mask = mask,
                                   .skips = skips},
                                  edge));
    };
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
    add(2, 67, 131, 64, 64, 64, 64, 4, "prime", {}, true);
    add(2, 67, 131, 64, 64, 32, 64, 4, "prime", CausalMask{64, wide}, true);
    add(1, 129, 129, 64, 64, 32, 64, 4, "beside a power of two", CausalMask{0, 100}, true);
    add(1, 200, 72, 64, 64, 32, 64, 4, "multiple of 8", CausalMask{0, 30}, true);
    add(1, 130, 40, 32, 64, 32, 32, 4, "prime", CausalMask{-70, wide}, true);
    addRoles(type, cases);
    addParts(type, cases);
  }
  cases.push_back(pairs());
}

} // namespace tilewright::test
