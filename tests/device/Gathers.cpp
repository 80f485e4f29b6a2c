// SPDX-License-Identifier: Apache-2.0
// Rows gathered at indices from data, which are checked; bad ones are reported and replaced by a valid one.
#include "tests/device/Cases.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::test {

static DeviceCase gather(DType type, int64_t picks, int64_t rows, int64_t columns, bool bad, std::string edge) {
  DeviceCase c{.name = fmt::format("gather_{}_{}of{}x{}{}", typeText(type), picks, rows, columns, bad ? "_bad" : ""),
               .family = "gather",
               .layout = "rows",
               .edge = std::move(edge),
               .type = type};
  std::string text = typeText(type), tile = fmt::format("tensor<8x64x{}>", text),
              table = fmt::format("!tile.buffer<{}, () -> ({}, {})>", text, rows, columns);
  std::string y = fmt::format("!tile.buffer<{}, () -> ({}, {})>", text, picks, columns);
  c.grid = {(columns + 63) / 64, (picks + 7) / 8, 1};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%ids: !tile.buffer<i64, () -> ({0})>, %t: {1}, %y: {2})
        attributes {{grid = affine_map<() -> ({3}, {4}, 1)>, schedule = #tile.schedule<pointwise, tile = [8, 64], warps = 2>}} {{
      %px = tile.program_id 0
      %py = tile.program_id 1
      %j = tile.size (d0) -> (d0 * 64)(%px)
      %i = tile.size (d0) -> (d0 * 8)(%py)
      %c0 = arith.constant 0 : index
      %id = tile.load %ids[%i, %c0] bounds () -> ({0}, 1) map (d0, d1) -> (d0) : !tile.buffer<i64, () -> ({0})> -> tensor<8x1xi64>
      %safe = tile.check %id[%i, %c0] bounds () -> ({0}, 1) below () -> ({5}) site 7 : tensor<8x1xi64>
      %wide = tile.broadcast %safe : tensor<8x1xi64> -> tensor<8x64xi64>
      %v = tile.load %t[%i, %j] at (%wide : tensor<8x64xi64>) bounds () -> ({0}, {6}) map (d0, d1, d2) -> (d2, d1) : {1} -> {7}
      tile.store %v, %y[%i, %j] bounds () -> ({0}, {6}) map (d0, d1) -> (d0, d1) : {7} -> {2}
      tile.return
    }})",
                         picks, table, y, c.grid[0], c.grid[1], rows, columns, tile);
  c.buffers = {{DType::I64, picks, bad ? rows + 3 : rows}, {type, rows * columns}, {type, picks * columns}};
  c.errorWord = bad ? 1ull << 32 | 7 : 0;
  c.expected = [specs = c.buffers, rows, columns](int64_t index) {
    auto row = std::min(int64_t(inputValue(specs[0], 0, index / columns)), rows - 1);
    return inputValue(specs[1], 1, row * columns + index % columns);
  };
  c.tolerance = 0;
  c.small = picks * columns < 5000;
  return c;
}

void addGatherCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::F32, DType::I64}) {
    cases.push_back(gather(type, 1, 1, 1, false, "size 1"));
    cases.push_back(gather(type, 8, 16, 64, false, "power of two"));
    cases.push_back(gather(type, 13, 101, 37, false, "prime"));
    cases.push_back(gather(type, 9, 129, 65, false, "beside a power of two"));
    cases.push_back(gather(type, 61, 10, 64, true, "bad index"));
    cases.push_back(gather(type, 512, 30522, 768, false, "multiple of 8"));
  }
}

} // namespace tilewright::test
