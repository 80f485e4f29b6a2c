// SPDX-License-Identifier: Apache-2.0
// An out-of-range index in data ends a run with an error, wherever the operation runs: in a kernel, in integer
// arithmetic between kernels, or in the reference.
#include "../frontend/TinyModel.h"
#include "backend/Pipeline.h"
#include "runtime/Devices.h"
#include "runtime/execute/Context.h"
#include "tests/ScratchFolder.h"

#include <fstream>

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

/// A model with int64 input `i`; `good` and `bad` are values of `i`, in range for all uses but the tested one.
struct Row {
  const char *name;
  std::vector<int64_t> shape, good, bad;
  void (*build)(TinyModel &);
  int opset = 17;
};

void floatTable(TinyModel &model) { model.floats("table", {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}); }

const Row rows[] = {
    {"Gather",
     {3},
     {0, 3, -4},
     {0, 4, 1},
     [](TinyModel &model) {
       floatTable(model);
       model.node("Gather", {"table", "i"}, {"y"});
     }},
    {"GatherBelow",
     {3},
     {0, 3, -4},
     {0, 1, -5},
     [](TinyModel &model) {
       floatTable(model);
       model.node("Gather", {"table", "i"}, {"y"});
     }},
    {"GatherInAChain",
     {2},
     {1, 3},
     {9, 0},
     [](TinyModel &model) {
       floatTable(model);
       model.node("Gather", {"table", "i"}, {"row"});
       model.node("Exp", {"row"}, {"positive"});
       model.node("Add", {"positive", "row"}, {"y"});
     }},
    {"GatherBesideATensor", // indices that are computed, or are of what may have no elements
     {2},
     {1, 2},
     {1, 3},
     [](TinyModel &model) {
       floatTable(model);
       model.integers("one", {}, {1});
       model.node("Add", {"i", "one"}, {"next"});
       model.node("Gather", {"table", "next"}, {"rows"});
       setAttribute(model.node("Concat", {"rows", "table"}, {"y"}), "axis", int64_t(0));
     }},
    {"GatherOfPositives",
     {2},
     {1, 2},
     {1, 3},
     [](TinyModel &model) {
       model.floats("numbers", {4}, {1, -2, 3, 4});
       model.floats("nothing", {}, {0});
       model.node("Greater", {"numbers", "nothing"}, {"isPositive"});
       model.node("Compress", {"numbers", "isPositive"}, {"positives"});
       model.node("Gather", {"positives", "i"}, {"some"});
       setAttribute(model.node("Concat", {"some", "numbers"}, {"y"}), "axis", int64_t(0));
     }},
    {"GatherOfOneRow",
     {},
     {2},
     {3},
     [](TinyModel &model) {
       floatTable(model);
       model.integers("one", {}, {1});
       model.node("Add", {"i", "one"}, {"next"});
       model.node("Gather", {"table", "next"}, {"y"});
     }},
    {"GatherOfIntegers",
     {},
     {2},
     {3},
     [](TinyModel &model) {
       model.integers("numbers", {3}, {5, 6, 7});
       model.node("Gather", {"numbers", "i"}, {"y"});
     }},
    {"GatherOfAShape",
     {},
     {1},
     {2},
     [](TinyModel &model) {
       floatTable(model);
       model.node("Shape", {"table"}, {"sizes"});
       model.node("Gather", {"sizes", "i"}, {"y"});
     }},
    {"GatherOfALength",
     {},
     {1},
     {-3},
     [](TinyModel &model) {
       model.integers("lengths", {2}, {3, 5}), model.integers("zero", {}, {0}), model.integers("one", {}, {1});
       model.node("Gather", {"lengths", "i"}, {"length"});
       model.node("Range", {"zero", "length", "one"}, {"y"});
     }},
    {"GatherElements",
     {1, 2},
     {3, -4},
     {0, 4},
     [](TinyModel &model) {
       floatTable(model);
       model.node("GatherElements", {"table", "i"}, {"y"});
     }},
    {"GatherND",
     {1, 2},
     {3, 1},
     {3, 2},
     [](TinyModel &model) {
       floatTable(model);
       model.node("GatherND", {"table", "i"}, {"y"});
     }},
    {"ScatterElements",
     {1, 2},
     {3, -4},
     {0, -5},
     [](TinyModel &model) {
       floatTable(model);
       model.floats("updates", {1, 2}, {8, 9});
       model.node("ScatterElements", {"table", "i", "updates"}, {"y"});
     }},
    {"TensorScatter",
     {4},
     {0, 1, 0, 1},
     {0, 1, 2, 0},
     [](TinyModel &model) {
       floatTable(model);
       model.floats("update", {4, 1}, {4, 5, 6, 7});
       setAttribute(model.node("TensorScatter", {"table", "update", "i"}, {"y"}), "axis", int64_t(1));
     },
     24},
    {"ScatterND",
     {1, 1},
     {3},
     {4},
     [](TinyModel &model) {
       floatTable(model);
       model.floats("updates", {1, 2}, {8, 9});
       model.node("ScatterND", {"table", "i", "updates"}, {"y"});
     }},
};

class IndexOutOfRange : public testing::TestWithParam<PlanMode> {
protected:
  ScratchFolder scratch;

  Status run(Context &context, const Row &row, const std::vector<int64_t> &values) {
    Tensor input = Tensor::allocate(DType::I64, row.shape);
    std::ranges::copy(values, input.data<int64_t>());
    return context.run(std::span(&input, 1)).status();
  }
};

} // namespace

TEST_P(IndexOutOfRange, EndsTheRun) {
  for (const Row &row : rows) {
    SCOPED_TRACE(row.name);
    TinyModel model(row.opset);
    std::vector<Dim> dims;
    for (int64_t size : row.shape)
      dims.push_back(static_cast<int>(size));
    model.input("i", dims, DType::I64).output("y");
    row.build(model);
    CompileOptions options;
    options.modelPath = scratch / "model.onnx";
    options.modes = {GetParam()};
    std::ofstream(options.modelPath, std::ios::binary) << model.bytes();
    auto compiled = compileModel(options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    auto artifact = compiled->artifact();
    ASSERT_TRUE(artifact.ok()) << artifact.status().message();
    auto device = openDevice("host");
    auto program = Program::create(std::move(*artifact), (*device)->info(), std::string(name(GetParam())));
    ASSERT_TRUE(program.ok()) << program.status().message();
    auto context = Context::create(*program, *device);
    ASSERT_TRUE(context.ok()) << context.status().message();

    Status good = run(**context, row, row.good);
    EXPECT_TRUE(good.ok()) << good.message();
    Status bad = run(**context, row, row.bad);
    EXPECT_EQ(bad.code(), Code::Malformed) << bad.message();
    EXPECT_TRUE(run(**context, row, row.good).ok()) << "after an error the context runs on";
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, IndexOutOfRange, testing::Values(PlanMode::All, PlanMode::None, PlanMode::Reference),
                         [](const auto &info) { return std::string(name(info.param)); });
