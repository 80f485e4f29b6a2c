// SPDX-License-Identifier: Apache-2.0
// The demo models: a function for each, and a table of all.
#pragma once

#include "models/ModelBuilder.h"

#include <span>

namespace tilewright::models {

struct Demo {
  std::string_view name;
  std::string_view summary;
  DType type;
  void (*build)(ModelBuilder &);
};

/// All demos, in the order in which they are written.
std::span<const Demo> demos();

void buildMlp(ModelBuilder &m);
void buildEncoder(ModelBuilder &m);
void buildEncoderDecomposed(ModelBuilder &m);
void buildCnn(ModelBuilder &m);
void buildSwiglu(ModelBuilder &m);
void buildElementwise(ModelBuilder &m);
void buildNorm(ModelBuilder &m);
void buildSoftmax(ModelBuilder &m);

/// gelu(x W + b) with x and W square of this size.
template <int64_t size> void buildMatmul(ModelBuilder &m);
void buildProduct(ModelBuilder &m);
extern template void buildMatmul<1024>(ModelBuilder &);
extern template void buildMatmul<2048>(ModelBuilder &);
extern template void buildMatmul<4096>(ModelBuilder &);

} // namespace tilewright::models
