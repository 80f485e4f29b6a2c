// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions: all phases of the result as columns of one product, or else an ordinary convolution of an
// image with zeros between its elements.
#include "frontend/ops/image/Conv.h"

#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

/// The node's weights are [C, M/G, k...]. The result's elements begin `low` into the full result.
struct Transposed {
  SmallVector<int64_t> kernel, strides, dilations, low;
  Sizes output;
  int64_t groups = 1;
  bool areImages = false;       // are the groups images of x?
  AffineExpr channels, results; // of each group
  size_t spatial() const { return kernel.size(); }
  bool isDepthwise() const { return groups > 1 && graph::constantSize(channels) == 1; }
};

/// How much of the full result is cropped at the low end, and the result's sizes.
void setResult(NodeBuilder &b, Transposed &t) {
  size_t n = t.spatial();
  SmallVector<int64_t> pads = listAttribute(b, "pads", 2 * n, 0, 0),
                       extra = listAttribute(b, "output_padding", n, 0, 0);
  auto wanted = b.integers("output_shape");
  std::string automatic = b.text("auto_pad", "NOTSET");
  for (size_t i = 0; i < n; ++i) {
    AffineExpr size = b.sizes(0)[2 + i];
    AffineExpr full = (size - 1) * t.strides[i] + extra[i] + (t.kernel[i] - 1) * t.dilations[i] + 1;
    bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (!wanted && !same) {
      t.low.push_back(automatic == "VALID" ? 0 : pads[i]);
      t.output.push_back(graph::canonicalSize(full - (automatic == "VALID" ? 0 : pads[i] + pads[n + i])));
      continue;
    }
    if (wanted && wanted->size() < n)
      malformed("expected {} sizes in output_shape, got {}", n, wanted->size());
    AffineExpr output = wanted ? b.number((*wanted)[wanted->size() - n + i]) : size * t.strides[i];
    std::optional<int64_t> total = graph::constantSize(graph::canonicalSize(full - output));
    if (!total)
      decline("an output_shape of a symbolic input is not compiled");
    int64_t cut = std::max<int64_t>(0, *total);
    if (!wanted && *total < 0) // ONNX Runtime does not crop below 0 either
      output = full;
    t.low.push_back(automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2);
    t.output.push_back(graph::canonicalSize(output));
  }
}

Transposed transposedConvolution(NodeBuilder &b) {
  Transposed t;
  t.kernel = kernelOf(b, 0, 1);
  t.groups = b.integer("group", 1);
  t.strides = listAttribute(b, "strides", t.spatial(), 1, 1);
  t.dilations = listAttribute(b, "dilations", t.spatial(), 1, 1);
  setResult(b, t);
  AffineExpr channels = b.sizes(1)[0];
  if (t.groups >= 1 && t.groups <= 1 << 24)
    t.channels = graph::divideExactly(channels, b.number(t.groups));
  b.expect(t.channels != nullptr,
           fmt::format("expected input channels that {} groups divide, got {}", t.groups, b.state.print(channels)));
  t.results = b.sizes(1)[1];
  return t;
}

//===- Phases -----------------------------------------------------------------------------------------------------===//

/// One dimension of a transposed convolution, decomposed into phases p: result element stride * q + p is the sum over
/// taps t of x[q + first + t] times weight number p + low - stride * (first + t), if there is a weight of that number.
struct Phases {
  int64_t stride, kernel, low, first, taps;
  AffineExpr output; // of each phase; the last of them may lie beyond the result
  int64_t parts = 1; // 2: the taps of the upper half of the phases are one later than those of the lower half
  std::optional<int64_t> weightOf(int64_t tap, int64_t phase) const {
    int64_t weight = phase + low - stride * (first + tap);
    return weight >= 0 && weight < kernel ? std::optional(weight) : std::nullopt;
  }
  /// Whether none of the phases [begin, end) has a weight at `tap`.
  bool isIdle(int64_t tap, int64_t begin, int64_t end) const {
    return llvm::none_of(llvm::seq(begin, end), [&](int64_t phase) { return weightOf(tap, phase).has_value(); });
  }
  int64_t phasesOfPart() const { return stride / parts; }
  int64_t tapsOfPart() const { return taps - (parts - 1); }
};

