// One program of a kernel, in order: what is held is computed into the workspace, stores are grouped into loop nests,
// loops with effects run.
//
//   matmul + epilogue:   for columns by 64 { for rows by 6 { registers = dot; scratch = registers; for row { y[row] =
//   epilogue(scratch[row]) } } } softmax:             for row { max[row] = ... }  for row { e[row] = exp(x - max) }  for row { sum[row] }
//   for row { y[row] = e / sum }
#include "backend/host/Elementwise.h"
#include "backend/host/Emitter.h"
#include "backend/host/plan/AccessOrder.h"
#include "backend/host/plan/CarriedTiles.h"
#include "backend/host/plan/DotOperands.h"
#include "backend/host/plan/RegisterBlocked.h"
#include "backend/host/plan/SharedValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/IR/Module.h"

#include <numeric>

using namespace mlir;

namespace tilewright::host {

Emitter::Emitter(llvm::Module &module, tile::KernelOp kernel, const HostOptions &options)
    : module(module), context(module.getContext()), ir(context), math(ir), kernel(kernel), options(options),
      wide(options.vectorBits / 8), narrow(options.vectorBits / 32), masks(options.vectorBits >= 512) {
  math.onClose = [this](unsigned depth) {
    if (depth >= pulledAtDepth.size())
      return;
    for (const PositionKey &key : pulledAtDepth[depth])
      pulled.erase(key);
    pulledAtDepth[depth].clear();
  };
  registerRows = masks ? 6 : 4;
  registerColumns = masks ? wide : 2 * narrow;
  if (auto schedule = kernel->getAttrOfType<tile::ScheduleAttr>("schedule"))
    if (ArrayRef<int64_t> registers = schedule.getRegisters(); registers.size() >= 2) {
      registerRows = registers[0];
      registerColumns = registers[1];
      registerDepth = registers.size() > 2 ? registers[2] : 0;
    }
}

/// Holds a store or another effect that must happen exactly once.
static bool hasEffects(Operation *op) {
  return op->walk([](tile::StoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static constexpr int64_t mostRuns = 32; // of a row that is read run by run

//===- Memory for held tiles --------------------------------------------------------------------------------------===//

Held Emitter::allocate(RankedTensorType type, int64_t panel) {
  Held result;
  result.shape.assign(type.getShape().begin(), type.getShape().end());
  if (result.shape.empty())
    result.shape = {1};
  // Whole register tiles and whole vectors may be read and written at the end of a row.
  int64_t columns = result.shape.back();
  result.rowStride = columns == 1 ? 1 : llvm::alignTo(llvm::alignTo(columns, registerColumns), panel ? panel : wide);
  result.panel = panel;
  int64_t elements = result.rowStride;
  for (int64_t size : ArrayRef(result.shape).drop_back())
    elements *= size;
  result.base = math.pointer(ir.getInt8Ty(), workspaceBase, math.constant(workspace));
  uint64_t bytes = std::max<uint64_t>(1, elementType(context, type)->getPrimitiveSizeInBits() / 8);
  workspace += llvm::alignTo(elements * std::max<uint64_t>(bytes, 4), 64);
  return result;
}

/// Adds `value` to what is computed into the workspace, unless it is there. True if it was added.
bool Emitter::hold(Group &group, Value value, int64_t panel) {
  if (held.count(value))
    return false;
  Group alone;
  Held target = allocate(cast<RankedTensorType>(value.getType()), panel);
  if (panel != 0 || value.getUses().empty() || isa<tile::DotOp>(*value.user_begin()))
    if (typeOf(value)->isHalfTy() || typeOf(value)->isBFloatTy())
      if (llvm::all_of(value.getUsers(), [](Operation *user) { return isa<tile::DotOp>(user); }))
        target.element = ir.getFloatTy(); // converted once, not in the inner loop
  emitGroup(group);
  alone.shape = target.shape;
  alone.roots.push_back({nullptr, value, target});
  if (loadsTransposed(value, narrow))
    emitLoadAcross(alone);
  else
    emitGroup(alone);
  setHeld(value, target);
  return true;
}

void Emitter::setHeld(Value value, Held target) {
  held[value] = std::move(target);
  uniform.clear();
}

void Emitter::dropHeld(Value value) {
  held.erase(value);
  uniform.clear();
}

/// Holds what a dot would otherwise compute again for every register tile: packed, gathered or converted once.
void Emitter::holdOperands(Group &group, tile::DotOp dot) {
  auto type = cast<RankedTensorType>(dot.getResult().getType());
  int64_t rows = type.getDimSize(type.getRank() - 2), columns = type.getShape().back();
  if (!held.count(dot.getLhs()) && !isDirectOperand(dot.getLhs(), true, rows, registerRows))
    hold(group, dot.getLhs());
  if (!held.count(dot.getRhs()) && !isDirectOperand(dot.getRhs(), false, rows, registerRows))
    hold(group, dot.getRhs(), columns >= registerColumns ? registerColumns : 0);
}

//===- Loop nests -------------------------------------------------------------------------------------------------===//

/// Stores of the same elements run in the same loops.
void Emitter::addStore(Group &group, tile::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  if (!group.roots.empty()) {
    tile::StoreOp first = group.roots.front().store;
    bool sameLoops = first && ArrayRef(group.shape) == type.getShape() && first.getOffsets() == store.getOffsets() &&
                     first.getBounds() == store.getBounds();
    if (!sameLoops)
      emitGroup(group);
  }
  group.shape.assign(type.getShape().begin(), type.getShape().end());
  group.roots.push_back({store, nullptr, {}});
}

/// A store whose bounds along `axis` hold for every tile of that size: if nothing is combined along the axis and all
/// stores agree, nobody sees what lies beyond.
tile::StoreOp Emitter::storeLimiting(unsigned axis, int64_t size) {
  tile::StoreOp result;
  if (!(parallelAxes >> axis & 1))
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
    agree &= offset.getParentBlock() == &kernel.getBody().front(); // not the index of a loop that may not have begun
    if (!result)
      result = store;
    unsigned resultDim = result.getOffsets().size() - 1 - axis;
    agree &= result.getOffsets()[resultDim] == offset &&
             result.getBounds().getResult(resultDim) == store.getBounds().getResult(dim);
  });
  return agree ? result : nullptr;
}

/// How far the loops of `group` go, what is known inside, and what it needs register tiles for.
void Emitter::prepare(Group &group) {
  if (group.shape.empty())
    group.shape = {1};
  unsigned rank = group.shape.size();
  tile::StoreOp store = group.roots.front().store;
  Position &position = group.position;
  position.outer.resize(rank < 2 ? 0 : rank - 2, math.constant(0));
  position.rows = {math.constant(0)};
  position.column = math.constant(0);
  position.unseen = parallelAxes & ~1u;
  group.limits.assign(std::max(rank, 2u), math.constant(1));
  for (unsigned axis = 0; axis < rank; ++axis) {
    unsigned dim = rank - 1 - axis;
    group.limits[axis] = math.constant(group.shape[dim]);
    tile::StoreOp limiting = store;
    if (!limiting && axis > 0 && !contracted.count(group.roots.front().value))
      limiting = storeLimiting(axis, group.shape[dim]);
    if (!limiting)
      continue;
    unsigned storeDim = limiting.getOffsets().size() - 1 - axis;
    Position::Live fact{axis, index(limiting.getOffsets()[storeDim]), evaluate(limiting.getBounds(), storeDim)};
    position.live.push_back(fact);
    // What begins inside and divides both ends is whole, whatever the symbols.
    if (std::gcd(math.facts(fact.offset).divisor, math.facts(fact.bound).divisor) %
            std::max<int64_t>(1, group.shape[dim]) ==
        0)
      continue;
    group.limits[axis] = math.min(group.limits[axis], math.max(math.sub(fact.bound, fact.offset), math.constant(0)));
  }
  for (Group::Root &root : group.roots)
    collectRegisterBlocked(
        root.store ? root.store.getValue() : root.value, [&](Value value) { return held.count(value) != 0; },
        group.heavy);
}

/// Whether a later group can run in the row loops of an earlier one: it goes as far, and reads of a row only what was
/// computed for that row.
bool Emitter::sharesRows(const Group &earlier, const Group &later) {
  return earlier.heavy.empty() && later.heavy.empty() &&
         ArrayRef(earlier.shape).drop_back() == ArrayRef(later.shape).drop_back() &&
         ArrayRef(earlier.limits).drop_front() == ArrayRef(later.limits).drop_front();
}

/// Takes the loops of `group` over, to be emitted together with those of its neighbours, and empties it.
void Emitter::emitGroup(Group &group) {
  if (group.roots.empty())
    return;
  Group current = std::move(group);
  group = {};
  prepare(current);
  if (!phases.empty() && !sharesRows(phases.back(), current))
    flush();
  phases.push_back(std::move(current));
  if (!phases.back().heavy.empty())
    flush();
}

/// Emits the groups taken over: row by row all of them, so that a row stays in the first-level cache from the first to
/// the last.
void Emitter::flush() {
  if (phases.empty())
    return;
  std::vector<Group> current = std::move(phases);
  phases.clear();
  SmallVector<Value> across;
  if (current.size() == 1 && current.front().heavy.empty())
    for (Group::Root root : current.front().roots)
      if (root.store)
        collectTransposedLoads(root.store.getValue(), narrow, across);
  if (!across.empty() && llvm::none_of(across, [&](Value value) { return held.count(value) != 0; }))
    return emitFromAcross(current.front(), across);
  std::function<void(unsigned)> nest = [&](unsigned axis) {
    const Group &first = current.front();
    if (axis == 1 && !first.heavy.empty())
      return emitHeavy(first);
    math.loop(math.constant(0), first.limits[axis], 1, [&](Ix coordinate) {
      for (Group &group : current) {
        if (axis == 1)
          group.position.rows = {coordinate};
        else
          group.position.outer[group.position.outer.size() - (axis - 1)] = coordinate;
      }
      if (axis > 1)
        return nest(axis - 1);
      for (const Group &group : current)
        emitRows(group, group.position, math.constant(0), group.limits[0]);
    });
  };
  nest(current.front().limits.size() - 1);
}

/// The length of the runs by which a row of `group` is read, if there are few: each has its own code, in which all
/// divisions are folded.
int64_t Emitter::runOfRow(const Group &group, Ix to) {
  int64_t columns = group.shape.back();
  const Group::Root &root = group.roots.front();
  if (group.roots.size() != 1 || !root.value || root.target.panel || to != math.constant(columns))
    return 0;
  int64_t run = shortRunOfRow(root.value, masks);
  return run && columns % run == 0 && columns / run <= mostRuns ? run : 0;
}

/// All roots of one row, from column `from` to `to`.
void Emitter::emitRows(const Group &group, Position position, Ix from, Ix to) {
  Ix whole = to;
  SmallVector<std::pair<Value, Held>> computed; // here, so not read
  for (const Group::Root &root : group.roots)
    if (auto found = held.find(root.value);
        root.value && found != held.end() && found->second.base == root.target.base) {
      computed.push_back(*found);
      dropHeld(root.value);
    }
  llvm::DenseSet<Value> seen;
  for (Group::Root root : group.roots) {
    Value value = root.store ? root.store.getValue() : root.value;
    SmallVector<Position::Live> facts;
    if (root.value) { // a held tile is computed whole, so the loads decide how far that is possible without masks
      whole = math.min(whole, liveSize(value, 0, to, facts));
      position.live.append(facts.begin(), facts.end());
      seen.clear(); // what was not uniform by fewer facts may be now
    }
    pullUniform(value, position, seen);
  }
  unsigned widest = wide;
  for (const Group::Root &root : group.roots)
    if (root.target.panel)
      widest = std::gcd(widest, static_cast<unsigned>(root.target.panel)); // no vector crosses a panel's edge
    else if (root.store)
      widest = widestStore(root.store, widest, narrow);
  auto emit = [&](const Position &inner) {
    for (Group::Root root : group.roots) {
      if (root.store)
        emitStore(root.store, inner, pull(root.store.getValue(), inner));
      else
        storeHeld(root.target, pull(root.value, inner), inner);
    }
  };
  if (int64_t run = whole == to ? runOfRow(group, to) : 0) {
    for (int64_t column = 0, columns = group.shape.back(); column < columns; column += run) {
      position.column = math.constant(column);
      position.width = llvm::PowerOf2Ceil(run);
      position.run = run;
      emit(position);
    }
  } else {
    overColumns(from, to, math.max(whole, from), widest, position, emit);
  }
  for (auto &[value, target] : computed)
    setHeld(value, target);
}

//===- Blocks -----------------------------------------------------------------------------------------------------===//

void Emitter::emitBlock(Block &block) {
  Group group;
  SharedValues shared(block);
  for (Operation &op : block.without_terminator()) {
    if (auto store = dyn_cast<tile::StoreOp>(op)) {
      if (storesTransposed(store, narrow) && llvm::hasSingleElement(block.getOps<tile::StoreOp>()))
        emitStoreAcross(group, store);
      else
        addStore(group, store);
      continue;
    }
    if (op.getNumResults() == 0 && !isa<scf::ForOp>(op)) {
      fail(&op, "it is not an operation of tile kernels");
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      bool inMemory = getConstantIntValue(loop.getStep()).value_or(0) <= registerDepth;
      bool inRegisters = !inMemory && !hasEffects(&op) && op.getNumResults() > 0 && isPositionwise(loop) &&
                         hasDirectOperands(&op, registerRows);
      if (!inRegisters) {
        emitGroup(group);
        flush();
        emitEffectLoop(loop);
        continue;
      }
    }
    if (auto dot = dyn_cast<tile::DotOp>(op))
      holdOperands(group, dot);
    if (auto load = dyn_cast<tile::LoadOp>(op); load && isGatheredOnce(load))
      hold(group, load.getResult());
    bool isReduction = isa<tile::ReduceOp>(op);
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()) && !result.use_empty() &&
          (isReduction || (isRegisterBlocked(&op) && !feedsOneStore(result)) || shared.isSharedAndCostly(result)))
        hold(group, result);
  }
  emitGroup(group);
  flush();
}

