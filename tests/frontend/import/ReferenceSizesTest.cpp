// SPDX-License-Identifier: Apache-2.0
// Models whose nodes all run through the reference, with symbolic sizes: one import serves all sizes as well as an
// import for each size. The models are such that the sizes of the importer's trial runs (3, 5, 7, ... and 6, 11, 16,
// ...) would mislead it.
#include "tests/frontend/TinyModel.h"

#include "runtime/reference/Reference.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct SizesCase {
  std::string name;
  TinyModel model;            // of f32 inputs
  std::vector<Shape> smaller; // of its inputs: at least two runs, of different sizes
  std::vector<Shape> larger;
};

class ReferenceSizesTest : public testing::TestWithParam<SizesCase> {
protected:
  Expected<std::vector<Tensor>> run(const ImportOptions &options, std::span<const Tensor> inputs) {
    auto module = importModelBytes(context, GetParam().model.bytes(), "", options);
    return module ? graph::interpret(**module, inputs) : module.status();
  }
  mlir::MLIRContext context;
};

TEST_P(ReferenceSizesTest, AreThoseOfTheInputs) {
  for (const std::vector<Shape> &shapes : {GetParam().smaller, GetParam().larger}) {
    ImportOptions open, fixed;
    open.allAsReference = fixed.allAsReference = true;
    std::vector<Tensor> inputs;
    for (const auto &[i, shape] : llvm::enumerate(shapes)) {
      fixed.shapes[GetParam().model.proto.graph().input(i).name()] = shape;
      inputs.push_back(sampleTensor(DType::F32, shape, i + 1));
    }
    auto want = run(fixed, inputs), got = run(open, inputs);
    ASSERT_TRUE(want.ok()) << want.status().message();
    ASSERT_TRUE(got.ok()) << got.status().message();
    for (size_t i = 0; i < want->size(); ++i)
      expectClose((*got)[i], (*want)[i], "output " + std::to_string(i));
  }
}

struct CaseList {
  std::vector<SizesCase> cases;
  TinyModel &add(const std::string &name, std::vector<Shape> smaller, std::vector<Shape> larger) {
    cases.push_back({name, TinyModel(), std::move(smaller), std::move(larger)});
    return cases.back().model.output("y");
  }
};

void maxPool(TinyModel &model, const std::string &from, const std::string &to) {
  onnx::NodeProto *node = model.node("MaxPool", {from}, {to});
  setAttribute(node, "kernel_shape", std::vector<int64_t>{2});
  setAttribute(node, "strides", std::vector<int64_t>{5});
}

/// Sizes of windows.
void addWindows(CaseList &list) {
  { // one window at 3 and at 6
    TinyModel &model = list.add("Windows", {{1, 2, 2}}, {{1, 2, 23}}).input("x", {1, 2, "n"});
    maxPool(model, "x", "y");
  }
  { // a size that is no size at 3 and at 6
    TinyModel &model = list.add("Smaller", {{22}, {2}}, {{29}, {9}}).input("x", {"n"}).input("w", {"n - 20"});
    model.output("z");
    model.node("Relu", {"w"}, {"y"}), model.node("Relu", {"x"}, {"z"});
  }
  { // a sum of computed sizes, which must have been tried at sizes that fit each other
    TinyModel &model = list.add("SumOfWindows", {{1, 2, 2}}, {{4, 2, 23}}).input("x", {"batch", 2, "n"});
    maxPool(model, "x", "a"), maxPool(model, "x", "b");
    model.node("Relu", {"a"}, {"c"});
    model.node("Add", {"c", "b"}, {"y"});
  }
  { // 2n - 1 looks like m: 5 and 11
    TinyModel &model =
        list.add("TransposedConvolution", {{1, 1, 2}, {9}}, {{1, 1, 8}, {2}}).input("x", {1, 1, "n"}).input("w", {"m"});
    model.output("z").floats("kernel", {1, 1, 1}, {1});
    setAttribute(model.node("ConvTranspose", {"x", "kernel"}, {"y"}), "strides", std::vector<int64_t>{2});
    model.node("Neg", {"w"}, {"z"});
  }
}