/// nullopt unless the stride provably divides the result's size or one less than a stride larger, so that all phases
/// have equally many elements.
std::optional<Phases> phasesOf(const Transposed &t, size_t i, MLIRContext *context) {
  int64_t stride = t.strides[i], kernel = t.kernel[i], low = t.low[i];
  AffineExpr each;
  for (int64_t beyond = 0; beyond < stride && !each; ++beyond)
    each = graph::divideExactly(graph::canonicalSize(t.output[i] + beyond), getAffineConstantExpr(stride, context));
  int64_t first = llvm::divideCeilSigned(low - (kernel - 1), stride),
          last = llvm::divideFloorSigned(stride - 1 + low, stride);
  if (!each || last < first)
    return std::nullopt;
  Phases phases{stride, kernel, low, first, last - first + 1, each};
  int64_t half = stride / 2;
  if (stride % 2 == 0 && phases.taps > 1 && phases.isIdle(phases.taps - 1, 0, half) && phases.isIdle(0, half, stride))
    phases.parts = 2; // such as a kernel of twice the stride, padded by half of it
  return phases;
}

/// Whether it pays to compute so many phases. A sum over the windows of one channel is limited by reading and writing,
/// and zeros cost it less than results whose neighbours are computed apart: on a core, 4 phases took 0.5 to 1.7 of the
/// time, 16 at most 0.54, and 25 that are cropped behind it 1.3.
bool paysByPhase(const Transposed &t, ArrayRef<Phases> dims) {
  constexpr int64_t leastOfSums = 16, leastOfCroppedSums = 64;
  int64_t phases = 1;
  bool isCropped = false;
  for (auto [dim, output] : llvm::zip_equal(dims, t.output)) {
    phases *= dim.stride;
    isCropped |= graph::canonicalSize(dim.output * dim.stride) != output;
  }
  return !t.isDepthwise() || phases >= (isCropped ? leastOfCroppedSums : leastOfSums);
}

/// The phases of all dimensions. nullopt if one has none, if the kernel is dilated, or if they do not pay.
std::optional<SmallVector<Phases>> phasesOf(const Transposed &t, MLIRContext *context) {
  constexpr int64_t mostPhases = 1 << 12, mostTaps = 1 << 20; // weights by phase must not be larger than any image
  int64_t all = 1;
  for (int64_t stride : t.strides)
    all = std::min(all * stride, mostPhases + 1);
  if (all == 1 || all > mostPhases || llvm::any_of(t.dilations, [](int64_t dilation) { return dilation != 1; }) ||
      llvm::any_of(t.kernel, [](int64_t size) { return size > mostTaps; }))
    return std::nullopt;
  SmallVector<Phases> dims;
  for (size_t i = 0; i < t.spatial(); ++i) {
    std::optional<Phases> dim = phasesOf(t, i, context);
    if (!dim)
      return std::nullopt;
    dims.push_back(*dim);
  }
  return paysByPhase(t, dims) ? std::optional(dims) : std::nullopt;
}

/// Rearranges constant weights [C, M/G, k...] to [G, parts..., taps of a part..., C/G, phases of a part..., M/G], with
/// zeros where a phase has no weight; without the dimension G if there is one group.
Term constantByPhase(NodeBuilder &b, const Tensor &weights, ArrayRef<Phases> dims, int64_t groups) {
  int64_t n = dims.size(), g = groups > 1, channels = weights.shape()[0] / groups, results = weights.shape()[1],
          size = elementBytes(weights.type());
  Shape shape(g, groups);
  for (const Phases &dim : dims)
    shape.push_back(dim.parts);
  for (const Phases &dim : dims)
    shape.push_back(dim.tapsOfPart());
  shape.push_back(channels);
  for (const Phases &dim : dims)
    shape.push_back(dim.phasesOfPart());
  shape.push_back(results);
  Tensor result = Tensor::allocate(weights.type(), shape);
  std::memset(result.bytes(), 0, result.count() * size);
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t i = 0; i < result.count(); ++i) {
    int64_t from = ((g ? at[0] * channels : 0) + at[g + 2 * n]) * results + at.back();
    bool exists = true;
    for (int64_t d = 0; d < n; ++d) {
      int64_t part = at[g + d];
      std::optional<int64_t> weight =
          dims[d].weightOf(part + at[g + n + d], part * dims[d].phasesOfPart() + at[g + 2 * n + 1 + d]);
      exists &= weight.has_value();
      from = from * dims[d].kernel + weight.value_or(0);
    }
    if (exists)
      std::memcpy(result.bytes() + i * size, weights.bytes() + from * size, size);
    advanceIndex(at, shape);
  }
  return b.constantTerm(result);
}

/// The numbers of the weights in this dimension, [parts, taps of a part, phases of a part]; the kernel's size where
/// there is none.
Term weightNumbers(NodeBuilder &b, const Phases &dim) {
  Tensor numbers = Tensor::allocate(DType::I64, {dim.parts, dim.tapsOfPart(), dim.phasesOfPart()});
  auto *number = reinterpret_cast<int64_t *>(numbers.bytes());
  for (int64_t part = 0; part < dim.parts; ++part)
    for (int64_t tap = part; tap < part + dim.tapsOfPart(); ++tap)
      for (int64_t phase = 0; phase < dim.phasesOfPart(); ++phase)
        *number++ = dim.weightOf(tap, part * dim.phasesOfPart() + phase).value_or(dim.kernel);
  return b.constantTerm(numbers);
}

