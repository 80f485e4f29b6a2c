// The decisions behind demand-driven emission: walks over the tile operations of a kernel, no IR is made.
#include "backend/host/Holding.h"

#include "backend/host/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

bool isHeavy(Operation *op) { return op && isa<tile::DotOp, scf::ForOp>(op); }

bool hasEffects(Operation *op) {
  return op->walk([](tile::StoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

//===- Positions --------------------------------------------------------------------------------------------------===//

/// Calls `visit` for every carried tile of a loop within `scope` that `value` reads, and whether that is at the same
/// position.
static void visitCarried(Value value, Operation *scope, bool samePlace,
                         llvm::DenseSet<std::pair<Value, unsigned>> &seen,
                         llvm::function_ref<void(BlockArgument, bool)> visit) {
  if (!isa<RankedTensorType>(value.getType()) || !seen.insert({value, unsigned(samePlace)}).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (scope->isAncestor(argument.getOwner()->getParentOp()))
      visit(argument, samePlace);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!scope->isProperAncestor(op))
    return;
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    visitCarried(dot.getAcc(), scope, samePlace, seen, visit);
    visitCarried(dot.getLhs(), scope, false, seen, visit);
    visitCarried(dot.getRhs(), scope, false, seen, visit);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned i = cast<OpResult>(value).getResultNumber();
    visitCarried(loop.getInitArgs()[i], scope, samePlace, seen, visit);
    visitCarried(loop.getBody()->getTerminator()->getOperand(i), scope, samePlace, seen, visit);
  } else {
    for (Value operand : op->getOperands())
      visitCarried(operand, scope, samePlace && isElementwise(op), seen, visit);
  }
}

bool runsByPosition(scf::ForOp loop) {
  bool result = true;
  loop->walk([&](scf::ForOp inner) {
    for (Value yielded : inner.getBody()->getTerminator()->getOperands()) {
      llvm::DenseSet<std::pair<Value, unsigned>> seen;
      visitCarried(yielded, loop, true, seen, [&](BlockArgument, bool samePlace) { result &= samePlace; });
    }
  });
  return result;
}

bool updatesInPlace(scf::ForOp loop, unsigned i) {
  bool result = true;
  auto check = [&](Value value, bool isOwn) {
    llvm::DenseSet<std::pair<Value, unsigned>> seen;
    visitCarried(value, loop, true, seen, [&](BlockArgument argument, bool samePlace) {
      if (argument == loop.getRegionIterArg(i))
        result &= isOwn && samePlace;
    });
  };
  for (auto [j, yielded] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
    check(yielded, i == j);
  loop->walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op))
      check(store.getValue(), false);
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      check(reduce.getInput(), false);
  });
  return result;
}

//===- Operands of dots -------------------------------------------------------------------------------------------===//

/// Whether neighbours along the tile's last dimension are neighbours in the buffer, whatever the alignment.
static bool isContiguous(tile::LoadOp load) {
  AffineMap map = load.getMap();
  unsigned last = cast<RankedTensorType>(load.getResult().getType()).getRank() - 1;
  for (AffineExpr expr : map.getResults().drop_back())
    if (expr.isFunctionOfDim(last))
      return false;
  AffineExpr dim = getAffineDimExpr(last, load.getContext());
  return !simplifyAffineExpr(map.getResults().back() - dim, map.getNumDims(), map.getNumSymbols())
              .isFunctionOfDim(last);
}

bool isPacked(tile::LoadOp load) {
  auto argument = cast<BlockArgument>(load.getBuffer());
  auto kernel = cast<tile::KernelOp>(argument.getOwner()->getParentOp());
  return static_cast<bool>(kernel.getArgAttr(argument.getArgNumber(), "tile.packed_from"));
}

static std::optional<int64_t> runAlong(AffineMap map, unsigned dim);

static constexpr int64_t quad = 4;

