// Grows a model by random operators. A value's sizes are known at every assignment of the symbols, and an operator is
// added only where it is valid at all of them; what the compiler can prove about these sizes is its own affair.
#include "tests/fusion/RandomModel.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>

using namespace tilewright;
using namespace tilewright::test;
using models::ModelBuilder;

namespace {

using Extents = std::vector<Extent>;

Extent fixed(int64_t size) {
  Extent extent;
  extent.fill(size);
  return extent;
}
int64_t least(const Extent &extent) { return *std::ranges::min_element(extent); }

template <typename Function> Extent map(const Extent &a, Function function) {
  Extent result;
  std::ranges::transform(a, result.begin(), function);
  return result;
}
Extent multiply(const Extent &a, const Extent &b) {
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
  ModelBuilder model;
  std::mt19937 random;
  std::vector<Node> nodes;
  RandomModel result;
  unsigned count = 0;
};

Node Grower::input(Extents shape, std::vector<models::Dimension> names) {
  Node node{model.input("x" + std::to_string(result.inputs.size()), names), shape, {}};
  for (const models::Dimension &name : names)
    node.known.push_back(std::holds_alternative<int64_t>(name));
  result.inputs.push_back(node.value.name);
  result.shapes.push_back(shape);
  return node;
}

//===- Elementwise ------------------------------------------------------------------------------------------------===//

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

//===- Windows ----------------------------------------------------------------------------------------------------===//

Grower::Result Grower::convolution(const Node &x) {
  if (x.rank() < 3 || x.rank() > 5 || !x.known[1])
    return {};
  size_t spatial = x.rank() - 2;
  int64_t channels = x.shape[1][0], kernel = 1 + 2 * pick(2), stride = 1 + pick(2), dilation = 1 + pick(2),
          low = pick(kernel / 2 + 1);
  int64_t group = channels % 2 == 0 && pick(3) == 0 ? (pick(2) ? channels : 2) : 1, filters = group * (1 + pick(3));
  Extents shape = {x.shape[0], fixed(filters)};
  for (size_t i = 0; i < spatial; ++i) {
    shape.push_back(
        map(x.shape[2 + i], [&](int64_t size) { return (size + 2 * low - dilation * (kernel - 1) - 1) / stride + 1; }));
    if (least(x.shape[2 + i]) + 2 * low < dilation * (kernel - 1) + 1)
      return {};
  }
  std::vector<int64_t> filter(x.rank(), kernel);
  filter[0] = filters;
  filter[1] = channels / group;
  std::vector<int64_t> ones(spatial, 1), strides(spatial, stride), dilations(spatial, dilation), pads(2 * spatial, low);
  std::vector<bool> known = x.known;
  return Node{model.op("Conv", {x.value, weight(filter), weight({filters})},
                       {{"group", group}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}}),
              shape, known};
}

Grower::Result Grower::transposedConvolution(const Node &x) {
  if (x.rank() < 3 || x.rank() > 4 || !x.known[1])
    return {};
  size_t spatial = x.rank() - 2;
  int64_t channels = x.shape[1][0], kernel = 2 + pick(2), stride = 1 + pick(2),
          group = channels % 2 == 0 && pick(3) == 0 ? 2 : 1, each = 1 + pick(3);
  int64_t extra = stride > 1 ? pick(2) : 0;
  Extents shape = {x.shape[0], fixed(group * each)};
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back(map(x.shape[2 + i], [&](int64_t size) { return (size - 1) * stride + kernel + extra; }));
  std::vector<int64_t> filter(x.rank(), kernel), strides(spatial, stride), extras(spatial, extra);
  filter[0] = channels;
  filter[1] = each;
  return Node{model.op("ConvTranspose", {x.value, weight(filter)},
                       {{"group", group}, {"strides", strides}, {"output_padding", extras}}),
              shape, x.known};
}

Grower::Result Grower::pooling(const Node &x) {
  if (x.rank() < 3 || x.rank() > 5)
    return {};
  size_t spatial = x.rank() - 2;
  int64_t kernel = 2 + pick(2), stride = 1 + pick(2), low = pick(2), ceil = pick(2);
  Extents shape = {x.shape[0], x.shape[1]};
  for (size_t i = 0; i < spatial; ++i) {
    if (least(x.shape[2 + i]) + 2 * low < kernel + stride)
      return {};
    shape.push_back(map(x.shape[2 + i], [&](int64_t size) {
      int64_t room = size + 2 * low - kernel, steps = ceil ? (room + stride - 1) / stride : room / stride;
      return steps + 1 - (ceil && steps * stride >= size + low); // no window starts in the padding behind the image
    }));
  }
  std::vector<int64_t> kernels(spatial, kernel), strides(spatial, stride), pads(2 * spatial, low);
  if (pick(2))
    return Node{model.op("MaxPool", {x.value},
                         {{"kernel_shape", kernels}, {"strides", strides}, {"pads", pads}, {"ceil_mode", ceil}}),
                shape, x.known};
  return Node{model.op("AveragePool", {x.value},
                       {{"kernel_shape", kernels},
                        {"strides", strides},
                        {"pads", pads},
                        {"ceil_mode", ceil},
                        {"count_include_pad", pick(2)}}),
              shape, x.known};
}

Grower::Result Grower::resize(const Node &x) {
  if (x.rank() != 4)
    return {};
  Extents shape = x.shape;
  for (size_t i = 2; i < 4; ++i)
    shape[i] = map(shape[i], [](int64_t size) { return 2 * size; });
  models::Value scales = model.op("Cast", {integers({1, 1, 2, 2})}, {{"to", int64_t(1)}});
  if (pick(2))
    return Node{
        model.op("Resize", {x.value, {}, scales},
                 {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}),
        shape, x.known};
  return Node{model.op("Resize", {x.value, {}, scales}, {{"mode", "linear"}}), shape, x.known};
}

//===- Shapes -----------------------------------------------------------------------------------------------------===//

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

//===- Loops ------------------------------------------------------------------------------------------------------===//

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

//===- Growing ----------------------------------------------------------------------------------------------------===//

RandomModel Grower::grow(unsigned operators) {
  using Step = Result (Grower::*)(const Node &);
  constexpr Step steps[] = {&Grower::unary,
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
  const auto &[batch, height, width, length] = randomSymbols;
  int64_t channels = 2 + 2 * pick(3);
  nodes.push_back(input({batch.sizes, fixed(channels), height.sizes, width.sizes},
                        {batch.name, channels, height.name, width.name}));
  if (pick(2))
    nodes.push_back(input({batch.sizes, length.sizes, fixed(6)}, {batch.name, length.name, int64_t(6)}));
  for (unsigned i = 0; i < operators; ++i) {
    Node x = anyNode(); // steps add nodes
    ModelBuilder before = model;
    Result y = (this->*steps[pick(std::size(steps))])(x);
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
      model = before; // with what it added
  }
  for (size_t i = 0, outputs = 1 + pick(3); i < outputs && i < nodes.size(); ++i) {
    const Node &node = nodes[i ? pick(nodes.size()) : nodes.size() - 1];
    std::vector<models::Dimension> names;
    for (size_t dim = 0; dim < node.rank(); ++dim)
      names.push_back(fresh("d"));
    model.output("y" + std::to_string(i), model.op("Identity", {node.value}, {}, "y" + std::to_string(i)), names);
  }
  result.proto = model.model();
  return std::move(result);
}

} // namespace

RandomModel test::randomModel(unsigned seed, unsigned operators) { return Grower(seed).grow(operators); }
