// SPDX-License-Identifier: Apache-2.0
// run on models that symbols cannot express, or whose plan refuses the sizes: it compiles for the sizes at hand.
#include "tests/ScratchFolder.h"
#include "tests/frontend/TinyModel.h"

#include <fstream>
#include <sys/wait.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct RunTest : testing::Test {
  ScratchFolder scratch;

  /// The exit code of `tilewright run`, and in `said` what it prints.
  int run(const TinyModel &model, const std::string &options) {
    std::ofstream(scratch / "model.onnx", std::ios::binary) << model.bytes();
    FILE *pipe = popen(fmt::format("'{}/tilewright' run '{}' {} 2>&1", TILEWRIGHT_BINARY_DIR,
                                   std::string(scratch / "model.onnx"), options)
                           .c_str(),
                       "r");
    char buffer[4096];
    said.clear();
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      said.append(buffer, n);
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string said;
};

/// The rank of what index tuples of m numbers choose is known only with m.
TinyModel chosenByTuples() {
  TinyModel model(13);
  model.input("x", {"n", "m"}, DType::I64).input("z", {"n + 1"}).output("y").output("w");
  model.integers("zero", {}, {0}), model.floats("data", {2, 5, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  model.node("Mul", {"x", "zero"}, {"first"}), model.node("GatherND", {"data", "first"}, {"y"});
  model.node("Neg", {"z"}, {"w"});
  return model;
}

TEST_F(RunTest, RandomInputsHaveTheSizesGivenWhereCompilingWithSymbolsFails) {
  EXPECT_EQ(run(chosenByTuples(), "-f n=3 -f m=1"), 0) << said;
  EXPECT_NE(said.find("y float32 [3, 5, 1]"), std::string::npos) << said;
  EXPECT_NE(said.find("w float32 [4]"), std::string::npos) << said;
  EXPECT_NE(said.find("remark: compiled for the sizes at hand"), std::string::npos) << said;
  EXPECT_NE(run(chosenByTuples(), "-f n=3 -f k=1"), 0) << "no size is called k";
}

/// (n - 3) / 2 is 0 for n = 2, toward zero, while the plan expects n to be at least 3.
TEST_F(RunTest, RandomInputsHaveTheSizesGivenWhereThePlanRefusesThem) {
  TinyModel model(13);
  model.input("x", {"n"}).output("y");
  model.integers("none", {1}, {0}), model.integers("two", {1}, {2}), model.integers("three", {1}, {3});
  model.node("Shape", {"x"}, {"n"}), model.node("Sub", {"n", "three"}, {"room"});
  model.node("Div", {"room", "two"}, {"half"}), model.node("Slice", {"x", "half", "n", "none"}, {"y"});
  EXPECT_EQ(run(model, "-f n=2"), 0) << said;
  EXPECT_NE(said.find("y float32 [2]"), std::string::npos) << said;
}

} // namespace
