// SPDX-License-Identifier: Apache-2.0
// A recurrence is a loop whose body is one kernel:
//
//   %h, %y = flow.loop @body carried(%h0) scanned(%x)         module @body {
//                                                                @main(%h, %x) {
//                                                                  %r:2 = graph.launch @step(%h, %w, %x)
//                                                                  return %r#0, %r#1 } }
//
//   %r:3 = graph.launch @step(%h0, %w, %x)                    graph.kernel @step(...) attributes {steps = ...}
//
// Programs that read a state must run together with those that write it, so a program may read no more of a state than
// what the programs write that differ from it in columns alone: these are one cluster.
#include "tilegen/steps/StepKernels.h"

#include "frontend/flow/FlowOps.h"
#include "fusion/cost/Traffic.h"
#include "tilegen/roots/RootTable.h"
#include "tilegen/schedule/ContractionTiles.h"
#include "tilegen/schedule/SelectSchedule.h"
#include "tilegen/steps/StepSchedules.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace tilewright {
namespace {

using tilegen::KernelSpace;

/// What a launch in a body takes or returns, behind reshapes.
Value behindReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getData();
  return value;
}

class LoopToLaunch {
public:
  LoopToLaunch(flow::LoopOp loop, ModuleOp body, const TargetDesc &target)
      : loop(loop), body(body), target(target), builder(loop) {}
  LogicalResult replace();

private:
  bool isOneLaunch();
  bool areResultsReturned();
  bool takesEachState();
  graph::KernelOp makeKernel();
  graph::StepsAttr rolesOf(graph::KernelOp moved);
  Value inputOf(unsigned input, Type type);
  DictionaryAttr notes(graph::StepsAttr steps, FunctionType type);
  std::optional<size_t> stateOf(unsigned input);
  size_t carried() { return loop.getCarried().size(); }

  flow::LoopOp loop;
  ModuleOp body;
  const TargetDesc &target;
  OpBuilder builder;
  graph::LaunchOp launch;
  func::ReturnOp returned;
  SmallVector<unsigned> results; // the launch's result of each value that the body returns
  SmallVector<unsigned> inputs;  // the launch's input of each argument of the new kernel
};

} // namespace

/// Has the body the symbols of the module around it, and no others? Then it needs no checks of its own.
static bool hasSymbolsAround(flow::LoopOp loop, ModuleOp body) {
  auto isEmpty = [&](StringRef list) {
    auto attribute = body->getAttrOfType<ArrayAttr>(list);
    return !attribute || attribute.empty();
  };
  ArrayRef<AffineExpr> sizes = loop.getSizes().getResults();
  auto names = body->getAttrOfType<ArrayAttr>(graph::symbolsAttr);
  bool areSame = llvm::all_of(llvm::enumerate(sizes), [](auto size) {
    auto symbol = dyn_cast<AffineSymbolExpr>(size.value());
    return symbol && symbol.getPosition() == size.index();
  });
  return areSame && (names ? names.size() : 0) == sizes.size() && isEmpty(graph::guardsAttr) &&
         isEmpty(graph::definitionsAttr);
}

/// Is the body one launch, of arguments, constants and reshapes of them, of a kernel without a schedule?
bool LoopToLaunch::isOneLaunch() {
  if (loop.getCounted() || loop.getConditional() || loop.getTripCount() || loop.getCondition() ||
      loop.getScanned().empty() || !hasSymbolsAround(loop, body))
    return false;
  auto main = *body.getOps<func::FuncOp>().begin();
  for (Operation &op : main.front()) {
    if (isa<graph::ReshapeOp, graph::ConstantOp, arith::ConstantOp, func::ReturnOp>(op))
      continue;
    if (launch || !isa<graph::LaunchOp>(op))
      return false;
    launch = cast<graph::LaunchOp>(op);
  }
  returned = cast<func::ReturnOp>(main.front().getTerminator());
  return launch && !cast<graph::KernelOp>(body.lookupSymbol(launch.getKernel())).getScheduleAttr();
}

/// The number of the carried value that the launch takes as this input; nullopt if it takes something else.
std::optional<size_t> LoopToLaunch::stateOf(unsigned input) {
  auto argument = dyn_cast<BlockArgument>(behindReshapes(launch.getInputs()[input]));
  return argument && argument.getArgNumber() < carried() ? std::optional<size_t>(argument.getArgNumber())
                                                         : std::nullopt;
}

