// SPDX-License-Identifier: Apache-2.0
// Random operators that move elements.
#include "tests/fusion/RandomModelGrower.h"

using namespace tilewright;
using namespace tilewright::test;

Grower::Result Grower::transpose(const Node &x) {
  std::vector<int64_t> perm(x.rank());
  for (size_t i = 0; i < perm.size(); ++i)
    perm[i] = i;
  std::shuffle(perm.begin(), perm.end(), random);
  Node y{model.op("Transpose", {x.value}, {{"perm", perm}}), {}, {}};
  for (int64_t dim : perm) {
    y.shape.push_back(x.shape[dim]);
    y.known.push_back(x.known[dim]);
  }
  return y;
}

/// Two or more neighbours become one, by -1: [0, c, -1], a detection head's [0, -1, c].
Grower::Result Grower::flatten(const Node &x) {
  if (x.rank() < 3)
    return {};
  size_t first = pick(x.rank() - 1), last = first + 1 + pick(x.rank() - first - 1);
  std::vector<int64_t> target;
  Node y;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (i > first && i <= last) {
      y.shape.back() = multiply(y.shape.back(), x.shape[i]);
      y.known.back() = y.known.back() && x.known[i];
      continue;
    }
    if (i > last && !x.known[i]) // 0 copies a dimension only where it keeps its place
      return {};
    target.push_back(i == first ? -1 : i > last ? x.shape[i][0] : 0);
    y.shape.push_back(x.shape[i]);
    y.known.push_back(x.known[i]);
  }
  y.value = model.op("Reshape", {x.value, integers(target)});
  return y;
}

/// One element of Shape(x), as exporters spell it.
models::Value Grower::sizeOf(const models::Value &x, int64_t dim) {
  return model.op("Gather", {model.op("Shape", {x}), integers({dim})}, {{"axis", int64_t(0)}});
}

/// The same by Shape, Gather, Mul and Concat.
Grower::Result Grower::computedReshape(const Node &x) {
  if (x.rank() < 2)
    return {};
  size_t at = pick(x.rank() - 1);
  std::vector<models::Value> parts;
  Node y;
  for (size_t i = 0; i < x.rank(); ++i) {
    y.shape.push_back(i == at ? multiply(x.shape[i], x.shape[i + 1]) : x.shape[i]);
    y.known.push_back(i == at ? x.known[i] && x.known[i + 1] : x.known[i]);
    parts.push_back(i == at ? model.op("Mul", {sizeOf(x.value, i), sizeOf(x.value, i + 1)}) : sizeOf(x.value, i));
    i += i == at;
  }
  y.value = model.op("Reshape", {x.value, model.op("Concat", parts, {{"axis", int64_t(0)}})});
  return y;
}

/// A known dimension becomes two, the rest by Shape and Gather.
Grower::Result Grower::splitDimension(const Node &x) {
  size_t at = pick(x.rank());
  if (x.rank() > 5 || !x.known[at] || x.shape[at][0] % 2 || x.shape[at][0] == 0)
    return {};
  std::vector<models::Value> parts;
  Node y;
  for (size_t i = 0; i < x.rank(); ++i) {
    bool here = i == at;
    parts.push_back(here ? integers(pick(2) ? std::vector<int64_t>{2, x.shape[i][0] / 2} : std::vector<int64_t>{2, -1})
                         : sizeOf(x.value, i));
    if (here) {
      y.shape.push_back(fixed(2));
      y.known.push_back(true);
    }
    y.shape.push_back(here ? fixed(x.shape[i][0] / 2) : x.shape[i]);
    y.known.push_back(x.known[i]);
  }
  y.value = model.op("Reshape", {x.value, model.op("Concat", parts, {{"axis", int64_t(0)}})});
  return y;
}

/// Windows of an image whose sides are doubled first: rank 6, transposed, and flattened.
Grower::Result Grower::partition(const Node &x) {
  if (x.rank() != 4 || !x.known[3])
    return {};
  Extent windows = multiply(x.shape[0], multiply(x.shape[1], x.shape[2]));
  std::vector<models::Value> parts = {sizeOf(x.value, 0), sizeOf(x.value, 1), integers({2}),
                                      sizeOf(x.value, 2), integers({2}),      integers({x.shape[3][0]})};
  models::Value twice = model.op("Concat", {x.value, x.value}, {{"axis", int64_t(1)}});
  models::Value image = model.op("Concat", {twice, twice}, {{"axis", int64_t(2)}});
  models::Value cut = model.op("Reshape", {image, model.op("Concat", parts, {{"axis", int64_t(0)}})});
  models::Value turned = model.op("Transpose", {cut}, {{"perm", std::vector<int64_t>{0, 1, 3, 2, 4, 5}}});
  return Node{model.op("Reshape", {turned, integers({-1, 4, x.shape[3][0]})}),
              {windows, fixed(4), x.shape[3]},
              {false, true, true}};
}

