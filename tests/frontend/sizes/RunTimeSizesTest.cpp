// SPDX-License-Identifier: Apache-2.0
// Integer inputs that are only known at run time: one import serves all their values, and computes what the reference
// does.
#include "tests/frontend/TinyModel.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Numbers = std::vector<double>;

/// An input of a node: samples of a shape, or numbers that change from run to run.
struct Operand {
  DType type = DType::F32;
  Shape shape;
  bool changes = false;
  bool absent = false;
};
Operand data(Shape shape, DType type = DType::F32) { return {type, std::move(shape)}; }
Operand numbers(int64_t count, DType type = DType::I64) { return {type, {count}, true}; }
Operand number(DType type = DType::I64) { return {type, {}, true}; }
const Operand nothing{DType::F32, {}, false, true};

using Value = std::variant<int64_t, float, std::string, std::vector<int64_t>>;

struct Case {
  std::string op;
  int opset;
  std::vector<Operand> inputs;
  std::vector<std::pair<std::string, Value>> attributes = {};
  std::vector<std::vector<Numbers>> runs = {}; // what the changing inputs are
  int outputs = 1;
};
std::ostream &operator<<(std::ostream &out, const Case &test) { return out << test.op << " opset " << test.opset; }

Tensor tensorOf(const Operand &operand, const Numbers &values) {
  Tensor tensor = Tensor::allocate(operand.type, operand.shape);
  for (size_t i = 0; i < values.size(); ++i)
    switch (operand.type) {
    case DType::I64:
      tensor.data<int64_t>()[i] = static_cast<int64_t>(values[i]);
      break;
    case DType::I32:
      tensor.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
      break;
    case DType::F64:
      tensor.data<double>()[i] = values[i];
      break;
    default:
      tensor.data<float>()[i] = static_cast<float>(values[i]);
      break;
    }
  return tensor;
}

class RunTimeNumbers : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    const Case &test = GetParam();
    TinyModel model(test.opset, 10);
    std::vector<std::string> inputs, outputs;
    for (const Operand &operand : test.inputs) {
      inputs.push_back(operand.absent ? "" : "x" + std::to_string(inputs.size()));
      if (operand.absent)
        continue;
      std::vector<Dim> dims;
      for (int64_t size : operand.shape)
        dims.push_back(static_cast<int>(size));
      model.input(inputs.back(), dims, operand.type);
    }
    for (int i = 0; i < test.outputs; ++i) {
      outputs.push_back("y" + std::to_string(i));
      model.output(outputs.back());
    }
    onnx::NodeProto *node = model.node(test.op, inputs, outputs);
    for (const auto &[name, value] : test.attributes)
      std::visit([&](const auto &v) { setAttribute(node, name, v), attributes[name] = v; }, value);
    ImportReport report;
    auto imported = importModelBytes(context, model.bytes(), ".", {}, &report);
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    EXPECT_TRUE(report.fallbacks.empty()) << report.fallbacks.front().reason;
    module = std::move(*imported);
  }

  /// All inputs of the node; absent ones are undefined.
  std::vector<Tensor> inputsWith(const std::vector<Numbers> &run) const {
    std::vector<Tensor> all;
    size_t next = 0;
    for (const Operand &operand : GetParam().inputs)
      all.push_back(operand.absent    ? Tensor()
                    : operand.changes ? tensorOf(operand, run.at(next++))
                                      : sampleTensor(operand.type, operand.shape, all.size() + 1));
    return all;
  }
  Expected<std::vector<Tensor>> interpret(const std::vector<Tensor> &all) {
    std::vector<Tensor> given;
    for (const Tensor &tensor : all)
      if (tensor.defined())
        given.push_back(tensor);
    return graph::interpret(*module, given);
  }
  Expected<std::vector<Tensor>> reference(const std::vector<Tensor> &all) {
    const Case &test = GetParam();
    ReferenceCall call{.op = test.op,
                       .domain = "",
                       .opset = test.opset,
                       .attributes = &attributes,
                       .outputCount = size_t(test.outputs)};
    return evaluate(call, all);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Attributes attributes;
};

TEST_P(RunTimeNumbers, ComputeWhatTheReferenceDoes) {
  for (const std::vector<Numbers> &run : GetParam().runs) {
    std::vector<Tensor> all = inputsWith(run);
    auto got = interpret(all), expected = reference(all);
    ASSERT_TRUE(got.ok()) << got.status().message();
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    for (int i = 0; i < GetParam().outputs; ++i)
      expectClose((*got)[i], (*expected)[i], testing::PrintToString(run));
  }
}

