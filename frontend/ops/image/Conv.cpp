// SPDX-License-Identifier: Apache-2.0
// Convolutions: contractions of windows, with channels last.
//
//   x [N, C, H, W] -> transpose [N, H, W, C] -> window [N, OH, OW, KH, KW, C]
//     -> contract with [KH, KW, C, M] -> [N, OH, OW, M] -> transpose
#include "frontend/builder/Window.h"
#include "frontend/ops/Handlers.h"

using namespace mlir;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

constexpr std::string_view outputLoops = "xyzuv", kernelLoops = "hijkl";
constexpr int64_t maxSpatial = 5;

/// Whether each result reads only the element at its own position. (A transposed convolution may have fewer results.)
bool isPointwise(const WindowShape &w, Term x) {
  auto all = [](ArrayRef<int64_t> list, int64_t value) {
    return llvm::all_of(list, [&](int64_t v) { return v == value; });
  };
  Sizes sizes = x.sizes();
  return all(w.kernel, 1) && all(w.strides, 1) && all(w.low, 0) && all(w.high, 0) &&
         ArrayRef(w.output) == ArrayRef(sizes).slice(1, w.spatial());
}

SmallVector<int64_t> range(int64_t begin, int64_t end) { return llvm::to_vector(llvm::seq<int64_t>(begin, end)); }

/// [M, C, k...] -> [k..., C, M], the layout for the contraction.
Term kernelFirst(NodeBuilder &b, Term weights) {
  SmallVector<int64_t> perm = range(2, weights.rank());
  perm.push_back(1), perm.push_back(0);
  return b.transpose(weights, perm);
}

/// With one group: a matrix product over the window.
Term convolveDense(NodeBuilder &b, Term x, Term weights, const WindowShape &w) {
  size_t n = w.spatial();
  std::string o(outputLoops.substr(0, n)), k(kernelLoops.substr(0, n));
  if (isPointwise(w, x)) {
    Sizes sizes = weights.sizes();
    return b.contract(x, b.reshape(kernelFirst(b, weights), {sizes[1], sizes[0]}), "b" + o + "c,cm->b" + o + "m");
  }
  return b.contract(windowOf(b, x, w, 0), kernelFirst(b, weights), "b" + o + k + "c," + k + "cm->b" + o + "m");
}

/// With as many groups as channels: a reduction, because each channel only sums its own window.
Term convolveDepthwise(NodeBuilder &b, Term x, Term weights, const WindowShape &w, int64_t multiplier) {
  auto n = static_cast<int64_t>(w.spatial()), first = 1 + n;
  Term window = b.widen(windowOf(b, x, w, 0)); // [N, o..., k..., C]
  weights = kernelFirst(b, weights);           // [k..., 1, C * multiplier]
  Sizes kernelSizes = weights.sizes(), sizes = window.sizes();
  kernelSizes.erase(kernelSizes.begin() + n);
  if (multiplier > 1) {
    kernelSizes.back() = sizes.back();
    kernelSizes.push_back(b.number(multiplier));
    sizes.push_back(b.number(multiplier));
    window = b.broadcast(window, sizes, range(0, window.rank()));
  }
  weights = b.widen(b.reshape(weights, kernelSizes));
  Term product = window * b.broadcast(weights, sizes, range(first, static_cast<int64_t>(sizes.size())));
  Term result = b.reduce(ReduceKind::Sum, product, range(first, first + n));
  if (multiplier == 1)
    return result;
  Sizes joined = result.sizes();
  joined.pop_back();
  joined.back() = joined.back() * multiplier;
  return b.reshape(result, joined);
}

