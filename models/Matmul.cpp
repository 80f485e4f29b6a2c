// SPDX-License-Identifier: Apache-2.0
// One matmul: followed by pointwise operators, which is the smallest model that profits from fusion; and alone, of any
// size, for comparison with libraries.
#include "models/Demos.h"

template <int64_t size> void tilewright::models::buildMatmul(ModelBuilder &m) {
  Value x = m.input("x", {size, size});
  m.output("y", m.gelu("gelu", m.linear("linear", x, size, size)), {size, size});
}

template void tilewright::models::buildMatmul<1024>(ModelBuilder &);
template void tilewright::models::buildMatmul<2048>(ModelBuilder &);
template void tilewright::models::buildMatmul<4096>(ModelBuilder &);

void tilewright::models::buildProduct(ModelBuilder &m) {
  Value a = m.input("a", {"m", "k"}), b = m.input("b", {"k", "n"});
  m.output("c", m.op("MatMul", {a, b}, {}, "product"), {"m", "n"});
}
