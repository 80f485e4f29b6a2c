// SPDX-License-Identifier: Apache-2.0
// Which reductions are split, into how many parts, along which dimension.
#include "fusion/LongReductions.h"

#include "fusion/Columns.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"
#include "frontend/normalize/Rebuild.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;
using normalize::Sizes;

namespace {

/// When to split, and how far.
struct SplitRule {
  int64_t leastLength;  // of a reduction that is split
  int64_t mostPrograms; // that compute the whole results; more keep the machine busy
  int64_t part;         // the elements of a part, about
};
constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

/// Rows are reduced along the innermost dimension, so that lanes and threads add side by side; columns are all others.
/// A GPU has some 130 multiprocessors. The threads of a program share a column there, so only very long ones pay for a
/// second kernel: 32 columns of 12,544 halves took 9.7 us whole and 11.7 split (H100). A CPU's lane adds a column from
/// beginning to end, so columns are split because each addition rounds, and rows for the cores alone.
///
/// Long rows are split where so few programs compute them that most multiprocessors have none: 8 softmaxes of 128,256
/// halves take 21.0 us whole and 13.3 split (H200), but 64 of them 25.0 and 46.7. A split softmax is six kernels, which
/// compute exponentials again, and a split norm four, so a norm is still split where a softmax is not. The first rule
/// that holds is taken (docs/performance/gpu-rows.md, "Which long rows are split"), but not where the blocks of a
/// cluster hold the row (isHeldRow).
constexpr SplitRule rowsOfGpus[] = {{1 << 18, 128, 1 << 13},
                                    {1 << 17, 64, 1 << 13},
                                    {3 << 15, 32, 1 << 13},
                                    {1 << 16, 16, 1 << 13},
                                    {3 << 14, 8, 1 << 13}},
                    softmaxesOfGpus[] = {{1 << 18, 32, 1 << 13}, {1 << 16, 16, 1 << 13}, {3 << 14, 8, 1 << 13}},
                    columnsOfGpus[] = {{1 << 14, 32, 1 << 12}}, rowsOfCpus[] = {{1 << 20, 16, 1 << 16}},
                    columnsOfCpus[] = {{1 << 14, unlimited, 1 << 12}};
constexpr int64_t columnsOfProgram = 32, leastInnermost = 128;

} // namespace

/// Whether the innermost dimensions are reduced and, on a GPU, fill the threads of a program.
static bool hasRows(graph::ReduceOp reduce, Machine machine) {
  Sizes sizes = normalize::sizesOf(reduce.getInput());
  int64_t row = 1, dim = static_cast<int64_t>(sizes.size()) - 1;
  if (reduce.getAxes().back() != dim)
    return false;
  for (; row < leastInnermost && llvm::is_contained(reduce.getAxes(), dim); --dim)
    row *= graph::constantSize(sizes[dim]).value_or(leastInnermost);
  return machine == Machine::Cpu || row >= leastInnermost;
}

/// The elements of one result, if they are known.
static std::optional<int64_t> lengthOf(graph::ReduceOp reduce) {
  Sizes sizes = normalize::sizesOf(reduce.getInput());
  int64_t length = 1;
  for (int64_t axis : reduce.getAxes()) {
    std::optional<int64_t> size = graph::constantSize(sizes[axis]);
    if (!size)
      return std::nullopt;
    length *= *size;
  }
  return length;
}

/// How many programs compute the results. Sizes that are not known, mostly that of a batch, count as 1.
static int64_t programsOf(graph::ReduceOp reduce, bool rows) {
  int64_t results = 1;
  for (AffineExpr size : normalize::sizesOf(reduce.getResult()))
    results *= graph::constantSize(size).value_or(1);
  return rows ? results : llvm::divideCeil(results, columnsOfProgram);
}

/// Whether elementwise operations alone lie between a contraction and `value`.
static bool comesFromContraction(Value value) {
  SmallVector<Value> open = {value};
  llvm::DenseSet<Operation *> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<graph::ContractOp>(op))
      return true;
    if (normalize::isElementwise(op) || isa<graph::ReshapeOp, graph::TransposeOp>(op))
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

/// Whether this may be of a softmax: a maximum, or a sum of exponentials.
static bool isOfSoftmax(graph::ReduceOp reduce) {
  return reduce.getKind() == graph::ReduceKind::Max || reduce.getInput().getDefiningOp<math::ExpOp>() ||
         reduce.getInput().getDefiningOp<math::Exp2Op>();
}