/// With several groups: they become a batch loop.
Term convolveGrouped(NodeBuilder &b, Term x, Term weights, const WindowShape &w, int64_t groups) {
  size_t n = w.spatial();
  std::string o(outputLoops.substr(0, n)), k(kernelLoops.substr(0, n));
  Sizes sizes = x.sizes(), split(sizes.begin(), sizes.end() - 1), from = weights.sizes();
  AffineExpr outputs = graph::divideExactly(from[0], b.number(groups));
  b.expect(outputs != nullptr,
           fmt::format("expected output channels that {} groups divide, got {}", groups, b.state.print(from[0])));
  split.push_back(b.number(groups)), split.push_back(from[1]);
  Sizes weightSizes{b.number(groups), outputs, from[1]};
  weightSizes.append(from.begin() + 2, from.end());
  Term grouped = b.reshape(x, split); // [N, x..., G, C/G]
  Term result = b.contract(windowOf(b, grouped, w, 0), b.reshape(weights, weightSizes),
                           "b" + o + k + "gc,gmc" + k + "->b" + o + "gm");
  Sizes joined = result.sizes();
  joined.pop_back();
  joined.back() = joined.back() * outputs;
  return b.reshape(result, joined);
}

/// Whether a kernel tap reads an element inside of a dimension of `size` for any of the `outputs` positions.
bool isMet(int64_t tap, int64_t dilation, int64_t low, int64_t stride, int64_t size, int64_t outputs) {
  int64_t first = tap * dilation - low, result = first >= 0 ? 0 : llvm::divideCeil(-first, stride);
  return result < outputs && first + result * stride < size;
}

/// Removes taps at the kernel's borders that only read padding. Of a 3x3 kernel over a 1x1 image one tap remains.
void dropIdleTaps(NodeBuilder &b, Term x, Term &weights, WindowShape &w) {
  for (size_t dim = 0; dim < w.spatial(); ++dim) {
    std::optional<int64_t> size = graph::constantSize(x.sizes()[1 + dim]), outputs = graph::constantSize(w.output[dim]);
    if (!size || !outputs || (dim < w.shift.size() && w.shift[dim]))
      continue;
    auto idle = [&](int64_t tap) { return !isMet(tap, w.dilations[dim], w.low[dim], w.strides[dim], *size, *outputs); };
    int64_t first = 0, end = w.kernel[dim];
    while (first < end && idle(first) && (first + 1) * w.dilations[dim] <= w.low[dim])
      ++first;
    while (end > first + 1 && idle(end - 1))
      --end;
    if (end - first == w.kernel[dim] || first == end)
      continue;
    weights = b.slice(weights, static_cast<int64_t>(2 + dim), b.number(first), b.number(end - first));
    w.kernel[dim] = end - first;
    w.low[dim] -= first * w.dilations[dim];
    w.high[dim] = std::max<int64_t>(0, (*outputs - 1) * w.strides[dim] + (w.kernel[dim] - 1) * w.dilations[dim] + 1 -
                                           *size - w.low[dim]);
  }
}

/// x [N, x..., C], weights [M, C/G, k...] -> [N, o..., M]
Term convolve(NodeBuilder &b, Term x, Term weights, WindowShape w, int64_t groups) {
  dropIdleTaps(b, x, weights, w);
  Sizes sizes = weights.sizes();
  std::optional<int64_t> outputs = graph::constantSize(sizes[0]);
  b.expect(groups >= 1 && groups <= 1 << 24, fmt::format("expected at least one group, got {}", groups));
  b.unify(x.sizes().back(), sizes[1] * groups, "input channels");
  if (groups == 1)
    return convolveDense(b, x, weights, w);
  bool isDepthwise = graph::constantSize(sizes[1]) == 1 && outputs && *outputs % groups == 0;
  return isDepthwise ? convolveDepthwise(b, x, weights, w, *outputs / groups)
                     : convolveGrouped(b, x, weights, w, groups);
}

