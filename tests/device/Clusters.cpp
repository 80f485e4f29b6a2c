// SPDX-License-Identifier: Apache-2.0
// Products whose blocks run in clusters and copy the columns that they share for each other: one program a block and
// several, fewer and more steps than slots, with one and two groups that multiply, ragged edges, tiles of two strips,
// constants that are copied before the wait for other kernels. The last ones have an odd number of rows of tiles, so that
// neighbours share nothing, and no clusters are made.
#include "tests/device/Products.h"

namespace tilewright::test {

static void addShapes(std::vector<DeviceCase> &cases, DType type, bool transposedB, int64_t groups, int64_t cluster) {
  auto add = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t warps, int64_t stages) {
    Product p{type, m, n, k, bm, bn, type == DType::I8 ? 128 : 64, warps, stages, false, transposedB};
    p.groups = groups, p.cluster = cluster, p.tail = type == DType::I8 ? Tail::Bias : Tail::Gelu;
    cases.push_back(product(p, "multiple of 8"));
  };
  add(64 * cluster, 64, 64, 64, 64, 4, 2);
  add(64 * cluster - 8, 144, 448, 64, 64, 4, 3);
  add(128 * cluster, 72, 208, 64, 64, 4, 4);
  add(1000, 3080, 512, 128, 128, 8 / groups, 5);
  add(2048, 2056, 1040, 128, 128, 8 / groups, 4);
}

void addClusterCases(std::vector<DeviceCase> &cases) {
  size_t first = cases.size();
  for (int64_t cluster : {2, 4})
    for (int64_t groups : {1, 2}) {
      for (DType type : {DType::F16, DType::BF16})
        for (bool transposedB : {false, true})
          addShapes(cases, type, transposedB, groups, cluster);
      addShapes(cases, DType::I8, true, groups, cluster);
      Product strips{DType::F16, 120 * cluster, 200, 328, 64, 192, 64, 4, 2};
      strips.groups = groups, strips.cluster = cluster, strips.lastColumns = 64, strips.tail = Tail::Residual;
      cases.push_back(product(strips, "multiple of 8"));
      Product constants{DType::F16, 128 * cluster, 200, 456, 64, 64, 64, 4, 3};
      constants.groups = groups, constants.cluster = cluster, constants.constantB = true;
      cases.push_back(product(constants, "multiple of 8"));
      Product odd{DType::F16, 136, 200, 328, 64, 64, 64, 4, 3};
      odd.groups = groups, odd.cluster = cluster;
      cases.push_back(product(odd, "multiple of 8"));
    }
  for (; first < cases.size(); ++first)
    cases[first].family = "clusters";
}

} // namespace tilewright::test
