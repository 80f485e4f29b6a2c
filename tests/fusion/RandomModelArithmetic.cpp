// SPDX-License-Identifier: Apache-2.0
// Random elementwise operators, reductions and products.
#include "tests/fusion/RandomModelGrower.h"

using namespace tilewright;
using namespace tilewright::test;

//===- Elementwise -----------------------------------------------------------------------------------------------===//

Grower::Result Grower::unary(const Node &x) {
  const char *types[] = {"Relu", "Sigmoid", "Tanh", "Abs", "Neg", "HardSwish", "Erf"};
  return Node{model.op(types[pick(7)], {x.value}), x.shape, x.known};
}

Grower::Result Grower::binary(const Node &x) {
  const char *types[] = {"Add", "Mul", "Sub", "Max"};
  std::vector<const Node *> same;
  for (const Node &other : nodes)
    if (other.shape == x.shape && other.known == x.known)
      same.push_back(&other);
  return Node{model.op(types[pick(4)], {x.value, same[pick(same.size())]->value}), x.shape, x.known};
}

/// A weight for each element of one known dimension, or for all of the last ones.
Grower::Result Grower::affine(const Node &x) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < x.rank(); ++i)
    if (x.known[i])
      dims.push_back(i);
  if (dims.empty())
    return Node{model.op("Mul", {x.value, model.scalar(fresh("s"), 0.5)}), x.shape, x.known};
  int64_t dim = dims[pick(dims.size())];
  std::vector<int64_t> shape(x.rank() - dim, 1);
  shape[0] = x.shape[dim][0];
  return Node{model.op(pick(2) ? "Add" : "Mul", {x.value, weight(shape)}), x.shape, x.known};
}

//===- Loops -----------------------------------------------------------------------------------------------------===//

Grower::Result Grower::reduce(const Node &x) {
  if (x.rank() < 2)
    return {};
  size_t dim = pick(x.rank());
  bool keep = pick(2);
  Node y = x;
  if (keep) {
    y.shape[dim] = fixed(1);
    y.known[dim] = true;
  } else {
    y.shape.erase(y.shape.begin() + dim);
    y.known.erase(y.known.begin() + dim);
  }
  y.value = model.op(pick(2) ? "ReduceMax" : "ReduceMean", {x.value},
                     {{"axes", std::vector<int64_t>{int64_t(dim)}}, {"keepdims", int64_t(keep)}});
  return y;
}

Grower::Result Grower::softmax(const Node &x) {
  if (pick(2) || !x.known.back())
    return Node{model.op("Softmax", {x.value}, {{"axis", pick(x.rank())}}), x.shape, x.known};
  return Node{model.layerNorm(fresh("n"), x.value, x.shape.back()[0]), x.shape, x.known};
}

Grower::Result Grower::product(const Node &x) {
  if (x.rank() < 2 || !x.known.back())
    return {};
  int64_t columns = 1 + pick(6);
  Node y = x;
  y.shape.back() = fixed(columns);
  y.value = model.op("MatMul", {x.value, weight({x.shape.back()[0], columns})});
  return y;
}

/// x times itself transposed, as attention scores are.
Grower::Result Grower::scores(const Node &x) {
  if (x.rank() < 2)
    return {};
  std::vector<int64_t> perm(x.rank());
  for (size_t i = 0; i < perm.size(); ++i)
    perm[i] = i;
  std::swap(perm[x.rank() - 1], perm[x.rank() - 2]);
  Node y = x;
  y.shape.back() = x.shape[x.rank() - 2];
  y.known.back() = x.known[x.rank() - 2];
  y.value = model.op("MatMul", {x.value, model.op("Transpose", {x.value}, {{"perm", perm}})});
  return y;
}
