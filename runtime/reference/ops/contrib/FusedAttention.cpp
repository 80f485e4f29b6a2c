// SPDX-License-Identifier: Apache-2.0
// com.microsoft: the attention operators of ONNX Runtime, with projections, key-value caches and rotary embedding.
//
//     scores = softcap(scale * Q K^T) + biases      Y = softmax(scores) V      heads: [batch, heads, steps, size]
//
// Unlike the standard operator's -infinity, masked scores get `mask_filter_value` (-10000) and causally masked ones the
// lowest finite float: a row with every key masked attends evenly to all of them.
#include "runtime/reference/Compose.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace tilewright::reference {

constexpr double lowest = std::numeric_limits<float>::lowest();

//===- Attention over heads ---------------------------------------------------------------------------------------===//

/// Elements [first, first + size) along an axis.
static Tensor part(const Tensor &x, int64_t axis, int64_t first, int64_t size) {
  std::vector<IndexMap> maps;
  for (int64_t dim : x.shape())
    maps.push_back(identityMap(dim));
  require(first >= 0 && size >= 0 && first + size <= x.shape()[axis],
          "expected {} elements from {} on in dimension {}, found shape {}", size, first, axis, x.shape());
  maps[axis].assign(size, 0);
  for (int64_t i = 0; i < size; ++i)
    maps[axis][i] = first + i;
  return pick(x, maps);
}

static Tensor joined(const Tensor &a, const Tensor &b, int64_t axis) {
  return composed("Concat", {a, b}, {{"axis", axis}});
}

struct Attend {
  Tensor q, k, v; // in double
  double scale, softcap = 0;
  std::vector<Tensor> biases = {}; // each broadcasts to the scores
  Tensor sink = {};                // [heads]: an additional score of each row, with a value of zero
  std::function<std::pair<int64_t, int64_t>(int64_t b, int64_t i)> keys =
      {};                           // the range of keys that a query attends to; all if empty
  Tensor scores = {}, weights = {}; // results

  /// softmax over keys first ... last of a row; 0 elsewhere.
  static void softmaxRow(double *row, int64_t count, int64_t first, int64_t last, const double *sink) {
    double peak = sink ? *sink : -HUGE_VAL, sum = 0;
    for (int64_t j = first; j < last; ++j)
      peak = std::max(peak, row[j]);
    for (int64_t j = 0; j < count; ++j)
      sum += row[j] = first <= j && j < last ? std::exp(row[j] - peak) : 0;
    sum += sink ? std::exp(*sink - peak) : 0;
    for (int64_t j = 0; j < count; ++j)
      row[j] = sum > 0 ? row[j] / sum : 0;
  }

  Tensor operator()() {
    const Shape &s = q.shape();
    require(q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && k.shape()[0] == s[0] && v.shape()[0] == s[0] &&
                k.shape()[3] == s[3] && k.shape()[2] == v.shape()[2] && k.shape()[1] == v.shape()[1] &&
                k.shape()[1] >= 1 && s[1] % k.shape()[1] == 0,
            "queries {}, keys {} and values {} do not fit together", s, k.shape(), v.shape());
    if (int64_t shared = s[1] / k.shape()[1]; shared != 1) {
      std::vector<int64_t> owner;
      for (int64_t h = 0; h < s[1]; ++h)
        owner.push_back(h / shared);
      Tensor owners = store(DType::I64, {s[1]}, owner);
      k = composed("Gather", {k, owners}, {{"axis", int64_t(1)}}),
      v = composed("Gather", {v, owners}, {{"axis", int64_t(1)}});
    }
    scores = composed("MatMul", {composed("Mul", {q, wideScalar(scale)}), transpose(k, {0, 1, 3, 2})});
    if (softcap > 0)
      scores =
          composed("Mul", {composed("Tanh", {composed("Div", {scores, wideScalar(softcap)})}), wideScalar(softcap)});
    Shape shape = scores.shape();
    for (const Tensor &bias : biases) {
      scores = composed("Add", {scores, bias});
      require(scores.shape() == shape, "expected a bias that broadcasts to {}, found {}", shape, bias.shape());
    }
    Values<double> values(scores);
    std::vector<double> rows(values.begin(), values.end());
    Values<double> sinks(sink.defined() ? wide(sink) : wideScalar(0));
    require(!sink.defined() || sinks.size() == s[1], "expected {} sinks, found {}", s[1], sinks.size());
    for (int64_t r = 0; r < s[0] * s[1] * s[2]; ++r) {
      auto [first, last] = keys ? keys(r / s[2] / s[1], r % s[2]) : std::pair<int64_t, int64_t>(0, shape[3]);
      softmaxRow(rows.data() + r * shape[3], shape[3], first, last,
                 sink.defined() ? sinks.data() + r / s[2] % s[1] : nullptr);
    }
    weights = store(DType::F64, shape, rows);
    return composed("MatMul", {weights, v});
  }
};

