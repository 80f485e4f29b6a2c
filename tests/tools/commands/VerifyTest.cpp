// SPDX-License-Identifier: Apache-2.0
// verify on models with real differences. In half precision x * x / x overflows node by node, but not fused, where it
// is computed in float32: no fault has to be injected for the fused program to differ from the reference. Wrong weights
// stand in for a fault against values in a folder.
#include "tests/ScratchFolder.h"
#include "tools/tilewright/model/EvaluateModel.h"
#include "tools/tilewright/model/ReduceModel.h"
#include "tools/tilewright/values/Npy.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <numeric>

namespace fs = std::filesystem;
using namespace tilewright;

namespace {

constexpr int64_t size = 16;

struct Result {
  int exitCode = -1;
  std::string out; // stdout
};

Result command(const std::string &arguments) {
  Result result;
  FILE *pipe = popen(("'" TILEWRIGHT_BINARY_DIR "/tilewright' " + arguments + " 2>/dev/null").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    result.out.append(buffer, n);
  int status = pclose(pipe);
  result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

void addNode(onnx::GraphProto &graph, const char *name, const char *op, std::vector<const char *> inputs,
             const char *output) {
  onnx::NodeProto *node = graph.add_node();
  node->set_name(name), node->set_op_type(op), node->add_output(output);
  for (const char *input : inputs)
    node->add_input(input);
}

void addValue(onnx::ValueInfoProto *info, const char *name, DType type) {
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<int>(type));
  auto *shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->add_dim()->set_dim_param("batch"), shape->add_dim()->set_dim_value(size);
}

template <typename T> Tensor tensorOf(DType type, Shape shape, const std::function<double(int64_t)> &element) {
  Tensor tensor = Tensor::allocate(type, std::move(shape));
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.data<T>()[i] = static_cast<T>(element(i));
  return tensor;
}

/// y = relu((t t / t - 300) W) with t = tanh(x W) + 300, in T: 300 * 300 is beyond float16 and not beyond float32.
template <typename T> onnx::ModelProto overflowing(DType type, double lastWeight = 0.25) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  auto *import = model.add_opset_import();
  import->set_version(17);
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.set_name("overflowing");
  addValue(graph.add_input(), "x", type), addValue(graph.add_output(), "y", type);
  *graph.add_initializer() =
      toProto("w", tensorOf<T>(type, {size, size}, [](int64_t i) { return (i * 7 % 11 - 5) / 16.0; }));
  *graph.add_initializer() = toProto(
      "v", tensorOf<T>(type, {size, size}, [&](int64_t i) { return i == 0 ? lastWeight : (i * 5 % 13 - 6) / 16.0; }));
  *graph.add_initializer() = toProto("c", tensorOf<T>(type, {size}, [](int64_t) { return 300; }));
  addNode(graph, "first", "MatMul", {"x", "w"}, "h"), addNode(graph, "bend", "Tanh", {"h"}, "t");
  addNode(graph, "shift", "Add", {"t", "c"}, "big");
  addNode(graph, "square", "Mul", {"big", "big"}, "sq"), addNode(graph, "divide", "Div", {"sq", "big"}, "back");
  addNode(graph, "unshift", "Sub", {"back", "c"}, "small");
  addNode(graph, "last", "MatMul", {"small", "v"}, "m"), addNode(graph, "relu", "Relu", {"m"}, "y");
  return model;
}

class Verify : public testing::Test {
protected:
  std::string write(const std::string &name, const onnx::ModelProto &model) {
    std::ofstream(folder / name, std::ios::binary) << model.SerializeAsString();
    return "'" + (folder / name).string() + "'";
  }
  test::ScratchFolder scratch;
  fs::path folder = scratch.folder();
};

std::string firstBad(const nlohmann::json &json) {
  for (const auto &node : json["nodes"])
    if (!node["same"])
      return node["node"];
  return "";
}

} // namespace

