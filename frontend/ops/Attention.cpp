// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention and rotary position embedding, as specified since opset 23.
//
//   scores = softcap(scale * Q K^T) + bias      Y = softmax(scores) V      a query that may see no key gives zeros
#include "frontend/builder/Heads.h"
#include "frontend/ops/Handlers.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {

Term byHeads(NodeBuilder &b, Term x, int64_t heads) {
  if (x.rank() == 4)
    return x;
  Sizes sizes = x.sizes();
  AffineExpr size = x.rank() == 3 && heads > 0 ? graph::divideExactly(sizes[2], b.number(heads)) : AffineExpr();
  b.expect(size != nullptr, fmt::format("expected [batch, sequence, {} heads * size], got {}", heads, b.print(sizes)));
  return b.transpose(b.reshape(x, {sizes[0], sizes[1], b.number(heads), size}), {0, 2, 1, 3});
}

Term fromHeads(NodeBuilder &b, Term x, int64_t rank) {
  if (rank == 4)
    return x;
  Sizes sizes = x.sizes();
  return b.reshape(b.transpose(x, {0, 2, 1, 3}), {sizes[0], sizes[2], sizes[1] * sizes[3]});
}

Term shareHeads(NodeBuilder &b, Term x, AffineExpr heads) {
  Sizes sizes = x.sizes();
  if (sizes[1] == heads)
    return x;
  AffineExpr shared = graph::divideExactly(heads, sizes[1]);
  b.expect(shared != nullptr, fmt::format("expected query heads that {} key heads divide, got {}",
                                          b.state.print(sizes[1]), b.state.print(heads)));
  Term spread = b.broadcast(x, {sizes[0], sizes[1], shared, sizes[2], sizes[3]}, {0, 1, 3, 4});
  return b.reshape(spread, {sizes[0], heads, sizes[2], sizes[3]});
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Which keys each query may attend to, from causality, windows and padding. Nothing if there is no restriction.
std::optional<Term> visible(NodeBuilder &b, const Sizes &scores, AffineExpr past) {
  bool causal = b.integer("is_causal", 0);
  int64_t left = b.integer("left_window_size", -1), right = b.integer("right_window_size", -1);
  if (!causal && left < 0 && right < 0 && !b.has(6))
    return std::nullopt;
  Type i64 = b.state.builder.getI64Type();
  Term key = b.iota(scores, 3, i64), position = b.iota(scores, 2, i64);
  std::optional<Term> sees;
  auto require = [&](Term condition) { sees = sees ? b.apply<arith::AndIOp>(*sees, condition) : condition; };
  auto atMost = [&](Term x, Term y) { return b.compare(F::OLE, I::sle, x, y); };
  if (b.has(6)) { // sequence lengths by batch, without padding: the last query is at the last position
    b.unify(b.sizes(6)[0], scores[0], "lengths");
    Term length = b.broadcast(b.convert(b.raw(6), b.type(6), DType::I64), scores, {0});
    require(b.compare(F::OLT, I::slt, key, length));
    position = position + (length - b.sizeAs(scores[2], scores, i64));
  } else {
    position = position + b.sizeAs(past, scores, i64);
  }
  if (causal)
    require(atMost(key, position));
  if (left >= 0)
    require(atMost(position - key, b.splatInteger(scores, i64, left)));
  if (right >= 0)
    require(atMost(key - position, b.splatInteger(scores, i64, right)));
  return sees;
}

/// scores + mask. Keys that a boolean mask forbids, or that a short mask does not cover, get -infinity.
Term masked(NodeBuilder &b, Term scores) {
  Term mask = b.in(3);
  if (b.type(3) != DType::Bool && !isFloat(b.type(3))) // masks of integers are added
    mask = b.convert(mask, b.type(3), scores.element().isF64() ? DType::F64 : DType::F32);
  AffineExpr keys = scores.sizes()[3], covered = mask.sizes().back();
  bool isBool = mask.element().isInteger(1);
  if (graph::constantSize(covered) != 1 && covered != keys && graph::constantSize(covered) &&
      graph::constantSize(keys)) {
    Sizes sizes = mask.sizes();
    sizes.back() = keys;
    mask = b.pad(mask, SmallVector<int64_t>(sizes.size(), 0), sizes, isBool ? 0 : -infinity);
  }
  return isBool ? b.select(mask, scores, b.like(scores, -infinity)) : scores + mask;
}

} // namespace