/// The spatial sizes of weights [M, C, k...], which must agree with `kernel_shape`.
SmallVector<int64_t> kernelOf(NodeBuilder &b, size_t x, size_t weights) {
  b.expect(
      b.rank(x) >= 3 && b.rank(weights) == b.rank(x),
      fmt::format("expected input and weights of one rank of 3 or more, got {} and {}", b.rank(x), b.rank(weights)));
  if (b.rank(x) > 2 + maxSpatial)
    decline("convolutions over more than {} dimensions are not compiled", maxSpatial);
  SmallVector<int64_t> kernel;
  for (AffineExpr size : llvm::ArrayRef(b.sizes(weights)).drop_front(2)) {
    if (!graph::constantSize(size))
      decline("a kernel of symbolic size is not compiled");
    kernel.push_back(*graph::constantSize(size));
  }
  if (auto given = b.integers("kernel_shape"))
    b.expect(llvm::equal(*given, kernel), fmt::format("expected kernel_shape [{}] as in the weights, got [{}]",
                                                      fmt::join(kernel, ", "), fmt::join(*given, ", ")));
  return kernel;
}

WindowShape convolutionWindow(NodeBuilder &b, size_t x, size_t weights) {
  return windowShape(b, kernelOf(b, x, weights), llvm::ArrayRef(b.sizes(x)).drop_front(2));
}

} // namespace

void conv(NodeBuilder &b) {
  WindowShape w = convolutionWindow(b, 0, 1);
  Term result = convolve(b, channelsLast(b, b.raw(0)), b.raw(1), w, b.integer("group", 1));
  if (b.has(2))
    result = result + b.along(b.in(2), result, result.rank() - 1);
  b.out(channelsFirst(b, stored(b, result)));
}

//===- Integers ---------------------------------------------------------------------------------------------------===//

namespace {

/// An integer operand minus its zero point, which is a scalar or a vector along dimension 0.
Term centered(NodeBuilder &b, size_t i, size_t zeroPoint) {
  Term x = b.convert(b.raw(i), b.type(i), DType::I32);
  if (!b.has(zeroPoint))
    return x;
  Term zero = b.convert(b.raw(zeroPoint), b.type(zeroPoint), DType::I32);
  bool isVector = zero.rank() == 1 && graph::constantSize(zero.sizes()[0]) != 1;
  return x - (isVector ? b.along(zero, x, 0) : b.reshape(zero, {}));
}

} // namespace

void convInteger(NodeBuilder &b) {
  WindowShape w = convolutionWindow(b, 0, 1);
  Term result = convolve(b, channelsLast(b, centered(b, 0, 2)), centered(b, 1, 3), w, b.integer("group", 1));
  b.out(channelsFirst(b, result), DType::I32);
}

/// Inputs: x, its scale and zero point; weights, their scale and zero point; scale and zero point of y; bias.
void qlinearConv(NodeBuilder &b) {
  WindowShape w = convolutionWindow(b, 0, 3);
  Term sum = convolve(b, channelsLast(b, centered(b, 0, 2)), centered(b, 3, 5), w, b.integer("group", 1));
  if (b.has(8))
    sum = sum + b.along(b.raw(8), sum, sum.rank() - 1);
  Term scale = b.in(1) * b.in(4) / b.in(6);
  Term y = b.convert(sum, DType::I32, DType::F32);
  bool isVector = scale.rank() == 1 && graph::constantSize(scale.sizes()[0]) != 1;
  y = y * (isVector ? b.along(scale, y, y.rank() - 1) : b.reshape(scale, {}));
  b.out(channelsFirst(b, requantized(b, y, 7)), b.type(7));
}

//===- Transposed -------------------------------------------------------------------------------------------------===//

