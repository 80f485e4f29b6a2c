// SPDX-License-Identifier: Apache-2.0
#include "fusion/ChannelsLast.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Rebuild.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// Fewer are neighbours for too few steps of k to pay for another pass over the image.
static constexpr int64_t leastChannels = 4;

/// Whether `contract` sums over dimension `dim` of its operand `side`.
static bool sumsOver(graph::ContractOp contract, unsigned side, int64_t dim) {
  auto loop = cast<AffineDimExpr>(contract.getMap(side).getResult(static_cast<unsigned>(dim)));
  return !contract.getMap(2).isFunctionOfDim(loop.getPosition());
}

/// The dimension in front of the spatial ones that every reader of the window sums over; nothing if there is none of
/// enough elements.
static std::optional<int64_t> channelsOf(graph::WindowOp window) {
  auto type = cast<RankedTensorType>(window.getData().getType());
  if (window->use_empty() || window.getDims().back() != type.getRank() - 1)
    return std::nullopt;
  for (int64_t dim = 0; dim < window.getDims().front(); ++dim) {
    bool isSummed = llvm::all_of(window->getUses(), [&](OpOperand &use) {
      auto contract = dyn_cast<graph::ContractOp>(use.getOwner());
      return contract && sumsOver(contract, use.getOperandNumber(), dim);
    });
    if (isSummed && graph::constantSize(graph::getSizes(type)[dim]).value_or(0) >= leastChannels)
      return dim;
  }
  return std::nullopt;
}

static bool hasOneTap(graph::WindowOp window) {
  SmallVector<AffineExpr> sizes(graph::getSizes(cast<RankedTensorType>(window.getType())));
  return llvm::all_of(ArrayRef(sizes).take_back(window.getDims().size()), normalize::isUnit);
}

/// The dimensions of a value of `rank`, with `dim` moved to the end.
static SmallVector<int64_t> movedLast(int64_t rank, int64_t dim) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(order.begin() + dim, order.begin() + dim + 1, order.end());
  return order;
}

static void turn(graph::WindowOp window, int64_t channels) {
  PatternRewriter rewriter(window.getContext());
  normalize::Rebuild rebuild(rewriter, window);
  Value image = window.getData();
  SmallVector<int64_t> perm = movedLast(cast<RankedTensorType>(image.getType()).getRank(), channels),
                       order = movedLast(cast<RankedTensorType>(window.getType()).getRank(), channels), dims;
  for (int64_t dim : window.getDims())
    dims.push_back(dim - 1);
  normalize::Sizes sizes = normalize::sizesOf(window.getResult()), turned;
  for (int64_t dim : order)
    turned.push_back(sizes[dim]);
  auto result = graph::WindowOp::create(rewriter, window.getLoc(), rebuild.type(turned, window.getResult()),
                                        rebuild.transpose(image, perm), dims, window.getStrides(),
                                        window.getDilations(), window.getLow(), window.getFill());
  if (Attribute node = window->getAttr(graph::nodeAttr))
    result->setAttr(graph::nodeAttr, node);
  for (OpOperand &use : llvm::make_early_inc_range(window->getUses())) {
    auto contract = cast<graph::ContractOp>(use.getOwner());
    SmallVector<AffineMap> maps = {contract.getMap(0), contract.getMap(1), contract.getMap(2)};
    AffineMap &map = maps[use.getOperandNumber()];
    SmallVector<AffineExpr> loops;
    for (int64_t dim : order)
      loops.push_back(map.getResult(static_cast<unsigned>(dim)));
    map = AffineMap::get(map.getNumDims(), 0, loops, window.getContext());
    contract.setMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    use.set(result);
  }
  rewriter.eraseOp(window);
}

void fusion::turnChannelsLast(func::FuncOp main) {
  for (auto window : llvm::make_early_inc_range(main.front().getOps<graph::WindowOp>()))
    if (std::optional<int64_t> channels = channelsOf(window); channels && !hasOneTap(window))
      turn(window, *channels);
}
