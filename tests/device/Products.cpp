// SPDX-License-Identifier: Apache-2.0
// Contractions: types, operand layouts, prologues that prevent asynchronous copies, ragged edges in every dimension,
// and epilogues.
#include "tests/device/Products.h"

#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace tilewright::test {

static DType sumTypeOf(const Product &p) {
  return p.type == DType::F64 ? DType::F64 : p.type == DType::I8 ? DType::I32 : DType::F32;
}

static DType resultTypeOf(const Product &p) { return p.tail == Tail::Bias ? sumTypeOf(p) : p.type; }

static std::string nameOf(const Product &p) {
  constexpr const char *prefixes[] = {"product", "residual", "gelu", "rounded"};
  return fmt::format("{}_{}{}{}_{}x{}x{}_{}x{}x{}{}{}{}{}", prefixes[static_cast<int>(p.tail)], typeText(p.type),
                     p.unsignedA ? "_au" : "", p.unsignedB ? "_bu" : "", p.m, p.n, p.k, p.bm, p.bn, p.bk,
                     p.transposedA ? "_at" : "", p.transposedB ? "_bt" : "", p.prologue ? "_prologue" : "",
                     p.runTimeColumns ? "_sized" : "") +
         (p.groups ? fmt::format("_groups{}", p.groups) : "") + (p.parts > 1 ? fmt::format("_parts{}", p.parts) : "") +
         (p.clustered ? "_clustered" : "") + (p.constantB ? "_constant" : "") + (p.ofModel ? "_inputs" : "") +
         (p.streamed ? "_streamed" : "") + (p.filled ? "_filled" : "") +
         (p.lastColumns ? fmt::format("_last{}", p.lastColumns) : "") + (p.rounded ? "_tf32" : "");
}

/// Are programs numbered along x alone?
static bool isInOrder(const Product &p) { return p.groups || p.parts > 1; }

static const char *attributesOfRight(const Product &p) {
  if (p.ofModel && !p.constantB)
    return " {graph.input}";
  if (p.streamed)
    return p.constantB ? " {graph.constant, tile.streamed}" : " {tile.streamed}";
  return p.constantB ? " {graph.constant}" : "";
}

// A tile's columns are one strip or two; {i} is the strip's number.
constexpr const char *productHead = R"(
    tile.kernel @k(%a: {a}{input}, %b: {b}{constant}, %r: {r}, %y: {y}{argument})
        attributes {{grid = affine_map<(){symbols} -> ({grid}, 1)>,
                     schedule = #tile.schedule<matmul, tile = [{bm}, {bn}], reduce = [{bk}], warps = {warps}, stages = {stages}{groups}{parts}>}} {{
      {programs}
      %below = tile.size (d0) -> (d0 * {bm})(%py)
      %last = arith.constant {lastRow} : index
      %m = arith.minsi %below, %last : index
      %c0 = arith.constant 0 : index
      %ck = arith.constant {depth} : index
      %step = arith.constant {bk} : index)";

constexpr const char *stripHead = R"(
      %n{i} = tile.size (d0) -> (d0 * {bn} + {start})(%px)
      %zero{i} = arith.constant dense<{zero}> : {tc})";

constexpr const char *productLoop = R"(
      %acc:{sumsOfTile} = scf.for %k = %c0 to %ck step %step iter_args({carried}) -> ({sums}) {{
        %x = tile.load %a[%m, %k] bounds (){symbols} -> ({rows}, {depth}) map (d0, d1) -> ({mapA}) : {a} -> {ta}
        {prologue})";

constexpr const char *stripStep = R"(
        %w{i} = tile.load %b[%k, %n{i}] bounds (){symbols} -> ({depth}, {columns}) map (d0, d1) -> ({mapB}) : {b} -> {tb}
        %d{i} = tile.dot %{lhs}, %w{i}, %sums{i} {signs} : {ta}, {tb}, {tc})";

