// SPDX-License-Identifier: Apache-2.0
// A three-layer perceptron with the sizes of an image classifier.
#include "models/Demos.h"

void tilewright::models::buildMlp(ModelBuilder &m) {
  Value x = m.input("x", {"batch", 784});
  Value h1 = m.gelu("gelu1", m.linear("layer1", x, 784, 512));
  Value h2 = m.gelu("gelu2", m.linear("layer2", h1, 512, 512));
  Value h3 = m.op("Relu", {m.op("Add", {m.linear("layer3", h2, 512, 512), h1}, {}, "residual")}, {}, "relu");
  m.output("logits", m.linear("head", h3, 512, 10), {"batch", 10});
}
