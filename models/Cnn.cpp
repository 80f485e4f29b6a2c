// SPDX-License-Identifier: Apache-2.0
// A residual CNN: a stem, three stages of two blocks, the later stages strided, global pooling and a classifier.
#include "models/Demos.h"

#include <cmath>

using namespace tilewright::models;

/// Conv without bias, then BatchNormalization, as training frameworks export them.
static Value convNorm(ModelBuilder &m, const std::string &name, const Value &x, int64_t in, int64_t out, int64_t kernel,
                      int64_t stride) {
  int64_t pad = kernel / 2;
  Value weight = m.weight(name + ".weight", {out, in, kernel, kernel}, std::sqrt(2.0 / double(in * kernel * kernel)));
  Value conv = m.op("Conv", {x, weight},
                    {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
                     {"strides", std::vector<int64_t>{stride, stride}},
                     {"pads", std::vector<int64_t>{pad, pad, pad, pad}}},
                    name);
  Value scale = m.weight(name + ".scale", {out}, 0.1, 1.0), bias = m.weight(name + ".bias", {out}, 0.1);
  Value mean = m.weight(name + ".mean", {out}, 0.1), variance = m.uniform(name + ".variance", {out}, 0.5, 1.5);
  return m.op("BatchNormalization", {conv, scale, bias, mean, variance}, {{"epsilon", 1e-5f}}, name + ".norm");
}

static Value block(ModelBuilder &m, const std::string &name, const Value &x, int64_t in, int64_t out, int64_t stride) {
  Value first = m.op("Relu", {convNorm(m, name + ".conv1", x, in, out, 3, stride)}, {}, name + ".relu1");
  Value second = convNorm(m, name + ".conv2", first, out, out, 3, 1);
  Value shortcut = in == out && stride == 1 ? x : convNorm(m, name + ".shortcut", x, in, out, 1, stride);
  return m.op("Relu", {m.op("Add", {second, shortcut}, {}, name + ".add")}, {}, name + ".relu2");
}

void tilewright::models::buildCnn(ModelBuilder &m) {
  Value x = m.input("image", {"batch", 3, 64, 64});
  x = m.op("Relu", {convNorm(m, "stem", x, 3, 32, 3, 1)}, {}, "stem.relu");
  int64_t channels = 32;
  for (int64_t stage = 0; stage < 3; ++stage) {
    int64_t out = int64_t(32) << stage;
    std::string name = "stage" + std::to_string(stage);
    x = block(m, name + ".block0", x, channels, out, stage == 0 ? 1 : 2);
    x = block(m, name + ".block1", x, out, out, 1);
    channels = out;
  }
  x = m.op("Flatten", {m.op("GlobalAveragePool", {x}, {}, "pool")}, {{"axis", int64_t(1)}}, "flatten");
  Value weight = m.weight("head.weight", {channels, 10}, 1 / std::sqrt(double(channels)));
  m.output("logits", m.op("Gemm", {x, weight, m.weight("head.bias", {10}, 0.1)}, {}, "head"), {"batch", 10});
}