constexpr const char *productYield = R"(
        scf.yield {yielded} : {sums}
      }})";

constexpr const char *programsOfTwo = "%px = tile.program_id 0\n      %py = tile.program_id 1";

/// Numbered along x alone, down two rows at a time.
static std::string programsInOrder(int64_t gridX, int64_t gridY) {
  return fmt::format(R"(%p = tile.program_id 0
      %q = tile.ordered_program %p rows () -> ({1}) columns () -> ({0}) group 2
      %px = tile.size (d0) -> (d0 mod {0})(%q)
      %py = tile.size (d0) -> (d0 floordiv {0})(%q))",
                     gridX, gridY);
}

constexpr const char *biasTerm = R"(
      %bv{i} = tile.load %r[%c0, %n{i}] bounds (){symbols} -> (1, {columns}) map (d0, d1) -> (d1) : {r} -> {tr}
      %bb{i} = tile.broadcast %bv{i} : {tr} -> {tc}
      %total{i} = arith.{add} %acc#{i}, %bb{i} : {tc})";

// What becomes of the sums, by Tail.
constexpr const char *tails[] = {
    /*Bias*/ R"(
      tile.store %total{i}, %y[%m, %n{i}] bounds (){symbols} -> ({rows}, {columns}) map (d0, d1) -> (d0, d1) : {tc} -> {y})",
    /*Residual*/ R"(
      %rv{i} = tile.load %r[%m, %n{i}] bounds (){symbols} -> ({rows}, {columns}) map (d0, d1) -> (d0, d1) : {r} -> {tr}
      %wide{i} = arith.{widen} %rv{i} : {tr} to {tc}
      %total{i} = arith.addf %acc#{i}, %wide{i} : {tc}
      %h{i} = arith.{narrow} %total{i} : {tc} to {tr}
      tile.store %h{i}, %y[%m, %n{i}] bounds (){symbols} -> ({rows}, {columns}) map (d0, d1) -> (d0, d1) : {tr} -> {y})",
    /*Gelu*/ R"(
      %root{i} = arith.constant dense<0.70710678> : {tc}
      %half{i} = arith.constant dense<0.5> : {tc}
      %scaled{i} = arith.mulf %total{i}, %root{i} : {tc}
      %erf{i} = math.erf %scaled{i} : {tc}
      %portion{i} = arith.mulf %total{i}, %half{i} : {tc}
      %g{i} = math.fma %portion{i}, %erf{i}, %portion{i} : {tc}
      %h{i} = arith.{narrow} %g{i} : {tc} to {ty}
      tile.store %h{i}, %y[%m, %n{i}] bounds (){symbols} -> ({rows}, {columns}) map (d0, d1) -> (d0, d1) : {ty} -> {y})",
    /*Rounded*/ R"(
      %h{i} = arith.{narrow} %total{i} : {tc} to {ty}
      tile.store %h{i}, %y[%m, %n{i}] bounds (){symbols} -> ({rows}, {columns}) map (d0, d1) -> (d0, d1) : {ty} -> {y})",
};

static std::string tileText(int64_t first, int64_t second, const std::string &type) {
  return fmt::format("tensor<{}x{}x{}>", first, second, type);
}

/// Names of the strips' values, or their types, in a list.
static std::string listOfStrips(size_t count, const std::function<std::string(size_t)> &text) {
  std::string list;
  for (size_t i = 0; i < count; ++i)
    list += (i ? ", " : "") + text(i);
  return list;
}