/// A loop that stores, or whose tiles do not fit into registers: carried tiles are held, and each turn is a block.
void Emitter::emitEffectLoop(scf::ForOp op) {
  std::optional<int64_t> step = getConstantIntValue(op.getStep());
  if (!step)
    return fail(op, "expected a constant step");
  SmallVector<Held> current, next;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    auto type = dyn_cast<RankedTensorType>(op.getResult(i).getType());
    if (!type)
      return fail(op, "expected carried values to be tiles");
    current.push_back(allocate(type, 0));
    next.push_back(updatesInPlace(op, i) ? current.back() : allocate(type, 0));
    Group init{current.back().shape, {{nullptr, op.getInitArgs()[i], current.back()}}};
    emitGroup(init);
  }
  flush();
  math.loop(index(op.getLowerBound()), index(op.getUpperBound()), *step, [&](Ix iv) {
    indices[op.getInductionVar()] = iv;
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      setHeld(op.getRegionIterArg(i), current[i]);
    emitBlock(*op.getBody());
    auto yielded = op.getBody()->getTerminator()->getOperands();
    auto update = [&](bool inPlace) { // in place last: nothing else reads those
      for (unsigned i = 0; i < op.getNumResults(); ++i)
        if ((next[i].base == current[i].base) == inPlace && yielded[i] != op.getRegionIterArg(i)) {
          Group group{next[i].shape, {{nullptr, yielded[i], next[i]}}};
          emitGroup(group);
        }
    };
    update(false);
    update(true);
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      if (next[i].base != current[i].base && yielded[i] != op.getRegionIterArg(i)) {
        setHeld(op.getResult(i), next[i]);
        Group copy{current[i].shape, {{nullptr, op.getResult(i), current[i]}}};
        emitGroup(copy);
      }
    flush();
  });
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    setHeld(op.getResult(i), current[i]);
}