/// Whether this may be the softmax of an attention, which is one kernel with the contractions beside it.
static bool maySoftenScores(graph::ReduceOp reduce) {
  return isOfSoftmax(reduce) && comesFromContraction(reduce.getInput());
}

static ArrayRef<SplitRule> rulesFor(graph::ReduceOp reduce, bool rows, Machine machine) {
  if (machine == Machine::Cpu)
    return rows ? ArrayRef(rowsOfCpus) : ArrayRef(columnsOfCpus);
  if (!rows)
    return columnsOfGpus;
  return isOfSoftmax(reduce) ? ArrayRef(softmaxesOfGpus) : ArrayRef(rowsOfGpus);
}

/// Null where none of the rules splits a reduction of this length, whose whole results `programs` compute.
static const SplitRule *firstThatHolds(ArrayRef<SplitRule> rules, int64_t length, int64_t programs) {
  const SplitRule *rule =
      llvm::find_if(rules, [&](const SplitRule &r) { return length >= r.leastLength && programs <= r.mostPrograms; });
  return rule == rules.end() ? nullptr : rule;
}

/// What reads `value`, through elementwise operations and reshapes, and broadcasts if these are not where it ends.
static llvm::SetVector<Operation *> readersOf(Value value, bool throughBroadcasts) {
  llvm::SetVector<Operation *> open(value.user_begin(), value.user_end());
  for (size_t i = 0; i < open.size(); ++i)
    if (normalize::isElementwise(open[i]) || isa<graph::ReshapeOp>(open[i]) ||
        (throughBroadcasts && isa<graph::BroadcastOp>(open[i])))
      open.insert(open[i]->user_begin(), open[i]->user_end());
  return open;
}

/// Is the result of `reduce` read again for each of the elements that it reduces?
static bool meetsItsElements(graph::ReduceOp reduce) {
  return llvm::any_of(readersOf(reduce.getResult(), /*throughBroadcasts=*/false), [&](Operation *op) {
    return isa<graph::BroadcastOp>(op) && normalize::sizesOf(op->getResult(0)) == normalize::sizesOf(reduce.getInput());
  });
}

/// Whether this reduces columns that a program can hold, and the result is read again for each of their elements. The
/// readers are then in the same kernel (Geometry.h).
static bool isHeldColumn(graph::ReduceOp reduce) {
  return !hasRows(reduce, Machine::Gpu) && canHoldColumns(reduce) && meetsItsElements(reduce);
}

/// Whether this reduces rows that the blocks of a cluster can hold, and the result is read again for each of their
/// elements, or it reduces what such a result was read for, as the sum of a softmax does. Elements are at most singles,
/// since a thread has registers for so many.
static bool isHeldRow(graph::ReduceOp reduce, int64_t longestHeldRow) {
  auto canBeHeld = [&](graph::ReduceOp op) {
    std::optional<int64_t> length = lengthOf(op);
    return op.getAxes().size() == 1 && hasRows(op, Machine::Gpu) && length && *length <= longestHeldRow &&
           getElementTypeOrSelf(op.getInput()).getIntOrFloatBitWidth() <= 32;
  };
  auto readersAreHeld = [&](graph::ReduceOp op) {
    return llvm::all_of(readersOf(op.getResult(), /*throughBroadcasts=*/true), [&](Operation *reader) {
      auto next = dyn_cast<graph::ReduceOp>(reader);
      return !next || canBeHeld(next);
    });
  };
  auto isReadAgain = [&](graph::ReduceOp op) { return canBeHeld(op) && meetsItsElements(op) && readersAreHeld(op); };
  auto all = reduce->getParentOfType<func::FuncOp>().front().getOps<graph::ReduceOp>();
  return isReadAgain(reduce) ||
         (canBeHeld(reduce) && llvm::any_of(all, [&](graph::ReduceOp other) {
            return isReadAgain(other) && readersOf(other.getResult(), /*throughBroadcasts=*/true).contains(reduce);
          }));
}

/// The divisor of `size` that is nearest to `wanted`, in proportion.
static int64_t nearestDivisor(int64_t size, double wanted) {
  int64_t best = 1;
  auto distance = [&](int64_t divisor) { return std::abs(std::log(static_cast<double>(divisor) / wanted)); };
  for (int64_t low = 1; low <= size / low; ++low)
    for (int64_t divisor : {low, size / low})
      if (size % low == 0 && distance(divisor) < distance(best))
        best = divisor;
  return best;
}

