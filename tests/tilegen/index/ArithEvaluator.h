// SPDX-License-Identifier: Apache-2.0
// Straight-line arith code on 64-bit integers, or on tiles of which all elements are equal, executed by definition.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tilewright::tests {

/// The value of each operation of a block, given those of its arguments. An unsigned division of a negative number is
/// no value: index code must not do that.
class ArithEvaluator {
public:
  ArithEvaluator(mlir::Block &block, llvm::ArrayRef<int64_t> arguments) {
    for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
      values[argument] = value;
    for (mlir::Operation &op : block)
      values[op.getResult(0)] = evaluate(&op);
  }
  std::optional<int64_t> operator[](mlir::Value value) const { return values.lookup(value); }

private:
  static int64_t numberOf(mlir::arith::ConstantOp op) {
    if (auto tile = llvm::dyn_cast<mlir::DenseElementsAttr>(op.getValue()))
      return tile.getSplatValue<llvm::APInt>().getSExtValue();
    return llvm::cast<mlir::IntegerAttr>(op.getValue()).getInt();
  }

  std::optional<int64_t> evaluate(mlir::Operation *op) {
    using namespace mlir;
    SmallVector<int64_t> in;
    for (Value operand : op->getOperands()) {
      if (!values.lookup(operand))
        return std::nullopt;
      in.push_back(*values.lookup(operand));
    }
    using Result = std::optional<int64_t>;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case([&](arith::ConstantOp op) { return Result(numberOf(op)); })
        .Case([&](arith::AddIOp) { return Result(in[0] + in[1]); })
        .Case([&](arith::SubIOp) { return Result(in[0] - in[1]); })
        .Case([&](arith::MulIOp) { return Result(in[0] * in[1]); })
        .Case([&](arith::DivSIOp) { return Result(in[0] / in[1]); })
        .Case([&](arith::RemSIOp) { return Result(in[0] % in[1]); })
        .Case([&](arith::DivUIOp) { return in[0] < 0 ? Result() : Result(in[0] / in[1]); })
        .Case([&](arith::RemUIOp) { return in[0] < 0 ? Result() : Result(in[0] % in[1]); })
        .Case([&](arith::FloorDivSIOp) { return Result(llvm::divideFloorSigned(in[0], in[1])); })
        .Case([&](arith::CmpIOp op) {
          return op.getPredicate() == arith::CmpIPredicate::slt ? Result(in[0] < in[1]) : Result();
        })
        .Case([&](arith::SelectOp) { return Result(in[0] ? in[1] : in[2]); })
        .Default([](Operation *) { return Result(); });
  }

  llvm::DenseMap<mlir::Value, std::optional<int64_t>> values;
};

} // namespace tilewright::tests
