// Convolutions and poolings, channels last: a contraction of a window, a reduction of a window.
//
//   x [N, C, H, W] -> transpose [N, H, W, C] -> window [N, OH, OW, KH, KW, C] -> contract with [KH, KW, C, M] -> [N, OH, OW, M] -> transpose
#include "frontend/ops/Handlers.h"

using namespace mlir;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

/// What Conv and the pools share: kernel, strides, dilations, padding, and the sizes that follow.
struct WindowShape {
  SmallVector<int64_t> kernel, strides, dilations, low, high;
  Sizes output; // spatial
  size_t spatial() const { return kernel.size(); }
};

SmallVector<int64_t> listAttribute(NodeBuilder &b, std::string_view name, size_t count, int64_t fallback, int64_t least) {
  auto given = b.integers(name);
  if (!given)
    return SmallVector<int64_t>(count, fallback);
  b.expect(given->size() == count, fmt::format("expected {} {} because of the input's rank, got {}", count, name, given->size()));
  for (int64_t value : *given)
    b.expect(value >= least, fmt::format("expected {} of at least {}, got {}", name, least, value));
  return SmallVector<int64_t>(given->begin(), given->end());
}

WindowShape windowShape(NodeBuilder &b, ArrayRef<int64_t> kernel, ArrayRef<AffineExpr> spatialSizes) {
  WindowShape w;
  size_t n = spatialSizes.size();
  w.kernel.assign(kernel.begin(), kernel.end());
  b.expect(kernel.size() == n, fmt::format("expected a kernel of {} dimensions because of the input's rank, got {}", n, kernel.size()));
  w.strides = listAttribute(b, "strides", n, 1, 1);
  w.dilations = listAttribute(b, "dilations", n, 1, 1);
  SmallVector<int64_t> pads = listAttribute(b, "pads", 2 * n, 0, 0);
  w.low.assign(pads.begin(), pads.begin() + n);
  w.high.assign(pads.begin() + n, pads.end());
  std::string automatic = b.text("auto_pad", "NOTSET");
  bool ceiling = b.integer("ceil_mode", 0);
  for (size_t i = 0; i < n; ++i) {
    AffineExpr size = spatialSizes[i];
    int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1, stride = w.strides[i];
    b.expect(w.kernel[i] >= 1, fmt::format("expected kernel sizes of at least 1, got {}", w.kernel[i]));
    if (automatic == "VALID")
      w.low[i] = w.high[i] = 0;
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      std::optional<int64_t> constant = graph::constantSize(size);
      if (!constant && stride != 1)
        decline("{} with strides over a symbolic dimension is not compiled", automatic);
      w.output.push_back(graph::canonicalSize(size.ceilDiv(stride)));
      int64_t total = constant ? std::max<int64_t>(0, (llvm::divideCeilSigned(*constant, stride) - 1) * stride + extent - *constant) : extent - 1;
      w.low[i] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.high[i] = total - w.low[i];
      continue;
    }
    AffineExpr room = size + (w.low[i] + w.high[i] - extent);
    AffineExpr count = ceiling ? room.ceilDiv(stride) + 1 : room.floorDiv(stride) + 1;
    if (std::optional<int64_t> constant = graph::constantSize(graph::canonicalSize(count)); constant && ceiling) {
      // The last window must begin inside the input or its low padding.
      bool outside = (*constant - 1) * stride >= *graph::constantSize(size) + w.low[i];
      count = b.number(*constant - outside);
    }
    count = graph::canonicalSize(count);
    b.expect(graph::constantSize(count).value_or(1) >= 1, fmt::format("expected the kernel to fit in {} with its padding, got an extent of {}", b.state.print(size), extent));
    w.output.push_back(count);
  }
  return w;
}

/// [N, C, x...] -> [N, x..., C]
Term channelsLast(NodeBuilder &b, Term x) {
  SmallVector<int64_t> perm{0};
  for (int64_t i = 2; i < x.rank(); ++i)
    perm.push_back(i);
  perm.push_back(1);
  return b.transpose(x, perm);
}

Term channelsFirst(NodeBuilder &b, Term x) {
  SmallVector<int64_t> perm{0, x.rank() - 1};
  for (int64_t i = 1; i < x.rank() - 1; ++i)
    perm.push_back(i);
  return b.transpose(x, perm);
}

