// SPDX-License-Identifier: Apache-2.0
// Softmax and the normalizations. All of their arithmetic is in f32.
#include "frontend/ops/Handlers.h"

using namespace mlir;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

SmallVector<int64_t> range(int64_t begin, int64_t end) { return llvm::to_vector(llvm::seq<int64_t>(begin, end)); }

/// The input, reshaped so that softmax is along one axis: before opset 13, everything from `axis` on is one row.
struct Rows {
  Term x;
  int64_t axis;
  Sizes sizes; // of the result
};

Rows softmaxRows(NodeBuilder &b) {
  bool flattens = b.node.opset < 13;
  int64_t axis = b.axis(b.integer("axis", flattens ? 1 : -1), b.rank(0), flattens);
  Term x = b.in(0);
  Sizes sizes = x.sizes();
  if (!flattens || axis == x.rank() - 1)
    return {x, axis, sizes};
  x = b.reshape(x,
                {b.product(llvm::ArrayRef(sizes).take_front(axis)), b.product(llvm::ArrayRef(sizes).drop_front(axis))});
  return {x, 1, sizes};
}

/// (x - mean) / sqrt(variance + epsilon) along `axes`.
Term normalized(NodeBuilder &b, Term x, ArrayRef<int64_t> axes, double epsilon, Term *mean = nullptr,
                Term *inverse = nullptr) {
  Term average = b.mean(x, axes);
  Term centered = x - b.spread(average, x, axes);
  Term scale = 1.0 / b.sqrt(b.mean(centered * centered, axes) + epsilon);
  if (mean)
    *mean = average, *inverse = scale;
  return centered * b.spread(scale, x, axes);
}

/// 1 / sqrt(mean of squares + epsilon) along `axes`, broadcast to the sizes of x.
Term rootMeanSquareInverse(NodeBuilder &b, Term x, ArrayRef<int64_t> axes, double epsilon) {
  return b.spread(1.0 / b.sqrt(b.mean(x * x, axes) + epsilon), x, axes);
}

Term f32Input(NodeBuilder &b, size_t i) {
  return b.type(i) == DType::F64 ? b.raw(i) : b.convert(b.raw(i), b.type(i), DType::F32);
}

/// com.microsoft: input + skip + the input `bias`. The sum is the fourth output too.
Term skipSum(NodeBuilder &b, size_t bias) {
  b.expectRank(0, 1, 8);
  if (b.wants(1) || b.wants(2))
    decline("its mean and variance are not compiled");
  Term x = b.in(0) + b.in(1);
  if (b.has(bias))
    x = x + b.in(bias);
  b.out(x, b.type(0), 3);
  return x;
}

} // namespace

void softmax(NodeBuilder &b) {
  Rows rows = softmaxRows(b);
  Term x = rows.x;
  Term raised = b.exp(x - b.spread(b.reduce(ReduceKind::Max, x, {rows.axis}), x, {rows.axis}));
  Term sum = b.spread(b.reduce(ReduceKind::Sum, raised, {rows.axis}), x, {rows.axis});
  b.out(b.reshape(raised / sum, rows.sizes));
}

void logSoftmax(NodeBuilder &b) {
  Rows rows = softmaxRows(b);
  Term x = rows.x;
  Term shifted = x - b.spread(b.reduce(ReduceKind::Max, x, {rows.axis}), x, {rows.axis});
  Term sum = b.reduce(ReduceKind::Sum, b.exp(shifted), {rows.axis});
  b.out(b.reshape(shifted - b.spread(b.log(sum), x, {rows.axis}), rows.sizes));
}

void layerNormalization(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", -1), b.rank(0));
  Term x = f32Input(b, 0), mean, inverse;
  SmallVector<int64_t> axes = range(axis, x.rank());
  Term y = normalized(b, x, axes, b.real("epsilon", 1e-5), &mean, &inverse) * f32Input(b, 1);
  if (b.has(2))
    y = y + f32Input(b, 2);
  b.out(y, b.type(1)); // optimizers leave halves beside a scale of floats
  DType statistics = b.type(0) == DType::F64 ? DType::F64 : DType::F32;
  if (b.wants(1))
    b.out(b.keepDims(mean, x, axes, true), statistics, 1);
  if (b.wants(2))
    b.out(b.keepDims(inverse, x, axes, true), statistics, 2);
}

void rmsNormalization(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", -1), b.rank(0));
  Term x = f32Input(b, 0);
  SmallVector<int64_t> axes = range(axis, x.rank());
  Term inverse = 1.0 / b.sqrt(b.mean(x * x, axes) + b.real("epsilon", 1e-5));
  b.out(x * b.spread(inverse, x, axes) * f32Input(b, 1), b.type(1));
  if (b.wants(1)) // only SimplifiedLayerNormalization has it
    b.out(b.keepDims(inverse, x, axes, true), DType::F32, 1);
}

void skipLayerNormalization(NodeBuilder &b) {
  Term x = skipSum(b, 4);
  Term y = normalized(b, x, {x.rank() - 1}, b.real("epsilon", 1e-12)) * b.in(2);
  b.out(b.has(3) ? y + b.in(3) : y);
}

void skipSimplifiedLayerNormalization(NodeBuilder &b) {
  Term x = skipSum(b, 3);
  SmallVector<int64_t> axes = {x.rank() - 1};
  b.out(x * rootMeanSquareInverse(b, x, axes, b.real("epsilon", 1e-12)) * b.in(2));
}

void instanceNormalization(NodeBuilder &b) {
  b.expectRank(0, 3, 8);
  Term x = b.in(0);
  Term y = normalized(b, x, range(2, x.rank()), b.real("epsilon", 1e-5));
  b.out(y * b.along(b.in(1), x, 1) + b.along(b.in(2), x, 1));
}

