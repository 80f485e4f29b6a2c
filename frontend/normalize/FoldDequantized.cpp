// SPDX-License-Identifier: Apache-2.0
// Dequantizes constants at compile time that no integer contraction uses.
//
//     mulf(sitofp(subi(ext(graph.constant), zero)), scale)   ->   graph.constant of f32
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Quantized.h"
#include "frontend/normalize/Rebuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

/// The values of a parameter along its dimension, or its only value. Nothing if they are unknown.
static std::optional<SmallVector<double>> numbersOf(const std::optional<QuantizationParameter> &parameter,
                                                    double otherwise) {
  if (!parameter)
    return SmallVector<double>{otherwise};
  return parameter->number ? SmallVector<double>{*parameter->number} : knownNumbers(parameter->value);
}

static Value folded(arith::MulFOp op, OpBuilder &builder) {
  std::optional<Quantized> found = quantizedOf(op);
  auto constant = found ? found->integers.getDefiningOp<graph::ConstantOp>() : graph::ConstantOp();
  if (!constant || !found->accesses.empty())
    return {};
  ArrayRef<int8_t> bytes = bytesOf(constant);
  std::optional<SmallVector<double>> zeros = numbersOf(found->zero, 0), scales = numbersOf(found->scale, 1);
  RankedTensorType type = tensorOf(op);
  if (!zeros || !scales || static_cast<int64_t>(bytes.size()) != type.getNumElements())
    return {};
  auto strideOf = [&](const std::optional<QuantizationParameter> &parameter) {
    int64_t stride = 1;
    for (int64_t dim = type.getRank() - 1; parameter && dim > parameter->dim; --dim)
      stride *= type.getDimSize(dim);
    return stride;
  };
  int64_t zeroStride = strideOf(found->zero), scaleStride = strideOf(found->scale);
  std::vector<float> result(bytes.size());
  for (size_t i = 0; i < result.size(); ++i) {
    int32_t integer = found->isUnsigned ? static_cast<uint8_t>(bytes[i]) : bytes[i];
    integer -= static_cast<int32_t>(found->offset + static_cast<int64_t>((*zeros)[i / zeroStride % zeros->size()]));
    result[i] = static_cast<float>(integer) * static_cast<float>((*scales)[i / scaleStride % scales->size()]);
  }
  auto &pool = op.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  return graph::ConstantOp::create(builder, op.getLoc(), type, pool.add(std::as_bytes(std::span(result))));
}

void normalize::foldDequantized(func::FuncOp main) {
  OpBuilder builder(main.getContext());
  for (Operation &op : llvm::make_early_inc_range(main.front())) {
    auto product = dyn_cast<arith::MulFOp>(op);
    if (!product || product->use_empty())
      continue;
    builder.setInsertionPoint(product);
    if (Value constant = folded(product, builder))
      product.getResult().replaceAllUsesWith(constant);
  }
}
