// SPDX-License-Identifier: Apache-2.0
// What is verified after a stage: everything, or the kernels alone where nothing else can have changed. The rules
// themselves are in tests/lit/backend/stage-verify.mlir.
#include "backend/Dialects.h"
#include "backend/VerifyStage.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;

namespace {

/// The first error of verifyAfter, empty if there is none.
std::string errorAfter(Stage stage, const std::string &text) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (error.empty())
      error = diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << "the test's text does not parse: " << error;
  bool holds = module && succeeded(verifyAfter(*module, stage));
  EXPECT_EQ(holds, error.empty()) << error;
  return error;
}

const std::string unscheduled =
    R"(graph.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> attributes {root = #graph.root<pointwise>} {
    graph.return %x : tensor<8xf32>
  })";
const std::string workInMain = R"(func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %y = math.exp %x : tensor<8xf32>
    return %y : tensor<8xf32>
  })";

std::string moduleOf(const std::string &body) {
  return R"(module attributes {graph.mode = "all", graph.target = "sm_80"} {)" + body + "}";
}

TEST(VerifyAfter, SchedulesAreOfKernelsAlsoOfThoseInABody) {
  EXPECT_NE(errorAfter(Stage::Schedule, moduleOf(unscheduled)).find("expected a schedule"), std::string::npos);
  EXPECT_NE(errorAfter(Stage::Schedule, moduleOf("module @body {" + unscheduled + "}")).find("expected a schedule"),
            std::string::npos);
}

/// No stage that makes schedules or tiles touches @main, so it is verified after grouping and after placing.
TEST(VerifyAfter, MainIsVerifiedAfterWhatFollows) {
  EXPECT_EQ(errorAfter(Stage::Schedule, moduleOf(workInMain)), "");
  EXPECT_EQ(errorAfter(Stage::Tile, moduleOf(workInMain)), "");
  for (Stage stage : {Stage::Group, Stage::Place})
    EXPECT_NE(errorAfter(stage, moduleOf(workInMain)).find("expected work to be in kernels"), std::string::npos);
}

} // namespace
