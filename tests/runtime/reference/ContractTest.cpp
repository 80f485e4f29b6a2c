// SPDX-License-Identifier: Apache-2.0
// Reductions, products, convolutions, pooling: against sums written out here, and known small cases.
#include "tests/runtime/reference/Evaluate.h"

#include "runtime/reference/Kernel.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::test;

using Ints = std::vector<int64_t>;
static const double infinity = HUGE_VAL;

/// A different value at each position, small enough that sums are exact.
static Tensor pattern(Shape shape, int64_t multiplier) {
  std::vector<double> values(elementCount(shape));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(static_cast<int64_t>(i) * multiplier % 13 - 6);
  return reference::store(DType::F32, shape, values);
}

TEST(ReferenceReduce, ReducesAxes) {
  Tensor x = counting({2, 3}, 1);
  expectOutputs({"ReduceSum", 11, {{"axes", Ints{1}}}}, {x}, {floats({2, 1}, {6, 15})});
  expectOutputs({"ReduceSum", 13, {{"keepdims", int64_t{0}}}}, {x, indices({-1})}, {vector({6, 15})});
  expectOutputs({"ReduceSum", 13, {{"noop_with_empty_axes", int64_t{1}}}}, {x}, {x});
  expectOutputs({"ReduceMean", 18, {{"keepdims", int64_t{0}}}}, {x}, {scalar(3.5)});
  expectOutputs({"ReduceMax", 13, {{"axes", Ints{0}}}}, {x}, {floats({1, 3}, {4, 5, 6})});
  expectOutputs({"ReduceProd", 13, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}},
                {tensor(DType::I32, {1, 3}, {2, 3, -4})}, {tensor(DType::I32, {1}, {-24})});
  expectOutputs({"ReduceL2", 13, {{"keepdims", int64_t{0}}}}, {vector({3, -4})}, {scalar(5)});
  expectOutputs({"ReduceL1", 13, {{"keepdims", int64_t{0}}}}, {ints({2}, {3, -4})}, {ints({}, {7})});
  expectOutputs({"ReduceLogSumExp", 13, {{"keepdims", int64_t{0}}}}, {vector({1000, 1000})},
                {scalar(1000 + std::log(2.0))});
  expectMalformed({"ReduceSum", 13}, {x, indices({2})}, "expected an axis from -2 to 1, found 2");
}

TEST(ReferenceReduce, ReducesNothing) {
  expectOutputs({"ReduceSum", 13, {{"keepdims", int64_t{0}}}}, {floats({0, 2}, {}), indices({0})}, {vector({0, 0})});
  expectOutputs({"ReduceMax", 18, {{"keepdims", int64_t{0}}}}, {floats({0, 1}, {}), indices({0})},
                {vector({-infinity})});
  expectOutputs({"ReduceMin", 20, {{"keepdims", int64_t{0}}}}, {tensor(DType::I8, {0, 1}, {}), indices({0})},
                {tensor(DType::I8, {1}, {127})});
}