static std::string kernelText(const Product &p, int64_t gridX, int64_t gridY) {
  bool residual = p.tail == Tail::Residual, bytes = p.type == DType::I8;
  std::string text = typeText(p.type), sum = typeText(sumTypeOf(p));
  std::string symbols = p.runTimeColumns ? "[s0]" : "", columns = p.runTimeColumns ? "s0" : std::to_string(p.n);
  std::string rows = std::to_string(p.m), depth = std::to_string(p.k);
  auto buffer = [&](const std::string &type, const std::string &sizes) {
    return fmt::format("!tile.buffer<{}, (){} -> ({})>", type, symbols, sizes);
  };
  auto matrix = [&](const std::string &type, const std::string &first, const std::string &second, bool transposed) {
    return buffer(type, transposed ? second + ", " + first : first + ", " + second);
  };
  std::vector<int64_t> widths = {p.bn - p.lastColumns};
  if (p.lastColumns)
    widths.push_back(p.lastColumns);
  auto sumsOf = [&](size_t i) { return tileText(p.bm, widths[i], sum); };
  std::string y = matrix(typeText(resultTypeOf(p)), rows, columns, false);
  auto format = [&](const std::string &template_, size_t i) {
    return fmt::format(
        fmt::runtime(template_), fmt::arg("i", i), fmt::arg("a", matrix(text, rows, depth, p.transposedA)),
        fmt::arg("b", matrix(text, depth, columns, p.transposedB)), fmt::arg("r", residual ? y : buffer(sum, columns)),
        fmt::arg("y", y), fmt::arg("argument", p.runTimeColumns ? ", %s0: index" : ""), fmt::arg("symbols", symbols),
        fmt::arg("grid", isInOrder(p) ? fmt::format("{}, 1", gridX * gridY) : fmt::format("{}, {}", gridX, gridY)),
        fmt::arg("lastRow", p.filled ? p.m - p.bm : p.m), fmt::arg("constant", attributesOfRight(p)),
        fmt::arg("input", p.ofModel ? " {graph.input}" : ""),
        fmt::arg("groups", p.groups ? fmt::format(", groups = {}", p.groups) : ""),
        fmt::arg("parts",
                 p.parts > 1 ? fmt::format(", parts = {}{}", p.parts, p.clustered ? ", clustered = true" : "") : ""),
        fmt::arg("programs", isInOrder(p) ? programsInOrder(gridX, gridY) : programsOfTwo), fmt::arg("bm", p.bm),
        fmt::arg("bn", p.bn), fmt::arg("bk", p.bk), fmt::arg("warps", p.warps), fmt::arg("stages", p.stages),
        fmt::arg("rows", rows), fmt::arg("columns", columns), fmt::arg("depth", depth),
        fmt::arg("mapA", p.transposedA ? "d1, d0" : "d0, d1"), fmt::arg("mapB", p.transposedB ? "d1, d0" : "d0, d1"),
        fmt::arg("prologue", p.prologue ? fmt::format("%x2 = arith.addf %x, %x : {}", tileText(p.bm, p.bk, text)) : ""),
        fmt::arg("widen", p.type == DType::F32 ? "bitcast" : "extf"), // to its own type
        fmt::arg("narrow", p.type == DType::F32 ? "bitcast" : "truncf"), fmt::arg("add", bytes ? "addi" : "addf"),
        fmt::arg("zero", bytes ? "0" : "0.0"),
        fmt::arg("signs", p.unsignedA && p.unsignedB ? "{lhs_unsigned, rhs_unsigned}"
                          : p.unsignedA              ? "{lhs_unsigned}"
                          : p.unsignedB              ? "{rhs_unsigned}"
                                                     : ""),
        fmt::arg("lhs", p.prologue ? "x2" : "x"), fmt::arg("ta", tileText(p.bm, p.bk, text)),
        fmt::arg("start", i ? widths[0] : 0), fmt::arg("tb", tileText(p.bk, widths[i], text)),
        fmt::arg("tc", sumsOf(i)), fmt::arg("ty", tileText(p.bm, widths[i], text)),
        fmt::arg("tr", residual ? tileText(p.bm, widths[i], text) : tileText(1, widths[i], sum)),
        fmt::arg("sumsOfTile", widths.size()), fmt::arg("sums", listOfStrips(widths.size(), sumsOf)),
        fmt::arg("carried",
                 listOfStrips(widths.size(), [](size_t strip) { return fmt::format("%sums{0} = %zero{0}", strip); })),
        fmt::arg("yielded", listOfStrips(widths.size(), [](size_t strip) { return fmt::format("%d{}", strip); })));
  };
  std::string kernel = format(productHead, 0);
  auto addStrips = [&](const std::string &template_) {
    for (size_t i = 0; i < widths.size(); ++i)
      kernel += format(template_, i);
  };
  addStrips(stripHead);
  kernel += format(productLoop, 0);
  addStrips(stripStep);
  kernel += format(productYield, 0);
  addStrips((residual ? "" : biasTerm) + std::string(tails[static_cast<int>(p.tail)]));
  return kernel + "\n      tile.return\n    }";
}

