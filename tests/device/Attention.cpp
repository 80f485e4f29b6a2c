// SPDX-License-Identifier: Apache-2.0
// Attention: a product, the softmax of its rows block by block, and a product whose left side stays in registers.
#include "tests/device/Attentions.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>

namespace tilewright::test {

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
        %s = tile.dot %a, %x, %zeroScores{depth} : tensor<1x{tr}x{th}x{t}>, tensor<1x{th}x{tk}x{t}>, tensor<1x{tr}x{tk}xf32>
        %scaled = arith.mulf %s, %scale : tensor<1x{tr}x{tk}xf32>
        %mk = tile.load %mask[%c0, %c0, %n] bounds (){symbols} -> (1, 1, {keys}) map (d0, d1, d2) -> (d2) : {mask} -> tensor<1x1x{tk}xf32>
        %mb = tile.broadcast %mk : tensor<1x1x{tk}xf32> -> tensor<1x{tr}x{tk}xf32>
        %masked = arith.addf %scaled, %mb : tensor<1x{tr}x{tk}xf32>
        {indices}
        %w = tile.load %v[%b, %n, %c0] bounds (){symbols} -> ({batch}, {keys}, {head}) map (d0, d1, d2) -> ({vMap}) : {v} -> tensor<1x{tk}x{th}x{t}>
        {maximum}
        %next = arith.maximumf %max, %here : tensor<1x{tr}x1xf32>
        %any = arith.cmpf une, %next, %never : tensor<1x{tr}x1xf32>
        %shift = arith.select %any, %next, %nothing : tensor<1x{tr}x1xi1>, tensor<1x{tr}x1xf32>
        %shifts = tile.broadcast %shift : tensor<1x{tr}x1xf32> -> tensor<1x{tr}x{tk}xf32>
        %below = arith.subf %{logits}, %shifts : tensor<1x{tr}x{tk}xf32>
        %weights = math.{exp} %below : tensor<1x{tr}x{tk}xf32>
        %more = tile.reduce <sum> %weights dim 2 : tensor<1x{tr}x{tk}xf32> -> tensor<1x{tr}x1xf32>
        %fall = arith.subf %max, %shift : tensor<1x{tr}x1xf32>
        %worth = math.{exp} %fall : tensor<1x{tr}x1xf32>
        %kept = arith.mulf %sum, %worth : tensor<1x{tr}x1xf32>
        %total = arith.addf %kept, %more : tensor<1x{tr}x1xf32>
        %worths = tile.broadcast %worth : tensor<1x{tr}x1xf32> -> tensor<1x{tr}x{th}xf32>
        %before = arith.mulf %mix, %worths : tensor<1x{tr}x{th}xf32>
        %shares = arith.{narrow} %weights : tensor<1x{tr}x{tk}xf32> to tensor<1x{tr}x{tk}x{r}>
        %mixed = tile.dot %shares, %w, %before{columns} : tensor<1x{tr}x{tk}x{r}>, tensor<1x{tk}x{th}x{t}>, tensor<1x{tr}x{th}xf32>
        scf.yield %next, %total, %mixed : tensor<1x{tr}x1xf32>, tensor<1x{tr}x1xf32>, tensor<1x{tr}x{th}xf32>
      }}
      {join}
      %d = tile.broadcast %last#1 : tensor<1x{tr}x1xf32> -> tensor<1x{tr}x{th}xf32>
      %share = arith.divf %last#2, %d : tensor<1x{tr}x{th}xf32>
      %some = arith.cmpf ogt, %last#1, %nothing : tensor<1x{tr}x1xf32>
      %someAll = tile.broadcast %some : tensor<1x{tr}x1xi1> -> tensor<1x{tr}x{th}xi1>
      %r = arith.select %someAll, %share, %zeroMix : tensor<1x{tr}x{th}xi1>, tensor<1x{tr}x{th}xf32>
      %h = arith.{narrow} %r : tensor<1x{tr}x{th}xf32> to tensor<1x{tr}x{th}x{r}>
      tile.store %h, %y[%b, %m, %c0] bounds (){symbols} -> ({batch}, {rows}, {head}) map (d0, d1, d2) -> (d0, d1, d2) : tensor<1x{tr}x{th}x{r}> -> {y}
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
        %w0 = math.{exp} %f0 : tensor<1x{tr}x1xf32>
        %w1 = math.{exp} %f1 : tensor<1x{tr}x1xf32>
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
/// Of so many heads the tiles of the last rows come first, which see most keys.
constexpr const char *orderedText = R"(%block = tile.program_id 0
      %p = tile.ordered_program %block rows () -> ({batch}) columns () -> ({blocks}) group {order}
      %m = tile.size (d0) -> ((-(d0 mod {blocks}) + {blocks} - 1) * {tr})(%p))";

constexpr const char *maximumText =
    R"(%here = tile.reduce <max> %z dim 2 : tensor<1x{tr}x{tk}xf32> -> tensor<1x{tr}x1xf32>)";
