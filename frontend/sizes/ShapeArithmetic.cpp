// SPDX-License-Identifier: Apache-2.0
// A function for each operator that exporters use to compute shapes. It returns nothing if the result is not known.
//
//   Shape(x : tensor<?x128>) -> [s0, 128]      Concat([s0], [-1]) -> [s0, -1]      Mul([s0], [128]) -> [s0 * 128]
#include "frontend/sizes/ShapeArithmetic.h"

using namespace mlir;

namespace tilewright {
namespace {

struct Contents {
  Sizes sizes, elements;
};
using Result = std::optional<Contents>;
using Follow = Result (*)(NodeBuilder &);

std::optional<int64_t> constantAt(const Sizes &elements, size_t i) { return graph::constantSize(elements[i]); }

/// The elements of input `i`, if all are known numbers.
std::optional<std::vector<int64_t>> numbers(NodeBuilder &b, size_t i) {
  if (!b.has(i))
    return std::nullopt;
  const Sizes *elements = b.state.elementsOf(b.input(i));
  if (!elements)
    return std::nullopt;
  std::vector<int64_t> list;
  for (size_t e = 0; e < elements->size(); ++e) {
    if (!constantAt(*elements, e))
      return std::nullopt;
    list.push_back(*constantAt(*elements, e));
  }
  return list;
}

const Sizes &contents(NodeBuilder &b, size_t i) { return *b.state.elementsOf(b.input(i)); }

Contents vectorOf(NodeBuilder &b, Sizes elements) {
  Sizes sizes{b.number(static_cast<int64_t>(elements.size()))};
  return {sizes, std::move(elements)};
}

/// The sign of the expression (-1, 0 or 1) if it is the same for all sizes of at least 1, otherwise nothing.
std::optional<int> signOf(AffineExpr expr) {
  if (auto constant = graph::constantSize(expr))
    return *constant > 0 ? 1 : *constant < 0 ? -1 : 0;
  if (graph::isNonNegative(expr - 1, 1))
    return 1;
  return graph::isNonNegative(-1 - expr, 1) ? std::optional(-1) : std::nullopt;
}

std::optional<int> compare(AffineExpr a, AffineExpr b) { return signOf(graph::canonicalSize(a - b)); }

//===- Sources ----------------------------------------------------------------------------------------------------===//

Result shape(NodeBuilder &b) {
  int64_t rank = b.rank(0);
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = clamp(b.integer("start", 0)), end = clamp(b.integer("end", rank));
  const Sizes &sizes = b.sizes(0);
  return vectorOf(b, Sizes(sizes.begin() + start, sizes.begin() + std::max(start, end)));
}

Result size(NodeBuilder &b) { return Contents{{}, {b.product(b.sizes(0))}}; }

Result constantOfShape(NodeBuilder &b) {
  auto found = b.node.attributes.find("value");
  if (found == b.node.attributes.end())
    return std::nullopt; // float zeros
  const Tensor *value = std::get_if<Tensor>(&found->second);
  if (!value || value->type() != DType::I64 || value->count() != 1)
    return std::nullopt;
  auto dims = numbers(b, 0);
  if (!dims || dims->size() > 1 || elementCount(*dims) > 64 || elementCount(*dims) < 0)
    return std::nullopt;
  Sizes sizes;
  for (int64_t dim : *dims)
    sizes.push_back(b.number(dim));
  return Contents{sizes, Sizes(elementCount(*dims), b.number(value->data<int64_t>()[0]))};
}

Result range(NodeBuilder &b) {
  auto start = numbers(b, 0), limit = numbers(b, 1), step = numbers(b, 2);
  constexpr int64_t far = int64_t(1) << 40;
  for (const auto &bound : {start, limit, step})
    if (!bound || bound->size() != 1 || std::abs(bound->front()) > far)
      return std::nullopt;
  if (step->front() == 0)
    return std::nullopt;
  int64_t count = std::max<int64_t>(
      0, (limit->front() - start->front() + step->front() - (step->front() > 0 ? 1 : -1)) / step->front());
  if (count > 64)
    return std::nullopt;
  Sizes elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(b.number(start->front() + i * step->front()));
  return vectorOf(b, std::move(elements));
}

//===- Moving elements --------------------------------------------------------------------------------------------===//

Result identity(NodeBuilder &b) { return Contents{b.sizes(0), contents(b, 0)}; }

Result cast(NodeBuilder &b) {
  auto to = static_cast<DType>(b.integer("to", 0));
  return to == DType::I64 || to == DType::I32 ? identity(b) : std::nullopt;
}

Result concat(NodeBuilder &b) {
  Sizes elements;
  for (size_t i = 0; i < b.node.inputs.size(); ++i) {
    if (b.rank(i) != 1)
      return std::nullopt;
    llvm::append_range(elements, contents(b, i));
  }
  return vectorOf(b, std::move(elements));
}

Result gather(NodeBuilder &b) {
  auto indices = numbers(b, 1);
  if (b.rank(0) != 1 || !indices)
    return std::nullopt;
  const Sizes &data = contents(b, 0);
  Sizes elements;
  for (int64_t index : *indices) {
    int64_t at = index < 0 ? index + static_cast<int64_t>(data.size()) : index;
    if (at < 0 || at >= static_cast<int64_t>(data.size()))
      malformed("index {} is out of range for {} elements", index, data.size());
    elements.push_back(data[at]);
  }
  return Contents{b.sizes(1), std::move(elements)};
}

/// The sizes of an input with known contents, which are constant.
SmallVector<int64_t> shapeOf(NodeBuilder &b, size_t i) {
  return llvm::map_to_vector(b.sizes(i), [](AffineExpr size) { return *graph::constantSize(size); });
}

Result slice(NodeBuilder &b) {
  const Sizes &data = contents(b, 0);
  SmallVector<int64_t> shape = shapeOf(b, 0);
  auto axes = b.integers("axes");
  if (!axes)
    axes = b.has(3) ? numbers(b, 3) : std::vector<int64_t>{0};
  if (shape.empty() || !axes || axes->size() != 1)
    return std::nullopt;
  int64_t axis = b.axis(axes->front(), b.rank(0));
  auto starts = b.integers("starts"), ends = b.integers("ends");
  if (!starts)
    starts = numbers(b, 1), ends = numbers(b, 2);
  std::vector<int64_t> steps{1};
  if (b.has(4)) {
    auto given = numbers(b, 4);
    if (!given)
      return std::nullopt;
    steps = *given;
  }
  if (!starts || !ends || starts->size() != 1 || ends->size() != 1 || steps.size() != 1 || steps[0] == 0)
    return std::nullopt;
  int64_t count = shape[axis], inner = elementCount({shape.begin() + axis + 1, shape.end()}),
          outer = elementCount({shape.begin(), shape.begin() + axis});
  if (outer == 0) // what is kept of the axis is counted along the first line
    return std::nullopt;
  int64_t step = steps[0], low = step > 0 ? 0 : -1, high = step > 0 ? count : count - 1;
  auto clamp = [&](int64_t at) { return std::clamp(at < 0 ? (at < -count ? low : at + count) : at, low, high); };
  Sizes elements, sizes = b.sizes(0);
  int64_t kept = 0;
  for (int64_t o = 0; o < outer; ++o) {
    kept = 0;
    for (int64_t i = clamp(starts->front()), end = clamp(ends->front()); step > 0 ? i < end : i > end;
         i += step, ++kept)
      llvm::append_range(elements, ArrayRef(data).slice((o * count + i) * inner, inner));
  }
  sizes[axis] = b.number(kept);
  return Contents{sizes, std::move(elements)};
}

Result transpose(NodeBuilder &b) {
  auto perm = b.integers("perm");
  if (b.rank(0) != 2 || (perm && *perm != std::vector<int64_t>{1, 0}))
    return std::nullopt;
  SmallVector<int64_t> shape = shapeOf(b, 0);
  Sizes elements;
  for (int64_t column = 0; column < shape[1]; ++column)
    for (int64_t row = 0; row < shape[0]; ++row)
      elements.push_back(contents(b, 0)[row * shape[1] + column]);
  return Contents{{b.sizes(0)[1], b.sizes(0)[0]}, std::move(elements)};
}

Result squeeze(NodeBuilder &b) {
  return contents(b, 0).size() == 1 && b.rank(0) == 1 ? Result(Contents{{}, contents(b, 0)}) : std::nullopt;
}

Result unsqueeze(NodeBuilder &b) { return b.rank(0) == 0 ? Result(vectorOf(b, contents(b, 0))) : std::nullopt; }

Result reshape(NodeBuilder &b) {
  auto shape = b.integers("shape");
  if (!shape)
    shape = numbers(b, 1);
  if (!shape)
    return std::nullopt;
  auto total = static_cast<int64_t>(contents(b, 0).size()), rest = total;
  for (int64_t &size : *shape)
    if (size < -1 || size == 0 || (size > 0 && rest % size))
      return std::nullopt; // the handler copies sizes and reports errors
    else if (size > 0)
      rest /= size;
  auto unknown = llvm::find(*shape, -1);
  if (unknown != shape->end())
    *unknown = rest;
  if (llvm::count(*shape, -1) || elementCount(*shape) != total)
    return std::nullopt;
  return Contents{Sizes(llvm::map_range(*shape, [&](int64_t size) { return b.number(size); })), contents(b, 0)};
}

Result expand(NodeBuilder &b) {
  auto shape = numbers(b, 1);
  if (!shape || shape->size() != 1 || shape->front() < 0 || shape->front() > 64)
    return std::nullopt;
  if (contents(b, 0).size() != 1 || b.rank(0) > 1)
    return std::nullopt;
  return vectorOf(b, Sizes(shape->front(), contents(b, 0)[0]));
}

//===- Arithmetic -------------------------------------------------------------------------------------------------===//

template <typename Function> Result elementwise(NodeBuilder &b, Function function) {
  const Sizes &left = contents(b, 0), &right = contents(b, 1);
  if (b.rank(0) > 1 || b.rank(1) > 1 || (left.size() != right.size() && left.size() != 1 && right.size() != 1))
    return std::nullopt;
  Sizes elements;
  size_t count = left.size() == 1 ? right.size() : left.size(); // an empty list and one number give an empty list
  for (size_t i = 0; i < count; ++i) {
    AffineExpr value = function(left[left.size() == 1 ? 0 : i], right[right.size() == 1 ? 0 : i]);
    if (!value)
      return std::nullopt;
    elements.push_back(graph::canonicalSize(value));
  }
  if (b.rank(0) == 0 && b.rank(1) == 0)
    return Contents{{}, std::move(elements)};
  return vectorOf(b, std::move(elements));
}

Result add(NodeBuilder &b) {
  return elementwise(b, [](AffineExpr x, AffineExpr y) { return x + y; });
}
Result subtract(NodeBuilder &b) {
  return elementwise(b, [](AffineExpr x, AffineExpr y) { return x - y; });
}
Result multiply(NodeBuilder &b) {
  return elementwise(b, [](AffineExpr x, AffineExpr y) { return x * y; });
}

Result negate(NodeBuilder &b) {
  return Contents{b.sizes(0),
                  llvm::map_to_vector(contents(b, 0), [](AffineExpr x) { return graph::canonicalSize(x * -1); })};
}

/// Whether `x` may be taken to be at least 0. If that is not proved, but only sizes of inputs that are too small for
/// the model would make it negative, a guard refuses these: (s floordiv 80) - 3 may be what a convolution leaves of s.
/// Sizes that the data decides are often 0, so there is no guard for them.
bool takeNonNegative(NodeBuilder &b, AffineExpr x) {
  bool isPromised = b.state.isEarly(x) && (graph::isNonNegative(x, 1) || graph::isLeastAtZero(x));
  if (!isPromised && !graph::isNonNegative(x))
    return false;
  return b.state.requireAtMost(
      b.number(0), x,
      fmt::format("node '{}': expected sizes of which {} is not negative", b.node.name, b.state.print(x)));
}

Result divide(NodeBuilder &b) {
  return elementwise(b, [&](AffineExpr x, AffineExpr y) -> AffineExpr {
    auto a = graph::constantSize(x), d = graph::constantSize(y);
    if (a && d && *d != 0 && *d != -1)
      return b.number(*a / *d); // toward zero, as ONNX does
    return signOf(y) == 1 && takeNonNegative(b, x) ? x.floorDiv(y) : AffineExpr();
  });
}

Result remainder(NodeBuilder &b) {
  bool hasSignOfDividend = b.integer("fmod", 0);
  return elementwise(b, [&](AffineExpr x, AffineExpr y) {
    return signOf(y) == 1 && (!hasSignOfDividend || takeNonNegative(b, x)) ? x % y : AffineExpr();
  });
}

Result maximum(NodeBuilder &b) {
  return elementwise(b, [&](AffineExpr x, AffineExpr y) { return b.state.maximum(x, y); });
}

Result minimum(NodeBuilder &b) {
  return elementwise(b, [&](AffineExpr x, AffineExpr y) { return b.state.minimum(x, y); });
}

/// Whether two sizes that differ if all symbols are at least 1 may be equal all the same, because the data decides a
/// symbol in their difference, which may be 0.
bool countsData(NodeBuilder &b, AffineExpr more, AffineExpr less) {
  AffineExpr difference = graph::canonicalSize(more - less);
  return !graph::isNonNegative(difference - 1) && !b.state.isEarly(difference);
}

void requireApart(NodeBuilder &b, AffineExpr more, AffineExpr less) {
  AffineExpr least = graph::canonicalSize(less + 1);
  b.state.requireAtMost(least, graph::canonicalSize(more),
                        fmt::format("node '{}' is compiled for sizes of which {} is not {}", b.node.name,
                                    b.state.print(more), b.state.print(less)));
}

Result equal(NodeBuilder &b) {
  return elementwise(b, [&](AffineExpr x, AffineExpr y) {
    auto sign = compare(x, y);
    if (sign.value_or(0) == 0)
      return sign ? b.number(1) : AffineExpr();
    AffineExpr more = *sign > 0 ? x : y, less = *sign > 0 ? y : x;
    if (countsData(b, more, less))
      return AffineExpr();
    requireApart(b, more, less); // a guard refuses sizes of 0 that would make them equal
    return b.number(0);
  });
}

Result where(NodeBuilder &b) {
  const Sizes &condition = contents(b, 0), &yes = contents(b, 1), &no = contents(b, 2);
  size_t count = std::max({condition.size(), yes.size(), no.size()});
  Sizes elements;
  for (size_t i = 0; i < count; ++i) {
    auto at = [&](const Sizes &list) { return list.size() == 1 ? list[0] : i < list.size() ? list[i] : AffineExpr(); };
    if (!at(condition) || !at(yes) || !at(no) || !graph::constantSize(at(condition)))
      return std::nullopt;
    elements.push_back(*graph::constantSize(at(condition)) ? at(yes) : at(no));
  }
  bool scalar = b.rank(0) == 0 && b.rank(1) == 0 && b.rank(2) == 0;
  if (std::max({b.rank(0), b.rank(1), b.rank(2)}) > 1)
    return std::nullopt;
  return scalar ? Contents{{}, std::move(elements)} : vectorOf(b, std::move(elements));
}

template <bool product> Result reduce(NodeBuilder &b) {
  if (b.rank(0) != 1 || b.integer("noop_with_empty_axes", 0))
    return std::nullopt;
  AffineExpr total = b.number(product ? 1 : 0);
  for (AffineExpr element : contents(b, 0))
    total = product ? total * element : total + element;
  Sizes sizes;
  if (b.integer("keepdims", 1))
    sizes.push_back(b.number(1));
  return Contents{sizes, {graph::canonicalSize(total)}};
}

//===- The table --------------------------------------------------------------------------------------------------===//

struct FollowRow {
  std::string_view op;
  size_t contentsNeeded; // of that many leading inputs
  Follow follow;
  std::optional<DType> result = std::nullopt; // otherwise the type of the last of these inputs
};

constexpr size_t all = SIZE_MAX;
const FollowRow rows[] = {
    {"Shape", 0, shape, DType::I64},
    {"Size", 0, size, DType::I64},
    {"ConstantOfShape", 1, constantOfShape, DType::I64},
    {"Range", 3, range},
    {"Identity", 1, identity},
    {"Cast", 1, cast},
    {"Concat", all, concat},
    {"Gather", 1, gather},
    {"Slice", 1, slice},
    {"Squeeze", 1, squeeze},
    {"Unsqueeze", 1, unsqueeze},
    {"Reshape", 1, reshape},
    {"Transpose", 1, transpose},
    {"Expand", 1, expand},
    {"Add", 2, add},
    {"Sub", 2, subtract},
    {"Mul", 2, multiply},
    {"Neg", 1, negate},
    {"Div", 2, divide},
    {"Mod", 2, remainder},
    {"Max", 2, maximum},
    {"Min", 2, minimum},
    {"Equal", 2, equal, DType::Bool},
    {"Where", 3, where},
    {"ReduceProd", 1, reduce<true>},
    {"ReduceSum", 1, reduce<false>},
};

} // namespace

bool followShapeArithmetic(NodeBuilder &b) {
  auto row =
      std::ranges::find_if(rows, [&](const FollowRow &row) { return b.node.domain.empty() && row.op == b.node.op; });
  if (row == std::end(rows) || !b.wants(0) || !b.has(0) ||
      llvm::count_if(b.node.outputs, [](auto *o) { return o != nullptr; }) != 1)
    return false;
  bool variadic = row->op == "Max" || row->op == "Min";
  if (variadic && b.node.inputs.size() != 2)
    return false;
  size_t needed = row->contentsNeeded == all ? b.node.inputs.size() : row->contentsNeeded;
  bool isInteger = true;
  for (size_t i = 0; i < needed; ++i) {
    if (!b.has(i) || !b.state.elementsOf(b.input(i)))
      return false;
    isInteger &= b.type(i) == DType::I64 || b.type(i) == DType::I32 || row->op == "Where" || row->op == "Equal";
  }
  Result result = isInteger ? row->follow(b) : std::nullopt;
  if (!result || result->elements.size() > 1024)
    return false;
  DType type = row->result.value_or(needed ? b.type(needed - 1) : DType::I64);
  if (row->op == "Cast")
    type = static_cast<DType>(b.integer("to", 0));
  if (type != DType::I64 && type != DType::I32 && type != DType::Bool)
    return false;
  ImportedValue &output = *b.node.outputs[0];
  output.type = type;
  output.sizes = std::move(result->sizes);
  output.elements = llvm::map_to_vector(result->elements, [&](AffineExpr element) { return b.state.resolve(element); });
  return true;
}

} // namespace tilewright
