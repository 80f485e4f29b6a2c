// Resize and Upsample: one dimension after another, each a repetition, a gather, or a weighted sum of two gathers.
#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

/// How one dimension changes: out coordinates, their source positions.
struct Axis {
  int64_t dim, from, to;
  double scale;
};

/// Where result coordinate `at` lies in the source, as `coordinate_transformation_mode` says.
double sourcePosition(const Axis &axis, int64_t at, const std::string &mode) {
  auto x = static_cast<double>(at);
  if (mode == "asymmetric")
    return x / axis.scale;
  if (mode == "align_corners")
    return axis.to > 1 ? x * static_cast<double>(axis.from - 1) / static_cast<double>(axis.to - 1) : 0;
  if (mode == "pytorch_half_pixel" && axis.to <= 1)
    return 0;
  if (mode == "half_pixel_symmetric") {
    double adjustment = static_cast<double>(axis.to) / (axis.scale * static_cast<double>(axis.from));
    double center = static_cast<double>(axis.from) / 2, offset = center * (1 - adjustment);
    return offset + (x + 0.5) / axis.scale - 0.5;
  }
  if (mode == "half_pixel" || mode == "pytorch_half_pixel")
    return (x + 0.5) / axis.scale - 0.5;
  decline("the coordinate transformation mode '{}' is not compiled", mode);
}

int64_t nearest(double position, const std::string &mode) {
  double down = std::floor(position), fraction = position - down;
  if (mode == "floor")
    return static_cast<int64_t>(down);
  if (mode == "ceil")
    return static_cast<int64_t>(std::ceil(position));
  bool up = mode == "round_prefer_ceil" ? fraction >= 0.5 : fraction > 0.5;
  return static_cast<int64_t>(down) + up;
}

/// x read at `index` along one dimension.
Term readAt(NodeBuilder &b, Term x, int64_t dim, const std::vector<int64_t> &index) {
  Tensor tensor = Tensor::allocate(DType::I64, {static_cast<int64_t>(index.size())});
  std::ranges::copy(index, tensor.data<int64_t>());
  Sizes sizes = x.sizes();
  sizes[dim] = b.number(tensor.count());
  SmallVector<AffineExpr> coordinates;
  for (int64_t i = 0; i < x.rank(); ++i)
    coordinates.push_back(getAffineDimExpr(i == dim ? x.rank() : i, b.state.context));
  return b.gather(x, {b.broadcast(b.constantTerm(tensor), sizes, {dim})}, AffineMap::get(x.rank() + 1, 0, coordinates, b.state.context),
                  sizes);
}

/// Each element `times` times: [.., x, ..] -> [.., x, 1, ..] -> [.., x, times, ..] -> [.., x * times, ..], which costs nothing.
Term repeated(NodeBuilder &b, Term x, int64_t dim, int64_t times) {
  Sizes split = x.sizes(), joined = x.sizes();
  split.insert(split.begin() + dim + 1, b.number(times));
  joined[dim] = joined[dim] * times;
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < x.rank(); ++i)
    dims.push_back(i + (i > dim));
  return b.reshape(b.broadcast(x, split, dims), joined);
}

Term resizeNearest(NodeBuilder &b, Term x, const Axis &axis, const std::string &transform, const std::string &rounding) {
  std::vector<int64_t> index;
  for (int64_t i = 0; i < axis.to; ++i)
    index.push_back(std::clamp<int64_t>(nearest(sourcePosition(axis, i, transform), rounding), 0, axis.from - 1));
  int64_t times = axis.to % axis.from == 0 ? axis.to / axis.from : 0;
  bool repeats = times > 0;
  for (int64_t i = 0; i < axis.to && repeats; ++i)
    repeats = index[i] == i / times;
  return repeats ? repeated(b, x, axis.dim, times) : readAt(b, x, axis.dim, index);
}

Term resizeLinear(NodeBuilder &b, Term x, const Axis &axis, const std::string &transform) {
  std::vector<int64_t> below, above;
  Tensor weights = Tensor::allocate(DType::F32, {axis.to});
  for (int64_t i = 0; i < axis.to; ++i) {
    double position = std::clamp(sourcePosition(axis, i, transform), 0.0, static_cast<double>(axis.from - 1));
    below.push_back(static_cast<int64_t>(std::floor(position)));
    above.push_back(std::min(below.back() + 1, axis.from - 1));
    weights.data<float>()[i] = static_cast<float>(position - std::floor(position));
  }
  Term low = readAt(b, x, axis.dim, below), high = readAt(b, x, axis.dim, above);
  Term weight = b.along(b.convert(b.constantTerm(weights), DType::F32, x.element().isF64() ? DType::F64 : DType::F32), low, axis.dim);
  return low * (1.0 - weight) + high * weight;
}