/// Does the body return nothing but results of the launch?
bool LoopToLaunch::areResultsReturned() {
  for (Value value : returned.getOperands()) {
    auto result = dyn_cast<OpResult>(behindReshapes(value));
    if (!result || result.getOwner() != launch)
      return false;
    results.push_back(result.getResultNumber());
  }
  return true;
}

bool LoopToLaunch::takesEachState() {
  return llvm::all_of(llvm::seq<size_t>(0, carried()), [&](size_t state) {
    return llvm::any_of(llvm::seq<unsigned>(0, launch.getInputs().size()),
                        [&](unsigned input) { return stateOf(input) == state; });
  });
}

static Value reshaped(OpBuilder &b, Value value, Type type, Attribute node = {}) {
  if (value.getType() == type)
    return value;
  auto reshape = graph::ReshapeOp::create(b, value.getLoc(), type, value);
  if (node)
    reshape->setAttr(graph::nodeAttr, node);
  return reshape;
}

/// The kernel of one step in the module around the body. It takes each state once, and returns what the body returns,
/// states as it takes them.
graph::KernelOp LoopToLaunch::makeKernel() {
  graph::KernelOp kernel = cast<graph::KernelOp>(body.lookupSymbol(launch.getKernel())).clone();
  SymbolTable(loop->getParentOfType<ModuleOp>()).insert(kernel);
  Block &block = kernel.getBody().front();
  OpBuilder inside = OpBuilder::atBlockBegin(&block);
  SmallVector<Value> states(carried());
  llvm::BitVector isTwice(kernel.getNumArguments());
  for (BlockArgument argument : block.getArguments()) {
    std::optional<size_t> state = stateOf(argument.getArgNumber());
    if (state && states[*state]) {
      argument.replaceAllUsesWith(reshaped(inside, states[*state], argument.getType()));
      isTwice.set(argument.getArgNumber());
      continue;
    }
    if (state)
      states[*state] = argument;
    inputs.push_back(argument.getArgNumber());
  }
  Operation *end = block.getTerminator();
  inside.setInsertionPoint(end);
  SmallVector<Value> outputs;
  for (auto [i, result] : llvm::enumerate(results)) {
    Value output = end->getOperand(result);
    outputs.push_back(i < carried() ? reshaped(inside, output, states[i].getType()) : output);
  }
  end->setOperands(outputs);
  (void)kernel.eraseArguments(isTwice);
  kernel.setFunctionType(inside.getFunctionType(block.getArgumentTypes(), end->getOperandTypes()));
  return kernel;
}

/// What the arguments and results of the new kernel are in the loop.
graph::StepsAttr LoopToLaunch::rolesOf(graph::KernelOp moved) {
  SmallVector<int64_t> states(carried()), forward, backward, backwardResults;
  for (auto [argument, input] : llvm::enumerate(inputs)) {
    auto parameter = dyn_cast<BlockArgument>(behindReshapes(launch.getInputs()[input]));
    size_t number = parameter ? parameter.getArgNumber() : SIZE_MAX;
    if (number < carried())
      states[number] = static_cast<int64_t>(argument);
    else if (number - carried() < loop.getScanned().size())
      (loop.getReverseScanned()[number - carried()] ? backward : forward).push_back(static_cast<int64_t>(argument));
  }
  for (auto [i, isBackward] : llvm::enumerate(loop.getReverseCollected()))
    if (isBackward)
      backwardResults.push_back(static_cast<int64_t>(carried() + i));
  auto symbols = moved->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(graph::symbolsAttr);
  auto count = AffineMap::get(0, symbols ? symbols.size() : 0, graph::getSizes(loop.getScanned().front()).front());
  Builder b(loop.getContext());
  return graph::StepsAttr::get(loop.getContext(), count, b.getDenseI64ArrayAttr(states),
                               b.getDenseI64ArrayAttr(forward), b.getDenseI64ArrayAttr(backward),
                               b.getDenseI64ArrayAttr(backwardResults));
}

