// SPDX-License-Identifier: Apache-2.0
// The tools of reference kernels: the call, three arithmetic types, and failures that end a kernel at once.
//
// Kernels do not know the element types of memory. They read tensors as Values of one of three arithmetic types,
//
//     float4e2m1..float64, bfloat16 -> double      int2..int64 -> int64_t      bool uint2..uint64 -> uint64_t
//
// and write results back rounded (or wrapped) once. Complex numbers have no arithmetic type: kernels that move bytes
// accept them, the few that compute with them handle them on their own.
//
// A float sum, product or quotient that is computed in double and rounded to a narrower type is the correctly rounded
// one; integers modulo 2^64 wrap to a narrower type as its own arithmetic would.
#pragma once

#include "runtime/reference/Failure.h"
#include "runtime/reference/Reference.h"

#include <optional>
#include <type_traits>

namespace tilewright::reference {

inline bool isFloat(DType type) { return findDType(type) && findDType(type)->isFloat; }
inline bool isSigned(DType type) { return findDType(type) && findDType(type)->isSigned; }

/// Calls `function` with a zero of the arithmetic type of `type`.
template <typename Function> decltype(auto) dispatch(DType type, Function &&function) {
  if (isFloat(type))
    return function(double{});
  if (isSigned(type))
    return function(int64_t{});
  return function(uint64_t{});
}

/// The elements of a tensor as arithmetic type T; a copy unless that is their memory type.
template <typename T> class Values {
public:
  explicit Values(const Tensor &tensor);
  int64_t size() const { return size_; }
  const T *data() const { return data_; }
  const T &operator[](int64_t i) const { return data_[i]; }
  const T *begin() const { return data_; }
  const T *end() const { return data_ + size_; }

private:
  std::vector<T> owned_;
  Tensor shared_;
  const T *data_ = nullptr;
  int64_t size_ = 0;
};

/// Writes elements [first, first + count) to `to` as arithmetic type T, without a copy of the whole tensor.
template <typename T> void read(const Tensor &tensor, int64_t first, int64_t count, T *to);

extern template class Values<double>;
extern template class Values<int64_t>;
extern template class Values<uint64_t>;

/// Stores `from` into elements [first, first + count) of `tensor`, by the rules of `store`.
template <typename T> void write(Tensor &tensor, int64_t first, int64_t count, const T *from);

/// Refuses negative dimensions, and sizes beyond the machine's memory. Kernels that collect values before they store
/// them call it first.
void checkSize(DType type, const Shape &shape);

/// Zeroed memory for an output, after checkSize.
Tensor allocate(DType type, const Shape &shape);

/// Writes `values` into a new tensor: rounded to nearest even into floats (those of 8 and 4 bits saturate, float8e8m0
/// rounds up), saturated and truncated from double into integers (NaN gives 0), wrapped from integers into integers,
/// nonzero into bool.
template <typename T> Tensor store(DType type, const Shape &shape, const std::vector<T> &values);

/// The tensor with another element type, by the rules of `store`.
Tensor convert(const Tensor &tensor, DType type);

/// One evaluation of a node: checked access to inputs and attributes, and the outputs so far.
class Call {
public:
  Call(const ReferenceCall &node, std::span<const Tensor> inputs);

  std::string_view op() const { return node_.op; }
  int64_t opset() const { return node_.opset; }
  /// Whether this is an operator of ai.onnx below opset `version`. Other domains have version numbers of their own.
  bool before(int64_t version) const {
    return (node_.domain.empty() || node_.domain == "ai.onnx") && node_.opset < version;
  }
  const Attributes &attributes() const;

  /// The number of inputs, without absent ones at the end.
  int64_t inputCount() const { return static_cast<int64_t>(inputs_.size()); }
  bool has(int64_t i) const { return i < inputCount() && inputs_[i].defined(); }
  const Tensor &input(int64_t i) const;
  /// The elements of input `i`, which must be int32 or int64.
  std::vector<int64_t> indices(int64_t i) const;
  /// The element of input `i`, which must have exactly one.
  double scalar(int64_t i) const;
  int64_t index(int64_t i) const;

  /// Replaces an input: for operators that older opsets define differently, by its form in newer ones.
  void replaceInput(int64_t i, Tensor tensor) { inputs_.at(i) = std::move(tensor); }

  /// Attributes. Malformed if one has another type. Absent: `otherwise`, nullopt or null.
  bool hasAttribute(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  std::optional<std::vector<float>> reals(std::string_view name) const;
  std::optional<std::vector<std::string>> texts(std::string_view name) const;
  const Tensor *tensor(std::string_view name) const;

  /// The result of `make`, which may depend on the attributes only; cached for a node that is evaluated repeatedly.
  template <typename Make> auto cached(Make &&make) {
    using T = decltype(make());
    if (node_.cache && *node_.cache)
      return std::static_pointer_cast<const T>(*node_.cache);
    auto made = std::make_shared<const T>(make());
    if (node_.cache)
      *node_.cache = made;
    return made;
  }

  int64_t outputCount() const { return static_cast<int64_t>(node_.outputCount); }
  bool wants(int64_t i) const { return i < outputCount(); }
  /// A new zeroed output.
  Tensor &make(int64_t i, DType type, const Shape &shape) { return give(i, allocate(type, shape)); }
  Tensor &give(int64_t i, Tensor tensor);
  template <typename T> void give(int64_t i, DType type, const Shape &shape, const std::vector<T> &values) {
    give(i, store(type, shape, values));
  }
  std::vector<Tensor> takeOutputs() { return std::move(outputs_); }

private:
  template <typename T> const T *find(std::string_view name) const;

  const ReferenceCall &node_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

using Kernel = void (*)(Call &);

} // namespace tilewright::reference
