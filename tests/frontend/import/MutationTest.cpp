// SPDX-License-Identifier: Apache-2.0
// Models with bytes flipped, dropped and repeated: the importer refuses or accepts them, but never crashes or reports
// an internal error.
#include "tests/frontend/TinyModel.h"

#include <random>

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> models;
  auto keep = [&](const TinyModel &model) { models.push_back(model.bytes()); };
  TinyModel shapes;
  shapes.input("x", {"batch", "seq", 8}).output("y").integers("i", {1}, {0}), shapes.integers("tail", {2}, {-1, 4});
  shapes.node("Shape", {"x"}, {"s"}), shapes.node("Gather", {"s", "i"}, {"b"});
  setAttribute(shapes.node("Concat", {"b", "tail"}, {"t"}), "axis", int64_t(0));
  shapes.node("Reshape", {"x", "t"}, {"y"});
  keep(shapes);
  TinyModel conv;
  conv.input("x", {1, 2, 6, 6}).output("y").floats("w", {2, 1, 3, 3}, std::vector<float>(18, 0.5f));
  setAttribute(conv.node("Conv", {"x", "w"}, {"c"}), "group", int64_t(2));
  onnx::NodeProto *pool = conv.node("MaxPool", {"c"}, {"y"});
  setAttribute(pool, "kernel_shape", std::vector<int64_t>{2, 2}),
      setAttribute(pool, "strides", std::vector<int64_t>{2, 2});
  keep(conv);
  TinyModel slices;
  slices.input("x", {5, 7}).output("y").integers("a", {2}, {1, -3}), slices.integers("b", {2}, {4, 100});
  slices.node("Slice", {"x", "a", "b"}, {"p"});
  setAttribute(slices.node("Softmax", {"p"}, {"q"}), "axis", int64_t(-1));
  slices.node("MatMul", {"q", "q"}, {"y"}); // does not fit: refused
  keep(slices);
  TinyModel recurrent;
  recurrent.input("x", {3, 2, 4}).input("w", {1, 12, 4}).input("r", {1, 12, 3}).output("y");
  setAttribute(recurrent.node("LSTM", {"x", "w", "r"}, {"y"}), "hidden_size", int64_t(3));
  keep(recurrent);
  TinyModel reference;
  reference.input("x", {"n", 3}).output("y").output("z").node("NonZero", {"x"}, {"y"});
  setAttribute(reference.node("CumSum", {"x", "axis"}, {"z"}), "reverse", int64_t(1));
  reference.integers("axis", {}, {1});
  keep(reference);
  return models;
}

std::string mutated(std::string bytes, std::mt19937 &random) {
  for (int change = 1 + static_cast<int>(random() % 4); change-- > 0 && !bytes.empty();) {
    size_t at = random() % bytes.size();
    switch (random() % 4) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      break;
    case 1:
      bytes[at] = "\0\1\2\3\7\177\377\100"[random() % 8];
      break;
    case 2:
      bytes.erase(at, 1 + random() % 4);
      break;
    default:
      bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 16));
      break;
    }
  }
  return bytes;
}

TEST(MutationTest, NothingCrashesAndNothingIsOurFault) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<std::string> models = seeds();
  std::mt19937 random(2026);
  int refused = 0;
  constexpr int rounds = 4000;
  for (int round = 0; round < rounds; ++round) {
    ImportOptions options;
    options.allAsReference = round % 5 == 0;
    std::string bytes = mutated(models[round % models.size()], random);
    auto module = importModelBytes(context, bytes, ".", options);
    refused += !module.ok();
    if (!module.ok()) {
      ASSERT_NE(static_cast<int>(module.status().code()), static_cast<int>(Code::Internal))
          << "round " << round << ": " << module.status().message();
      ASSERT_FALSE(module.status().message().empty());
    }
  }
  EXPECT_GT(refused, rounds / 2);
}

} // namespace
