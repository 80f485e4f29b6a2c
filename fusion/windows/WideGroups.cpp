// SPDX-License-Identifier: Apache-2.0
#include "fusion/windows/WideGroups.h"

#include "fusion/cost/Iterations.h"
#include "fusion/windows/ZeroFilled.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Rebuild.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <optional>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

constexpr int64_t bytesOfCopy = 16, bytesOfRow = 128;
/// The most channels that are multiplied together, and the least where they are no multiple of `bytesOfRow`.
constexpr int64_t leastChannels = 32, mostChannels = 128;
/// The least multiplications of a convolution of singles, those by zeros included: with fewer, wide groups took 0.9 to
/// 1.7 times as long, with more 0.6 to 0.8.
constexpr double leastProductsOfSingles = 1 << 29;
constexpr int64_t unknownImages = 16;
constexpr int64_t mostFilterBytes = 1 << 28; // with the zeros

namespace {
/// A convolution with groups; dimensions are counted in the windows, and in the filter.
struct GroupedConvolution {
  graph::WindowOp window;
  graph::ContractOp contract;
  graph::ConstantOp filter;
  bool areLast;                                   // the image is [n, y, x, g, c], otherwise [n, g, c, y, x]
  int64_t groups, channels, filters;              // sizes; of one group
  unsigned group, channel, filterDim, filterRank; // dimensions of the filter, and how many there are
  Type element;
  int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
};
} // namespace

/// The convolution whose windows these are; nullopt if it has no groups, or a filter that is no constant.
static std::optional<GroupedConvolution> convolutionOf(graph::WindowOp window) {
  auto image = cast<RankedTensorType>(window.getData().getType());
  ArrayRef<int64_t> dims = window.getDims();
  bool areLast = dims == ArrayRef<int64_t>({1, 2});
  if (image.getRank() != 5 || (!areLast && dims != ArrayRef<int64_t>({3, 4})) || !window->hasOneUse())
    return std::nullopt;
  auto contract = dyn_cast<graph::ContractOp>(*window->user_begin());
  auto filter = contract && contract.getLhs() == window.getResult()
                    ? contract.getRhs().getDefiningOp<graph::ConstantOp>()
                    : graph::ConstantOp();
  if (!filter)
    return std::nullopt;
  SmallVector<unsigned> windows = loopsOf(contract, 0), filters = loopsOf(contract, 1), results = loopsOf(contract, 2);
  unsigned group = windows[areLast ? 5 : 1], channel = windows[areLast ? 6 : 2];
  auto placeIn = [](ArrayRef<unsigned> loops, unsigned loop) {
    return static_cast<unsigned>(llvm::find(loops, loop) - loops.begin());
  };
  auto rank = static_cast<unsigned>(filters.size());
  unsigned groupAt = placeIn(filters, group), channelAt = placeIn(filters, channel);
  GroupedConvolution found{
      window, contract, filter, areLast, 0, 0, 0, groupAt, channelAt, /*filterDim=*/rank, rank, image.getElementType()};
  for (auto [dim, loop] : llvm::enumerate(filters))
    if (!llvm::is_contained(windows, loop)) // the one loop of the filter alone
      found.filterDim = static_cast<unsigned>(dim);
  if (found.group == rank || found.channel == rank || found.filterDim == rank)
    return std::nullopt;
  // Results have a group's filters beside each other, so that several groups' are a wider one's.
  unsigned at = placeIn(results, group);
  if (at + 1 >= results.size() || results[at + 1] != filters[found.filterDim] || llvm::is_contained(results, channel))
    return std::nullopt;
  auto type = cast<RankedTensorType>(filter.getType());
  found.groups = type.getDimSize(found.group), found.channels = type.getDimSize(found.channel);
  found.filters = type.getDimSize(found.filterDim);
  return found;
}

