// SPDX-License-Identifier: Apache-2.0
// The frame of the distribution: kernels become functions, loops become loops that carry registers, elementwise
// operations become operations on scalars.
#include "backend/gpu/KernelDistributor.h"
#include "backend/math/SafeIntegers.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

KernelDistributor::KernelDistributor(KernelOp kernel, ModuleOp output, GpuTarget &target, InjectedFaults faults)
    : kernel_(kernel), output_(output), target_(target), faults_(faults), b_(kernel.getLoc(), kernel.getContext()) {}

//===- Registers --------------------------------------------------------------------------------------------------===//

void KernelDistributor::map(Value tile, Registers registers) { registers_[tile] = std::move(registers); }

/// Elementwise results are computed on demand, one register at a time, so that the result of a chain of operations is
/// stored before the next register's chain begins. Beside a large accumulator, the results of all operations for all
/// registers would be spilled.
Value KernelDistributor::registerOf(Value tile, unsigned r) {
  if (Value known = registers_.find(tile)->second[r])
    return known;
  if (auto load = loads_.find(tile); load != loads_.end()) {
    loadBatch(*load->second, r);
    return registers_[tile][r];
  }
  if (packArithmetic(tile, r) || packConversion(tile, r))
    return registers_[tile][r];
  Operation *op = tile.getDefiningOp();
  IRMapping mapping = scalars_;
  for (Value operand : op->getOperands())
    if (registers_.contains(operand))
      mapping.map(operand, registerOf(operand, r));
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(mapping.lookupOrDefault(operand));
  if (Value safe = emitSafeInteger(b_, op, operands, element))
    return registers_[tile][r] = safe;
  Operation *clone = b_.clone(*op, mapping);
  clone->getResult(0).setType(element);
  return registers_[tile][r] = clone->getResult(0);
}

Registers KernelDistributor::registersOf(Value tile) {
  Registers registers;
  for (unsigned r = 0; r < layoutOf(tile.getType()).registers(); ++r)
    registers.push_back(registerOf(tile, r));
  return registers;
}

/// Computes every tile that is not computed yet. Called before control flow, so that the values dominate every path
/// behind it.
void KernelDistributor::computeWaiting() {
  for (Value tile : std::exchange(waiting_, {}))
    registersOf(tile);
}

Value KernelDistributor::linear(Value source, ArrayRef<uint32_t> contributions) {
  Value total;
  for (unsigned first = 0, last; first < contributions.size(); first = last) {
    last = first + 1;
    uint32_t unit = contributions[first];
    if (!unit)
      continue;
    // Neighbouring bits that contribute 1, 2, 4, ... times the same unit are one multiplication, if their contributions
    // have no bit in common, so that the xor is a sum.
    uint32_t covered = unit;
    while (last < contributions.size() && contributions[last] == unit << (last - first) &&
           !(covered & contributions[last]))
      covered |= contributions[last++];
    Value field = first ? arith::ShRUIOp::create(b_, source, i32(first)).getResult() : source;
    field = arith::AndIOp::create(b_, field, i32((1u << (last - first)) - 1));
    field = arith::MulIOp::create(b_, field, i32(unit));
    total = total ? arith::XOrIOp::create(b_, total, field).getResult() : field;
  }
  return total ? total : i32(0);
}

Value KernelDistributor::threadPart(const Layout &layout, llvm::function_ref<uint32_t(uint32_t)> contribution) {
  SmallVector<uint32_t> lanes(llvm::map_range(layout.lane, contribution)),
      warps(llvm::map_range(layout.warp, contribution));
  bool anyLane = llvm::any_of(lanes, [](uint32_t c) { return c; }),
       anyWarp = llvm::any_of(warps, [](uint32_t c) { return c; });
  if (!anyWarp)
    return linear(lane_, lanes);
  if (!anyLane)
    return linear(warp_, warps);
  return arith::XOrIOp::create(b_, linear(lane_, lanes), linear(warp_, warps));
}

