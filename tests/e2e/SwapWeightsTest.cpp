// SPDX-License-Identifier: Apache-2.0
// The end-to-end check can fail: it detects two swapped weights in a published model.
#include "runtime/Status.h"
#include "tests/ScratchFolder.h"

#include "onnx/onnx.pb.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

using tilewright::Code;

static std::string shared() {
  const char *folder = std::getenv("TILEWRIGHT_SHARED");
  return folder ? folder : TILEWRIGHT_SOURCE_DIR "/../shared";
}

/// The exit code of `tilewright run` on `model` against the data set of `folder`.
static int check(const std::string &model, const std::string &folder) {
  std::string data = folder + "/test_data_set_0";
  std::string command = "'" TILEWRIGHT_BINARY_DIR "/tilewright' run '" + model + "' --inputs '" + data + "' --check '" +
                        data + "' >/dev/null 2>&1";
  int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Swaps the largest and the smallest element of the largest weight.
static void swapTwoWeights(onnx::ModelProto &model) {
  auto &tensors = *model.mutable_graph()->mutable_initializer();
  auto elements = [](const onnx::TensorProto &tensor) {
    return tensor.data_type() != onnx::TensorProto::FLOAT
               ? 0
               : std::max<size_t>(tensor.raw_data().size() / 4, tensor.float_data_size());
  };
  onnx::TensorProto &weight = *std::max_element(
      tensors.begin(), tensors.end(), [&](const auto &a, const auto &b) { return elements(a) < elements(b); });
  std::vector<float> values(elements(weight));
  ASSERT_GT(values.size(), 1u);
  if (weight.raw_data().empty())
    std::copy(weight.float_data().begin(), weight.float_data().end(), values.begin());
  else
    std::memcpy(values.data(), weight.raw_data().data(), values.size() * 4);
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  std::iter_swap(low, high);
  weight.clear_float_data();
  weight.set_raw_data(values.data(), values.size() * 4);
}

TEST(SwapWeights, IsSeenByTheCheck) {
  std::string folder = shared() + "/models/real/polygraphy_residual_block";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no " << folder << " (see tests/README.md)";
  onnx::ModelProto model;
  std::ifstream file(folder + "/model.onnx", std::ios::binary);
  ASSERT_TRUE(model.ParseFromIstream(&file));

  tilewright::test::ScratchFolder scratch;
  std::string path = scratch / "swapped.onnx";
  auto write = [&] { std::ofstream(path, std::ios::binary) << model.SerializeAsString(); };
  write();
  EXPECT_EQ(check(path, folder), int(Code::Ok));
  swapTwoWeights(model);
  write();
  EXPECT_EQ(check(path, folder), int(Code::Differs));
}
