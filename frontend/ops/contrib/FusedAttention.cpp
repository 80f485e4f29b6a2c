// SPDX-License-Identifier: Apache-2.0
// com.microsoft: attention operators of ONNX Runtime, which include projections, key-value caches and rotary embedding.
//
//   scores = softcap(scale * Q K^T) + biases      Y = softmax(scores) V      heads: [batch, heads, steps, size]
//
// A mask adds `mask_filter_value` (-10000). Keys that causality or a window excludes get weight 0.
#include "frontend/builder/Heads.h"
#include "frontend/ops/Compose.h"
#include "frontend/ops/Handlers.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
using tilewright::graph::ReduceKind;

namespace tilewright::ops {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

//===- The shared middle ------------------------------------------------------------------------------------------===//

/// Operands of the attention formula, split by heads. Keys and values are in their storage type.
struct Attend {
  Term q, k, v;
  double scale, softcap = 0;
  SmallVector<Term> biases = {}; // each broadcasts to the scores
  std::optional<Term> sees = {},
                      sink = {}; // sees: which scores count. sink [heads]: one more score, of a value of zero

  Term operator()(NodeBuilder &b, DType type) const {
    AffineExpr heads = q.sizes()[1];
    b.unify(k.sizes()[0], q.sizes()[0], "batch of the keys"),
        b.unify(v.sizes()[0], q.sizes()[0], "batch of the values");
    b.unify(k.sizes()[3], q.sizes()[3], "size of a key"), b.unify(v.sizes()[2], k.sizes()[2], "number of values");
    Term scores = b.contract(q, shareHeads(b, k, heads), "bhqd,bhkd->bhqk") * scale;
    if (softcap > 0)
      scores = b.tanh(scores / softcap) * softcap;
    Sizes sizes = scores.sizes();
    for (Term bias : biases) {
      scores = scores + bias;
      b.expect(scores.sizes() == sizes,
               fmt::format("expected a bias that broadcasts to {}, got {}", b.print(sizes), b.print(bias)));
    }
    if (sees)
      scores = b.select(*sees, scores, b.like(scores, -infinity));
    Term peak = b.reduce(ReduceKind::Max, scores, {3});
    std::optional<Term> sinks;
    if (sink) {
      sinks = b.broadcast(*sink, peak.sizes(), {1});
      peak = b.maximum(peak, *sinks);
    }
    Term raised = b.exp(scores - b.spread(peak, scores, {3})), sum = b.reduce(ReduceKind::Sum, raised, {3});
    if (sinks)
      sum = sum + b.exp(*sinks - peak);
    Term weights = raised / b.spread(sum, scores, {3});
    return b.contract(b.stored(weights, type), shareHeads(b, v, heads), "bhqk,bhkd->bhqd");
  }
};

double scaleOf(NodeBuilder &b, AffineExpr size) {
  if (double given = b.real("scale", 0); given != 0)
    return given;
  std::optional<int64_t> constant = graph::constantSize(size);
  if (!constant)
    decline("heads of a symbolic size are not compiled");
  return 1 / std::sqrt(static_cast<double>(*constant));
}

/// The bias for a mask in any of its forms: lengths [batch], ends and starts [2 * batch], or ones for visible keys,
/// [batch, keys] with up to two dimensions more.
Term maskBias(NodeBuilder &b, size_t i, AffineExpr batch, AffineExpr queries, AffineExpr keys) {
  double filter = b.real("mask_filter_value", -10000);
  b.expectRank(i, 1, 4);
  Term mask = b.convert(b.raw(i), b.type(i), DType::I32);
  std::optional<Term> sees;
  if (mask.rank() == 1) {
    Sizes sizes{batch, keys};
    bool both = mask.sizes()[0] != batch && graph::divideExactly(mask.sizes()[0], b.number(2)) == batch;
    if (!both)
      b.unify(mask.sizes()[0], batch, "lengths");
    Term key = b.iota(sizes, 1, mask.element());
    auto bound = [&](AffineExpr from) { return b.broadcast(b.slice(mask, 0, from, batch), sizes, {0}); };
    sees = b.compare(F::OLT, I::slt, key, bound(b.number(0)));
    if (both)
      sees = b.apply<arith::AndIOp>(*sees, b.compare(F::OGE, I::sge, key, bound(batch)));
  } else {
    if (mask.rank() > 3)
      decline("masks of rank {} are not compiled", mask.rank());
    b.unify(mask.sizes().back(), keys, "length of the mask");
    if (mask.rank() == 3)
      b.unify(mask.sizes()[1], queries, "queries of the mask");
    sees = b.compare(F::OGT, I::sgt, mask, b.like(mask, 0));
  }
  Sizes sizes = sees->sizes();
  Type f32 = b.state.builder.getF32Type();
  Term bias = b.select(*sees, b.splat(sizes, f32, 0), b.splat(sizes, f32, filter));
  sizes.insert(sizes.begin() + 1, b.number(1));
  if (sizes.size() == 3)
    sizes.insert(sizes.begin() + 2, b.number(1));
  return b.reshape(bias, sizes);
}

/// key <= query + keys - queries
Term causal(NodeBuilder &b, const Sizes &scores) {
  Type i64 = b.state.builder.getI64Type();
  Term position = b.iota(scores, 2, i64) + b.sizeAs(graph::canonicalSize(scores[3] - scores[2]), scores, i64);
  return b.compare(F::OLE, I::sle, b.iota(scores, 3, i64), position);
}

/// The part of Attention and MultiHeadAttention after splitting into heads.
void finish(NodeBuilder &b, Attend attend, size_t mask, size_t bias, DType type) {
  Sizes scores{attend.q.sizes()[0], attend.q.sizes()[1], attend.q.sizes()[2], attend.k.sizes()[2]};
  if (b.has(mask))
    attend.biases.push_back(maskBias(b, mask, scores[0], scores[2], scores[3]));
  if (b.has(bias))
    attend.biases.push_back(b.in(bias));
  if (b.integer("unidirectional", 0))
    attend.sees = causal(b, scores);
  b.out(fromHeads(b, attend(b, type), 3), type);
}

//===- Attention with its projection ------------------------------------------------------------------------------===//

/// `projected` is [batch, steps, queries' + keys' + values' sizes].
void attendProjected(NodeBuilder &b, Term projected, size_t mask, size_t past, size_t bias, DType type) {
  int64_t heads = b.integer("num_heads", 0);
  if (b.integer("do_rotary", 0) || b.integer("past_present_share_buffer", 0))
    decline("rotary embedding and shared caches inside of Attention are not compiled");
  std::optional<int64_t> size = graph::constantSize(projected.sizes().back());
  if (projected.rank() != 3 || !size)
    decline("a projection of rank {} or symbolic size is not compiled", projected.rank());
  std::vector<int64_t> sizes = b.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>(3, *size / 3));
  b.expect(sizes.size() == 3 && sizes[0] > 0 && sizes[1] > 0 && sizes[2] > 0 && sizes[0] + sizes[1] + sizes[2] == *size,
           fmt::format("expected three hidden sizes that add up to {}, got [{}]", *size, fmt::join(sizes, ", ")));
  projected = b.stored(projected, type);
  auto part = [&](int64_t first, int64_t count) {
    return byHeads(b, b.slice(projected, 2, b.number(first), b.number(count)), heads);
  };
  Term q = part(0, sizes[0]), k = part(sizes[0], sizes[1]), v = part(sizes[0] + sizes[1], sizes[2]);
  if (b.has(past)) {
    b.expectRank(past, 5);
    Sizes cache = b.sizes(past);
    b.unify(cache[0], b.number(2), "keys and values of the past");
    auto old = [&](int64_t which) {
      return b.reshape(b.slice(b.raw(past), 0, b.number(which), b.number(1)), ArrayRef(cache).drop_front());
    };
    k = b.concat({old(0), k}, 2), v = b.concat({old(1), v}, 2);
  }
  if (b.wants(1)) {
    Sizes one = k.sizes();
    one.insert(one.begin(), b.number(1));
    b.expect(k.sizes() == v.sizes(), "expected keys and values of one shape to be a state");
    b.out(b.concat({b.reshape(k, one), b.reshape(v, one)}, 0), type, 1);
  }
  finish(b, {.q = q, .k = k, .v = v, .scale = scaleOf(b, q.sizes()[3])}, mask, bias, type);
}

} // namespace