static double scaleOf(Call &call, int64_t size) {
  double given = call.real("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(size));
}

/// The bias [batch or 1, 1, queries or 1, keys] of a mask in any of its forms: lengths [batch], ends and starts [2 *
/// batch], or ones for visible keys, with 2, 3 or 4 dimensions.
static Tensor maskBias(const Tensor &mask, int64_t batch, int64_t queries, int64_t keys, double filter) {
  const Shape &own = mask.shape();
  Values<int64_t> values(mask);
  std::vector<double> bias;
  if (own.size() == 1) {
    require(own[0] == batch || own[0] == 2 * batch || own[0] == 3 * batch + 2,
            "expected {0} lengths or {1} bounds, found {2}", batch, 2 * batch, own[0]);
    for (int64_t i = 0; i < batch * keys; ++i) {
      int64_t b = i / keys, j = i % keys;
      bias.push_back(j >= values[b] || (own[0] == 2 * batch && j < values[batch + b]) ? filter : 0);
    }
    return store(DType::F64, {batch, 1, 1, keys}, bias);
  }
  for (int64_t value : values)
    bias.push_back(value > 0 ? 0 : filter);
  if (own.size() == 2 && own[1] == keys)
    return store(DType::F64, {own[0], 1, 1, keys}, bias);
  if (own.size() == 3 && own[1] == queries && own[2] == keys)
    return store(DType::F64, {own[0], 1, queries, keys}, bias);
  if (own.size() == 4 && own[1] == 1 && own[2] >= keys && own[3] >= keys) // a mask over all positions
    return part(part(store(DType::F64, own, bias), 2, keys - queries, queries), 3, 0, keys);
  malformed(
      fmt::format("expected a mask for {} batches, {} queries and {} keys, found shape {}", batch, queries, keys, own));
}

/// The lowest float where a key comes after its query. The last query is aligned with the last key.
static Tensor causalBias(int64_t queries, int64_t keys) {
  std::vector<double> bias;
  for (int64_t i = 0; i < queries * keys; ++i)
    bias.push_back(i % keys > keys - queries + i / keys ? lowest : 0);
  return store(DType::F64, {queries, keys}, bias);
}

/// The common end of Attention and MultiHeadAttention: masks, attention, outputs.
static void finish(Call &call, Attend attend, int64_t mask, int64_t bias, DType type) {
  int64_t batch = attend.q.shape()[0], queries = attend.q.shape()[2], keys = attend.k.shape()[2];
  if (call.has(mask))
    attend.biases.push_back(maskBias(call.input(mask), batch, queries, keys, call.real("mask_filter_value", -10000)));
  if (call.integer("unidirectional", 0))
    attend.biases.push_back(causalBias(queries, keys));
  if (call.has(bias))
    attend.biases.push_back(wide(call.input(bias)));
  call.give(0, convert(joinHeads(attend()), type));
}

//===- Attention with its projection ------------------------------------------------------------------------------===//

/// `projected` is [batch, steps, queries' + keys' + values' sizes].
static void attendProjected(Call &call, const Tensor &projected, int64_t mask, int64_t past, int64_t bias, DType type) {
  int64_t heads = call.integer("num_heads", 0);
  if (call.integer("do_rotary", 0) || call.integer("past_present_share_buffer", 0))
    unsupported("rotary embedding and shared caches inside of Attention are not supported");
  require(projected.rank() == 3, "expected [batch, sequence, size], found shape {}", projected.shape());
  std::vector<int64_t> sizes =
      call.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>(3, projected.shape()[2] / 3));
  require(sizes.size() == 3 && sizes[0] >= 0 && sizes[1] >= 0 && sizes[2] >= 0 &&
              sizes[0] + sizes[1] + sizes[2] == projected.shape()[2],
          "expected three hidden sizes that add up to {}, found {}", projected.shape()[2], sizes);
  Tensor q = splitHeads(part(projected, 2, 0, sizes[0]), heads),
         k = splitHeads(part(projected, 2, sizes[0], sizes[1]), heads),
         v = splitHeads(part(projected, 2, sizes[0] + sizes[1], sizes[2]), heads);
  if (call.has(past)) {
    const Tensor &cache = call.input(past);
    require(cache.rank() == 5 && cache.shape()[0] == 2,
            "expected a past of shape [2, batch, heads, length, size], found {}", cache.shape());
    Shape one(cache.shape().begin() + 1, cache.shape().end());
    k = joined(part(wide(cache), 0, 0, 1).reshaped(one), k, 2),
    v = joined(part(wide(cache), 0, 1, 1).reshaped(one), v, 2);
  }
  if (call.wants(1)) {
    Shape shape = k.shape();
    shape.insert(shape.begin(), 1);
    require(k.shape() == v.shape(), "expected keys and values of one shape to be a state, found {} and {}", k.shape(),
            v.shape());
    call.give(1, convert(joined(k.reshaped(shape), v.reshaped(shape), 0), type));
  }
  double scale = scaleOf(call, q.shape()[3]);
  finish(call, {.q = q, .k = k, .v = v, .scale = scale}, mask, bias, type);
}

