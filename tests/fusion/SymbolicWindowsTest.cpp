// SPDX-License-Identifier: Apache-2.0
// Convolutions, poolings, their transposes and Resize over one, two and three dimensions of symbolic size: compiled, no
// node by the reference, right at five sizes.
#include "tests/fusion/FiveSizes.h"

#include <gtest/gtest.h>

#include <functional>

using namespace tilewright;
using namespace tilewright::test;
using models::ModelBuilder;

namespace {

using List = std::vector<int64_t>;

struct Case {
  std::string name;
  size_t spatial;
  std::function<models::Value(ModelBuilder &, models::Value, size_t)> build;
};

std::ostream &operator<<(std::ostream &out, const Case &test) { return out << test.name; }

RandomModel modelOf(const Case &test) {
  RandomModel model;
  ModelBuilder builder(test.name, DType::F32);
  const auto &[batch, height, width, length] = randomSymbols;
  std::vector<models::Dimension> names = {batch.name, int64_t(4), height.name, width.name, length.name};
  Extent four;
  four.fill(4);
  std::vector<Extent> shape = {batch.sizes, four, height.sizes, width.sizes, length.sizes};
  names.resize(2 + test.spatial);
  shape.resize(2 + test.spatial);
  models::Value y = test.build(builder, builder.input("x", names), test.spatial);
  std::vector<models::Dimension> outputs;
  for (size_t i = 0; i < names.size(); ++i)
    outputs.push_back("d" + std::to_string(i));
  builder.output("y", builder.op("Identity", {y}, {}, "y"), outputs);
  model.proto = builder.model();
  model.inputs = {"x"};
  model.shapes = {shape};
  return model;
}

models::Value weight(ModelBuilder &m, int64_t first, int64_t second, int64_t kernel, size_t spatial) {
  List shape(2 + spatial, kernel);
  shape[0] = first;
  shape[1] = second;
  return m.weight("w", shape, 0.3);
}

/// Cases over one, two and three dimensions.
struct CaseList {
  std::vector<Case> cases;
  template <typename Build> void add(const std::string &name, Build build) {
    for (size_t n = 1; n <= 3; ++n)
      cases.push_back({name + std::to_string(n) + "d", n, build});
  }
};

std::vector<Case> convolutions() {
  CaseList list;
  for (int64_t group : {1, 2, 4})
    list.add(group == 1   ? "Conv"
             : group == 2 ? "ConvGrouped"
                          : "ConvDepthwise",
             [group](ModelBuilder &m, models::Value x, size_t n) {
               return m.op(
                   "Conv", {x, weight(m, 8, 4 / group, 3, n)},
                   {{"group", group}, {"strides", List(n, 2)}, {"dilations", List(n, 2)}, {"pads", List(2 * n, 2)}});
             });
  for (int64_t group : {1, 2, 4})
    list.add(group == 1   ? "ConvTranspose"
             : group == 2 ? "ConvTransposeGrouped"
                          : "ConvTransposeDepthwise",
             [group](ModelBuilder &m, models::Value x, size_t n) {
               return m.op("ConvTranspose", {x, weight(m, 4, 2, 3, n)},
                           {{"group", group},
                            {"strides", List(n, 2)},
                            {"dilations", List(n, 2)},
                            {"pads", List(2 * n, 1)},
                            {"output_padding", List(n, 1)}});
             });
  return std::move(list.cases);
}

std::vector<Case> automaticPaddings() {
  CaseList list;
  for (const char *automatic : {"SAME_UPPER", "SAME_LOWER"}) {
    std::string suffix = automatic == std::string("SAME_UPPER") ? "Upper" : "Lower", mode = automatic;
    list.add("ConvSame" + suffix, [mode](ModelBuilder &m, models::Value x, size_t n) {
      return m.op("Conv", {x, weight(m, 6, 4, 3, n)}, {{"strides", List(n, 2)}, {"auto_pad", mode}});
    });
    list.add("DepthwiseSame" + suffix, [mode](ModelBuilder &m, models::Value x, size_t n) {
      return m.op("Conv", {x, weight(m, 4, 1, 2, n)},
                  {{"group", int64_t(4)}, {"strides", List(n, 2)}, {"auto_pad", mode}});
    });
    list.add("MaxPoolSame" + suffix, [mode](ModelBuilder &m, models::Value x, size_t n) {
      return m.op("MaxPool", {x}, {{"kernel_shape", List(n, 3)}, {"strides", List(n, 2)}, {"auto_pad", mode}});
    });
    list.add("AveragePoolSame" + suffix, [mode](ModelBuilder &m, models::Value x, size_t n) {
      return m.op("AveragePool", {x}, {{"kernel_shape", List(n, 3)}, {"strides", List(n, 2)}, {"auto_pad", mode}});
    });
  }
  return std::move(list.cases);
}

std::vector<Case> poolings() {
  CaseList list;
  for (int64_t ceil : {0, 1}) {
    std::string suffix = ceil ? "Ceil" : "";
    list.add("MaxPool" + suffix, [ceil](ModelBuilder &m, models::Value x, size_t n) {
      return m.op(
          "MaxPool", {x},
          {{"kernel_shape", List(n, 2)}, {"strides", List(n, 2)}, {"pads", List(2 * n, 1)}, {"ceil_mode", ceil}});
    });
    for (int64_t padding : {0, 1})
      list.add("AveragePool" + suffix + (padding ? "WithPadding" : ""),
               [ceil, padding](ModelBuilder &m, models::Value x, size_t n) {
                 return m.op("AveragePool", {x},
                             {{"kernel_shape", List(n, 3)},
                              {"strides", List(n, 2)},
                              {"pads", List(2 * n, 1)},
                              {"ceil_mode", ceil},
                              {"count_include_pad", padding}});
               });
  }
  return std::move(list.cases);
}

std::vector<Case> resizes() {
  std::vector<Case> cases;
  for (const char *transform : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})
    for (float scale : {2.0f, 1.5f, 0.5f}) {
      if (transform == std::string("align_corners") &&
          scale != 2) // where ONNX's definition takes a size that is no whole number
        continue;
      for (const char *rounding : {"floor", "round_prefer_floor", "linear"})
        cases.push_back(
            {std::string("Resize_") + transform + "_" + rounding + "_" + std::to_string(static_cast<int>(scale * 10)),
             2, [=](ModelBuilder &m, models::Value x, size_t) {
               bool linear = rounding == std::string("linear");
               models::Value pair = m.scalar("scale", scale), one = m.scalar("one", 1);
               models::Value shape = m.integers("two", {2});
               models::Value scales = m.op("Concat", {m.op("Expand", {one, shape}), m.op("Expand", {pair, shape})},
                                           {{"axis", int64_t(0)}});
               return m.op("Resize", {x, {}, scales},
                           {{"mode", std::string(linear ? "linear" : "nearest")},
                            {"coordinate_transformation_mode", std::string(transform)},
                            {"nearest_mode", std::string(linear ? "floor" : rounding)}});
             }});
    }
  return cases;
}

struct SymbolicWindows : testing::TestWithParam<Case> {};

TEST_P(SymbolicWindows, CompileForEverySize) {
  EXPECT_EQ(compareAtFiveSizes(modelOf(GetParam()), 1, true), Verdict::Ran);
}

auto nameOf = [](const auto &info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Convolutions, SymbolicWindows, testing::ValuesIn(convolutions()), nameOf);
INSTANTIATE_TEST_SUITE_P(AutomaticPaddings, SymbolicWindows, testing::ValuesIn(automaticPaddings()), nameOf);
INSTANTIATE_TEST_SUITE_P(Poolings, SymbolicWindows, testing::ValuesIn(poolings()), nameOf);
INSTANTIATE_TEST_SUITE_P(Resizes, SymbolicWindows, testing::ValuesIn(resizes()), nameOf);

} // namespace