void contribAttention(NodeBuilder &b) {
  b.expectRank(0, 3), b.expectRank(1, 2);
  Term projected = termOf(b, composed(b, "MatMul", {given(b, 0), given(b, 1)}));
  attendProjected(b, b.has(2) ? projected + b.in(2) : projected, 3, 4, 5, b.type(0));
}

/// Attention with a projection of quantized operands.
void quantizedAttention(NodeBuilder &b) {
  b.expectRank(0, 3), b.expectRank(1, 2);
  Term sum =
      b.term(b.state.materialize(*composed(b, "MatMulInteger", {given(b, 0), given(b, 1), given(b, 6), given(b, 7)})));
  auto scale = [&](size_t i) {
    Term x = b.in(i);
    return x.rank() == 1 && graph::constantSize(x.sizes()[0]) == 1 ? b.reshape(x, {}) : x;
  };
  attendProjected(b, b.convert(sum, DType::I32, DType::F32) * (scale(3) * scale(4)) + b.in(2), 5, 8, 9, b.type(2));
}

//===- Heads as inputs --------------------------------------------------------------------------------------------===//

void multiHeadAttention(NodeBuilder &b) {
  int64_t heads = b.integer("num_heads", 0);
  if (b.rank(0) != 3 || !b.has(1) || b.rank(1) == 5)
    decline("packed queries, keys and values are not compiled");
  if (b.has(8) || b.has(9) || b.wants(3))
    decline("shared caches, beams and scores as a result are not compiled");
  DType type = b.type(0);
  auto operand = [&](size_t i, AffineExpr first) {
    Term x = b.raw(i);
    if (b.has(3) && x.rank() == 3)
      x = b.stored(b.widen(x) + b.slice(b.in(3), 0, first, x.sizes()[2]), type);
    return byHeads(b, x, heads);
  };
  if (b.has(3))
    b.expectRank(3, 1);
  AffineExpr size = b.sizes(0)[2];
  Term q = operand(0, b.number(0)), k = operand(1, size), v = operand(2, size * 2);
  b.expect(b.has(6) == b.has(7), "expected past_key and past_value together");
  if (b.has(6)) {
    b.expectRank(6, 4), b.expectRank(7, 4);
    k = b.concat({b.raw(6), k}, 2), v = b.concat({b.raw(7), v}, 2);
  }
  b.out(k, type, 1);
  b.out(v, type, 2);
  finish(b, {.q = q, .k = k, .v = v, .scale = scaleOf(b, q.sizes()[3])}, 4, 5, type);
}