TEST_F(Verify, NamesTheFirstNodeThatDiffers) {
  std::string model = write("half.onnx", overflowing<_Float16>(DType::F16));
  Result fused = command("verify " + model + " --per-node --json");
  EXPECT_EQ(fused.exitCode, int(Code::Differs));
  auto json = nlohmann::json::parse(fused.out);
  ASSERT_EQ(json["nodes"].size(), 2u) << fused.out; // what the two kernels leave in memory
  EXPECT_EQ(firstBad(json), "unshift");
  EXPECT_EQ(json["nodes"][0]["op"], "Sub");

  Result unfused = command("verify " + model + " --per-node --json --fuse=none");
  EXPECT_EQ(unfused.exitCode, 0);
  EXPECT_EQ(nlohmann::json::parse(unfused.out)["nodes"].size(), 8u);

  Result single = command("verify " + write("single.onnx", overflowing<float>(DType::F32)) + " --per-node --json");
  EXPECT_EQ(single.exitCode, 0) << single.out;
}

TEST_F(Verify, ReducesToTheNodesThatDiffer) {
  std::string model = write("half.onnx", overflowing<_Float16>(DType::F16)), bug = (folder / "a bug").string();
  Result result = command("verify " + model + " --reduce '" + bug + "' --json");
  EXPECT_EQ(result.exitCode, int(Code::Differs));
  auto reduction = nlohmann::json::parse(result.out)["reduction"];
  EXPECT_EQ(reduction["nodes"], (std::vector<std::string>{"square", "divide"})) << result.out;
  for (const char *file :
       {"model.onnx", "group.mlir", "README.txt", "test_data_set_0/input_0.pb", "test_data_set_0/output_0.pb"})
    EXPECT_TRUE(fs::exists(fs::path(bug) / file)) << file;

  std::string again = reduction["command"].get<std::string>().substr(strlen("tilewright "));
  EXPECT_EQ(command(again).exitCode, int(Code::Differs)) << again;       // the printed command works in a shell
  EXPECT_EQ(command(again + " --fuse=none").exitCode, int(Code::Usage)); // the command says how to fuse
  EXPECT_EQ(command("verify '" + bug + "/model.onnx' --inputs '" + bug + "' --fuse=none").exitCode, 0);
  EXPECT_EQ(command("run '" + bug + "/model.onnx' --check '" + bug + "'").exitCode, int(Code::Differs));
}

TEST_F(Verify, PutsExternalWeightsIntoTheReduction) {
  onnx::ModelProto model = overflowing<_Float16>(DType::F16);
  onnx::TensorProto &constant = *model.mutable_graph()->mutable_initializer(2);
  std::ofstream(folder / "c.bin", std::ios::binary) << constant.raw_data();
  constant.clear_raw_data();
  constant.set_data_location(onnx::TensorProto::EXTERNAL);
  auto *entry = constant.add_external_data();
  entry->set_key("location"), entry->set_value("c.bin");
  // Divided by the constant instead: it stays in the reduction.
  model.mutable_graph()->mutable_node(4)->set_input(1, "c");
  std::string path = write("half.onnx", model), bug = (folder / "bug").string();
  EXPECT_EQ(command("verify " + path + " --reduce '" + bug + "'").exitCode, int(Code::Differs));
  Expected<OnnxModel> reduced = OnnxModel::read(bug + "/model.onnx");
  ASSERT_TRUE(reduced) << reduced.status().message();
  ASSERT_EQ(reduced->proto().graph().initializer_size(), 1);
  EXPECT_EQ(reduced->proto().graph().initializer(0).raw_data().size(), size * 2u);
  EXPECT_EQ(command("verify '" + bug + "/model.onnx' --inputs '" + bug + "'").exitCode, int(Code::Differs));
}

