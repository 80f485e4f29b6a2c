// SPDX-License-Identifier: Apache-2.0
// Outputs that are not tensors of numbers, through the C interface: y = the numbers of x as strings, z = the sequence
// of y and x.
#include "runtime/artifact/ArtifactWriter.h"
#include "runtime/tilewright.h"

#include <gtest/gtest.h>

namespace tilewright::runtime {

static Contents stringPlan() {
  Plan plan;
  plan.target = "host", plan.mode = "all";
  ExprBuilder build(plan.exprs);
  ExprId two = build.constant(2);
  plan.values = {{"x", DType::F32, ValueKind::Input, {two}, 0, none},
                 {"y", DType::String, ValueKind::Output, {two}, 0, none},
                 {"t", DType::Sequence, ValueKind::Temporary, {}, none, none},
                 {"z", DType::Sequence, ValueKind::Output, {}, 1, none}};
  plan.inputs = {0}, plan.outputs = {1, 3};
  plan.steps = {HostCall{"Cast", "", 17, {{"to", int64_t{8}}}, {0}, {1}, {}, "cast", none},
                HostCall{"SequenceConstruct", "", 17, {}, {1}, {2}, {}, "construct", none}, Copy{3, 2}};
  Contents contents;
  contents.plans = {plan};
  return contents;
}

TEST(CApiValues, ShowsStringsAndSequences) {
  std::vector<std::byte> artifact = *serializeArtifact(stringPlan());
  tilewright_device *device = nullptr;
  tilewright_program *program = nullptr;
  tilewright_context *context = nullptr;
  ASSERT_EQ(tilewright_device_open("host", &device), TILEWRIGHT_OK);
  ASSERT_EQ(tilewright_program_load_memory(artifact.data(), artifact.size(), device, nullptr, &program), TILEWRIGHT_OK)
      << tilewright_last_error();
  ASSERT_EQ(tilewright_context_create(program, nullptr, &context), TILEWRIGHT_OK);
  alignas(64) float numbers[] = {1.5f, -2};
  int64_t shape[] = {2};
  tilewright_tensor x = {sizeof x, {numbers, {1, 0}, 1, {2, 32, 1}, shape, nullptr, 0}};
  ASSERT_EQ(tilewright_context_run(context, &x, 1, nullptr, 0), TILEWRIGHT_OK) << tilewright_last_error();

  const tilewright_value *strings = nullptr, *sequence = nullptr, *element = nullptr;
  const int64_t *dims = nullptr;
  const char *text = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(tilewright_context_output_value(context, 0, &strings), TILEWRIGHT_OK) << tilewright_last_error();
  EXPECT_EQ(tilewright_value_kind(strings), TILEWRIGHT_KIND_STRINGS);
  ASSERT_EQ(tilewright_value_shape(strings, &dims), 1u);
  EXPECT_EQ(dims[0], 2);
  ASSERT_EQ(tilewright_value_string(strings, 0, &text, &bytes), TILEWRIGHT_OK);
  EXPECT_EQ(std::string(text, bytes), "1.5");
  EXPECT_EQ(tilewright_value_string(strings, 2, &text, &bytes), TILEWRIGHT_USAGE);

  ASSERT_EQ(tilewright_context_output_value(context, 1, &sequence), TILEWRIGHT_OK);
  EXPECT_EQ(tilewright_value_kind(sequence), TILEWRIGHT_KIND_SEQUENCE);
  EXPECT_EQ(tilewright_value_count(sequence), 1u);
  ASSERT_EQ(tilewright_value_element(sequence, 0, &element), TILEWRIGHT_OK);
  ASSERT_EQ(tilewright_value_string(element, 1, &text, nullptr), TILEWRIGHT_OK);
  EXPECT_STREQ(text, "-2");
  EXPECT_EQ(tilewright_value_element(sequence, 1, &element), TILEWRIGHT_USAGE);

  tilewright_tensor tensor = {sizeof tensor, {}};
  EXPECT_EQ(tilewright_context_output(context, 0, &tensor), TILEWRIGHT_USAGE);
  EXPECT_STREQ(tilewright_last_error(),
               "the value is a string, which is no DLPack tensor: read it by tilewright_context_output_value");
  tilewright_context_free(context);
  tilewright_program_free(program);
  tilewright_device_free(device);
}

/// DLPack's numbers distinguish tensors on GPUs of either vendor.
TEST(CApiValues, RefusesTensorsOfOtherDevices) {
  std::vector<std::byte> artifact = *serializeArtifact(stringPlan());
  tilewright_device *device = nullptr;
  tilewright_program *program = nullptr;
  tilewright_context *context = nullptr;
  ASSERT_EQ(tilewright_device_open("host", &device), TILEWRIGHT_OK);
  ASSERT_EQ(tilewright_program_load_memory(artifact.data(), artifact.size(), device, nullptr, &program), TILEWRIGHT_OK);
  ASSERT_EQ(tilewright_context_create(program, nullptr, &context), TILEWRIGHT_OK);
  alignas(64) float numbers[] = {1.5f, -2};
  int64_t shape[] = {2};
  auto run = [&](int32_t type, int32_t id) {
    tilewright_tensor x = {sizeof x, {numbers, {type, id}, 1, {2, 32, 1}, shape, nullptr, 0}};
    return tilewright_context_run(context, &x, 1, nullptr, 0);
  };
  EXPECT_EQ(run(2, 1), TILEWRIGHT_USAGE);
  EXPECT_STREQ(tilewright_last_error(), "a tensor is on cuda:1, the context runs on host");
  EXPECT_EQ(run(10, 0), TILEWRIGHT_USAGE);
  EXPECT_STREQ(tilewright_last_error(), "a tensor is on hip:0, the context runs on host");
  EXPECT_EQ(run(4, 0), TILEWRIGHT_USAGE);
  EXPECT_NE(std::string(tilewright_last_error()).find("DLPack type 4"), std::string::npos);
  for (int32_t pinned : {3, 11})
    EXPECT_EQ(run(pinned, 0), TILEWRIGHT_OK) << tilewright_last_error();
  tilewright_context_free(context);
  tilewright_program_free(program);
  tilewright_device_free(device);
}

} // namespace tilewright::runtime