/// Back to the shape of another value with as many elements.
Grower::Result Grower::reshapeLike(const Node &x) {
  auto elements = [](const Node &node) {
    Extent total = fixed(1);
    for (const Extent &size : node.shape)
      total = multiply(total, size);
    return total;
  };
  for (size_t i = nodes.size(); i-- > 0;)
    if (const Node &other = nodes[i]; other.shape != x.shape && elements(other) == elements(x))
      return Node{model.op("Reshape", {x.value, model.op("Shape", {other.value})}), other.shape, other.known};
  return {};
}

Grower::Result Grower::slice(const Node &x) {
  size_t dim = pick(x.rank());
  int64_t first = pick(3), cut = pick(2), step = 1 + pick(2);
  if (least(x.shape[dim]) <= first + cut)
    return {};
  Node y = x;
  y.shape[dim] = map(x.shape[dim], [&](int64_t size) { return (size - cut - first + step - 1) / step; });
  y.value = model.op("Slice", {x.value, integers({first}), integers({cut ? -cut : int64_t(1) << 40}),
                               integers({int64_t(dim)}), integers({step})});
  return y;
}

/// x[.., : size of another value's dimension, ..], where that is no larger.
Grower::Result Grower::sliceBySize(const Node &x) {
  const Node &other = nodes[pick(nodes.size())];
  size_t dim = pick(x.rank()), from = pick(other.rank());
  for (size_t i = 0; i < assignments; ++i)
    if (other.shape[from][i] > x.shape[dim][i] || other.shape[from][i] < 1)
      return {};
  Node y = x;
  y.shape[dim] = other.shape[from];
  y.known[dim] = other.known[from];
  y.value = model.op("Slice", {x.value, integers({0}), sizeOf(other.value, from), integers({int64_t(dim)})});
  return y;
}

Grower::Result Grower::concat(const Node &x) {
  size_t dim = pick(x.rank());
  std::vector<const Node *> fitting;
  for (const Node &other : nodes) {
    bool fits = other.rank() == x.rank();
    for (size_t i = 0; fits && i < x.rank(); ++i)
      fits = i == dim || (other.shape[i] == x.shape[i] && other.known[i] == x.known[i]);
    if (fits)
      fitting.push_back(&other);
  }
  const Node &other = *fitting[pick(fitting.size())];
  Node y = x;
  std::ranges::transform(x.shape[dim], other.shape[dim], y.shape[dim].begin(), std::plus<>());
  y.known[dim] = x.known[dim] && other.known[dim];
  y.value = model.op("Concat", {x.value, other.value}, {{"axis", int64_t(dim)}});
  return y;
}

Grower::Result Grower::pad(const Node &x) {
  std::vector<int64_t> pads(2 * x.rank(), 0);
  size_t dim = pick(x.rank());
  pads[dim] = pick(3);
  pads[x.rank() + dim] = pick(3);
  Node y = x;
  y.shape[dim] = map(x.shape[dim], [&](int64_t size) { return size + pads[dim] + pads[x.rank() + dim]; });
  y.value = model.op("Pad", {x.value, integers(pads)});
  return y;
}

Grower::Result Grower::expand(const Node &x) {
  if (x.rank() > 5)
    return {};
  size_t dim = pick(x.rank() + 1);
  int64_t times = 1 + pick(3);
  Node y = x;
  y.shape.insert(y.shape.begin() + dim, fixed(times));
  y.known.insert(y.known.begin() + dim, true);
  std::vector<int64_t> target(y.rank(), 1);
  target[dim] = times;
  y.value = model.op("Expand", {model.op("Unsqueeze", {x.value, integers({int64_t(dim)})}), integers(target)});
  return y;
}

Grower::Result Grower::gather(const Node &x) {
  size_t dim = pick(x.rank());
  std::vector<int64_t> index;
  for (int64_t i = 0, most = 1 + pick(4); i < most; ++i)
    index.push_back(pick(least(x.shape[dim])));
  Node y = x;
  y.shape[dim] = fixed(index.size());
  y.known[dim] = true;
  y.value = model.op("Gather", {x.value, integers(index)}, {{"axis", int64_t(dim)}});
  return y;
}

/// The first slice of the first dimension, written over by another.
Grower::Result Grower::scatter(const Node &x) {
  models::Value first = model.op("Slice", {x.value, integers({0}), integers({1}), integers({0})});
  models::Value index = model.op("Reshape", {integers({least(x.shape[0]) - 1}), integers({1, 1})});
  return Node{model.op("ScatterND", {x.value, index, model.op("Neg", {first})}), x.shape, x.known};
}
