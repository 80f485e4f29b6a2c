// SPDX-License-Identifier: Apache-2.0
// The root, the loops and the spine of a set of operations.
#include "fusion/Geometry.h"

#include "fusion/Attention.h"
#include "fusion/Columns.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Reassociation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

bool fusion::isConstantLike(Operation *op) { return isa<arith::ConstantOp, graph::ConstantOp, graph::DimsOp>(op); }

bool fusion::isElementwise(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp>(op);
}

namespace {

/// The sizes of a value, comparable whatever its element type.
Type sizesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return graph::withElementType(type, IntegerType::get(type.getContext(), 1));
}

/// A one-to-one access that the spine went through.
struct Step {
  Type sizes;                // after it
  SmallVector<int64_t> perm; // empty for a reshape
  bool operator==(const Step &) const = default;
};

enum class Space { Free, Row, Full, Result, Scores }; // Scores: an attention's, at other coordinates than its softmax

/// The coordinates of a spine value: those of a space, after these accesses.
struct Place {
  Space space = Space::Free;
  SmallVector<Step> steps;
  bool operator==(const Place &) const = default;
  bool isHome(Space wanted) const { return space == wanted && steps.empty(); }
};

/// The dimension that dimension `dim` of a tensor of sizes `from` becomes behind `steps`; nullopt if a reshape splits
/// it or merges it with others.
std::optional<int64_t> follow(int64_t dim, Type from, ArrayRef<Step> steps) {
  for (const Step &step : steps) {
    if (!step.perm.empty()) {
      dim = llvm::find(step.perm, dim) - step.perm.begin();
    } else {
      auto sizes = [](Type type) { return graph::getSizes(cast<RankedTensorType>(type)); };
      SmallVector<AffineExpr> before(sizes(from)), after(sizes(step.sizes));
      MLIRContext *context = from.getContext();
      AffineExpr outside = graph::productOf(context, ArrayRef(before).take_front(dim));
      int64_t rank = after.size(), same = 0;
      while (same < rank &&
             (after[same] != before[dim] || graph::productOf(context, ArrayRef(after).take_front(same)) != outside))
        ++same;
      if (same == rank)
        return std::nullopt;
      dim = same;
    }
    from = step.sizes;
  }
  return dim;
}

/// The dimensions of a tensor of sizes `from` that dimension `dim` behind these accesses is made of.
SmallVector<int64_t> originsOf(int64_t dim, Type from, ArrayRef<Step> steps) {
  auto sizes = [](Type type) { return SmallVector<AffineExpr>(graph::getSizes(cast<RankedTensorType>(type))); };
  llvm::SmallSetVector<int64_t, 4> dims;
  dims.insert(dim);
  for (size_t i = steps.size(); i-- > 0;) {
    llvm::SmallSetVector<int64_t, 4> before;
    Type type = i > 0 ? steps[i - 1].sizes : from;
    if (!steps[i].perm.empty())
      for (int64_t each : dims)
        before.insert(steps[i].perm[each]);
    else
      for (const normalize::ReassociationGroup &group : normalize::reassociation(sizes(type), sizes(steps[i].sizes)))
        if (llvm::any_of(dims, [&](int64_t each) { return each >= group.toBegin && each < group.toEnd; }))
          before.insert_range(llvm::seq<int64_t>(group.fromBegin, group.fromEnd));
    dims = std::move(before);
  }
  return dims.takeVector();
}

class Analysis {
public:
  GeometryOrRefusal run(ArrayRef<Operation *> ops);

private:
  std::optional<Reason> visit(Operation *op);
  std::optional<Reason> visitAccess(graph::AccessOpInterface op);
  std::optional<Reason> visitReduce(graph::ReduceOp op);
  std::optional<Reason> visitContract(graph::ContractOp op);
  std::optional<Reason> join(ValueRange operands, Value result);
  std::optional<Reason> followOneToOne(Operation *op, Value data);
  bool repeatsRows(graph::BroadcastOp op) const;
  bool isWindow(graph::ReduceOp op) const;
  bool areRows(graph::ReduceOp op) const;
  std::optional<Reason> beginSoftmax(graph::ReduceOp op);
  std::optional<Reason> endSoftmax(graph::ContractOp op);
  bool sharesLoops(graph::ContractOp op) const;
  bool isRead(Value operand) const;
  bool differsByRow(int64_t dim, ArrayRef<Step> steps) const;
  std::optional<Refusal> checkSoftmax();
  std::optional<Refusal> checkOutputs();