/// How many groups are multiplied together: as few as have channels of a multiple of the 128 bytes that a copy engine
/// brings at a time, or else, of halves, as few as have 32 channels and a multiple of 16 bytes. nullopt if there are
/// none.
static std::optional<int64_t> groupsTogether(const GroupedConvolution &convolution) {
  int64_t bytes = convolution.elementBytes();
  std::optional<int64_t> other;
  for (int64_t together = 1; together <= convolution.groups; ++together) {
    int64_t channels = together * convolution.channels, filters = together * convolution.filters;
    if (convolution.groups % together || filters * bytes % bytesOfCopy || channels > mostChannels)
      continue;
    if (channels * bytes % bytesOfRow == 0)
      return together;
    bool areSingles = convolution.element.isF32(); // which pass through registers where no engine brings them
    if (!other && !areSingles && together > 1 && channels >= leastChannels && channels * bytes % bytesOfCopy == 0)
      other = together;
  }
  return other;
}

/// The dimensions of the filter in the order [groups, taps..., channels, filters]: neighbours along the columns of the
/// product are neighbours in memory.
static SmallVector<unsigned> orderOfFilter(const GroupedConvolution &convolution) {
  SmallVector<unsigned> order = {convolution.group};
  for (unsigned dim = 0; dim < convolution.filterRank; ++dim)
    if (dim != convolution.group && dim != convolution.channel && dim != convolution.filterDim)
      order.push_back(dim);
  order.append({convolution.channel, convolution.filterDim});
  return order;
}

/// The key of the filter, in that order, with the blocks of `together` groups along a diagonal.
static std::string diagonalFilter(const GroupedConvolution &convolution, RankedTensorType wide, int64_t together) {
  SmallVector<unsigned> order = orderOfFilter(convolution);
  return zeroFilled(convolution.filter, wide.getNumElements(), "along a diagonal", [&](ArrayRef<int64_t> at) {
    int64_t inside = at[convolution.group] % together, place = 0;
    for (auto [dim, size] : llvm::zip_equal(order, wide.getShape())) {
      int64_t index = dim == convolution.group       ? at[dim] / together
                      : dim == convolution.channel   ? at[dim] + inside * convolution.channels
                      : dim == convolution.filterDim ? at[dim] + inside * convolution.filters
                                                     : at[dim];
      place = place * size + index;
    }
    return place;
  });
}

static Value wideFilter(const GroupedConvolution &convolution, int64_t together, PatternRewriter &rewriter) {
  graph::ConstantOp filter = convolution.filter;
  auto type = cast<RankedTensorType>(filter.getType());
  SmallVector<int64_t> shape = llvm::map_to_vector(
      orderOfFilter(convolution), [&](unsigned dim) { return type.getDimSize(static_cast<int64_t>(dim)); });
  shape.front() /= together, shape.end()[-2] *= together, shape.back() *= together;
  auto wide = RankedTensorType::get(shape, convolution.element);
  return graph::ConstantOp::create(rewriter, filter.getLoc(), wide, diagonalFilter(convolution, wide, together));
}

/// The image as [n, y, x, groups, channels] with wider groups.
static Value wideImage(const GroupedConvolution &convolution, int64_t together, PatternRewriter &rewriter) {
  graph::WindowOp window = convolution.window;
  normalize::Rebuild rebuild(rewriter, window);
  normalize::Sizes sizes = normalize::sizesOf(window.getData());
  AffineExpr all = rewriter.getAffineConstantExpr(convolution.groups * convolution.channels),
             groups = rewriter.getAffineConstantExpr(convolution.groups / together),
             channels = rewriter.getAffineConstantExpr(convolution.channels * together);
  Value image = window.getData();
  if (!convolution.areLast) {
    image = rebuild.transpose(rebuild.reshape(image, {sizes[0], all, sizes[3], sizes[4]}), {0, 2, 3, 1});
    sizes = {sizes[0], sizes[3], sizes[4]};
  }
  return rebuild.reshape(image, {sizes[0], sizes[1], sizes[2], groups, channels});
}

/// The map of an operand whose dimensions are those of `map` in this order.
static AffineMap reordered(AffineMap map, ArrayRef<unsigned> order) {
  SmallVector<AffineExpr> loops = llvm::map_to_vector(order, [&](unsigned dim) { return map.getResult(dim); });
  return AffineMap::get(map.getNumDims(), 0, loops, map.getContext());
}