bool multipliesQuads(tile::DotOp dot) {
  auto load = dot.getRhs().getDefiningOp<tile::LoadOp>();
  if (!load || !isPacked(load) || !load.getResult().getType().getElementType().isInteger(8))
    return false;
  AffineExpr k = getAffineDimExpr(load.getResult().getType().getRank() - 2, load.getContext());
  return load.getMap().getResults().back() == k % quad;
}

/// Whether each four bytes of a row lie together, and rows end with the fourth.
static bool readsQuads(tile::LoadOp load) {
  unsigned last = load.getResult().getType().getRank() - 1;
  std::optional<int64_t> run = runAlong(load.getMap(), last);
  auto bound = dyn_cast<AffineConstantExpr>(load.getBounds().getResult(last));
  return run && *run % quad == 0 && bound && bound.getValue() % quad == 0 && load.getGuard().empty();
}

bool isDirectOperand(Value value, bool isLhs, int64_t rows, unsigned registerRows) {
  while (auto extend = value.getDefiningOp<arith::ExtFOp>()) {
    if (isLhs)
      return false;
    value = extend.getIn();
  }
  auto load = value.getDefiningOp<tile::LoadOp>();
  if (!load || !load.getIndices().empty())
    return false;
  if (isPacked(load))
    return true;
  if (isLhs && hasFewTaps(value))
    return true;
  if (load.getResult().getType().getElementType().isInteger(8))
    return isLhs && readsQuads(load);
  bool isHalf = load.getResult().getType().getElementType().getIntOrFloatBitWidth() == 16;
  if (!load.getGuard().empty() || isHalf)
    return false;
  return isLhs || (isContiguous(load) && rows <= 2 * registerRows);
}

bool hasDirectOperands(Operation *op, unsigned registerRows) {
  return !op->walk([&](tile::DotOp dot) {
              auto type = cast<RankedTensorType>(dot.getResult().getType());
              int64_t rows = type.getDimSize(type.getRank() - 2);
              bool direct = isDirectOperand(dot.getLhs(), true, rows, registerRows) &&
                            isDirectOperand(dot.getRhs(), false, rows, registerRows);
              return direct ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

//===- Runs -------------------------------------------------------------------------------------------------------===//

/// The greatest common divisor of what coordinate `dim` itself is divided by in `expr`; 0: by nothing.
static int64_t blockOf(AffineExpr expr, unsigned dim) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !expr.isFunctionOfDim(dim))
    return 0;
  int64_t inside = std::gcd(blockOf(binary.getLHS(), dim), blockOf(binary.getRHS(), dim));
  if (inside || expr.getKind() == AffineExprKind::Add || expr.getKind() == AffineExprKind::Mul)
    return inside;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return divisor ? divisor.getValue() : 1;
}

/// By how much `expr` grows with coordinate `dim` within a block: divisions by multiples of the block leave all of the
/// coordinate or nothing.
static std::optional<int64_t> stepWithin(AffineExpr expr, unsigned dim, int64_t block) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 1;
  std::optional<int64_t> a = stepWithin(binary.getLHS(), dim, block), b = stepWithin(binary.getRHS(), dim, block);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *a + *b;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul)
    return factor ? std::optional(*a * factor.getValue()) : std::nullopt;
  if (*a == 0 && *b == 0)
    return 0;
  if (*a != 1 || !factor || !block || factor.getValue() % block)
    return std::nullopt;
  return expr.getKind() == AffineExprKind::Mod ? 1 : 0;
}

/// Neighbours along `dim` are neighbours in the buffer within each block of so many; 0: everywhere; nothing: nowhere.
static std::optional<int64_t> runAlong(AffineMap map, unsigned dim) {
  if (map.getNumResults() == 0) // a buffer of one element
    return std::nullopt;
  int64_t block = 0;
  for (AffineExpr expr : map.getResults())
    block = std::gcd(block, blockOf(expr, dim));
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (stepWithin(expr, dim, block) != (i + 1 == map.getNumResults() ? 1 : 0))
      return std::nullopt;
  return block;
}

