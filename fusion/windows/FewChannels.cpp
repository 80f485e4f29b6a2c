// SPDX-License-Identifier: Apache-2.0
#include "fusion/windows/FewChannels.h"

#include "fusion/cost/Iterations.h"
#include "fusion/windows/ZeroFilled.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Rebuild.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>
#include <optional>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

constexpr int64_t bytesOfCopy = 16, bytesOfRow = 128;
/// What pays on an H200 (docs/performance.md): with 1.1 to 1.8 times as many products a convolution took 0.4 to 0.9 of
/// the time, with 2.4 times or more 0.9 to 1.8, and windows of 48 elements 1.15.
constexpr double leastMultiplications = 1 << 26;
constexpr int64_t mostPadding = 2, leastTaps = 64, leastColumns = 32, unknownImages = 16;
constexpr int64_t bytesOfGathering = 4, mostGathered = 128;
constexpr int64_t mostPixels = 64; // of a block along y or x: steps may be any number

namespace {
/// A convolution of an image of few channels: result[n, y, x, f] = sum over ky, kx and c.
struct FewChannels {
  graph::WindowOp window;
  graph::ContractOp contract;
  graph::ConstantOp filter;
  bool areLast;                             // the image is [n, y, x, c], otherwise [n, c, y, x]
  int64_t channels, filters;                // sizes
  SmallVector<int64_t> windows, taps;       // along y and x: how many windows, and taps of one
  SmallVector<unsigned> rowLoops, tapLoops; // of the contraction: n, y, x; ky, kx, c
  unsigned filterLoop;
  Type element;
  int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  SmallVector<unsigned> loops(unsigned operand) const { return loopsOf(contract, operand); }
};

/// How an image is laid out: [n, rows of blocks, blocks of a row * (block[0] * block[1] * channels)].
struct BlockedImage {
  SmallVector<int64_t> block; // pixels of a block along y and x
  int64_t channels;           // of a pixel, with what fills a block to a multiple of 16 bytes
  SmallVector<int64_t> taps;  // blocks of a window along y and x
  int64_t run;                // elements of a row of a window, with what fills it to a multiple of 128 bytes
  int64_t blockElements() const { return block[0] * block[1] * channels; }
  int64_t depth() const { return taps[0] * run; }
};
} // namespace

static bool isOfKnownSize(Value image) {
  return llvm::none_of(cast<RankedTensorType>(image.getType()).getShape().drop_front(), ShapedType::isDynamic);
}

/// The loop of the filters: the only loop of the filter that is not in `tapLoops`. nullopt if there are several, or if
/// the windows have it too, as a loop of groups.
static std::optional<unsigned> filterLoopOf(graph::ContractOp contract, ArrayRef<unsigned> tapLoops) {
  std::optional<unsigned> found;
  for (unsigned loop : loopsOf(contract, 1))
    if (!llvm::is_contained(tapLoops, loop)) {
      if (found || contract.getMap(0).isFunctionOfDim(loop))
        return std::nullopt;
      found = loop;
    }
  return found;
}

/// The convolution whose windows these are; nullopt if it has groups or dilations, run-time sizes beside the batch, or
/// a filter that is no constant.
static std::optional<FewChannels> convolutionOf(graph::WindowOp window) {
  auto image = cast<RankedTensorType>(window.getData().getType()), windows = cast<RankedTensorType>(window.getType());
  ArrayRef<int64_t> dims = window.getDims();
  bool areLast = dims == ArrayRef<int64_t>({1, 2});
  if (image.getRank() != 4 || (!areLast && dims != ArrayRef<int64_t>({2, 3})) || !window->hasOneUse() ||
      !isOfKnownSize(window.getData()) || !isOfKnownSize(window.getResult()) ||
      llvm::any_of(window.getDilations(), [](int64_t dilation) { return dilation != 1; }))
    return std::nullopt;
  auto contract = dyn_cast<graph::ContractOp>(*window->user_begin());
  auto filter = contract ? contract.getRhs().getDefiningOp<graph::ConstantOp>() : graph::ConstantOp();
  if (!filter || contract.getMap(0).getNumDims() != 7 || contract.getMap(1).getNumResults() != 4)
    return std::nullopt;
  SmallVector<unsigned> loops = loopsOf(contract, 0);
  unsigned y = static_cast<unsigned>(dims.front()), c = areLast ? 5 : 1;
  SmallVector<unsigned> rows = {loops[0], loops[y], loops[y + 1]}, taps = {loops[y + 2], loops[y + 3], loops[c]};
  auto isSummed = [&](unsigned loop) { return !contract.getMap(2).isFunctionOfDim(loop); };
  std::optional<unsigned> filterLoop = filterLoopOf(contract, taps);
  if (!filterLoop || llvm::any_of(rows, isSummed) || !llvm::all_of(taps, isSummed) || isSummed(*filterLoop))
    return std::nullopt;
  int64_t filters = 0;
  for (auto [dim, loop] : llvm::enumerate(loopsOf(contract, 1)))
    if (loop == *filterLoop)
      filters = cast<RankedTensorType>(filter.getType()).getDimSize(static_cast<int64_t>(dim));
  auto sizeOf = [&](unsigned dim) { return windows.getDimSize(dim); };
  return FewChannels{window,
                     contract,
                     filter,
                     areLast,
                     sizeOf(c),
                     filters,
                     {sizeOf(y), sizeOf(y + 1)},
                     {sizeOf(y + 2), sizeOf(y + 3)},
                     rows,
                     taps,
                     *filterLoop,
                     windows.getElementType()};
}