namespace {

/// Inserts zeros between the elements of dimension `dim`:
/// [.., x, ..] -> [.., x, 1, ..] -> [.., x, stride, ..] -> [.., x * stride, ..]
Term insertZeros(NodeBuilder &b, Term x, int64_t dim, int64_t stride) {
  if (stride == 1)
    return x;
  Sizes sizes = x.sizes(), split = sizes, joined = sizes;
  split.insert(split.begin() + dim + 1, b.number(1));
  Term columns = b.reshape(x, split);
  split[dim + 1] = b.number(stride);
  joined[dim] = joined[dim] * stride;
  return b.reshape(b.pad(columns, SmallVector<int64_t>(split.size(), 0), split, 0), joined);
}

/// How much of the full result is cropped at the low end, and the result's sizes.
struct TransposedShape {
  SmallVector<int64_t> low;
  Sizes output;
};

TransposedShape transposedShape(NodeBuilder &b, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                                ArrayRef<int64_t> dilations) {
  size_t n = kernel.size();
  SmallVector<int64_t> pads = listAttribute(b, "pads", 2 * n, 0, 0),
                       extra = listAttribute(b, "output_padding", n, 0, 0);
  auto wanted = b.integers("output_shape");
  std::string automatic = b.text("auto_pad", "NOTSET");
  TransposedShape shape;
  for (size_t i = 0; i < n; ++i) {
    AffineExpr size = b.sizes(0)[2 + i];
    AffineExpr full = (size - 1) * strides[i] + extra[i] + (kernel[i] - 1) * dilations[i] + 1;
    bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (!wanted && !same) {
      shape.low.push_back(automatic == "VALID" ? 0 : pads[i]);
      shape.output.push_back(graph::canonicalSize(full - (automatic == "VALID" ? 0 : pads[i] + pads[n + i])));
      continue;
    }
    if (wanted && wanted->size() < n)
      malformed("expected {} sizes in output_shape, got {}", n, wanted->size());
    AffineExpr output = wanted ? b.number((*wanted)[wanted->size() - n + i]) : size * strides[i];
    std::optional<int64_t> total = graph::constantSize(graph::canonicalSize(full - output));
    if (!total)
      decline("an output_shape of a symbolic input is not compiled");
    int64_t cut = std::max<int64_t>(0, *total);
    if (!wanted && *total < 0) // ONNX Runtime does not crop below 0 either
      output = full;
    shape.low.push_back(automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2);
    shape.output.push_back(graph::canonicalSize(output));
  }
  return shape;
}

/// One dimension of a transposed convolution, decomposed into phases p: result element stride * q + p is the sum over
/// taps t of x[q + first + t] times weight number p + low - stride * (first + t), if there is a weight of that number.
struct Phases {
  int64_t stride, kernel, low, first, taps;
  AffineExpr output;  // of each phase; the last of them may lie beyond the result
  int64_t groups = 1; // 2: the taps of the upper half of the phases are one later than those of the lower half
  std::optional<int64_t> weightOf(int64_t tap, int64_t phase) const {
    int64_t weight = phase + low - stride * (first + tap);
    return weight >= 0 && weight < kernel ? std::optional(weight) : std::nullopt;
  }
  /// Whether none of the phases [begin, end) has a weight at `tap`.
  bool isIdle(int64_t tap, int64_t begin, int64_t end) const {
    return llvm::none_of(llvm::seq(begin, end), [&](int64_t phase) { return weightOf(tap, phase).has_value(); });
  }
  int64_t phasesOfGroup() const { return stride / groups; }
  int64_t tapsOfGroup() const { return taps - (groups - 1); }
};

/// nullopt unless the stride provably divides the result's size or one less than a stride larger, so that all phases
/// have equally many elements.
std::optional<Phases> phasesOf(int64_t stride, int64_t kernel, int64_t low, AffineExpr output, MLIRContext *context) {
  AffineExpr each;
  for (int64_t beyond = 0; beyond < stride && !each; ++beyond)
    each = graph::divideExactly(graph::canonicalSize(output + beyond), getAffineConstantExpr(stride, context));
  int64_t first = llvm::divideCeilSigned(low - (kernel - 1), stride),
          last = llvm::divideFloorSigned(stride - 1 + low, stride);
  if (!each || last < first)
    return std::nullopt;
  Phases phases{stride, kernel, low, first, last - first + 1, each};
  int64_t half = stride / 2;
  if (stride % 2 == 0 && phases.taps > 1 && phases.isIdle(phases.taps - 1, 0, half) && phases.isIdle(0, half, stride))
    phases.groups = 2; // such as a kernel of twice the stride, padded by half of it
  return phases;
}

/// Rearranges weights [C, M, k...] to [groups..., taps of a group..., C, phases of a group..., M], with zeros where a
/// phase has no weight.
Term weightsByPhase(NodeBuilder &b, const Tensor &weights, ArrayRef<Phases> dims) {
  int64_t n = dims.size(), channels = weights.shape()[0], outputs = weights.shape()[1],
          size = elementBytes(weights.type());
  Shape shape;
  for (const Phases &dim : dims)
    shape.push_back(dim.groups);
  for (const Phases &dim : dims)
    shape.push_back(dim.tapsOfGroup());
  shape.push_back(channels);
  for (const Phases &dim : dims)
    shape.push_back(dim.phasesOfGroup());
  shape.push_back(outputs);
  Tensor result = Tensor::allocate(weights.type(), shape);
  std::memset(result.bytes(), 0, result.count() * size);
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t i = 0; i < result.count(); ++i) {
    int64_t from = at[2 * n] * outputs + at.back();
    bool exists = true;
    for (int64_t d = 0; d < n; ++d) {
      int64_t group = at[d];
      std::optional<int64_t> weight =
          dims[d].weightOf(group + at[n + d], group * dims[d].phasesOfGroup() + at[2 * n + 1 + d]);
      exists &= weight.has_value();
      from = from * dims[d].kernel + weight.value_or(0);
    }
    if (exists)
      std::memcpy(result.bytes() + i * size, weights.bytes() + from * size, size);
    advanceIndex(at, shape);
  }
  return b.constantTerm(result);
}