/// [N, x..., rest...] -> [N, o..., k..., rest...]; a window of single elements is only a slice, or nothing.
Term windowOf(NodeBuilder &b, Term x, const WindowShape &w, double fill) {
  Sizes from = x.sizes(), sizes{from[0]};
  llvm::append_range(sizes, w.output);
  for (int64_t k : w.kernel)
    sizes.push_back(b.number(k));
  sizes.append(from.begin() + 1 + w.spatial(), from.end());
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(1, 1 + w.spatial()));
  return b.term(graph::WindowOp::create(b.state.builder, b.state.location, b.state.tensorType(sizes, x.element()), x.value, dims, w.strides, w.dilations, w.low,
                                        b.scalar(x.element(), fill)));
}

bool isPointwise(const WindowShape &w) {
  auto all = [](ArrayRef<int64_t> list, int64_t value) { return llvm::all_of(list, [&](int64_t v) { return v == value; }); };
  return all(w.kernel, 1) && all(w.strides, 1) && all(w.low, 0) && all(w.high, 0);
}

constexpr std::string_view outputLoops = "xyzuv", kernelLoops = "hijkl";

/// One group: a matrix product over the window.
Term convolveDense(NodeBuilder &b, Term x, const WindowShape &w) {
  size_t n = w.spatial();
  std::string o(outputLoops.substr(0, n)), k(kernelLoops.substr(0, n));
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(2, 2 + n)); // [M, C, k...] -> [k..., C, M]
  perm.push_back(1), perm.push_back(0);
  Term weights = b.transposedInput(1, perm);
  if (isPointwise(w)) {
    Sizes matrix{weights.sizes()[n], weights.sizes()[n + 1]};
    return b.contract(x, b.reshape(weights, matrix), "b" + o + "c,cm->b" + o + "m");
  }
  return b.contract(windowOf(b, x, w, 0), weights, "b" + o + k + "c," + k + "cm->b" + o + "m");
}

/// As many groups as channels: no contraction at all, each channel sums its own window.
Term convolveDepthwise(NodeBuilder &b, Term x, const WindowShape &w, int64_t multiplier) {
  size_t n = w.spatial();
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(2, 2 + n)); // [C*m, 1, k...] -> [k..., 1, C*m]
  perm.push_back(1), perm.push_back(0);
  Term weights = b.transposedInput(1, perm);
  Term window = b.widen(windowOf(b, x, w, 0)); // [N, o..., k..., C]
  Sizes kernelSizes = weights.sizes(), sizes = window.sizes();
  kernelSizes.erase(kernelSizes.begin() + n);
  int64_t first = 1 + static_cast<int64_t>(n);
  if (multiplier > 1) {
    AffineExpr m = b.number(multiplier);
    sizes.push_back(m);
    kernelSizes.back() = window.sizes().back();
    kernelSizes.push_back(m);
    window = b.broadcast(window, sizes, llvm::to_vector(llvm::seq<int64_t>(0, window.rank())));
  }
  weights = b.widen(b.reshape(weights, kernelSizes));
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(first, static_cast<int64_t>(sizes.size())));
  Term product = window * b.broadcast(weights, sizes, dims);
  Term result = b.reduce(ReduceKind::Sum, product, llvm::to_vector(llvm::seq<int64_t>(first, first + n)));
  if (multiplier == 1)
    return result;
  Sizes joined = result.sizes();
  joined.pop_back();
  joined.back() = joined.back() * multiplier;
  return b.reshape(result, joined);
}