/// Calls `visit` for `value` and everything that it is computed from, each once, operands in order. Where `visit` says
/// no, the walk does not go on to the operands.
static void walkUp(Value value, llvm::function_ref<bool(Value)> visit) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> waiting = {value};
  while (!waiting.empty()) {
    Value next = waiting.pop_back_val();
    if (!seen.insert(next).second || !visit(next))
      continue;
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(waiting, llvm::reverse(op->getOperands()));
  }
}

/// What the load `value` says; 0: it does not vary along its rows.
static std::optional<int64_t> runOfLoad(tile::LoadOp load, bool masks) {
  unsigned last = load.getResult().getType().getRank() - 1;
  if (!load.getMap().isFunctionOfDim(last))
    return 0;
  std::optional<int64_t> run = runAlong(load.getMap(), last);
  bool canMask = masks || load.getResult().getType().getElementType().getIntOrFloatBitWidth() >= 32;
  return load.getIndices().empty() && canMask && run && *run ? run : std::nullopt;
}

/// The run that all loads below `value` agree on. 0: none of them varies along its rows.
static std::optional<int64_t> runBelow(Value value, bool masks) {
  std::optional<int64_t> result = 0;
  walkUp(value, [&](Value next) {
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

static constexpr int64_t leastRun = 3, longestRun = 16; // in one vector, most lanes of it
static constexpr int64_t leastRowsOfHeld = 4;           // that read a row which is gathered for all of them

int64_t runOfRow(Value value, bool masks) {
  int64_t run = runBelow(value, masks).value_or(0);
  return run >= leastRun && run <= longestRun ? run : 0;
}

unsigned widestStore(tile::StoreOp store, unsigned widest, unsigned narrow) {
  int64_t run = runAlong(store.getMap(), cast<RankedTensorType>(store.getValue().getType()).getRank() - 1).value_or(0);
  unsigned within = std::gcd(static_cast<unsigned>(run), widest);
  return within >= narrow ? within : widest;
}

bool isGatheredOnce(tile::LoadOp load) {
  RankedTensorType type = load.getResult().getType();
  unsigned last = type.getRank() - 1;
  if (type.getNumElements() != type.getShape().back() || type.getShape().back() == 1 || !load.getIndices().empty() ||
      !load.getMap().isFunctionOfDim(last) || runAlong(load.getMap(), last) == 0)
    return false;
  return llvm::any_of(load->getUsers(), [&](Operation *user) {
    auto broadcast = dyn_cast<tile::BroadcastOp>(user);
    return broadcast && broadcast.getResult().getType().getNumElements() >= leastRowsOfHeld * type.getNumElements();
  });
}

bool storesAcross(tile::StoreOp store, unsigned lanes) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  if (type.getRank() < 2 || type.getDimSize(type.getRank() - 2) < lanes || type.getShape().back() < lanes)
    return false;
  AffineMap map = store.getMap();
  std::optional<int64_t> run = runAlong(map, type.getRank() - 2);
  return run && *run % lanes == 0 && !map.getResults().back().isFunctionOfDim(type.getRank() - 1) &&
         !isa<BlockArgument>(store.getValue());
}

bool loadsAcross(Value value, unsigned lanes) {
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
  AffineMap map = load.getMap();
  unsigned row = type.getRank() - 2, column = type.getRank() - 1;
  std::optional<int64_t> run = runAlong(map, row);
  return run && *run % lanes == 0 && map.isFunctionOfDim(column) && !map.getResults().back().isFunctionOfDim(column);
}

void collectLoadsAcross(Value value, unsigned lanes, SmallVectorImpl<Value> &result) {
  walkUp(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (isa_and_nonnull<tile::LoadOp>(op) && loadsAcross(next, lanes) && !llvm::is_contained(result, next))
      result.push_back(next);
    return op && isElementwise(op);
  });
}

//===- Turns ------------------------------------------------------------------------------------------------------===//

static constexpr int64_t mostTurns = 8, mostOperations = 12, mostTaps = 32; // of what is unrolled

bool isUnrolled(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         to = getConstantIntValue(loop.getUpperBound()), step = getConstantIntValue(loop.getStep());
  return from && to && step && (*to - *from) <= mostTurns * *step &&
         loop.getBody()->getOperations().size() <= mostOperations &&
         llvm::none_of(*loop.getBody(), [](Operation &op) { return isHeavy(&op); });
}

bool hasFewTaps(Value lhs) {
  auto load = lhs.getDefiningOp<tile::LoadOp>();
  if (!load || load.getGuard().empty() || !load.getIndices().empty())
    return false;
  auto type = load.getResult().getType();
  unsigned row = type.getRank() - 2;
  int64_t block = 0;
  for (AffineExpr expr : load.getMap().getResults())
    block = std::gcd(block, blockOf(expr, row));
  auto taps = dyn_cast<AffineConstantExpr>(load.getBounds().getResults().back()); // all of them, so that none is dead
  return type.getElementType().isF32() && taps && taps.getValue() == type.getShape().back() &&
         taps.getValue() <= mostTaps && (block == 0 || block == type.getDimSize(row));
}

void collectGuarded(Value value, llvm::function_ref<bool(Value)> isHeld, SmallVectorImpl<tile::LoadOp> &result) {
  walkUp(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (!op || isHeld(next))
      return false;
    op->walk([&](tile::LoadOp load) {
      if (!load.getGuard().empty() && !isHeld(load.getResult()) && !llvm::is_contained(result, load))
        result.push_back(load);
    });
    return true;
  });
}