/// The same of weights that are computed. They are gathered, by a kernel of their own: a product that read them in
/// their own order would look for each one again for every tile of the image.
Term computedByPhase(NodeBuilder &b, Term weights, ArrayRef<Phases> dims, const Transposed &t) {
  auto n = static_cast<int64_t>(dims.size()), g = static_cast<int64_t>(t.groups > 1), rank = g + 3 * n + 2;
  Sizes from, sizes(rank);
  SmallVector<AffineExpr> coordinates; // in the weights [G, C/G, M/G, k...]
  auto at = [&](int64_t dim, AffineExpr size) {
    sizes[dim] = size, from.push_back(size), coordinates.push_back(getAffineDimExpr(dim, b.state.context));
  };
  if (g)
    at(0, b.number(t.groups));
  at(g + 2 * n, t.channels), at(rank - 1, t.results);
  Sizes padded = from;
  for (const Phases &dim : dims)
    from.push_back(b.number(dim.kernel)), padded.push_back(b.number(dim.kernel + 1));
  weights = b.pad(b.reshape(weights, from), SmallVector<int64_t>(from.size(), 0), padded, 0);
  SmallVector<Term> numbers;
  for (int64_t d = 0; d < n; ++d) {
    sizes[g + d] = b.number(dims[d].parts), sizes[g + n + d] = b.number(dims[d].tapsOfPart());
    sizes[g + 2 * n + 1 + d] = b.number(dims[d].phasesOfPart());
    coordinates.push_back(getAffineDimExpr(rank + d, b.state.context));
  }
  for (int64_t d = 0; d < n; ++d)
    numbers.push_back(b.broadcast(weightNumbers(b, dims[d]), sizes, {g + d, g + n + d, g + 2 * n + 1 + d}));
  return b.gather(weights, numbers, AffineMap::get(rank + n, 0, coordinates, b.state.context), sizes);
}

/// Names of the loops of a transposed convolution by phases.
struct PhaseLoops {
  std::string groups, positions, parts, taps, phases; // "" for none: one group, one part in all dimensions, one tap
  /// The order in which they are the positions of the result: q, j, p, q, j, p, ...
  std::string interleaved() const {
    std::string order;
    for (size_t i = 0; i < positions.size(); ++i)
      order += positions[i] + parts.substr(std::min(i, parts.size()), 1) + phases[i];
    return order;
  }
};

/// The windows [N, q..., parts..., taps..., C] of an image [N, x..., C], and the loops. C may be several dimensions.
std::pair<Term, PhaseLoops> windowsByPhase(NodeBuilder &b, Term x, ArrayRef<Phases> dims, int64_t groups) {
  size_t n = dims.size();
  WindowShape all{{}, SmallVector<int64_t>(n, 1), SmallVector<int64_t>(n, 1), {}, SmallVector<int64_t>(n, 0), {}},
      ofPart = all; // the window of a part in the window of all
  for (const Phases &dim : dims) {
    all.kernel.push_back(dim.taps), all.low.push_back(-dim.first), all.output.push_back(dim.output);
    ofPart.kernel.push_back(dim.tapsOfPart()), ofPart.low.push_back(0), ofPart.output.push_back(b.number(dim.parts));
  }
  PhaseLoops loops{groups > 1 ? "g" : "", std::string(outputLoops.substr(0, n)), std::string("defno").substr(0, n),
                   std::string(kernelLoops.substr(0, n)), std::string("pqrsw").substr(0, n)};
  if (llvm::any_of(dims, [](const Phases &dim) { return dim.parts > 1; }))
    return {windowOf(b, windowOf(b, x, all, 0), ofPart, 0, 1 + n), loops};
  loops.parts.clear();
  if (!isPointwise(all, x))
    return {windowOf(b, x, all, 0), loops};
  loops.taps.clear();
  return {x, loops};
}

/// `x` without those of its `count` dimensions from `first` on, which have size 1.
Term withoutDims(NodeBuilder &b, Term x, size_t first, size_t count) {
  Sizes sizes = x.sizes();
  sizes.erase(sizes.begin() + first, sizes.begin() + first + count);
  return b.reshape(x, sizes);
}

/// The same as `contract` of windows and weights, if there is one channel in each group: a sum over its windows.
Term sumOfPhases(NodeBuilder &b, Term window, Term weights, const PhaseLoops &loops) {
  const auto &[g, o, j, k, p] = loops;
  std::string m = graph::constantSize(weights.sizes().back()) == 1 ? "" : "m";
  window = withoutDims(b, window, window.rank() - 1, 1);
  weights = withoutDims(b, weights, (g + j + k).size(), 1);
  if (m.empty())
    weights = withoutDims(b, weights, weights.rank() - 1, 1);
  return b.sumOfProducts(window, "b" + o + j + k + g, weights, g + j + k + p + m, "b" + loops.interleaved() + k + g + m,
                         k);
}