/// Sets the lane, and the warp's number within its role.
void KernelDistributor::numberThread(Value thread) {
  lane_ = arith::AndIOp::create(b_, thread, i32(target_.lanes() - 1));
  warp_ = arith::ShRUIOp::create(b_, thread, i32(llvm::Log2_32(target_.lanes())));
  if (role_ && role_->firstWarp)
    warp_ = arith::SubIOp::create(b_, warp_, i32(role_->firstWarp));
}

/// Called where a role's loop over steps has ended and the epilogue begins, inside of the loop over programs. What the
/// epilogue computes from the thread's number is loop-invariant, so LLVM would hoist it out of the loop over programs
/// and keep it in registers that the loop over steps needs. Reading the number anew prevents that.
void KernelDistributor::leaveMainLoop(scf::ForOp loop) {
  if (role_ && role_->sparesRegisters && loop->getParentOfType<scf::ForOp>())
    numberThread(target_.threadIdAnew(b_));
}

void KernelDistributor::barrier() {
  if (faults_.dropBarriers)
    return;
  if (role_)
    target_.copyEngine()->roleBarrier(b_, i32(role_->number), role_->threads);
  else
    target_.barrier(b_);
}

void KernelDistributor::lowerBarrier(BarrierOp op) {
  constexpr int64_t most = BarrierOp::mostGroups; // roles' own barriers have the numbers below it (barrier)
  if (multipliesShared_ && !faults_.dropProxyFences)
    target_.publishShared(b_);
  if (!op.getWarps())
    return barrier();
  if (faults_.dropBarriers)
    return;
  Value group = arith::DivUIOp::create(b_, warp_, i32(*op.getWarps())),
        number = arith::AddIOp::create(b_, group, i32(role_->number * most));
  target_.copyEngine()->roleBarrier(b_, number, *op.getWarps() * target_.lanes());
}

void KernelDistributor::awaitKernels() {
  if (!faults_.dropAwaits)
    target_.awaitKernelsBefore(b_);
}

//===- Elementwise ------------------------------------------------------------------------------------------------===//

/// The same operation on the scalars of each register; see registerOf.
void KernelDistributor::lowerElementwise(Operation *op) {
  map(op->getResult(0), Registers(layoutOf(op->getResult(0).getType()).registers()));
  waiting_.push_back(op->getResult(0));
}

LogicalResult KernelDistributor::lowerConstant(arith::ConstantOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type) {
    scalars_.map(op.getResult(), b_.clone(*op)->getResult(0));
    return success();
  }
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return op.emitOpError("expected a constant tile with equal elements because larger constants are buffers");
  Value value = arith::ConstantOp::create(b_, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
  map(op.getResult(), Registers(layoutOf(type).registers(), value));
  return success();
}

void KernelDistributor::lowerBroadcast(BroadcastOp op) {
  auto from = cast<RankedTensorType>(op.getInput().getType()), to = cast<RankedTensorType>(op.getType());
  TileShape narrow(from.getShape()), wide(to.getShape());
  Layout source = layoutOf(from), target = layoutOf(to);
  Registers input = registersOf(op.getInput()), results;
  for (unsigned r = 0; r < target.registers(); ++r) {
    uint32_t part = 0, element = target.element(r);
    for (unsigned d = 0; d < narrow.rank(); ++d)
      if (narrow.bits(d))
        part |= wide.coordinate(element, d) * narrow.basis(d, 0);
    results.push_back(input[*source.registerOf(part)]);
  }
  map(op.getResult(), results);
}

