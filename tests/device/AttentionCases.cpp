// SPDX-License-Identifier: Apache-2.0
// Which attentions are tried.
// Ragged rows, keys and heads, one block of keys and many, warps that multiply alone and in fours. With roles also
// loops whose bounds differ from program to program, shared heads of keys, operands that are slices of one product's
// result, keys that lie as columns, and queries that are computed. Causal masks and windows, under which the loop runs
// over the keys that count in some row of the tile, which may be none. More programs than blocks. Keys split among
// programs, into parts of equal length or not, some of them empty.
#include "tests/device/Attentions.h"

namespace tilewright::test {

constexpr int64_t wide = 1 << 20; // a window that leaves no key out

/// More programs than blocks, of different lengths: two rounds of blocks, and three.
static void addOrdered(std::vector<DeviceCase> &cases) {
  for (auto [batch, rows] : {std::pair<int64_t, int64_t>(48, 130), {140, 66}})
    cases.push_back(attention({.type = DType::F16,
                               .batch = batch,
                               .rows = rows,
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
                               .order = 5},
                              "multiple of 8"));
}

/// Two cases: of keys whose number is known, and of keys of which running tells.
static void addSized(Attention a, const char *edge, std::vector<DeviceCase> &cases) {
  for (bool sized : {false, true}) {
    a.runTimeKeys = sized;
    cases.push_back(attention(a, edge));
  }
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
  add(of(1, 67, 197, 64, 64, 128, 64, 3), "prime");
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
  with(of(2, 67, 131, 64, 64, 64, 64), [](Attention &a) { a.isWide = true; }, "prime");
  with(of(1, 140, 150, 128, 128, 128, 128), [](Attention &a) { a.isWide = true; }, "multiple of 8");
  with(
      of(1, 170, 190, 64, 64, 64, 64), [](Attention &a) { a.isWide = true, a.skips = true, a.mask = {0, wide}; },
      "multiple of 8");
  with(of(1, 170, 190, 64, 64, 64, 64), [](Attention &a) { a.mask = {0, 1000}; }, "multiple of 8");
  with(of(1, 170, 190, 64, 64, 64, 64), [](Attention &a) { a.mask = {0, 40}; }, "multiple of 8");
  with(of(2, 67, 131, 72, 64, 64, 128), [](Attention &a) { a.isPowersOfTwo = true; }, "prime");
  with(of(140, 64, 130, 40, 64, 64, 64), [](Attention &a) { a.isPowersOfTwo = true; }, "multiple of 8");
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

/// Singles have no roles, and half as many keys in shared memory.
static void addSingles(std::vector<DeviceCase> &cases) {
  auto add = [&](Attention a, const char *edge) {
    a.type = DType::F32, a.warps = a.tileRows / 16, a.stages = 2;
    addSized(a, edge, cases);
  };
  auto of = [](int64_t batch, int64_t rows, int64_t keys, int64_t head, int64_t tileRows, int64_t tileKeys,
               int64_t tileHead) {
    return Attention{DType::F32, batch, rows, keys, head, tileRows, tileKeys, tileHead, 0, 0};
  };
  auto with = [&](Attention a, auto change, const char *edge) { change(a), add(a, edge); };
  add(of(1, 64, 64, 64, 64, 64, 64), "power of two");
  add(of(2, 67, 131, 64, 64, 64, 64), "prime");
  add(of(1, 65, 129, 80, 64, 32, 128), "beside a power of two");
  add(of(3, 17, 61, 32, 16, 32, 32), "prime");
  add(of(1, 1, 257, 64, 16, 32, 64), "size 1");
  add(of(1, 40, 72, 96, 32, 16, 128), "multiple of 8");
  add(of(1, 64, 3, 64, 64, 64, 64), "prime");
  add(of(2, 1000, 1024, 64, 64, 64, 64), "multiple of 8");
  add(of(1, 512, 777, 256, 64, 16, 256), "prime");
  with(of(4, 67, 70, 64, 64, 64, 64), [](Attention &a) { a.sharing = 2; }, "prime");
  with(of(2, 67, 136, 64, 64, 64, 64), [](Attention &a) { a.isTurned = true; }, "multiple of 8");
  with(of(2, 67, 131, 64, 64, 64, 64), [](Attention &a) { a.isScaled = true; }, "prime");
  with(of(1, 129, 129, 64, 64, 32, 64), [](Attention &a) { a.mask = {0, 20}; }, "beside a power of two");
  with(of(2, 67, 131, 64, 64, 32, 64), [](Attention &a) { a.mask = {64, wide}, a.skips = true; }, "prime");
  with(of(2, 64, 256, 64, 64, 32, 64), [](Attention &a) { a.parts = 2; }, "power of two");
  with(of(2, 1, 320, 64, 16, 32, 64), [](Attention &a) { a.parts = 5; }, "size 1");
}

/// Weights that are singles, and values that are halves, without roles and in parts.
static void addWide(DType type, std::vector<DeviceCase> &cases) {
  auto add = [&](Attention a, int64_t parts, const char *edge) {
    a.warps = a.tileRows / 16, a.isWide = true, a.parts = parts;
    addSized(a, edge, cases);
  };
  add({type, 2, 64, 128, 64, 64, 64, 64, 0, 2}, 1, "power of two");
  add({type, 2, 67, 131, 64, 64, 32, 64, 0, 2}, 1, "prime");
  add({type, 2, 17, 61, 32, 16, 32, 32, 0, 2}, 1, "prime");
  add({type, 2, 1, 320, 64, 16, 64, 64, 0, 2}, 5, "size 1");
}

/// Warps that copy for themselves.
static void addPlain(DType type, std::vector<DeviceCase> &cases) {
  auto add = [&](int64_t batch, int64_t rows, int64_t keys, int64_t head, int64_t tileRows, int64_t tileKeys,
                 int64_t tileHead, int64_t warps, const char *edge, std::optional<CausalMask> mask = {},
                 bool skips = false) {
    Attention a{type, batch, rows, keys, head, tileRows, tileKeys, tileHead, warps, 2};
    a.mask = mask, a.skips = skips;
    addSized(a, edge, cases);
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
  addSized({.type = type,
            .batch = 2,
            .rows = 67,
            .keys = 131,
            .head = 72,
            .tileRows = 64,
            .tileKeys = 32,
            .tileHead = 128,
            .warps = 4,
            .stages = 2,
            .isPowersOfTwo = true},
           "prime", cases);
  add(2, 67, 131, 64, 64, 64, 64, 4, "prime", {}, true);
  add(2, 67, 131, 64, 64, 32, 64, 4, "prime", CausalMask{64, wide}, true);
  add(1, 129, 129, 64, 64, 32, 64, 4, "beside a power of two", CausalMask{0, 100}, true);
  add(1, 200, 72, 64, 64, 32, 64, 4, "multiple of 8", CausalMask{0, 30}, true);
  add(1, 130, 40, 32, 64, 32, 32, 4, "prime", CausalMask{-70, wide}, true);
}

void addAttentionCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16}) {
    addPlain(type, cases);
    addRoles(type, cases);
    addParts(type, cases);
    addWide(type, cases);
  }
  addSingles(cases);
  addOrdered(cases);
}

} // namespace tilewright::test
