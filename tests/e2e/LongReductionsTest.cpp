// SPDX-License-Identifier: Apache-2.0
// Means and variances of many numbers that are far from zero, along rows and along columns: float32 must not lose more
// digits than some thousand additions do.
#include "tests/e2e/HostContext.h"

#include <random>

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

constexpr int64_t length = 160000, channels = 4;

struct Layout {
  std::vector<Dim> sizes;
  int64_t axis;
  int64_t channelOf(int64_t i) const { return axis == 0 ? i % channels : i / length; }
};

class LongReductions : public testing::TestWithParam<std::tuple<PlanMode, int64_t>> {
protected:
  Layout layout =
      std::get<1>(GetParam()) == 0 ? Layout{{int(length), int(channels)}, 0} : Layout{{int(channels), int(length)}, 1};

  /// The variance, as models spell it, and the largest element.
  TinyModel model() const {
    TinyModel model;
    model.input("x", layout.sizes).output("variance").output("largest");
    for (const auto &[op, from, to] :
         {std::tuple("ReduceMean", "x", "mean"), {"ReduceMean", "square", "variance"}, {"ReduceMax", "x", "largest"}}) {
      if (to == std::string("variance"))
        model.node("Sub", {"x", "mean"}, {"centered"}), model.node("Mul", {"centered", "centered"}, {"square"});
      setAttribute(model.node(op, {from}, {to}), "axes", std::vector<int64_t>{layout.axis});
    }
    return model;
  }

  Expected<std::vector<Tensor>> run(const Tensor &x) {
    return runOnHost(optionsOf(model()), std::get<0>(GetParam()), {&x, 1});
  }
};

TEST_P(LongReductions, KeepTheirDigits) {
  Shape shape;
  for (const Dim &size : layout.sizes)
    shape.push_back(std::get<int>(size));
  Tensor x = Tensor::allocate(DType::F32, shape);
  std::mt19937 random(1);
  std::normal_distribution<float> around500(500, 15);
  double sums[channels] = {}, squares[channels] = {}, largest[channels] = {};
  for (int64_t i = 0; i < x.count(); ++i) {
    double value = x.data<float>()[i] = around500(random);
    int64_t c = layout.channelOf(i);
    sums[c] += value, squares[c] += value * value, largest[c] = std::max(largest[c], value);
  }
  auto outputs = run(x);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  for (int64_t c = 0; c < channels; ++c) {
    double mean = sums[c] / length, variance = squares[c] / length - mean * mean;
    EXPECT_NEAR((*outputs)[0].data<float>()[c], variance, 1e-5 * variance) << "channel " << c;
    EXPECT_EQ((*outputs)[1].data<float>()[c], largest[c]) << "channel " << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, LongReductions,
                         testing::Combine(testing::Values(PlanMode::All, PlanMode::None), testing::Values(0, 1)),
                         [](const auto &info) {
                           return std::string(name(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) == 0 ? "Columns" : "Rows");
                         });

} // namespace