/// Into how many equal pieces to cut each dimension, outer ones first, so that there are about `wanted` parts.
static SmallVector<int64_t> piecesOf(graph::ReduceOp reduce, double wanted) {
  SmallVector<int64_t> pieces;
  for (auto [dim, size] : llvm::enumerate(normalize::sizesOf(reduce.getInput()))) {
    bool isCut = llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(dim)) && wanted >= 1.5;
    pieces.push_back(isCut ? nearestDivisor(*graph::constantSize(size), wanted) : 1);
    wanted /= static_cast<double>(pieces.back());
  }
  return pieces;
}

/// Returns the reduction of the parts' results.
static graph::ReduceOp split(graph::ReduceOp reduce, ArrayRef<int64_t> pieces) {
  PatternRewriter rewriter(reduce.getContext());
  normalize::Rebuild rebuild(rewriter, reduce);
  Sizes sizes;
  SmallVector<int64_t> inside, across; // what is reduced first: dimensions within a part; then: those that count parts
  for (auto [dim, size] : llvm::enumerate(normalize::sizesOf(reduce.getInput()))) {
    bool isReduced = llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(dim));
    if (pieces[dim] > 1) {
      across.push_back(static_cast<int64_t>(sizes.size() - inside.size()));
      sizes.push_back(getAffineConstantExpr(pieces[dim], reduce.getContext()));
    }
    if (isReduced)
      inside.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(size.floorDiv(pieces[dim]));
  }
  Value parts = rebuild.reshape(reduce.getInput(), sizes);
  Value results = rebuild.reduce(reduce, rebuild.reduce(reduce, parts, inside), across);
  rewriter.replaceOp(reduce, results);
  return results.getDefiningOp<graph::ReduceOp>();
}

/// Splits a reduction if that pays, and returns the reduction of the parts' results, which may be long itself. Null if
/// the reduction stays whole.
static graph::ReduceOp splitOnce(graph::ReduceOp reduce, Machine machine, int64_t longestHeldRow) {
  if (machine == Machine::Gpu && isHeldColumn(reduce))
    return nullptr;
  bool rows = hasRows(reduce, machine);
  std::optional<int64_t> length = lengthOf(reduce);
  const SplitRule *rule = length && !(rows && maySoftenScores(reduce))
                              ? firstThatHolds(rulesFor(reduce, rows, machine), *length, programsOf(reduce, rows))
                              : nullptr;
  if (!rule || isHeldRow(reduce, longestHeldRow))
    return nullptr;
  SmallVector<int64_t> pieces = piecesOf(reduce, static_cast<double>(*length) / static_cast<double>(rule->part));
  int64_t parts = 1;
  for (int64_t count : pieces)
    parts *= count;
  return parts > 1 && parts < *length ? split(reduce, pieces) : nullptr;
}

void fusion::splitLongReductions(func::FuncOp main, Machine machine, int64_t longestHeldRow) {
  for (auto reduce : llvm::make_early_inc_range(main.front().getOps<graph::ReduceOp>()))
    while (reduce)
      reduce = splitOnce(reduce, machine, longestHeldRow);
}

/// Is `op` summed in parts, perhaps behind other elementwise operations that nothing else reads?
static bool isSummedInParts(Operation *op) {
  while (op->hasOneUse() && (normalize::isElementwise(op) || isa<graph::ReshapeOp>(op)))
    op = *op->user_begin();
  return isa<graph::ReduceOp>(op) && llvm::any_of(op->getUsers(), llvm::IsaPred<graph::ReduceOp>);
}

void fusion::centerForEachReader(func::FuncOp main) {
  for (auto center : llvm::make_early_inc_range(main.front().getOps<arith::SubFOp>())) {
    bool subtractsMean = center.getRhs().getDefiningOp<graph::BroadcastOp>() != nullptr;
    llvm::SetVector<Operation *> readers(center->user_begin(), center->user_end());
    if (!subtractsMean || readers.size() < 2 || llvm::none_of(readers, isSummedInParts))
      continue;
    for (Operation *reader : readers.getArrayRef().drop_front()) {
      Operation *again = OpBuilder(center).clone(*center);
      reader->replaceUsesOfWith(center.getResult(), again->getResult(0));
    }
  }
}
