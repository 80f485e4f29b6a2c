// SPDX-License-Identifier: Apache-2.0
// Matrix products: MatMul, Gemm, MatMulInteger, QLinearMatMul.
#include "runtime/reference/Contract.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Quantization.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>

namespace tilewright::reference {

/// numpy.matmul: the last two dimensions are matrices, the others are batches, which broadcast. A vector is a row on
/// the left and a column on the right; the result does not have that dimension.
struct BatchedProduct {
  int64_t rows, depth, columns;
  Shape batch;                     // of the result
  Shape leftStrides, rightStrides; // over `batch`, in matrices
  Shape result;

  BatchedProduct(Shape a, Shape b) {
    require(!a.empty() && !b.empty(), "expected operands of rank 1 or more, found shapes {} and {}", a, b);
    bool vectorLeft = a.size() == 1, vectorRight = b.size() == 1;
    if (vectorLeft)
      a.insert(a.begin(), 1);
    if (vectorRight)
      b.push_back(1);
    rows = a[a.size() - 2], depth = a.back(), columns = b.back();
    require(depth == b[b.size() - 2], "expected equal inner dimensions, found {} in shape {} and {} in shape {}", depth,
            a, b[b.size() - 2], b);
    Shape aBatch(a.begin(), a.end() - 2), bBatch(b.begin(), b.end() - 2);
    batch = broadcast(aBatch, bBatch);
    leftStrides = broadcastStrides(aBatch, batch);
    rightStrides = broadcastStrides(bBatch, batch);
    result = batch;
    if (!vectorLeft)
      result.push_back(rows);
    if (!vectorRight)
      result.push_back(columns);
  }

  /// pack(offset, length, to) writes the elements [offset, offset + length) of b.
  template <typename T, typename Pack> std::vector<T> compute(const T *a, Pack pack) const {
    std::vector<T> values(product(result));
    if (values.empty())
      return values;
    auto multiply = [&](int64_t count, int64_t left, int64_t right, T *c) {
      auto packPanel = [&](int64_t k, int64_t taken, int64_t n, int64_t length, T *to) {
        for (int64_t i = 0; i < taken; ++i)
          pack((right * depth + k + i) * columns + n, length, to + i * length);
      };
      contractPacked(count, columns, depth, a + left * rows * depth, depth, packPanel, c, columns);
    };
    int64_t all = product(batch), matrix = 0;
    if (rightStrides == Shape(batch.size(), 0) &&
        leftStrides == stridesOf(batch)) { // all batches share b: their rows form one matrix
      multiply(all * rows, 0, 0, values.data());
      return values;
    }
    walk(batch, std::array{leftStrides, rightStrides},
         [&](const auto &at) { multiply(rows, at[0], at[1], values.data() + matrix++ * rows * columns); });
    return values;
  }

  template <typename T> std::vector<T> compute(const Tensor &a, const Tensor &b) const {
    if (columns == 1 && batch.empty()) { // row by row: each element of a is used once
      Values<T> vector(b);
      std::vector<T> line(depth), values(rows);
      for (int64_t m = 0; m < rows; ++m) {
        read(a, m * depth, depth, line.data());
        contractVector(1, depth, line.data(), vector.data(), &values[m]);
      }
      return values;
    }
    return compute(Values<T>(a).data(), [&](int64_t offset, int64_t length, T *to) { read(b, offset, length, to); });
  }

  std::vector<double> compute(const std::vector<double> &a, const std::vector<double> &b) const {
    return compute(a.data(),
                   [&](int64_t offset, int64_t length, double *to) { std::copy_n(b.data() + offset, length, to); });
  }
};

void matMul(Call &call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  require(a.type() == b.type() && a.type() != DType::Bool, "expected operands of one type of number, found {} and {}",
          name(a.type()), name(b.type()));
  BatchedProduct plan(a.shape(), b.shape());
  checkSize(a.type(), plan.result);
  if (isFloat(a.type()))
    return call.give(0, a.type(), plan.result, plan.compute<double>(a, b));
  // Sums modulo 2^64 are equal for signed and unsigned integers, and unsigned overflow is defined.
  call.give(0, a.type(), plan.result, plan.compute<uint64_t>(a, b));
}

/// a as rows x depth, transposed if need be.
static std::vector<double> leftOperand(const Tensor &a, bool transposed, int64_t rows, int64_t depth) {
  Values<double> values(a);
  if (!transposed)
    return {values.begin(), values.end()};
  std::vector<double> result(values.size());
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t m = 0; m < rows; ++m)
      result[m * depth + k] = values[k * rows + m];
  return result;
}

