// SPDX-License-Identifier: Apache-2.0
// Estimates how much work a fusion would repeat.
#include "fusion/cost/CostModel.h"

#include "fusion/OnnxNodes.h"
#include "fusion/cost/Iterations.h"
#include "fusion/products/AlignedConstants.h"
#include "fusion/windows/ChannelsLast.h"
#include "fusion/windows/ComputedFilters.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Reassociation.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {

/// The cost of one element, in additions. Elementwise operations that are not listed cost 1.
struct WorkRow {
  llvm::StringLiteral op;
  unsigned work;
};
constexpr WorkRow workTable[] = {
    {"arith.extf", 0},   {"arith.truncf", 0},   {"arith.extsi", 0},   {"arith.extui", 0}, {"arith.trunci", 0},
    {"arith.uitofp", 0}, {"arith.sitofp", 0},   {"arith.bitcast", 0}, {"arith.divf", 4},  {"arith.divsi", 16},
    {"arith.divui", 16}, {"arith.remsi", 16},   {"arith.remui", 16},  {"arith.remf", 16}, {"math.sqrt", 4},
    {"math.rsqrt", 4},   {"math.absf", 1},      {"math.absi", 1},     {"math.floor", 1},  {"math.ceil", 1},
    {"math.round", 1},   {"math.roundeven", 1}, {"math.trunc", 1},    {"math.fma", 1},    {"math.copysign", 1},
    {"graph.gather", 2}, {"graph.concat", 16},  {"graph.iota", 0},    {"math.tanh", 24},
};
constexpr unsigned transcendental = 12; // any other function of the math dialect

/// Limits of the work that may be repeated, in additions for each element read. They are small because fusion only
/// saves one pass over memory. Contractions and windows read each element of an operand so often that only accesses and
/// conversions pay: even max(x, 0) in front of a 3x3 pooling costs more than writing and reading its result (on the
/// host 1.5 times the two kernels). An exception is work of the same ONNX node, such as the squares of a local response
/// normalization, which `reducedOperandLimit` bounds.
constexpr unsigned contractOperandLimit = 0;
constexpr unsigned windowOperandLimit = 0;
constexpr unsigned reducedOperandLimit = 4;
constexpr unsigned broadcastLimit = 4; // not 0, because a value that is equal in all lanes of a tile is computed once
/// Weights that are stored in a small share of the bytes that they are multiplied in, such as numbers of four bits with
/// a scale for each block, are dearer to write out and read again than to compute for each tile of rows. Measured for
/// 4,096 by 4,096 numbers of four bits on the host, relative to two kernels: 1 row 0.13, 16 rows 0.40, 128 rows 0.8.
constexpr unsigned storedWeightLimit = 8;
constexpr double mostStoredBytes = 0.6; // bytes with scales for blocks of 32, multiplied as halves, are 0.55
/// The most rows for which a GPU computes such weights in the kernel that multiplies them. Measured on an H200,
/// relative to two kernels, in halves: 1 row 0.42, 128 rows 0.70, 512 rows 1.4; in singles: 1 row 0.5, 64 rows 0.8, 128
/// rows 1.2. A number of rows that is not known counts as few, since it is mostly that of a decoder, which runs for one
/// row.
constexpr double mostRowsOfStoredHalves = 128, mostRowsOfStoredSingles = 64;
/// The cost of writing a value and reading it again, in additions for each element. Measured on a core: computing tanh
/// three times for an element is slower than storing it, computing it twice is not. A GPU adds about 80 times while it
/// moves 8 bytes (H100: 33 T/s and 3.35 TB/s), and each kernel is a launch: a bilinear resize to twice the size takes
/// 0.4 to 0.8 of the time of two kernels, one for each axis.
constexpr double passOverMemory = 12, passOverMemoryOfGpu = 60;

