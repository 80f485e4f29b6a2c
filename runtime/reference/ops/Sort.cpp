// SPDX-License-Identifier: Apache-2.0
// Order along an axis: TopK, ArgMax, ArgMin, and the running CumSum and CumProd.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>

namespace tilewright::reference {

/// Greater than, with NaN first, which makes a total order.
template <typename T> static bool ahead(T a, T b) { return a > b || (a != a && b == b); }

/// Moves the best k to the front of `order`, in the order in which ONNX Runtime returns them for sorted = 0. For small
/// k that is the order of a heap with the worst element at its root, which is filled from its last place on and whose
/// root each better element replaces; else the order after std::nth_element.
template <typename Ahead> static void bestUnsorted(std::vector<int64_t> &order, int64_t k, Ahead ahead) {
  bool few = k < 4 || std::log2(k) / std::log2(order.size()) < 0.725;
  if (k <= 1 || !few) {
    if (k > 0)
      std::nth_element(order.begin(), order.begin() + k - 1, order.end(), ahead);
    return;
  }
  std::vector<int64_t> heap(k);
  auto sink = [&](int64_t i) {
    for (int64_t child = 2 * i + 1; child < k; child = 2 * i + 1) {
      child += child + 1 < k && ahead(heap[child], heap[child + 1]);
      if (!ahead(heap[i], heap[child]))
        return;
      std::swap(heap[i], heap[child]);
      i = child;
    }
  };
  for (int64_t i = 0; i < k; ++i)
    heap[k - 1 - i] = order[i], sink(k - 1 - i);
  for (size_t i = k; i < order.size(); ++i)
    if (ahead(order[i], heap[0]))
      heap[0] = order[i], sink(0);
  std::ranges::copy(heap, order.begin());
}

/// The k largest (or smallest) along an axis, sorted unless `sorted` is 0; ties by index.
void topK(Call &call) {
  const Tensor &x = call.input(0);
  int64_t axis = normalizeAxis(call.integer("axis", -1), x.rank());
  AxisView view(x.shape(), axis);
  int64_t k = call.opset() < 10 ? call.integer("k", -1) : call.index(1);
  require(0 <= k && k <= view.size, "expected k from 0 to {}, found {}", view.size, k);
  bool largest = call.integer("largest", 1), sorted = call.integer("sorted", 1);
  Shape shape = x.shape();
  shape[axis] = k;
  dispatch(x.type(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> values(x);
    std::vector<T> best(product(shape));
    std::vector<int64_t> indices(best.size()), order;
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        auto value = [&](int64_t at) { return values[(o * view.size + at) * view.inner + i]; };
        order = identityMap(view.size);
        auto goesFirst = [&](int64_t a, int64_t b) {
          T left = value(a), right = value(b);
          if (largest ? ahead(left, right) : ahead(right, left))
            return true;
          return !(largest ? ahead(right, left) : ahead(left, right)) && a < b;
        };
        if (sorted)
          std::partial_sort(order.begin(), order.begin() + k, order.end(), goesFirst);
        else
          bestUnsorted(order, k, goesFirst);
        for (int64_t j = 0; j < k; ++j) {
          best[(o * k + j) * view.inner + i] = value(order[j]);
          indices[(o * k + j) * view.inner + i] = order[j];
        }
      }
    call.give(0, x.type(), shape, best);
    call.give(1, DType::I64, shape, indices);
  });
}

template <typename Better> static void argBest(Call &call, Better better) {
  const Tensor &x = call.input(0);
  int64_t axis = normalizeAxis(call.integer("axis", 0), x.rank());
  AxisView view(x.shape(), axis);
  require(view.size > 0, "expected an axis of 1 or more, found shape {}", x.shape());
  bool last = call.integer("select_last_index", 0);
  dispatch(x.type(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> values(x);
    std::vector<int64_t> result;
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        auto value = [&](int64_t at) { return values[(o * view.size + at) * view.inner + i]; };
        int64_t best = 0;
        for (int64_t k = 1; k < view.size; ++k)
          if (better(value(k), value(best)) || (last && value(k) == value(best)))
            best = k;
        result.push_back(best);
      }
    Shape shape = x.shape();
    if (call.integer("keepdims", 1))
      shape[axis] = 1;
    else
      shape.erase(shape.begin() + axis);
    call.give(0, DType::I64, shape, result);
  });
}

void argMax(Call &call) {
  argBest(call, [](auto a, auto b) { return ahead(a, b); });
}
void argMin(Call &call) {
  argBest(call, [](auto a, auto b) { return a < b || (a != a && b == b); });
}

template <typename Function> static void cumulate(Call &call, int64_t init, Function function) {
  const Tensor &x = call.input(0);
  require(x.type() != DType::Bool, "the operator does not take bool");
  AxisView view(x.shape(), normalizeAxis(call.index(1), x.rank()));
  bool exclusive = call.integer("exclusive", 0), reverse = call.integer("reverse", 0);
  dispatch(x.type(), [&](auto zero) {
    using T = decltype(zero);
    using Sum = std::conditional_t<std::is_same_v<T, double>, double, uint64_t>; // integers wrap
    Values<T> values(x);
    std::vector<T> result(values.size());
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        Sum sum = static_cast<Sum>(init);
        for (int64_t k = 0; k < view.size; ++k) {
          int64_t at = (o * view.size + (reverse ? view.size - 1 - k : k)) * view.inner + i;
          Sum next = function(sum, static_cast<Sum>(values[at]));
          result[at] = static_cast<T>(exclusive ? sum : next);
          sum = next;
        }
      }
    call.give(0, x.type(), x.shape(), result);
  });
}

void cumSum(Call &call) { cumulate(call, 0, std::plus<>()); }
void cumProd(Call &call) { cumulate(call, 1, std::multiplies<>()); }

} // namespace tilewright::reference
