// SPDX-License-Identifier: Apache-2.0
// com.microsoft: operators that ONNX Runtime's optimizers fused, decomposed into standard operators. Our own rules then
// decide what is fused.
#include "frontend/ops/Compose.h"
#include "frontend/ops/Handlers.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {

//===- Products ---------------------------------------------------------------------------------------------------===//

namespace {

/// An operand of FusedMatMul with its matrix dimensions last. `batch`: the rows of the matrix are the first dimension.
ImportedValue *factor(NodeBuilder &b, size_t i, bool batch, bool transposed) {
  int64_t rank = b.rank(i);
  if (rank < 2 || (!batch && !transposed))
    return given(b, i);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (batch)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (transposed)
    std::swap(order[rank - 1], order[rank - 2]);
  return valueOf(b, b.transpose(b.raw(i), order), b.type(i));
}

} // namespace

void fusedMatMul(NodeBuilder &b) {
  ImportedValue *y = composed(b, "MatMul",
                              {factor(b, 0, b.integer("transBatchA", 0), b.integer("transA", 0)),
                               factor(b, 1, b.integer("transBatchB", 0), b.integer("transB", 0))});
  if (double alpha = b.real("alpha", 1); alpha != 1)
    y = valueOf(b, termOf(b, y) * alpha, b.type(0));
  give(b, activated(b, y));
}

void fusedGemm(NodeBuilder &b) {
  ImportedValue *y =
      composed(b, "Gemm", {given(b, 0), given(b, 1), given(b, 2)}, selected(b, {"alpha", "beta", "transA", "transB"}));
  give(b, activated(b, y));
}

void gemmFastGelu(NodeBuilder &b) {
  Term y = termOf(b, composed(b, "MatMul", {given(b, 0), given(b, 1)}));
  ImportedValue *sum = valueOf(b, b.has(2) ? y + b.in(2) : y, b.type(0));
  give(b, composed(b, "Gelu", {sum}, {{"approximate", std::string("tanh")}}));
}

//===- Images -----------------------------------------------------------------------------------------------------===//

