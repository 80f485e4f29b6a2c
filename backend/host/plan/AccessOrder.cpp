// SPDX-License-Identifier: Apache-2.0
#include "backend/host/plan/AccessOrder.h"

#include "backend/host/Elementwise.h"
#include "backend/host/plan/BackwardWalk.h"
#include "backend/host/plan/Contiguity.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

/// The length of the runs of `load` along its rows. 0: the load does not vary along them. nullopt: there are no runs,
/// or they cannot be masked.
static std::optional<int64_t> runOfLoad(tile::LoadOp load, bool masks) {
  unsigned last = load.getResult().getType().getRank() - 1;
  if (!load.getMap().isFunctionOfDim(last))
    return 0;
  std::optional<int64_t> run = contiguousRun(coordinatesOf(load), last);
  bool canMask = masks || load.getResult().getType().getElementType().getIntOrFloatBitWidth() >= 32;
  return load.getIndices().empty() && canMask && run && *run ? run : std::nullopt;
}

/// The length of runs that all loads agree on which `value` is computed from. 0: none of them varies along its rows.
/// nullopt: they differ, or one has none.
static std::optional<int64_t> runBelow(Value value, bool masks) {
  std::optional<int64_t> result = 0;
  walkBackward(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    auto load = dyn_cast_or_null<tile::LoadOp>(op);
    if (!result || (op && !load && (isElementwise(op) || isa<tile::BroadcastOp>(op))))
      return result.has_value();
    std::optional<int64_t> run = load ? runOfLoad(load, masks) : std::nullopt;
    if (!run || (*run && *result && *run != *result))
      result = std::nullopt;
    else
      result = std::max(*result, *run);
    return false;
  });
  return result;
}

static constexpr int64_t leastRun = 3, longestRun = 16; // a run fits one vector and fills most of its lanes
static constexpr int64_t leastReadersOfGathered = 4;    // the fewest rows for which gathering once pays

int64_t shortRunOfRow(Value value, bool masks) {
  int64_t run = runBelow(value, masks).value_or(0);
  return run >= leastRun && run <= longestRun ? run : 0;
}

unsigned widestStore(tile::StoreOp store, unsigned axis, unsigned widest, unsigned narrow) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  int64_t run = contiguousRun(coordinatesOf(store), type.getRank() - 1 - axis).value_or(0);
  unsigned within = std::gcd(static_cast<unsigned>(run), widest);
  return within >= narrow ? within : widest;
}

unsigned laneAxisOf(Value value) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  auto longer = llvm::find_if(llvm::reverse(shape), [](int64_t size) { return size > 1; });
  return longer == shape.rend() ? 0 : std::distance(shape.rbegin(), longer);
}

bool storesAlong(tile::StoreOp store, unsigned axis, unsigned lanes) {
  std::optional<int64_t> run =
      contiguousRun(coordinatesOf(store), cast<RankedTensorType>(store.getValue().getType()).getRank() - 1 - axis);
  return run && *run % lanes == 0;
}

bool isGatheredOnce(tile::LoadOp load) {
  RankedTensorType type = load.getResult().getType();
  unsigned last = type.getRank() - 1;
  if (type.getNumElements() != type.getShape().back() || type.getShape().back() == 1 || !load.getIndices().empty() ||
      !load.getMap().isFunctionOfDim(last) || contiguousRun(coordinatesOf(load), last) == 0)
    return false;
  return llvm::any_of(load->getUsers(), [&](Operation *user) {
    auto broadcast = dyn_cast<tile::BroadcastOp>(user);
    return broadcast &&
           broadcast.getResult().getType().getNumElements() >= leastReadersOfGathered * type.getNumElements();
  });
}

bool storesTransposed(tile::StoreOp store, unsigned lanes) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  if (type.getRank() < 2 || type.getDimSize(type.getRank() - 2) < lanes || type.getShape().back() < lanes)
    return false;
  AffineMap map = coordinatesOf(store);
  std::optional<int64_t> run = contiguousRun(map, type.getRank() - 2);
  return run && *run % lanes == 0 && !map.getResults().back().isFunctionOfDim(type.getRank() - 1) &&
         !isa<BlockArgument>(store.getValue());
}

bool loadsTransposed(Value value, unsigned lanes) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isElementwise(op) || op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  auto load = value.getDefiningOp<tile::LoadOp>();
  auto type = cast<RankedTensorType>(value.getType());
  if (!load || !load.getIndices().empty() || type.getRank() < 2 || type.getDimSize(type.getRank() - 2) < lanes ||
      type.getShape().back() < lanes)
    return false;
  AffineMap map = coordinatesOf(load);
  unsigned row = type.getRank() - 2, column = type.getRank() - 1;
  std::optional<int64_t> run = contiguousRun(map, row);
  std::optional<int64_t> along = contiguousRun(map, column);
  bool isGathered = !along || (*along != 0 && *along < lanes);
  return run && *run % lanes == 0 && map.isFunctionOfDim(column) && isGathered;
}

void collectTransposedLoads(Value value, unsigned lanes, SmallVectorImpl<Value> &result) {
  walkBackward(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (isa_and_nonnull<tile::LoadOp>(op) && loadsTransposed(next, lanes) && !llvm::is_contained(result, next))
      result.push_back(next);
    return op && isElementwise(op);
  });
}

} // namespace tilewright::host
