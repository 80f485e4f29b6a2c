// SPDX-License-Identifier: Apache-2.0
// Splits the address of an access into one term for each dimension. BulkAccess.h has an example.
#include "tilegen/place/roles/BulkAccess.h"

#include "tilegen/index/IndexAlgebra.h"
#include "tilegen/place/AccessFacts.h"
#include "tilegen/place/Place.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tilewright::tile {
namespace {

constexpr int64_t alignmentBytes = 16; // of every address and stride but the first

class BulkAnalysis {
public:
  BulkAnalysis(const Access &access, unsigned fast, std::string &why, int64_t leastRowBytes)
      : access_(access), fast_(fast), why_(why), leastRowBytes_(leastRowBytes), context_(access.op->getContext()),
        algebra_(context_, access_.bounds.getResults()), symbols_(symbolFacts(access.op->getParentOfType<KernelOp>())),
        bytes_(access_.tile.getElementTypeBitWidth() / 8) {}

  std::optional<BulkAccess> run();

private:
  using Polynomial = index::Polynomial;

  bool refuse(const Twine &reason) { return why_ = reason.str(), false; }
  bool dependsOnTile(AffineExpr atom) const;
  bool addTerm(const index::Term &term);
  bool addDimension(AffineExpr coordinate, AffineExpr size, int64_t box);
  AffineExpr sizeOf(AffineExpr atom) const;
  bool isAligned(const Polynomial &elements) const;

  Access access_;
  unsigned fast_;
  std::string &why_;
  int64_t leastRowBytes_;
  MLIRContext *context_;
  tilegen::IndexAlgebra algebra_;
  SmallVector<Facts> symbols_;
  int64_t bytes_; // of an element
  Polynomial start_;
  llvm::MapVector<AffineExpr, Polynomial> strides_; // of coordinates, or of quotients of coordinates
  BulkAccess result_;
};

/// Does this expression differ from element to element of the tile?
bool BulkAnalysis::dependsOnTile(AffineExpr atom) const {
  for (int64_t d = 0; d < access_.tile.getRank(); ++d)
    if (access_.tile.getDimSize(d) > 1 && tilegen::dependsOn(atom, d))
      return true;
  return false;
}

bool BulkAnalysis::addTerm(const index::Term &term) {
  AffineExpr coordinate;
  index::Term stride{term.coefficient, {}};
  for (AffineExpr atom : term.atoms) {
    if (atom.isSymbolicOrConstant()) {
      stride.atoms.push_back(atom);
    } else if (coordinate) {
      return refuse("coordinates are multiplied");
    } else if (coordinate = atom; !isa<AffineDimExpr>(atom) && dependsOnTile(atom)) {
      return refuse("its map divides coordinates of the tile");
    }
  }
  (coordinate ? strides_[coordinate] : start_) += stride;
  return true;
}

/// How many values a coordinate that is the same in the whole tile may have; null where that is not known.
AffineExpr BulkAnalysis::sizeOf(AffineExpr atom) const {
  if (auto dim = dyn_cast<AffineDimExpr>(atom))
    return access_.bounds.getResult(dim.getPosition());
  auto division = dyn_cast<AffineBinaryOpExpr>(atom);
  if (!division || !division.getRHS().isSymbolicOrConstant())
    return {};
  if (division.getKind() == AffineExprKind::Mod)
    return division.getRHS();
  auto dim = dyn_cast<AffineDimExpr>(division.getLHS());
  return dim ? access_.bounds.getResult(dim.getPosition()).ceilDiv(division.getRHS()) : AffineExpr();
}

bool BulkAnalysis::isAligned(const Polynomial &elements) const {
  Facts facts = index::factsOf(algebra_.toExpr(elements), {}, symbols_);
  return facts.divisor * bytes_ % alignmentBytes == 0;
}

bool BulkAnalysis::addDimension(AffineExpr coordinate, AffineExpr size, int64_t box) {
  Polynomial stride = strides_.lookup(coordinate);
  Facts facts = index::factsOf(algebra_.toExpr(stride), {}, symbols_);
  bool isFirst = result_.sizes.empty();
  if (isFirst && stride.constant() != 1)
    return refuse("its elements are no neighbours in memory");
  if (!isFirst && (facts.low.value_or(-1) < 0 || stride.isZero()))
    return refuse("a stride is not positive");
  if (!isFirst && !isAligned(stride))
    return refuse("a stride is no multiple of 16 bytes, or not known to be one");
  result_.sizes.push_back(size);
  result_.strides.push_back(algebra_.toExpr(stride));
  result_.coordinates.push_back(coordinate);
  result_.box.push_back(box);
  return true;
}

std::optional<BulkAccess> BulkAnalysis::run() {
  auto refused = [&](const Twine &reason) { return refuse(reason), std::nullopt; };
  int64_t size = access_.tile.getDimSize(fast_), row = std::min(size, tensorMapRowBytes / bytes_),
          rank = access_.tile.getRank();
  if (!isa<BlockArgument>(access_.buffer))
    return refused("its buffer is a slice that the launch does not know");
  if (row * bytes_ < leastRowBytes_)
    return refused("its rows are shorter than " + Twine(leastRowBytes_) + " bytes");
  for (int64_t g : access_.guard)
    if (!isAlwaysInside(access_, g))
      return refused("its map may leave the buffer");
  AffineMap sizes = access_.buffer.getType().getSizes();
  Polynomial address;
  for (unsigned i = 0; i < access_.map.getNumResults(); ++i)
    address = algebra_.add(algebra_.multiply(address, algebra_.toPolynomial(sizes.getResult(i))),
                           algebra_.toPolynomial(access_.map.getResult(i)));
  for (const index::Term &term : address)
    if (!addTerm(term))
      return std::nullopt;
  if (!isAligned(start_))
    return refused("its first element is not aligned to 16 bytes");
  result_.start = algebra_.toExpr(start_);
  auto add = [&](unsigned d) {
    int64_t box = d == fast_ ? row : access_.tile.getDimSize(d);
    return box <= maxTensorMapBox ? addDimension(getAffineDimExpr(d, context_), access_.bounds.getResult(d), box)
                                  : refuse("its tile is larger than a box");
  };
  if (!add(fast_))
    return std::nullopt;
  for (unsigned d = rank; d-- > 0;)
    if (d != fast_ && access_.tile.getDimSize(d) > 1 && !add(d))
      return std::nullopt;
  for (auto &[coordinate, stride] : strides_) {
    if (dependsOnTile(coordinate) || stride.isZero())
      continue;
    AffineExpr size = sizeOf(coordinate);
    if (!size)
      return refused("the size of a coordinate is not known");
    if (!addDimension(coordinate, size, 1))
      return std::nullopt;
  }
  if (result_.sizes.size() < minTensorMapRank || result_.sizes.size() > maxTensorMapRank)
    return refused("it has " + Twine(result_.sizes.size()) + " dimensions");
  return result_;
}

} // namespace