constexpr const char *maximumOfPowersText =
    R"(%largest = tile.reduce <max> %z dim 2 : tensor<1x{tr}x{tk}xf32> -> tensor<1x{tr}x1xf32>
        %log2e = arith.constant dense<1.44269504> : tensor<1x{tr}x1xf32>
        %log2es = arith.constant dense<1.44269504> : tensor<1x{tr}x{tk}xf32>
        %here = arith.mulf %largest, %log2e : tensor<1x{tr}x1xf32>
        %powers = arith.mulf %z, %log2es : tensor<1x{tr}x{tk}xf32>)";

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
  auto live = [&](const char *what) {
    return a.head < a.tileHead ? fmt::format(" {{live_{} = {} : i64}}", what, a.head) : "";
  };
  const char *exp = a.isPowersOfTwo ? "exp2" : "exp";
  CausalMask mask = a.mask.value_or(CausalMask{});
  auto fill = [&](const char *text, const std::string &inner = "") {
    return fmt::format(fmt::runtime(text), fmt::arg("tr", a.tileRows), fmt::arg("tk", a.tileKeys),
                       fmt::arg("th", a.tileHead), fmt::arg("t", type), fmt::arg("past", mask.past),
                       fmt::arg("window", mask.window), fmt::arg("symbols", symbols), fmt::arg("keys", keys),
                       fmt::arg("position", a.skips ? "o" : "n"), fmt::arg("last", a.skips ? "u" : "z"),
                       fmt::arg("from", a.skips ? "carried" : "masked"),
                       fmt::arg("shown", a.mask    ? "existing"
                                         : a.skips ? "u"
                                                   : "z"),
                       fmt::arg("inner", inner), fmt::arg("blocks", blocks), fmt::arg("batch", a.batch),
                       fmt::arg("order", a.order), fmt::arg("exp", exp),
                       fmt::arg("live", a.rows < a.tileRows ? fmt::format(" live [1, {}, {}]", a.rows, a.head) : ""));
  };
  std::string indices = fill(indicesText, a.mask ? fill(selectText) : "");
  return fmt::format(
      fmt::runtime(attentionText), fmt::arg("q", matrix(std::to_string(a.rows), a.batch)),
      fmt::arg("k", a.isTurned ? buffer(type, fmt::format("{}, {}, {}", a.batch, a.head, keys))
                               : matrix(keys, a.batch / a.sharing)),
      fmt::arg("v", matrix(keys, a.batch / a.sharing)),
      fmt::arg("y", buffer(typeText(a.resultType()), fmt::format("{}, {}, {}", a.batch, a.rows, a.head))),
      fmt::arg("r", typeText(a.resultType())), fmt::arg("qMap", mapOf(0, "d1", "d2")),
      fmt::arg("kMap", a.isTurned ? "d0, d1, d2" : mapOf(1, "d2", "d1")), fmt::arg("vMap", mapOf(2, "d1", "d2")),
      fmt::arg("loaded", a.isScaled ? "raw" : "a"), fmt::arg("program", fill(a.order > 1 ? orderedText : inTurnText)),
      fmt::arg("exp", exp), fmt::arg("logits", a.isPowersOfTwo ? "powers" : "z"),
      fmt::arg("maximum", fill(a.isPowersOfTwo ? maximumOfPowersText : maximumText)), fmt::arg("depth", live("depth")),
      fmt::arg("columns", live("columns")), fmt::arg("order", a.order),
      fmt::arg("queries", a.isScaled ? fill(scaledQueries) : ""),
      fmt::arg("bounds", fill(a.mask ? boundsText : allKeys)), fmt::arg("looped", a.parts > 1 ? "loop" : "last"),
      fmt::arg("join", a.parts > 1 ? fill(joinText) : ""),
      fmt::arg("parts", a.parts > 1 ? fmt::format(", parts = {}", a.parts) : ""),
      fmt::arg("indices", a.skips ? fill(skippedText, indices) : indices), fmt::arg("mask", buffer("f32", keys)),
      fmt::arg("argument", a.runTimeKeys ? ", %s0: index" : ""), fmt::arg("symbols", symbols),
      fmt::arg("narrow", a.resultType() == DType::F32 ? "bitcast" : "truncf"), // to its own type
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
                          {a.isWide, "_wide"},
                          {a.skips, "_skips"},
                          {a.order > 1, "_ordered"},
                          {a.isPowersOfTwo, "_powers"},
                          {a.isScaled, "_scaled"}})
    name += is ? word : "";
  name += a.parts > 1 ? fmt::format("_parts{}", a.parts) : "";
  return a.mask ? name + fmt::format("_causal{}_{}", a.mask->past, a.mask->window) : name;
}

DeviceCase attention(const Attention &a, std::string edge) {
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
               {a.resultType(), a.batch * a.rows * a.head}};
  if (a.runTimeKeys)
    c.scalars = {a.keys};
  c.expected = [a, specs = c.buffers, shares = std::make_shared<Shares>()](int64_t index) {
    return expectedOf(a, specs, index, *shares);
  };
  // Weights are rounded to halves before they are multiplied, and so is the result. Those of singles are off by what
  // their exponents are.
  c.tolerance = a.resultType() == DType::F32 ? 0x1p-19 : 3 * roundoff(a.type);
  c.small = a.rows * a.keys * a.head * a.batch <= 130 * 130 * 130;
  c.chainsTf32 = a.type == DType::F32;
  return c;
}

} // namespace tilewright::test