/// alpha * op(A) op(B) + beta * C, C broadcast to the product.
void gemm(Call &call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  require(a.rank() == 2 && b.rank() == 2, "expected matrices, found shapes {} and {}", a.shape(), b.shape());
  require(a.type() == b.type() && a.type() != DType::Bool, "expected operands of one type of number, found {} and {}",
          name(a.type()), name(b.type()));
  bool transA = call.integer("transA", 0), transB = call.integer("transB", 0);
  int64_t rows = a.shape()[transA], depth = a.shape()[!transA], columns = b.shape()[!transB];
  require(depth == b.shape()[transB], "expected equal inner dimensions, found shapes {}{} and {}{}", a.shape(),
          transA ? " transposed" : "", b.shape(), transB ? " transposed" : "");
  Shape shape{rows, columns};
  checkSize(a.type(), shape);
  std::vector<double> left = leftOperand(a, transA, rows, depth), result(product(shape));
  auto pack = [&](int64_t k, int64_t taken, int64_t n, int64_t length, double *to) {
    for (int64_t i = 0; !transB && i < taken; ++i)
      read(b, (k + i) * columns + n, length, to + i * length);
    std::vector<double> line(transB ? taken : 0);
    for (int64_t j = 0; transB && j < length; ++j) {
      read(b, (n + j) * depth + k, taken, line.data());
      for (int64_t i = 0; i < taken; ++i)
        to[i * length + j] = line[i];
    }
  };
  contractPacked(rows, columns, depth, left.data(), depth, pack, result.data(), columns);
  double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  for (double &value : result)
    value *= alpha;
  if (call.has(2)) {
    Values<double> addend(call.input(2));
    double *at = result.data();
    walk(shape, std::array{broadcastStrides(call.input(2).shape(), shape)},
         [&](const auto &from) { *at++ += beta * addend[from[0]]; });
  }
  call.give(0, a.type(), shape, result);
}

/// The zero points of a left operand are one for each row ([M], or [..., M, 1]), those of a right one for each column
/// ([N], or [..., 1, N]).
static Shape zeroPointShape(const Shape &operand, const Shape &zeroPoint, bool left) {
  Shape shape = zeroPoint;
  if (left && shape.size() == 1 && shape[0] != 1 && operand.size() > 1)
    shape.push_back(1);
  return shape;
}

static std::vector<double> operand(Call &call, int64_t value, int64_t scale, int64_t zero, bool left) {
  const Tensor &x = call.input(value);
  auto parameter = [&](int64_t i) {
    if (i < 0 || !call.has(i))
      return Tensor();
    return call.input(i).reshaped(zeroPointShape(x.shape(), call.input(i).shape(), left));
  };
  return dequantize(x, parameter(scale), parameter(zero));
}

// In double, sums of up to 2^37 products of 8-bit integers are exact.
void matMulInteger(Call &call) {
  BatchedProduct plan(call.input(0).shape(), call.input(1).shape());
  checkSize(DType::I32, plan.result);
  auto a = operand(call, 0, -1, 2, true), b = operand(call, 1, -1, 3, false);
  call.give(0, DType::I32, plan.result, plan.compute(a, b));
}

void qLinearMatMul(Call &call) {
  BatchedProduct plan(call.input(0).shape(), call.input(3).shape());
  checkSize(call.input(7).type(), plan.result);
  auto a = operand(call, 0, 1, 2, true), b = operand(call, 3, 4, 5, false);
  std::vector<double> result = plan.compute(a, b);
  call.give(0, quantize(result, plan.result, call.input(6), call.input(7)));
}

} // namespace tilewright::reference
