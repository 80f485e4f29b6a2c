// SPDX-License-Identifier: Apache-2.0
// Contractions: products of matrices, and what is none.
#include "frontend/builder/NodeBuilder.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Shapes.h"

using namespace mlir;

namespace tilewright {

/// `x`, whose dimension i runs along loop map(i), for all loops.
static Term alongLoops(NodeBuilder &b, Term x, AffineMap map, ArrayRef<AffineExpr> loops) {
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  auto loopOf = [&](int64_t dim) -> int64_t { return map.getDimPosition(static_cast<unsigned>(dim)); };
  llvm::sort(perm, [&](int64_t a, int64_t c) { return loopOf(a) < loopOf(c); });
  return b.broadcast(b.transpose(x, perm), loops, llvm::to_vector(llvm::map_range(perm, loopOf)));
}

/// A contraction that is no product of matrices, as a multiplication of elements and a sum: either nothing is summed
/// (an outer product), or each result has elements of its own in both operands (many dot products). nullopt for others,
/// and for integers.
static std::optional<Term> multiplied(NodeBuilder &b, Term lhs, Term rhs, ArrayRef<AffineMap> maps) {
  int64_t all = maps[2].getNumDims(), kept = maps[2].getNumResults(); // loops that are kept come first
  auto runsAlong = [](AffineMap map, int64_t loop) { return map.isFunctionOfDim(static_cast<unsigned>(loop)); };
  bool haveOwn = llvm::all_of(llvm::seq<int64_t>(0, kept),
                              [&](int64_t loop) { return runsAlong(maps[0], loop) && runsAlong(maps[1], loop); });
  if (!lhs.isFloat() || !rhs.isFloat() || (all > kept && !haveOwn))
    return std::nullopt;
  Sizes loops(all, b.number(1));
  for (auto [term, map] : {std::pair(lhs, maps[0]), std::pair(rhs, maps[1])})
    for (auto [dim, size] : llvm::enumerate(term.sizes()))
      loops[map.getDimPosition(static_cast<unsigned>(dim))] = size;
  Term product = alongLoops(b, b.widen(lhs), maps[0], loops) * alongLoops(b, b.widen(rhs), maps[1], loops);
  return b.reduce(graph::ReduceKind::Sum, product, llvm::to_vector(llvm::seq<int64_t>(kept, all)));
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
  if (std::optional<Term> product = multiplied(*this, lhs, rhs, maps);
      product && product->element() == type->getElementType())
    return *product;
  return term(graph::ContractOp::create(state.builder, state.location, *type, lhs.value, rhs.value,
                                        state.builder.getAffineMapArrayAttr(maps)));
}

} // namespace tilewright