TEST_P(RunTimeNumbers, AreReadWhenRunning) {
  int reads = 0;
  module->walk([&](graph::ReadSizesOp) { ++reads; });
  EXPECT_GT(reads, 0);
}

std::vector<Case> reductions() {
  std::vector<Case> cases;
  for (const char *op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                         "ReduceLogSumExp", "ReduceSumSquare"})
    for (int64_t keep : {0, 1}) {
      cases.push_back(
          {op, 18, {data({2, 3, 4}), numbers(1)}, {{"keepdims", keep}}, {{{0}}, {{1}}, {{2}}, {{-1}}, {{-3}}}});
      cases.push_back(
          {op, 18, {data({2, 3, 4}), numbers(2)}, {{"keepdims", keep}}, {{{0, 1}}, {{2, 0}}, {{1, -1}}, {{-2, -3}}}});
    }
  cases.push_back({"ReduceMax", 20, {data({3, 5, 2}, DType::U8), numbers(1)}, {}, {{{0}}, {{1}}}});
  for (const char *op : {"ReduceMax", "ReduceMin"})
    cases.push_back({op, 20, {data({2, 0, 4}, DType::Bool), numbers(1)}, {}, {{{0}}, {{1}}}});
  cases.push_back({"ReduceSum", 13, {data({2, 0, 4}), numbers(1)}, {}, {{{0}}, {{1}}, {{2}}}});
  cases.push_back(
      {"CumSum", 14, {data({2, 3, 4}), number(DType::I32)}, {{"reverse", int64_t(1)}}, {{{0}}, {{-1}}, {{1}}}});
  cases.push_back({"CumProd", 26, {data({2, 3, 4}), number()}, {{"exclusive", int64_t(1)}}, {{{0}}, {{-2}}, {{2}}}});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Axes, RunTimeNumbers, testing::ValuesIn(reductions()));

INSTANTIATE_TEST_SUITE_P(
    Shapes, RunTimeNumbers,
    testing::Values(Case{"Reshape", 14, {data({2, 3, 4}), numbers(2)}, {}, {{{4, 6}}, {{-1, 3}}, {{0, -1}}, {{24, 1}}}},
                    Case{"Reshape", 14, {data({2, 3, 4}), numbers(4)}, {}, {{{0, 0, 2, -1}}, {{1, -1, 1, 4}}}},
                    Case{"Reshape", 14, {data({0, 3}), numbers(2)}, {{"allowzero", int64_t(1)}}, {{{3, 0}}, {{0, 5}}}},
                    Case{"Expand", 13, {data({3, 1}), numbers(3)}, {}, {{{2, 3, 4}}, {{1, 1, 1}}, {{5, 1, 2}}}},
                    Case{"Expand", 13, {data({2, 1, 3}), numbers(1)}, {}, {{{3}}, {{1}}}},
                    Case{"Tile", 13, {data({2, 3}), numbers(2)}, {}, {{{1, 1}}, {{3, 2}}, {{0, 2}}}},
                    Case{"Squeeze", 13, {data({1, 3, 1, 2}), numbers(1)}, {}, {{{0}}, {{2}}, {{-2}}}},
                    Case{"Squeeze", 13, {data({1, 3, 1, 2}), numbers(2)}, {}, {{{0, 2}}, {{-2, 0}}}},
                    Case{"Unsqueeze", 13, {data({3, 2}), numbers(1)}, {}, {{{0}}, {{1}}, {{2}}, {{-1}}}},
                    Case{"Unsqueeze", 13, {data({3, 2}), numbers(2)}, {}, {{{0, 1}}, {{3, 1}}, {{-1, 0}}, {{2, 1}}}},
                    Case{"ConstantOfShape", 20, {numbers(2)}, {}, {{{2, 3}}, {{0, 4}}}},
                    Case{"Range",
                         11,
                         {number(), number(), number()},
                         {},
                         {{{0}, {5}, {1}}, {{3}, {-8}, {-2}}, {{2}, {2}, {1}}, {{1}, {8}, {3}}}},
                    Case{"Range",
                         11,
                         {number(DType::F32), number(DType::F32), number(DType::F32)},
                         {},
                         {{{0}, {2}, {0.5}}, {{3}, {1}, {-0.75}}, {{1}, {0}, {1}}}},
                    Case{"OneHot", 11, {data({4}, DType::I64), number(), data({2})}, {}, {{{3}}, {{20}}}},
                    Case{"Split", 18, {data({7, 2}), numbers(3)}, {}, {{{1, 2, 4}}, {{3, 0, 4}}}, 3},
                    Case{"AffineGrid", 20, {data({2, 2, 3}), numbers(4)}, {}, {{{2, 1, 3, 4}}, {{2, 3, 1, 5}}}},
                    Case{"AffineGrid",
                         20,
                         {data({1, 3, 4}), numbers(5)},
                         {{"align_corners", int64_t(1)}},
                         {{{1, 1, 3, 4, 2}}, {{1, 2, 1, 5, 3}}}},
                    Case{"HannWindow", 17, {number()}, {}, {{{1}}, {{10}}}},
                    Case{"BlackmanWindow", 17, {number(DType::I32)}, {{"periodic", int64_t(0)}}, {{{1}}, {{9}}}},
                    Case{"TopK", 11, {data({3, 6}), numbers(1)}, {}, {{{1}}, {{4}}, {{6}}, {{0}}}, 2},
                    Case{"TopK",
                         11,
                         {data({5, 3}, DType::I64), numbers(1)},
                         {{"axis", int64_t(0)}, {"largest", int64_t(0)}},
                         {{{2}}, {{5}}},
                         2}));