//===- Rotary embedding -------------------------------------------------------------------------------------------===//

namespace {

/// Applies the standard RotaryEmbedding to heads at positions [batch, steps].
Term rotated(NodeBuilder &b, Term x, DType type, size_t cosines, Term positions, bool interleaved) {
  b.expectRank(cosines, 2), b.expectRank(cosines + 1, 2);
  std::optional<int64_t> half = graph::constantSize(b.sizes(cosines)[1]);
  if (!half)
    decline("angles of a symbolic size are not compiled");
  ImportedValue *y =
      composed(b, "RotaryEmbedding",
               {valueOf(b, x, type), given(b, cosines), given(b, cosines + 1), valueOf(b, positions, DType::I64)},
               {{"interleaved", int64_t(interleaved)}, {"rotary_embedding_dim", 2 * *half}}, 23);
  return b.term(b.state.materialize(*y));
}

} // namespace

void contribRotaryEmbedding(NodeBuilder &b) {
  b.expectRank(0, 3, 4), b.expectRank(2, 2);
  std::optional<int64_t> half = graph::constantSize(b.sizes(2)[1]), size = graph::constantSize(b.sizes(0).back());
  if (!half || !size || *half <= 0)
    decline("heads of a symbolic size are not compiled");
  int64_t heads =
      b.integer("rotary_embedding_dim", 0) || b.rank(0) == 4 ? b.integer("num_heads", 0) : *size / (2 * *half);
  Term x = byHeads(b, b.raw(0), heads), positions = b.convert(b.raw(1), b.type(1), DType::I64);
  Sizes wanted{x.sizes()[0], x.sizes()[2]};
  if (positions.rank() == 1) { // the position of the first step
    b.unify(positions.sizes()[0], b.number(1), "first positions");
    positions = b.broadcast(b.reshape(positions, {}), wanted) + b.iota(wanted, 1, positions.element());
  }
  Term y = rotated(b, x, b.type(0), 2, positions, b.integer("interleaved", 0));
  b.out(fromHeads(b, y, b.rank(0)));
}