/// A position in memory as a sum: where the columns of its state begin, and multiples of columns and reduced loops.
/// Null if it is no such sum, or if these may leave the `columns` of the state.
static AffineExpr beginOfColumns(const KernelSpace &space, AffineExpr position, int64_t columns) {
  MLIRContext *context = space.nest.context;
  auto algebra = space.nest.algebra({});
  AffineExpr zero = getAffineConstantExpr(0, context), begin = position, rest = zero;
  auto at = [&](AffineExpr expr, unsigned loop, int64_t value) {
    return expr.replace(getAffineDimExpr(loop, context), getAffineConstantExpr(value, context));
  };
  int64_t last = 0;
  for (auto [i, loop] : llvm::enumerate(space.loops())) {
    if (loop.kind != tilegen::LoopKind::Column && loop.kind != tilegen::LoopKind::Reduction)
      continue;
    auto stride = dyn_cast<AffineConstantExpr>(algebra.simplify(at(begin, i, 1) - at(begin, i, 0)));
    std::optional<int64_t> size = tilegen::constantOf(loop.size);
    if (!stride || stride.getValue() < 0 || !size)
      return {};
    last += stride.getValue() * (*size - 1);
    rest = rest + getAffineDimExpr(i, context) * stride.getValue();
    begin = at(begin, i, 0);
  }
  begin = algebra.simplify(begin);
  return algebra.simplify(position - begin - rest) == zero && last < columns ? begin : AffineExpr();
}

/// Does each program read of a state only what programs write that differ from it in columns alone?
static bool readsOwnStates(graph::KernelOp kernel, const KernelSpace &space, graph::StepsAttr steps) {
  int64_t columns = 1;
  for (unsigned loop : space.loopsOfKind(tilegen::LoopKind::Column))
    columns *= tilegen::constantOf(space.loops()[loop].size).value_or(0);
  auto beginOf = [&](const tilegen::Access &access) {
    AffineExpr position = tilegen::linearize(space.nest.context, access.coordinates, access.sizes);
    return access.indexSizes.empty() ? beginOfColumns(space, space.nest.algebra({}).simplify(position), columns)
                                     : AffineExpr();
  };
  for (auto [result, argument] : llvm::enumerate(steps.getCarried().asArrayRef())) {
    AffineExpr own;
    for (const tilegen::Access &access : space.nest.accesses)
      if (access.buffer == kernel.getNumArguments() + result)
        own = beginOf(access);
    if (!own)
      return false;
    for (const tilegen::Access &access : space.nest.accesses)
      if (access.buffer == argument && beginOf(access) != own)
        return false;
  }
  return true;
}

/// Wide accesses count on slices that begin at multiples of 16 bytes, as buffers do.
static bool areSlicesAligned(graph::KernelOp kernel, graph::StepsAttr steps) {
  constexpr int64_t bytesOfAccess = 16;
  auto isAligned = [&](Type type) { return fusion::bytesOf(type).isMultipleOf(bytesOfAccess); };
  return llvm::all_of(kernel.getResultTypes(), isAligned) &&
         llvm::all_of(llvm::enumerate(kernel.getArgumentTypes()),
                      [&](auto type) { return !steps.isSequence(type.index()) || isAligned(type.value()); });
}

/// What the launch of the whole loop passes for an input of the launch in the body.
Value LoopToLaunch::inputOf(unsigned input, Type type) {
  Value inside = behindReshapes(launch.getInputs()[input]);
  auto parameter = dyn_cast<BlockArgument>(inside);
  size_t scanned = carried() + loop.getScanned().size();
  Value outside = !parameter                             ? builder.clone(*inside.getDefiningOp())->getResult(0)
                  : parameter.getArgNumber() < carried() ? loop.getCarried()[parameter.getArgNumber()]
                  : parameter.getArgNumber() < scanned   ? loop.getScanned()[parameter.getArgNumber() - carried()]
                                                         : loop.getCaptures()[parameter.getArgNumber() - scanned];
  return reshaped(builder, outside, type, loop->getAttr(graph::nodeAttr));
}