/// A transposed convolution that does not multiply inserted zeros: phases p are columns of one product over a small
/// window, and the result interleaves them: [N, q, j, p, ..., M] -> [N, q * stride, ..., M]. If half of the phases read
/// other elements than the other half, the halves j are a batch, each with its own window. In one window they would
/// multiply zeros again: 9 taps instead of 4 for a 4x4 kernel with stride 2. The result's sizes are rounded up to
/// multiples of the strides. nullopt if there are several groups of channels, the weights are not constant, or phasesOf
/// has no phases.
std::optional<Term> convolveByPhases(NodeBuilder &b, Term x, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                                     ArrayRef<int64_t> dilations, const TransposedShape &shape) {
  constexpr std::string_view phaseLoops = "pqrsw", groupLoops = "defno";
  size_t n = kernel.size();
  const Tensor *weights = b.constant(1);
  auto all = [](ArrayRef<int64_t> list, int64_t value) {
    return llvm::all_of(list, [&](int64_t v) { return v == value; });
  };
  if (b.integer("group", 1) != 1 || !weights || all(strides, 1) || !all(dilations, 1))
    return std::nullopt;
  SmallVector<Phases> dims;
  WindowShape w{{}, SmallVector<int64_t>(n, 1), SmallVector<int64_t>(n, 1), {}, SmallVector<int64_t>(n, 0), {}},
      ofGroup = w; // the window of a group in the window of all
  for (size_t i = 0; i < n; ++i) {
    std::optional<Phases> dim = phasesOf(strides[i], kernel[i], shape.low[i], shape.output[i], b.state.context);
    if (!dim)
      return std::nullopt;
    dims.push_back(*dim);
    w.kernel.push_back(dim->taps), w.low.push_back(-dim->first), w.output.push_back(dim->output);
    ofGroup.kernel.push_back(dim->tapsOfGroup()), ofGroup.low.push_back(0);
    ofGroup.output.push_back(b.number(dim->groups));
  }
  b.unify(x.sizes().back(), b.sizes(1)[0], "input channels");
  std::string o(outputLoops.substr(0, n)), k(kernelLoops.substr(0, n)), p(phaseLoops.substr(0, n)),
      j(groupLoops.substr(0, n)), between; // q, j, p, q, j, p, ...
  bool isOneGroup = llvm::all_of(dims, [](const Phases &dim) { return dim.groups == 1; });
  for (size_t i = 0; i < n; ++i)
    between += isOneGroup ? std::string{o[i], p[i]} : std::string{o[i], j[i], p[i]};
  Term phases = weightsByPhase(b, *weights, dims);
  Sizes sizes = phases.sizes();
  Term result = [&] {
    if (!isOneGroup)
      return b.contract(windowOf(b, windowOf(b, x, w, 0), ofGroup, 0, 1 + n), phases,
                        "b" + o + j + k + "c," + j + k + "c" + p + "m->b" + between + "m");
    if (!isPointwise(w, x))
      return b.contract(windowOf(b, x, w, 0), b.reshape(phases, ArrayRef(sizes).drop_front(n)),
                        "b" + o + k + "c," + k + "c" + p + "m->b" + between + "m");
    return b.contract(x, b.reshape(phases, ArrayRef(sizes).drop_front(2 * n)),
                      "b" + o + "c,c" + p + "m->b" + between + "m");
  }();
  Sizes joined{x.sizes()[0]};
  for (const Phases &dim : dims)
    joined.push_back(graph::canonicalSize(dim.output * dim.stride));
  joined.push_back(b.sizes(1)[1]);
  return b.reshape(result, joined);
}

} // namespace

