// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, as contractions with a constant matrix of cosines and sines, and convolutions with a state.
//
//   DFT     x [rest, n, part] . turns [n, part, k, part'] -> [rest, k, part']
//   STFT    windows of the signal [batch, frame, n] . window[n] turns [n, k, part] -> [batch, frame, k, part]
#include "frontend/ops/Signal.h"
#include "frontend/builder/Window.h"

#include <numbers>

using namespace mlir;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

constexpr int64_t maxTurns = 1 << 23; // elements of the matrix

struct Transform {
  int64_t length, known, bins; // of the transform; without zero padding; of the result
  int64_t parts, made;         // 1 real, 2 complex: of the operand, of the result
  bool inverse, half;          // half: the operand is one half of a conjugate-symmetric spectrum
};

/// e^(-+2 pi i n k / length) as [known, parts, bins, made] in f64. An element of half a spectrum also stands for its
/// conjugate.
Tensor turnsOf(const Transform &t) {
  Tensor tensor = Tensor::allocate(DType::F64, {t.known, t.parts, t.bins, t.made});
  double *to = tensor.data<double>(), sign = t.inverse ? 1 : -1,
         scale = t.inverse ? 1 / static_cast<double>(t.length) : 1;
  for (int64_t n = 0; n < t.known; ++n)
    for (int64_t part = 0; part < t.parts; ++part)
      for (int64_t k = 0; k < t.bins; ++k) {
        double angle = 2 * std::numbers::pi * static_cast<double>(n * k % t.length) / static_cast<double>(t.length);
        double weight = !t.half || n == 0 || 2 * n == t.length ? scale : 2 * n < t.length ? 2 * scale : 0;
        double cosine = std::cos(angle) * weight, sine = sign * std::sin(angle) * weight;
        if (t.half && part == 1 && (n == 0 || 2 * n == t.length))
          cosine = sine = 0; // these are real
        *to++ = part == 0 ? cosine : -sine;
        if (t.made == 2)
          *to++ = part == 0 ? sine : cosine;
      }
  return tensor;
}

/// The axis is an attribute in opset 17 (default 1) and an input since opset 20 (default -2).
int64_t transformedAxis(NodeBuilder &b) {
  int64_t axis = b.integer("axis", 1);
  if (b.node.opset >= 20) {
    std::vector<int64_t> given = b.has(2) ? b.knownIntegers(2) : std::vector<int64_t>{-2};
    b.expect(given.size() == 1, fmt::format("expected one axis, got {}", given.size()));
    axis = given[0];
  }
  axis = b.axis(axis, b.rank(0));
  b.expect(axis < b.rank(0) - 1, fmt::format("expected an axis before the last dimension, got {}", axis));
  return axis;
}

int64_t knownScalar(NodeBuilder &b, size_t i) {
  std::vector<int64_t> given = b.knownIntegers(i);
  b.expect(given.size() == 1, fmt::format("expected one number in input {}, got {}", i, given.size()));
  return given[0];
}

Transform transformOf(NodeBuilder &b, AffineExpr size) {
  std::optional<int64_t> parts = graph::constantSize(b.sizes(0).back()), have = graph::constantSize(size);
  if (!parts || !have)
    decline("a transform along a symbolic dimension is not compiled");
  b.expect(*parts == 1 || *parts == 2,
           fmt::format("expected real or complex numbers in the last dimension, got {}", *parts));
  Transform t{};
  t.inverse = b.integer("inverse", 0) != 0, t.parts = *parts;
  bool onesided = b.integer("onesided", 0) != 0;
  b.expect(!onesided || (t.parts == 1) != t.inverse,
           "a onesided transform takes a real signal, and its inverse a complex spectrum");
  t.half = onesided && t.inverse;
  t.length = b.has(1) ? knownScalar(b, 1) : t.half ? 2 * (*have - 1) : *have;
  b.expect(t.length >= 1 && t.length < (1 << 24), fmt::format("expected a dft_length of 1 to 2^24, got {}", t.length));
  t.known = std::min(*have, t.half ? t.length / 2 + 1 : t.length);
  t.bins = onesided && !t.inverse ? t.length / 2 + 1 : t.length;
  t.made = t.half ? 1 : 2;
  return t;
}

} // namespace