  Place placeOf(Value value) const { return places.lookup(value); }

  /// Columns that are read again are rows of a program that holds them.
  void holdColumns() {
    geometry.areColumns |= mayHoldColumns;
    geometry.kind = mayHoldColumns ? RootKind::RowReduction : geometry.kind;
  }

  bool isWindowed(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return windowed.contains(value); });
  }

  Geometry geometry;
  llvm::SmallPtrSet<Operation *, 16> members;
  graph::ContractOp mix;               // an attention's second contraction
  Type full, row, result;              // home sizes of the spaces
  SmallVector<Step> softmaxSteps;      // from the scores to where an attention's softmax reads them
  SmallVector<int64_t> axes;           // of the reductions of rows
  bool mayHoldColumns = false;         // the root reduces columns that a program can hold
  llvm::DenseMap<Value, Place> places; // of spine values only
  llvm::DenseSet<Value> windowed;      // values computed from windows
};

/// An elementwise operation combines spine values at the same coordinates; its other operands are free.
std::optional<Reason> Analysis::join(ValueRange operands, Value result) {
  const Place *common = nullptr;
  for (Value operand : operands) {
    auto it = places.find(operand);
    if (it == places.end())
      continue;
    if (common && *common != it->second)
      return Reason::TwoMaps;
    common = &it->second;
  }
  if (common) {
    Place place = *common; // inserting may move what `common` points to
    places[result] = std::move(place);
  }
  return std::nullopt;
}

/// Records a reshape or transpose. A reshape that undoes the one before it cancels it.
std::optional<Reason> Analysis::followOneToOne(Operation *op, Value data) {
  Place place = placeOf(data);
  auto homeOf = [&](Space space) { return space == Space::Row ? row : space == Space::Full ? full : result; };
  if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    place.steps.push_back({sizesOf(op->getResult(0)), llvm::to_vector(transpose.getPerm())});
  } else {
    if (!place.steps.empty() && place.steps.back().perm.empty())
      place.steps.pop_back();
    Type before = place.steps.empty() ? homeOf(place.space) : place.steps.back().sizes;
    if (Type after = sizesOf(op->getResult(0)); after != before)
      place.steps.push_back({after, {}});
  }
  places[op->getResult(0)] = std::move(place);
  return std::nullopt;
}

/// Whether a broadcast repeats a row's value for each element of the row: along the reduced loops and no others.
/// Dimensions of size 1 may have been added or removed before.
bool Analysis::repeatsRows(graph::BroadcastOp op) const {
  bool hasRows = geometry.kind == RootKind::RowReduction || geometry.kind == RootKind::Attention || mayHoldColumns;
  Place place = placeOf(op.getData());
  if (!hasRows || place.space != Space::Row || sizesOf(op.getResult()) != full ||
      llvm::any_of(place.steps, [](const Step &step) { return !step.perm.empty(); }))
    return false;
  SmallVector<AffineExpr> all(graph::getSizes(cast<RankedTensorType>(full))),
      data(graph::getSizes(cast<RankedTensorType>(op.getData().getType())));
  SmallVector<int64_t> kept, repeated; // dimensions of `full` with more than one element
  for (int64_t dim = 0, rank = std::ssize(all); dim < rank; ++dim)
    if (!llvm::is_contained(axes, dim) && !normalize::isUnit(all[dim]))
      kept.push_back(dim);
  for (auto [size, dim] : llvm::zip_equal(data, op.getDims()))
    if (!normalize::isUnit(size)) {
      if (all[dim] != size)
        return false;
      repeated.push_back(dim);
    }
  return kept == repeated;
}

