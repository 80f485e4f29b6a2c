// SPDX-License-Identifier: Apache-2.0
// One walk over a block decides for each operation, in order: stores join the open nest; what several nests or register
// tiles would compute again is buffered by a nest of its own; loops that store become sequences of steps.
#include "backend/host/plan/PlanKernel.h"

#include "backend/host/plan/AccessOrder.h"
#include "backend/host/plan/CarriedTiles.h"
#include "backend/host/plan/DotOperands.h"
#include "backend/host/plan/RegisterBlocked.h"
#include "backend/host/plan/RepeatedTiles.h"
#include "backend/host/plan/SharedValues.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {
namespace {

class Planner {
public:
  Planner(tile::KernelOp kernel, const VectorUnit &vectors);
  Expected<KernelPlan> run();

private:
  void planBlock(Block &block, Steps &steps);
  void planLoop(scf::ForOp op, Steps &steps);
  void planUpdates(MemoryLoop &loop);
  bool staysInRegisters(scf::ForOp loop);

  void addStore(tile::StoreOp store, Nest &open, Steps &steps);
  void addTransposedStore(tile::StoreOp store, Nest &open, Steps &steps);
  void buffer(Value value, int64_t panel, Nest &open, Steps &steps, tile::StoreOp onlyReader = {});
  void bufferOperands(tile::DotOp dot, Nest &open, Steps &steps);
  void bufferForLoops(Operation &op, Nest &open, Steps &steps);
  void bufferResults(Operation &op, const SharedValues &shared, Nest &open, Steps &steps);
  void fillBuffer(Value value, const Buffer &target, Steps &steps);
  Value overwrittenBy(Value value);
  Buffer allocate(RankedTensorType type, int64_t panel);

  void close(Nest &open, Steps &steps);
  void finish(Nest &nest);
  void turnColumns(Steps &steps);
  unsigned laneAxisOf(const Nest &nest);
  tile::StoreOp storeLimiting(unsigned axis, int64_t size);
  bool isBuffered(Value value) const { return buffered.count(value); }
  bool followsBuffered(Value value);
  void fail(Operation *op, const Twine &reason);

  tile::KernelOp kernel;
  const VectorUnit &vectors;
  KernelPlan plan;
  int64_t registerDepth = 0;             // sums are kept in memory between steps of k of at most this size
  llvm::DenseSet<Value> contracted;      // tiles whose rows a dot sums over
  llvm::DenseSet<Value> buffered;        // so far
  llvm::DenseMap<Value, Buffer> buffers; // of values that are read from memory by later nests
  Status status;
};

} // namespace