//===- Queries in groups, with a cache ----------------------------------------------------------------------------===//

namespace {

/// Where new keys and values are written into the cache.
struct CachePlan {
  AffineExpr steps, total, kept, length; // new steps, all steps, sizes of the cache before and after
  Term past;                             // keys before the first query

  explicit CachePlan(NodeBuilder &b, AffineExpr batch, AffineExpr steps) : steps(steps), total(b.knownSize(6)) {
    kept = b.has(3) ? b.sizes(3)[2] : b.number(0);
    std::optional<int64_t> all = graph::constantSize(total), had = graph::constantSize(kept);
    if (all && had)
      length = b.number(std::max(*all, *had));
    else if (had == 0 || total == graph::canonicalSize(kept + steps))
      length = total;
    else
      decline("whether {} or {} is the length of the cache is only known at run time", b.state.print(total),
              b.state.print(kept));
    b.unify(b.sizes(5)[0], batch, "lengths");
    Type i64 = b.state.builder.getI64Type();
    Sizes sizes{batch};
    Term zero = b.splatInteger(sizes, i64, 0);
    if (steps == total || had == 0) { // a prompt
      b.unify(total, steps, "total_sequence_length of a prompt");
      past = zero;
      return;
    }
    Term last = b.convert(b.raw(5), b.type(5), DType::I64);
    past = b.maximum(last + b.splatInteger(sizes, i64, 1) - b.sizeAs(steps, sizes, i64), zero);
    if (!all || !graph::constantSize(steps)) { // perhaps a prompt
      Term prompt = b.compare(F::OEQ, I::eq, b.sizeAs(steps, sizes, i64), b.sizeAs(total, sizes, i64));
      past = b.select(prompt, zero, past);
    }
  }

  /// The cache with the new keys or values written after the past ones, and zeros after them.
  Term appended(NodeBuilder &b, std::optional<Term> cache, Term fresh) const {
    Sizes sizes = fresh.sizes();
    if (!cache && length == steps)
      return fresh;
    sizes[2] = length;
    Type i64 = b.state.builder.getI64Type();
    Term key = b.iota(sizes, 2, i64), first = b.broadcast(past, sizes, {0}), offset = key - first;
    Term last = b.sizeAs(graph::canonicalSize(steps - 1), sizes, i64);
    Term index = b.minimum(b.maximum(offset, b.like(offset, 0)), last);
    SmallVector<AffineExpr> place;
    for (unsigned d : {0u, 1u, 4u, 3u})
      place.push_back(getAffineDimExpr(d, b.state.context));
    Term added = b.gather(fresh, {index}, AffineMap::get(5, 0, place, b.state.context), sizes);
    added = b.select(b.compare(F::OLE, I::sle, offset, last), added, b.like(added, 0));
    if (!cache)
      return added;
    Term old = cache->sizes()[2] == length ? *cache : b.pad(*cache, {0, 0, 0, 0}, sizes, 0);
    return b.select(b.compare(F::OLT, I::slt, key, first), old, added);
  }

  /// Positions [batch, steps] of the queries.
  Term positions(NodeBuilder &b) const {
    Sizes sizes{past.sizes()[0], steps};
    bool prompt = steps == total;
    if (b.has(9) && !prompt)
      return b.convert(b.raw(9), b.type(9), DType::I64);
    return b.broadcast(past, sizes, {0}) + b.iota(sizes, 1, past.element());
  }