void contribAttention(Call &call) {
  Tensor projected = composed("MatMul", {wide(call.input(0)), wide(call.input(1))});
  if (call.has(2))
    projected = composed("Add", {projected, wide(call.input(2))});
  attendProjected(call, projected, 3, 4, 5, call.input(0).type());
}

/// Attention with quantized operands of the projection, which have scales and zero points.
void quantizedAttention(Call &call) {
  auto real = [&](int64_t value, int64_t scale, int64_t zero) {
    Tensor x = wide(call.input(value));
    if (call.has(zero))
      x = composed("Sub", {x, wide(call.input(zero))});
    return composed("Mul", {x, wide(call.input(scale))});
  };
  Tensor projected = composed("Add", {composed("MatMul", {real(0, 3, 6), real(1, 4, 7)}), wide(call.input(2))});
  attendProjected(call, projected, 5, 8, 9, call.input(2).type());
}

//===- Heads as inputs --------------------------------------------------------------------------------------------===//

/// Tensor `which` of those packed along dimension 3 of [batch, steps, heads, count, size], split by heads.
static Tensor unpacked(const Tensor &x, int64_t which) {
  Tensor one = part(x, 3, which, 1);
  return transpose(one.reshaped({one.shape()[0], one.shape()[1], one.shape()[2], one.shape()[4]}), {0, 2, 1, 3});
}

void multiHeadAttention(Call &call) {
  int64_t heads = call.integer("num_heads", 0);
  auto biased = [&](Tensor x, int64_t first) { // x [batch, steps, size]
    if (!call.has(3) || x.rank() != 3)
      return x;
    return composed("Add", {x, part(wide(call.input(3)), 0, first, x.shape()[2])});
  };
  require(!call.has(3) || call.input(3).rank() == 1, "expected a bias of rank 1");
  Tensor query = wide(call.input(0)), q, k, v;
  if (query.rank() == 5) {
    require(query.shape()[3] == 3 && !call.has(3),
            "expected queries, keys and values in dimension 3 and no bias, found shape {}", query.shape());
    q = unpacked(query, 0), k = unpacked(query, 1), v = unpacked(query, 2);
  } else if (call.has(1) && call.input(1).rank() == 5) {
    require(call.input(1).shape()[3] == 2, "expected keys and values in dimension 3, found shape {}",
            call.input(1).shape());
    q = splitHeads(biased(query, 0), heads), k = unpacked(wide(call.input(1)), 0), v = unpacked(wide(call.input(1)), 1);
  } else {
    require(query.rank() == 3, "expected queries of rank 3 or 5, found shape {}", query.shape());
    int64_t size = query.shape()[2];
    q = splitHeads(biased(query, 0), heads);
    k = splitHeads(biased(wide(call.input(1)), size), heads),
    v = splitHeads(biased(wide(call.input(2)), 2 * size), heads);
  }
  if (call.has(8) || call.has(9))
    unsupported("MultiHeadAttention with a shared cache or beams is not supported");
  require(call.has(6) == call.has(7), "expected past_key and past_value together");
  if (call.has(6))
    k = joined(wide(call.input(6)), k, 2), v = joined(wide(call.input(7)), v, 2);
  DType type = call.input(0).type();
  if (call.wants(1))
    call.give(1, convert(k, type));
  if (call.wants(2))
    call.give(2, convert(v, type));
  double scale = scaleOf(call, q.shape()[3]);
  finish(call, {.q = q, .k = k, .v = v, .scale = scale}, 4, 5, type);
}