void KernelDistributor::lowerCoordinate(CoordinateOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  TileShape shape(type.getShape());
  Layout layout = layoutOf(type);
  unsigned dim = op.getDim();
  auto element = cast<IntegerType>(type.getElementType());
  Value thread = threadPart(layout, [&](uint32_t basis) { return shape.coordinate(basis, dim); });
  Value first =
      arith::AddIOp::create(b_, scalar(op.getOffset()), arith::IndexCastOp::create(b_, b_.getIndexType(), thread));
  Registers results;
  for (unsigned r = 0; r < layout.registers(); ++r) {
    Value step = arith::ConstantIndexOp::create(b_, shape.coordinate(layout.element(r), dim));
    Value sum = arith::AddIOp::create(b_, first, step);
    results.push_back(arith::IndexCastOp::create(b_, element, sum));
  }
  map(op.getResult(), results);
}

//===- Control ----------------------------------------------------------------------------------------------------===//

/// How many elements of less than 32 bits are packed into one loop-carried vector: as single values, each would take a
/// register of 32 bits.
static int64_t packed(Type type, unsigned registers) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits >= 32 || bits < 8)
    return 1;
  return std::min<int64_t>(llvm::bit_floor(registers), 128 / bits);
}

static Registers pack(ImplicitLocOpBuilder &b, ArrayRef<Value> registers) {
  int64_t width = packed(registers.front().getType(), registers.size());
  if (width == 1)
    return Registers(registers);
  Registers words;
  auto type = VectorType::get(width, registers.front().getType());
  for (size_t i = 0; i < registers.size(); i += width)
    words.push_back(vector::FromElementsOp::create(b, type, registers.slice(i, width)));
  return words;
}

static Registers unpack(ImplicitLocOpBuilder &b, ValueRange words, Type element, unsigned count) {
  int64_t width = packed(element, count);
  if (width == 1)
    return Registers(words);
  Registers registers;
  for (Value word : words)
    for (int64_t i = 0; i < width; ++i)
      registers.push_back(vector::ExtractOp::create(b, word, i));
  return registers;
}

/// Loads for the next step must stay in this step, but the optimizer would sink them to their use in the next one. This
/// empty assembly, which claims to write memory, keeps it from doing so.
static void keepLoads(ImplicitLocOpBuilder &b, ValueRange yielded) {
  if (llvm::any_of(yielded, [](Value value) { return value.getDefiningOp<LoadOp>() != nullptr; }))
    LLVM::InlineAsmOp::create(b, TypeRange(), ValueRange(), "", "~{memory}", /*has_side_effects=*/true,
                              /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
                              ArrayAttr());
}

/// Loops of roles that spare registers count in 32 bits, which is enough: no memory can hold 2^32 tiles, or steps of
/// one block.
Value KernelDistributor::narrowed(Value value) {
  return role_ && role_->sparesRegisters && value.getType().isIndex() ? word(value) : scalar(value);
}
Value KernelDistributor::widened(Value value, Type type) {
  return value.getType() == type ? value : arith::IndexCastUIOp::create(b_, type, value).getResult();
}

