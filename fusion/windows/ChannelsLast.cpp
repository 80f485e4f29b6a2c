// SPDX-License-Identifier: Apache-2.0
#include "fusion/windows/ChannelsLast.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Rebuild.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// Whether a GPU copies a pixel's channels 16 bytes at a time: to shared memory, or in the form in which `window` is
/// laid out.
static bool areCopied(int64_t channels, graph::WindowOp window) {
  constexpr int64_t bitsOfCopy = 128;
  Type element = cast<RankedTensorType>(window.getType()).getElementType();
  bool isLaidOut = window.getCopied() || window.getPixels();
  return channels > 0 && (element.isF16() || element.isBF16() || isLaidOut) &&
         channels * element.getIntOrFloatBitWidth() % bitsOfCopy == 0;
}

/// Whether turning the image, which is another pass over it, pays; docs/performance.md has a table for GPUs. On a CPU a
/// core needs at least 4 channels: with fewer, too few steps of k read neighbours.
static bool areEnough(int64_t channels, graph::WindowOp window, Machine machine) {
  constexpr int64_t leastOfCores = 4;
  return machine == Machine::Cpu ? channels >= leastOfCores : areCopied(channels, window);
}

/// Whether `contract` sums over dimension `dim` of its operand `side`.
static bool sumsOver(graph::ContractOp contract, unsigned side, int64_t dim) {
  auto loop = cast<AffineDimExpr>(contract.getMap(side).getResult(static_cast<unsigned>(dim)));
  return !contract.getMap(2).isFunctionOfDim(loop.getPosition());
}

/// Whether every reader of a window sums over dimension `dim`, which is in front of the spatial ones; windows of the
/// window (the phases of a transposed convolution) are looked through.
static bool isSummed(graph::WindowOp window, int64_t dim) {
  return !window->use_empty() && dim < window.getDims().front() &&
         llvm::all_of(
             window->getUses(),
             [&](OpOperand &use) {
               if (auto outer = dyn_cast<graph::WindowOp>(use.getOwner()))
                 return isSummed(outer, dim);
               auto contract = dyn_cast<graph::ContractOp>(use.getOwner());
               return contract && sumsOver(contract, use.getOperandNumber(), dim);
             });
}

/// The dimension in front of the spatial ones that every reader of the window sums over; nullopt if there is none with
/// enough elements.
static std::optional<int64_t> channelsOf(graph::WindowOp window, Machine machine) {
  auto type = cast<RankedTensorType>(window.getData().getType());
  bool hasGroups = window.getDims().front() > 2; // beside the batch and the channels
  if (window.getDims().back() != type.getRank() - 1 || (hasGroups && machine == Machine::Gpu))
    return std::nullopt;
  for (int64_t dim = 0; dim < window.getDims().front(); ++dim)
    if (std::optional<int64_t> channels = graph::constantSize(graph::getSizes(type)[dim]);
        channels && isSummed(window, dim) && areEnough(*channels, window, machine))
      return dim;
  return std::nullopt;
}

bool fusion::copiesChannels(graph::WindowOp window) {
  auto type = cast<RankedTensorType>(window.getData().getType());
  std::optional<int64_t> channels = graph::constantSize(graph::getSizes(type).back());
  int64_t last = cast<RankedTensorType>(window.getType()).getRank() - 1;
  int64_t behind = type.getRank() - 1 - window.getDims().back(); // the channels, and groups in front of them
  bool isImage = window.getDims().front() == 1 && (behind == 1 || behind == 2);
  return isImage && channels && areCopied(*channels, window) && llvm::all_of(window->getUses(), [&](OpOperand &use) {
           auto contract = dyn_cast<graph::ContractOp>(use.getOwner());
           return contract && sumsOver(contract, use.getOperandNumber(), last);
         });
}

bool fusion::hasOneTap(graph::WindowOp window) {
  SmallVector<AffineExpr> sizes(graph::getSizes(cast<RankedTensorType>(window.getType())));
  return llvm::all_of(ArrayRef(sizes).take_back(window.getDims().size()), normalize::isUnit);
}

/// The dimensions of a value of `rank`, with `dim` moved to the end.
static SmallVector<int64_t> movedLast(int64_t rank, int64_t dim) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(order.begin() + dim, order.begin() + dim + 1, order.end());
  return order;
}

/// Makes a contraction read `turned`, whose dimensions are those of the operand of `use` in this order.
static void readTurned(OpOperand &use, Value turned, ArrayRef<int64_t> order) {
  auto contract = cast<graph::ContractOp>(use.getOwner());
  SmallVector<AffineMap> maps = {contract.getMap(0), contract.getMap(1), contract.getMap(2)};
  AffineMap &map = maps[use.getOperandNumber()];
  SmallVector<AffineExpr> loops;
  for (int64_t dim : order)
    loops.push_back(map.getResult(static_cast<unsigned>(dim)));
  map = AffineMap::get(map.getNumDims(), 0, loops, contract.getContext());
  contract.setMapsAttr(Builder(contract.getContext()).getAffineMapArrayAttr(maps));
  use.set(turned);
}

/// Replaces `window` by the window of `image`, which is its data with dimension `channels` moved to the end.
static void replace(graph::WindowOp window, Value image, int64_t channels, PatternRewriter &rewriter) {
  normalize::Rebuild rebuild(rewriter, window);
  SmallVector<int64_t> order = movedLast(cast<RankedTensorType>(window.getType()).getRank(), channels), dims;
  for (int64_t dim : window.getDims())
    dims.push_back(dim - 1);
  normalize::Sizes sizes = normalize::sizesOf(window.getResult()), turned;
  for (int64_t dim : order)
    turned.push_back(sizes[dim]);
  auto result = graph::WindowOp::create(rewriter, window.getLoc(), rebuild.type(turned, window.getResult()), image,
                                        dims, window.getStrides(), window.getDilations(), window.getLow(),
                                        window.getFill(), window.getCopied(), window.getPixels());
  if (Attribute node = window->getAttr(graph::nodeAttr))
    result->setAttr(graph::nodeAttr, node);
  for (OpOperand &use : llvm::make_early_inc_range(window->getUses()))
    if (auto outer = dyn_cast<graph::WindowOp>(use.getOwner()))
      replace(outer, result, channels, rewriter);
    else
      readTurned(use, result, order);
  rewriter.eraseOp(window);
}

void fusion::turnChannelsLast(func::FuncOp main, Machine machine) {
  SmallVector<graph::WindowOp> windows;
  for (auto window : main.front().getOps<graph::WindowOp>())
    if (!window.getData().getDefiningOp<graph::WindowOp>())
      windows.push_back(window);
  for (graph::WindowOp window : windows)
    if (std::optional<int64_t> channels = channelsOf(window, machine); channels && !hasOneTap(window)) {
      PatternRewriter rewriter(window.getContext());
      int64_t rank = cast<RankedTensorType>(window.getData().getType()).getRank();
      Value image = normalize::Rebuild(rewriter, window).transpose(window.getData(), movedLast(rank, *channels));
      replace(window, image, *channels, rewriter);
    }
}