/// Groups are a batch loop.
Term convolveGrouped(NodeBuilder &b, Term x, const WindowShape &w, int64_t groups) {
  size_t n = w.spatial();
  std::string o(outputLoops.substr(0, n)), k(kernelLoops.substr(0, n));
  Sizes sizes = x.sizes(), split(sizes.begin(), sizes.end() - 1);
  AffineExpr perGroup = b.sizes(1)[1], outputs = graph::divideExactly(b.sizes(1)[0], b.number(groups));
  b.expect(outputs != nullptr, fmt::format("expected output channels that {} groups divide, got {}", groups, b.state.print(b.sizes(1)[0])));
  split.push_back(b.number(groups)), split.push_back(perGroup);
  Term grouped = b.reshape(x, split); // [N, x..., G, C/G]
  Sizes weightSizes{b.number(groups), outputs, perGroup};
  weightSizes.append(b.sizes(1).begin() + 2, b.sizes(1).end());
  Term weights = b.reshape(b.raw(1), weightSizes); // [G, M/G, C/G, k...]
  Term result = b.contract(windowOf(b, grouped, w, 0), weights, "b" + o + k + "gc,gmc" + k + "->b" + o + "gm");
  Sizes joined = result.sizes();
  joined.pop_back();
  joined.back() = joined.back() * outputs;
  return b.reshape(result, joined);
}

} // namespace

void conv(NodeBuilder &b) {
  b.expect(b.rank(0) >= 3 && b.rank(1) == b.rank(0), fmt::format("expected input and weights of one rank of 3 or more, got {} and {}", b.rank(0), b.rank(1)));
  if (b.rank(0) > 7)
    decline("convolutions over more than 5 dimensions are not compiled");
  SmallVector<int64_t> kernel;
  for (AffineExpr size : llvm::ArrayRef(b.sizes(1)).drop_front(2)) {
    if (!graph::constantSize(size))
      decline("a kernel of symbolic size is not compiled");
    kernel.push_back(*graph::constantSize(size));
  }
  if (auto given = b.integers("kernel_shape"))
    b.expect(llvm::equal(*given, kernel), "expected kernel_shape to be the weights' sizes");
  WindowShape w = windowShape(b, kernel, llvm::ArrayRef(b.sizes(0)).drop_front(2));
  int64_t groups = b.integer("group", 1);
  b.expect(groups >= 1, fmt::format("expected at least one group, got {}", groups));
  b.unify(b.sizes(0)[1], b.sizes(1)[1] * groups, "input channels");
  std::optional<int64_t> outputs = graph::constantSize(b.sizes(1)[0]);
  Term x = channelsLast(b, b.raw(0)), result;
  if (groups == 1)
    result = convolveDense(b, x, w);
  else if (graph::constantSize(b.sizes(1)[1]) == 1 && outputs && *outputs % groups == 0)
    result = convolveDepthwise(b, x, w, *outputs / groups);
  else
    result = convolveGrouped(b, x, w, groups);
  if (b.has(2))
    result = result + b.in(2);
  // Rounded where the ONNX node ends, before the layout changes: the transpose then moves what is stored.
  if (isHalf(b.type(0)))
    result = b.convert(result, DType::F32, b.type(0));
  b.out(channelsFirst(b, result));
}

//===- Pools -------------------------------------------------------------------------------------------------------------===//

namespace {

WindowShape poolShape(NodeBuilder &b) {
  b.expect(b.rank(0) >= 3, fmt::format("expected rank 3 or more, got {}", b.rank(0)));
  auto kernel = b.integers("kernel_shape");
  b.expect(kernel.has_value(), "expected kernel_shape, got none");
  return windowShape(b, *kernel, llvm::ArrayRef(b.sizes(0)).drop_front(2));
}

SmallVector<int64_t> kernelAxes(const WindowShape &w) {
  return llvm::to_vector(llvm::seq<int64_t>(1 + w.spatial(), 1 + 2 * w.spatial()));
}

Term stored(NodeBuilder &b, Term x) { return isHalf(b.type(0)) ? b.convert(x, DType::F32, b.type(0)) : x; }

/// How many elements each window holds, by output position: the product over dimensions of what lies inside.
Tensor windowCounts(NodeBuilder &b, const WindowShape &w, bool includePadding) {
  Shape shape;
  for (AffineExpr size : w.output)
    shape.push_back(*graph::constantSize(size));
  Tensor counts = Tensor::allocate(DType::F32, shape);
  for (int64_t flat = 0; flat < counts.count(); ++flat) {
    double product = 1;
    for (int64_t dim = static_cast<int64_t>(w.spatial()), rest = flat; dim-- > 0; rest /= shape[dim]) {
      int64_t size = *graph::constantSize(b.sizes(0)[2 + dim]), inside = 0;
      int64_t from = includePadding ? -w.low[dim] : 0, to = size + (includePadding ? w.high[dim] : 0);
      for (int64_t k = 0; k < w.kernel[dim]; ++k) {
        int64_t at = rest % shape[dim] * w.strides[dim] + k * w.dilations[dim] - w.low[dim];
        inside += at >= from && at < to;
      }
      product *= static_cast<double>(inside);
    }
    counts.data<float>()[flat] = static_cast<float>(1.0 / std::max(product, 1.0));
  }
  return counts;
}

} // namespace