/// On a core, in a row of fewer elements there is too little independent work to hide the latency of a function, and
/// lanes idle at the row's end. Elementwise work of other nodes beyond `work` is then faster in a kernel of its own.
/// Measured time of the fused kernel relative to two kernels: exp before a sum of 40 elements 1.56, of 64 elements
/// 0.95; tanh before 256 elements 1.25, before 1,024 elements 1.0. On a GPU one kernel takes 0.4 to 0.9 of the time of
/// two or three (H100, rows of 7 to 930 elements; docs/performance/gpu-rows.md).
struct RowLimit {
  double elements;
  unsigned work;
};
constexpr RowLimit rowLimits[] = {{64, 4}, {1024, 23}};

/// The least rows of an attention that share its keys and values. With fewer, the time is that of reading keys and
/// values from memory, in one kernel as in three.
constexpr double leastAttentionRows = 32;
/// The least keys of an attention: in shorter rows there is too little independent work to hide the latency of a row's
/// maximum and sum. Measured time of one kernel relative to three: 49 keys 1.23, 64 keys of heads of 32 1.10, 77 keys
/// 1.06.
constexpr double leastAttentionKeys = 128;
/// The least bytes of an attention's scores for one kernel; fewer stay in the caches between kernels. Measured time of
/// one kernel relative to three, heads of 64: 0.4 MB 1.07, 1.2 MB 1.03, 1.9 MB 0.96, 12 MB 0.91, 33 MB 0.92.
constexpr double leastScoreBytes = 1.5 * (1 << 20);

/// True if the broadcast's result has more elements than its operand.
bool repeats(graph::BroadcastOp op) {
  auto count = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return graph::productOf(type.getContext(), graph::getSizes(type));
  };
  return count(op.getData()) != count(op.getResult());
}

/// True if the gather's last index is the result's last coordinate, so that neighbours there are neighbours in the
/// data.
bool readsAlongRows(graph::GatherOp gather) {
  unsigned rank = cast<RankedTensorType>(gather.getType()).getRank();
  AffineMap map = gather.getMap();
  return rank > 0 && map.getNumResults() > 0 &&
         map.getResults().back() == getAffineDimExpr(rank - 1, gather.getContext());
}

/// True if `op` is a broadcast that keeps the operand's last dimension last, and so repeats whole rows of it.
bool repeatsRows(Operation *op) {
  auto broadcast = dyn_cast<graph::BroadcastOp>(op);
  return broadcast && !broadcast.getDims().empty() &&
         broadcast.getDims().back() == cast<RankedTensorType>(broadcast.getType()).getRank() - 1;
}

/// The operations of one kernel, and questions about what its values are computed from.
class Kernel {
public:
  explicit Kernel(ArrayRef<Operation *> ops) : members(ops.begin(), ops.end()) {}

  /// Whether computing one element of each of `values` takes more than `limit` additions.
  bool exceeds(ValueRange values, double limit) const {
    double work = 0;
    return !walk(values, [&](Operation *op) { return (work += elementWork(op)) <= limit; });
  }
  bool reachesReduction(ValueRange values) const {
    return !walk(values, [](Operation *op) { return !isa<graph::ReduceOp>(op); });
  }
  bool contains(Operation *op) const { return members.contains(op); }
  bool expandsStoredWeights(Value value) const;
  bool repeatsReads(Value value, Machine machine) const;
  bool slidesOverWork(graph::WindowOp window) const;
  bool computesPixels(graph::WindowOp window) const;
  bool padsSlice(graph::WindowOp window) const;
  graph::ConcatOp interleavedBy(graph::TransposeOp transpose) const;
  bool scattersRows(graph::TransposeOp transpose) const;
  bool scattersResults(graph::TransposeOp transpose) const;
  bool turnsLongRows(graph::TransposeOp transpose) const;
  bool joinsSlices(graph::ConcatOp concat) const;

private:
  bool isCutAlong(Value value, ArrayRef<int64_t> dims) const;
  /// Visits the members that `values` are computed from, until `visit` returns false. True if it never did.
  bool walk(ValueRange values, llvm::function_ref<bool(Operation *)> visit) const;