/// The layout in blocks of `down` times `across` pixels.
static BlockedImage layoutOf(const FewChannels &convolution, int64_t down, int64_t across) {
  int64_t bytes = convolution.elementBytes(), channels = convolution.channels;
  while (down * across * channels * bytes % bytesOfCopy)
    ++channels;
  BlockedImage image{{down, across}, channels, {}, 0};
  image.taps = {llvm::divideCeilSigned(convolution.taps[0], down), llvm::divideCeilSigned(convolution.taps[1], across)};
  image.run = llvm::alignTo(image.taps[1] * image.blockElements(), bytesOfRow / bytes);
  return image;
}

/// The layout with the fewest multiplications, among blocks that divide the steps between windows.
static BlockedImage bestLayout(const FewChannels &convolution) {
  graph::WindowOp window = convolution.window;
  ArrayRef<int64_t> steps = window.getStrides();
  BlockedImage best = layoutOf(convolution, 1, 1);
  for (int64_t down = 1; down <= std::min(steps[0], mostPixels); ++down)
    for (int64_t across = 1; across <= std::min(steps[1], mostPixels); ++across)
      if (steps[0] % down == 0 && steps[1] % across == 0)
        if (BlockedImage image = layoutOf(convolution, down, across); image.depth() < best.depth())
          best = image;
  return best;
}

/// Whether gathering halves is as fast: where rows of filters are no multiple of 16 bytes, so that they are turned
/// (products/AlignedConstants.h), and a pixel is a multiple of 4 bytes, but of few channels. With 36 to 116 such
/// channels rows took 0.8 to 1.45 times as long for 8 and 32 images of 28x28 (H100), with 130 to 180 0.3 to 0.9; with
/// odd channels, which are gathered 2 bytes at a time, 0.4 to 0.6.
static bool isGathered(const FewChannels &convolution) {
  int64_t bytes = convolution.elementBytes();
  return bytes == 2 && convolution.filters * bytes % bytesOfCopy != 0 &&
         convolution.channels * bytes % bytesOfGathering == 0 && convolution.channels < mostGathered;
}

static bool pays(const FewChannels &convolution, const BlockedImage &image) {
  int64_t taps = convolution.taps[0] * convolution.taps[1] * convolution.channels;
  graph::ContractOp contract = convolution.contract;
  double results = elementsOf(contract.getResult(), unknownImages);
  return results * static_cast<double>(taps) >= leastMultiplications && taps >= leastTaps &&
         image.depth() <= mostPadding * taps && convolution.filters >= leastColumns && !isGathered(convolution);
}

/// The image in blocks: padded as the windows pad it, and to whole blocks.
static Value blocked(const FewChannels &convolution, const BlockedImage &image, PatternRewriter &rewriter) {
  graph::WindowOp window = convolution.window;
  normalize::Rebuild rebuild(rewriter, window);
  auto constant = [&](int64_t size) { return getAffineConstantExpr(size, window.getContext()); };
  ArrayRef<int64_t> low = window.getLow(), steps = window.getStrides(), block = image.block;
  SmallVector<int64_t> beyond = {image.taps[0], llvm::divideCeilSigned(image.run, image.blockElements())}, blocks;
  for (int64_t axis : {0, 1})
    blocks.push_back((convolution.windows[axis] - 1) * (steps[axis] / block[axis]) + beyond[axis]);
  AffineExpr n = normalize::sizesOf(window.getData())[0], c = constant(image.channels);
  normalize::Sizes pixels = {constant(blocks[0] * block[0]), constant(blocks[1] * block[1])},
                   parts = {constant(blocks[0]), constant(block[0]), constant(blocks[1]), constant(block[1])};
  normalize::Sizes padded = {n, c, pixels[0], pixels[1]}, split = {n, c, parts[0], parts[1], parts[2], parts[3]};
  SmallVector<int64_t> lows = {0, 0, low[0], low[1]}, perm = {0, 2, 4, 3, 5, 1};
  if (convolution.areLast) {
    padded = {n, pixels[0], pixels[1], c}, split = {n, parts[0], parts[1], parts[2], parts[3], c};
    lows = {0, low[0], low[1], 0}, perm = {0, 1, 3, 2, 4, 5};
  }
  Value data = graph::PadOp::create(rewriter, window.getLoc(), rebuild.type(padded, window.getData()), window.getData(),
                                    lows, window.getFill());
  if (Attribute node = window->getAttr(graph::nodeAttr))
    data.getDefiningOp()->setAttr(graph::nodeAttr, node);
  data = rebuild.transpose(rebuild.reshape(data, split), perm);
  return rebuild.reshape(data, {n, constant(blocks[0]), constant(blocks[1] * image.blockElements())});
}