//===- The function -----------------------------------------------------------------------------------------------===//

/// What the right sides of dots are computed from: their rows are the contracted dimension, not rows of a result.
static void collectContracted(Value value, llvm::DenseSet<Value> &result) {
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || !result.insert(value).second || !op)
    return;
  for (Value operand : op->getOperands())
    collectContracted(operand, result);
}

/// Axes along which some tile.reduce combines elements, or a dot's inner dimension lies: there dead elements must read
/// as their fill.
static uint32_t reducedAxes(tile::KernelOp kernel) {
  uint32_t result = 1;
  kernel.walk([&](tile::ReduceOp reduce) {
    result |= 1u << (cast<RankedTensorType>(reduce.getInput().getType()).getRank() - 1 - reduce.getDim());
  });
  return result;
}

void Emitter::emitPrograms(llvm::Function *function) {
  arguments = function->getArg(0);
  math.define(arguments, {}, 0);
  auto field = [&](llvm::Type *type, llvm::Value *base, unsigned index) {
    llvm::Value *value = ir.CreateLoad(type, ir.CreateConstGEP1_32(type, base, index));
    if (type->isPointerTy())
      math.define(value, {}, 0);
    return value;
  };
  llvm::Type *pointer = ir.getPtrTy();
  llvm::Value *bufferTable = field(pointer, arguments, 0), *scalars = field(pointer, arguments, 1);
  workspaceBase = field(pointer, arguments, 3);
  errorWord = field(pointer, arguments, 4);
  for (unsigned i = 0, n = kernel.getNumBuffers(); i < n; ++i)
    buffers.push_back(field(pointer, bufferTable, i));
  for (unsigned i = 0, n = kernel.getNumSymbols(); i < n; ++i) {
    symbols.push_back(math.define(field(ir.getInt64Ty(), scalars, i), Facts::between(0, std::nullopt), 0));
    indices[kernel.getSymbol(i)] = symbols.back();
  }
  SmallVector<Ix, 3> grid;
  Ix programs = math.constant(1);
  for (unsigned i = 0; i < 3; ++i) {
    grid.push_back(evaluate(kernel.getGrid(), i));
    programs = math.mul(programs, grid.back());
  }
  std::optional<int64_t> count = math.facts(programs).high;
  Ix first = math.define(function->getArg(1), Facts::between(0, std::nullopt), 0),
     last = math.define(function->getArg(2), Facts::between(0, count), 0);
  math.loop(first, last, 1, [&](Ix program) {
    Ix rest = math.floorDiv(program, grid[0]);
    programId = {math.mod(program, grid[0]), math.mod(rest, grid[1]), math.floorDiv(rest, grid[1])};
    emitBlock(kernel.getBody().front());
  });
}

Status Emitter::run() {
  llvm::Type *i64 = ir.getInt64Ty();
  auto *type = llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), i64, i64}, false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kernel.getSymName(), module);
  function->addFnAttr("target-cpu", options.cpu);
  if (!options.feature.empty())
    function->addFnAttr("target-features", "+" + options.feature);
  function->addFnAttr("prefer-vector-width", std::to_string(options.vectorBits));
  function->addFnAttr("min-legal-vector-width", std::to_string(options.vectorBits));
  function->addFnAttr("no-builtins");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  parallelAxes = ~reducedAxes(kernel);
  kernel.walk([&](tile::DotOp dot) { collectContracted(dot.getRhs(), contracted); });
  llvm::FastMathFlags flags;
  flags.setAllowContract();
  ir.setFastMathFlags(flags);
  ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  emitPrograms(function);
  ir.CreateRetVoid();
  return status;
}

} // namespace tilewright::host
