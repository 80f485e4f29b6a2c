// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention, rotary position embedding, and attention with a linear recurrent state.
//
//     scores = softcap(scale * Q K^T) + bias      Y = softmax(scores) V
//
// The bias is -infinity where a mask, causality, a window or padding hides a key. A query with no visible key gives
// zeros.
#include "runtime/reference/Contract.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>

namespace tilewright::reference {

/// [batch, heads, past + new, size].
static Tensor appended(const Tensor &past, const Tensor &fresh) {
  Shape shape = fresh.shape(), expected = past.shape();
  require(past.rank() == 4 && past.type() == fresh.type(), "expected a past of rank 4 and {}, found shape {}",
          name(fresh.type()), past.shape());
  expected[2] = shape[2];
  require(expected == shape, "expected a past like {}, found {}", shape, past.shape());
  shape[2] += past.shape()[2];
  Tensor result = allocate(fresh.type(), shape);
  AxisView to(shape, 2);
  size_t bytes = to.inner * elementBytes(fresh.type()), first = past.shape()[2] * bytes,
         second = fresh.shape()[2] * bytes;
  for (int64_t o = 0; o < shape[0] * shape[1]; ++o) {
    std::copy_n(past.bytes() + o * first, first, result.bytes() + o * (first + second));
    std::copy_n(fresh.bytes() + o * second, second, result.bytes() + o * (first + second) + first);
  }
  return result;
}

struct AttentionPlan {
  Tensor q, k, v;
  int64_t batch, heads, shared, queries, keys, size, valueSize; // `shared`: query heads per key head
  bool causal;
  int64_t left, right;                // window; -1: unbounded
  std::vector<int64_t> valid, offset; // by batch: keys before the padding, keys before the first query

  explicit AttentionPlan(Call &call)
      : q(splitHeads(call.input(0), call.integer("q_num_heads", 0))),
        k(splitHeads(call.input(1), call.integer("kv_num_heads", 0))),
        v(splitHeads(call.input(2), call.integer("kv_num_heads", 0))), causal(call.integer("is_causal", 0)),
        left(call.integer("left_window_size", -1)), right(call.integer("right_window_size", -1)) {
    require(left >= -1 && right >= -1, "expected window sizes of -1 or more, found {} and {}", left, right);
    require(call.has(4) == call.has(5), "expected past_key and past_value together");
    int64_t past = 0;
    if (call.has(4)) {
      past = call.input(4).rank() == 4 ? call.input(4).shape()[2] : 0;
      k = appended(call.input(4), k);
      v = appended(call.input(5), v);
    }
    batch = q.shape()[0], heads = q.shape()[1], queries = q.shape()[2], size = q.shape()[3];
    keys = k.shape()[2], valueSize = v.shape()[3];
    int64_t keyHeads = k.shape()[1];
    require(k.shape()[0] == batch && k.shape()[3] == size && v.shape() == Shape({batch, keyHeads, keys, valueSize}) &&
                keyHeads >= 1 && heads % keyHeads == 0,
            "queries {}, keys {} and values {} do not fit together", q.shape(), k.shape(), v.shape());
    shared = heads / keyHeads;
    valid.assign(batch, keys);
    offset.assign(batch, past);
    if (call.has(6)) {
      valid = call.indices(6);
      require(static_cast<int64_t>(valid.size()) == batch, "expected {} lengths, found {}", batch, valid.size());
      for (int64_t b = 0; b < batch; ++b) {
        require(0 <= valid[b] && valid[b] <= keys, "expected lengths from 0 to {}, found {}", keys, valid[b]);
        offset[b] = valid[b] - queries;
      }
    }
  }

