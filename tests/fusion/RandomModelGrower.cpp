// SPDX-License-Identifier: Apache-2.0
// The choice of operators, inputs and outputs.
#include "tests/fusion/RandomModelGrower.h"

using namespace tilewright;
using namespace tilewright::test;

Node Grower::input(Extents shape, std::vector<models::Dimension> names) {
  Node node{model.input("x" + std::to_string(result.inputs.size()), names), shape, {}};
  for (const models::Dimension &name : names)
    node.known.push_back(std::holds_alternative<int64_t>(name));
  result.inputs.push_back(node.value.name);
  result.shapes.push_back(shape);
  return node;
}

/// Operators that are listed twice are twice as likely.
const std::vector<Grower::Step> Grower::steps = {&Grower::unary,
                                                 &Grower::unary,
                                                 &Grower::binary,
                                                 &Grower::binary,
                                                 &Grower::affine,
                                                 &Grower::affine,
                                                 &Grower::transpose,
                                                 &Grower::transpose,
                                                 &Grower::convolution,
                                                 &Grower::convolution,
                                                 &Grower::convolution,
                                                 &Grower::pooling,
                                                 &Grower::flatten,
                                                 &Grower::flatten,
                                                 &Grower::computedReshape,
                                                 &Grower::splitDimension,
                                                 &Grower::reshapeLike,
                                                 &Grower::reshapeLike,
                                                 &Grower::slice,
                                                 &Grower::sliceBySize,
                                                 &Grower::concat,
                                                 &Grower::concat,
                                                 &Grower::pad,
                                                 &Grower::reduce,
                                                 &Grower::softmax,
                                                 &Grower::product,
                                                 &Grower::product,
                                                 &Grower::scores,
                                                 &Grower::scatter,
                                                 &Grower::gather,
                                                 &Grower::expand,
                                                 &Grower::resize,
                                                 &Grower::partition,
                                                 &Grower::transposedConvolution};

/// Adds a random operator, unless its result is invalid or too large.
void Grower::addOperator() {
  Node x = anyNode(); // a copy, because steps add nodes
  models::ModelBuilder before = model;
  Result y = (this->*steps[pick(steps.size())])(x);
  bool fits = y && y->rank() <= 6;
  for (size_t at = 0; fits && at < assignments; ++at) {
    int64_t elements = 1;
    for (const Extent &size : y->shape)
      elements *= size[at];
    fits = elements > 0 && elements <= largest;
  }
  if (fits)
    nodes.push_back(*y);
  else
    model = before; // without what the step added
}

void Grower::addOutputs() {
  for (size_t i = 0, outputs = 1 + pick(3); i < outputs && i < nodes.size(); ++i) {
    const Node &node = nodes[i ? pick(nodes.size()) : nodes.size() - 1];
    std::vector<models::Dimension> names;
    for (size_t dim = 0; dim < node.rank(); ++dim)
      names.push_back(fresh("d"));
    model.output("y" + std::to_string(i), model.op("Identity", {node.value}, {}, "y" + std::to_string(i)), names);
  }
}

RandomModel Grower::grow(unsigned operators) {
  const auto &[batch, height, width, length] = randomSymbols;
  int64_t channels = 2 + 2 * pick(3);
  nodes.push_back(input({batch.sizes, fixed(channels), height.sizes, width.sizes},
                        {batch.name, channels, height.name, width.name}));
  if (pick(2))
    nodes.push_back(input({batch.sizes, length.sizes, fixed(6)}, {batch.name, length.name, int64_t(6)}));
  for (unsigned i = 0; i < operators; ++i)
    addOperator();
  addOutputs();
  result.proto = model.model();
  return std::move(result);
}

RandomModel test::randomModel(unsigned seed, unsigned operators) { return Grower(seed).grow(operators); }