  llvm::SmallPtrSet<Operation *, 16> members;
};

bool Kernel::walk(ValueRange values, llvm::function_ref<bool(Operation *)> visit) const {
  llvm::SetVector<Operation *> found;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || !members.contains(op) || !found.insert(op) || visit(op);
  };
  if (!llvm::all_of(values, add))
    return false;
  for (size_t i = 0; i < found.size(); ++i)
    if (!llvm::all_of(found[i]->getOperands(), add))
      return false;
  return true;
}

/// True if `value` is computed from constants that take a small share of its bytes.
bool Kernel::expandsStoredWeights(Value value) const {
  auto bytesOf = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return elementsOf(value) * std::max(1u, type.getElementTypeBitWidth() / 8);
  };
  llvm::SetVector<Value> found;
  found.insert(value);
  double stored = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    Operation *op = found[i].getDefiningOp();
    if (op && members.contains(op))
      found.insert_range(op->getOperands());
    else if (op && isa<graph::ConstantOp>(op))
      stored += bytesOf(found[i]);
    else if (!op || !op->hasTrait<OpTrait::ConstantLike>())
      return false;
  }
  return stored > 0 && stored <= mostStoredBytes * bytesOf(value);
}

/// True if the accesses that read `value` repeat more work than a pass over memory costs. Each slice, roll, gather and
/// pad computes the elements that it needs, and a concatenation computes every input for each element of its result.
bool Kernel::repeatsReads(Value value, Machine machine) const {
  double times = 0, count = 0;
  bool readInPlace = false;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto access = dyn_cast<graph::AccessOpInterface>(user);
    bool elsewhere =
        isa<graph::ConcatOp>(user) ||
        (isa<graph::SliceOp, graph::RollOp, graph::PadOp, graph::GatherOp>(user) && access.getData() == value);
    if (!members.contains(user) || !elsewhere) {
      readInPlace = true;
      continue;
    }
    count = count ? count : std::max(1.0, elementsOf(value));
    times += elementsOf(user->getResult(0)) / count;
  }
  times += readInPlace && times > 0;
  double pass = machine == Machine::Cpu ? passOverMemory : passOverMemoryOfGpu;
  return times > 1 && exceeds(value, pass / (times - 1));
}

/// True if the operand of a window is computed with too much work, or contains a broadcast (as in nearest-neighbour
/// resizing). In that case every element of every window would need divisions for its coordinates, and no load would be
/// contiguous.
bool Kernel::slidesOverWork(graph::WindowOp window) const {
  bool repeated = !walk(window.getData(), [](Operation *op) {
    auto broadcast = dyn_cast<graph::BroadcastOp>(op);
    return !broadcast || !repeats(broadcast);
  });
  bool itsOwn =
      walk(window.getData(), [&](Operation *op) { return elementWork(op) == 0 || nodeOf(op) == nodeOf(window); });
  return repeated || exceeds(window.getData(), itsOwn ? reducedOperandLimit : windowOperandLimit);
}

/// True if the operand of windows that a copy engine is to bring is computed by this kernel, other than by reshapes.
/// The engine only brings what lies in memory.
bool Kernel::computesPixels(graph::WindowOp window) const {
  return window.getPixels() && !walk(window.getData(), [](Operation *op) { return isa<graph::ReshapeOp>(op); });
}

/// True if `value` is a slice that is shorter than its buffer along one of `dims`. The bounds check of a load cannot
/// tell the ends of such a slice, which lie inside of the buffer, so each element's coordinate would have to be
/// compared.
bool Kernel::isCutAlong(Value value, ArrayRef<int64_t> dims) const {
  auto slice = value.getDefiningOp<graph::SliceOp>();
  if (!slice || !members.contains(slice))
    return false;
  SmallVector<AffineExpr> from(graph::getSizes(cast<RankedTensorType>(slice.getData().getType())));
  SmallVector<AffineExpr> to(graph::getSizes(cast<RankedTensorType>(slice.getType())));
  return llvm::any_of(dims, [&](int64_t dim) { return from[dim] != to[dim]; });
}