  bool sees(int64_t b, int64_t i, int64_t j) const {
    int64_t position = i + offset[b];
    return j < valid[b] && (!causal || j <= position) && (left < 0 || position - j <= left) &&
           (right < 0 || j - position <= right);
  }
};

/// The mask as a bias of all scores [batch, heads, queries, keys]; the mask may have fewer keys.
static std::vector<double> maskBias(Call &call, const AttentionPlan &plan) {
  Shape shape{plan.batch, plan.heads, plan.queries, plan.keys};
  std::vector<double> bias(product(shape));
  if (call.has(3)) {
    const Tensor &mask = call.input(3);
    require(mask.rank() >= 1 && mask.rank() <= 4, "expected a mask of rank 1 to 4, found shape {}", mask.shape());
    Shape covered = shape;
    if (mask.shape().back() != 1)
      covered.back() = std::min(mask.shape().back(), plan.keys);
    Values<double> values(mask);
    std::fill(bias.begin(), bias.end(), -HUGE_VAL);
    walk(covered, std::array{broadcastStrides(mask.shape(), covered), stridesOf(shape)}, [&](const auto &at) {
      double value = values[at[0]];
      bias[at[1]] = mask.type() != DType::Bool ? value : value != 0 ? 0 : -HUGE_VAL;
    });
  }
  for (int64_t i = 0; i < static_cast<int64_t>(bias.size()); ++i)
    if (!plan.sees(i / plan.keys / plan.queries / plan.heads, i / plan.keys % plan.queries, i % plan.keys))
      bias[i] = -HUGE_VAL;
  return bias;
}

/// Replaces a row of scores, to which `bias` has been added, by their softmax. If the bias hides every key, they become
/// zeros.
static void softmaxRow(std::span<double> scores, std::span<const double> bias) {
  double peak = *std::max_element(scores.begin(), scores.end()), sum = 0;
  if (*std::max_element(bias.begin(), bias.end()) == -HUGE_VAL)
    return std::fill(scores.begin(), scores.end(), 0);
  for (double &score : scores)
    sum += score = std::exp(score - peak);
  for (double &score : scores)
    score /= sum;
}

void attention(Call &call) {
  AttentionPlan plan(call);
  int64_t m = plan.queries, n = plan.keys;
  double scale = call.hasAttribute("scale") ? call.real("scale", 1) : 1 / std::sqrt(static_cast<double>(plan.size)),
         cap = call.real("softcap", 0);
  int64_t shown = call.integer("qk_matmul_output_mode", 0);
  Shape scoreShape{plan.batch, plan.heads, m, n}, shape{plan.batch, plan.heads, m, plan.valueSize};
  checkSize(DType::F64, scoreShape);
  checkSize(DType::F64, shape);
  std::vector<double> bias = maskBias(call, plan), scores(product(scoreShape)), raw, result(product(shape));
  Values<double> q(plan.q), k(transpose(plan.k, {0, 1, 3, 2})), v(plan.v);
  for (int64_t h = 0; h < plan.batch * plan.heads; ++h)
    contract(m, n, plan.size, q.data() + h * m * plan.size, plan.size, k.data() + h / plan.shared * plan.size * n, n,
             scores.data() + h * m * n, n);
  auto show = [&](int64_t stage) {
    if (call.wants(3) && shown == stage)
      raw = scores;
  };
  for (double &score : scores)
    score *= scale;
  show(0);
  if (cap != 0)
    for (double &score : scores)
      score = cap * std::tanh(score / cap);
  show(1);
  for (size_t i = 0; i < scores.size(); ++i)
    scores[i] += bias[i];
  show(2);
  for (int64_t row = 0; row < plan.batch * plan.heads * m && n > 0; ++row)
    softmaxRow({scores.data() + row * n, static_cast<size_t>(n)}, {bias.data() + row * n, static_cast<size_t>(n)});
  show(3);
  for (int64_t h = 0; h < plan.batch * plan.heads; ++h)
    contract(m, plan.valueSize, n, scores.data() + h * m * n, n, v.data() + h / plan.shared * n * plan.valueSize,
             plan.valueSize, result.data() + h * m * plan.valueSize, plan.valueSize);
  Tensor y = store(call.input(0).type(), shape, result);
  call.give(0, call.input(0).rank() == 3 ? joinHeads(y) : y);
  call.give(1, plan.k);
  call.give(2, plan.v);
  if (call.wants(3)) {
    require(0 <= shown && shown <= 3, "expected qk_matmul_output_mode from 0 to 3, found {}", shown);
    call.give(3, call.input(0).type(), scoreShape, raw);
  }
}

//===- Rotary embedding -------------------------------------------------------------------------------------------===//

/// Rotates pairs of elements by the angle of their position: element i of both halves of a head, or neighbours if
/// interleaved. Only the first rotary_embedding_dim elements of each head.
void rotaryEmbedding(Call &call) {
  const Tensor &x = call.input(0), &cosines = call.input(1);
  Tensor heads = splitHeads(x, call.integer("num_heads", 0));
  int64_t batch = heads.shape()[0], count = heads.shape()[1], steps = heads.shape()[2], size = heads.shape()[3];
  int64_t rotated = call.integer("rotary_embedding_dim", 0);
  bool interleaved = call.integer("interleaved", 0);
  rotated = rotated == 0 ? size : rotated;
  require(rotated > 0 && rotated <= size && rotated % 2 == 0,
          "expected an even rotary_embedding_dim of at most {}, found {}", size, rotated);
  int64_t half = rotated / 2,
          rows = product(std::span(cosines.shape()).first(std::max<int64_t>(cosines.rank() - 1, 0)));
  require(cosines.rank() >= 1 && cosines.shape().back() == half && call.input(2).shape() == cosines.shape(),
          "expected caches with {} angles a position, found shapes {} and {}", half, cosines.shape(),
          call.input(2).shape());
  std::vector<int64_t> positions = call.has(3) ? call.indices(3) : identityMap(batch * steps);
  require(static_cast<int64_t>(positions.size()) == batch * steps, "expected {} positions, found {}", batch * steps,
          positions.size());
  for (int64_t position : positions)
    require(0 <= position && position < rows, "index {} is out of range for dimension 0 of size {}", position, rows);
  Values<double> values(heads), c(cosines), s(call.input(2));
  std::vector<double> result(values.begin(), values.end());
  for (int64_t row = 0; row < batch * count * steps; ++row) {
    int64_t angle = positions[row / (count * steps) * steps + row % steps] * half;
    for (int64_t i = 0; i < half; ++i) {
      int64_t a = row * size + (interleaved ? 2 * i : i), b = interleaved ? a + 1 : a + half;
      result[a] = c[angle + i] * values[a] - s[angle + i] * values[b];
      result[b] = s[angle + i] * values[a] + c[angle + i] * values[b];
    }
  }
  Tensor y = store(x.type(), heads.shape(), result);
  call.give(0, x.rank() == 3 ? joinHeads(y) : y);
}

//===- Linear attention -------------------------------------------------------------------------------------------===//

struct LinearPlan {
  Tensor q, k, v;
  bool gated, delta;
  int64_t batch, queryHeads, keyHeads, steps, size, valueSize;
  int64_t decayWidth = 1, betaWidth = 1; // the last dimensions of the inputs decay and beta