std::optional<Reason> Analysis::visitAccess(graph::AccessOpInterface op) {
  Value data = op.getData(), result = op->getResult(0);
  Place place = placeOf(data);
  if (place.space == Space::Free)
    return join(op.getIndexOperands(), result); // a gather is elementwise in its indices
  if (isa<graph::ReshapeOp, graph::TransposeOp>(op.getOperation()))
    return followOneToOne(op, data);
  if (auto broadcast = dyn_cast<graph::BroadcastOp>(op.getOperation())) {
    if (repeatsRows(broadcast)) {
      holdColumns();
      places[result] = Place{Space::Full, {}};
      return std::nullopt;
    }
    return geometry.kind == RootKind::Window ? Reason::WindowIsRepeated : Reason::RepeatsRoot;
  }
  return Reason::MapNotInvertible;
}

/// A row reduction reduces the innermost loops. All other reductions, and all reductions of windows, are of the kind
/// Window, whose innermost kept loop is vectorized, unless a program holds the columns (Columns.h).
bool Analysis::isWindow(graph::ReduceOp op) const {
  if (isWindowed(op.getInput()))
    return true;
  auto sizes = graph::getSizes(cast<RankedTensorType>(op.getInput().getType()));
  int64_t kept = -1; // the innermost kept loop of more than one iteration
  for (int64_t dim = 0, rank = sizes.size(); dim < rank; ++dim)
    if (!llvm::is_contained(op.getAxes(), dim) && graph::constantSize(sizes[dim]) != 1)
      kept = dim;
  return llvm::any_of(op.getAxes(), [&](int64_t axis) { return axis < kept && graph::constantSize(sizes[axis]) != 1; });
}

/// Whether a reduction is of the same rows as the root.
bool Analysis::areRows(graph::ReduceOp op) const {
  Place place = placeOf(op.getInput());
  return sizesOf(op.getInput()) == full && ArrayRef<int64_t>(axes) == op.getAxes() &&
         (place.space == Space::Free || place.isHome(Space::Full));
}

std::optional<Reason> Analysis::visitReduce(graph::ReduceOp op) {
  if (geometry.kind == RootKind::Matmul)
    return geometry.more.empty() ? beginSoftmax(op) : Reason::ReductionOfContraction;
  Place place = placeOf(op.getInput());
  if (mix)
    return Reason::ReductionOfContraction;
  if (!geometry.root) {
    geometry.root = op;
    geometry.kind = isWindow(op) ? RootKind::Window : RootKind::RowReduction;
    full = sizesOf(op.getInput());
    row = result = sizesOf(op.getResult());
    axes = llvm::to_vector(op.getAxes());
    mayHoldColumns = geometry.kind == RootKind::Window && canHoldColumns(op);
  } else if (mayHoldColumns && areRows(op) && canHoldColumns(op)) {
    holdColumns();
  } else if (geometry.kind == RootKind::Window || isWindow(op)) {
    return place.space == Space::Free ? Reason::OtherLoops : Reason::WindowIsRepeated;
  } else if (!areRows(op)) {
    return Reason::OtherLoops;
  }
  bool isResult = geometry.kind == RootKind::Window && !mayHoldColumns;
  places[op.getResult()] = Place{isResult ? Space::Result : Space::Row, {}};
  return std::nullopt;
}