LogicalResult KernelDistributor::lowerFor(scf::ForOp op) {
  computeWaiting();
  Value lane = lane_, warp = warp_;
  Registers inits;
  SmallVector<unsigned> counts;
  auto flatten = [&](Value value, Registers &into) {
    Registers words =
        isa<RankedTensorType>(value.getType()) ? pack(b_, registersOf(value)) : Registers{narrowed(value)};
    llvm::append_range(into, words);
    return words.size();
  };
  for (Value init : op.getInitArgs())
    counts.push_back(flatten(init, inits));
  SmallVector<StepCounter> counters = stepCounters(op);
  for (StepCounter counter : counters) {
    RingPosition first = positionOf(counter.slots, op.getInitArgs()[counter.argument]);
    inits.append({first.slot, first.uses});
  }
  auto loop =
      scf::ForOp::create(b_, narrowed(op.getLowerBound()), narrowed(op.getUpperBound()), narrowed(op.getStep()), inits);
  auto unflatten = [&](ValueRange from, ValueRange words) {
    for (auto [value, count] : llvm::zip(from, counts)) {
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        map(value, unpack(b_, words.take_front(count), type.getElementType(), layoutOf(type).registers()));
      else
        scalars_.map(value, widened(words.front(), value.getType()));
      words = words.drop_front(count);
    }
  };
  {
    OpBuilder::InsertionGuard guard(b_);
    Block *body = loop.getBody();
    if (inits.empty())
      body->getTerminator()->erase();
    b_.setInsertionPointToEnd(body);
    scalars_.map(op.getInductionVar(), widened(loop.getInductionVar(), op.getInductionVar().getType()));
    unflatten(op.getRegionIterArgs(), loop.getRegionIterArgs());
    notePositions(counters, op.getRegionIterArgs(), loop.getRegionIterArgs());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    Registers yielded;
    for (Value value : op.getBody()->getTerminator()->getOperands())
      flatten(value, yielded);
    for (StepCounter counter : counters) {
      RingPosition next = after(positions_[{op.getRegionIterArgs()[counter.argument], counter.slots}], counter.slots);
      yielded.append({next.slot, next.uses});
    }
    waiting_.clear();
    keepLoads(b_, op.getBody()->getTerminator()->getOperands());
    scf::YieldOp::create(b_, yielded);
  }
  unflatten(op.getResults(), loop.getResults());
  notePositions(counters, op.getResults(), loop.getResults());
  lane_ = lane, warp_ = warp;
  if (llvm::none_of(op->getUsers(), llvm::IsaPred<DotWaitOp>)) // else lowerDotWait calls it
    leaveMainLoop(op);
  return success();
}

/// Such branches guard the copies of a pipeline and what the last program of a shared tile does. They have no results
/// and no else.
LogicalResult KernelDistributor::lowerIf(scf::IfOp op) {
  computeWaiting();
  auto branch = scf::IfOp::create(b_, scalar(op.getCondition()), /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  Value lane = lane_, warp = warp_; // leaveMainLoop may set them in the branch
  LogicalResult result = lowerBlock(*op.thenBlock());
  lane_ = lane, warp_ = warp;
  waiting_.clear(); // what the branch has not computed by now has no use
  return result;
}

Value KernelDistributor::size(SizeOp op) {
  SmallVector<Value> operands;
  SmallVector<Facts> facts;
  IntegerType type = b_.getI64Type();
  for (Value operand : op.getOperands()) {
    operands.push_back(arith::IndexCastOp::create(b_, type, scalar(operand)));
    facts.push_back(factsOf(operand));
  }
  auto known = symbolFacts(kernel_);
  SmallVector<Value> sizes = symbols(type);
  IndexEmitter emitter(b_, type, operands, sizes, facts, known);
  return arith::IndexCastOp::create(b_, b_.getIndexType(), emitter.emit(op.getExpr().getResult(0)));
}

LogicalResult KernelDistributor::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b_.setLoc(op.getLoc());
    if (failed(lower(&op)))
      return failure();
  }
  return success();
}

/// Lowers the operations of a block without a terminator.
LogicalResult KernelDistributor::lowerOperations(Block &block) {
  for (Operation &op : block) {
    b_.setLoc(op.getLoc());
    if (failed(lower(&op)))
      return failure();
  }
  return success();
}

/// Operations without effects: elementwise on tiles, index arithmetic, and a choice between two buffers.
LogicalResult KernelDistributor::lowerOther(Operation *op) {
  Type result = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  if (!result || op->getNumRegions() || !isMemoryEffectFree(op) ||
      (isa<BufferType>(result) && !isa<arith::SelectOp>(op)))
    return op->emitOpError("expected an operation that the GPU distributor knows (tile, arith, math, scf.for)");
  if (isa<RankedTensorType>(result))
    lowerElementwise(op);
  else if (isa<BufferType>(result))
    lowerChoice(cast<arith::SelectOp>(op));
  else
    b_.clone(*op, scalars_);
  return success();
}