  explicit LinearPlan(Call &call) {
    std::string rule = call.text("update_rule", "gated_delta");
    require(rule == "linear" || rule == "gated" || rule == "delta" || rule == "gated_delta",
            "expected update_rule to be linear, gated, delta or gated_delta, found '{}'", rule);
    gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
    queryHeads = call.integer("q_num_heads", 0), keyHeads = call.integer("kv_num_heads", 0);
    for (int64_t i = 0; i < 3; ++i)
      require(call.input(i).rank() == 3, "expected inputs of rank 3, found shape {}", call.input(i).shape());
    q = splitHeads(call.input(0), queryHeads), k = splitHeads(call.input(1), keyHeads),
    v = splitHeads(call.input(2), keyHeads);
    batch = q.shape()[0], steps = q.shape()[2], size = q.shape()[3], valueSize = v.shape()[3];
    require(queryHeads % keyHeads == 0 && k.shape() == Shape({batch, keyHeads, steps, size}) &&
                v.shape() == Shape({batch, keyHeads, steps, valueSize}),
            "queries {}, keys {} and values {} do not fit together", q.shape(), k.shape(), v.shape());
    require(call.has(4) == gated && call.has(5) == delta, "update_rule '{}' takes {} decay and {} beta", rule,
            gated ? "a" : "no", delta ? "a" : "no");
    if (gated)
      decayWidth = gateWidth(call.input(4), {keyHeads, keyHeads * size});
    if (delta)
      betaWidth = gateWidth(call.input(5), {keyHeads, 1});
  }