TEST_F(Verify, HoldsNodesAgainstValuesInAFolder) {
  // The values as the reference has them, then a model with another weight in the last product.
  onnx::ModelProto good = overflowing<float>(DType::F32);
  std::string path = write("good.onnx", good), other = write("other.onnx", overflowing<float>(DType::F32, 4.0));
  Expected<OnnxModel> model = OnnxModel::read((folder / "good.onnx").string());
  ASSERT_TRUE(model);
  Evaluation evaluation;
  evaluation.options.modelPath = (folder / "good.onnx").string();
  ValueMap inputs = {{"x", tensorOf<float>(DType::F32, {3, size}, [](int64_t i) { return (i % 9) / 4.0 - 1; })}};
  auto reference = referenceOf(evaluation, inputs);
  ASSERT_TRUE(reference);
  auto values = evaluateModel(*reference, model->withOutputs(model->values()), inputs);
  ASSERT_TRUE(values) << values.status().message();
  fs::create_directories(folder / "values");
  for (const auto &[name, tensor] : *values)
    ASSERT_TRUE(writeNpy(folder / "values" / (name + ".npy"), tensor));
  ASSERT_TRUE(writeNpy(folder / "x.npy", inputs["x"]));

  std::string rest = " --per-node --json --fuse=none --inputs x='" + (folder / "x.npy").string() + "' --against '" +
                     (folder / "values").string() + "'";
  Result same = command("verify " + path + rest), differs = command("verify " + other + rest);
  EXPECT_EQ(same.exitCode, 0) << same.out;
  EXPECT_EQ(nlohmann::json::parse(same.out)["nodes"].size(), 8u);
  EXPECT_EQ(differs.exitCode, int(Code::Differs));
  EXPECT_EQ(firstBad(nlohmann::json::parse(differs.out)), "last");
}

/// The reference is compiled for the sizes of the inputs, so sizes that the model computes are known.
TEST_F(Verify, KnowsSizesThatTheModelComputes) {
  onnx::ModelProto model = overflowing<float>(DType::F32);
  onnx::GraphProto &graph = *model.mutable_graph();
  addNode(graph, "shape", "Shape", {"y"}, "sizes"), addNode(graph, "spread", "Expand", {"c", "sizes"}, "wide");
  addNode(graph, "sum", "Add", {"wide", "y"}, "z");
  addValue(graph.add_output(), "z", DType::F32);
  Result result = command("verify " + write("sizes.onnx", model) + " --dim batch=4 --per-node --json");
  EXPECT_EQ(result.exitCode, 0) << result.out;
  EXPECT_EQ(nlohmann::json::parse(result.out)["outputs"].size(), 2u) << result.out;
}

TEST_F(Verify, RefusesWhatItCannotDo) {
  std::string model = write("single.onnx", overflowing<float>(DType::F32)),
              artifact = "'" + (folder / "m.tw").string() + "'";
  ASSERT_EQ(command("compile " + model + " -o " + artifact).exitCode, 0);
  EXPECT_EQ(command("verify " + artifact + " --per-node").exitCode, int(Code::Usage));
  EXPECT_EQ(command("verify " + model + " --reduce --against '" + folder.string() + "'").exitCode, int(Code::Usage));
  EXPECT_EQ(command("verify " + model + " --against '" + (folder / "absent").string() + "'").exitCode, int(Code::Io));
  EXPECT_EQ(command("verify " + model + " --reduce '" + (folder / "bug").string() + "'").exitCode, 0);
  EXPECT_FALSE(fs::exists(folder / "bug")); // nothing differs
}

TEST(Shrink, KeepsWhatFailsTogether) {
  std::vector<int> nodes(64);
  std::iota(nodes.begin(), nodes.end(), 0);
  size_t tried = 0;
  auto fails = [&](const std::vector<int> &rest) {
    ++tried;
    return std::ranges::count(rest, 3) + std::ranges::count(rest, 40) + std::ranges::count(rest, 41) == 3;
  };
  EXPECT_EQ(shrink(nodes, fails), (std::vector<int>{3, 40, 41}));
  EXPECT_LT(tried, 80u);
  EXPECT_EQ(shrink({5}, [](const std::vector<int> &) { return true; }), (std::vector<int>{5}));
}