/// Whether `op` contains a store, which must be executed exactly once.
static bool hasEffects(Operation *op) {
  return op->walk([](tile::StoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Adds everything that a right side of a dot is computed from. Rows of these tiles are the contracted dimension, not
/// rows of a result.
static void collectContracted(Value value, llvm::DenseSet<Value> &result) {
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || !result.insert(value).second || !op)
    return;
  for (Value operand : op->getOperands())
    collectContracted(operand, result);
}

/// The axes (a bit for each) along which some tile.reduce combines elements or a dot sums. Along these, elements
/// outside of the bounds must read as the load's fill.
static uint32_t axesCombinedIn(tile::KernelOp kernel) {
  uint32_t result = 0;
  kernel.walk([&](tile::ReduceOp reduce) {
    result |= 1u << (cast<RankedTensorType>(reduce.getInput().getType()).getRank() - 1 - reduce.getDim());
  });
  kernel.walk([&](tile::DotOp) { result |= 1; }); // columns of its left side
  return result;
}

Planner::Planner(tile::KernelOp kernel, const VectorUnit &vectors) : kernel(kernel), vectors(vectors) {
  plan.dots.registerRows = vectors.masks ? 6 : 4;
  plan.registerColumns = vectors.masks ? vectors.wide : 2 * vectors.narrow;
  if (tile::ScheduleAttr schedule = kernel.getScheduleAttr()) {
    plan.dots.readsInPlace = schedule.getInPlace();
    plan.dots.matrix = schedule.getMatrix();
    if (ArrayRef<int64_t> registers = schedule.getRegisters(); registers.size() >= 2) {
      plan.dots.registerRows = registers[0];
      plan.registerColumns = registers[1];
      registerDepth = registers.size() > 2 ? registers[2] : 0;
    }
  }
  plan.clampableAxes = ~axesCombinedIn(kernel);
  plan.keys = LiveKeys(kernel);
  kernel.walk([&](tile::DotOp dot) { collectContracted(dot.getRhs(), contracted); });
}

void Planner::fail(Operation *op, const Twine &reason) {
  if (status.ok())
    status = Status(Code::Unsupported, (Twine("kernel '") + kernel.getSymName() + "': the host backend cannot emit '" +
                                        op->getName().getStringRef() + "': " + reason)
                                           .str());
}

//===- Buffers ----------------------------------------------------------------------------------------------------===//

Buffer Planner::allocate(RankedTensorType type, int64_t panel) {
  Buffer result;
  result.shape.assign(type.getShape().begin(), type.getShape().end());
  if (result.shape.empty())
    result.shape = {1};
  // Whole register tiles and whole vectors may be read and written at the end of a row, or of a single column.
  int64_t columns = result.shape.back();
  result.rowStride =
      columns == 1 ? 1 : llvm::alignTo(llvm::alignTo(columns, plan.registerColumns), panel ? panel : vectors.wide);
  result.panel = panel;
  int64_t elements = result.rowStride;
  for (int64_t size : ArrayRef(result.shape).drop_back())
    elements *= size;
  if (columns == 1 && elements > 1)
    elements += vectors.narrow;
  result.offset = plan.workspaceBytes;
  Type element = type.getElementType();
  uint64_t bytes = (element.isIndex() ? 64 : element.getIntOrFloatBitWidth()) / 8;
  plan.workspaceBytes += llvm::alignTo(elements * std::max<uint64_t>(bytes, 4), 64);
  return result;
}

/// Whether `value` is of a half type and read by dots alone: then it is converted to f32 when it is buffered, not in
/// the inner loop.
static bool isBufferedAsFloat(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return (element.isF16() || element.isBF16()) && llvm::all_of(value.getUsers(), llvm::IsaPred<tile::DotOp>);
}

/// A buffered product whose buffer `value` may overwrite: `value` reads it element by element, and nothing behind
/// `value` reads it. Null if there is none.
Value Planner::overwrittenBy(Value value) {
  Operation *op = value.getDefiningOp();
  SmallVector<Value> products;
  collectBuffered(value, [&](Value other) { return isBuffered(other); }, products);
  for (Value product : products) {
    auto *dot = product.getDefiningOp();
    if (!isa_and_nonnull<tile::DotOp>(dot) || dot->getBlock() != op->getBlock() || product.getType() != value.getType())
      continue;
    bool isReadLater = false;
    for (Operation &later : llvm::make_range(std::next(op->getIterator()), op->getBlock()->end()))
      later.walk([&](Operation *reader) {
        for (Value operand : reader->getOperands()) {
          SmallVector<Value> read = {operand};
          if (operand != value && !isBuffered(operand))
            collectBuffered(operand, [&](Value other) { return other == value || isBuffered(other); }, read);
          isReadLater |= llvm::is_contained(read, product);
        }
      });
    if (!isReadLater)
      return product;
  }
  return {};
}

/// Adds a nest that buffers `value`, unless it is buffered already. If `onlyReader` is set, columns that this store
/// does not store stay undefined.
void Planner::buffer(Value value, int64_t panel, Nest &open, Steps &steps, tile::StoreOp onlyReader) {
  if (isBuffered(value))
    return;
  Nest nest;
  Value before = panel == 0 ? overwrittenBy(value) : Value();
  Buffer target = before ? buffers.at(before) : allocate(cast<RankedTensorType>(value.getType()), panel);
  target.asFloat = isBufferedAsFloat(value);
  close(open, steps);
  nest.shape = target.shape;
  nest.roots.push_back({nullptr, value, target});
  nest.isBuffered = true;
  nest.onlyReader = onlyReader;
  if (loadsTransposed(value, vectors.narrow))
    nest.order = Nest::Order::TransposedLoad;
  if (contracted.count(value) && &steps == &plan.steps) { // a loop may run no iteration in the program before
    SmallVector<Value> decisive = {value};
    if (plan.keys.axisOf(value))
      decisive.push_back(plan.keys.firstLessCount());
    nest.keptFor = indicesIfRepeated(decisive);
  }
  close(nest, steps);
  buffered.insert(value);
  buffers[value] = target;
}

/// Buffers the operands that a dot would otherwise gather, convert or compute again for every register tile. Right
/// sides are packed into panels.
void Planner::bufferOperands(tile::DotOp dot, Nest &open, Steps &steps) {
  auto type = cast<RankedTensorType>(dot.getResult().getType());
  int64_t rows = type.getDimSize(type.getRank() - 2), columns = type.getShape().back();
  if (!isDirectOperand(dot.getLhs(), true, rows, plan.dots))
    buffer(dot.getLhs(), 0, open, steps);
  if (!isDirectOperand(dot.getRhs(), false, rows, plan.dots))
    buffer(dot.getRhs(), columns >= plan.registerColumns ? plan.registerColumns : 0, open, steps);
}

/// Buffers results of `op` that are the left side of a dot in a later loop, once for all iterations.
void Planner::bufferForLoops(Operation &op, Nest &open, Steps &steps) {
  for (Value result : op.getResults())
    for (Operation *user : result.getUsers())
      if (auto dot = dyn_cast<tile::DotOp>(user); dot && dot.getLhs() == result && dot->getBlock() != op.getBlock()) {
        auto type = cast<RankedTensorType>(dot.getResult().getType());
        if (!isDirectOperand(result, true, type.getDimSize(type.getRank() - 2), plan.dots))
          buffer(result, 0, open, steps);
      }
}

/// Whether there are several stores and one of them, of a value computed from `blocked`, would scatter its rows. That
/// store then runs by square blocks in a nest of its own, so `blocked` must be buffered.
static bool feedsTransposedCopy(Value blocked, unsigned lanes) {
  SmallVector<tile::StoreOp> stores(blocked.getParentBlock()->getOps<tile::StoreOp>());
  return stores.size() > 1 && llvm::any_of(stores, [&](tile::StoreOp store) {
           SmallVector<Value> sources;
           collectRegisterBlocked(store.getValue(), [](Value) { return false; }, sources);
           return llvm::is_contained(sources, blocked) && storesTransposed(store, lanes);
         });
}

/// Buffers the results of `op` that more than one nest needs.
void Planner::bufferResults(Operation &op, const SharedValues &shared, Nest &open, Steps &steps) {
  for (Value result : op.getResults())
    if (isa<RankedTensorType>(result.getType()) && !result.use_empty() &&
        (isa<tile::ReduceOp>(op) ||
         (isRegisterBlocked(&op) && (!feedsOneStore(result) || feedsTransposedCopy(result, vectors.narrow))) ||
         shared.isSharedAndCostly(result)))
      buffer(result, 0, open, steps);
}

/// Adds a nest that computes `value` into `target`. Unlike `buffer`, it does not make that the buffer in which later
/// nests find the value.
void Planner::fillBuffer(Value value, const Buffer &target, Steps &steps) {
  Nest nest;
  nest.shape = target.shape;
  nest.roots.push_back({nullptr, value, target});
  close(nest, steps);
}

//===- Nests ------------------------------------------------------------------------------------------------------===//

/// Adds a store to the open nest, if that has the same loops; else the nest is closed and another one opened.
void Planner::addStore(tile::StoreOp store, Nest &open, Steps &steps) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  if (!open.roots.empty()) {
    tile::StoreOp first = open.roots.front().store;
    bool sameLoops = first && ArrayRef(open.shape) == type.getShape() && first.getOffsets() == store.getOffsets() &&
                     first.getBounds() == store.getBounds();
    if (!sameLoops)
      close(open, steps);
  }
  open.shape.assign(type.getShape().begin(), type.getShape().end());
  open.roots.push_back({store, nullptr, {}});
}

/// Whether `value` is computed elementwise from a buffered product, so that it is cheap to compute again.
bool Planner::followsBuffered(Value value) {
  SmallVector<Value> blocked, kept = {value};
  auto isKept = [&](Value other) { return isBuffered(other); };
  collectRegisterBlocked(value, isKept, blocked);
  collectBuffered(value, isKept, kept);
  return blocked.empty() &&
         llvm::any_of(kept, [&](Value other) { return isKept(other) && isRegisterBlocked(other.getDefiningOp()); });
}

/// Adds a store whose rows would be scattered, as a nest of square blocks. Its value is buffered first unless it is
/// cheap to compute by such blocks.
void Planner::addTransposedStore(tile::StoreOp store, Nest &open, Steps &steps) {
  Value value = store.getValue();
  SmallVector<Value> blocked;
  collectRegisterBlocked(value, [&](Value other) { return isBuffered(other); }, blocked);
  if (!blocked.empty())
    buffer(value, 0, open, steps, value.hasOneUse() ? store : tile::StoreOp());
  close(open, steps);
  Nest nest;
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  nest.shape.assign(shape.begin(), shape.end());
  nest.roots.push_back({store, nullptr, {}});
  nest.order = Nest::Order::TransposedStore;
  close(nest, steps);
}

/// Ends the open nest: the next store begins another one.
void Planner::close(Nest &open, Steps &steps) {
  if (open.roots.empty())
    return;
  Nest nest = std::move(open);
  open = {};
  finish(nest);
  steps.push_back(std::move(nest));
}

/// Fills the fields of `nest` that follow from its roots: what ends its loops, and which values it computes by register
/// tiles or reads by columns.
void Planner::finish(Nest &nest) {
  if (nest.shape.empty())
    nest.shape = {1};
  const Nest::Root &first = nest.roots.front();
  if (first.value)
    nest.keysAxis = plan.keys.axisOf(first.value);
  for (unsigned axis = 0, rank = nest.shape.size(); axis < rank; ++axis) {
    nest.limits.push_back(first.store || axis > 0 ? first.store : nest.onlyReader);
    if (!first.store && !nest.limits.back() && !contracted.count(first.value))
      nest.limits.back() = storeLimiting(axis, nest.shape[rank - 1 - axis]);
  }
  if (!first.store && !nest.onlyReader) // readers read whole vectors and register tiles of a buffer
    nest.columnUnit = std::lcm<int64_t>(vectors.wide, plan.registerColumns);
  auto isKept = [&](Value value) { return isBuffered(value); };
  for (Nest::Root &root : nest.roots)
    collectRegisterBlocked(root.store ? root.store.getValue() : root.value, isKept, nest.registerBlocked);
  for (Value value : nest.registerBlocked)
    collectGuarded(value, isKept, nest.guarded);
  llvm::erase_if(nest.guarded, isWindowOfRuns);
  llvm::copy_if(nest.guarded, std::back_inserter(nest.windows), [&](tile::LoadOp load) {
    return load.getResult().getType().getRank() >= 2 && !contracted.count(load.getResult());
  });
  if (nest.registerBlocked.empty())
    for (Nest::Root &root : nest.roots)
      if (root.store)
        collectTransposedLoads(root.store.getValue(), vectors.narrow, nest.transposedLoads);
  if (llvm::any_of(nest.transposedLoads, isKept))
    nest.transposedLoads.clear();
}

/// A store whose bounds along `axis` may end loops of that size in every nest, because elements beyond them are never
/// used. Null if something is combined along the axis, or the kernel's stores differ in their bounds there.
tile::StoreOp Planner::storeLimiting(unsigned axis, int64_t size) {
  tile::StoreOp result;
  if (!(plan.clampableAxes >> axis & 1))
    return nullptr;
  bool agree = true;
  kernel.walk([&](tile::StoreOp store) {
    auto type = cast<RankedTensorType>(store.getValue().getType());
    unsigned dim = type.getRank() - 1 - axis;
    if (axis >= type.getRank() || type.getDimSize(dim) != size) {
      agree = false;
      return;
    }
    Value offset = store.getOffsets()[dim];
    // The offset must not be the index of a loop that begins behind the nest.
    agree &= offset.getParentBlock() == &kernel.getBody().front();
    if (!result)
      result = store;
    unsigned resultDim = result.getOffsets().size() - 1 - axis;
    agree &= result.getOffsets()[resultDim] == offset &&
             result.getBounds().getResult(resultDim) == store.getBounds().getResult(dim);
  });
  return agree ? result : nullptr;
}

/// The axis along which vectors of `nest` lie: 0, the columns; another one if there is only one column and all roots
/// allow it.
unsigned Planner::laneAxisOf(const Nest &nest) {
  const Nest::Root &first = nest.roots.front();
  unsigned axis = host::laneAxisOf(first.store ? tile::StoreOp(first.store).getValue() : first.value);
  auto fits = [&](const Nest::Root &root) {
    if (tile::StoreOp store = root.store)
      return storesAlong(store, axis, vectors.narrow);
    auto reduce = root.value.getDefiningOp<tile::ReduceOp>();
    // Elements that are reduced over an axis inside of this one are not neighbours along it.
    return !reduce || nest.shape.size() - 1 - reduce.getDim() > axis;
  };
  return nest.order == Nest::Order::Rows && nest.registerBlocked.empty() && llvm::all_of(nest.roots, fits) ? axis : 0;
}

/// Lets the last nests of a block with one column have their vectors along another axis. Nests before them keep axis 0,
/// because they run row by row together with those that follow, so that a row stays in the cache.
void Planner::turnColumns(Steps &steps) {
  for (Step &step : llvm::reverse(steps)) {
    auto *nest = std::get_if<Nest>(&step);
    if (!nest)
      return;
    nest->laneAxis = laneAxisOf(*nest);
    if (nest->laneAxis == 0)
      return;
  }
}

//===- Blocks -----------------------------------------------------------------------------------------------------===//

/// Whether a loop runs for one register tile at a time, with its carried tiles in registers.
bool Planner::staysInRegisters(scf::ForOp loop) {
  bool returnsToMemory = getConstantIntValue(loop.getStep()).value_or(0) <= registerDepth;
  return !returnsToMemory && !hasEffects(loop) && loop.getNumResults() > 0 && isPositionwise(loop) &&
         hasDirectOperands(loop, plan.dots);
}

void Planner::planBlock(Block &block, Steps &steps) {
  Nest open;
  SharedValues shared(block);
  for (Operation &op : block.without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      if (storesTransposed(store, vectors.narrow) &&
          (llvm::hasSingleElement(block.getOps<tile::StoreOp>()) || followsBuffered(store.getValue())))
        addTransposedStore(store, open, steps);
      else
        addStore(store, open, steps);
    } else if (op.getNumResults() == 0 && !loop) {
      fail(&op, "it is not an operation of tile kernels");
    } else if (loop && !staysInRegisters(loop)) {
      close(open, steps);
      planLoop(loop, steps);
    } else {
      if (auto dot = dyn_cast<tile::DotOp>(op))
        bufferOperands(dot, open, steps);
      if (auto load = dyn_cast<tile::LoadOp>(op); load && isGatheredOnce(load))
        buffer(load.getResult(), 0, open, steps);
      bufferForLoops(op, open, steps);
      bufferResults(op, shared, open, steps);
    }
  }
  close(open, steps);
  turnColumns(steps);
}

