// SPDX-License-Identifier: Apache-2.0
// Groups that merge at random stay in a topological order, and the search for paths around gives what a search of the
// whole graph would.
#include "tests/fusion/RandomGraph.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Normalize.h"
#include "fusion/groups/FusionGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace tilewright;
using fusion::Group;

namespace {

using Readers = llvm::DenseMap<Group *, llvm::SetVector<Group *>>;

Readers readersOf(const fusion::GroupGraph &graph) {
  Readers readers;
  for (Operation *op : graph.operations())
    for (Operation *user : op->getUsers())
      if (Group *reader = graph.groupOf(user); reader && reader != graph.groupOf(op))
        readers[graph.groupOf(op)].insert(reader);
  return readers;
}

bool pathAround(Readers &readers, Group *from, Group *to) {
  llvm::SetVector<Group *> reached = readers[from];
  reached.remove(to);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Group *next : readers[reached[i]]) {
      if (next == to)
        return true;
      reached.insert(next);
    }
  return false;
}

TEST(GroupOrder, StaysTopologicalWhileGroupsMerge) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  std::mt19937 random(7);
  unsigned merged = 0, refused = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    OwningOpRef<ModuleOp> module = test::randomGraph(context, seed, 60);
    ASSERT_TRUE(succeeded(normalizeGraph(*module)));
    fusion::GroupGraph graph(module->lookupSymbol<func::FuncOp>("main"), fusion::Machine::Cpu);
    for (unsigned step = 0; step < 60; ++step) {
      SmallVector<Operation *> ops = graph.operations();
      Group *a = graph.groupOf(ops[random() % ops.size()]), *b = graph.groupOf(ops[random() % ops.size()]);
      if (a == b)
        continue;
      Readers readers = readersOf(graph);
      EXPECT_EQ(graph.pathAround(*a, *b), pathAround(readers, a, b)) << "seed " << seed << ", step " << step;
      if (pathAround(readers, a, b) || pathAround(readers, b, a)) {
        ++refused;
        continue;
      }
      graph.merge(*a, *b, {});
      ++merged;
      for (auto &[group, others] : readersOf(graph))
        for (Group *reader : others)
          ASSERT_TRUE(fusion::GroupOrder::isBefore(*group, *reader)) << "seed " << seed << ", step " << step;
    }
  }
  EXPECT_GT(merged, 100u);
  EXPECT_GT(refused, 100u);
}

} // namespace