/// Rounding to the result's type, plus that of the sums, which grows with the square root of their length. What GELU,
/// whose derivative is at most 1.13, is computed of may be rounded to halves too.
static double toleranceOf(const Product &p) {
  if (p.type == DType::I8)
    return 0;
  bool isHeld = p.tail == Tail::Gelu && p.groups == 1 && elementBytes(p.type) == 2;
  double tolerance = (isHeld ? 1.13 * roundoff(p.type) : 0) + (p.tail == Tail::Bias ? 0 : roundoff(p.type)) +
                     (p.type == DType::F64 ? 0x1p-50 : 0x1p-20) * std::sqrt(double(p.k) + 1);
  if (elementBytes(p.type) == 2 || p.rounded) // matrix units truncate sums: errors of one sign, which add up
    tolerance += 0x1p-24 * double(p.k);
  return tolerance;
}

DeviceCase product(const Product &p, std::string edge) {
  constexpr int64_t widestOfAll = 256;
  bool residual = p.tail == Tail::Residual;
  DeviceCase c{.name = nameOf(p),
               .family = "matmul",
               .layout = p.runTimeColumns ? "run-time sizes"
                                          : fmt::format("{}{}", p.transposedA ? "T" : "N", p.transposedB ? "T" : "N"),
               .edge = std::move(edge),
               .type = p.type};
  c.grid = {(p.n + p.bn - 1) / p.bn, (p.m + p.bm - 1) / p.bm, 1};
  c.kernel = kernelText(p, c.grid[0], c.grid[1]);
  if (p.rounded)
    c.kernel = "module attributes {tile.matmul_precision = \"tf32\"} {" + c.kernel + "}";
  c.roundsTf32 = p.rounded, c.takesWideTiles = p.bn > widestOfAll;
  if (isInOrder(p))
    c.grid = {c.grid[0] * c.grid[1], 1, 1};
  DType yType = resultTypeOf(p);
  c.buffers = {{p.type, p.m * p.k},
               {p.type, p.k * p.n},
               {residual ? yType : sumTypeOf(p), residual ? p.m * p.n : p.n},
               {yType, p.m * p.n}};
  if (p.runTimeColumns)
    c.scalars = {p.n};
  c.expected = [p, residual, specs = c.buffers](int64_t index) {
    int64_t i = index / p.n, j = index % p.n;
    double total = 0;
    auto read = [&](double value, bool isUnsigned) {
      return p.rounded ? roundedToTf32(value) : isUnsigned && value < 0 ? value + 256 : value;
    };
    for (int64_t k = 0; k < p.k; ++k)
      total += read(inputValue(specs[0], 0, p.transposedA ? k * p.m + i : i * p.k + k), p.unsignedA) *
               read(inputValue(specs[1], 1, p.transposedB ? j * p.k + k : k * p.n + j), p.unsignedB);
    total = (p.prologue ? 2 : 1) * total + inputValue(specs[2], 2, residual ? index : j);
    return p.tail == Tail::Gelu ? total / 2 * (1 + std::erf(total * std::sqrt(0.5))) : total;
  };
  c.tolerance = toleranceOf(p);
  c.small = p.m * p.n * p.k <= 150 * 150 * 150;
  return c;
}