std::vector<double> floatsOf(NodeBuilder &b, size_t i) {
  const Tensor *tensor = b.constant(i);
  if (!tensor || tensor->type() != DType::F32)
    decline("scales that are no constants are not compiled");
  return std::vector<double>(tensor->data<float>(), tensor->data<float>() + tensor->count());
}

/// The dimensions that change, with scales as given or as the sizes imply.
std::vector<Axis> changedAxes(NodeBuilder &b, std::optional<std::vector<double>> scales, std::optional<std::vector<int64_t>> sizes) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < b.rank(0); ++i)
    dims.push_back(i);
  if (auto axes = b.integers("axes")) {
    dims = *axes;
    for (int64_t &dim : dims)
      dim = b.axis(dim, b.rank(0));
  }
  size_t given = scales ? scales->size() : sizes->size();
  b.expect(given == dims.size(), fmt::format("expected {} scales or sizes, got {}", dims.size(), given));
  std::vector<Axis> changed;
  for (size_t i = 0; i < dims.size(); ++i) {
    std::optional<int64_t> from = graph::constantSize(b.sizes(0)[dims[i]]);
    if (scales && (*scales)[i] == 1)
      continue;
    if (!from)
      decline("resizing a symbolic dimension is not compiled");
    double wanted = scales ? std::floor(static_cast<double>(*from) * (*scales)[i]) : static_cast<double>((*sizes)[i]);
    int64_t to = std::abs(wanted) < 1e15 ? static_cast<int64_t>(wanted) : -1;
    double scale = scales ? (*scales)[i] : static_cast<double>(to) / static_cast<double>(*from);
    constexpr int64_t most = 1 << 24;
    b.expect(std::isfinite(scale) && scale > 0 && to <= most,
             fmt::format("expected a positive scale to at most 2^24 elements, got {}", scale));
    b.expect(*from > 0 && to > 0, fmt::format("expected positive sizes, got {} to {}", *from, to));
    if (to != *from || scale != 1)
      changed.push_back({dims[i], *from, to, scale});
  }
  return changed;
}

void resizeBy(NodeBuilder &b, const std::vector<Axis> &axes, const std::string &transform, const std::string &rounding) {
  std::string mode = b.text("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "bilinear" && mode != "trilinear")
    decline("resizing by mode '{}' is not compiled", mode);
  Term x = mode == "nearest" ? b.raw(0) : b.in(0);
  if (mode != "nearest" && !x.isFloat())
    decline("linear resizing of integers is not compiled");
  for (const Axis &axis : axes)
    x = mode == "nearest" ? resizeNearest(b, x, axis, transform, rounding) : resizeLinear(b, x, axis, transform);
  b.out(x);
}

} // namespace

void resize(NodeBuilder &b) {
  if (b.integer("antialias", 0) || b.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    decline("antialiasing and aspect ratio policies are not compiled");
  bool early = b.node.opset < 11; // only scales, always asymmetric
  std::optional<std::vector<double>> scales;
  std::optional<std::vector<int64_t>> sizes;
  size_t at = early ? 1 : 2;
  if (!early && b.has(3))
    sizes = b.knownIntegers(3);
  else if (b.has(at))
    scales = floatsOf(b, at);
  b.expect(scales || sizes, "expected scales or sizes, got neither");
  std::string transform = early ? "asymmetric" : b.text("coordinate_transformation_mode", "half_pixel");
  resizeBy(b, changedAxes(b, scales, sizes), transform, early ? "floor" : b.text("nearest_mode", "round_prefer_floor"));
}

void upsample(NodeBuilder &b) {
  std::vector<double> scales;
  if (b.node.opset >= 9) {
    scales = floatsOf(b, 1);
  } else {
    auto found = b.node.attributes.find("scales");
    const auto *list = found == b.node.attributes.end() ? nullptr : std::get_if<std::vector<float>>(&found->second);
    b.expect(list != nullptr, "expected scales, got none");
    scales.assign(list->begin(), list->end());
  }
  resizeBy(b, changedAxes(b, scales, std::nullopt), "asymmetric", "floor");
}

} // namespace tilewright::ops