/// Sizes by moves of elements.
void addShapes(CaseList &list) {
  { // three rows of 3 and of 6
    TinyModel &model = list.add("Slice", {{2, 4}}, {{7, 4}}).input("x", {"n", 4});
    model.integers("start", {1}, {0}), model.integers("end", {1}, {3});
    model.node("Slice", {"x", "start", "end"}, {"y"});
  }
  { // only the contents of an input know a size
    TinyModel &model = list.add("Expand", {{2}}, {{9}}).input("x", {"n"});
    model.floats("one", {1, 1}, {0.5}), model.integers("rows", {1}, {2});
    model.node("Shape", {"x"}, {"size"});
    model.node("Concat", {"rows", "size"}, {"shape"});
    setAttribute(model.proto.mutable_graph()->mutable_node(1), "axis", int64_t(0));
    model.node("Expand", {"one", "shape"}, {"y"});
  }
  {
    TinyModel &model = list.add("Reshape", {{2, 6}}, {{9, 6}}).input("x", {"n", 6});
    model.integers("shape", {2}, {3, -1});
    model.node("Reshape", {"x", "shape"}, {"y"});
  }
  { // twice the size, then elementwise with what has it too
    TinyModel &model = list.add("Concat", {{2, 3}}, {{9, 3}}).input("x", {"n", 3});
    setAttribute(model.node("Concat", {"x", "x"}, {"a"}), "axis", int64_t(0));
    setAttribute(model.node("Concat", {"x", "x"}, {"b"}), "axis", int64_t(0));
    model.node("Mul", {"a", "b"}, {"y"});
  }
}

/// Sizes that depend on values.
void addData(CaseList &list) {
  { // sizes from data that the import does not know
    TinyModel &model =
        list.add("Repeats", {{2, 2}, {1, 4}}, {{3, 1}, {2, 3}}).input("x", {"n", "k"}).input("w", {"a", "b"});
    model.node("Shape", {"x"}, {"shape"});
    model.node("Cast", {"shape"}, {"real"});
    setAttribute(model.proto.mutable_graph()->mutable_node(1), "to", static_cast<int64_t>(DType::F32));
    model.node("Abs", {"real"}, {"positive"});
    model.node("Cast", {"positive"}, {"repeats"});
    setAttribute(model.proto.mutable_graph()->mutable_node(3), "to", static_cast<int64_t>(DType::I64));
    model.node("Tile", {"w", "repeats"}, {"tiled"});
    model.node("Relu", {"tiled"}, {"y"});
  }
  { // only ones tell the rank
    TinyModel &model = list.add("Broadcast", {{3}, {1}}, {{1}, {5}}).input("x", {"n"}).input("w", {"m"});
    model.node("Add", {"x", "w"}, {"y"});
  }
  { // scales are floats
    TinyModel &model = list.add("Scales", {{1, 1, 2}}, {{1, 1, 7}}).input("x", {1, 1, "n"});
    model.floats("scales", {3}, {1, 1, 0.34f});
    model.node("Resize", {"x", "", "scales"}, {"y"});
  }
}

std::vector<SizesCase> cases() {
  CaseList list;
  addWindows(list), addShapes(list), addData(list);
  return std::move(list.cases);
}

TEST(ReferenceSizes, NothingIsGuessedWhereNoTrialFits) {
  TinyModel model;
  model.input("x", {"n"}).output("y").integers("shape", {1}, {7});
  model.node("Reshape", {"x", "shape"}, {"y"});
  mlir::MLIRContext context;
  ImportOptions options;
  options.allAsReference = true;
  auto module = importModelBytes(context, model.bytes(), "", options);
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().code(), Code::Unsupported);
  for (const char *part :
       {"node 'y'", "the rank of its output 0 is not known", "tried with small sizes, says Reshape: "})
    EXPECT_NE(module.status().message().find(part), std::string::npos) << module.status().message();
}

INSTANTIATE_TEST_SUITE_P(Operators, ReferenceSizesTest, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

} // namespace