/// A reduction of a contraction's rows makes the kernel an attention. Its scores are at Full from here on, where the
/// softmax reads them.
std::optional<Reason> Analysis::beginSoftmax(graph::ReduceOp op) {
  auto scores = cast<graph::ContractOp>(geometry.root);
  Place read = placeOf(op.getInput());
  if (read.space != Space::Result || op.getAxes().size() != 1)
    return Reason::ReductionOfContraction;
  AffineMap map = scores.getMap(2);
  bool hasKeys = false; // the reduced dimension is a loop of one operand alone
  for (auto [dim, loop] : llvm::enumerate(map.getResults())) {
    unsigned keys = cast<AffineDimExpr>(loop).getPosition();
    hasKeys |= follow(dim, result, read.steps) == op.getAxes().front() &&
               scores.getMap(0).isFunctionOfDim(keys) != scores.getMap(1).isFunctionOfDim(keys);
  }
  if (!hasKeys || map.getNumDims() != map.getNumResults() + 1)
    return Reason::KeysMixed;
  geometry.kind = RootKind::Attention;
  softmaxSteps = read.steps;
  full = sizesOf(op.getInput());
  row = sizesOf(op.getResult());
  axes = llvm::to_vector(op.getAxes());
  for (auto &entry : places)
    entry.second = entry.second == read ? Place{Space::Full, {}} : Place{Space::Scores, {}};
  places[op.getResult()] = Place{Space::Row, {}};
  return std::nullopt;
}

/// Whether the loop that the scores sum over, and the columns of the values, have sizes that a tile can hold.
static bool hasKnownHeads(graph::ContractOp scores, graph::ContractOp mix, unsigned shares) {
  constexpr int64_t largest = 256;
  auto isKnown = [](graph::ContractOp op, unsigned side, auto isOfHead) {
    int64_t product = 1;
    SmallVector<AffineExpr> sizes(graph::getSizes(cast<RankedTensorType>(op->getOperand(side).getType())));
    for (auto [expr, size] : llvm::zip_equal(op.getMap(side).getResults(), sizes))
      if (isOfHead(cast<AffineDimExpr>(expr).getPosition())) {
        std::optional<int64_t> known = graph::constantSize(size);
        if (!known)
          return false;
        product *= *known;
      }
    return product <= largest;
  };
  return isKnown(scores, 0, [&](unsigned loop) { return !scores.getMap(2).isFunctionOfDim(loop); }) &&
         isKnown(mix, 1 - shares, [&](unsigned loop) { return !mix.getMap(shares).isFunctionOfDim(loop); });
}

/// Whether dimension `dim` of a value that is behind `steps` from the softmax comes from a loop that only one operand
/// of the scores has. Values must not differ along such a loop, since all rows of a tile are multiplied with the same
/// ones.
bool Analysis::differsByRow(int64_t dim, ArrayRef<Step> steps) const {
  auto scores = cast<graph::ContractOp>(geometry.root);
  SmallVector<AffineExpr> sizes(graph::getSizes(cast<RankedTensorType>(scores.getType())));
  return llvm::any_of(originsOf(dim, full, steps), [&](int64_t inSoftmax) {
    return llvm::any_of(originsOf(inSoftmax, result, softmaxSteps), [&](int64_t origin) {
      unsigned loop = cast<AffineDimExpr>(scores.getMap(2).getResult(static_cast<unsigned>(origin))).getPosition();
      return !normalize::isUnit(sizes[origin]) &&
             scores.getMap(0).isFunctionOfDim(loop) != scores.getMap(1).isFunctionOfDim(loop);
    });
  });
}

