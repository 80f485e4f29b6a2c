// SPDX-License-Identifier: Apache-2.0
// Products with weights of few bits: bytes of two, four or eight bits a number, which are shifted, masked, less a zero
// point and times a scale for each block of them.
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::test {
namespace {

struct StoredProduct {
  DType type;
  int64_t bits, block;
  int64_t m, n, k, bm, bn, bk, warps, stages, parts;
  const char *edge;

  int64_t together() const { return 8 / bits; } // numbers of a byte
  int64_t blocks() const { return (k + block - 1) / block; }
  bool isRagged() const { return k % bk != 0; }
};

constexpr StoredProduct products[] = {
    {DType::F16, 4, 32, 1, 64, 256, 16, 64, 128, 4, 4, 1, "size 1"},
    {DType::F16, 4, 32, 16, 128, 512, 16, 64, 128, 4, 4, 2, "power of two"},
    {DType::F16, 4, 16, 16, 64, 512, 16, 64, 128, 4, 4, 4, "power of two"},
    {DType::F16, 4, 64, 21, 72, 320, 32, 64, 64, 4, 4, 1, "multiple of 8"},
    {DType::F16, 4, 32, 61, 67, 134, 64, 64, 64, 4, 4, 1, "prime"},
    {DType::F16, 4, 32, 100, 72, 256, 128, 64, 64, 4, 4, 2, "multiple of 8"},
    {DType::F16, 4, 128, 130, 136, 256, 128, 128, 64, 4, 4, 1, "multiple of 8"},
    {DType::F16, 2, 32, 16, 64, 256, 16, 64, 128, 4, 4, 1, "power of two"},
    {DType::F16, 8, 32, 16, 64, 256, 16, 64, 128, 4, 4, 1, "power of two"},
    {DType::F16, 8, 32, 7, 33, 71, 16, 32, 32, 2, 3, 1, "prime"},
    {DType::BF16, 4, 32, 16, 64, 256, 16, 64, 128, 4, 4, 1, "power of two"},
    {DType::BF16, 2, 16, 61, 67, 134, 64, 64, 64, 4, 4, 1, "prime"},
    {DType::BF16, 8, 32, 16, 64, 256, 16, 64, 128, 4, 4, 2, "power of two"},
    {DType::F32, 4, 32, 16, 64, 256, 16, 64, 32, 2, 4, 1, "power of two"},
    {DType::F32, 8, 32, 61, 67, 71, 64, 64, 16, 4, 3, 1, "prime"},
    {DType::F16, 4, 32, 16, 1024, 2048, 16, 64, 128, 4, 4, 8, "power of two"},
    {DType::F16, 4, 32, 128, 512, 2048, 128, 64, 64, 4, 4, 4, "power of two"},
};

constexpr const char *kernel = R"(
    tile.kernel @k(%a: {a}, %b: {b} {{graph.constant}}, %z: {z} {{graph.constant}}, %s: {s} {{graph.constant}}, %y: {y})
        attributes {{grid = affine_map<() -> ({grid}, 1, 1)>,
                     schedule = #tile.schedule<matmul, tile = [{bm}, {bn}], reduce = [{bk}], warps = {warps}, stages = {stages}{parts}>}} {{
      %p = tile.program_id 0
      %px = tile.size (d0) -> (d0 mod {columns})(%p)
      %py = tile.size (d0) -> (d0 floordiv {columns})(%p)
      %m = tile.size (d0) -> (d0 * {bm})(%py)
      %n = tile.size (d0) -> (d0 * {bn})(%px)
      %c0 = arith.constant 0 : index
      %ck = arith.constant {k} : index
      %step = arith.constant {bk} : index
      %none = arith.constant dense<0.0> : {tc}
      %bits = arith.constant dense<{bits}> : tensor<{bk}x1xi32>
      %together = arith.constant dense<{together}> : tensor<{bk}x1xi32>
      %first = arith.constant dense<0> : tensor<{bk}x1xi32>
      %mask = arith.constant dense<{mask}> : {ti}
      %dead = arith.constant dense<0.0> : {tb}
      %acc = scf.for %k = %c0 to %ck step %step iter_args(%sum = %none) -> ({tc}) {{
        %x = tile.load %a[%m, %k] bounds () -> ({m}, {k}) map (d0, d1) -> (d0, d1) : {a} -> {ta}
        %bytes = tile.load %b[%k, %n] bounds () -> ({k}, {n}) map (d0, d1) -> (d0 floordiv {together}, d1) : {b} -> {t8}
        %words = arith.extui %bytes : {t8} to {ti}
        %at = tile.coordinate %k dim 0 : tensor<{bk}x1xi32>
        %place = arith.remui %at, %together : tensor<{bk}x1xi32>
        %by = arith.muli %place, %bits : tensor<{bk}x1xi32>
        %shift = tile.broadcast %by : tensor<{bk}x1xi32> -> {ti}
        %shifted = arith.shrui %words, %shift : {ti}
        %number = arith.andi %shifted, %mask : {ti}
        %q = arith.sitofp %number : {ti} to {tf}
        %zero = tile.load %z[%k, %n] bounds () -> ({k}, {n}) map (d0, d1) -> (d0 floordiv {block}, d1) : {z} -> {t8}
        %zf = arith.uitofp %zero : {t8} to {tf}
        %centered = arith.subf %q, %zf : {tf}
        %scale = tile.load %s[%k, %n] bounds () -> ({k}, {n}) map (d0, d1) -> (d0 floordiv {block}, d1) : {s} -> {tb}
        %wide = arith.{widen} %scale : {tb} to {tf}
        %scaled = arith.mulf %centered, %wide : {tf}
        %w = arith.{narrow} %scaled : {tf} to {tb}
        {live}
        %d = tile.dot %x, %{right}, %sum : {ta}, {tb}, {tc}
        scf.yield %d : {tc}
      }}
      %h = arith.{narrow} %acc : {tc} to {ty}
      tile.store %h, %y[%m, %n] bounds () -> ({m}, {n}) map (d0, d1) -> (d0, d1) : {ty} -> {y}
      tile.return
    }})";

/// Zeros beyond the last k: what is read there is some weight.
constexpr const char *liveRows = R"(%rest = tile.size (d0) -> (d0 - {k})(%k)
        %before = tile.coordinate %rest dim 0 : tensor<{bk}x1xi32>
        %isLive = arith.cmpi slt, %before, %first : tensor<{bk}x1xi32>
        %live = tile.broadcast %isLive : tensor<{bk}x1xi1> -> tensor<{bk}x{bn}xi1>
        %wl = arith.select %live, %w, %dead : tensor<{bk}x{bn}xi1>, {tb})";