TEST(ReferenceProduct, MultipliesMatrices) {
  for (auto [m, k, n] :
       {std::array<int64_t, 3>{1, 1, 1}, {3, 70, 5}, {2, 7, 520}, {5, 0, 2}, {4, 9, 1}, {3, 130, 515}}) {
    Tensor a = pattern({m, k}, 5), b = pattern({k, n}, 7);
    std::vector<double> expected(m * n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          expected[i * n + j] += static_cast<double>(a.data<float>()[i * k + l]) * b.data<float>()[l * n + j];
    expectOutputs({"MatMul"}, {a, b}, {reference::store(DType::F32, {m, n}, expected)});
  }
}

TEST(ReferenceProduct, BroadcastsBatchesAndVectors) {
  expectOutputs({"MatMul"}, {vector({1, 2}), vector({3, 4})}, {scalar(11)});
  expectOutputs({"MatMul"}, {counting({2, 1, 2}), counting({2, 1}, 1)}, {floats({2, 1, 1}, {2, 8})});
  expectOutputs({"MatMul"}, {vector({1, 1}), counting({3, 2, 1})}, {floats({3, 1}, {1, 5, 9})});
  expectOutputs({"MatMul"}, {tensor(DType::U32, {1, 1}, {4294967295}), tensor(DType::U32, {1, 1}, {2})},
                {tensor(DType::U32, {1, 1}, {4294967294})});
  expectMalformed({"MatMul"}, {counting({2, 3}), counting({2, 3})},
                  "expected equal inner dimensions, found 3 in shape [2, 3] and 2 in shape [2, 3]");
  expectMalformed({"MatMul"}, {scalar(1), vector({1})}, "rank 1 or more");
}

TEST(ReferenceProduct, ScalesAndAddsInGemm) {
  Attributes attributes{{"alpha", 2.0f}, {"beta", 0.5f}, {"transA", int64_t{1}}, {"transB", int64_t{1}}};
  expectOutputs({"Gemm", 13, attributes},
                {floats({2, 1}, {1, 2}), floats({3, 2}, {1, 0, 0, 1, 1, 1}), vector({2, 4, 6})},
                {floats({1, 3}, {3, 6, 9})});
  expectMalformed({"Gemm"}, {counting({2, 2}), counting({2, 2}), counting({3})},
                  "shape [3] does not broadcast to [2, 2]");
}

TEST(ReferenceProduct, MultipliesQuantized) {
  Tensor a = tensor(DType::U8, {1, 2}, {11, 7}), b = tensor(DType::I8, {2, 1}, {-1, 4});
  expectOutputs({"MatMulInteger"}, {a, b, tensor(DType::U8, {}, {12})}, {tensor(DType::I32, {1, 1}, {-19})});
  expectOutputs({"QLinearMatMul", 10},
                {a, scalar(0.5), tensor(DType::U8, {}, {5}), b, scalar(1), tensor(DType::I8, {}, {0}), scalar(0.5),
                 tensor(DType::U8, {}, {10})},
                {tensor(DType::U8, {1, 1}, {12})});
  expectOutputs({"QuantizeLinear"}, {vector({0.5, 1.5, -300, 300}), scalar(1), tensor(DType::I8, {}, {1})},
                {tensor(DType::I8, {4}, {1, 3, -128, 127})});
  expectOutputs({"DequantizeLinear", 13, {{"axis", int64_t{0}}}},
                {tensor(DType::U8, {2, 1}, {3, 4}), vector({2, 10}), tensor(DType::U8, {2}, {1, 0})},
                {floats({2, 1}, {4, 40})});
  expectOutputs({"DynamicQuantizeLinear", 11, {}, 3}, {vector({0, 255, 51})},
                {tensor(DType::U8, {3}, {0, 255, 51}), scalar(1), tensor(DType::U8, {}, {0})});
}

TEST(ReferenceProduct, SumsByEinstein) {
  auto einsum = [](const char *equation) { return Node{"Einsum", 12, {{"equation", equation}}}; };
  Tensor m = floats({2, 2}, {1, 2, 3, 4});
  expectOutputs(einsum("ij,jk->ik"), {m, m}, {floats({2, 2}, {7, 10, 15, 22})});
  expectOutputs(einsum("ii"), {m}, {scalar(5)});
  expectOutputs(einsum("ii->i"), {m}, {vector({1, 4})});
  expectOutputs(einsum("ij->ji"), {m}, {floats({2, 2}, {1, 3, 2, 4})});
  expectOutputs(einsum("i,j,ij->"), {vector({1, 2}), vector({3, 4}), m},
                {scalar(1 * 3 * 1 + 1 * 4 * 2 + 2 * 3 * 3 + 2 * 4 * 4)});
  expectOutputs(einsum("...i, ...i -> ..."), {m, vector({1, 10})}, {vector({21, 43})});
  expectMalformed(einsum("ij,jk->ik"), {m, counting({3, 2})}, "a label of term 'jk' is of size 2 and 3");
  expectMalformed(einsum("ij->iz"), {m}, "expected each output label");
  expectMalformed(einsum("ijk"), {m}, "does not have the 2 dimensions of shape");
}

/// A convolution in one sum for each output, for any rank-2 window.
static std::vector<double> convolve(const Tensor &x, const Tensor &w, int64_t groups, int64_t stride, int64_t dilation,
                                    int64_t pad, Shape &shape) {
  const Shape &xs = x.shape(), &ws = w.shape();
  auto size = [&](int64_t in, int64_t kernel) { return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1; };
  shape = {xs[0], ws[0], size(xs[2], ws[2]), size(xs[3], ws[3])};
  std::vector<double> y;
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t m = 0; m < shape[1]; ++m)
      for (int64_t i = 0; i < shape[2]; ++i)
        for (int64_t j = 0; j < shape[3]; ++j) {
          double sum = 0;
          for (int64_t c = 0; c < ws[1]; ++c)
            for (int64_t a = 0; a < ws[2]; ++a)
              for (int64_t b = 0; b < ws[3]; ++b) {
                int64_t row = i * stride + a * dilation - pad, column = j * stride + b * dilation - pad;
                int64_t channel = m / (ws[0] / groups) * ws[1] + c;
                if (row >= 0 && row < xs[2] && column >= 0 && column < xs[3])
                  sum += static_cast<double>(x.data<float>()[((n * xs[1] + channel) * xs[2] + row) * xs[3] + column]) *
                         w.data<float>()[((m * ws[1] + c) * ws[2] + a) * ws[3] + b];
              }
          y.push_back(sum);
        }
  return y;
}