void maxPool(NodeBuilder &b) {
  if (b.wants(1))
    decline("MaxPool with indices is not compiled");
  WindowShape w = poolShape(b);
  DType type = b.type(0);
  Term x = channelsLast(b, b.raw(0));
  bool isUnsigned = !findDType(type)->isSigned;
  if (isUnsigned)
    x = b.convert(x, type, DType::I32);
  double lowest = isFloat(type) ? -std::numeric_limits<double>::infinity() : -std::ldexp(1.0, static_cast<int>(x.element().getIntOrFloatBitWidth()) - 1);
  Term result = b.reduce(ReduceKind::Max, b.widen(windowOf(b, x, w, lowest)), kernelAxes(w));
  result = isUnsigned ? b.convert(result, DType::I32, type) : stored(b, result);
  b.out(channelsFirst(b, result));
}

void averagePool(NodeBuilder &b) {
  WindowShape w = poolShape(b);
  Term x = channelsLast(b, b.raw(0));
  Term sum = b.reduce(ReduceKind::Sum, b.widen(windowOf(b, x, w, 0)), kernelAxes(w));
  bool includePadding = b.integer("count_include_pad", 0);
  auto zero = [](ArrayRef<int64_t> list) { return llvm::all_of(list, [](int64_t v) { return v == 0; }); };
  bool full = ((zero(w.low) && zero(w.high)) || includePadding) && !b.integer("ceil_mode", 0);
  bool known = llvm::all_of(llvm::concat<AffineExpr>(w.output, Sizes(b.sizes(0).begin() + 2, b.sizes(0).end())),
                            [](AffineExpr size) { return graph::constantSize(size).has_value(); });
  int64_t elements = 1;
  for (int64_t k : w.kernel)
    elements *= k;
  if (full)
    sum = sum * (1.0 / static_cast<double>(elements));
  else if (known && sum.element().isF32())
    sum = sum * b.broadcast(b.constantTerm(windowCounts(b, w, includePadding)), sum.sizes(), llvm::to_vector(llvm::seq<int64_t>(1, 1 + w.spatial())));
  else
    decline("averages over partly padded windows of symbolic sizes are not compiled");
  b.out(channelsFirst(b, stored(b, sum)));
}

void lpPool(NodeBuilder &b) {
  WindowShape w = poolShape(b);
  int64_t p = b.integer("p", 2);
  Term x = b.widen(windowOf(b, channelsLast(b, b.raw(0)), w, 0));
  if (p != 1 && p != 2)
    decline("LpPool with p = {} is not compiled", p);
  Term sum = b.reduce(ReduceKind::Sum, p == 1 ? b.abs(x) : x * x, kernelAxes(w));
  b.out(channelsFirst(b, stored(b, p == 1 ? sum : b.sqrt(sum))));
}

namespace {
template <typename Reduce> void globalPool(NodeBuilder &b, Reduce reduce) {
  Term x = b.in(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, x.rank()));
  b.out(b.keepDims(reduce(x, axes), x, axes, true));
}
} // namespace

void globalAveragePool(NodeBuilder &b) {
  globalPool(b, [&](Term x, ArrayRef<int64_t> axes) { return b.mean(x, axes); });
}
void globalMaxPool(NodeBuilder &b) {
  globalPool(b, [&](Term x, ArrayRef<int64_t> axes) { return b.reduce(ReduceKind::Max, x, axes); });
}
void globalLpPool(NodeBuilder &b) {
  if (b.integer("p", 2) != 2)
    decline("GlobalLpPool with p = {} is not compiled", b.integer("p", 2));
  globalPool(b, [&](Term x, ArrayRef<int64_t> axes) { return b.sqrt(b.reduce(ReduceKind::Sum, x * x, axes)); });
}

} // namespace tilewright::ops