std::optional<BulkAccess> bulkAccess(const Access &access, unsigned fast, std::string &why, int64_t leastRowBytes) {
  return BulkAnalysis(access, fast, why, leastRowBytes).run();
}

/// Erases `map` and returns an equal tensor map of the kernel, if there is one, else `map`.
static TensorMapOp unique(TensorMapOp map, KernelOp kernel) {
  for (auto other : kernel.getBody().getOps<TensorMapOp>())
    if (other != map && OperationEquivalence::isEquivalentTo(other, map, OperationEquivalence::IgnoreLocations)) {
      map.erase();
      return other;
    }
  return map;
}

TensorMapOp makeTensorMap(OpBuilder &b, Location loc, const BulkAccess &access, Value buffer, bool rounded) {
  auto kernel = cast<KernelOp>(cast<BlockArgument>(buffer).getOwner()->getParentOp());
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(0, kernel.getNumSymbols(), results, b.getContext());
  };
  Type element = cast<BufferType>(buffer.getType()).getElementType();
  auto made = TensorMapOp::create(b, loc, TensorMapType::get(b.getContext(), element, access.box), buffer,
                                  map(access.start), map(access.sizes), map(access.strides), rounded,
                                  access.pixels ? ArrayRef(access.pixels->lower) : ArrayRef<int64_t>(),
                                  access.pixels ? ArrayRef(access.pixels->upper) : ArrayRef<int64_t>(),
                                  access.pixels ? ArrayRef(access.pixels->steps) : ArrayRef<int64_t>());
  return unique(made, kernel);
}

SmallVector<Value> valuesOf(OpBuilder &b, Location loc, ArrayRef<AffineExpr> exprs, ValueRange offsets,
                            unsigned symbols) {
  return llvm::map_to_vector(exprs, [&](AffineExpr expr) -> Value {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    auto map = AffineMap::get(offsets.size(), symbols, expr);
    return dim ? offsets[dim.getPosition()] : SizeOp::create(b, loc, map, offsets).getResult();
  });
}

SmallVector<Value> boxCoordinates(OpBuilder &b, Location loc, const BulkAccess &access, ValueRange offsets,
                                  unsigned symbols) {
  return valuesOf(b, loc, access.coordinates, offsets, symbols);
}

} // namespace tilewright::tile