/// The windows of the wide image, whose dimensions are those of the old ones in `order`.
static graph::WindowOp wideWindows(const GroupedConvolution &convolution, Value image, ArrayRef<unsigned> order,
                                   PatternRewriter &rewriter) {
  graph::WindowOp window = convolution.window;
  normalize::Rebuild rebuild(rewriter, window);
  normalize::Sizes old = normalize::sizesOf(window.getResult()), wide = normalize::sizesOf(image);
  normalize::Sizes sizes = llvm::map_to_vector(order, [&](unsigned dim) { return old[dim]; });
  sizes[5] = wide[3], sizes[6] = wide[4];
  SmallVector<int64_t> dims = {1, 2};
  auto windows = graph::WindowOp::create(rewriter, window.getLoc(), rebuild.type(sizes, window.getResult()), image,
                                         dims, window.getStrides(), window.getDilations(), window.getLow(),
                                         window.getFill(), /*copied=*/false, /*pixels=*/convolution.element.isF32());
  if (Attribute node = window->getAttr(graph::nodeAttr))
    windows->setAttr(graph::nodeAttr, node);
  return windows;
}

/// Makes the contraction multiply `together` groups at a time, and splits its result.
static void widen(const GroupedConvolution &convolution, int64_t together) {
  graph::WindowOp window = convolution.window;
  graph::ContractOp contract = convolution.contract;
  PatternRewriter rewriter(window.getContext());
  SmallVector<unsigned> order = {0, 1, 2, 3, 4, 5, 6}; // of the old windows' dimensions
  if (!convolution.areLast)
    order = {0, 3, 4, 5, 6, 1, 2};
  Value image = wideImage(convolution, together, rewriter);
  graph::WindowOp windows = wideWindows(convolution, image, order, rewriter);
  normalize::Rebuild behind(rewriter, contract);
  Value filter = wideFilter(convolution, together, rewriter);
  normalize::Sizes results = normalize::sizesOf(contract.getResult()), wideResults = results;
  SmallVector<unsigned> resultLoops = loopsOf(contract, 2);
  size_t at = llvm::find(resultLoops, loopsOf(contract, 1)[convolution.group]) - resultLoops.begin();
  wideResults[at] = rewriter.getAffineConstantExpr(convolution.groups / together);
  wideResults[at + 1] = rewriter.getAffineConstantExpr(convolution.filters * together);
  ArrayAttr maps =
      rewriter.getAffineMapArrayAttr({reordered(contract.getMap(0), order),
                                      reordered(contract.getMap(1), orderOfFilter(convolution)), contract.getMap(2)});
  auto product = graph::ContractOp::create(rewriter, contract.getLoc(), behind.type(wideResults, contract.getResult()),
                                           windows.getResult(), filter, maps, false, false);
  if (Attribute node = contract->getAttr(graph::nodeAttr))
    product->setAttr(graph::nodeAttr, node);
  rewriter.replaceOp(contract, behind.reshape(product.getResult(), results));
  rewriter.eraseOp(window);
}

/// Whether it pays to multiply these groups together. Groups of a single channel are sums over windows.
static bool pays(const GroupedConvolution &convolution, int64_t together, bool singles) {
  graph::WindowOp window = convolution.window;
  graph::ConstantOp filter = convolution.filter;
  int64_t filterBytes = cast<RankedTensorType>(filter.getType()).getNumElements() * convolution.elementBytes();
  if (convolution.channels == 1 || filterBytes > mostFilterBytes / together)
    return false;
  if (convolution.element.isF16() || convolution.element.isBF16())
    return true;
  double elements = elementsOf(window.getResult(), unknownImages);
  return singles && convolution.element.isF32() &&
         elements * static_cast<double>(together * convolution.filters) >= leastProductsOfSingles;
}

void fusion::widenGroups(func::FuncOp main, bool singles) {
  for (auto window : llvm::make_early_inc_range(main.front().getOps<graph::WindowOp>()))
    if (std::optional<GroupedConvolution> convolution = convolutionOf(window))
      if (std::optional<int64_t> together = groupsTogether(*convolution);
          together && pays(*convolution, *together, singles))
        widen(*convolution, *together);
}
