// SPDX-License-Identifier: Apache-2.0
// Products whose time is that of reading the right side once.
#include "tests/device/Products.h"

namespace tilewright::test {

/// Few rows times right sides that stream through the device. All warps copy, and a cluster may share a tile.
void addStreamedCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16}) {
    cases.push_back(product({type, 1, 264, 520, 16, 128, 64, 4, 6}, "size 1"));
    cases.push_back(product({type, 13, 200, 1032, 16, 64, 128, 4, 6}, "multiple of 8"));
    auto streamed = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t warps, int64_t stages,
                        int64_t blocks, Tail tail, int64_t bk = 64) {
      Product p{type, m, n, k, bm, bn, bk, warps, stages};
      p.parts = blocks, p.clustered = blocks > 1, p.tail = tail, p.constantB = p.streamed = true;
      cases.push_back(product(p, "multiple of 8"));
    };
    streamed(13, 264, 2056, 16, 64, 4, 6, 2, Tail::Residual, 128);
    streamed(48, 264, 2056, 64, 64, 4, 12, 2, Tail::Residual);
    streamed(56, 136, 1288, 64, 128, 4, 8, 2, Tail::Gelu);
    streamed(104, 200, 1032, 128, 64, 8, 8, 2, Tail::Residual);
    streamed(24, 264, 520, 64, 128, 4, 9, 1, Tail::Gelu);
    streamed(40, 520, 328, 64, 256, 4, 5, 1, Tail::Residual);
    streamed(72, 392, 456, 128, 128, 4, 6, 1, Tail::Residual);
    streamed(120, 776, 392, 128, 256, 8, 4, 1, Tail::Gelu);
  }
}

} // namespace tilewright::test
