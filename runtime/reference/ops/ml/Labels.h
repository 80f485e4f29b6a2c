// SPDX-License-Identifier: Apache-2.0
// Lists of labels, keys and categories, which ai.onnx.ml has as integers, floats or strings.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// A list of entries of one type. Kernels compute with positions in it, so that none has a second form for strings.
class Labels {
public:
  Labels() = default;
  /// The entries of a tensor, in row-major order.
  explicit Labels(Tensor entries) : entries(std::move(entries)) {}
  /// The list of integers or of strings that a node has, if it has either.
  static Labels either(Call &call, std::string_view integers, std::string_view strings);

  int64_t size() const { return entries.defined() ? entries.count() : 0; }
  DType type() const { return entries.type(); }
  const Tensor &tensor() const { return entries; }

  /// Where each element of `x` stands, or -1. Strings are found among strings only, NaN is found; of equal entries the
  /// last counts.
  std::vector<int64_t> positions(const Tensor &x) const;
  /// The entries at `positions`, or `otherwise`, one element of the same type, where the position is -1.
  Tensor at(const std::vector<int64_t> &positions, const Shape &shape, const Tensor &otherwise = {}) const;

private:
  Tensor entries;
};

/// A string tensor of shape [size].
Tensor stringTensor(const std::vector<std::string> &strings);

} // namespace tilewright::reference
