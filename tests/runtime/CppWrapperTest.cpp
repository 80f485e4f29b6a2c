// SPDX-License-Identifier: Apache-2.0
// The C++ wrapper; and the C interface, through a program in C.
#include "runtime/artifact/ArtifactWriter.h"
#include "runtime/tilewright.hpp"
#include "tests/ScratchFolder.h"
#include "tests/runtime/SamplePlans.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace tilewright {

TEST(CApi, FromC) {
  test::ScratchFolder scratch;
  std::string path = scratch / "sample.tw";
  Status status = runtime::writeArtifact(runtime::SampleContents().contents, path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(std::system(("'" TILEWRIGHT_BINARY_DIR "/tests-capi' '" + path + "'").c_str()), 0);
}

TEST(CppWrapper, LoadsAndRuns) {
  Expected<std::vector<std::byte>> bytes = runtime::serializeArtifact(runtime::SampleContents().contents);
  ASSERT_TRUE(bytes.ok());
  api::Device device;
  api::Program program;
  api::Context context;
  ASSERT_FALSE(device.open("host"));
  if (api::Failure failure = program.load(*bytes, device); failure)
    FAIL() << failure.message();
  ASSERT_EQ(program.inputs().size(), 1u);
  EXPECT_STREQ(program.inputs()[0].name, "x");
  EXPECT_STREQ(program.outputs()[0].dimensions[0], "batch");
  ASSERT_FALSE(context.create(program));
  std::vector<float> x = {-1, 2, -3, 4};
  std::vector<int64_t> shape = {1, 4};
  tilewright_tensor input = api::hostTensor(x.data(), shape), output;
  ASSERT_FALSE(context.run(std::span(&input, 1)));
  ASSERT_FALSE(context.output(0, output));
  const auto *y = static_cast<const float *>(output.dl.data);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{1, 4, 3, 8}));
  api::Failure failure = context.run({});
  EXPECT_TRUE(failure);
  EXPECT_EQ(failure.status(), TILEWRIGHT_USAGE);
  EXPECT_EQ(failure.message(), "the model takes 1 inputs, got 0");
}

} // namespace tilewright
