// SPDX-License-Identifier: Apache-2.0
// Grows a model by random operators. A value's sizes are known at every assignment of the symbols, and an operator is
// added only if it is valid at all of them. What the compiler can prove about these sizes is another matter.
#pragma once

#include "tests/fusion/RandomModel.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>

namespace tilewright::test {

using Extents = std::vector<Extent>;

inline Extent fixed(int64_t size) {
  Extent extent;
  extent.fill(size);
  return extent;
}
inline int64_t least(const Extent &extent) { return *std::ranges::min_element(extent); }

template <typename Function> Extent map(const Extent &a, Function function) {
  Extent result;
  std::ranges::transform(a, result.begin(), function);
  return result;
}
inline Extent multiply(const Extent &a, const Extent &b) {
  Extent result;
  std::ranges::transform(a, b, result.begin(), std::multiplies<>());
  return result;
}

/// A tensor of the model. `known` dimensions were written as numbers; others may be equal at all assignments by chance.
struct Node {
  models::Value value;
  Extents shape;
  std::vector<bool> known;
  size_t rank() const { return shape.size(); }
};

class Grower {
public:
  explicit Grower(unsigned seed) : model("random", DType::F32), random(seed) {}
  RandomModel grow(unsigned operators);

private:
  static constexpr int64_t largest = 12000; // elements of a value, at any assignment

  int64_t pick(int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); }
  const Node &anyNode() { return nodes[pick(3) ? nodes.size() - 1 : pick(nodes.size())]; }
  std::string fresh(const char *what) { return what + std::to_string(count++); }
  models::Value integers(std::vector<int64_t> values) { return model.integers(fresh("i"), std::move(values)); }
  models::Value weight(const std::vector<int64_t> &shape) { return model.weight(fresh("w"), shape, 0.4); }
  Node input(Extents shape, std::vector<models::Dimension> names);

  using Result = std::optional<Node>;
  Result unary(const Node &x), binary(const Node &x), affine(const Node &x), transpose(const Node &x),
      convolution(const Node &x), transposedConvolution(const Node &x), pooling(const Node &x), flatten(const Node &x),
      computedReshape(const Node &x), splitDimension(const Node &x), reshapeLike(const Node &x), slice(const Node &x),
      sliceBySize(const Node &x), concat(const Node &x), pad(const Node &x), reduce(const Node &x),
      softmax(const Node &x), product(const Node &x), scores(const Node &x), scatter(const Node &x),
      gather(const Node &x), expand(const Node &x), resize(const Node &x), partition(const Node &x);

  models::Value sizeOf(const models::Value &x, int64_t dim);

  using Step = Result (Grower::*)(const Node &);
  static const std::vector<Step> steps;
  void addOperator();
  void addOutputs();

  models::ModelBuilder model;
  std::mt19937 random;
  std::vector<Node> nodes;
  RandomModel result;
  unsigned count = 0;
};

} // namespace tilewright::test