namespace {

/// activation(Conv(X, W, B) + Z), with channels last if `last`.
void convolve(NodeBuilder &b, bool last) {
  auto image = [&](size_t i) { return last ? imageFirst(b, given(b, i)) : given(b, i); };
  b.expectRank(0, 3, 8);
  ImportedValue *y = composed(b, "Conv", {image(0), given(b, 1), given(b, 2)},
                              selected(b, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  if (b.has(3)) {
    b.expectRank(3, b.rank(0));
    Term z = termOf(b, image(3));
    for (int64_t i = 0; i < b.rank(0); ++i)
      b.unify(z.sizes()[i], y->sizes[i], fmt::format("dimension {} of the tensor to add", i));
    y = valueOf(b, termOf(b, y) + z, b.type(0));
  }
  y = activated(b, y);
  give(b, last ? imageLast(b, y) : y);
}

} // namespace

void fusedConv(NodeBuilder &b) { convolve(b, false); }
void nhwcConv(NodeBuilder &b) { convolve(b, true); }

void nhwcMaxPool(NodeBuilder &b) {
  give(b, imageLast(b, composed(b, "MaxPool", {imageFirst(b, given(b, 0))}, b.node.attributes)));
}

/// Group normalization of x + skip + bias with channels first or last, optionally followed by SiLU.
void channelGroupNorm(NodeBuilder &b) {
  bool last = b.integer("channels_last", 1), skips = b.node.op == "SkipGroupNorm";
  b.expectRank(0, 3, 8);
  Term x = b.in(0);
  if (skips) {
    Term skip = b.in(3);
    if (skip.rank() == 2) // [N, C]
      skip = b.broadcast(skip, x.sizes(), {0, last ? x.rank() - 1 : 1});
    x = x + skip;
    if (b.has(4))
      b.expectRank(4, 1);
    if (b.has(4))
      x = x + b.along(b.in(4), x, last ? x.rank() - 1 : 1);
    b.expect(x.sizes() == b.sizes(0), "expected a skip that broadcasts to the input");
    b.out(x, b.type(0), 1);
  }
  ImportedValue *image = valueOf(b, x, b.type(0));
  ImportedValue *y =
      composed(b, "GroupNormalization", {last ? imageFirst(b, image) : image, given(b, 1), given(b, 2)},
               {{"num_groups", b.integer("groups", 1)}, {"epsilon", static_cast<float>(b.real("epsilon", 1e-5))}});
  if (b.integer("activation", 0) == 1) {
    Term term = termOf(b, y);
    y = valueOf(b, term * b.sigmoid(term), b.type(0));
  }
  give(b, last ? imageLast(b, y) : y);
}

//===- Rows -------------------------------------------------------------------------------------------------------===//

/// LayerNormalization of word + position (+ segment) embeddings. Output 1 is the number of words in each row of the
/// mask.
void embedLayerNormalization(NodeBuilder &b) {
  b.expectRank(0, 2);
  const Sizes ids = b.sizes(0);
  Term sum = termOf(b, composed(b, "Gather", {given(b, 2), given(b, 0)}));
  if (b.has(8)) {
    sum = sum + termOf(b, composed(b, "Gather", {given(b, 3), given(b, 8)}));
  } else { // the first rows
    b.expectRank(3, 2);
    if (!b.state.requireAtMost(ids[1], b.sizes(3)[0],
                               fmt::format("node '{}' has more words than positions", b.node.name)))
      malformed("expected at most {} words, got {}", b.state.print(b.sizes(3)[0]), b.state.print(ids[1]));
    sum = sum + b.slice(b.in(3), 0, b.number(0), ids[1]);
  }
  if (b.has(1) && b.has(4))
    sum = sum + termOf(b, composed(b, "Gather", {given(b, 4), given(b, 1)}));
  DType type = b.type(2);
  give(b, composed(b, "LayerNormalization", {valueOf(b, sum, type), given(b, 5), given(b, 6)},
                   {{"epsilon", static_cast<float>(b.real("epsilon", 1e-12))}}));
  b.out(sum, type, 2);
  if (!b.wants(1))
    return;
  if (!b.has(7))
    return b.out(b.splatInteger({ids[0]}, b.state.builder.getI32Type(), 0), DType::I32, 1);
  b.expectRank(7, 2);
  Term mask = b.convert(b.raw(7), b.type(7), DType::I32);
  Term isWord = b.compare(F::OEQ, I::eq, mask, b.like(mask, 1));
  b.out(b.reduce(ReduceKind::Sum, b.select(isWord, b.like(mask, 1), b.like(mask, 0)), {1}), DType::I32, 1);
}

/// Softmax of data + bias, over all dimensions from `axis` on.
void biasSoftmax(NodeBuilder &b) {
  ImportedValue *sum = valueOf(b, b.in(0) + b.in(1), b.type(0));
  b.expect(sum->sizes == b.sizes(0), "expected a bias that broadcasts to the data");
  give(b, composed(b, "Softmax", {sum}, {{"axis", b.integer("axis", 1)}}, 11));
}

/// The left half of x + bias times Gelu of the right half.
void biasSplitGelu(NodeBuilder &b) {
  Term x = b.in(0) + b.in(1);
  AffineExpr half = x.rank() >= 1 ? graph::divideExactly(x.sizes().back(), b.number(2)) : AffineExpr();
  b.expect(half != nullptr, fmt::format("expected an even last dimension, got {}", b.print(x)));
  ImportedValue *right = valueOf(b, b.slice(x, x.rank() - 1, half, half), b.type(0));
  b.out(b.slice(x, x.rank() - 1, b.number(0), half) * termOf(b, composed(b, "Gelu", {right})));
}

void biasAdd(NodeBuilder &b) { b.out(b.in(0) + b.in(1) + b.in(2)); }

void expandDims(NodeBuilder &b) {
  std::vector<int64_t> list = b.knownIntegers(1);
  b.expect(list.size() == 1, "expected one axis");
  Sizes sizes = b.sizes(0);
  sizes.insert(sizes.begin() + b.axis(list[0], b.rank(0) + 1), b.number(1));
  b.out(b.reshape(b.raw(0), sizes));
}

} // namespace tilewright::ops