/// True if a window pads the borders of a slice. Measured on the host for a 3x39 convolution: 1.25 times two kernels.
bool Kernel::padsSlice(graph::WindowOp window) const {
  return isCutAlong(window.getData(), window.getDims()) &&
         llvm::any_of(window.getLow(), [](int64_t low) { return low != 0; });
}

/// True if a concatenation joins slices along the axis that they are cut along, as a roll made of slices does. Measured
/// on the host: 5 times the time of separate kernels. On a GPU it is the launches that count.
bool Kernel::joinsSlices(graph::ConcatOp concat) const {
  return llvm::any_of(concat.getInputs(),
                      [&](Value input) { return isCutAlong(input, {static_cast<int64_t>(concat.getAxis())}); });
}

/// True if a reshape of the transpose regroups the dimension that is contiguous in memory, together with one behind it,
/// into other dimensions. Then no dimension of the reshape's result is contiguous, and a reduction could read whole
/// vectors neither along rows nor across them. Measured on the host for group normalization of an image that lies
/// channels last: 5 times the time of two kernels.
bool Kernel::scattersRows(graph::TransposeOp transpose) const {
  ArrayRef<int64_t> perm = transpose.getPerm();
  auto inner = static_cast<unsigned>(llvm::find(perm, static_cast<int64_t>(perm.size()) - 1) - perm.begin());
  SmallVector<AffineExpr> from(graph::getSizes(cast<RankedTensorType>(transpose.getType())));
  return llvm::any_of(transpose->getUsers(), [&](Operation *user) {
    auto reshape = dyn_cast<graph::ReshapeOp>(user);
    if (!reshape || !members.contains(user))
      return false;
    SmallVector<AffineExpr> to(graph::getSizes(cast<RankedTensorType>(reshape.getType())));
    return llvm::any_of(normalize::reassociation(from, to), [&](const normalize::ReassociationGroup &group) {
      return group.fromBegin <= inner && inner < group.fromEnd && group.toCount() > 1 &&
             normalize::countReal(from, inner + 1, group.fromEnd) > 0;
    });
  });
}

/// True if a transpose of a reduction's results makes a dimension innermost that a reshape has split off the reduced
/// rows. The results would be stored element by element. Measured on the host for group normalization of an image that
/// is to lie channels last: 30 times the time of two kernels.
bool Kernel::scattersResults(graph::TransposeOp transpose) const {
  auto type = cast<RankedTensorType>(transpose.getData().getType());
  auto inner = static_cast<size_t>(transpose.getPerm().back());
  if (inner + 1 == static_cast<size_t>(type.getRank()) || !reachesReduction(transpose.getData()))
    return false;
  SmallVector<AffineExpr> to(graph::getSizes(type));
  return !walk(transpose.getData(), [&](Operation *op) {
    auto reshape = dyn_cast<graph::ReshapeOp>(op);
    if (!reshape || SmallVector<AffineExpr>(graph::getSizes(cast<RankedTensorType>(reshape.getType()))) != to)
      return true;
    SmallVector<AffineExpr> from(graph::getSizes(cast<RankedTensorType>(reshape.getData().getType())));
    return llvm::none_of(normalize::reassociation(to, from), [&](const normalize::ReassociationGroup &group) {
      return group.fromBegin <= inner && inner < group.fromEnd && group.toCount() > 0 &&
             normalize::countReal(to, inner + 1, group.fromEnd) > 0;
    });
  });
}