void attention(NodeBuilder &b) {
  for (size_t i = 0; i < 3; ++i)
    b.expectRank(i, 3, 4);
  if (b.has(3))
    b.expectRank(3, 1, 4);
  for (size_t i = 4; i < 6; ++i)
    if (b.has(i))
      b.expectRank(i, 4);
  if (b.has(6))
    b.expectRank(6, 1);
  Term q = byHeads(b, b.raw(0), b.integer("q_num_heads", 0)), k = byHeads(b, b.raw(1), b.integer("kv_num_heads", 0)),
       v = byHeads(b, b.raw(2), b.integer("kv_num_heads", 0));
  AffineExpr past = b.number(0);
  b.expect(b.has(4) == b.has(5), "expected past_key and past_value together");
  if (b.has(4)) {
    past = b.sizes(4)[2];
    k = b.concat({b.raw(4), k}, 2), v = b.concat({b.raw(5), v}, 2);
  }
  Sizes sizes = q.sizes();
  std::optional<int64_t> size = graph::constantSize(sizes[3]);
  if (!size)
    decline("heads of a symbolic size are not compiled");
  double scale = b.hasAttribute("scale") ? b.real("scale", 1) : 1 / std::sqrt(static_cast<double>(*size)),
         cap = b.real("softcap", 0);
  int64_t shown = b.integer("qk_matmul_output_mode", 0);
  auto show = [&](int64_t stage, Term scores) {
    if (shown == stage)
      b.out(scores, b.type(0), 3);
  };
  Term scores = b.contract(q, shareHeads(b, k, sizes[1]), "bhqd,bhkd->bhqk") * scale;
  show(0, scores);
  if (cap != 0)
    scores = b.tanh(scores / cap) * cap;
  show(1, scores);
  if (b.has(3))
    scores = masked(b, scores);
  std::optional<Term> sees = visible(b, scores.sizes(), past);
  if (sees)
    scores = b.select(*sees, scores, b.like(scores, -infinity));
  show(2, scores);
  Term peak = b.reduce(ReduceKind::Max, scores, {3});
  bool mayBeEmpty = sees || b.has(3); // a row may have no key: then its maximum is -infinity and its sum 0
  if (mayBeEmpty)
    peak = b.select(b.compare(F::OEQ, I::eq, peak, b.like(peak, -infinity)), b.like(peak, 0), peak);
  Term raised = b.exp(scores - b.spread(peak, scores, {3})), sum = b.reduce(ReduceKind::Sum, raised, {3});
  if (mayBeEmpty)
    sum = b.select(b.compare(F::OEQ, I::eq, sum, b.like(sum, 0)), b.like(sum, 1), sum);
  Term weights = raised / b.spread(sum, scores, {3});
  show(3, weights);
  Term stored = b.stored(weights, b.type(2));
  b.out(fromHeads(b, b.contract(stored, shareHeads(b, v, sizes[1]), "bhqk,bhkd->bhqd"), b.rank(0)));
  b.out(k, b.type(1), 1);
  b.out(v, b.type(2), 2);
}

/// Rotates pairs of elements by an angle that depends on the position. Pairs are the two halves of a head, or
/// neighbours if interleaved.
void rotaryEmbedding(NodeBuilder &b) {
  b.expectRank(0, 3, 4);
  b.expectRank(1, b.has(3) ? 2 : 3), b.expectRank(2, b.has(3) ? 2 : 3);
  if (b.has(3))
    b.expectRank(3, 2);
  Term x = byHeads(b, b.in(0), b.integer("num_heads", 0)), cosine = b.in(1), sine = b.in(2);
  Sizes sizes = x.sizes();
  int64_t rotated = b.integer("rotary_embedding_dim", 0);
  std::optional<int64_t> size = graph::constantSize(sizes[3]);
  if (!size)
    decline("heads of a symbolic size are not compiled");
  rotated = rotated ? rotated : *size;
  b.expect(rotated > 0 && rotated <= *size && rotated % 2 == 0,
           fmt::format("expected an even rotary_embedding_dim of at most {}, got {}", *size, rotated));
  AffineExpr half = b.number(rotated / 2);
  Sizes part{sizes[0], sizes[1], sizes[2], half};
  auto angles = [&](Term cache) { // [batch, sequence, half] for every head
    if (b.has(3)) {
      b.unify(b.sizes(3)[0], sizes[0], "batch of the positions"),
          b.unify(b.sizes(3)[1], sizes[2], "length of the positions");
      Term position = b.convert(b.raw(3), b.type(3), DType::I64);
      auto map = AffineMap::get(4, 0, {getAffineDimExpr(3, b.state.context), getAffineDimExpr(2, b.state.context)},
                                b.state.context);
      cache =
          b.gather(cache, {b.broadcast(position, {sizes[0], sizes[2], half}, {0, 1})}, map, {sizes[0], sizes[2], half});
    }
    Sizes wanted{sizes[0], sizes[2], half};
    for (size_t i = 0; i < 3; ++i)
      b.unify(cache.sizes()[i], wanted[i], fmt::format("dimension {} of the angles", i));
    return b.broadcast(cache, part, {0, 2, 3});
  };
  b.expect(cosine.sizes().back() == half && sine.sizes() == cosine.sizes(),
           fmt::format("expected caches with {} angles a position, got {} and {}", rotated / 2, b.print(cosine.sizes()),
                       b.print(sine.sizes())));
  bool interleaved = b.integer("interleaved", 0);
  Term turned = b.slice(x, 3, b.number(0), b.number(rotated));
  auto pick = [&](int64_t i) {
    return interleaved ? b.slice(turned, 3, b.number(i), half, 2) : b.slice(turned, 3, half * i, half);
  };
  Term c = angles(cosine), s = angles(sine), first = pick(0), second = pick(1);
  Term real = c * first - s * second, imaginary = s * first + c * second;
  Term result;
  if (interleaved) {
    Sizes pair = part;
    pair.push_back(b.number(1));
    Sizes joined{sizes[0], sizes[1], sizes[2], b.number(rotated)};
    result = b.reshape(b.concat({b.reshape(real, pair), b.reshape(imaginary, pair)}, 4), joined);
  } else {
    result = b.concat({real, imaginary}, 3);
  }
  if (rotated < *size)
    result = b.concat({result, b.slice(x, 3, b.number(rotated), b.number(*size - rotated))}, 3);
  b.out(fromHeads(b, result, b.rank(0)));
}

} // namespace tilewright::ops