/// Normalizes groups of channels. Scale and bias are per channel since opset 21, per group before.
void groupNormalization(NodeBuilder &b) {
  b.expectRank(0, 3, 8);
  Term x = b.in(0);
  Sizes sizes = x.sizes(), split{sizes[0], b.number(b.integer("num_groups", 1))};
  AffineExpr channels = graph::divideExactly(sizes[1], split[1]);
  b.expect(channels != nullptr,
           fmt::format("expected channels that {} groups divide, got {}", b.integer("num_groups", 1), b.print(sizes)));
  split.push_back(channels);
  llvm::append_range(split, llvm::ArrayRef(sizes).drop_front(2));
  Term grouped = b.reshape(x, split);
  Term y = normalized(b, grouped, range(2, grouped.rank()), b.real("epsilon", 1e-5));
  if (b.node.opset < 21)
    return b.out(b.reshape(y * b.along(b.in(1), grouped, 1) + b.along(b.in(2), grouped, 1), sizes));
  y = b.reshape(y, sizes);
  b.out(y * b.along(b.in(1), y, 1) + b.along(b.in(2), y, 1));
}

/// (x - mean) / sqrt(variance + epsilon) * scale + bias. Constant parameters become one factor and one summand
/// for each channel.
void batchNormalization(NodeBuilder &b) {
  if (b.integer("training_mode", 0) || (b.node.opset < 7 && !b.integer("is_test", 0)))
    decline("training mode is not compiled");
  for (size_t i = 1; i < b.node.outputs.size(); ++i)
    if (b.wants(i))
      decline("running statistics are not compiled");
  double epsilon = b.real("epsilon", 1e-5);
  const Tensor *parameters[] = {b.constant(1), b.constant(2), b.constant(3), b.constant(4)};
  Term x = b.in(0);
  bool foldable = llvm::all_of(parameters, [&](const Tensor *t) {
    return t && (t->type() == DType::F32 || isHalf(t->type())) && t->count() == parameters[0]->count();
  });
  if (!foldable) {
    auto parameter = [&](size_t i) { // all are as long as the channels: between them nothing broadcasts
      Term vector = b.in(i);
      if (vector.rank() != 1 || x.rank() < 2 || graph::constantSize(vector.sizes()[0]) == 1)
        return vector;
      b.unify(vector.sizes()[0], x.sizes()[1], fmt::format("input {} along dimension 1", i));
      return b.conform(vector, x.sizes()[1]);
    };
    Term scale = parameter(1) / b.sqrt(parameter(4) + epsilon);
    Term shift = parameter(2) - parameter(3) * scale;
    return b.out(x * b.along(scale, x, 1) + b.along(shift, x, 1));
  }
  Tensor scale = Tensor::allocate(DType::F32, parameters[0]->shape()),
         shift = Tensor::allocate(DType::F32, parameters[0]->shape());
  for (int64_t c = 0; c < scale.count(); ++c) {
    auto parameter = [&](int which) { return numberAt(*parameters[which], c).value(); };
    double factor = parameter(0) / std::sqrt(parameter(3) + epsilon);
    scale.data<float>()[c] = static_cast<float>(factor);
    shift.data<float>()[c] = static_cast<float>(parameter(1) - parameter(2) * factor);
  }
  b.out(x * b.along(b.constantTerm(scale), x, 1) + b.along(b.constantTerm(shift), x, 1));
}

/// x / (bias + alpha / size * sum of squares over neighbouring channels) ^ beta. The sum is a reduction over windows of
/// channels.
void lrn(NodeBuilder &b) {
  int64_t size = b.integer("size", 1), low = (size - 1) / 2;
  b.expectRank(0, 3, 8);
  b.expect(size >= 1 && size <= 1 << 20, fmt::format("expected a positive size, got {}", size));
  double alpha = b.real("alpha", 1e-4), beta = b.real("beta", 0.75), bias = b.real("bias", 1);
  Term x = b.in(0), square = x * x;
  Sizes sizes = x.sizes();
  sizes.insert(sizes.begin() + 2, b.number(size));
  Term window = b.term(graph::WindowOp::create(
      b.state.builder, b.state.location, b.state.tensorType(sizes, x.element()), square.value, ArrayRef<int64_t>{1},
      ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1}, ArrayRef<int64_t>{low}, b.scalar(x.element(), 0)));
  Term base = b.reduce(ReduceKind::Sum, window, {2}) * (alpha / static_cast<double>(size)) + bias;
  b.out(beta == 0.5 ? x / b.sqrt(base) : x * b.exp(b.log(base) * -beta));
}

void lpNormalization(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", -1), b.rank(0)), p = b.integer("p", 2);
  b.expect(p == 1 || p == 2, fmt::format("expected p = 1 or 2, got {}", p));
  Term x = b.in(0);
  Term norm = b.reduce(ReduceKind::Sum, p == 1 ? b.abs(x) : x * x, {axis});
  Term isZero =
      b.compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, norm, b.like(norm, 0)); // a norm of 0 leaves zeros
  norm = b.select(isZero, b.like(norm, 1), p == 1 ? norm : b.sqrt(norm));
  b.out(x / b.spread(norm, x, {axis}));
}

void meanVarianceNormalization(NodeBuilder &b) {
  std::vector<int64_t> axes = b.axes(b.integers("axes").value_or(std::vector<int64_t>{0, 2, 3}), b.rank(0));
  Term x = b.in(0);
  Term centered = x - b.spread(b.mean(x, axes), x, axes);
  Term deviation = b.sqrt(b.mean(centered * centered, axes)) + 1e-9;
  b.out(centered / b.spread(deviation, x, axes));
}

} // namespace tilewright::ops