/// A transposed convolution that does not multiply inserted zeros: phases p are columns of one product over a small
/// window, and the result interleaves them: [N, q, j, p, ..., M] -> [N, q * stride, ..., M]. If half of the phases read
/// other elements than the other half, the halves j are a batch, each with its own window. In one window they would
/// multiply zeros again: 9 taps instead of 4 for a 4x4 kernel with stride 2. The result's sizes are rounded up to
/// multiples of the strides. Groups of channels are a batch as well, or the images.
Term convolveByPhases(NodeBuilder &b, Term x, ArrayRef<Phases> dims, const Transposed &t) {
  size_t n = dims.size();
  b.unify(x.sizes().back(), t.areImages ? t.channels : b.sizes(1)[0], "input channels");
  const Tensor *constant = b.constant(1);
  Term weights = constant ? constantByPhase(b, *constant, dims, t.groups) : computedByPhase(b, b.raw(1), dims, t);
  bool areGrouped = t.groups > 1 && !t.areImages;
  auto [window, loops] = windowsByPhase(b, areGrouped ? splitGroups(b, x, t.groups, t.channels) : x, dims, t.groups);
  const auto &[g, o, j, k, p] = loops;
  std::string image = t.areImages ? g : "b", group = areGrouped ? g : "";
  if (j.empty())
    weights = withoutDims(b, weights, g.size(), n);
  if (k.empty())
    weights = withoutDims(b, weights, g.size(), n);
  Term result = t.isDepthwise() ? sumOfPhases(b, window, weights, loops)
                                : b.contract(window, weights,
                                             fmt::format("{6}{0}{1}{2}{7}c,{3}{1}{2}c{4}m->{6}{5}{7}m", o, j, k, g, p,
                                                         loops.interleaved(), image, group));
  Sizes joined{x.sizes()[0]};
  for (const Phases &dim : dims)
    joined.push_back(graph::canonicalSize(dim.output * dim.stride));
  joined.push_back(areGrouped ? t.results * t.groups : t.results);
  return b.reshape(result, joined);
}

//===- Zeros ------------------------------------------------------------------------------------------------------===//

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

/// A convolution of the image, with zeros inserted between its elements, with the reversed kernel.
Term convolveZeros(NodeBuilder &b, Term x, const Transposed &t) {
  auto n = static_cast<int64_t>(t.spatial());
  WindowShape w{t.kernel, SmallVector<int64_t>(n, 1), t.dilations, {}, {}, t.output};
  for (int64_t i = 0; i < n; ++i) {
    x = insertZeros(b, x, 1 + i, t.strides[i]);
    w.low.push_back((t.kernel[i] - 1) * t.dilations[i] - t.low[i]);
    w.high.push_back(0);
  }
  // [C, M/G, k...] -> [G, C/G, M/G, k...] -> [G, M/G, C/G, k...] -> [M, C/G, k...], with every kernel dimension
  // reversed.
  Term weights = b.raw(1);
  Sizes sizes = weights.sizes(), split{b.number(t.groups), t.channels, sizes[1]},
        joined{sizes[1] * t.groups, t.channels};
  split.append(sizes.begin() + 2, sizes.end()), joined.append(sizes.begin() + 2, sizes.end());
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(split.size())));
  std::swap(perm[1], perm[2]);
  weights = b.reshape(b.transpose(b.reshape(weights, split), perm), joined);
  for (int64_t i = 0; i < n; ++i)
    if (t.kernel[i] > 1)
      weights = b.slice(weights, 2 + i, b.number(t.kernel[i] - 1), b.number(t.kernel[i]), -1);
  return convolve(b, x, weights, w, t.groups);
}

} // namespace

void convTranspose(NodeBuilder &b) {
  Transposed t = transposedConvolution(b);
  Term x = channelsLast(b, b.raw(0));
  std::optional<SmallVector<Phases>> phases = phasesOf(t, b.state.context);
  t.areImages = phases && areGroupsImages(x, t.groups);
  if (t.areImages)
    x = imagesOf(b, x, t.groups);
  Term result = withBias(b, phases ? convolveByPhases(b, x, *phases, t) : convolveZeros(b, x, t), t.areImages);
  for (size_t i = 0; i < t.spatial(); ++i) // crops what the phases have beyond the result
    if (result.sizes()[1 + i] != t.output[i])
      result = b.slice(result, 1 + static_cast<int64_t>(i), b.number(0), t.output[i], 1);
  b.out(planesOf(b, result, t.areImages));
}

} // namespace tilewright::ops
