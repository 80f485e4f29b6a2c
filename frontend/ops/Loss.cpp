// SPDX-License-Identifier: Apache-2.0
// Losses: log-probabilities gathered at the labels, weighted and averaged.
#include "frontend/ops/Handlers.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

/// -weight[label] * scores[N, label, d...] for labels [N, d...]. Ignored labels have weight 0.
void lossOf(NodeBuilder &b, Term scores, size_t labelInput, size_t weightInput) {
  Term label = b.convert(b.raw(labelInput), b.type(labelInput), DType::I64);
  Sizes sizes = scores.sizes(), wanted = sizes;
  b.expect(sizes.size() >= 2, fmt::format("expected scores of rank 2 or more, got {}", sizes.size()));
  wanted.erase(wanted.begin() + 1);
  b.expect(label.sizes().size() == wanted.size(),
           fmt::format("expected labels of rank {}, got {}", wanted.size(), label.sizes().size()));
  for (size_t i = 0; i < wanted.size(); ++i)
    b.unify(label.sizes()[i], wanted[i], fmt::format("dimension {} of the labels", i));
  wanted = label.sizes();

  Term counts = b.splat(wanted, scores.element(), 1), at = label; // the weight of each label
  std::optional<Term> ignored;
  if (b.hasAttribute("ignore_index")) {
    ignored = b.compare(F::OEQ, I::eq, label, b.splatInteger(wanted, label.element(), b.integer("ignore_index", -1)));
    at = b.select(*ignored, b.like(label, 0), label);
  }
  auto rank = static_cast<int64_t>(wanted.size());
  if (b.has(weightInput))
    b.expectRank(weightInput, 1);
  if (b.has(weightInput))
    counts =
        b.gather(b.in(weightInput), {at}, AffineMap::get(rank + 1, 0, getAffineDimExpr(rank, b.state.context)), wanted);
  if (ignored)
    counts = b.select(*ignored, b.like(counts, 0), counts);

  SmallVector<AffineExpr> coordinates{getAffineDimExpr(0, b.state.context), getAffineDimExpr(rank, b.state.context)};
  for (int64_t dim = 1; dim < rank; ++dim)
    coordinates.push_back(getAffineDimExpr(dim, b.state.context));
  Term loss = -b.gather(scores, {at}, AffineMap::get(rank + 1, 0, coordinates, b.state.context), wanted) * counts;

  std::string reduction = b.text("reduction", "mean");
  b.expect(reduction == "mean" || reduction == "sum" || reduction == "none",
           fmt::format("expected reduction mean, sum or none, got '{}'", reduction));
  if (reduction == "none")
    return b.out(loss);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Term sum = b.reduce(ReduceKind::Sum, loss, all);
  b.out(reduction == "sum" ? sum : sum / b.reduce(ReduceKind::Sum, counts, all));
}

} // namespace

void negativeLogLikelihoodLoss(NodeBuilder &b) { lossOf(b, b.in(0), 1, 2); }

/// The loss of log-softmax along dimension 1. Output 1 is the log-probabilities.
void softmaxCrossEntropyLoss(NodeBuilder &b) {
  Term x = b.in(0);
  b.expect(x.rank() >= 2, fmt::format("expected scores of rank 2 or more, got {}", x.rank()));
  Term shifted = x - b.spread(b.reduce(ReduceKind::Max, x, {1}), x, {1});
  Term logarithm = b.log(b.reduce(ReduceKind::Sum, b.exp(shifted), {1}));
  Term scores = shifted - b.spread(logarithm, x, {1});
  lossOf(b, scores, 1, 2);
  b.out(scores, b.type(0), 1);
}

} // namespace tilewright::ops