INSTANTIATE_TEST_SUITE_P(
    Slices, RunTimeNumbers,
    testing::Values(
        Case{"Slice",
             13,
             {data({7, 5}), numbers(1), numbers(1)},
             {},
             {{{1}, {4}}, {{-3}, {100}}, {{5}, {2}}, {{-100}, {-1}}}},
        Case{"Slice",
             13,
             {data({7, 5}), numbers(2), numbers(2), numbers(2)},
             {},
             {{{1, 2}, {4, 9}, {1, 0}}, {{0, -2}, {3, 5}, {-2, -1}}}},
        Case{"Slice",
             13,
             {data({7, 5}), numbers(1), numbers(1), numbers(1), numbers(1)},
             {},
             {{{6}, {0}, {0}, {-2}},
              {{-1}, {-100}, {1}, {-1}},
              {{100}, {-3}, {0}, {-1}},
              {{0}, {7}, {0}, {3}},
              {{-100}, {-200}, {1}, {-1}}}},
        Case{"Slice", 13, {data({0, 5}), numbers(1), numbers(1)}, {}, {{{0}, {4}}}},
        Case{"Pad",
             18,
             {data({3, 4}), numbers(4), number(DType::F32)},
             {},
             {{{1, 0, 2, 3}, {7}}, {{-1, 1, 0, -2}, {0.5}}, {{0, 0, 0, 0}, {1}}}},
        Case{"Pad", 18, {data({3, 4}), numbers(2), nothing, numbers(1)}, {}, {{{1, 2}, {0}}, {{3, -1}, {-1}}}},
        Case{"Pad",
             18,
             {data({3, 4}), numbers(4)},
             {{"mode", std::string("reflect")}},
             {{{1, 2, 2, 1}}, {{-1, 2, 2, 0}}}},
        Case{"Pad", 18, {data({3, 4}), numbers(4)}, {{"mode", std::string("edge")}}, {{{1, 2, 2, 1}}, {{0, -2, 5, 0}}}},
        Case{"Pad", 19, {data({3, 4}), numbers(4)}, {{"mode", std::string("wrap")}}, {{{4, 2, 2, 1}}, {{0, -1, 5, 0}}}},
        Case{"CenterCropPad", 18, {data({5, 4}), numbers(2)}, {}, {{{2, 7}}, {{8, 1}}, {{5, 4}}}},
        Case{"CenterCropPad", 18, {data({5, 4}), numbers(1)}, {{"axes", std::vector<int64_t>{-1}}}, {{{3}}, {{9}}}}));