TEST(ReferenceConv, EqualsTheSum) {
  for (auto [groups, stride, dilation, pad] :
       {std::array<int64_t, 4>{1, 1, 1, 0}, {1, 2, 1, 1}, {2, 1, 2, 2}, {4, 3, 1, 2}}) {
    Tensor x = pattern({2, 4, 9, 40}, 5), w = pattern({8, 4 / groups, 3, 2}, 7);
    Shape shape;
    std::vector<double> expected = convolve(x, w, groups, stride, dilation, pad, shape);
    Attributes attributes{{"group", groups},
                          {"strides", Ints{stride, stride}},
                          {"dilations", Ints{dilation, dilation}},
                          {"pads", Ints{pad, pad, pad, pad}}};
    expectOutputs({"Conv", 11, attributes}, {x, w}, {reference::store(DType::F32, shape, expected)});
  }
}

TEST(ReferenceConv, PadsAutomaticallyAndTransposes) {
  Tensor x = vector({1, 2, 3, 4}).reshaped({1, 1, 4}), w = vector({1, 10}).reshaped({1, 1, 2});
  expectOutputs({"Conv", 11, {{"auto_pad", "SAME_UPPER"}}}, {x, w}, {floats({1, 1, 4}, {21, 32, 43, 4})});
  expectOutputs({"Conv", 11, {{"auto_pad", "SAME_LOWER"}}}, {x, w, vector({100})},
                {floats({1, 1, 4}, {110, 121, 132, 143})});
  expectOutputs({"ConvTranspose", 11, {{"strides", Ints{2}}}}, {x, w},
                {floats({1, 1, 8}, {1, 10, 2, 20, 3, 30, 4, 40})});
  expectOutputs({"ConvTranspose", 11, {{"pads", Ints{1, 0}}, {"output_padding", Ints{0}}}}, {x, w},
                {floats({1, 1, 4}, {12, 23, 34, 40})});
  expectOutputs(
      {"ConvInteger", 10},
      {tensor(DType::U8, {1, 1, 2}, {3, 4}), tensor(DType::U8, {1, 1, 2}, {2, 1}), tensor(DType::U8, {}, {1})},
      {tensor(DType::I32, {1, 1, 1}, {7})});
  expectMalformed({"Conv"}, {x, counting({1, 1, 5})}, "a kernel that spans 5 does not fit into a dimension of 4");
  expectMalformed({"Conv"}, {x, counting({1, 2, 2})}, "expected channels that divide into 1 groups");
  expectMalformed({"Conv", 11, {{"strides", Ints{0}}}}, {x, w}, "expected kernel, strides and dilations of 1 or more");
  expectMalformed({"Conv", 11, {{"pads", Ints{1}}}}, {x, w}, "expected 2 values in 'pads', found 1");
}

TEST(ReferencePool, ReducesWindows) {
  Tensor x = vector({1, 5, 2, 4, 3}).reshaped({1, 1, 5});
  Attributes pairs{{"kernel_shape", Ints{2}}, {"strides", Ints{2}}}, rounded = pairs;
  rounded["ceil_mode"] = int64_t{1};
  expectOutputs({"MaxPool", 12, pairs, 2}, {x}, {floats({1, 1, 2}, {5, 4}), ints({1, 1, 2}, {1, 3})});
  expectOutputs({"MaxPool", 12, rounded}, {x}, {floats({1, 1, 3}, {5, 4, 3})});
  expectOutputs({"AveragePool", 11, rounded}, {x}, {floats({1, 1, 3}, {3, 3, 3})});
  expectOutputs(
      {"AveragePool", 11, {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}, {"count_include_pad", int64_t{1}}}}, {x},
      {floats({1, 1, 5}, {2, 8.0 / 3, 11.0 / 3, 3, 7.0 / 3})});
  expectOutputs({"LpPool", 11, {{"kernel_shape", Ints{5}}}}, {x}, {floats({1, 1, 1}, {std::sqrt(55.0)})});
  expectOutputs({"GlobalAveragePool"}, {x}, {floats({1, 1, 1}, {3})});
  expectOutputs({"GlobalMaxPool"}, {x}, {floats({1, 1, 1}, {5})});
  expectOutputs({"MaxUnpool", 11, {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}}},
                {floats({1, 1, 2}, {5, 4}), ints({1, 1, 2}, {1, 3})}, {floats({1, 1, 4}, {0, 5, 0, 4})});
  expectMalformed({"MaxUnpool", 11, {{"kernel_shape", Ints{2}}}}, {floats({1, 1, 1}, {5}), ints({1, 1, 1}, {9})},
                  "index 9 is outside");
  expectMalformed({"MaxPool", 12}, {x}, "expected the attribute 'kernel_shape'");
}