/// True if a transpose makes another dimension innermost than that of the long rows which this kernel reduces and
/// returns whole. A block has few such rows, so few elements that it stores would be neighbours in memory, while two
/// kernels load and store pieces of 32 bytes, or the reader of the transpose turns what it loads. Measured on an H100
/// for 12 layers with rows of 768 (an MLP-Mixer): 746 us in one kernel, 522 in two; rows of 48 were as fast in one.
bool Kernel::turnsLongRows(graph::TransposeOp transpose) const {
  constexpr int64_t longest = 128; // a block has 8 such rows, 16 bytes of halves
  ArrayRef<int64_t> perm = transpose.getPerm();
  AffineExpr row = graph::getSizes(cast<RankedTensorType>(transpose.getData().getType())).back();
  if (perm.back() + 1 == static_cast<int64_t>(perm.size()) || graph::constantSize(row).value_or(longest + 1) <= longest)
    return false;
  return !walk(transpose.getData(), [&](Operation *op) {
    auto reduce = dyn_cast<graph::ReduceOp>(op);
    if (!reduce)
      return true;
    auto from = cast<RankedTensorType>(reduce.getInput().getType());
    return graph::getSizes(from).back() != row || !llvm::is_contained(reduce.getAxes(), from.getRank() - 1);
  });
}

/// The concatenation whose parts a transpose interleaves, as a channel shuffle does. Each element would choose its
/// source, and no load would be contiguous. Measured on the host: three times two kernels. Null if there is none.
graph::ConcatOp Kernel::interleavedBy(graph::TransposeOp transpose) const {
  Value value = transpose.getData();
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getData();
  auto concat = value.getDefiningOp<graph::ConcatOp>();
  int64_t last = transpose.getPerm().back(), rank = transpose.getPerm().size();
  if (!concat || !members.contains(concat) || last == rank - 1)
    return {};
  // In elements: the stride of a dimension, and its stride times its size.
  auto span = [](Value value, int64_t dim) {
    SmallVector<int64_t> sizes = nominalSizes(value);
    double step = 1;
    for (size_t i = dim + 1; i < sizes.size(); ++i)
      step *= static_cast<double>(sizes[i]);
    return std::pair(step, step * static_cast<double>(sizes[dim]));
  };
  auto [step, whole] = span(transpose.getData(), last);
  auto [stepOfPieces, wholeOfPieces] = span(concat, concat.getAxis());
  return step < wholeOfPieces && stepOfPieces < whole ? concat : graph::ConcatOp();
}

} // namespace

unsigned fusion::elementWork(Operation *op) {
  static const llvm::StringMap<unsigned> works = [] {
    llvm::StringMap<unsigned> result;
    for (const WorkRow &row : workTable)
      result[row.op] = row.work;
    return result;
  }();
  if (auto found = works.find(op->getName().getStringRef()); found != works.end())
    return found->second;
  if (isa<math::MathDialect>(op->getDialect()))
    return transcendental;
  return isElementwise(op) ? 1 : 0;
}

/// Whether `user` multiplies windows that are copied with `value`. Normalization leaves no transpose in front of a
/// contraction, so one that is there turns a computed filter (windows/ComputedFilters.h).
static bool isFilter(Operation *user, Value value) {
  auto contract = dyn_cast<graph::ContractOp>(user);
  return contract && isFilterOfCopies(contract, contract.getLhs() == value ? 0 : 1);
}