LogicalResult KernelDistributor::lower(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp op) { return lowerConstant(op); })
      .Case([&](scf::ForOp op) { return lowerFor(op); })
      .Case([&](scf::IfOp op) { return lowerIf(op); })
      .Case([&](LoadOp op) { return lowerLoad(op), success(); })
      .Case([&](StoreOp op) { return op.getStaged() ? lowerStagedStore(op) : lowerStore(op), success(); })
      .Case([&](CheckOp op) { return lowerCheck(op), success(); })
      .Case([&](BroadcastOp op) { return lowerBroadcast(op), success(); })
      .Case([&](CoordinateOp op) { return lowerCoordinate(op), success(); })
      .Case([&](ReduceOp op) { return lowerReduce(op), success(); })
      .Case([&](SharedAllocOp op) {
        Value address = LLVM::GEPOp::create(b_, shared_.getType(), b_.getI8Type(), shared_,
                                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(op.getOffset())});
        return scalars_.map(op.getResult(), address), success();
      })
      .Case([&](SharedWriteOp op) { return lowerWrite(op), success(); })
      .Case([&](SharedReadOp op) { return lowerRead(op), success(); })
      .Case([&](SharedLoadOp op) { return lowerSharedLoad(op), success(); })
      .Case([&](SharedCopyOp op) { return lowerCopy(op), success(); })
      .Case([&](CopyCommitOp) { return target_.commitCopies(b_), success(); })
      .Case([&](CopyWaitOp op) { return target_.waitCopies(b_, op.getPending()), success(); })
      .Case([&](BarrierOp op) { return lowerBarrier(op), success(); })
      .Case([&](DotOp op) { return lowerDot(op), success(); })
      .Case([&](DotWaitOp op) { return lowerDotWait(op), success(); })
      .Case([&](TensorMapOp) { return success(); }) // an argument
      .Case([&](RingAllocOp op) { return lowerRingAlloc(op), success(); })
      .Case([&](RingAcquireOp op) { return lowerRingAcquire(op), success(); })
      .Case([&](RingWaitOp op) { return lowerRingWait(op), success(); })
      .Case([&](RingDrainOp op) { return lowerRingDrain(op), success(); })
      .Case([&](RingReleaseOp op) { return lowerRingRelease(op), success(); })
      .Case([&](BulkCopyOp op) { return lowerBulkCopy(op), success(); })
      .Case([&](BulkStoreOp op) { return lowerBulkStore(op), success(); })
      .Case([&](WorkspaceOp) { return success(); }) // an argument
      .Case([&](PartWriteOp op) { return lowerPartWrite(op), success(); })
      .Case([&](PartReadOp op) { return lowerPartRead(op), success(); })
      .Case([&](PartArriveOp op) { return lowerPartArrive(op), success(); })
      .Case([&](PartSumOp op) { return lowerPartSum(op), success(); })
      .Case([&](PartReduceOp op) { return lowerPartReduce(op), success(); })
      // computeWaiting: loads that stand before the wait are emitted before it.
      .Case([&](AwaitKernelsOp) { return computeWaiting(), awaitKernels(), success(); })
      .Case([&](BufferSliceOp op) { return lowerBufferSlice(op), success(); })
      .Case([&](StepEndOp op) { return lowerStepEnd(op), success(); })
      .Case([&](OrderedProgramOp op) { return lowerOrderedProgram(op), success(); })
      .Case([&](RolesOp op) { return lowerRoles(op); })
      .Case([&](ProgramIdOp op) {
        Value id = arith::IndexCastUIOp::create(b_, b_.getIndexType(), target_.blockId(b_, op.getDim()));
        return scalars_.map(op.getResult(), id), success();
      })
      .Case([&](SizeOp op) { return scalars_.map(op.getResult(), size(op)), success(); })
      .Default([&](Operation *op) { return lowerOther(op); });
}

//===- Kernels ----------------------------------------------------------------------------------------------------===//