/// The second contraction sums over the elements of the softmax's rows, and over nothing else. Its other operand is the
/// same for all rows.
std::optional<Reason> Analysis::endSoftmax(graph::ContractOp op) {
  unsigned shares = placeOf(op.getLhs()).space == Space::Full ? 0 : 1;
  Place place = placeOf(op->getOperand(shares));
  if (mix || place.space != Space::Full || placeOf(op->getOperand(1 - shares)).space != Space::Free)
    return Reason::SecondContraction;
  std::optional<int64_t> keys = follow(axes.front(), full, place.steps);
  SmallVector<AffineExpr> sizes(graph::getSizes(cast<RankedTensorType>(op->getOperand(shares).getType())));
  for (auto [dim, expr] : llvm::enumerate(op.getMap(shares).getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    bool isSummed = !op.getMap(2).isFunctionOfDim(loop);
    if (isSummed != (keys == static_cast<int64_t>(dim)))
      return Reason::KeysMixed;
    if (!isSummed && op.getMap(1 - shares).isFunctionOfDim(loop) && !normalize::isUnit(sizes[dim]) &&
        differsByRow(static_cast<int64_t>(dim), place.steps))
      return Reason::KeysMixed;
  }
  if (op.getMap(2).getNumDims() != op.getMap(2).getNumResults() + 1)
    return Reason::KeysMixed;
  if (!hasKnownHeads(cast<graph::ContractOp>(geometry.root), op, shares))
    return Reason::UnknownHead;
  mix = op;
  result = sizesOf(op.getResult());
  places[op.getResult()] = Place{Space::Result, {}};
  return std::nullopt;
}

/// Whether two values are the same one, or read from it by equal accesses.
static bool areEqual(Value a, Value b) {
  if (a == b)
    return true;
  auto first = a.getDefiningOp<graph::AccessOpInterface>(), second = b.getDefiningOp<graph::AccessOpInterface>();
  return first && second && a.getType() == b.getType() && first->getName() == second->getName() &&
         first->getName().compareOpProperties(first->getPropertiesStorage(), second->getPropertiesStorage()) &&
         llvm::equal(first->getOperands(), second->getOperands(), areEqual);
}

/// Whether an operand is in memory, maybe in a narrower type, and not computed by the kernel.
bool Analysis::isRead(Value operand) const {
  while (isa_and_nonnull<graph::AccessOpInterface, arith::ExtFOp>(operand.getDefiningOp()))
    operand = operand.getDefiningOp()->getOperand(0);
  return !operand.getDefiningOp() || !members.contains(operand.getDefiningOp()) ||
         isConstantLike(operand.getDefiningOp());
}

/// Whether a contraction shares its left side and its loops with the root, so that one loop sums both. Windows, and
/// what the right sides are computed from, would need more registers than several sums leave.
bool Analysis::sharesLoops(graph::ContractOp op) const {
  auto first = dyn_cast<graph::ContractOp>(geometry.root);
  return first && geometry.more.size() + 1 < mostContractions && areEqual(first.getLhs(), op.getLhs()) &&
         first.getType() == op.getType() && first.getRhs().getType() == op.getRhs().getType() &&
         first->getName().compareOpProperties(first->getPropertiesStorage(), op->getPropertiesStorage()) &&
         placeOf(op.getLhs()).space == Space::Free && !windowed.contains(op.getLhs()) && sideOfColumns(op) == 1 &&
         isRead(first.getRhs()) && isRead(op.getRhs());
}

std::optional<Reason> Analysis::visitContract(graph::ContractOp op) {
  if (geometry.kind == RootKind::Attention)
    return endSoftmax(op);
  if (geometry.kind == RootKind::Matmul && sharesLoops(op)) {
    geometry.more.push_back(op);
    places[op.getResult()] = Place{Space::Result, {}};
    return std::nullopt;
  }
  if (geometry.root)
    return geometry.kind == RootKind::Matmul ? Reason::SecondContraction : Reason::SecondReduction;
  geometry.root = op;
  geometry.kind = RootKind::Matmul;
  result = sizesOf(op.getResult());
  places[op.getResult()] = Place{Space::Result, {}};
  return std::nullopt;
}

std::optional<Reason> Analysis::visit(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Reason>>(op)
      .Case<graph::AccessOpInterface>([&](graph::AccessOpInterface access) { return visitAccess(access); })
      .Case<graph::ReduceOp>([&](graph::ReduceOp reduce) { return visitReduce(reduce); })
      .Case<graph::ContractOp>([&](graph::ContractOp contract) { return visitContract(contract); })
      .Case<graph::ConcatOp>([&](graph::ConcatOp concat) -> std::optional<Reason> {
        if (llvm::any_of(concat.getInputs(), [&](Value input) { return places.count(input); }))
          return Reason::MapNotInvertible;
        return std::nullopt;
      })
      .Case<graph::IotaOp>([](auto) { return std::nullopt; })
      .Default([&](Operation *other) -> std::optional<Reason> {
        if (isConstantLike(other))
          return std::nullopt;
        if (isElementwise(other))
          return join(other->getOperands(), other->getResult(0));
        return Reason::DataDependent;
      });
}

/// An attention is one only if its second contraction is there, and what is between the two is a softmax.
std::optional<Refusal> Analysis::checkSoftmax() {
  if (geometry.kind != RootKind::Attention)
    return std::nullopt;
  if (!mix)
    return Refusal{Reason::ReductionOfContraction, geometry.root};
  std::variant<Attention, Refusal> attention = takeApart(cast<graph::ContractOp>(geometry.root), mix);
  if (auto *refusal = std::get_if<Refusal>(&attention))
    return *refusal;
  return std::nullopt;
}

/// Outputs are stored from the root's iteration space, so each must have one element for each of its points or rows.
/// Only a contraction can store several outputs in different orders.
std::optional<Refusal> Analysis::checkOutputs() {
  AffineExpr count;
  for (Value output : geometry.outputs) {
    Place place = placeOf(output);
    Space space = place.space;
    bool isPermuted = llvm::any_of(place.steps, [](const Step &step) { return !step.perm.empty(); });
    bool isContraction = geometry.kind == RootKind::Matmul || geometry.kind == RootKind::Attention;
    if (isPermuted && geometry.outputs.size() > 1 && !isContraction)
      return Refusal{Reason::OutputsDiffer, output.getDefiningOp()};
    bool fits = geometry.kind == RootKind::Attention ? space == Space::Result : space != Space::Free;
    if (geometry.kind == RootKind::Pointwise) {
      auto type = cast<RankedTensorType>(output.getType());
      AffineExpr elements = graph::productOf(type.getContext(), graph::getSizes(type));
      fits = !count || count == elements;
      count = elements;
    } else if (geometry.kind == RootKind::RowReduction) {
      fits |= sizesOf(output) == full;
    }
    if (!fits)
      return Refusal{geometry.kind == RootKind::Pointwise ? Reason::OutputsDiffer : Reason::NeededInMemory,
                     output.getDefiningOp()};
  }
  return std::nullopt;
}

GeometryOrRefusal Analysis::run(ArrayRef<Operation *> ops) {
  members.insert_range(ops);
  for (Operation *op : ops) {
    if (isa<graph::WindowOp>(op) || (isWindowed(op->getOperands()) && !isa<graph::ReduceOp, graph::ContractOp>(op)))
      windowed.insert_range(op->getResults());
    if (std::optional<Reason> reason = visit(op))
      return Refusal{*reason, op};
    for (Value result : op->getResults())
      if (!isConstantLike(op) &&
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); }))
        geometry.outputs.push_back(result);
  }
  if (std::optional<Refusal> refusal = checkSoftmax())
    return *refusal;
  if (std::optional<Refusal> refusal = checkOutputs())
    return *refusal;
  return std::move(geometry);
}

} // namespace

GeometryOrRefusal fusion::analyze(ArrayRef<Operation *> ops) { return Analysis().run(ops); }

std::optional<unsigned> fusion::sideOfColumns(graph::ContractOp contract) {
  for (AffineExpr expr : llvm::reverse(contract.getMap(2).getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    bool left = contract.getMap(0).isFunctionOfDim(loop), right = contract.getMap(1).isFunctionOfDim(loop);
    if (left != right)
      return left ? 0 : 1;
  }
  return std::nullopt;
}

FailureOr<Geometry> fusion::analyze(graph::KernelOp kernel) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front().without_terminator())
    ops.push_back(&op);
  GeometryOrRefusal geometry = analyze(ops);
  if (auto *refusal = std::get_if<Refusal>(&geometry))
    return refusal->at->emitOpError("does not fit into kernel @")
           << kernel.getSymName() << " because " << text(refusal->reason).sentence;
  return std::get<Geometry>(std::move(geometry));
}
