// SPDX-License-Identifier: Apache-2.0
// The experimental operators of opset 1, which image models of CoreML and Caffe2 converters use at later opsets too.
#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {

void affine(NodeBuilder &b) { b.out(b.in(0) * b.real("alpha", 1) + b.real("beta", 0)); }
void scaleOp(NodeBuilder &b) { b.out(b.in(0) * b.real("scale", 1)); }
void scaledTanh(NodeBuilder &b) { b.out(b.tanh(b.in(0) * b.real("beta", 1)) * b.real("alpha", 1)); }

/// [N, C, H, W]: x * scale + bias[c]
void imageScaler(NodeBuilder &b) {
  b.expectRank(0, 4);
  std::vector<float> bias = b.reals("bias");
  Tensor vector = Tensor::allocate(DType::F32, {static_cast<int64_t>(bias.size())});
  std::ranges::copy(bias, vector.data<float>());
  Term x = b.in(0);
  b.out(x * b.real("scale", 1) + b.along(b.constantTerm(vector), x, 1));
}

/// Removes a border [left, top, right, bottom] of [N, C, H, W]; with `scale` [height, width], keeps that size from left
/// and top on.
void crop(NodeBuilder &b) {
  b.expectRank(0, 4);
  std::vector<int64_t> border = b.integers("border").value_or(std::vector<int64_t>()),
                       kept = b.integers("scale").value_or(std::vector<int64_t>());
  b.expect(border.size() == 4 && (kept.empty() || kept.size() == 2) &&
               llvm::all_of(border, [](int64_t part) { return 0 <= part && part <= INT32_MAX; }),
           "expected a border of 4 sizes, and a scale of 2 or none");
  Term x = b.raw(0);
  for (int64_t d = 0; d < 2; ++d) {
    AffineExpr size = x.sizes()[2 + d], first = b.number(border[1 - d]),
               rest = graph::canonicalSize(size - border[1 - d] - border[3 - d]),
               count = kept.empty() ? rest : b.number(kept[d]);
    std::string message = fmt::format("expected a part of dimension {}, got {} elements from {} on", b.print(size),
                                      b.print(count), border[1 - d]);
    b.expect(b.state.requireAtMost(b.number(0), count, message) &&
                 b.state.requireAtMost(graph::canonicalSize(first + count), size, message),
             message);
    x = b.slice(x, 2 + d, first, count);
  }
  b.out(x);
}

} // namespace tilewright::ops