void Planner::planLoop(scf::ForOp op, Steps &steps) {
  std::optional<int64_t> step = getConstantIntValue(op.getStep());
  if (!step)
    return fail(op, "expected a constant step");
  auto loop = std::make_unique<MemoryLoop>();
  loop->op = op;
  loop->step = *step;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    auto type = dyn_cast<RankedTensorType>(op.getResult(i).getType());
    if (!type)
      return fail(op, "expected carried values to be tiles");
    loop->current.push_back(allocate(type, 0));
    loop->next.push_back(updatesInPlace(op, i) ? loop->current.back() : allocate(type, 0));
    fillBuffer(op.getInitArgs()[i], loop->current.back(), loop->initial);
  }
  buffered.insert(op.getRegionIterArgs().begin(), op.getRegionIterArgs().end());
  planBlock(*op.getBody(), loop->body);
  planUpdates(*loop);
  buffered.insert(op.getResults().begin(), op.getResults().end());
  steps.push_back(std::move(loop));
}

/// Adds the nests that end an iteration. They compute the yielded tiles into `next`, which is `current` for tiles that
/// are updated in place, and then the others from `next` into `current`. Nothing else reads a tile that is updated in
/// place (updatesInPlace).
void Planner::planUpdates(MemoryLoop &loop) {
  scf::ForOp op = loop.op;
  auto yielded = op.getBody()->getTerminator()->getOperands();
  auto isInPlace = [&](unsigned i) { return loop.next[i].offset == loop.current[i].offset; };
  for (bool inPlace : {false, true})
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      if (isInPlace(i) == inPlace && yielded[i] != op.getRegionIterArg(i))
        fillBuffer(yielded[i], loop.next[i], loop.update);
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    if (!isInPlace(i) && yielded[i] != op.getRegionIterArg(i)) {
      buffered.insert(op.getResult(i));
      fillBuffer(op.getResult(i), loop.current[i], loop.update);
    }
}

Expected<KernelPlan> Planner::run() {
  planBlock(kernel.getBody().front(), plan.steps);
  if (!status.ok())
    return status;
  return std::move(plan);
}

Expected<KernelPlan> planKernel(tile::KernelOp kernel, const VectorUnit &vectors) {
  return Planner(kernel, vectors).run();
}

} // namespace tilewright::host