std::string kernelText(const StoredProduct &p, int64_t columns, int64_t rows) {
  std::string text = typeText(p.type);
  auto buffer = [](const std::string &type, int64_t first, int64_t second) {
    return fmt::format("!tile.buffer<{}, () -> ({}, {})>", type, first, second);
  };
  auto tile = [](int64_t first, int64_t second, const std::string &type) {
    return fmt::format("tensor<{}x{}x{}>", first, second, type);
  };
  bool isSingle = p.type == DType::F32;
  std::string tb = tile(p.bk, p.bn, text);
  std::string live = p.isRagged() ? fmt::format(fmt::runtime(liveRows), fmt::arg("k", p.k), fmt::arg("bk", p.bk),
                                                fmt::arg("bn", p.bn), fmt::arg("tb", tb))
                                  : "";
  return fmt::format(
      fmt::runtime(kernel), fmt::arg("a", buffer(text, p.m, p.k)),
      fmt::arg("b", buffer("i8", (p.k + p.together() - 1) / p.together(), p.n)),
      fmt::arg("z", buffer("i8", p.blocks(), p.n)), fmt::arg("s", buffer(text, p.blocks(), p.n)),
      fmt::arg("y", buffer(text, p.m, p.n)), fmt::arg("grid", columns * rows), fmt::arg("columns", columns),
      fmt::arg("m", p.m), fmt::arg("n", p.n), fmt::arg("k", p.k), fmt::arg("bm", p.bm), fmt::arg("bn", p.bn),
      fmt::arg("bk", p.bk), fmt::arg("warps", p.warps), fmt::arg("stages", p.stages),
      fmt::arg("parts", p.parts > 1 ? fmt::format(", parts = {}", p.parts) : ""), fmt::arg("bits", p.bits),
      fmt::arg("together", p.together()), fmt::arg("mask", (1 << p.bits) - 1), fmt::arg("block", p.block),
      fmt::arg("live", live), fmt::arg("right", p.isRagged() ? "wl" : "w"), fmt::arg("ta", tile(p.bm, p.bk, text)),
      fmt::arg("tb", tb), fmt::arg("tc", tile(p.bm, p.bn, "f32")), fmt::arg("ty", tile(p.bm, p.bn, text)),
      fmt::arg("ti", tile(p.bk, p.bn, "i32")), fmt::arg("t8", tile(p.bk, p.bn, "i8")),
      fmt::arg("tf", tile(p.bk, p.bn, "f32")), fmt::arg("widen", isSingle ? "bitcast" : "extf"),
      fmt::arg("narrow", isSingle ? "bitcast" : "truncf"));
}

