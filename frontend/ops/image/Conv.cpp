// SPDX-License-Identifier: Apache-2.0
// Convolutions: contractions of windows, with channels last.
//
//   x [N, C, H, W] -> transpose [N, H, W, C] -> window [N, OH, OW, KH, KW, C]
//     -> contract with [KH, KW, C, M] -> [N, OH, OW, M] -> transpose
#include "frontend/ops/image/Conv.h"

#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {

constexpr int64_t maxSpatial = 5;

bool isPointwise(const WindowShape &w, Term x) {
  auto all = [](ArrayRef<int64_t> list, int64_t value) {
    return llvm::all_of(list, [&](int64_t v) { return v == value; });
  };
  Sizes sizes = x.sizes();
  return all(w.kernel, 1) && all(w.strides, 1) && all(w.low, 0) && all(w.high, 0) &&
         ArrayRef(w.output) == ArrayRef(sizes).slice(1, w.spatial());
}

Term splitGroups(NodeBuilder &b, Term x, int64_t groups, AffineExpr channels) {
  Sizes sizes = x.sizes();
  sizes.back() = b.number(groups), sizes.push_back(channels);
  return b.reshape(x, sizes);
}

namespace {

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

/// [N, o..., G, M/G] -> [N, o..., M]
Term joinGroups(NodeBuilder &b, Term x) {
  Sizes sizes = x.sizes();
  AffineExpr outputs = sizes.pop_back_val();
  sizes.back() = sizes.back() * outputs;
  return b.reshape(x, sizes);
}

/// With as many groups as channels: a reduction, because each channel only sums its own window.
Term convolveDepthwise(NodeBuilder &b, Term x, Term weights, const WindowShape &w, int64_t multiplier) {
  size_t n = w.spatial();
  std::string o(outputLoops.substr(0, n)), k(kernelLoops.substr(0, n)), m(multiplier > 1 ? "m" : "");
  Term window = windowOf(b, x, w, 0); // [N, o..., k..., C]
  weights = kernelFirst(b, weights);  // [k..., 1, C * multiplier]
  Sizes kernelSizes = weights.sizes();
  kernelSizes.erase(kernelSizes.begin() + static_cast<int64_t>(n));
  if (multiplier > 1)
    kernelSizes.back() = window.sizes().back(), kernelSizes.push_back(b.number(multiplier));
  Term result = b.sumOfProducts(window, "b" + o + k + "c", b.reshape(weights, kernelSizes), k + "c" + m,
                                "b" + o + k + "c" + m, k);
  return multiplier > 1 ? joinGroups(b, result) : result;
}

/// With several groups: they become a batch loop, or that of the images.
Term convolveGrouped(NodeBuilder &b, Term x, Term weights, const WindowShape &w, int64_t groups, bool areImages) {
  size_t n = w.spatial();
  std::string o(outputLoops.substr(0, n)), k(kernelLoops.substr(0, n));
  Sizes from = weights.sizes();
  AffineExpr outputs = graph::divideExactly(from[0], b.number(groups));
  b.expect(outputs != nullptr,
           fmt::format("expected output channels that {} groups divide, got {}", groups, b.state.print(from[0])));
  Sizes sizes{b.number(groups), outputs, from[1]};
  if (areImages && isPointwise(w, x))
    return b.contract(x, b.reshape(weights, sizes), "g" + o + "c,gmc->g" + o + "m");
  sizes.append(from.begin() + 2, from.end());
  weights = b.reshape(weights, sizes);
  if (areImages)
    return b.contract(windowOf(b, x, w, 0), weights, "g" + o + k + "c,gmc" + k + "->g" + o + "m");
  Term grouped = splitGroups(b, x, groups, from[1]);
  return joinGroups(b, b.contract(windowOf(b, grouped, w, 0), weights, "b" + o + k + "gc,gmc" + k + "->b" + o + "gm"));
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

} // namespace

Term convolve(NodeBuilder &b, Term x, Term weights, WindowShape w, int64_t groups, bool areImages) {
  dropIdleTaps(b, x, weights, w);
  Sizes sizes = weights.sizes();
  std::optional<int64_t> outputs = graph::constantSize(sizes[0]);
  b.expect(groups >= 1 && groups <= 1 << 24, fmt::format("expected at least one group, got {}", groups));
  b.unify(x.sizes().back(), areImages ? sizes[1] : sizes[1] * groups, "input channels");
  if (groups == 1)
    return convolveDense(b, x, weights, w);
  bool isDepthwise = graph::constantSize(sizes[1]) == 1 && outputs && *outputs % groups == 0;
  return isDepthwise && !areImages ? convolveDepthwise(b, x, weights, w, *outputs / groups)
                                   : convolveGrouped(b, x, weights, w, groups, areImages);
}

bool areGroupsImages(Term x, int64_t groups) {
  std::optional<int64_t> channels = graph::constantSize(x.sizes().back());
  if (groups <= 1 || graph::constantSize(x.sizes().front()) != 1 || !channels || *channels % groups ||
      *channels == groups) // sums over the windows of each channel
    return false;
  Value from = x.value;
  for (; auto access = from.getDefiningOp<graph::AccessOpInterface>(); from = access.getData())
    if (isa<graph::ReshapeOp>(access.getOperation())) {
      auto sizes = graph::getSizes(cast<RankedTensorType>(access.getData().getType()));
      return sizes.size() > 1 && graph::constantSize(sizes.front()) == groups;
    }
  return from.getDefiningOp<graph::ConstantOp>() != nullptr; // its reshape was folded
}

Term imagesOf(NodeBuilder &b, Term x, int64_t groups) {
  Term planes = channelsFirst(b, x);
  Sizes sizes = planes.sizes();
  sizes[0] = b.number(groups), sizes[1] = graph::divideExactly(sizes[1], sizes[0]);
  return channelsLast(b, b.reshape(planes, sizes));
}

Term withBias(NodeBuilder &b, Term result, bool areImages) {
  if (!b.has(2))
    return stored(b, result);
  Sizes sizes = result.sizes();
  if (!areImages || b.rank(2) != 1 || graph::constantSize(b.sizes(2)[0]) == 1)
    return stored(b, result + b.along(b.in(2), result, result.rank() - 1));
  b.unify(b.sizes(2)[0], sizes.front() * sizes.back(), "elements of the bias");
  Term bias = b.reshape(b.in(2), {sizes.front(), sizes.back()});
  return stored(b, result + b.broadcast(bias, sizes, {0, result.rank() - 1}));
}

Term planesOf(NodeBuilder &b, Term result, bool areImages) {
  Term planes = channelsFirst(b, result);
  if (!areImages)
    return planes;
  Sizes sizes = planes.sizes();
  sizes[1] = sizes[0] * sizes[1], sizes[0] = b.number(1);
  return b.reshape(planes, sizes);
}

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

static WindowShape convolutionWindow(NodeBuilder &b, size_t x, size_t weights) {
  return windowShape(b, kernelOf(b, x, weights), llvm::ArrayRef(b.sizes(x)).drop_front(2));
}

/// The images [B, x..., C] of which x [B * C, x..., 1] are the planes: [B, C, x...] reshaped to [B * C, 1, x...].
/// nullopt if they are not.
static std::optional<Term> imagesOfPlanes(NodeBuilder &b, Term x) {
  auto last = x.value.getDefiningOp<graph::TransposeOp>();
  auto merge = last ? last.getData().getDefiningOp<graph::ReshapeOp>() : graph::ReshapeOp();
  if (!merge || graph::constantSize(x.sizes().back()) != 1)
    return std::nullopt;
  Term images = b.term(merge.getData());
  Sizes from = images.sizes(), to = b.term(merge.getResult()).sizes();
  bool areImages = from.size() == to.size() && ArrayRef(from).drop_front(2) == ArrayRef(to).drop_front(2) &&
                   graph::constantSize(from[1]) != 1;
  return areImages ? std::optional(channelsLast(b, images)) : std::nullopt;
}

/// One filter [1, 1, k...] for all planes of images [B, x..., C], such as a blur: sums over the windows of a channel.
/// As a product of planes it would have one column, and rows that lie apart where channels lie last.
static void convolvePlanes(NodeBuilder &b, Term images, WindowShape w) {
  Term weights = b.raw(1);
  dropIdleTaps(b, images, weights, w);
  std::string o(outputLoops.substr(0, w.spatial())), k(kernelLoops.substr(0, w.spatial())), all = "b" + o + k + "c";
  weights = b.reshape(weights, ArrayRef(weights.sizes()).drop_front(2));
  Term result = b.sumOfProducts(windowOf(b, images, w, 0), all, weights, k, all, k);
  Term planes = channelsFirst(b, withBias(b, result, /*areImages=*/false));
  Sizes joined = planes.sizes();
  joined[0] = joined[0] * joined[1], joined[1] = b.number(1);
  b.out(b.reshape(planes, joined));
}

void conv(NodeBuilder &b) {
  WindowShape w = convolutionWindow(b, 0, 1);
  Term x = channelsLast(b, b.raw(0));
  int64_t groups = b.integer("group", 1);
  bool isOneFilter = graph::constantSize(b.sizes(1)[0]) == 1 && graph::constantSize(b.sizes(1)[1]) == 1;
  if (isOneFilter && groups == 1)
    if (std::optional<Term> images = imagesOfPlanes(b, x))
      return convolvePlanes(b, *images, w);
  bool areImages = areGroupsImages(x, groups);
  Term result = convolve(b, areImages ? imagesOf(b, x, groups) : x, b.raw(1), w, groups, areImages);
  b.out(planesOf(b, withBias(b, result, areImages), areImages));
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

} // namespace tilewright::ops