void dft(NodeBuilder &b) {
  b.expect(b.rank(0) >= 2 && isFloat(b.type(0)),
           fmt::format("expected floats of rank 2 or more, got {}", b.print(b.sizes(0))));
  int64_t axis = transformedAxis(b), rank = b.rank(0);
  Transform t = transformOf(b, b.sizes(0)[axis]);
  if (t.known < 1 || double(t.known) * t.parts * t.bins * t.made > maxTurns)
    decline("a transform of {} elements is not compiled", t.length);
  Term x = b.convert(b.raw(0), b.type(0), DType::F64); // in f64, because sums that cancel must be nearly zero
  if (graph::constantSize(x.sizes()[axis]) != t.known)
    x = b.slice(x, axis, b.number(0), b.number(t.known));
  SmallVector<int64_t> order, back(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis && dim != rank - 1)
      order.push_back(dim);
  order.push_back(axis), order.push_back(rank - 1);
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = static_cast<int64_t>(to);
  Term moved = b.transpose(x, order);
  Sizes sizes = moved.sizes(), rest(sizes.begin(), sizes.end() - 2);
  Term flat = b.reshape(moved, {b.product(rest), sizes[rank - 2], sizes[rank - 1]});
  Term result = b.contract(flat, b.constantTerm(turnsOf(t)), "rnp,npkq->rkq");
  sizes[rank - 2] = b.number(t.bins), sizes[rank - 1] = b.number(t.made);
  b.out(b.convert(b.transpose(b.reshape(result, sizes), back), DType::F64, b.type(0)));
}

void stft(NodeBuilder &b) {
  b.expectRank(0, 2, 3);
  Sizes sizes = b.sizes(0);
  if (b.rank(0) == 3 && graph::constantSize(sizes[2]) != 1)
    decline("the transform of a complex signal is not compiled");
  int64_t step = knownScalar(b, 1);
  std::optional<int64_t> frame = b.has(3)   ? std::optional(knownScalar(b, 3))
                                 : b.has(2) ? graph::constantSize(b.sizes(2)[0])
                                            : graph::constantSize(sizes[1]);
  if (!frame)
    decline("frames of a symbolic length are not compiled");
  b.expect(step >= 1 && *frame >= 1 && graph::constantSize(sizes[1]).value_or(*frame) >= *frame,
           fmt::format("expected a step of 1 or more and a frame within the signal, got {} and {}", step, *frame));
  Transform t{};
  t.length = t.known = *frame, t.bins = b.integer("onesided", 1) ? *frame / 2 + 1 : *frame, t.parts = 1, t.made = 2;
  if (double(t.known) * t.bins * 2 > maxTurns)
    decline("a transform of {} elements is not compiled", t.length);
  DType type = b.type(0) == DType::F64 ? DType::F64 : DType::F32;
  Term x = b.reshape(b.convert(b.raw(0), b.type(0), type), {sizes[0], sizes[1]});
  WindowShape w;
  w.kernel = {*frame}, w.strides = {step}, w.dilations = {1}, w.low = {0}, w.high = {0};
  w.output = {graph::canonicalSize((sizes[1] - *frame).floorDiv(step) + 1)};
  Tensor turns = turnsOf(t).reshaped({t.known, t.bins * t.made});
  const Tensor *window = b.has(2) ? b.constant(2) : nullptr;
  b.expect(!b.has(2) || (b.rank(2) == 1 && graph::constantSize(b.sizes(2)[0]).value_or(*frame) == *frame),
           fmt::format("expected a window of {} elements", *frame));
  if (window && window->type() == DType::F32)
    for (int64_t i = 0; i < turns.count(); ++i)
      turns.data<double>()[i] *= window->data<float>()[i / (t.bins * t.made)];
  Term matrix = b.convert(b.constantTerm(turns), DType::F64, type);
  if (b.has(2) && !(window && window->type() == DType::F32))
    matrix = matrix * b.along(b.convert(b.raw(2), b.type(2), type), matrix, 0);
  Term result = b.contract(windowOf(b, x, w, 0), matrix, "bfn,nk->bfk");
  b.out(b.convert(b.reshape(result, {sizes[0], w.output[0], b.number(t.bins), b.number(2)}), type, b.type(0)));
}

/// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N), with N one less than the size unless periodic.
void cosineWindow(NodeBuilder &b) {
  struct {
    std::string_view op;
    double a0, a1, a2;
  } constexpr windows[] = {
      {"HannWindow", 0.5, 0.5, 0}, {"HammingWindow", 25.0 / 46, 21.0 / 46, 0}, {"BlackmanWindow", 0.42, 0.5, 0.08}};
  const auto *row = llvm::find_if(windows, [&](const auto &window) { return window.op == b.node.op; });
  auto type = static_cast<DType>(b.integer("output_datatype", static_cast<int64_t>(DType::F32)));
  if (!findDType(type))
    decline("the element type {} is not compiled", b.integer("output_datatype", 0));
  Sizes size = b.sizesFrom(0);
  b.expect(size.size() == 1 && graph::constantSize(size[0]).value_or(0) >= 0, "expected one size of at least 0");
  Type i64 = b.state.builder.getI64Type();
  Term n = b.convert(b.iota(size, 0, i64), DType::I64, DType::F64);
  Term period =
      b.convert(b.sizeAs(size[0], size, i64), DType::I64, DType::F64) - (b.integer("periodic", 1) ? 0.0 : 1.0);
  Term angle = n * (2 * std::numbers::pi) / b.maximum(period, 1);
  Term result = row->a0 - row->a1 * b.apply<math::CosOp>(angle);
  b.out(b.convert(row->a2 != 0 ? result + row->a2 * b.apply<math::CosOp>(angle * 2.0) : result, DType::F64, type),
        type);
}

/// A depthwise convolution over [state, x]; the end of this concatenation is the next state.
void causalConvWithState(NodeBuilder &b) {
  b.expectRank(0, 3), b.expectRank(1, 3);
  Sizes sizes = b.sizes(0);
  std::optional<int64_t> taps = graph::constantSize(b.sizes(1)[2]);
  if (!taps)
    decline("weights of a symbolic size are not compiled");
  std::string activation = b.text("activation", "none");
  b.expect(activation == "none" || activation == "silu" || activation == "swish",
           fmt::format("expected activation to be none, silu or swish, got '{}'", activation));
  b.unify(b.sizes(1)[0], sizes[1], "channels of the weights");
  b.expect(graph::constantSize(b.sizes(1)[1]) == 1 && *taps >= 1,
           fmt::format("expected weights [C, 1, k], got {}", b.print(b.sizes(1))));
  Sizes state{sizes[0], sizes[1], b.number(*taps - 1)};
  Term x = b.raw(0), line = x;
  if (b.has(3)) {
    b.expectRank(3, 3);
    for (size_t i = 0; i < 3; ++i)
      b.unify(b.sizes(3)[i], state[i], fmt::format("dimension {} of the past state", i));
  }
  if (*taps > 1)
    line = b.concat({b.has(3) ? b.raw(3) : b.splat(state, x.element(), 0), x}, 2);
  Term sum = b.like(b.widen(x), 0), weights = b.in(1);
  for (int64_t k = 0; k < *taps; ++k)
    sum = sum + b.widen(b.slice(line, 2, b.number(k), sizes[2])) *
                    b.along(b.reshape(b.slice(weights, 2, b.number(k), b.number(1)), {sizes[1]}), sum, 1);
  if (b.has(2))
    sum = sum + b.along(b.in(2), sum, 1);
  b.out(activation == "none" ? sum : sum * b.sigmoid(sum));
  if (b.wants(1))
    b.out(*taps > 1 ? b.slice(line, 2, sizes[2], state[2]) : b.splat(state, x.element(), 0), b.type(0), 1);
}

} // namespace tilewright::ops
