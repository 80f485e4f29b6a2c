// SPDX-License-Identifier: Apache-2.0
// Contractions: products of matrices, and what is none.
#include "frontend/builder/NodeBuilder.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Shapes.h"

#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;

namespace tilewright {

/// `x`, whose dimension i runs along loop own[i], for all loops.
static Term alongLoops(NodeBuilder &b, Term x, ArrayRef<int64_t> own, ArrayRef<AffineExpr> loops) {
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  auto loopOf = [&](int64_t dim) { return own[dim]; };
  llvm::sort(perm, [&](int64_t a, int64_t c) { return loopOf(a) < loopOf(c); });
  return b.broadcast(b.transpose(x, perm), loops, llvm::to_vector(llvm::map_range(perm, loopOf)));
}

/// The sum over `summed` of products of elements, which are multiplied along `count` loops. `left` and `right` are the
/// loops of the operands' dimensions.
static Term multiplied(NodeBuilder &b, Term lhs, ArrayRef<int64_t> left, Term rhs, ArrayRef<int64_t> right,
                       size_t count, ArrayRef<int64_t> summed) {
  Sizes loops(count, b.number(1));
  for (auto [term, own] : {std::pair(rhs, right), std::pair(lhs, left)})
    for (auto [loop, size] : llvm::zip_equal(own, term.sizes()))
      loops[loop] = size;
  Term product = alongLoops(b, b.widen(lhs), left, loops) * alongLoops(b, b.widen(rhs), right, loops);
  return b.reduce(graph::ReduceKind::Sum, product, summed);
}

Term NodeBuilder::sumOfProducts(Term lhs, std::string_view left, Term rhs, std::string_view right,
                                std::string_view loops, std::string_view summed) {
  auto places = [&](std::string_view own) {
    return llvm::map_to_vector(own, [&](char loop) { return static_cast<int64_t>(loops.find(loop)); });
  };
  return multiplied(*this, lhs, places(left), rhs, places(right), loops.size(), places(summed));
}

/// A contraction that is no product of matrices, as a multiplication of elements and a sum: either nothing is summed
/// (an outer product), or each result has elements of its own in both operands (many dot products). nullopt for others,
/// and for integers.
static std::optional<Term> withoutMatrices(NodeBuilder &b, Term lhs, Term rhs, ArrayRef<AffineMap> maps) {
  int64_t all = maps[2].getNumDims(), kept = maps[2].getNumResults(); // loops that are kept come first
  auto runsAlong = [](AffineMap map, int64_t loop) { return map.isFunctionOfDim(static_cast<unsigned>(loop)); };
  bool haveOwn = llvm::all_of(llvm::seq<int64_t>(0, kept),
                              [&](int64_t loop) { return runsAlong(maps[0], loop) && runsAlong(maps[1], loop); });
  if (!lhs.isFloat() || !rhs.isFloat() || (all > kept && !haveOwn))
    return std::nullopt;
  auto loopsOf = [](AffineMap map) {
    return llvm::map_to_vector(llvm::seq<unsigned>(0, map.getNumResults()),
                               [&](unsigned dim) -> int64_t { return map.getDimPosition(dim); });
  };
  return multiplied(b, lhs, loopsOf(maps[0]), rhs, loopsOf(maps[1]), all,
                    llvm::to_vector(llvm::seq<int64_t>(kept, all)));
}

Term NodeBuilder::contract(Term lhs, Term rhs, std::string_view loops) {
  size_t comma = loops.find(','), arrow = loops.find("->");
  std::string_view parts[] = {loops.substr(0, comma), loops.substr(comma + 1, arrow - comma - 1),
                              loops.substr(arrow + 2)};
  // Loops are numbered in the order of the result, then the reduced ones.
  std::string order(parts[2]);
  for (char loop : std::string(parts[0]) + std::string(parts[1]))
    if (order.find(loop) == std::string::npos)
      order += loop;
  SmallVector<AffineMap> maps;
  for (std::string_view part : parts) {
    SmallVector<AffineExpr> results;
    for (char loop : part)
      results.push_back(getAffineDimExpr(order.find(loop), state.context));
    maps.push_back(AffineMap::get(order.size(), 0, results, state.context));
  }
  // A loop has one size, so unify those of both operands.
  for (size_t l = 0; l < parts[0].size(); ++l)
    if (size_t r = parts[1].find(parts[0][l]); r != std::string_view::npos)
      unify(rhs.sizes()[r], lhs.sizes()[l], fmt::format("dimension {} of the right operand", r));
  Sizes conformed = rhs.sizes();
  for (size_t l = 0; l < parts[0].size(); ++l)
    if (size_t r = parts[1].find(parts[0][l]); r != std::string_view::npos)
      conformed[r] = lhs.sizes()[l];
  rhs = conform(rhs, conformed);
  auto type = graph::contractedType(lhs.type(), rhs.type(), maps, [](const Twine &why) { malformed("{}", why.str()); });
  if (llvm::is_contained(lhs.type().getShape(), 0) ||
      llvm::is_contained(rhs.type().getShape(), 0)) // nothing to loop over
    return splat(graph::getSizes(*type), type->getElementType(), 0);
  if (std::optional<Term> product = withoutMatrices(*this, lhs, rhs, maps);
      product && product->element() == type->getElementType())
    return *product;
  return term(graph::ContractOp::create(state.builder, state.location, *type, lhs.value, rhs.value,
                                        state.builder.getAffineMapArrayAttr(maps)));
}

} // namespace tilewright