  int64_t gateWidth(const Tensor &gate, std::vector<int64_t> widths) const {
    const Shape &own = gate.shape();
    require(own.size() == 3 && own[0] == batch && own[1] == steps && std::ranges::find(widths, own[2]) != widths.end(),
            "expected a gate of shape [{}, {}, one of {}], found {}", batch, steps, widths, own);
    return own[2];
  }
};

/// state = exp(decay) * state, row by row of the state.
static void decayState(const LinearPlan &plan, const double *decay, int64_t head, double *state) {
  for (int64_t d = 0; d < plan.size; ++d) {
    double factor = std::exp(decay[plan.decayWidth == plan.keyHeads ? head : head * plan.size + d]);
    for (int64_t e = 0; e < plan.valueSize; ++e)
      state[d * plan.valueSize + e] *= factor;
  }
}

/// state += key (beta * (value - state^T key))^T, or key value^T without beta.
static void updateState(const LinearPlan &plan, const double *key, const double *value, const double *beta,
                        double *state) {
  for (int64_t e = 0; e < plan.valueSize; ++e) {
    double known = 0;
    for (int64_t d = 0; d < plan.size && beta; ++d)
      known += state[d * plan.valueSize + e] * key[d];
    double learned = beta ? *beta * (value[e] - known) : value[e];
    for (int64_t d = 0; d < plan.size; ++d)
      state[d * plan.valueSize + e] += key[d] * learned;
  }
}

/// Each key head has a state matrix [key size, value size]. Each step decays it, updates it, and multiplies it by the
/// queries.
void linearAttention(Call &call) {
  LinearPlan plan(call);
  Shape stateShape{plan.batch, plan.keyHeads, plan.size, plan.valueSize},
      shape{plan.batch, plan.queryHeads, plan.steps, plan.valueSize};
  checkSize(DType::F64, stateShape);
  checkSize(DType::F64, shape);
  std::vector<double> state(product(stateShape)), result(product(shape));
  if (call.has(3)) {
    require(call.input(3).shape() == stateShape, "expected a past state of shape {}, found {}", stateShape,
            call.input(3).shape());
    Values<double> past(call.input(3));
    state.assign(past.begin(), past.end());
  }
  Values<double> queries(plan.q), keys(plan.k), values(plan.v), decay(plan.gated ? call.input(4) : plan.q),
      beta(plan.delta ? call.input(5) : plan.q);
  double scale = call.real("scale", 0);
  scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(plan.size)) : scale;
  for (int64_t n = 0; n < plan.batch * plan.keyHeads; ++n)
    for (int64_t t = 0; t < plan.steps; ++t) {
      int64_t head = n % plan.keyHeads, step = n / plan.keyHeads * plan.steps + t, row = n * plan.steps + t;
      double *own = state.data() + n * plan.size * plan.valueSize;
      if (plan.gated)
        decayState(plan, decay.data() + step * plan.decayWidth, head, own);
      updateState(plan, keys.data() + row * plan.size, values.data() + row * plan.valueSize,
                  plan.delta ? beta.data() + step * plan.betaWidth + head % plan.betaWidth : nullptr, own);
      for (int64_t r = 0, readers = plan.queryHeads / plan.keyHeads; r < readers; ++r) {
        int64_t at = (n * readers + r) * plan.steps + t;
        for (int64_t d = 0; d < plan.size; ++d)
          for (int64_t e = 0; e < plan.valueSize; ++e)
            result[at * plan.valueSize + e] += scale * queries[at * plan.size + d] * own[d * plan.valueSize + e];
      }
    }
  call.give(0, joinHeads(store(plan.q.type(), shape, result)));
  call.give(1, call.has(3) ? call.input(3).type() : plan.q.type(), stateShape, state);
}

} // namespace tilewright::reference