/// Bytes: instructions of one warp and of four, signed and unsigned on either side, and operands that are contiguous
/// along k in memory or not.
static void addByteCases(std::vector<DeviceCase> &cases) {
  for (bool at : {false, true})
    for (bool bt : {false, true})
      for (int signs : {0, 1, 3}) {
        if (signs != 1 && (at || bt))
          continue;
        auto bytes = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t bk, int64_t warps,
                         int64_t stages, const char *edge) {
          Product p{DType::I8, m, n, k, bm, bn, bk, warps, stages, at, bt};
          p.unsignedA = signs & 1, p.unsignedB = signs & 2;
          cases.push_back(product(p, edge));
        };
        bytes(64, 64, 128, 64, 64, 64, 4, 3, "power of two");
        bytes(61, 67, 71, 64, 64, 32, 4, 3, "prime");
        bytes(64, 64, 128, 64, 64, 128, 4, 4, "power of two");
        bytes(80, 96, 272, 64, 64, 128, 4, 4, "multiple of 16");
        bytes(61, 67, 331, 64, 64, 128, 4, 4, "prime");
        bytes(33, 40, 20, 16, 32, 16, 2, 2, "multiple of 4"); // multiply-add
        if (signs == 1) {
          bytes(1024, 768, 512, 128, 128, 128, 8, 4, "power of two");
          bytes(257, 1021, 768, 256, 128, 128, 8, 4, "prime");
        }
      }
}

static void addHalfCases(std::vector<DeviceCase> &cases) {
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
        // Steps of 64 k, as instructions need that read shared memory directly (wgmma): one step, then pipelines in
        // which the products of two steps overlap, with a warpgroup's part in one panel or several, and operands that
        // pass through registers.
        cases.push_back(product({type, 64, 64, 64, 64, 64, 64, 4, 4, at, bt}, "power of two"));
        cases.push_back(product({type, 61, 67, 331, 64, 64, 64, 4, 4, at, bt}, "prime"));
        cases.push_back(
            product({type, 64, 72, 520, 64, 64, 64, 4, 4, at, bt}, "multiple of 8")); // slots are reused twice
        cases.push_back(product({type, 96, 248, 56, 64, 256, 64, 4, 4, at, bt}, "multiple of 8"));
        cases.push_back(product({type, 250, 120, 64, 256, 128, 64, 8, 4, at, bt}, "power of two"));
        cases.push_back(product({type, 96, 248, 136, 64, 128, 64, 8, 4, at, bt}, "multiple of 8"));
        cases.push_back(product({type, 129, 65, 321, 128, 128, 64, 8, 5, at, bt}, "beside a power of two"));
        cases.push_back(product({type, 72, 64, 448, 64, 64, 128, 4, 4, at, bt, true}, "multiple of 8"));
        cases.push_back(product({type, 1000, 1032, 520, 128, 128, 64, 8, 4, at, bt}, "multiple of 8"));
      }
}

static void addSmallestCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    cases.push_back(product({type, 1, 64, 64, 16, 64, 32, 2, 2}, "size 1"));
    cases.push_back(product({type, 64, 1, 33, 32, 32, 32, 2, 2}, "size 1"));
    cases.push_back(product({type, 33, 40, 1, 32, 32, 16, 2, 2}, "size 1"));
    cases.push_back(product({type, 16, 24, 0, 32, 32, 16, 2, 2}, "size 0"));
    cases.push_back(product({type, 32, 32, 16, 32, 32, 16, 2, 3}, "power of two"));
    cases.push_back(product({type, 17, 37, 47, 16, 32, 16, 2, 2}, "prime"));
  }
}

