// SPDX-License-Identifier: Apache-2.0
// Mutations of every operator in ONNX's node tests: compiled and run in a process of its own, each must work or be
// refused with a sentence.
//
// TILEWRIGHT_MALFORMED_NODES is the number of mutations of each model to try, spread evenly over all of them: 4 by
// default; "all" is some 60,000 cases.
#include "runtime/Devices.h"
#include "tests/hostile/Isolated.h"
#include "tests/hostile/NodeMutations.h"

#include "backend/Pipeline.h"
#include "runtime/execute/Context.h"
#include "runtime/execute/Program.h"
#include "tools/tilewright/values/TensorFiles.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::test;
namespace fs = std::filesystem;

namespace {

constexpr const char *nodeTests = "/usr/share/libonnx-testdata/data/node";

std::vector<fs::path> models() {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(nodeTests, error))
    if (fs::exists(entry.path() / "model.onnx"))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// Does what `tilewright run` does.
Status compileAndRun(const onnx::ModelProto &model) {
  CompileOptions options;
  options.modelPath = "model.onnx";
  options.modelBytes = std::make_shared<const std::string>(model.SerializeAsString());
  Expected<CompiledModel> compiled = compileModel(options);
  TILEWRIGHT_TRY(compiled);
  Expected<runtime::Artifact> artifact = compiled->artifact();
  TILEWRIGHT_TRY(artifact);
  auto device = runtime::openDevice("host");
  TILEWRIGHT_TRY(device);
  auto program = runtime::Program::create(*artifact, (*device)->info(), "all");
  TILEWRIGHT_TRY(program);
  auto inputs = randomInputs((*program)->plan(), 1, {{"n", 3}});
  TILEWRIGHT_TRY(inputs);
  auto context = runtime::Context::create(*program, *device);
  TILEWRIGHT_TRY(context);
  return (*context)->run(*inputs).status();
}

size_t mutationsEach() {
  const char *text = std::getenv("TILEWRIGHT_MALFORMED_NODES");
  return !text ? 4 : std::string_view(text) == "all" ? SIZE_MAX : std::strtoul(text, nullptr, 10);
}

TEST(MalformedNodesTest, WorkOrAreRefusedWithASentence) {
  ::setenv("TILEWRIGHT_NUM_THREADS", "1", 1);
  size_t tried = 0, refused = 0, model = 0;
  for (const fs::path &folder : models()) {
    onnx::ModelProto proto;
    std::ifstream file(folder / "model.onnx", std::ios::binary);
    ASSERT_TRUE(proto.ParseFromIstream(&file)) << folder;
    std::vector<Mutation> mutations = mutationsOf(proto);
    size_t count = std::min(mutationsEach(), mutations.size());
    for (size_t i = 0; i < count; ++i) {
      const Mutation &mutation =
          mutations[(i * mutations.size() / count + model) % mutations.size()]; // different ones for each model
      onnx::ModelProto spoiled = proto;
      mutation.apply(spoiled);
      Ending ending = runIsolated([&] { return compileAndRun(spoiled); });
      EXPECT_EQ(objection(ending), "") << folder.filename() << ", " << mutation.name;
      ++tried;
      refused += !ending.status.ok();
    }
    ++model;
  }
  fmt::print("{} malformed nodes, {} of them refused\n", tried, refused);
  EXPECT_GE(tried, 3000u) << "is libonnx-testdata installed?";
  EXPECT_GE(refused, tried / 2) << "mutations that spoil nothing prove nothing";
}

} // namespace