  /// Which keys each query may attend to.
  Term visible(NodeBuilder &b, const Sizes &scores) const {
    Type i64 = b.state.builder.getI64Type();
    Term key = b.iota(scores, 3, i64), position = b.iota(scores, 2, i64) + b.broadcast(past, scores, {0});
    Term sees = b.compare(F::OLE, I::sle, key, position);
    int64_t window = b.integer("local_window_size", -1);
    if (window > 0)
      sees =
          b.apply<arith::AndIOp>(sees, b.compare(F::OGT, I::sgt, key, position - b.splatInteger(scores, i64, window)));
    return sees;
  }
};

/// Queries, keys and values split by heads, and unpacked if they are one tensor.
SmallVector<Term> groupedHeads(NodeBuilder &b) {
  int64_t heads = b.integer("num_heads", 0), keyHeads = b.integer("kv_num_heads", 0);
  b.expect(heads > 0 && keyHeads > 0,
           fmt::format("expected positive numbers of heads, got {} and {}", heads, keyHeads));
  b.expectRank(0, 3);
  if (b.has(1))
    return {byHeads(b, b.raw(0), heads), byHeads(b, b.raw(1), keyHeads), byHeads(b, b.raw(2), keyHeads)};
  Term all = byHeads(b, b.raw(0), heads + 2 * keyHeads);
  return {b.slice(all, 1, b.number(0), b.number(heads)), b.slice(all, 1, b.number(heads), b.number(keyHeads)),
          b.slice(all, 1, b.number(heads + keyHeads), b.number(keyHeads))};
}

/// Divides each head's query or key by its root mean square.
Term normalizedHeads(NodeBuilder &b, Term x, DType type, size_t weight) {
  ImportedValue *y = composed(b, "RMSNormalization", {valueOf(b, x, type), given(b, weight)},
                              {{"epsilon", static_cast<float>(b.real("qk_norm_epsilon", 1e-6))}}, 23);
  return b.term(b.state.materialize(*y));
}

} // namespace

void groupQueryAttention(NodeBuilder &b) {
  if (b.integer("sliding_window_cache", 0) || b.text("k_quant_type", "NONE") != "NONE" ||
      b.text("v_quant_type", "NONE") != "NONE")
    decline("window-sized and quantized caches are not compiled");
  if (b.integer("causal", 1) == 0 || b.wants(3))
    decline("attention in both directions and scores as a result are not compiled");
  b.expect(b.has(3) == b.has(4), "expected past_key and past_value together");
  for (size_t i : {size_t(3), size_t(4)})
    if (b.has(i))
      b.expectRank(i, 4);
  b.expectRank(5, 1, 2);
  if (b.rank(5) != 1)
    decline("lengths of rank 2 are not compiled");
  SmallVector<Term> heads = groupedHeads(b);
  Term q = heads[0], k = heads[1], v = heads[2];
  DType type = b.type(0);
  CachePlan plan(b, q.sizes()[0], q.sizes()[2]);
  b.unify(k.sizes()[2], q.sizes()[2], "number of keys");
  for (size_t i : {size_t(3), size_t(4)})
    for (size_t dim : {0, 1, 3})
      if (b.has(i))
        b.unify(b.sizes(i)[dim], k.sizes()[dim], fmt::format("dimension {} of the cache", dim));
  for (size_t i : {size_t(11), size_t(14), size_t(15)})
    if (b.has(i))
      b.expectRank(i, 1);
  if (b.has(14))
    q = normalizedHeads(b, q, type, 14), k = normalizedHeads(b, k, type, 15);
  if (b.integer("do_rotary", 0)) {
    Term positions = plan.positions(b);
    bool interleaved = b.integer("rotary_interleaved", 0);
    q = rotated(b, q, type, 7, positions, interleaved), k = rotated(b, k, type, 7, positions, interleaved);
  }
  auto cache = [&](size_t i) { return b.has(i) ? std::optional(b.raw(i)) : std::nullopt; };
  Term keys = plan.appended(b, cache(3), k), values = plan.appended(b, cache(4), v);
  b.out(keys, type, 1);
  b.out(values, type, 2);
  Attend attend{.q = q, .k = keys, .v = values, .scale = scaleOf(b, q.sizes()[3]), .softcap = b.real("softcap", 0)};
  Sizes scores{q.sizes()[0], q.sizes()[1], q.sizes()[2], plan.length};
  attend.sees = plan.visible(b, scores);
  if (b.has(10)) {
    b.expectRank(10, 4);
    Term bias = b.in(10);
    Sizes wide = bias.sizes();
    wide[3] = plan.length;
    attend.biases.push_back(bias.sizes()[3] == plan.length ? bias : b.pad(bias, {0, 0, 0, 0}, wide, 0));
  }
  if (b.has(11))
    attend.sink = b.in(11);
  else if (b.integer("smooth_softmax", -1) == 1)
    attend.sink = b.splat({scores[1]}, b.state.builder.getF32Type(), 0);
  b.out(fromHeads(b, attend(b, type), 3), type);
}

} // namespace tilewright::ops