/// The key of the filter as [taps along y, run, filters], with zeros where the image has no taps.
static std::string widenedFilter(const FewChannels &convolution, const BlockedImage &image) {
  SmallVector<unsigned> loops = convolution.loops(1);
  auto dimOf = [&](unsigned loop) { return static_cast<size_t>(llvm::find(loops, loop) - loops.begin()); };
  size_t y = dimOf(convolution.tapLoops[0]), x = dimOf(convolution.tapLoops[1]),
         channel = dimOf(convolution.tapLoops[2]), filter = dimOf(convolution.filterLoop);
  int64_t down = image.block[0], across = image.block[1];
  return zeroFilled(convolution.filter, image.depth() * convolution.filters, "in rows", [&](ArrayRef<int64_t> at) {
    int64_t inBlock = ((at[y] % down) * across + at[x] % across) * image.channels + at[channel];
    int64_t row = (at[y] / down) * image.run + (at[x] / across) * image.blockElements() + inBlock;
    return row * convolution.filters + at[filter];
  });
}

/// The maps of the contraction over [n, y, x, filter, tap of y, run].
static ArrayAttr widenedMaps(const FewChannels &convolution, PatternRewriter &rewriter) {
  auto loop = [&](unsigned position) { return rewriter.getAffineDimExpr(position); };
  SmallVector<AffineExpr> result;
  for (unsigned old : convolution.loops(2)) {
    const auto *row = llvm::find(convolution.rowLoops, old);
    result.push_back(loop(static_cast<unsigned>(row - convolution.rowLoops.begin()))); // the filter is loop 3
  }
  auto map = [&](ArrayRef<AffineExpr> loops) { return AffineMap::get(6, 0, loops, rewriter.getContext()); };
  return rewriter.getAffineMapArrayAttr(
      {map({loop(0), loop(1), loop(2), loop(4), loop(5)}), map({loop(4), loop(5), loop(3)}), map(result)});
}

static void widen(const FewChannels &convolution, const BlockedImage &image) {
  graph::WindowOp window = convolution.window;
  graph::ContractOp contract = convolution.contract;
  PatternRewriter rewriter(window.getContext());
  Value rows = blocked(convolution, image, rewriter);
  normalize::Rebuild rebuild(rewriter, window);
  auto constant = [&](int64_t size) { return rewriter.getAffineConstantExpr(size); };
  ArrayRef<int64_t> steps = window.getStrides(), block = image.block;
  SmallVector<int64_t> dims = {1, 2}, ones = {1, 1}, zeros = {0, 0},
                       strides = {steps[0] / block[0], steps[1] / block[1] * image.blockElements()};
  normalize::Sizes sizes = {normalize::sizesOf(rows)[0], constant(convolution.windows[0]),
                            constant(convolution.windows[1]), constant(image.taps[0]), constant(image.run)};
  auto wide = graph::WindowOp::create(rewriter, window.getLoc(), rebuild.type(sizes, window.getResult()), rows, dims,
                                      strides, ones, zeros, window.getFill(), /*copied=*/false, /*pixels=*/true);
  if (Attribute node = window->getAttr(graph::nodeAttr))
    wide->setAttr(graph::nodeAttr, node);
  rewriter.setInsertionPoint(contract);
  auto type = RankedTensorType::get({image.taps[0], image.run, convolution.filters}, convolution.element);
  Value filter =
      graph::ConstantOp::create(rewriter, contract.getRhs().getLoc(), type, widenedFilter(convolution, image));
  contract->setOperands({wide.getResult(), filter});
  contract.setMapsAttr(widenedMaps(convolution, rewriter));
  rewriter.eraseOp(window);
}

/// Whether windows of these channels should become rows. Halves whose pixels are multiples of 16 bytes are gathered
/// about as fast (rows took 0.9 to 1.5 times the time). Singles are gathered slowly, because threads split them into
/// parts of tf32; only those whose pixels are multiples of 128 bytes stay, since the engine walks these
/// (SingleWindows.h).
static bool areFew(const FewChannels &convolution, bool singles) {
  bool areHalves = convolution.element.isF16() || convolution.element.isBF16();
  if (!areHalves && !(singles && convolution.element.isF32()))
    return false;
  return convolution.channels * convolution.elementBytes() % (areHalves ? bytesOfCopy : bytesOfRow) != 0;
}

void fusion::widenFewChannels(func::FuncOp main, bool singles) {
  for (auto window : llvm::make_early_inc_range(main.front().getOps<graph::WindowOp>()))
    if (std::optional<FewChannels> convolution = convolutionOf(window); convolution && areFew(*convolution, singles))
      if (BlockedImage image = bestLayout(*convolution); pays(*convolution, image))
        widen(*convolution, image);
}
