// SPDX-License-Identifier: Apache-2.0
// The demo models are well-formed, the same bytes every time, and scaled so that results neither vanish nor overflow.
#include "models/Demos.h"
#include "models/Random.h"
#include "tests/ScratchFolder.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

using namespace tilewright;
using namespace tilewright::models;

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Demos, EveryValueIsMadeOnceAndBeforeItsUse) {
  for (const Demo &demo : demos()) {
    ModelBuilder builder{std::string(demo.name), demo.type};
    demo.build(builder);
    const onnx::GraphProto &graph = builder.model().graph();
    std::set<std::string> made, nodeNames;
    for (const auto &input : graph.input())
      EXPECT_TRUE(made.insert(input.name()).second) << demo.name << ": " << input.name();
    for (const auto &initializer : graph.initializer())
      EXPECT_TRUE(made.insert(initializer.name()).second) << demo.name << ": " << initializer.name();
    for (const auto &node : graph.node()) {
      EXPECT_TRUE(nodeNames.insert(node.name()).second) << demo.name << ": two nodes named " << node.name();
      for (const auto &input : node.input())
        EXPECT_TRUE(input.empty() || made.count(input)) << demo.name << ": " << node.name() << " uses " << input;
      for (const auto &output : node.output())
        EXPECT_TRUE(made.insert(output).second) << demo.name << ": " << output;
    }
    ASSERT_EQ(graph.output_size(), 1) << demo.name;
    EXPECT_TRUE(made.count(graph.output(0).name())) << demo.name;
  }
}

TEST(Demos, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Demo &demo : demos())
    EXPECT_TRUE(names.insert(demo.name).second) << demo.name;
}

TEST(ModelBuilder, SameModelSameBytes) {
  std::string written[2];
  for (std::string &bytes : written) {
    ModelBuilder builder("cnn", DType::F32);
    buildCnn(builder);
    test::ScratchFolder scratch;
    std::string path = scratch / "cnn.onnx";
    ASSERT_TRUE(builder.write(path)) << builder.write(path).message();
    bytes = readFile(path);
  }
  EXPECT_GT(written[0].size(), 1u << 20);
  EXPECT_EQ(written[0], written[1]);
}

TEST(ModelBuilder, SaysWhatItCannotWrite) {
  ModelBuilder builder("empty", DType::F32);
  Status status = builder.write("/nonexistent/folder/model.onnx");
  EXPECT_EQ(status.code(), Code::Io);
  EXPECT_NE(status.message().find("/nonexistent/folder/model.onnx"), std::string::npos);
}

TEST(ModelBuilder, HalvesRoundToNearestEven) {
  ModelBuilder builder("halves", DType::F16);
  struct {
    double value;
    uint16_t bits;
  } const cases[] = {
      {1.0, 0x3c00}, {-2.0, 0xc000},    {0x1.002p0, 0x3c00}, {0x1.006p0, 0x3c02}, {65504, 0x7bff},
      {1e9, 0x7c00}, {0x1p-14, 0x0400}, {0x1p-24, 0x0001},   {0x1p-26, 0x0000},   {-0.0, 0x8000},
  };
  int index = 0;
  for (const auto &[value, bits] : cases) {
    builder.scalar("s" + std::to_string(index), value);
    uint16_t written;
    std::memcpy(&written, builder.model().graph().initializer(index++).raw_data().data(), 2);
    EXPECT_EQ(written, bits) << value;
  }
}

TEST(Random, HasMeanZeroAndDeviationOne) {
  Random random("weights");
  double sum = 0, squares = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.02);
}

TEST(Random, DependsOnTheNameAlone) {
  EXPECT_EQ(Random("a").next(), Random("a").next());
  EXPECT_NE(Random("a").next(), Random("b").next());
}
