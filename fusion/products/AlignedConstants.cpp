// SPDX-License-Identifier: Apache-2.0
#include "fusion/products/AlignedConstants.h"

#include "fusion/cost/Iterations.h"
#include "fusion/windows/ZeroFilled.h"

#include "frontend/normalize/Rebuild.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <optional>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

constexpr int64_t bytesOfCopy = 16;
/// What pays for a kernel that pads the other operand: rows that are multiples of 4 bytes are gathered faster than
/// those of 2. Measured for 52 products of halves with depths of 257 to 4,094 (H100): odd depths took 0.3 to 0.9 of the
/// time, with fewer multiplications up to 1.3; even ones 0.7 to 0.9, with fewer columns 0.9 to 1.7. Rows that the
/// engine can copy are padded where the constant's are no lines either (docs/performance/gpu-products.md, "Rows that
/// are lines").
struct PaddingRow {
  int64_t bytes; // of which rows are a multiple
  double leastColumns, leastMultiplications;
};
constexpr PaddingRow paddingRows[] = {{16, 1000, 5.1e8}, {4, 1024, 1e9}, {2, 1, 1.3e8}};
/// The least columns of a constant that is turned. Singles gain by roles, so their products need rows for these as well
/// (2 rows of each of 32 products took 1.16 times as long).
constexpr int64_t leastColumns = 8, leastColumnsOfSingles = 32;
constexpr double leastRowsOfSingles = 64;

/// Few rows times a large right side, whose columns must be neighbours to be streamed (tilegen/schedule/FewRows.cpp):
/// 16x5024x4096 took 17.0 us, and 23.5 with a right side that is turned.
constexpr int64_t mostRowsOfStreamed = 16, leastBytesOfStreamed = 8 << 20;

namespace {
/// How rows of memory are brought, from worst to best: a few bytes at a time, in boxes whose rows of 128 bytes are each
/// in two lines of the cache, or in boxes whose rows are lines.
enum class Rows { Gathered, Copied, Lines };
/// How a constant operand is to be stored.
struct Form {
  SmallVector<unsigned> order; // its dimensions
  SmallVector<int64_t> shape;  // in that order
  int64_t depth;               // elements along what is summed last
  bool isPadded;               // more of them than before
};
} // namespace

/// How rows of so many elements are brought; an unknown number counts as no multiple of anything.
static Rows rowsOf(int64_t elements, Type element) {
  int64_t bytes = elements > 0 ? elements * element.getIntOrFloatBitWidth() / 8 : 1;
  return bytes % bytesOfLine == 0 ? Rows::Lines : bytes % bytesOfCopy == 0 ? Rows::Copied : Rows::Gathered;
}

static RankedTensorType typeOf(graph::ContractOp contract, unsigned side) {
  return cast<RankedTensorType>(contract->getOperand(side).getType());
}

/// Whether padding the sum along dimension `dim` of operand `side`, the only one, pays.
static bool padsSum(graph::ContractOp contract, unsigned side, unsigned dim) {
  SmallVector<unsigned> other = loopsOf(contract, 1 - side);
  if (other.empty() || other.back() != loopsOf(contract, side)[dim])
    return false;
  RankedTensorType type = typeOf(contract, side);
  int64_t bytes = type.getDimSize(dim) * type.getElementTypeBitWidth() / 8;
  const auto *row = llvm::find_if(paddingRows, [&](const PaddingRow &row) { return bytes % row.bytes == 0; });
  double columns = iterationsWithout(contract, side, 1 - side),
         multiplications = elementsOf(contract.getResult()) * iterationsWithout(contract, side, 2);
  return columns >= row->leastColumns && multiplications >= row->leastMultiplications;
}

/// Whether constant operand `side` is large, and the other one has few rows.
static bool isStreamed(graph::ContractOp contract, unsigned side) {
  RankedTensorType type = typeOf(contract, side);
  double bytes = elementsOf(contract->getOperand(side)) * type.getElementTypeBitWidth() / 8;
  return bytes >= leastBytesOfStreamed && iterationsWithout(contract, 1 - side, side) <= mostRowsOfStreamed;
}

/// Whether `other` elements are to be neighbours instead of `last`.
static bool areBetterRows(graph::ContractOp contract, unsigned side, int64_t other, int64_t last) {
  Type element = typeOf(contract, side).getElementType();
  Rows now = rowsOf(last, element), then = rowsOf(other, element);
  return then > now && (now == Rows::Gathered || !(element.isF32() || isStreamed(contract, side)));
}