//===- Rotary embedding -------------------------------------------------------------------------------------------===//

/// The standard RotaryEmbedding of heads [batch, heads, steps, size] at positions [batch, steps].
static Tensor rotated(Call &call, const Tensor &x, int64_t cosines, const Tensor &positions, bool interleaved) {
  const Shape &angles = call.input(cosines).shape();
  require(angles.size() == 2, "expected a table of angles of rank 2, found shape {}", angles);
  return composed("RotaryEmbedding", {x, wide(call.input(cosines)), wide(call.input(cosines + 1)), positions},
                  {{"interleaved", int64_t(interleaved)}, {"rotary_embedding_dim", 2 * angles[1]}}, 23);
}

void contribRotaryEmbedding(Call &call) {
  const Tensor &x = call.input(0);
  require(call.input(2).rank() == 2 && call.input(2).shape()[1] > 0,
          "expected a table of angles of rank 2, found shape {}", call.input(2).shape());
  int64_t dim = call.integer("rotary_embedding_dim", 0), heads = call.integer("num_heads", 0);
  if (x.rank() == 3 && dim == 0)
    heads = x.shape()[2] / (2 * call.input(2).shape()[1]);
  Tensor byHeads = splitHeads(wide(x), heads);
  int64_t batch = byHeads.shape()[0], steps = byHeads.shape()[2];
  std::vector<int64_t> positions = call.indices(1);
  if (positions.size() == 1 && batch * steps != 1) { // the position of the first step
    int64_t first = positions[0];
    positions.clear();
    for (int64_t i = 0; i < batch * steps; ++i)
      positions.push_back(first + i % steps);
  }
  require(static_cast<int64_t>(positions.size()) == batch * steps, "expected {} positions, found {}", batch * steps,
          positions.size());
  Tensor y = rotated(call, byHeads, 2, store(DType::I64, {batch, steps}, positions), call.integer("interleaved", 0));
  call.give(0, convert(x.rank() == 3 ? joinHeads(y) : y, x.type()));
}

//===- Queries in groups, with a cache ----------------------------------------------------------------------------===//

/// The cache after a step: its old content, the new keys or values from [b, :, past[b]] on, then zeros.
static Tensor appendedAt(const Tensor &cache, const Tensor &fresh, const std::vector<int64_t> &past, int64_t length) {
  Shape shape = fresh.shape();
  int64_t steps = shape[2], size = shape[3], kept = cache.defined() ? cache.shape()[2] : 0;
  require(!cache.defined() || (cache.rank() == 4 && cache.shape()[0] == shape[0] && cache.shape()[1] == shape[1] &&
                               cache.shape()[3] == size),
          "expected a cache of shape [{}, {}, length, {}], found {}", shape[0], shape[1], size,
          cache.defined() ? cache.shape() : Shape());
  shape[2] = length;
  checkSize(DType::F64, shape);
  std::vector<double> result(product(shape));
  Values<double> old(cache.defined() ? cache : wideScalar(0)), added(fresh);
  for (int64_t n = 0; n < shape[0] * shape[1]; ++n) {
    int64_t first = past[n / shape[1]];
    std::copy_n(old.begin() + n * kept * size, std::min(first, kept) * size, result.begin() + n * length * size);
    std::copy_n(added.begin() + n * steps * size, std::min(steps, length - first) * size,
                result.begin() + (n * length + first) * size);
  }
  return store(DType::F64, shape, result);
}

struct GroupQuery {
  Tensor q, k, v;
  int64_t batch, steps, total, length; // total: of the longest sequence; length: of the cache
  std::vector<int64_t> past, valid;    // by batch: keys before the first query, all keys

