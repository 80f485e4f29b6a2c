// Matrix products: MatMul, Gemm, MatMulInteger, QLinearMatMul.
#include "runtime/reference/Contract.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Quantization.h"
#include "runtime/reference/Shapes.h"

namespace tilewright::reference {

/// numpy.matmul: the last two dimensions are matrices, those before are broadcast batches; a vector is a row on the left, a column on
/// the right, and that dimension does not appear in the result.
struct BatchedProduct {
  int64_t rows, depth, columns;
  Shape batch;                      // of the result
  Shape leftStrides, rightStrides;  // over `batch`, in matrices
  Shape result;

  BatchedProduct(Shape a, Shape b) {
    require(!a.empty() && !b.empty(), "expected operands of rank 1 or more, found shapes {} and {}", a, b);
    bool vectorLeft = a.size() == 1, vectorRight = b.size() == 1;
    if (vectorLeft)
      a.insert(a.begin(), 1);
    if (vectorRight)
      b.push_back(1);
    rows = a[a.size() - 2], depth = a.back(), columns = b.back();
    require(depth == b[b.size() - 2], "expected equal inner dimensions, found {} in shape {} and {} in shape {}", depth, a,
            b[b.size() - 2], b);
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

  template <typename T> std::vector<T> compute(const T *a, const T *b) const {
    std::vector<T> values(product(result));
    T *c = values.data();
    walk(batch, std::array{leftStrides, rightStrides}, [&](const auto &at) {
      contract(rows, columns, depth, a + at[0] * rows * depth, depth, b + at[1] * depth * columns, columns, c, columns);
      c += rows * columns;
    });
    return values;
  }
};

void matMul(Call &call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  require(a.type() == b.type() && a.type() != DType::Bool, "expected operands of one type of number, found {} and {}", name(a.type()),
          name(b.type()));
  BatchedProduct plan(a.shape(), b.shape());
  checkSize(a.type(), plan.result);
  if (isFloat(a.type()))
    return call.give(0, a.type(), plan.result, plan.compute(Values<double>(a).data(), Values<double>(b).data()));
  // Sums modulo 2^64 are the same for signed and unsigned, and unsigned ones may wrap.
  call.give(0, a.type(), plan.result, plan.compute(Values<uint64_t>(a).data(), Values<uint64_t>(b).data()));
}

static std::vector<double> transposed(const Values<double> &matrix, int64_t rows, int64_t columns) {
  std::vector<double> result(matrix.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      result[c * rows + r] = matrix[r * columns + c];
  return result;
}

/// alpha * op(A) op(B) + beta * C, C broadcast to the product.
void gemm(Call &call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  require(a.rank() == 2 && b.rank() == 2, "expected matrices, found shapes {} and {}", a.shape(), b.shape());
  require(a.type() == b.type() && a.type() != DType::Bool, "expected operands of one type of number, found {} and {}", name(a.type()),
          name(b.type()));
  bool transA = call.integer("transA", 0), transB = call.integer("transB", 0);
  int64_t rows = a.shape()[transA], depth = a.shape()[!transA], columns = b.shape()[!transB];
  require(depth == b.shape()[transB], "expected equal inner dimensions, found shapes {}{} and {}{}", a.shape(),
          transA ? " transposed" : "", b.shape(), transB ? " transposed" : "");
  Shape shape{rows, columns};
  checkSize(a.type(), shape);
  Values<double> left(a), right(b);
  std::vector<double> leftTurned, rightTurned, result(product(shape));
  if (transA)
    leftTurned = transposed(left, depth, rows);
  if (transB)
    rightTurned = transposed(right, columns, depth);
  contract(rows, columns, depth, transA ? leftTurned.data() : left.data(), depth, transB ? rightTurned.data() : right.data(), columns,
           result.data(), columns);
  double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  for (double &value : result)
    value *= alpha;
  if (call.has(2)) {
    Values<double> addend(call.input(2));
    double *at = result.data();
    walk(shape, std::array{broadcastStrides(call.input(2).shape(), shape)}, [&](const auto &from) { *at++ += beta * addend[from[0]]; });
  }
  call.give(0, a.type(), shape, result);
}

/// The zero point of a left operand belongs to rows ([M], or [..., M, 1]), that of a right one to columns ([N], or [..., 1, N]).
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

// Products of 8-bit integers are exact in double up to sums of 2^37 of them.
void matMulInteger(Call &call) {
  BatchedProduct plan(call.input(0).shape(), call.input(1).shape());
  checkSize(DType::I32, plan.result);
  auto a = operand(call, 0, -1, 2, true), b = operand(call, 1, -1, 3, false);
  call.give(0, DType::I32, plan.result, plan.compute(a.data(), b.data()));
}

void qLinearMatMul(Call &call) {
  BatchedProduct plan(call.input(0).shape(), call.input(3).shape());
  checkSize(call.input(7).type(), plan.result);
  auto a = operand(call, 0, 1, 2, true), b = operand(call, 3, 4, 5, false);
  std::vector<double> result = plan.compute(a.data(), b.data());
  call.give(0, quantize(result, plan.result, call.input(6), call.input(7)));
}

} // namespace tilewright::reference
