// SPDX-License-Identifier: Apache-2.0
// A product of values that were rounded to half multiplies what they were before; other products stay.
#include "backend/host/KeepPrecision.h"

#include "tests/backend/host/ParsedKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

TEST(KeepPrecision, RoundedLeftSidesAreMultipliedUnrounded) {
  ParsedKernel parsed(R"(
tile.kernel @k(%x: !tile.buffer<f32, () -> (8, 16)>, %w: !tile.buffer<f16, () -> (16, 16)>, %y: !tile.buffer<f32, () -> (8, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %a = tile.load %x[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f32, () -> (8, 16)> -> tensor<8x16xf32>
  %h = arith.truncf %a : tensor<8x16xf32> to tensor<8x16xf16>
  %b = tile.load %w[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (16, 16)> -> tensor<16x16xf16>
  %c = tile.dot %h, %b, %zero : tensor<8x16xf16>, tensor<16x16xf16>, tensor<8x16xf32>
  tile.store %c, %y[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xf32> -> !tile.buffer<f32, () -> (8, 16)>
  tile.return
})");
  keepPrecision(parsed.kernel());
  auto dot = parsed.get<tile::DotOp>();
  EXPECT_EQ(dot.getLhs(), parsed.get<tile::LoadOp>(0).getResult());
  auto extended = dot.getRhs().getDefiningOp<arith::ExtFOp>();
  ASSERT_TRUE(extended);
  EXPECT_EQ(extended.getIn(), parsed.get<tile::LoadOp>(1).getResult());
  EXPECT_TRUE(succeeded(mlir::verify(parsed.kernel())));
}

TEST(KeepPrecision, ProductsOfLoadedHalvesStay) {
  ParsedKernel parsed(R"(
tile.kernel @k(%x: !tile.buffer<f16, () -> (8, 16)>, %w: !tile.buffer<f16, () -> (16, 16)>, %y: !tile.buffer<f32, () -> (8, 16)>)
    attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %a = tile.load %x[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (8, 16)> -> tensor<8x16xf16>
  %b = tile.load %w[%c0, %c0] bounds () -> (16, 16) map (d0, d1) -> (d0, d1) : !tile.buffer<f16, () -> (16, 16)> -> tensor<16x16xf16>
  %c = tile.dot %a, %b, %zero : tensor<8x16xf16>, tensor<16x16xf16>, tensor<8x16xf32>
  tile.store %c, %y[%c0, %c0] bounds () -> (8, 16) map (d0, d1) -> (d0, d1) : tensor<8x16xf32> -> !tile.buffer<f32, () -> (8, 16)>
  tile.return
})");
  keepPrecision(parsed.kernel());
  EXPECT_EQ(parsed.get<tile::DotOp>().getLhs(), parsed.get<tile::LoadOp>(0).getResult());
}

} // namespace