SmallVector<Operation *> fusion::repeatedStrides(graph::TransposeOp transpose, Machine machine) {
  if (transpose.getPerm().back() == static_cast<int64_t>(transpose.getPerm().size()) - 1)
    return {};
  SmallVector<Operation *> readers;
  double reads = 0;
  bool isCopied = false;
  llvm::SetVector<Value> names; // of the transposed value: reshapes keep the order of its elements
  names.insert(transpose.getResult());
  for (size_t i = 0; i < names.size(); ++i)
    for (Operation *user : names[i].getUsers()) {
      auto gather = dyn_cast<graph::GatherOp>(user);
      bool isWindow = isa<graph::WindowOp>(user),
           isCopy = machine == Machine::Gpu &&
                    (isWindow ? copiesChannels(cast<graph::WindowOp>(user)) : i == 0 && isFilter(user, names[0]));
      if (isa<graph::ReshapeOp>(user))
        names.insert(user->getResult(0));
      else if (gather ? readsAlongRows(gather)
                      : isa<graph::SliceOp, graph::RollOp, graph::PadOp>(user) || isCopy ||
                            (machine == Machine::Cpu && (isWindow || repeatsRows(user)))) {
        readers.push_back(user);
        reads += elementsOf(user->getResult(0));
        isCopied |= isCopy;
      }
    }
  return isCopied || reads >= 2 * elementsOf(transpose.getResult()) ? readers : SmallVector<Operation *>();
}

/// The operation that exceeds the limit for the length of the root's rows; null if none does.
static Operation *tooMuchForRows(ArrayRef<Operation *> ops, const Geometry &geometry) {
  Value input = geometry.root->getOperand(0);
  double full = elementsOf(input), row = full / std::max(1.0, elementsOf(geometry.root->getResult(0)));
  if (row >= std::end(rowLimits)[-1].elements || graph::getNumSymbols(cast<RankedTensorType>(input.getType())) > 0)
    return nullptr;
  llvm::SmallDenseSet<int64_t> reducing;
  for (Operation *op : ops)
    if (isa<graph::ReduceOp>(op))
      reducing.insert(nodeOf(op));
  unsigned work = 0;
  for (Operation *op : ops) {
    if (!isElementwise(op) || reducing.contains(nodeOf(op)) || elementsOf(op->getResult(0)) < full)
      continue;
    work += elementWork(op);
    if (llvm::any_of(rowLimits, [&](const RowLimit &limit) { return row < limit.elements && work > limit.work; }))
      return op;
  }
  return nullptr;
}

/// Refuses work on the operands of an attention's contractions, which would be repeated for each block of rows. The
/// softmax, which depends on a reduction, is not such an operand.
static std::optional<Refusal> repeatedByAttention(const Kernel &kernel, ArrayRef<Operation *> ops) {
  for (Operation *op : ops) {
    auto contract = dyn_cast<graph::ContractOp>(op);
    if (!contract)
      continue;
    SmallVector<Value> read;
    llvm::copy_if(contract.getOperands(), std::back_inserter(read),
                  [&](Value operand) { return !kernel.reachesReduction(operand); });
    if (kernel.exceeds(read, contractOperandLimit))
      return Refusal{Reason::RepeatsWork, op};
  }
  return std::nullopt;
}

/// Whether computing operand `side` for every tile is more work than may be repeated.
static bool repeatedByContraction(const Kernel &kernel, graph::ContractOp contract, unsigned side, Machine machine) {
  Value operand = contract->getOperand(side), other = contract->getOperand(1 - side);
  if (!kernel.exceeds(operand, contractOperandLimit))
    return false;
  bool isHalf = cast<RankedTensorType>(operand.getType()).getElementTypeBitWidth() == 16;
  double mostRows = isHalf ? mostRowsOfStoredHalves : mostRowsOfStoredSingles;
  bool areFew = machine == Machine::Cpu || graph::getNumSymbols(cast<RankedTensorType>(other.getType())) > 0 ||
                iterationsWithout(contract, 1 - side, side) <= mostRows;
  return !areFew || !kernel.expandsStoredWeights(operand) || kernel.exceeds(operand, storedWeightLimit);
}

