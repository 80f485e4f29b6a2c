// SPDX-License-Identifier: Apache-2.0
// Sequences and optional values: tensors of tensors (Tensor.h).
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>

namespace tilewright::reference {

static std::span<const Tensor> sequence(Call &call, int64_t i = 0) {
  const Tensor &input = call.input(i);
  require(input.type() == DType::Sequence, "expected input {} to be a sequence, found a tensor of {}", i,
          name(input.type()));
  return {input.data<Tensor>(), static_cast<size_t>(input.count())};
}

/// Evaluates another operator; unlike `composed`, also on strings.
static std::vector<Tensor> apply(std::string_view op, std::span<const Tensor> inputs, const Attributes &attributes,
                                 size_t outputs = 1) {
  Expected<std::vector<Tensor>> results =
      evaluate({.op = op, .domain = "", .opset = 13, .attributes = &attributes, .outputCount = outputs}, inputs);
  if (!results)
    throw Failure{results.status()};
  return std::move(*results);
}

/// The position given by input `i`, counted from the end if negative; at most `last`.
static size_t place(Call &call, int64_t i, size_t length, size_t last) {
  if (!call.has(i))
    return last;
  int64_t at = call.index(i), size = static_cast<int64_t>(length), from = at < 0 ? at + size : at;
  require(from >= 0 && from <= static_cast<int64_t>(last), "position {} is outside of a sequence of {}", at, length);
  return static_cast<size_t>(from);
}

void sequenceConstruct(Call &call) {
  std::vector<Tensor> elements;
  for (int64_t i = 0; i < call.inputCount(); ++i) {
    elements.push_back(call.input(i));
    require(elements[0].type() == elements.back().type(), "expected elements of one type, found {} and {}",
            name(elements[0].type()), name(elements.back().type()));
  }
  require(!elements.empty(), "expected at least one element, found none");
  call.give(0, Tensor::of(DType::Sequence, std::move(elements)));
}

void sequenceEmpty(Call &call) { call.give(0, Tensor::of(DType::Sequence, {})); }

void sequenceAt(Call &call) {
  std::span<const Tensor> elements = sequence(call);
  require(call.has(1), "expected a position");
  require(!elements.empty(), "the sequence is empty, it has no element to take");
  call.give(0, elements[place(call, 1, elements.size(), elements.size() - 1)]);
}

void sequenceInsert(Call &call) {
  std::span<const Tensor> from = sequence(call);
  std::vector<Tensor> elements(from.begin(), from.end());
  const Tensor &added = call.input(1);
  require(elements.empty() || elements[0].type() == added.type(), "expected an element of {}, found {}",
          elements.empty() ? "" : name(elements[0].type()), name(added.type()));
  elements.insert(elements.begin() + place(call, 2, elements.size(), elements.size()), added);
  call.give(0, Tensor::of(DType::Sequence, std::move(elements)));
}

void sequenceErase(Call &call) {
  std::span<const Tensor> from = sequence(call);
  require(!from.empty(), "the sequence is empty, it has no element to erase");
  std::vector<Tensor> elements(from.begin(), from.end());
  elements.erase(elements.begin() + place(call, 1, elements.size(), elements.size() - 1));
  call.give(0, Tensor::of(DType::Sequence, std::move(elements)));
}

void sequenceLength(Call &call) {
  call.give(0, DType::I64, {}, std::vector<int64_t>{static_cast<int64_t>(sequence(call).size())});
}

/// The sizes of the parts: 1 without `split`; equal, with a shorter last one, if `split` is a scalar.
static std::vector<int64_t> partSizes(Call &call, int64_t size) {
  if (!call.has(1))
    return std::vector<int64_t>(static_cast<size_t>(size), 1);
  std::vector<int64_t> parts = call.indices(1);
  if (call.input(1).rank() > 0)
    return parts;
  int64_t part = parts.at(0);
  require(part > 0, "expected parts of at least 1, found {}", part);
  parts.assign(static_cast<size_t>(size / part), part);
  if (size % part)
    parts.push_back(size % part);
  return parts;
}

void splitToSequence(Call &call) {
  const Tensor &x = call.input(0);
  int64_t axis = normalizeAxis(call.integer("axis", 0), x.rank());
  std::vector<int64_t> parts = partSizes(call, x.shape()[axis]);
  if (parts.empty())
    return (void)call.give(0, Tensor::of(DType::Sequence, {}));
  Tensor sizes = store(DType::I64, {static_cast<int64_t>(parts.size())}, parts);
  std::vector<Tensor> elements = apply("Split", std::array{x, sizes}, {{"axis", axis}}, parts.size());
  if (!call.has(1) && call.integer("keepdims", 1) == 0)
    for (Tensor &element : elements) {
      Shape shape = element.shape();
      shape.erase(shape.begin() + axis);
      element = element.reshaped(shape);
    }
  call.give(0, Tensor::of(DType::Sequence, std::move(elements)));
}

void concatFromSequence(Call &call) {
  std::span<const Tensor> from = sequence(call);
  require(!from.empty(), "an empty sequence cannot be concatenated");
  require(call.hasAttribute("axis"), "expected the attribute 'axis'");
  bool isNew = call.integer("new_axis", 0) != 0;
  int64_t axis = normalizeAxis(call.integer("axis", 0), from[0].rank() + isNew);
  std::vector<Tensor> elements(from.begin(), from.end());
  for (Tensor &element : elements) {
    require(element.rank() == from[0].rank(), "expected elements of one rank, found {} and {}", from[0].rank(),
            element.rank());
    Shape shape = element.shape();
    if (isNew)
      shape.insert(shape.begin() + axis, 1);
    element = element.reshaped(shape);
  }
  call.give(0, apply("Concat", elements, {{"axis", axis}})[0]);
}

//===- Optional values --------------------------------------------------------------------------------------------===//

void makeOptional(Call &call) {
  call.give(0, Tensor::of(DType::Optional, call.has(0) ? std::vector<Tensor>{call.input(0)} : std::vector<Tensor>()));
}

/// A tensor or a sequence counts as an optional with an element.
void optionalHasElement(Call &call) {
  bool has = call.has(0) && (call.input(0).type() != DType::Optional || call.input(0).count() > 0);
  call.give(0, DType::Bool, {}, std::vector<uint64_t>{has});
}

void optionalGetElement(Call &call) {
  const Tensor &x = call.input(0);
  require(x.type() != DType::Optional || x.count() > 0, "the optional value is empty");
  call.give(0, x.type() == DType::Optional ? x.data<Tensor>()[0] : x);
}

} // namespace tilewright::reference