static void addMultiplyAddCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F32, DType::F64})
    for (bool at : {false, true})
      for (bool bt : {false, true}) {
        cases.push_back(product({type, 64, 64, 64, 64, 64, 16, 4, 2, at, bt}, "power of two"));
        cases.push_back(product({type, 50, 61, 37, 32, 64, 16, 4, 3, at, bt}, "prime"));
        cases.push_back(product({type, 300, 200, 129, 64, 64, 16, 4, 3, at, bt}, "beside a power of two"));
        cases.push_back(product({type, 40, 33, 100, 16, 32, 64, 1, 2, at, bt}, "beside a power of two"));
      }
}

static void addResidualCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16})
    for (bool sized : {false, true}) {
      auto residual = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t bk, int64_t warps,
                          const char *edge) {
        Product p{type, m, n, k, bm, bn, bk, warps, 4};
        p.tail = Tail::Residual, p.runTimeColumns = sized;
        cases.push_back(product(p, edge));
      };
      residual(64, 64, 64, 64, 64, 64, 4, "power of two");
      residual(100, 200, 72, 64, 128, 32, 4, "multiple of 8");
      residual(130, 120, 136, 128, 64, 64, 8, "multiple of 8");
      residual(61, 131, 67, 64, 64, 64, 4, "prime");
      residual(65, 65, 64, 16, 32, 32, 2, "beside a power of two");
      residual(1000, 1016, 520, 128, 128, 64, 8, "multiple of 8");
    }
}

/// Warps that copy beside one or two groups that multiply: one program a block and several, fewer and more steps than
/// slots, ragged edges, operands in panels, epilogues that load, one step and none.
static void addRoleCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16, DType::I8})
    for (bool at : {false, true})
      for (bool bt : {false, true}) {
        if (type == DType::I8 && (at || !bt)) // bytes are copied along k alone
          continue;
        auto roles = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t warps, int64_t stages,
                         int64_t groups, const char *edge) {
          Product p{type, m, n, k, bm, bn, type == DType::I8 ? 128 : 64, warps, stages, at, bt};
          p.groups = groups;
          cases.push_back(product(p, edge));
        };
        roles(64, 64, 64, 64, 64, 4, 2, 1, "power of two");
        roles(64, 64, 640, 64, 64, 4, 3, 1, "power of two");
        roles(136, 72, 328 / 16 * 16, 64, 64, 4, 4, 2, "multiple of 8");
        roles(112, 144, 176, 128, 128, 8, 3, 1, "multiple of 8");
        roles(136, 264, 96, 128, 128, 4, 2, 2, "multiple of 8");
        roles(200, 136, 80, 64, 128, 4, 2, 2, "multiple of 8");
        roles(1000, 3080, 512, 128, 128, 8, 5, 1, "multiple of 8");
        roles(2056, 2048, 192, 128, 128, 4, 5, 2, "multiple of 8");
        roles(512, 1032, 1040, 128, 256, 8, 4, 1, "multiple of 8");
        if (type != DType::I8 && !at && bt) { // what lies along the sum may have any number of columns
          roles(136, 75, 328, 64, 64, 4, 4, 2, "prime");
          roles(129, 257, 520, 128, 128, 8, 5, 1, "beside a power of two");
          roles(72, 318, 136, 64, 128, 4, 3, 2, "multiple of 2"); // rows that begin at multiples of 4 and 8 bytes
          roles(136, 188, 72, 128, 128, 4, 3, 2, "multiple of 4");
          roles(1000, 3081, 512, 128, 256, 8, 4, 1, "odd");
        }
      }
  for (DType type : {DType::F16, DType::BF16})
    for (int64_t groups : {1, 2}) {
      Product p{type, 120, 200, 136, 64, 128, 64, 4, 3};
      p.tail = Tail::Residual, p.groups = groups;
      cases.push_back(product(p, "multiple of 8"));
      p.k = 0;
      cases.push_back(product(p, "size 0"));
      for (int64_t rows : {1000, 4360}) { // the second has several tiles a block, whose results the engine stores
        p = {type, rows, 1016, 520, 128, 128, 64, 4, 4};
        p.tail = Tail::Residual, p.groups = groups;
        cases.push_back(product(p, "multiple of 8"));
      }
    }
}

