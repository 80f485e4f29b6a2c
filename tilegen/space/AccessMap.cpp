// SPDX-License-Identifier: Apache-2.0
// Loops and the accesses written in them: splitting, collapsing, and merging of buffer dimensions.
#include "tilegen/space/AccessMap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright::tilegen {

AffineExpr linearize(MLIRContext *context, ArrayRef<AffineExpr> coordinates, ArrayRef<AffineExpr> sizes) {
  AffineExpr position = getAffineConstantExpr(0, context);
  for (auto [coordinate, size] : llvm::zip_equal(coordinates, sizes))
    position = position * size + coordinate;
  return position;
}

Exprs delinearize(AffineExpr position, ArrayRef<AffineExpr> sizes) {
  Exprs coordinates(sizes.size());
  AffineExpr stride = getAffineConstantExpr(1, position.getContext());
  for (size_t i = sizes.size(); i-- > 0;) {
    AffineExpr coordinate = position.floorDiv(stride);
    coordinates[i] = i ? coordinate % sizes[i] : coordinate;
    stride = stride * sizes[i];
  }
  return coordinates;
}

AffineExpr product(MLIRContext *context, ArrayRef<AffineExpr> sizes) {
  AffineExpr total = getAffineConstantExpr(1, context);
  for (AffineExpr size : sizes)
    total = total * size;
  return total;
}

Exprs loopExprs(MLIRContext *context, unsigned count, unsigned first) {
  Exprs exprs;
  for (unsigned i = 0; i < count; ++i)
    exprs.push_back(getAffineDimExpr(first + i, context));
  return exprs;
}

//===- Merging dimensions of buffers ------------------------------------------------------------------------------===//

MergedCoordinates mergeDims(IndexAlgebra &algebra, ArrayRef<AffineExpr> sizes, ArrayRef<AffineExpr> coordinates,
                            const DimGroups &groups) {
  MergedCoordinates merged;
  unsigned first = 0;
  for (unsigned count : groups) {
    MLIRContext *context = algebra.getContext();
    merged.sizes.push_back(algebra.simplify(product(context, sizes.slice(first, count))));
    merged.coordinates.push_back(
        algebra.simplify(linearize(context, coordinates.slice(first, count), sizes.slice(first, count))));
    first += count;
  }
  return merged;
}

/// For each dimension of the buffer, whether the access may leave it, so that the dimension's bounds are needed.
static SmallVector<bool> leavingDims(IndexAlgebra &algebra, const Access &access) {
  SmallVector<bool> leaving;
  for (auto [coordinate, size] : llvm::zip_equal(access.coordinates, access.sizes))
    leaving.push_back(!algebra.isInside(coordinate, size));
  return leaving;
}

/// Merges neighbours of `groups` for one access while that removes divisions. A dimension that an access may leave can
/// only be the outermost of its group: an index outside of an inner dimension may be inside of the merged one.
static void growGroups(IndexAlgebra &algebra, const Access &access, ArrayRef<bool> leaving, DimGroups &groups) {
  MergedCoordinates merged = mergeDims(algebra, access.sizes, access.coordinates, groups);
  unsigned first = access.sizes.size();
  for (size_t i = groups.size(); i-- > 1;) {
    first -= groups[i];
    if (leaving[first])
      continue;
    AffineExpr together = algebra.simplify(merged.coordinates[i - 1] * merged.sizes[i] + merged.coordinates[i]);
    if (countDivisions(together) >= countDivisions(merged.coordinates[i - 1]) + countDivisions(merged.coordinates[i]))
      continue;
    groups[i - 1] += groups[i];
    groups.erase(groups.begin() + i);
    return growGroups(algebra, access, leaving, groups);
  }
}

//===- LoopNest ---------------------------------------------------------------------------------------------------===//

IndexAlgebra LoopNest::algebra(ArrayRef<AffineExpr> indexSizes) const {
  Exprs sizes;
  for (const Loop &loop : loops)
    sizes.push_back(loop.size);
  sizes.append(indexSizes.begin(), indexSizes.end());
  return IndexAlgebra(context, sizes, mayBeZero);
}

namespace {
/// The algebras of a nest, one for all accesses with the same index values: an algebra remembers what it has
/// simplified, and most accesses have parts in common.
class SharedFacts {
public:
  explicit SharedFacts(const LoopNest &nest) : nest(nest) {}
  IndexAlgebra &of(const Access &access) {
    auto *known = llvm::find_if(algebras, [&](const auto &entry) { return entry.first == access.indexSizes; });
    if (known != algebras.end())
      return *known->second;
    algebras.emplace_back(access.indexSizes, std::make_unique<IndexAlgebra>(nest.algebra(access.indexSizes)));
    return *algebras.back().second;
  }

private:
  const LoopNest &nest;
  SmallVector<std::pair<Exprs, std::unique_ptr<IndexAlgebra>>> algebras;
};
} // namespace

/// Replaces loops and moves the index dimensions behind them.
static AffineExpr replaceLoops(AffineExpr expr, ArrayRef<AffineExpr> replacement, unsigned newLoops, unsigned indices) {
  Exprs dims(replacement.begin(), replacement.end());
  dims.append(loopExprs(expr.getContext(), indices, newLoops));
  return expr.replaceDims(dims);
}

