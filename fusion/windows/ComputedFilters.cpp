// SPDX-License-Identifier: Apache-2.0
#include "fusion/windows/ComputedFilters.h"

#include "fusion/windows/ChannelsLast.h"
#include "fusion/windows/ZeroFilled.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Rebuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

bool fusion::isFilterOfCopies(graph::ContractOp contract, unsigned filter) {
  auto window = contract->getOperand(1 - filter).getDefiningOp<graph::WindowOp>();
  return window && copiesChannels(window);
}

/// Whether a value is a constant behind accesses and conversions.
static bool isStored(Value value) {
  while (isa_and_nonnull<graph::AccessOpInterface, arith::ExtFOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.getDefiningOp<graph::ConstantOp>() || matchPattern(value, m_Constant());
}

/// The filter's dimensions in the order: those that the result has, then the sum's as the windows have them.
static SmallVector<int64_t> orderOfSum(graph::ContractOp contract, unsigned filter) {
  SmallVector<unsigned> loops = loopsOf(contract, filter), windows = loopsOf(contract, 1 - filter);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, loops.size()));
  auto placeOf = [&](int64_t dim) {
    bool isSummed = !contract.getMap(2).isFunctionOfDim(loops[dim]);
    return isSummed ? 1 + (llvm::find(windows, loops[dim]) - windows.begin()) : 0;
  };
  llvm::sort(order, [&](int64_t a, int64_t b) { return std::pair(placeOf(a), a) < std::pair(placeOf(b), b); });
  return order;
}

/// Whether neighbours in the filter are neighbours neither along the sum nor among the columns.
static bool isAcross(graph::ContractOp contract, unsigned filter) {
  unsigned inner = loopsOf(contract, filter).back();
  return !contract.getMap(2).isFunctionOfDim(inner) && inner != loopsOf(contract, 1 - filter).back();
}

/// The dimensions of a value with more than one element.
static SmallVector<int64_t> wideDims(Value value) {
  SmallVector<int64_t> dims;
  for (auto [dim, size] : llvm::enumerate(normalize::sizesOf(value)))
    if (!normalize::isUnit(size))
      dims.push_back(static_cast<int64_t>(dim));
  return dims;
}

/// Whether the filter is gathered (as the phases of a transposed convolution) from elements that are nearer to each
/// other along the channels, over which the windows' innermost loop runs, than along any other dimension of it.
static bool gathersChannels(graph::ContractOp contract, unsigned filter) {
  Value value = contract->getOperand(filter), whole = value;
  if (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    whole = reshape.getData();
  auto gather = whole.getDefiningOp<graph::GatherOp>();
  SmallVector<int64_t> from = wideDims(whole), to = wideDims(value);
  if (!gather || from.size() != to.size()) // the reshape does more than leave dimensions of 1 out
    return false;
  for (AffineExpr at : llvm::reverse(gather.getMap().getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(at); // of the result, or behind those the number of an index
    auto *found = dim ? llvm::find(from, static_cast<int64_t>(dim.getPosition())) : from.end();
    if (found != from.end())
      return loopsOf(contract, filter)[to[found - from.begin()]] == loopsOf(contract, 1 - filter).back();
  }
  return false;
}

static void turn(graph::ContractOp contract, unsigned filter) {
  SmallVector<int64_t> order = orderOfSum(contract, filter);
  PatternRewriter rewriter(contract.getContext());
  Value turned = normalize::Rebuild(rewriter, contract).transpose(contract->getOperand(filter), order);
  SmallVector<AffineMap> maps = {contract.getMap(0), contract.getMap(1), contract.getMap(2)};
  maps[filter] = maps[filter].getSubMap(SmallVector<unsigned>(order.begin(), order.end()));
  contract.setMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  contract->setOperand(filter, turned);
}

void fusion::turnComputedFilters(func::FuncOp main) {
  for (auto contract : llvm::make_early_inc_range(main.front().getOps<graph::ContractOp>()))
    for (unsigned filter : {0, 1})
      if (isFilterOfCopies(contract, filter) && !isStored(contract->getOperand(filter)) &&
          (isAcross(contract, filter) || gathersChannels(contract, filter)))
        turn(contract, filter);
}