/// The same for singles, which roles split: right sides in registers from rows along either dimension, one and several
/// groups of warps, sums that programs share; left sides that run across k, or in few programs, have no roles.
static void addSingleRoleCases(std::vector<DeviceCase> &cases) {
  for (bool bt : {false, true}) {
    auto roles = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t warps, int64_t stages, Tail tail,
                     const char *edge) {
      Product p{DType::F32, m, n, k, bm, bn, 32, warps, stages, false, bt};
      p.tail = tail, p.groups = 1;
      cases.push_back(product(p, edge));
    };
    roles(64, 64, 64, 64, 64, 4, 2, Tail::Bias, "power of two");
    roles(64, 64, 320, 64, 64, 4, 3, Tail::Gelu, "power of two");
    roles(68, 132, 36, 64, 64, 4, 4, Tail::Bias, "multiple of 4");
    roles(112, 136, 180, 64, 128, 4, 3, Tail::Residual, "multiple of 4");
    roles(100, 200, 96, 128, 64, 8, 4, Tail::Residual, "multiple of 4");
    roles(132, 140, 292, 128, 128, 8, 3, Tail::Bias, "multiple of 4");
    roles(1000, 3080, 512, 128, 128, 8, 5, Tail::Bias, "multiple of 8");
    roles(512, 1028, 1040, 64, 128, 4, 6, Tail::Gelu, "multiple of 4");
    for (int64_t parts : {2, 5}) {
      Product p{DType::F32, 72, 140, 640, 64, 64, 32, 4, 4, false, bt};
      p.groups = 1, p.parts = parts, p.tail = Tail::Residual;
      cases.push_back(product(p, "multiple of 4"));
    }
  }
  Product across{DType::F32, 72, 132, 136, 64, 64, 32, 4, 3, /*transposedA=*/true};
  across.groups = 1;
  cases.push_back(product(across, "multiple of 4"));
  Product prime{DType::F32, 61, 67, 71, 64, 64, 32, 4, 3};
  prime.groups = 1;
  cases.push_back(product(prime, "prime"));
  Product sized{DType::F32, 100, 200, 96, 64, 128, 32, 4, 4};
  sized.groups = 1, sized.runTimeColumns = true, sized.transposedB = true;
  cases.push_back(product(sized, "multiple of 4"));
}

/// Singles that the copy engine rounds, in the tiles of halves: as many steps as slots and more, two groups, strips,
/// sums that programs share, right sides that are constant.
static void addRoundedCases(std::vector<DeviceCase> &cases) {
  auto roles = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t warps, int64_t stages,
                   int64_t groups, int64_t parts, Tail tail) {
    Product p{DType::F32, m, n, k, bm, bn, 32, warps, stages, /*transposedA=*/false, /*transposedB=*/true};
    p.groups = groups, p.parts = parts, p.tail = tail, p.rounded = true;
    p.constantB = tail == Tail::Gelu, p.lastColumns = bn == 192 || bn == 320 ? 64 : 0;
    cases.push_back(product(p, "multiple of 4"));
  };
  roles(64, 64, 64, 64, 64, 4, 2, 1, 1, Tail::Bias);
  roles(68, 132, 292, 64, 64, 4, 3, 2, 1, Tail::Residual);
  roles(132, 140, 180, 128, 128, 4, 3, 2, 1, Tail::Gelu);
  roles(72, 236, 136, 64, 192, 4, 3, 1, 1, Tail::Residual);
  roles(72, 652, 136, 64, 320, 4, 3, 2, 1, Tail::Residual);
  roles(72, 140, 640, 64, 64, 4, 4, 1, 5, Tail::Bias);
  roles(1000, 1540, 512, 128, 256, 8, 4, 1, 1, Tail::Bias);
  roles(2056, 2052, 192, 128, 128, 4, 5, 2, 1, Tail::Gelu);
  roles(136, 139, 136, 64, 64, 4, 3, 2, 1, Tail::Bias);
  roles(72, 142, 136, 64, 128, 4, 3, 1, 1, Tail::Residual);
}