std::vector<Case> resizes() {
  std::vector<Case> cases;
  const Operand image = data({1, 2, 5, 4});
  for (const char *transform :
       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"})
    for (const char *mode : {"nearest", "linear", "cubic"}) {
      std::vector<std::pair<std::string, Value>> attributes = {
          {"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(transform)}};
      cases.push_back({"Resize",
                       19,
                       {image, nothing, numbers(4, DType::F32)},
                       attributes,
                       {{{1, 1, 2, 2}}, {{1, 1, 0.6f, 0.7f}}, {{1, 1, 1.5, 3}}}});
      cases.push_back(
          {"Resize", 19, {image, nothing, nothing, numbers(4)}, attributes, {{{1, 2, 8, 3}}, {{1, 2, 1, 9}}}});
    }
  using Attributes = std::vector<std::pair<std::string, Value>>;
  // 15.5 / (31.0f / 11) - 0.5 is just above 5, but 5 in float32.
  cases.push_back({"Resize",
                   19,
                   {data({11}), nothing, nothing, numbers(1)},
                   Attributes{{"coordinate_transformation_mode", std::string("half_pixel_symmetric")},
                              {"nearest_mode", std::string("ceil")}},
                   {{{31}}}});
  const std::vector<int64_t> spatial{2, 3};
  for (const char *mode : {"linear", "cubic"}) {
    Attributes attributes{{"mode", std::string(mode)}, {"antialias", int64_t(1)}, {"axes", spatial}};
    cases.push_back({"Resize", 19, {image, nothing, numbers(2, DType::F32)}, attributes, {{{0.6f, 0.3f}}, {{2, 1}}}});
    attributes[1] = {"exclude_outside", int64_t(1)};
    cases.push_back({"Resize", 19, {image, nothing, numbers(2, DType::F32)}, attributes, {{{0.8f, 0.5f}}, {{2, 1}}}});
  }
  for (const char *policy : {"not_larger", "not_smaller"})
    cases.push_back({"Resize",
                     19,
                     {image, nothing, nothing, numbers(2)},
                     {{"keep_aspect_ratio_policy", std::string(policy)}, {"axes", spatial}},
                     {{{10, 6}}, {{2, 4}}}});
  for (const char *mode : {"nearest", "linear", "cubic"}) {
    Attributes attributes{{"mode", std::string(mode)},
                          {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                          {"axes", spatial},
                          {"extrapolation_value", 7.0f}};
    cases.push_back({"Resize",
                     19,
                     {image, numbers(4, DType::F32), nothing, numbers(2)},
                     attributes,
                     {{{0.25, 0.2, 0.75, 1.5}, {3, 5}}, {{-0.5, 0, 1, 1}, {6, 1}}}});
  }
  cases.push_back({"Upsample", 9, {image, numbers(4, DType::F32)}, {}, {{{1, 1, 2, 3}}}});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Resizes, RunTimeNumbers, testing::ValuesIn(resizes()));

/// Reshape(x, shape) + w.
struct BroadcastCase {
  Shape x, w;
  Numbers shape;
};

TEST(RunTimeSizes, AreOneWhereTheNumberOfElementsSaysSo) {
  const BroadcastCase cases[] = {{{3, 1}, {3, 6}, {3, 1}}, {{3, 1}, {3, 6}, {-1, 1}}, {{3}, {1, 6}, {3, 1}},
                                 {{2, 3}, {3, 6}, {1, 6}}, {{0, 6}, {1, 6}, {0, 6}},  {{2, 9}, {3, 6}, {3, 6}}};
  for (const auto &[from, beside, shape] : cases) {
    TinyModel model;
    auto fixed = [](const Shape &sizes) {
      std::vector<Dim> dims;
      for (int64_t size : sizes)
        dims.push_back(static_cast<int>(size));
      return dims;
    };
    model.input("x", fixed(from)).input("shape", {2}, DType::I64).input("w", fixed(beside)).output("y");
    model.node("Reshape", {"x", "shape"}, {"a"}), model.node("Add", {"a", "w"}, {"y"});
    mlir::MLIRContext context;
    auto module = importModelBytes(context, model.bytes(), ".", {});
    ASSERT_TRUE(module.ok()) << module.status().message();
    Tensor x = sampleTensor(DType::F32, from, 1), w = sampleTensor(DType::F32, beside, 2);
    auto got = graph::interpret(**module, std::vector<Tensor>{x, tensorOf(numbers(2), shape), w});
    ASSERT_TRUE(got.ok()) << got.status().message();
    Shape reshaped(shape.begin(), shape.end());
    std::replace(reshaped.begin(), reshaped.end(), int64_t(-1), from[0]);
    std::vector<Tensor> terms{x.reshaped(reshaped), w};
    ReferenceCall call{.op = "Add", .domain = "", .opset = 17, .attributes = nullptr, .outputCount = 1};
    expectClose(got->front(), evaluate(call, terms)->front(), testing::PrintToString(from));
  }
}

} // namespace