void LoopNest::substitute(ArrayRef<AffineExpr> replacement, SmallVector<Loop> newLoops) {
  loops = std::move(newLoops);
  SharedFacts shared(*this);
  for (Access &access : accesses) {
    IndexAlgebra &facts = shared.of(access);
    for (AffineExpr &expr : access.coordinates)
      expr = facts.simplify(replaceLoops(expr, replacement, loops.size(), access.indexSizes.size()));
  }
  IndexAlgebra facts = algebra();
  for (Exprs &exprs : tracked)
    for (AffineExpr &expr : exprs)
      expr = facts.simplify(expr.replaceDims(replacement));
}

/// The divisors of `loop` itself in `expr`, that is d floordiv c and d mod c.
static void collectDivisors(AffineExpr expr, unsigned loop, llvm::SetVector<AffineExpr> &divisors) {
  expr.walk([&](AffineExpr e) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(e);
    if (!binary || (e.getKind() != AffineExprKind::FloorDiv && e.getKind() != AffineExprKind::Mod))
      return;
    auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
    if (dim && dim.getPosition() == loop)
      divisors.insert(binary.getRHS());
  });
}

void LoopNest::splitLoop(unsigned loop, AffineExpr divisor, LoopKind inner) {
  Exprs replacement = loopExprs(context, loops.size());
  for (unsigned j = loop + 1; j < loops.size(); ++j)
    replacement[j] = getAffineDimExpr(j + 1, context);
  replacement[loop] = replacement[loop] * divisor + getAffineDimExpr(loop + 1, context);
  SmallVector<Loop> split = loops;
  split[loop].size = algebra().divideExactly(loops[loop].size, divisor);
  split.insert(split.begin() + loop + 1, Loop{divisor, inner});
  substitute(replacement, split);
}

bool LoopNest::splitOne() {
  for (unsigned i = 0; i < loops.size(); ++i) {
    llvm::SetVector<AffineExpr> divisors;
    for (const Access &access : accesses)
      for (AffineExpr expr : access.coordinates)
        collectDivisors(expr, i, divisors);
    for (const Exprs &exprs : tracked)
      for (AffineExpr expr : exprs)
        collectDivisors(expr, i, divisors);
    for (AffineExpr divisor : divisors) {
      if (!algebra().divides(divisor, loops[i].size))
        continue;
      splitLoop(i, divisor, loops[i].kind);
      return true;
    }
  }
  return false;
}

void LoopNest::splitLoops() {
  while (splitOne()) {
  }
}

unsigned LoopNest::cost() const {
  unsigned divisions = 0;
  SharedFacts shared(*this);
  for (const Access &access : accesses) {
    IndexAlgebra &facts = shared.of(access);
    DimGroups groups(access.sizes.size(), 1);
    growGroups(facts, access, leavingDims(facts, access), groups);
    for (AffineExpr expr : mergeDims(facts, access.sizes, access.coordinates, groups).coordinates)
      divisions += countDivisions(expr);
  }
  return divisions;
}

bool LoopNest::collapseOne(ArrayRef<LoopKind> forced) {
  std::optional<unsigned> now; // the cost of the nest as it is
  for (unsigned i = 0; i + 1 < loops.size(); ++i) {
    if (loops[i].kind != loops[i + 1].kind)
      continue;
    Exprs replacement = loopExprs(context, i);
    AffineExpr linear = getAffineDimExpr(i, context);
    replacement.push_back(linear.floorDiv(loops[i + 1].size));
    replacement.push_back(linear % loops[i + 1].size);
    replacement.append(loopExprs(context, loops.size() - i - 2, i + 1));
    SmallVector<Loop> collapsed = loops;
    collapsed[i].size = algebra().simplify(loops[i].size * loops[i + 1].size);
    collapsed.erase(collapsed.begin() + i + 1);
    LoopNest trial = *this;
    trial.substitute(replacement, collapsed);
    if (!llvm::is_contained(forced, loops[i].kind)) {
      now = now ? now : cost();
      if (trial.cost() > *now)
        continue;
    }
    *this = std::move(trial);
    return true;
  }
  return false;
}

void LoopNest::collapseLoops(ArrayRef<LoopKind> forced) {
  while (collapseOne(forced)) {
  }
}

void LoopNest::reorderLoops(ArrayRef<unsigned> order) {
  Exprs replacement(loops.size());
  SmallVector<Loop> reordered;
  for (auto [place, loop] : llvm::enumerate(order)) {
    replacement[loop] = getAffineDimExpr(place, context);
    reordered.push_back(loops[loop]);
  }
  substitute(replacement, reordered);
}

SmallVector<DimGroups> LoopNest::groupBufferDims(unsigned buffers) const {
  SmallVector<DimGroups> groups(buffers);
  SmallVector<SmallVector<bool>> leaving(buffers);
  for (const Access &access : accesses) {
    groups[access.buffer].assign(access.sizes.size(), 1);
    leaving[access.buffer].resize(access.sizes.size());
    IndexAlgebra facts = algebra(access.indexSizes);
    for (auto [any, here] : llvm::zip_equal(leaving[access.buffer], leavingDims(facts, access)))
      any = any || here;
  }
  for (bool changed = true; changed;) { // each access sees the merges of the others
    changed = false;
    for (const Access &access : accesses) {
      IndexAlgebra facts = algebra(access.indexSizes);
      unsigned before = groups[access.buffer].size();
      growGroups(facts, access, leaving[access.buffer], groups[access.buffer]);
      changed |= groups[access.buffer].size() != before;
    }
  }
  return groups;
}

} // namespace tilewright::tilegen