/// The load of shape `type` that `value` is a cast or a multiple of, if its fill makes `value` the fill.
static tile::LoadOp loadOfTerm(Value value, Type type, bool isSum) {
  tile::LoadOp found;
  walkUp(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (auto load = dyn_cast_or_null<tile::LoadOp>(op); load && !found)
      if (load.getFillAttr() && !load.getGuard().empty() && load.getIndices().empty() &&
          cast<RankedTensorType>(load.getResult().getType()).getShape() == cast<RankedTensorType>(type).getShape())
        found = load;
    return !found && op && (isa<arith::ExtFOp>(op) || (isSum && isa<arith::MulFOp>(op)));
  });
  return found;
}

/// Whether `combine` leaves its other operand as it is where one is the fill of `load`.
static bool isIdentity(Operation *combine, tile::LoadOp load) {
  auto fill = dyn_cast<FloatAttr>(load.getFillAttr());
  if (!fill)
    return false;
  if (isa<arith::AddFOp>(combine))
    return fill.getValue().isZero();
  return fill.getValue().isInfinity() &&
         (isa<arith::MaximumFOp>(combine) ? fill.getValue().isNegative()
                                          : isa<arith::MinimumFOp>(combine) && !fill.getValue().isNegative());
}

tile::LoadOp loadOfTurn(scf::ForOp loop, unsigned i) {
  Value yielded = loop.getBody()->getTerminator()->getOperand(i), carried = loop.getRegionIterArg(i);
  Operation *op = yielded.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return nullptr;
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    unsigned j = cast<OpResult>(yielded).getResultNumber();
    return inner.getInitArgs()[j] == carried ? loadOfTurn(inner, j) : nullptr;
  }
  if (op->getNumOperands() == 2)
    for (unsigned side : {0, 1})
      if (op->getOperand(side) == carried)
        if (tile::LoadOp load = loadOfTerm(op->getOperand(1 - side), carried.getType(), isa<arith::AddFOp>(op));
            load && isIdentity(op, load))
          return load;
  return nullptr;
}

//===- Sharing ----------------------------------------------------------------------------------------------------===//

static constexpr unsigned costlyFrom = 8; // instructions that are dearer than a store and a load of the workspace

