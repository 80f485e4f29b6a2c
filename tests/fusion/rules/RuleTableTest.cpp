// SPDX-License-Identifier: Apache-2.0
// Every rule of the table forms a kernel in some case of tests/lit/fusion.
#include "fusion/rules/RuleTable.h"
#include "fusion/FusionReport.h"
#include "fusion/groups/FormGroups.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

using namespace mlir;
using namespace tilewright;

namespace {

/// The rules that grew the kernels of `module` in `mode`.
void collectRules(OwningOpRef<ModuleOp> module, fusion::FusionMode mode, std::set<std::string> &rules) {
  fusion::FusionReport report;
  ASSERT_TRUE(succeeded(fusion::formGroups(*module, mode, &report)));
  for (const fusion::FusionReport::Launch &launch : report.launches)
    rules.insert(launch.rules.begin(), launch.rules.end());
}

TEST(RuleTableTest, EveryRuleHasACase) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  std::set<std::string> seen;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(TILEWRIGHT_SOURCE_DIR "/tests/lit/fusion")) {
    if (entry.path().extension() != ".mlir")
      continue;
    auto file = llvm::MemoryBuffer::getFile(entry.path().string());
    ASSERT_TRUE(file) << entry.path();
    llvm::SmallVector<llvm::StringRef> cases;
    (*file)->getBuffer().split(cases, "// -----");
    for (llvm::StringRef text : cases) {
      OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
      ASSERT_TRUE(module) << entry.path();
      collectRules(module->clone(), fusion::FusionMode::Epilogue, seen);
      collectRules(std::move(module), fusion::FusionMode::All, seen);
    }
  }
  std::set<std::string> names;
  for (const fusion::Rule &rule : fusion::ruleTable()) {
    EXPECT_TRUE(names.insert(rule.name.str()).second) << rule.name.str() << " is listed twice";
    EXPECT_TRUE(seen.contains(rule.name.str())) << rule.name.str() << " makes no kernel in tests/lit/fusion";
  }
}

} // namespace