/// How to store the constant operand `side`; nullopt if it can stay as it is, or nothing helps.
static std::optional<Form> alignedForm(graph::ContractOp contract, unsigned side) {
  RankedTensorType type = typeOf(contract, side);
  Type element = type.getElementType();
  SmallVector<unsigned> loops = loopsOf(contract, side), results = loopsOf(contract, 2), kept, summed;
  for (auto [dim, loop] : llvm::enumerate(loops))
    (llvm::is_contained(results, loop) ? kept : summed).push_back(dim);
  if (kept.empty() || summed.empty())
    return std::nullopt;
  int64_t depth = type.getDimSize(summed.back());
  int64_t columns = type.getDimSize(kept.back());
  bool areOdd = rowsOf(depth, element) == Rows::Gathered,
       areNoLines = !element.isF32() && !isStreamed(contract, side) &&
                    std::max(rowsOf(depth, element), rowsOf(columns, element)) < Rows::Lines,
       isPadded = (areOdd || areNoLines) && summed.size() == 1 && padsSum(contract, side, summed.back());
  if (isPadded)
    depth = llvm::alignTo(depth, bytesOfLine * 8 / element.getIntOrFloatBitWidth());
  bool areEnough = element.isF32() ? columns >= leastColumnsOfSingles &&
                                         iterationsWithout(contract, 1 - side, side) >= leastRowsOfSingles
                                   : columns >= leastColumns,
       areColumnsLast = kept.back() + 1 == loops.size(),
       isTurned = areEnough && areColumnsLast && areBetterRows(contract, side, depth, columns),
       isTurnedBack = areEnough && iterationsWithout(contract, 1 - side, side) > mostRowsOfStreamed &&
                      summed.size() == 1 && kept.back() + 2 == loops.size() && rowsOf(depth, element) == Rows::Copied &&
                      areBetterRows(contract, side, columns, depth);
  if (!isTurned && !isTurnedBack && !isPadded)
    return std::nullopt;
  Form form{{}, {}, depth, isPadded};
  if (isTurned)
    form.order = llvm::to_vector(llvm::concat<unsigned>(kept, summed));
  else
    form.order = llvm::to_vector(llvm::seq<unsigned>(0, loops.size()));
  if (isTurnedBack)
    std::swap(form.order.back(), form.order[loops.size() - 2]);
  form.shape = llvm::map_to_vector(form.order,
                                   [&](unsigned dim) { return dim == summed.back() ? depth : type.getDimSize(dim); });
  return form;
}

static void setOperand(graph::ContractOp contract, unsigned side, Value value, ArrayRef<unsigned> order) {
  AffineMap map = contract.getMap(side);
  SmallVector<AffineExpr> loops = llvm::map_to_vector(order, [&](unsigned dim) { return map.getResult(dim); });
  SmallVector<Attribute> maps(contract.getMaps().getValue());
  maps[side] = AffineMapAttr::get(AffineMap::get(map.getNumDims(), 0, loops, map.getContext()));
  contract->setOperand(side, value);
  contract.setMapsAttr(ArrayAttr::get(map.getContext(), maps));
}

/// Stores the constant operand `side` in this form, with zeros where the sum is longer than before.
static void store(graph::ContractOp contract, unsigned side, const Form &form) {
  auto constant = contract->getOperand(side).getDefiningOp<graph::ConstantOp>();
  auto type = RankedTensorType::get(form.shape, typeOf(contract, side).getElementType());
  std::string key = zeroFilled(constant, type.getNumElements(), "aligned", [&](ArrayRef<int64_t> at) {
    int64_t place = 0;
    for (auto [dim, size] : llvm::zip_equal(form.order, form.shape))
      place = place * size + at[dim];
    return place;
  });
  OpBuilder builder(contract);
  setOperand(contract, side, graph::ConstantOp::create(builder, constant.getLoc(), type, key), form.order);
}

/// Pads the rows of operand `side` with zeros to `depth` elements.
static void padRows(graph::ContractOp contract, unsigned side, int64_t depth) {
  PatternRewriter rewriter(contract.getContext());
  normalize::Rebuild rebuild(rewriter, contract);
  Value rows = contract->getOperand(side);
  normalize::Sizes sizes = normalize::sizesOf(rows);
  sizes.back() = rewriter.getAffineConstantExpr(depth);
  SmallVector<int64_t> low(sizes.size(), 0);
  auto zero = cast<TypedAttr>(rewriter.getZeroAttr(getElementTypeOrSelf(rows)));
  auto pad = graph::PadOp::create(rewriter, contract.getLoc(), rebuild.type(sizes, rows), rows, low, zero);
  if (Attribute node = contract->getAttr(graph::nodeAttr))
    pad->setAttr(graph::nodeAttr, node);
  contract->setOperand(side, pad.getResult());
}

void fusion::alignConstants(func::FuncOp main, bool singles) {
  for (auto contract : llvm::make_early_inc_range(main.front().getOps<graph::ContractOp>()))
    for (unsigned side : {0U, 1U}) {
      Type element = typeOf(contract, side).getElementType();
      if (!contract->getOperand(side).getDefiningOp<graph::ConstantOp>() ||
          !(element.isF16() || element.isBF16() || (singles && element.isF32())))
        continue;
      if (std::optional<Form> form = alignedForm(contract, side)) {
        store(contract, side, *form);
        if (form->isPadded)
          padRows(contract, 1 - side, form->depth);
      }
    }
}

bool fusion::alignsRows(graph::PadOp pad) {
  auto from = cast<RankedTensorType>(pad.getData().getType()), to = cast<RankedTensorType>(pad.getType());
  return to.getRank() > 0 &&
         llvm::any_of(pad->getUsers(), [](Operation *user) { return isa<graph::ContractOp>(user); }) &&
         rowsOf(to.getShape().back(), to.getElementType()) > rowsOf(from.getShape().back(), to.getElementType());
}
