// SPDX-License-Identifier: Apache-2.0
// Operators that keep the elements' order: reshapes, casts, shapes as tensors, and constants.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace tilewright::reference {

/// Shares the input's bytes; tensors are never written after creation.
static void giveReshaped(Call &call, const Shape &shape) {
  require(product(shape) == call.input(0).count(), "shape {} has not as many elements as {}", shape,
          call.input(0).shape());
  call.give(0, call.input(0).reshaped(shape));
}

void identity(Call &call) { call.give(0, call.input(0)); }

/// 0 copies the input's dimension (unless allowzero); one -1 is inferred.
void reshape(Call &call) {
  const Shape &from = call.input(0).shape();
  Shape shape = call.opset() < 5 ? call.integers("shape").value_or(Shape{}) : call.indices(1);
  bool allowZero = call.integer("allowzero", 0);
  std::optional<size_t> inferred;
  Shape known;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !allowZero) {
      require(d < from.size(), "dimension {} of the new shape copies one that {} does not have", d, from);
      shape[d] = from[d];
    }
    if (shape[d] == -1) {
      require(!inferred, "expected at most one -1 in the new shape, found {}", shape);
      inferred = d;
    } else {
      known.push_back(shape[d]);
    }
  }
  if (inferred) {
    int64_t rest = product(known), count = call.input(0).count();
    require(rest != 0 && count % rest == 0, "the -1 in {} cannot be inferred from {} elements", shape, count);
    shape[*inferred] = count / rest;
  }
  giveReshaped(call, shape);
}

static std::optional<std::vector<int64_t>> axesOf(Call &call) {
  if (call.opset() < 13)
    return call.integers("axes");
  return call.has(1) ? std::optional(call.indices(1)) : std::nullopt;
}

void squeeze(Call &call) {
  const Shape &from = call.input(0).shape();
  auto axes = axesOf(call);
  std::vector<int64_t> dropped = normalizeAxes(axes.value_or(Shape{}), call.input(0).rank());
  Shape shape;
  for (int64_t d = 0; d < call.input(0).rank(); ++d) {
    bool drop = axes ? std::find(dropped.begin(), dropped.end(), d) != dropped.end() : from[d] == 1;
    require(!drop || from[d] == 1, "expected dimension {} to be 1, found shape {}", d, from);
    if (!drop)
      shape.push_back(from[d]);
  }
  giveReshaped(call, shape);
}

void unsqueeze(Call &call) {
  auto axes = axesOf(call);
  require(axes.has_value(), "expected axes");
  int64_t rank = call.input(0).rank() + static_cast<int64_t>(axes->size());
  std::vector<int64_t> added = normalizeAxes(*axes, rank);
  Shape shape;
  auto from = call.input(0).shape().begin();
  for (int64_t d = 0; d < rank; ++d)
    shape.push_back(std::find(added.begin(), added.end(), d) != added.end() ? 1 : *from++);
  giveReshaped(call, shape);
}

void flatten(Call &call) {
  const Shape &shape = call.input(0).shape();
  int64_t axis = call.integer("axis", 1), rank = call.input(0).rank();
  if (axis != rank)
    axis = normalizeAxis(axis, rank);
  giveReshaped(call, {product(std::span(shape).first(axis)), product(std::span(shape).subspan(axis))});
}

void shapeOp(Call &call) {
  int64_t rank = call.input(0).rank(), start = call.integer("start", 0), end = call.integer("end", rank);
  auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  start = place(start), end = std::max(start, place(end));
  const Shape &shape = call.input(0).shape();
  call.give(0, DType::I64, {end - start}, std::vector<int64_t>(shape.begin() + start, shape.begin() + end));
}

void size(Call &call) { call.give(0, DType::I64, {}, std::vector<int64_t>{call.input(0).count()}); }

//===- Constants and shapes ---------------------------------------------------------------------------------------===//

void constant(Call &call) {
  if (const Tensor *value = call.tensor("value"))
    return (void)call.give(0, *value);
  if (call.hasAttribute("sparse_value"))
    unsupported("a sparse constant has no kernel");
  if (call.hasAttribute("value_float"))
    return call.give(0, DType::F32, {}, std::vector<double>{call.real("value_float", 0)});
  if (call.hasAttribute("value_int"))
    return call.give(0, DType::I64, {}, std::vector<int64_t>{call.integer("value_int", 0)});
  if (auto values = call.reals("value_floats"))
    return call.give(0, DType::F32, {static_cast<int64_t>(values->size())},
                     std::vector<double>(values->begin(), values->end()));
  if (auto values = call.integers("value_ints"))
    return call.give(0, DType::I64, {static_cast<int64_t>(values->size())}, *values);
  auto strings = call.texts("value_strings");
  if (call.hasAttribute("value_string"))
    strings = {call.text("value_string", "")};
  if (!strings)
    unsupported("a sparse constant has no kernel");
  Tensor &result = call.make(
      0, DType::String, call.hasAttribute("value_string") ? Shape{} : Shape{static_cast<int64_t>(strings->size())});
  std::ranges::move(*strings, result.data<std::string>());
}

void constantOfShape(Call &call) {
  Shape shape = call.indices(0);
  const Tensor *value = call.tensor("value");
  if (!value)
    return (void)call.make(0, DType::F32, shape);
  require(value->count() == 1, "expected a value of one element, found shape {}", value->shape());
  if (isObject(value->type()))
    unsupported(fmt::format("it has no kernel for a value of {}", name(value->type())));
  Tensor &result = call.make(0, value->type(), shape);
  size_t bytes = elementBytes(value->type());
  for (size_t i = 0; i < result.byteSize(); i += bytes)
    std::memcpy(result.bytes() + i, value->bytes(), bytes);
}

void range(Call &call) {
  DType type = call.input(0).type();
  for (int64_t i = 0; i < 3; ++i)
    require(call.input(i).count() == 1 && call.input(i).type() == type,
            "expected three scalars of one type, found {} of shape {} in input {}", name(call.input(i).type()),
            call.input(i).shape(), i);
  dispatch(type, [&](auto zero) {
    using T = decltype(zero);
    T start = Values<T>(call.input(0))[0], limit = Values<T>(call.input(1))[0], delta = Values<T>(call.input(2))[0];
    require(delta != T{0}, "expected a delta other than 0");
    double exact = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
    require(exact < 0x1p48, "a range from {} to {} by {} is too long", start, limit, delta);
    int64_t count = exact > 0 ? static_cast<int64_t>(exact) : 0;
    checkSize(type, {count});
    std::vector<T> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<T>(start + static_cast<T>(i) * delta);
    call.give(0, type, {count}, values);
  });
}

void eyeLike(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() == 2, "expected a matrix, found shape {}", x.shape());
  DType type = static_cast<DType>(call.integer("dtype", static_cast<int64_t>(x.type())));
  int64_t rows = x.shape()[0], columns = x.shape()[1], k = std::clamp(call.integer("k", 0), -rows, columns);
  checkSize(type, x.shape());
  std::vector<int64_t> values(x.count());
  for (int64_t r = 0; r < rows; ++r)
    if (r + k >= 0 && r + k < columns)
      values[r * columns + r + k] = 1;
  call.give(0, type, x.shape(), values);
}

} // namespace tilewright::reference
