// SPDX-License-Identifier: Apache-2.0
// Tensors of the graph interpreter: every element is a double or an int64.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "runtime/Tensor.h"

namespace tilewright::graph {

/// What happens to a computed float.
enum class Rounding { ToElementType, None };

struct InterpretedValue {
  mlir::Type element;
  Shape shape;
  Rounding rounding = Rounding::ToElementType;
  std::vector<double> reals;     // of float elements
  std::vector<int64_t> integers; // of integer elements, sign-extended from their width

  InterpretedValue() = default;
  InterpretedValue(mlir::Type element, Shape shape, Rounding rounding = Rounding::ToElementType);
  bool isFloat() const { return llvm::isa<mlir::FloatType>(element); }
  int64_t count() const { return elementCount(shape); }
  void setReal(int64_t i, double value);     // as `rounding` says
  void setInteger(int64_t i, int64_t value); // wraps to the element type
  /// Sets element `i` to element `from` of `other`, which has the same element type.
  void copy(int64_t i, const InterpretedValue &other, int64_t from);
  void set(int64_t i, mlir::TypedAttr scalar);
};

InterpretedValue fromTensor(const Tensor &tensor, mlir::Type element);
/// `type` has the signedness, which the IR type has not.
Tensor toTensor(const InterpretedValue &value, DType type);

/// Computes an arith or math operation on tensors. False if it is not one that graph IR may hold.
bool interpretElementwise(mlir::Operation *op, llvm::ArrayRef<const InterpretedValue *> operands,
                          InterpretedValue &result);

} // namespace tilewright::graph