DeviceCase storedProduct(const StoredProduct &p) {
  DeviceCase c{.name = fmt::format("stored{}_{}_{}_{}x{}x{}_{}x{}x{}{}", p.bits, typeText(p.type), p.block, p.m, p.n,
                                   p.k, p.bm, p.bn, p.bk, p.parts > 1 ? fmt::format("_parts{}", p.parts) : ""),
               .family = "stored weights",
               .layout = fmt::format("{} bits", p.bits),
               .edge = p.edge,
               .type = p.type};
  int64_t columns = (p.n + p.bn - 1) / p.bn, rows = (p.m + p.bm - 1) / p.bm;
  c.grid = {columns * rows, 1, 1};
  c.kernel = kernelText(p, columns, rows);
  c.buffers = {{p.type, p.m * p.k},
               {DType::I8, (p.k + p.together() - 1) / p.together() * p.n},
               {DType::I8, p.blocks() * p.n, int64_t(1) << std::min<int64_t>(p.bits, 6)},
               {p.type, p.blocks() * p.n},
               {p.type, p.m * p.n}};
  c.expected = [p, specs = c.buffers](int64_t index) {
    int64_t i = index / p.n, j = index % p.n;
    double total = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      auto byte = static_cast<uint8_t>(static_cast<int64_t>(inputValue(specs[1], 1, k / p.together() * p.n + j)));
      double number = byte >> (k % p.together() * p.bits) & ((1 << p.bits) - 1),
             zero = inputValue(specs[2], 2, k / p.block * p.n + j),
             scale = inputValue(specs[3], 3, k / p.block * p.n + j);
      total += inputValue(specs[0], 0, i * p.k + k) * rounded(p.type, (number - zero) * scale);
    }
    return total;
  };
  // Weights reach 2^bits: the error of a sum grows with them.
  double weight = double(int64_t(1) << p.bits);
  c.tolerance = roundoff(p.type) * (p.type == DType::F32 ? 0 : 1) + weight * 0x1p-20 * std::sqrt(double(p.k) + 1) +
                (p.type == DType::F32 ? 0 : weight * 0x1p-24 * double(p.k));
  c.small = p.m * p.n * p.k <= 150 * 150 * 150;
  return c;
}

} // namespace

void addStoredWeightCases(std::vector<DeviceCase> &cases) {
  for (const StoredProduct &p : products)
    cases.push_back(storedProduct(p));
}

} // namespace tilewright::test