/// The arithmetic of all steps, and what the launch reads and writes once: all but the states between steps.
DictionaryAttr LoopToLaunch::notes(graph::StepsAttr steps, FunctionType type) {
  NamedAttrList notes;
  AffineMap count = steps.getCount();
  auto made = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMapAttr::get(AffineMap::get(0, count.getNumSymbols(), exprs, loop.getContext()));
  };
  auto times = [&](AffineMap map) { // its first expression is the arithmetic, or a product's batch
    SmallVector<AffineExpr> exprs(map.getResults());
    exprs[0] = graph::canonicalSize(exprs[0] * count.getResult(0));
    return made(exprs);
  };
  if (auto flops = launch->getAttrOfType<AffineMapAttr>(graph::flopsAttr))
    notes.append(graph::flopsAttr, times(flops.getValue()));
  AffineExpr bytes = getAffineConstantExpr(0, loop.getContext());
  for (Type passed : llvm::concat<const Type>(type.getInputs(), type.getResults().drop_front(carried())))
    bytes = bytes + fusion::bytesOf(passed);
  notes.append(graph::bytesAttr, made(graph::canonicalSize(bytes)));
  if (auto products = launch->getAttrOfType<ArrayAttr>(graph::productsAttr)) {
    SmallVector<Attribute> repeated;
    for (auto product : products.getAsRange<ArrayAttr>())
      repeated.push_back(
          ArrayAttr::get(product.getContext(), {times(cast<AffineMapAttr>(product[0]).getValue()), product[1]}));
    notes.append(graph::productsAttr, ArrayAttr::get(products.getContext(), repeated));
  }
  if (auto node = loop->getAttrOfType<IntegerAttr>(graph::nodeAttr))
    notes.append(graph::nodesOfAttr, DenseI64ArrayAttr::get(loop.getContext(), {node.getInt()}));
  return notes.getDictionary(loop.getContext());
}

/// The schedules of a kernel of one step that run all steps; nullopt if there are none.
static std::optional<tilegen::SizeVariants> schedulesOf(graph::KernelOp kernel, graph::StepsAttr steps,
                                                        const TargetDesc &target) {
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); }); // the loop then stays
  FailureOr<KernelSpace> space = tilegen::analyzeKernel(kernel);
  if (failed(space) || !areSlicesAligned(kernel, steps) || !readsOwnStates(kernel, *space, steps))
    return std::nullopt;
  return tilegen::scheduleSteps(*space, target);
}

/// Fails if the launch that it makes is not valid, since @main is verified only after the stages of kernels.
LogicalResult LoopToLaunch::replace() {
  if (!isOneLaunch() || !areResultsReturned() || !takesEachState())
    return success();
  graph::KernelOp kernel = makeKernel();
  graph::StepsAttr steps = rolesOf(kernel);
  std::optional<tilegen::SizeVariants> schedules = schedulesOf(kernel, steps, target);
  if (!schedules)
    return kernel.erase(), success();
  kernel.setStepsAttr(steps);
  FunctionType type = kernel.getLaunchType();
  SmallVector<Value> passed;
  for (auto [input, wanted] : llvm::zip(inputs, type.getInputs()))
    passed.push_back(inputOf(input, wanted));
  auto whole = graph::LaunchOp::create(builder, loop.getLoc(), type.getResults(),
                                       FlatSymbolRefAttr::get(kernel.getSymNameAttr()), passed, ArrayAttr());
  whole->setDiscardableAttrs(notes(steps, type));
  SymbolTable symbols(whole->getParentOfType<ModuleOp>());
  tilegen::setSchedules(kernel, *schedules, whole, symbols);
  for (auto [result, value] : llvm::zip(loop.getResults(), whole.getResults().drop_front(carried())))
    result.replaceAllUsesWith(reshaped(builder, value, result.getType(), loop->getAttr(graph::nodeAttr)));
  loop.erase();
  body.erase();
  SymbolTableCollection tables;
  return whole.verifySymbolUses(tables);
}

LogicalResult formStepKernels(ModuleOp module, const TargetDesc &target) {
  SmallVector<flow::LoopOp> loops;
  module.walk([&](flow::LoopOp loop) { loops.push_back(loop); });
  for (flow::LoopOp loop : loops) {
    auto around = loop->getParentOfType<ModuleOp>();
    auto body = around.lookupSymbol<ModuleOp>(loop.getBody());
    auto isOther = [&](flow::LoopOp other) { return other != loop && other.getBody() == loop.getBody(); };
    if (body && llvm::none_of(loops, isOther) && failed(LoopToLaunch(loop, body, target).replace()))
      return failure();
  }
  return success();
}

} // namespace tilewright