/// Notes whether `body` has contractions, and then a single store. What is between them is the epilogue, which is then
/// computed chunk by chunk (lowerLoad, StoreLowering).
void KernelDistributor::noteContractions(Region &body) {
  unsigned stores = 0, dots = 0;
  body.walk([&](Operation *op) { stores += isa<StoreOp, BulkStoreOp>(op); });
  body.walk([&](DotOp) { ++dots; });
  contracts_ = dots > 0;
  hasEpilogue_ = contracts_ && stores == 1;
}

/// Do the blocks of a cluster write to each other's shared memory?
static bool givesToOthers(KernelOp kernel) {
  auto gives = [](Operation *op) {
    return isa<PartSumOp, PartReduceOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(gives).wasInterrupted();
}

LogicalResult KernelDistributor::run() {
  MLIRContext *context = b_.getContext();
  auto global = LLVM::LLVMPointerType::get(context, globalSpace);
  SmallVector<WorkspaceOp> workspaces(kernel_.getBody().getOps<WorkspaceOp>());
  unsigned buffers = kernel_.getNumBuffers();
  SmallVector<Type> parameters(buffers + workspaces.size(), global);
  parameters.append(kernel_.getNumSymbols(), b_.getI64Type());
  parameters.push_back(global); // the error word
  SmallVector<TensorMapOp> maps(kernel_.getBody().getOps<TensorMapOp>());
  parameters.append(maps.size(), LLVM::LLVMPointerType::get(context));
  b_.setInsertionPointToEnd(output_.getBody());
  auto function = LLVM::LLVMFuncOp::create(b_, kernel_.getSymName(),
                                           LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters));
  target_.markKernel(function, *kernel_.getThreads());
  Block *entry = function.addEntryBlock(b_);
  b_.setInsertionPointToStart(entry);
  for (auto [i, argument] : llvm::enumerate(kernel_.getBody().getArguments())) {
    if (isa<BufferType>(argument.getType())) {
      scalars_.map(argument, entry->getArgument(i));
      function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b_.getI64IntegerAttr(16));
      // Only buffers that no kernel writes may be read before awaitKernels, or through the non-coherent cache
      // (ld.global.nc): the kernel before may still be writing a temporary.
      if (isConstant(argument)) {
        function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b_.getUnitAttr());
        function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), b_.getUnitAttr());
      }
    } else {
      Value symbol = entry->getArgument(i + workspaces.size());
      scalars_.map(argument, arith::IndexCastOp::create(b_, b_.getIndexType(), symbol));
    }
  }
  for (auto [i, workspace] : llvm::enumerate(workspaces))
    scalars_.map(workspace.getResult(), entry->getArgument(buffers + i));
  unsigned last = kernel_.getNumArguments() + workspaces.size();
  errorWord_ = entry->getArgument(last);
  for (TensorMapOp map : maps) {
    target_.copyEngine()->markTensorMap(function, ++last);
    scalars_.map(map.getResult(), entry->getArgument(last));
  }
  kernel_.walk([&](DotOp dot) {
    const Fragments *fragments = fragmentsOf(dot);
    multipliesShared_ |= fragments && fragments->readsShared();
  });
  numberThread(target_.threadId(b_));
  if (hasShortSteps())
    warp_ = target_.uniform(b_, warp_);
  if (int64_t bytes = *kernel_.getSharedBytes())
    shared_ = target_.sharedMemory(b_, output_, bytes);
  if (givesToOthers(kernel_)) // who gives waits for it: then all of the cluster's blocks have started
    target_.arriveInCluster(b_, /*releases=*/false);
  prefetchMaps(maps);
  noteContractions(kernel_.getBody());
  // Roles wait in lowerRole, after the rings' barriers are made.
  if (kernel_.getBody().getOps<RolesOp>().empty() && kernel_.getBody().getOps<AwaitKernelsOp>().empty())
    awaitKernels();
  LogicalResult result = lowerBlock(kernel_.getBody().front());
  LLVM::ReturnOp::create(b_, ValueRange());
  return result;
}