  explicit GroupQuery(Call &call) {
    int64_t heads = call.integer("num_heads", 0), keyHeads = call.integer("kv_num_heads", 0);
    Tensor query = wide(call.input(0));
    require(query.rank() == 3 && heads >= 1 && keyHeads >= 1,
            "expected queries [batch, sequence, size] and positive numbers of heads");
    if (call.has(1)) {
      q = splitHeads(query, heads), k = splitHeads(wide(call.input(1)), keyHeads),
      v = splitHeads(wide(call.input(2)), keyHeads);
    } else {
      Tensor all = splitHeads(query, heads + 2 * keyHeads);
      q = part(all, 1, 0, heads), k = part(all, 1, heads, keyHeads), v = part(all, 1, heads + keyHeads, keyHeads);
    }
    batch = q.shape()[0], steps = q.shape()[2], total = call.index(6);
    require(k.shape()[2] == steps && v.shape()[2] == steps,
            "expected as many keys and values as queries ({}), found {} and {}", steps, k.shape()[2], v.shape()[2]);
    require(call.has(3) == call.has(4), "expected past_key and past_value together");
    int64_t kept = call.has(3) && call.input(3).rank() == 4 ? call.input(3).shape()[2] : 0;
    // Trial runs at import pass zeros here; then the smallest valid length is used.
    total = std::max(total, steps), length = std::max(total, kept);
    std::vector<int64_t> lengths = call.indices(5);
    require(static_cast<int64_t>(lengths.size()) == batch, "expected {} lengths, found {}", batch, lengths.size());
    for (int64_t last : lengths) {
      require(last < length, "expected lengths below {}, found {}", length, last);
      valid.push_back(std::max<int64_t>(last + 1, 0));
      past.push_back(steps == total ? 0 : std::max<int64_t>(valid.back() - steps, 0));
    }
  }

  Tensor positions(Call &call) const {
    if (call.has(9) && steps != total)
      return convert(call.input(9), DType::I64);
    std::vector<int64_t> result;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < steps; ++i)
        result.push_back(past[b] + i);
    return store(DType::I64, {batch, steps}, result);
  }
};

/// The rows of Q and K divided by their root mean square.
static Tensor normalizedHeads(Call &call, const Tensor &x, int64_t weight) {
  return composed("RMSNormalization", {x, wide(call.input(weight))},
                  {{"epsilon", static_cast<float>(call.real("qk_norm_epsilon", 1e-6))}}, 23);
}

void groupQueryAttention(Call &call) {
  if (call.integer("sliding_window_cache", 0) || call.text("k_quant_type", "NONE") != "NONE" ||
      call.text("v_quant_type", "NONE") != "NONE")
    unsupported("GroupQueryAttention with a window-sized or quantized cache is not supported");
  GroupQuery group(call);
  DType type = call.input(0).type();
  Tensor q = group.q, k = group.k;
  if (call.has(14))
    q = normalizedHeads(call, q, 14), k = normalizedHeads(call, k, 15);
  if (call.integer("do_rotary", 0)) {
    bool interleaved = call.integer("rotary_interleaved", 0);
    q = rotated(call, q, 7, group.positions(call), interleaved),
    k = rotated(call, k, 7, group.positions(call), interleaved);
  }
  auto cache = [&](int64_t i) { return call.has(i) ? wide(call.input(i)) : Tensor(); };
  Tensor keys = appendedAt(cache(3), k, group.past, group.length),
         values = appendedAt(cache(4), group.v, group.past, group.length);
  call.give(1, convert(keys, type));
  call.give(2, convert(values, type));
  int64_t window = call.integer("local_window_size", -1);
  bool causal = call.integer("causal", 1);
  Attend attend{
      .q = q, .k = keys, .v = values, .scale = scaleOf(call, q.shape()[3]), .softcap = call.real("softcap", 0)};
  if (call.has(10)) { // for the total length; the cache may be longer
    Shape shape = call.input(10).shape();
    require(shape.size() == 4 && shape[3] <= group.length, "expected a bias for {} keys, found shape {}", group.total,
            shape);
    std::vector<IndexMap> maps;
    for (int64_t dim : shape)
      maps.push_back(identityMap(dim));
    maps[3].resize(group.length, fill);
    attend.biases.push_back(pick(wide(call.input(10)), maps));
  }
  if (call.has(11))
    attend.sink = call.input(11);
  else if (call.integer("smooth_softmax", -1) == 1)
    attend.sink = allocate(DType::F64, {q.shape()[1]});
  attend.keys = [&](int64_t b, int64_t i) -> std::pair<int64_t, int64_t> {
    int64_t last = causal ? std::min(group.past[b] + i + 1, group.length) : group.valid[b];
    return {window > 0 ? std::max<int64_t>(last - window, 0) : 0, last};
  };
  call.give(0, convert(joinHeads(attend()), type));
  int64_t shown = call.integer("qk_output", 0);
  if (call.wants(3) && shown > 0)
    call.give(3, convert(shown == 1 ? attend.scores : attend.weights, type));
}

} // namespace tilewright::reference
