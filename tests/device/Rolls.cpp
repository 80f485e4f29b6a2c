// SPDX-License-Identifier: Apache-2.0
// Images that are rolled along both dimensions where they are read: by a copy, and as the left side of a product.
#include "tests/device/Cases.h"

#include <fmt/format.h>

namespace tilewright::test {

namespace {
/// An image [rows, columns, channels], and the coordinates of the first pixel that is read.
struct Roll {
  int64_t rows, columns, channels, down, across;

  int64_t pixels() const { return rows * columns; }
  /// The index of the element that is read for element `channel` of `pixel`.
  int64_t source(int64_t pixel, int64_t channel) const {
    int64_t y = (pixel / columns + down) % rows, x = (pixel % columns + across) % columns;
    return (y * columns + x) * channels + channel;
  }
  /// The map of a load of [pixels, channels].
  std::string map() const {
    return fmt::format("map (d0, d1) -> ((d0 floordiv {1} + {2}) mod {0}, (d0 mod {1} + {3}) mod {1}, d1)", rows,
                       columns, down, across);
  }
  std::string buffer(DType type) const {
    return fmt::format("!tile.buffer<{}, () -> ({}, {}, {})>", typeText(type), rows, columns, channels);
  }
  std::string name() const { return fmt::format("{}x{}x{}_{}_{}", rows, columns, channels, down, across); }
};
} // namespace

static DeviceCase copy(DType type, Roll roll, std::string edge) {
  DeviceCase c{.name = fmt::format("roll_{}_{}", typeText(type), roll.name()),
               .family = "roll",
               .layout = "pixels",
               .edge = std::move(edge),
               .type = type};
  c.grid = {(roll.pixels() + 15) / 16, (roll.channels + 63) / 64, 1};
  c.kernel =
      fmt::format(R"(
    tile.kernel @k(%x: {0}, %y: !tile.buffer<{1}, () -> ({2}, {3})>)
        attributes {{grid = affine_map<() -> ({4}, {5}, 1)>, schedule = #tile.schedule<pointwise, tile = [16, 64], warps = 4>}} {{
      %px = tile.program_id 0
      %py = tile.program_id 1
      %i = tile.size (d0) -> (d0 * 16)(%px)
      %j = tile.size (d0) -> (d0 * 64)(%py)
      %v = tile.load %x[%i, %j] bounds () -> ({2}, {3}) {6} : {0} -> tensor<16x64x{1}>
      tile.store %v, %y[%i, %j] bounds () -> ({2}, {3}) map (d0, d1) -> (d0, d1) : tensor<16x64x{1}> -> !tile.buffer<{1}, () -> ({2}, {3})>
      tile.return
    }})",
                  roll.buffer(type), typeText(type), roll.pixels(), roll.channels, c.grid[0], c.grid[1], roll.map());
  c.buffers = {{type, roll.pixels() * roll.channels}, {type, roll.pixels() * roll.channels}};
  c.expected = [specs = c.buffers, roll](int64_t index) {
    return inputValue(specs[0], 0, roll.source(index / roll.channels, index % roll.channels));
  };
  c.tolerance = 0;
  c.small = true;
  return c;
}

/// Times a matrix of [channels, 32], halves, in steps of 16 along the channels.
static DeviceCase product(Roll roll, std::string edge) {
  DeviceCase c{.name = "roll_product_" + roll.name(),
               .family = "roll",
               .layout = "pixels",
               .edge = std::move(edge),
               .type = DType::F16};
  c.grid = {(roll.pixels() + 15) / 16, 1, 1};
  c.kernel = fmt::format(R"(
    tile.kernel @k(%x: {0}, %w: !tile.buffer<f16, () -> ({2}, 32)>, %y: !tile.buffer<f32, () -> ({1}, 32)>)
        attributes {{grid = affine_map<() -> ({3}, 1, 1)>, schedule = #tile.schedule<matmul, tile = [16, 32], reduce = [16], warps = 2, stages = 3>}} {{
      %c0 = arith.constant 0 : index
      %px = tile.program_id 0
      %i = tile.size (d0) -> (d0 * 16)(%px)
      %zero = arith.constant dense<0.0> : tensor<16x32xf32>
      %end = arith.constant {2} : index
      %step = arith.constant 16 : index
      %sum = scf.for %k = %c0 to %end step %step iter_args(%s = %zero) -> (tensor<16x32xf32>) {{
        %a = tile.load %x[%i, %k] bounds () -> ({1}, {2}) {4} : {0} -> tensor<16x16xf16>
        %b = tile.load %w[%k, %c0] bounds () -> ({2}, 32) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> ({2}, 32)> -> tensor<16x32xf16>
        %d = tile.dot %a, %b, %s : tensor<16x16xf16>, tensor<16x32xf16>, tensor<16x32xf32>
        scf.yield %d : tensor<16x32xf32>
      }}
      tile.store %sum, %y[%i, %c0] bounds () -> ({1}, 32) map (d0, d1) -> (d0, d1) : tensor<16x32xf32> -> !tile.buffer<f32, () -> ({1}, 32)>
      tile.return
    }})",
                         roll.buffer(DType::F16), roll.pixels(), roll.channels, c.grid[0], roll.map());
  c.buffers = {
      {DType::F16, roll.pixels() * roll.channels}, {DType::F16, roll.channels * 32}, {DType::F32, roll.pixels() * 32}};
  c.expected = [specs = c.buffers, roll](int64_t index) {
    double sum = 0;
    for (int64_t k = 0; k < roll.channels; ++k)
      sum += inputValue(specs[0], 0, roll.source(index / 32, k)) * inputValue(specs[1], 1, k * 32 + index % 32);
    return sum;
  };
  c.small = true;
  return c;
}

void addRollCases(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::F32}) {
    cases.push_back(copy(type, {14, 14, 64, 3, 3}, "multiple of 8"));
    cases.push_back(copy(type, {7, 5, 37, 1, 4}, "prime"));
    cases.push_back(copy(type, {1, 9, 8, 0, 8}, "size 1"));
  }
  cases.push_back(product({14, 14, 64, 3, 3}, "multiple of 8"));
  cases.push_back(product({7, 5, 40, 6, 1}, "prime"));
}

} // namespace tilewright::test