std::optional<Refusal> fusion::repeatedWork(ArrayRef<Operation *> ops, const Geometry &geometry, Machine machine) {
  Kernel kernel(ops);
  auto repeatsOperand = [&](unsigned side) {
    return repeatedByContraction(kernel, cast<graph::ContractOp>(geometry.root), side, machine);
  };
  if ((geometry.kind == RootKind::Matmul && (repeatsOperand(0) || repeatsOperand(1))) ||
      (geometry.kind == RootKind::Window && kernel.exceeds(geometry.root->getOperands(), reducedOperandLimit)))
    return Refusal{Reason::RepeatsWork, geometry.root};
  if (geometry.areColumns && machine == Machine::Cpu) // each reading of them is a loop over all columns
    return Refusal{Reason::WindowIsRepeated, geometry.root};
  if (geometry.kind == RootKind::Attention)
    if (std::optional<Refusal> refusal = repeatedByAttention(kernel, ops))
      return refusal;
  if (geometry.kind == RootKind::RowReduction && machine == Machine::Cpu)
    if (Operation *op = tooMuchForRows(ops, geometry))
      return Refusal{Reason::ShortRows, op};
  for (Operation *op : ops) {
    if (auto window = dyn_cast<graph::WindowOp>(op)) {
      if (kernel.slidesOverWork(window) || kernel.padsSlice(window))
        return Refusal{Reason::RepeatsWork, op};
      if (geometry.kind == RootKind::Matmul && kernel.computesPixels(window))
        return Refusal{Reason::PixelsAreCopied, op};
      if (window.getCopied() && geometry.kind == RootKind::Matmul)
        return Refusal{Reason::WindowIsCopied, op};
    }
    if (auto pad = dyn_cast<graph::PadOp>(op);
        machine == Machine::Gpu && geometry.kind == RootKind::Matmul && pad && alignsRows(pad))
      return Refusal{Reason::RowsAreCopied, op};
    if (auto concat = dyn_cast<graph::ConcatOp>(op); machine == Machine::Cpu && concat && kernel.joinsSlices(concat))
      return Refusal{Reason::RepeatsWork, op};
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      if (geometry.kind == RootKind::RowReduction &&
          (kernel.scattersRows(transpose) ||
           (machine == Machine::Cpu ? kernel.scattersResults(transpose) : kernel.turnsLongRows(transpose))))
        return Refusal{Reason::ScatteredRows, op};
      if (graph::ConcatOp concat = kernel.interleavedBy(transpose))
        return Refusal{Reason::RepeatsWork, concat};
      if (llvm::any_of(repeatedStrides(transpose, machine), [&](Operation *reader) { return kernel.contains(reader); }))
        return Refusal{Reason::RepeatsWork, op};
    }
    if (auto broadcast = dyn_cast<graph::BroadcastOp>(op); broadcast && repeats(broadcast)) {
      // A value that follows a reduction of this kernel is computed once for each row and kept.
      bool keptByRow = kernel.reachesReduction(broadcast.getData());
      if (!keptByRow && kernel.exceeds(broadcast.getData(), broadcastLimit))
        return Refusal{Reason::RepeatsWork, op};
    }
    for (Value result : op->getResults())
      if (kernel.repeatsReads(result, machine))
        return Refusal{Reason::RepeatsWork, op};
  }
  return std::nullopt;
}

std::optional<Refusal> fusion::smallAttention(ArrayRef<Operation *> ops) {
  graph::ContractOp scores, mix; // in program order
  for (Operation *op : ops)
    if (auto contract = dyn_cast<graph::ContractOp>(op))
      (scores ? mix : scores) = contract;
  unsigned shares = Kernel(ops).reachesReduction(mix.getLhs()) ? 0 : 1;
  if (graph::getNumSymbols(cast<RankedTensorType>(scores.getType())) == 0) {
    if (4 * elementsOf(scores.getResult()) < leastScoreBytes)
      return Refusal{Reason::SmallScores, scores};
    if (iterationsWithout(mix, shares, 2) < leastAttentionKeys)
      return Refusal{Reason::ShortRows, mix};
  }
  if (iterationsWithout(mix, shares, 1 - shares) < leastAttentionRows)
    return Refusal{Reason::FewRows, mix};
  return std::nullopt;
}