/// Whether an element of `value` costs as much as that, counted no further than needed.
static bool isCostly(Value value) {
  unsigned cost = 0;
  walkUp(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (!op || cost >= costlyFrom || !(isa<tile::BroadcastOp>(op) || isElementwise(op)))
      return false;
    cost += isa<tile::BroadcastOp>(op) ? 0 : elementwiseCost(op);
    return true;
  });
  return cost >= costlyFrom;
}

/// What computes in a loop of its own where it stands in a block.
static bool startsLoops(Operation *op) { return isa<tile::ReduceOp, tile::DotOp, scf::ForOp>(op); }

SharedValues::SharedValues(Block &block) : block(block) {
  if (llvm::none_of(block, [](Operation &op) { return startsLoops(&op); }))
    return; // everything runs in the loops of the stores
  for (Operation &op : llvm::reverse(block))
    for (Value result : op.getResults())
      consumers[result] = consumersOf(result);
}

unsigned SharedValues::numberOf(const void *consumer) {
  return numbers.try_emplace(consumer, numbers.size()).first->second;
}

/// The loops in which `value` will be computed, by what starts them: a reduction, a dot, a nested loop; all stores of
/// the block are one. Whatever else reads it comes later in the block, so its own consumers are known.
llvm::SmallBitVector SharedValues::consumersOf(Value value) {
  llvm::SmallBitVector result;
  auto add = [&](const void *consumer) {
    unsigned number = numberOf(consumer);
    result.resize(std::max<unsigned>(result.size(), number + 1));
    result.set(number);
  };
  for (Operation *user : value.getUsers()) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (isa<tile::StoreOp>(here) || here->hasTrait<OpTrait::IsTerminator>()) {
      add(&block);
    } else if (startsLoops(here)) {
      add(here);
      if (isa<scf::ForOp>(here) && user != here)
        add(&here->getRegion(0)); // computed again in every turn
    } else {
      result |= consumers.lookup(here->getResult(0));
    }
  }
  return result;
}

bool SharedValues::isSharedAndCostly(Value value) const {
  Operation *op = value.getDefiningOp();
  auto found = consumers.find(value);
  if (found == consumers.end() || !isElementwise(op) || found->second.count() < 2 || !isCostly(value))
    return false;
  // Only where paths part: if one user is needed in as many loops, that one is held instead.
  return llvm::none_of(value.getUsers(), [&](Operation *user) {
    return user->getBlock() == &block && isElementwise(user) &&
           consumers.lookup(user->getResult(0)).count() == found->second.count();
  });
}

/// Whether a heavy value is read by elementwise operations only, all of which end in stores of `block`.
static bool endsInStores(Value heavy, Block *block) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> waiting = {heavy};
  bool stored = false;
  while (!waiting.empty())
    for (Operation *user : waiting.pop_back_val().getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      if (isa<tile::StoreOp>(here) || here->hasTrait<OpTrait::IsTerminator>())
        stored = true;
      else if (!isElementwise(here))
        return false;
      else if (seen.insert(here).second)
        waiting.push_back(here->getResult(0));
    }
  return stored;
}

bool feedsOneStore(Value heavy) {
  Block *block = heavy.getParentBlock();
  Value value = heavy;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (user->getBlock() != block)
      return false;
    if (isa<tile::StoreOp>(user) || (isa<scf::YieldOp>(user) && isa<RankedTensorType>(value.getType())))
      return true;
    if (!isElementwise(user))
      return false;
    value = user->getResult(0);
  }
  // Several uses by operations that all end in stores are one group as well.
  return !isa<scf::ForOp>(block->getParentOp()) && endsInStores(heavy, block);
}

void collectHeavy(Value value, llvm::function_ref<bool(Value)> isHeld, SmallVectorImpl<Value> &result) {
  walkUp(value, [&](Value next) {
    Operation *op = next.getDefiningOp();
    if (!op || isHeld(next))
      return false;
    if (isHeavy(op) && !llvm::is_contained(result, next))
      result.push_back(next);
    return !isHeavy(op) && isElementwise(op);
  });
}

} // namespace tilewright::host
