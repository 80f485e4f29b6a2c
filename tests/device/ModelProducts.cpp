// SPDX-License-Identifier: Apache-2.0
// Products whose operands no kernel writes: right sides whose reading takes all the time, and first steps that blocks
// ask for ahead. And products whose first strip is stored while the second one is computed, or a tile while the next
// one is.
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

/// Operands that are inputs of the model, or constants, so that blocks ask for the first steps ahead: each layout, of
/// several types, with fewer elements than two steps have, and blocks that take several programs.
void addModelProductCases(std::vector<DeviceCase> &cases) {
  auto add = [&](Product p, const char *edge) {
    p.groups = 1, p.ofModel = true;
    cases.push_back(product(p, edge));
  };
  for (bool at : {false, true})
    for (bool bt : {false, true}) {
      add({DType::F16, 120, 120, 136, 64, 128, 64, 4, 3, at, bt}, "multiple of 8");
      add({DType::BF16, 56, 72, 72, 64, 64, 64, 4, 4, at, bt}, "multiple of 8");
      add({DType::F16, 512, 1032, 1040, 128, 256, 64, 8, 4, at, bt}, "multiple of 8");
    }
  add({DType::I8, 112, 48, 176, 64, 64, 128, 4, 3, false, true}, "multiple of 16");
  add({DType::F32, 100, 56, 96, 64, 64, 32, 4, 3, false, true}, "multiple of 4");
  add({DType::F16, 2056, 2048, 192, 128, 128, 64, 8, 4}, "multiple of 8");
  Product constant{DType::F16, 120, 120, 136, 64, 128, 64, 4, 3};
  constant.constantB = true;
  add(constant, "multiple of 8");
}

/// The first strip has half of the columns or fewer, in blocks that take one tile and several. The second strip may
/// have few columns in the last tile, or none.
void addFirstStripCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16})
    for (bool ofModel : {false, true}) {
      auto strips = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t warps, int64_t stages,
                        Tail tail, const char *edge, bool bt = false) {
        Product p{type, m, n, k, bm, bn, 64, warps, stages, false, bt};
        p.groups = 1, p.ofModel = ofModel, p.tail = tail;
        p.lastColumns = bn == 192 ? 128 : bn / 2;
        cases.push_back(product(p, edge));
      };
      strips(64, 128, 64, 64, 128, 4, 2, Tail::Bias, "power of two");
      strips(56, 72, 328, 64, 128, 4, 3, Tail::Residual, "multiple of 8");
      strips(56, 160, 328, 64, 128, 4, 2, Tail::Gelu, "multiple of 8", true);
      strips(120, 200, 200, 64, 192, 4, 3, Tail::Residual, "multiple of 8");
      strips(61, 131, 331, 64, 192, 4, 2, Tail::Bias, "prime", true);
      strips(120, 120, 200, 128, 128, 8, 3, Tail::Gelu, "multiple of 8");
      strips(120, 264, 136, 128, 256, 8, 2, Tail::Residual, "multiple of 8");
      strips(1024, 1024, 512, 64, 128, 4, 9, Tail::Bias, "power of two");
      strips(1000, 3064, 264, 128, 192, 8, 5, Tail::Gelu, "multiple of 8");
      strips(2056, 1024, 256, 128, 256, 8, 4, Tail::Residual, "multiple of 8");
    }
  for (Tail tail : {Tail::Bias, Tail::Gelu}) {
    Product p{DType::F32, 100, 140, 132, 64, 128, 32, 4, 3, /*transposedA=*/false, /*transposedB=*/true};
    p.groups = 1, p.rounded = true, p.tail = tail, p.lastColumns = 64;
    cases.push_back(product(p, "multiple of 4"));
  }
}

/// Blocks that take several tiles and store one in the steps of the next: as many steps as pieces and one more, and
/// many; sums of one strip and two; ragged edges. Functions of a piece take four steps.
void addLateStoreCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16})
    for (bool bt : {false, true}) {
      auto late = [&](int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t warps, int64_t stages,
                      Tail tail = Tail::Rounded) {
        Product p{type, m, n, k, bm, bn, 64, warps, stages, false, bt};
        p.groups = 1, p.tail = tail, p.lastColumns = bn == 192 ? 64 : 0;
        cases.push_back(product(p, "multiple of 8"));
      };
      late(200, 120, 136, 64, 64, 4, 3);
      late(104, 168, 192, 64, 128, 4, 2);
      late(136, 136, 120, 64, 128, 4, 3, Tail::Bias); // fewer steps than pieces: stored at once
      late(72, 136, 320, 64, 64, 4, 3, Tail::Bias);
      late(72, 200, 200, 64, 192, 4, 2);
      late(200, 72, 200, 128, 64, 8, 3);
      late(2056, 2056, 448, 128, 192, 8, 4);
      late(4104, 1544, 264, 128, 256, 8, 3);
      late(1000, 6152, 520, 128, 128, 8, 5);
      late(72, 136, 264, 64, 64, 4, 3, Tail::Gelu);
      late(264, 24, 520, 64, 128, 4, 2, Tail::Gelu); // nine steps and eight shares
      late(264, 24, 512, 64, 128, 4, 2, Tail::Gelu); // fewer steps than shares of pieces: computed and stored at once
      late(1000, 1000, 328, 64, 64, 4, 4, Tail::Gelu);
      late(2056, 1736, 776, 64, 192, 4, 4, Tail::Gelu);
      late(2056, 2056, 328, 128, 64, 8, 4, Tail::Gelu);
      late(2056, 2056, 1096, 128, 256, 8, 3, Tail::Gelu);
    }
}

} // namespace tilewright::test