/// Right sides that are copied before the wait for other kernels: fewer steps than slots, more, several programs a
/// block, blocks without one, sums that programs share.
static void addConstantCases(std::vector<DeviceCase> &cases) {
  auto constants = [&](int64_t m, int64_t n, int64_t k, int64_t groups, int64_t parts) {
    Product p{DType::F16, m, n, k, 64, 64, 64, 4, 3};
    p.groups = groups, p.parts = parts, p.constantB = true, p.tail = Tail::Gelu;
    cases.push_back(product(p, "multiple of 8"));
  };
  constants(64, 64, 64, 1, 1);
  constants(72, 136, 136, 1, 1);
  constants(64, 200, 456, 1, 1);
  constants(136, 200, 328, 2, 1);
  constants(72, 136, 512, 1, 4);
  constants(512, 3072, 768, 1, 1);
}

/// Tiles whose columns are two strips: with roles and without, whole and ragged, the last strip beyond the end. Strips
/// of fewer than 64 columns have rows of 64 and 32 bytes unless the right side runs along the sum.
static void addStripCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16})
    for (bool bt : {false, true})
      for (int64_t groups : {0, 1, 2}) {
        auto strips = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t warps, Tail tail, const char *edge,
                          int64_t bn = 192) {
          Product p{type, m, n, k, bm, bn, 64, warps, 2, false, bt};
          p.tail = tail, p.groups = groups, p.lastColumns = bn & -bn, p.streamed = groups == 2 && type == DType::F16;
          p.filled = groups == 2 && m > bm;
          cases.push_back(product(p, edge));
        };
        strips(64, 192, 64, 64, 4, Tail::Bias, "power of two");
        strips(72, 232, 136, 64, 4, Tail::Residual, "multiple of 8");
        strips(72, 317, 136, 64, 4, Tail::Residual, "prime");
        strips(128, 384, 200, 128, 8, Tail::Residual, "multiple of 8");
        strips(61, 331, 67, 64, 4, Tail::Bias, "prime");
        strips(1000, 1096, 520, 64, 4, Tail::Residual, "multiple of 8");
        strips(2056, 776, 256, 128, 8, Tail::Bias, "multiple of 8");
        if (groups > 0) {
          strips(72, 328, 136, 64, 4, Tail::Residual, "multiple of 8", 320);
          strips(1000, 1288, 520, 64, 4, Tail::Residual, "multiple of 8", 320);
          strips(72, 168, 136, 64, 4, Tail::Residual, "multiple of 8", 160);
          strips(200, 104, 328, 128, 4, Tail::Gelu, "multiple of 8", 96);
          strips(136, 88, 200, 64, 4, Tail::Bias, "multiple of 8", 80);
          strips(1000, 1120, 520, 64, 4, Tail::Residual, "multiple of 8", 160);
        }
        if (groups == 1) { // two groups of eight warps have no registers for 160 sums
          strips(520, 640, 256, 128, 8, Tail::Gelu, "multiple of 8", 320);
          strips(2056, 960, 256, 128, 8, Tail::Residual, "multiple of 8", 160);
        }
      }
}

void addProductCases(std::vector<DeviceCase> &cases) {
  addByteCases(cases);
  addHalfCases(cases);
  addSmallestCases(cases);
  addMultiplyAddCases(cases);
  cases.push_back(product({DType::F16, 3, 70000 * 16, 16, 16, 16, 16, 1, 2}, "over 65535 blocks"));
  addResidualCases(cases);
  addRoleCases(cases);
  addSingleRoleCases(cases);
  addRoundedCases(cases);
  addConstantCases(cases);
  addStripCases(cases);
}

} // namespace tilewright::test
