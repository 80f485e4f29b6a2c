// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/BackwardWalk.h"

#include "tests/backend/host/ParsedKernel.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;
using namespace tilewright::test;

namespace {

constexpr const char *diamond = R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (8)>, %y: !tile.buffer<f32, () -> (8)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] bounds () -> (8) map (d0) -> (d0) : !tile.buffer<f32, () -> (8)> -> tensor<8xf32>
  %l = arith.negf %v : tensor<8xf32>
  %r = math.exp %v : tensor<8xf32>
  %s = arith.addf %l, %r : tensor<8xf32>
  tile.store %s, %y[%c0] bounds () -> (8) map (d0) -> (d0) : tensor<8xf32> -> !tile.buffer<f32, () -> (8)>
  tile.return
})";

std::vector<std::string> visited(ParsedKernel &parsed, StringRef stopAt) {
  std::vector<std::string> names;
  walkBackward(parsed.get<tile::StoreOp>().getValue(), [&](Value value) {
    Operation *op = value.getDefiningOp();
    names.push_back(op ? op->getName().getStringRef().str() : "argument");
    return names.back() != stopAt;
  });
  return names;
}

TEST(BackwardWalk, VisitsOperandsInOrderAndOnce) {
  ParsedKernel parsed(diamond);
  EXPECT_EQ(visited(parsed, ""), (std::vector<std::string>{"arith.addf", "arith.negf", "tile.load", "argument",
                                                           "arith.constant", "math.exp"}));
}

TEST(BackwardWalk, StopsWhereItIsTold) {
  ParsedKernel parsed(diamond);
  EXPECT_EQ(visited(parsed, "tile.load"),
            (std::vector<std::string>{"arith.addf", "arith.negf", "tile.load", "math.exp"}));
}

} // namespace
