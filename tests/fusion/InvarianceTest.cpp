// SPDX-License-Identifier: Apache-2.0
// Groups do not depend on the order of nodes and the names in a model: shuffles a graph and compares the grouped IR as
// text.
#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Normalize.h"
#include "fusion/groups/FormGroups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace tilewright;

namespace {

// One attention head with its projections, a softmax, a residual and a normalization, over [batch, sequence, features].
constexpr char attention[] = R"(
#x = affine_map<()[s0] -> (s0, 16, 64)>
#m = affine_map<()[s0] -> (s0 * 16, 64)>
#s = affine_map<()[s0] -> (s0, 16, 16)>
#r = affine_map<()[s0] -> (s0, 16)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
module attributes {graph.symbols = ["batch"], graph.nodes = ["q|A", "k|A", "v|A", "t|T", "s|B", "p|C", "o|B", "a|D", "n|E"]} {
  func.func @main(%x: tensor<?x16x64xf32, #x>, %wq: tensor<64x64xf32>, %wk: tensor<64x64xf32>,
      %wv: tensor<64x64xf32>) -> tensor<?x16x64xf32, #x> {
    %0 = graph.reshape %x {graph.node = 0 : i64} : tensor<?x16x64xf32, #x> -> tensor<?x64xf32, #m>
    %q = graph.contract %0, %wq maps [#mk, #kn, #mn] {graph.node = 0 : i64}
        : tensor<?x64xf32, #m>, tensor<64x64xf32> -> tensor<?x64xf32, #m>
    %1 = graph.reshape %q {graph.node = 0 : i64} : tensor<?x64xf32, #m> -> tensor<?x16x64xf32, #x>
    %2 = graph.reshape %x {graph.node = 1 : i64} : tensor<?x16x64xf32, #x> -> tensor<?x64xf32, #m>
    %k = graph.contract %2, %wk maps [#mk, #kn, #mn] {graph.node = 1 : i64}
        : tensor<?x64xf32, #m>, tensor<64x64xf32> -> tensor<?x64xf32, #m>
    %3 = graph.reshape %k {graph.node = 1 : i64} : tensor<?x64xf32, #m> -> tensor<?x16x64xf32, #x>
    %4 = graph.reshape %x {graph.node = 2 : i64} : tensor<?x16x64xf32, #x> -> tensor<?x64xf32, #m>
    %v = graph.contract %4, %wv maps [#mk, #kn, #mn] {graph.node = 2 : i64}
        : tensor<?x64xf32, #m>, tensor<64x64xf32> -> tensor<?x64xf32, #m>
    %5 = graph.reshape %v {graph.node = 2 : i64} : tensor<?x64xf32, #m> -> tensor<?x16x64xf32, #x>
    %kt = graph.transpose %3 perm [0, 2, 1] {graph.node = 3 : i64}
        : tensor<?x16x64xf32, #x> -> tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>>
    %c = arith.constant dense<0.125> : tensor<f32>
    %cb = graph.broadcast %c dims [] {graph.node = 4 : i64} : tensor<f32> -> tensor<?x16x16xf32, #s>
    %s = graph.contract %1, %kt maps [#bmk, #bkn, #bmn] {graph.node = 4 : i64}
        : tensor<?x16x64xf32, #x>, tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>> -> tensor<?x16x16xf32, #s>
    %6 = arith.mulf %s, %cb {graph.node = 4 : i64} : tensor<?x16x16xf32, #s>
    %7 = graph.reduce <max> %6 axes [2] {graph.node = 5 : i64} : tensor<?x16x16xf32, #s> -> tensor<?x16xf32, #r>
    %8 = graph.broadcast %7 dims [0, 1] {graph.node = 5 : i64} : tensor<?x16xf32, #r> -> tensor<?x16x16xf32, #s>
    %9 = arith.subf %6, %8 {graph.node = 5 : i64} : tensor<?x16x16xf32, #s>
    %10 = math.exp %9 {graph.node = 5 : i64} : tensor<?x16x16xf32, #s>
    %11 = graph.reduce <sum> %10 axes [2] {graph.node = 5 : i64} : tensor<?x16x16xf32, #s> -> tensor<?x16xf32, #r>
    %12 = graph.broadcast %11 dims [0, 1] {graph.node = 5 : i64} : tensor<?x16xf32, #r> -> tensor<?x16x16xf32, #s>
    %13 = arith.divf %10, %12 {graph.node = 5 : i64} : tensor<?x16x16xf32, #s>
    %o = graph.contract %13, %5 maps [#bmk, #bkn, #bmn] {graph.node = 6 : i64}
        : tensor<?x16x16xf32, #s>, tensor<?x16x64xf32, #x> -> tensor<?x16x64xf32, #x>
    %14 = arith.addf %o, %x {graph.node = 7 : i64} : tensor<?x16x64xf32, #x>
    %15 = graph.reduce <sum> %14 axes [2] {graph.node = 8 : i64} : tensor<?x16x64xf32, #x> -> tensor<?x16xf32, #r>
    %16 = graph.broadcast %15 dims [0, 1] {graph.node = 8 : i64} : tensor<?x16xf32, #r> -> tensor<?x16x64xf32, #x>
    %17 = arith.subf %14, %16 {graph.node = 8 : i64} : tensor<?x16x64xf32, #x>
    return %17 : tensor<?x16x64xf32, #x>
  }
})";

class Invariance : public testing::Test {
protected:
  Invariance() {
    context.loadDialect<graph::GraphDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  }

  OwningOpRef<ModuleOp> parse() { return parseSourceString<ModuleOp>(attention, &context); }

  static std::string grouped(ModuleOp module, fusion::FusionMode mode) {
    EXPECT_TRUE(succeeded(normalizeGraph(module)));
    EXPECT_TRUE(succeeded(fusion::formGroups(module, mode)));
    module->removeAttr(graph::nodesAttr);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }

  MLIRContext context;
};

/// Another topological order: each operation moves up to a random place behind its operands.
void shuffle(Block &block, std::mt19937 &random) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  std::shuffle(ops.begin(), ops.end(), random);
  for (Operation *op : ops) {
    Operation *last = nullptr;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && (!last || last->isBeforeInBlock(producer)))
        last = producer;
    SmallVector<Operation *> places;
    for (Operation *at = last ? last->getNextNode() : &block.front(); at != op; at = at->getNextNode())
      places.push_back(at);
    if (!places.empty())
      op->moveBefore(places[random() % places.size()]);
  }
}

void swapCommutative(Block &block, std::mt19937 &random) {
  for (Operation &op : block)
    if (op.hasTrait<OpTrait::IsCommutative>() && op.getNumOperands() == 2 && random() % 2)
      op.setOperands({op.getOperand(1), op.getOperand(0)});
}

void renameNodes(ModuleOp module) {
  SmallVector<Attribute> renamed;
  for (Attribute node : module->getAttrOfType<ArrayAttr>(graph::nodesAttr))
    renamed.push_back(StringAttr::get(module.getContext(), "z" + std::to_string(renamed.size()) + "|" +
                                                               cast<StringAttr>(node).getValue().rsplit('|').second));
  module->setAttr(graph::nodesAttr, ArrayAttr::get(module.getContext(), renamed));
}

TEST_F(Invariance, OrderNamesAndOperandsDoNotMatter) {
  for (auto mode : {fusion::FusionMode::None, fusion::FusionMode::Epilogue, fusion::FusionMode::All}) {
    OwningOpRef<ModuleOp> original = parse();
    std::string expected = grouped(*original, mode);
    for (unsigned seed = 0; seed < 20; ++seed) {
      std::mt19937 random(seed);
      OwningOpRef<ModuleOp> other = parse();
      Block &body = other->lookupSymbol<func::FuncOp>("main").front();
      shuffle(body, random);
      swapCommutative(body, random);
      renameNodes(*other);
      ASSERT_TRUE(succeeded(other->verify()));
      EXPECT_EQ(grouped(*other, mode), expected) << "seed " << seed << ", mode " << fusion::name(mode).str();
    }
  }
}

TEST_F(Invariance, CountsKernels) {
  OwningOpRef<ModuleOp> module = parse();
  grouped(*module, fusion::FusionMode::All);
  size_t launches = 0, kernels = 0;
  module->walk([&](graph::LaunchOp) { ++launches; });
  module->walk([&](graph::KernelOp) { ++kernels; });
  EXPECT_EQ(launches, 5u); // three projections, attention with the residual, normalization
  EXPECT_EQ(kernels, 3u);  // the projections share one
}

TEST_F(Invariance, GroupingIsDeterministic) {
  OwningOpRef<ModuleOp> a = parse(), b = parse();
  EXPECT_EQ(grouped(*a, fusion::FusionMode::All), grouped(*b, fusion::FusionMode::All));
}

} // namespace
