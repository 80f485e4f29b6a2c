// SPDX-License-Identifier: Apache-2.0
// Contractions whose tiles are shared by several programs: few rows and many, steps that the parts divide evenly or
// not, fewer steps than parts, with and without warps that copy, with one block for each program or several. The same
// where the programs of a tile are a cluster: columns are cut, or rows where the columns of a share are in several
// warps; the last one has a tile that can't be cut, and meets in global memory.
#include "tests/device/Products.h"

namespace tilewright::test {

namespace {
struct Shape {
  int64_t m, n, k, bm, bn, bk, warps, parts;
  const char *edge;
};
constexpr Shape shapes[] = {
    {1, 64, 512, 16, 32, 32, 2, 2, "size 1"},
    {16, 64, 1024, 16, 64, 64, 4, 8, "power of two"},
    {16, 72, 520, 16, 64, 64, 4, 3, "multiple of 8"},
    {100, 72, 331, 64, 64, 32, 4, 4, "beside a power of two"},
    {100, 40, 64, 32, 64, 32, 4, 3, "multiple of 4"}, // a part without steps
    {128, 64, 192, 128, 64, 64, 4, 3, "power of two"},
    {61, 67, 71, 64, 64, 32, 4, 2, "prime"},
    {128, 768, 3072, 128, 64, 64, 4, 8, "power of two"},
    {512, 1024, 1536, 128, 128, 64, 8, 3, "power of two"},
};
} // namespace

/// Copies by the warps that multiply.
static void addPlainCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::I8})
    for (const Shape &s : shapes) {
      Product p{type, s.m, s.n, s.k, s.bm, s.bn, s.bk, s.warps, 3};
      p.parts = s.parts;
      if (type == DType::F32)
        p.bk = 16;
      p.tail = elementBytes(type) == 2 ? Tail::Gelu : Tail::Bias;
      p.transposedB = type == DType::I8;
      cases.push_back(product(p, s.edge));
    }
  for (bool at : {false, true})
    for (bool bt : {false, true}) {
      Product p{DType::F16, 130, 72, 448, 64, 64, 64, 4, 4, at, bt};
      p.parts = 4, p.prologue = at == bt;
      cases.push_back(product(p, "multiple of 8"));
    }
}

/// Copies by warps of their own. Steps must be divided evenly for them; the last case has others, and does without.
static void addRoleCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16})
    for (int64_t groups : {1, 2})
      for (int64_t parts : {2, 3, 4, 8}) {
        Product p{type, 120, 136, 64 * parts * (parts == 8 ? 1 : 3), 64, 64, 64, 4, 3};
        p.tail = Tail::Gelu, p.groups = groups, p.parts = parts;
        cases.push_back(product(p, "multiple of 8"));
      }
  for (int64_t groups : {1, 2}) {
    Product p{DType::F16, 512, 768, 3072, 128, 128, 64, groups == 2 ? 4 : 8, 4};
    p.groups = groups, p.parts = 6;
    cases.push_back(product(p, "multiple of 8"));
    p = {DType::F16, 72, 64, 320, 64, 64, 64, 4, 3};
    p.groups = groups, p.parts = 2;
    cases.push_back(product(p, "multiple of 8"));
  }
  Product bytes{DType::I8, 112, 144, 768, 64, 64, 128, 4, 3, false, true};
  bytes.groups = 1, bytes.parts = 3;
  cases.push_back(product(bytes, "multiple of 8"));
}

namespace {
struct ClusteredShape {
  int64_t m, n, k, bm, bn, bk, warps, parts;
  int64_t groups = 0, lastColumns = 0;
  const char *edge = "multiple of 8";
};
constexpr ClusteredShape clusteredShapes[] = {
    {16, 64, 512, 16, 64, 64, 4, 2},          // rows are cut: warps share out the columns
    {100, 72, 328, 64, 64, 64, 4, 4},         // without roles, with steps that the parts do not divide
    {100, 40, 64, 64, 64, 64, 4, 2},          // a part without steps
    {120, 136, 512, 64, 64, 64, 4, 2, 1},     // with roles
    {120, 136, 1024, 64, 64, 64, 4, 4, 1},    //
    {72, 200, 1024, 64, 64, 64, 4, 8, 1},     //
    {136, 264, 1024, 128, 128, 64, 8, 4, 1},  //
    {136, 72, 512, 128, 64, 64, 4, 2, 1},     //
    {72, 200, 512, 64, 192, 64, 4, 2, 1, 64}, // two strips
    {64, 64, 128, 64, 64, 64, 4, 2, 1, 0, "power of two"},
    {128, 768, 3072, 64, 64, 64, 4, 4, 1, 0, "power of two"},
    {512, 768, 3072, 128, 128, 64, 8, 4, 1, 0, "power of two"},
    {16, 64, 512, 16, 64, 64, 4, 8},
};
} // namespace

static void addClusteredCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::I8})
    for (Tail tail : {Tail::Bias, Tail::Residual, Tail::Gelu})
      for (const ClusteredShape &s : clusteredShapes) {
        if (elementBytes(type) != 2 && tail != Tail::Bias)
          continue;
        Product p{type, s.m, s.n, s.k, s.bm, s.bn, s.bk, s.warps, 3};
        p.parts = s.parts, p.clustered = true, p.groups = s.groups, p.lastColumns = s.lastColumns, p.tail = tail;
        if (type == DType::F32)
          p.bk = 32;
        p.transposedB = type == DType::I8;
        if (type == DType::I8 && s.groups)
          p.bk = 128;
        cases.push_back(product(p, s.edge));
      }
  for (int64_t columns : {72, 69}) { // which only running tells; no copy of 16 bytes brings rows of 69
    Product p{DType::F16, 48, columns, 456, 64, 64, 64, 4, 12};
    p.parts = 2, p.clustered = p.constantB = p.runTimeColumns = true;
    cases.push_back(product(p, columns % 8 ? "prime" : "multiple of 8"));
  }
}

void addSharedSumCases(std::vector<DeviceCase> &cases) {
  size_t first = cases.size();
  addPlainCases(cases);
  addRoleCases(cases);
  for (; first < cases.size(); ++first)
    cases[first].family = "shared sums";
  addClusteredCases(cases);
  for (; first < cases.size(); ++first)
    cases[first].family = "clustered sums";
}

} // namespace tilewright::test