/// By phases if possible, otherwise as a convolution of the input, with zeros inserted between its elements, with the
/// reversed kernel.
void convTranspose(NodeBuilder &b) {
  SmallVector<int64_t> kernel = kernelOf(b, 0, 1);
  size_t n = kernel.size();
  int64_t groups = b.integer("group", 1);
  SmallVector<int64_t> strides = listAttribute(b, "strides", n, 1, 1),
                       dilations = listAttribute(b, "dilations", n, 1, 1);
  TransposedShape shape = transposedShape(b, kernel, strides, dilations);
  Term x = channelsLast(b, b.raw(0));
  auto finish = [&](Term result) {
    if (b.has(2))
      result = result + b.along(b.in(2), result, result.rank() - 1);
    result = stored(b, result);
    for (size_t i = 0; i < n; ++i) // crops what the phases have beyond the result
      if (result.sizes()[1 + i] != shape.output[i])
        result = b.slice(result, 1 + static_cast<int64_t>(i), b.number(0), shape.output[i], 1);
    b.out(channelsFirst(b, result));
  };
  if (std::optional<Term> result = convolveByPhases(b, x, kernel, strides, dilations, shape))
    return finish(*result);
  WindowShape w{kernel, SmallVector<int64_t>(n, 1), dilations, {}, {}, shape.output};
  for (size_t i = 0; i < n; ++i) {
    x = insertZeros(b, x, 1 + static_cast<int64_t>(i), strides[i]);
    w.low.push_back((kernel[i] - 1) * dilations[i] - shape.low[i]);
    w.high.push_back(0);
  }
  // [C, M/G, k...] -> [G, C/G, M/G, k...] -> [G, M/G, C/G, k...] -> [M, C/G, k...], with every kernel dimension
  // reversed.
  Term weights = b.raw(1);
  Sizes sizes = weights.sizes();
  AffineExpr perGroup =
      groups >= 1 && groups <= 1 << 24 ? graph::divideExactly(sizes[0], b.number(groups)) : AffineExpr();
  b.expect(perGroup != nullptr,
           fmt::format("expected input channels that {} groups divide, got {}", groups, b.state.print(sizes[0])));
  Sizes split{b.number(groups), perGroup, sizes[1]}, joined{sizes[1] * groups, perGroup};
  split.append(sizes.begin() + 2, sizes.end()), joined.append(sizes.begin() + 2, sizes.end());
  SmallVector<int64_t> perm = range(0, static_cast<int64_t>(split.size()));
  std::swap(perm[1], perm[2]);
  weights = b.reshape(b.transpose(b.reshape(weights, split), perm), joined);
  for (size_t i = 0; i < n; ++i)
    if (kernel[i] > 1)
      weights = b.slice(weights, 2 + static_cast<int64_t>(i), b.number(kernel[i] - 1), b.number(kernel[i]), -1);
  finish(convolve(b, x, weights, w, groups));
}

} // namespace tilewright::ops
