// SPDX-License-Identifier: Apache-2.0
// Weights in files next to the model.
#include "tests/frontend/import/ImporterTest.h"

#include <fstream>

using namespace tilewright;
using namespace tilewright::test;

namespace {

onnx::TensorProto *external(TinyModel &model, const std::string &location, int64_t offset = 0, int64_t length = 16) {
  auto *tensor = model.initializer("w", {4}, DType::F32);
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  for (auto [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"location", location}, {"offset", std::to_string(offset)}, {"length", std::to_string(length)}}) {
    auto *entry = tensor->add_external_data();
    entry->set_key(key), entry->set_value(value);
  }
  model.input("x", {4}).output("y").node("Add", {"x", "w"}, {"y"});
  return tensor;
}

struct ExternalDataTest : ImporterTest {
  ExternalDataTest() {
    std::ofstream(folder + "/weights.bin", std::ios::binary)
        << std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16);
  }
};

TEST_F(ExternalDataTest, IsReadInPlace) {
  TinyModel model;
  external(model, "weights.bin");
  auto module = import(model);
  ASSERT_TRUE(module.ok()) << module.status().message();
  std::vector<Tensor> inputs{Tensor::allocate(DType::F32, {4})};
  auto got = graph::interpret(**module, inputs);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ((*got)[0].data<float>()[2], 3.0f);
}

TEST_F(ExternalDataTest, RefusesWhatLeavesTheFolder) {
  std::ofstream(folder + "/../outside.bin") << "0123456789abcdef";
  std::filesystem::create_symlink("../outside.bin", folder + "/link.bin");
  std::filesystem::create_directory(folder + "/folder.bin");
  for (const auto &[location, part] :
       std::vector<std::pair<std::string, std::string>>{{"../outside.bin", "'..'"},
                                                        {"/etc/passwd", "absolute"},
                                                        {"", "empty"},
                                                        {"link.bin", "outside"},
                                                        {"folder.bin", "regular file"}}) {
    TinyModel model;
    external(model, location);
    refuses(model, Code::Malformed, {"'w'", part});
  }
}

TEST_F(ExternalDataTest, RefusesWhatIsNotThere) {
  TinyModel missing, tooShort, wrongLength, badNumber, unknownKey;
  external(missing, "missing.bin");
  refuses(missing, Code::Io, {"'w'", "missing.bin", "--random-weights"});
  external(tooShort, "weights.bin", 4);
  refuses(tooShort, Code::Malformed, {"16 bytes at offset 4", "has 16 bytes"});
  external(wrongLength, "weights.bin", 0, 12);
  refuses(wrongLength, Code::Malformed, {"expected 16 bytes", "12"});
  external(badNumber, "weights.bin")->mutable_external_data(1)->set_value("-4");
  refuses(badNumber, Code::Malformed, {"'offset'", "-4"});
  external(unknownKey, "weights.bin")->mutable_external_data(1)->set_key("__class__");
  refuses(unknownKey, Code::Malformed, {"__class__"});
}

TEST_F(ExternalDataTest, RandomWeightsReplaceOnlyWhatIsAbsent) {
  TinyModel absent, present;
  external(absent, "missing.bin"), external(present, "weights.bin");
  options.randomWeights = 7;
  EXPECT_EQ(text(absent), text(absent));
  std::string seven = text(absent), real = text(present);
  options.randomWeights = 8;
  EXPECT_NE(text(absent), seven);
  EXPECT_EQ(text(present), real);
}

} // namespace
