// SPDX-License-Identifier: Apache-2.0
// Splitting, collapsing and merging keep what a kernel does: the same element of the output from the same element of
// the input.
#include "tilegen/space/AccessMap.h"
#include "frontend/graph/Sizes.h"
#include "tests/tilegen/Elements.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tilegen;
using namespace tilewright::tests;

namespace {

using Pairs = std::set<std::pair<int64_t, int64_t>>;

/// (position in buffer 1, position in buffer 0) at every point of the loops, addressed through the merged dimensions.
Pairs pairsOf(const LoopNest &nest, ArrayRef<int64_t> symbols) {
  SmallVector<int64_t> box;
  for (const Loop &loop : nest.loops)
    box.push_back(graph::evaluate(loop.size, {}, symbols));
  IndexAlgebra facts = nest.algebra();
  SmallVector<DimGroups> groups = nest.groupBufferDims(2);
  SmallVector<MergedCoordinates> merged;
  for (const Access &access : nest.accesses)
    merged.push_back(mergeDims(facts, access.sizes, access.coordinates, groups[access.buffer]));
  Pairs pairs;
  forEachPoint(box, [&](ArrayRef<int64_t> point, int64_t) {
    int64_t positions[2];
    for (unsigned i = 0; i < 2; ++i) {
      positions[i] = 0;
      for (auto [expr, size] : llvm::zip_equal(merged[i].coordinates, merged[i].sizes)) {
        int64_t at = graph::evaluate(expr, point, symbols), extent = graph::evaluate(size, {}, symbols);
        EXPECT_TRUE(at >= 0 && at < extent);
        positions[i] = positions[i] * extent + at;
      }
    }
    EXPECT_TRUE(pairs.insert({positions[1], positions[0]}).second);
  });
  return pairs;
}

/// Loops over some shape that is stored as it is and read through a random chain of transposes and reshapes.
LoopNest randomNest(MLIRContext &context, std::mt19937 &random) {
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, &context); };
  Exprs factors;
  for (unsigned i = 0; i < 4; ++i)
    factors.push_back(random() % 4 == 0 ? getAffineSymbolExpr(random() % 2, &context) : constant(1 + random() % 4));
  /// The factors in some grouping: a shape.
  auto group = [&](ArrayRef<AffineExpr> list) {
    Exprs sizes{list[0]};
    for (AffineExpr factor : list.drop_front())
      if (random() % 2)
        sizes.push_back(factor);
      else
        sizes.back() = sizes.back() * factor;
    return sizes;
  };
  Exprs shape = group(factors);
  SmallVector<Loop> loops;
  for (AffineExpr size : shape)
    loops.push_back({size, LoopKind::Parallel});
  LoopNest nest(&context, loops);
  Exprs at = loopExprs(&context, shape.size());
  nest.accesses.push_back({1, shape, at, {}});
  for (int step = 0; step < 2; ++step) {
    AffineExpr position = linearize(&context, at, shape); // a reshape to all factors, a permutation, a reshape
    at = delinearize(position, factors);
    SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, factors.size()));
    std::shuffle(order.begin(), order.end(), random);
    Exprs permuted, permutedSizes;
    for (unsigned i : order) {
      permuted.push_back(at[i]);
      permutedSizes.push_back(factors[i]);
    }
    factors = permutedSizes;
    shape = group(factors);
    at = delinearize(linearize(&context, permuted, permutedSizes), shape);
  }
  nest.accesses.push_back({0, shape, at, {}});
  std::swap(nest.accesses[0], nest.accesses[1]);
  nest.substitute(loopExprs(&context, loops.size()), loops);
  return nest;
}

TEST(AccessMapTest, TransformationsKeepPairs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    LoopNest nest = randomNest(context, random), split = nest;
    split.splitLoops();
    LoopNest collapsed = split;
    collapsed.collapseLoops();
    EXPECT_LE(collapsed.loops.size(), split.loops.size());
    for (const SmallVector<int64_t> &symbols : {SmallVector<int64_t>{1, 1}, {2, 3}, {5, 2}}) {
      Pairs expected = pairsOf(nest, symbols);
      ASSERT_EQ(pairsOf(split, symbols), expected) << "round " << round;
      ASSERT_EQ(pairsOf(collapsed, symbols), expected) << "round " << round;
    }
  }
}

TEST(AccessMapTest, CopiesAreOneLoop) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto constant = [&](int64_t value) { return getAffineConstantExpr(value, &context); };
  AffineExpr batch = getAffineSymbolExpr(0, &context);
  LoopNest nest(&context,
                {{batch, LoopKind::Parallel}, {constant(12), LoopKind::Parallel}, {constant(64), LoopKind::Parallel}});
  Exprs sizes{batch, constant(12), constant(64)}, at = loopExprs(&context, 3);
  nest.accesses = {{0, sizes, at, {}}, {1, sizes, at, {}}};
  nest.collapseLoops();
  ASSERT_EQ(nest.loops.size(), 1u);
  EXPECT_EQ(nest.loops[0].size, batch * 768);
  EXPECT_EQ(nest.groupBufferDims(2)[0], DimGroups{3});
}

} // namespace
