// SPDX-License-Identifier: Apache-2.0
// Single elements of arith and math operations, in double precision.
#include "tests/tilegen/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilewright::tests {

void forEachPoint(ArrayRef<int64_t> box, llvm::function_ref<void(ArrayRef<int64_t>, int64_t)> visit) {
  int64_t count = 1;
  for (int64_t size : box)
    count *= size;
  SmallVector<int64_t> point(box.size(), 0);
  for (int64_t position = 0; position < count; ++position) {
    visit(point, position);
    for (size_t i = box.size(); i-- > 0;) {
      if (++point[i] < box[i])
        break;
      point[i] = 0;
    }
  }
}

int64_t positionOf(ArrayRef<int64_t> point, ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (auto [coordinate, size] : llvm::zip_equal(point, shape))
    position = position * size + coordinate;
  return position;
}

double numberOf(Attribute attribute) {
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return real.getValueAsDouble();
  auto integer = cast<IntegerAttr>(attribute);
  return static_cast<double>(integer.getType().isInteger(1) ? static_cast<int64_t>(integer.getValue().getZExtValue())
                                                            : integer.getInt());
}

static double compare(arith::CmpIPredicate predicate, double a, double b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  default:
    return a >= b;
  }
}

static double compare(arith::CmpFPredicate predicate, double a, double b) {
  bool isUnordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::UNO:
    return isUnordered;
  case arith::CmpFPredicate::UNE:
    return a != b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  default:
    llvm::report_fatal_error("the interpreters do not know this comparison of floats");
  }
}

static double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
static double smaller(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

double evaluateElement(Operation *op, ArrayRef<double> x) {
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([&](arith::ConstantOp constant) {
        auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
        return numberOf(elements ? elements.getSplatValue<Attribute>() : Attribute(constant.getValue()));
      })
      .Case<arith::AddFOp, arith::AddIOp>([&](auto) { return x[0] + x[1]; })
      .Case<arith::SubFOp, arith::SubIOp>([&](auto) { return x[0] - x[1]; })
      .Case<arith::MulFOp, arith::MulIOp>([&](auto) { return x[0] * x[1]; })
      .Case([&](arith::DivFOp) { return x[0] / x[1]; })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) { return std::trunc(x[0] / x[1]); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return std::fmod(x[0], x[1]); })
      .Case([&](arith::FloorDivSIOp) { return std::floor(x[0] / x[1]); })
      .Case<arith::ExtUIOp, arith::UIToFPOp>([&](auto op) {
        return x[0] < 0 ? x[0] + std::ldexp(1.0, getElementTypeOrSelf(op.getIn().getType()).getIntOrFloatBitWidth())
                        : x[0];
      })
      .Case<arith::MaxNumFOp>([&](auto) { return std::fmax(x[0], x[1]); })
      .Case<arith::MinNumFOp>([&](auto) { return std::fmin(x[0], x[1]); })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([&](auto) { return larger(x[0], x[1]); })
      .Case<arith::MinimumFOp, arith::MinSIOp>([&](auto) { return smaller(x[0], x[1]); })
      .Case([&](arith::AndIOp op) {
        bool isCondition = getElementTypeOrSelf(op.getType()).isInteger(1);
        return isCondition ? double(x[0] != 0 && x[1] != 0)
                           : double(static_cast<int64_t>(x[0]) & static_cast<int64_t>(x[1]));
      })
      .Case([&](arith::ShRUIOp) { return std::floor(std::ldexp(x[0], -static_cast<int>(x[1]))); })
      .Case([&](arith::SelectOp) { return x[0] != 0 ? x[1] : x[2]; })
      .Case([&](arith::CmpIOp cmp) { return compare(cmp.getPredicate(), x[0], x[1]); })
      .Case([&](arith::CmpFOp cmp) { return compare(cmp.getPredicate(), x[0], x[1]); })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::TruncIOp, arith::SIToFPOp>(
          [&](auto) { return x[0]; })
      .Case([&](math::ExpOp) { return std::exp(x[0]); })
      .Case([&](math::Exp2Op) { return std::exp2(x[0]); })
      .Case([&](math::TanhOp) { return std::tanh(x[0]); })
      .Default([](Operation *unknown) -> double {
        llvm::report_fatal_error(llvm::Twine("the interpreters do not know ") + unknown->getName().getStringRef());
      });
}

double reduceIdentity(int kind, bool real) {
  double infinity = real ? std::numeric_limits<double>::infinity() : std::ldexp(1.0, 31);
  return kind == 0 ? 0.0 : kind == 1 ? 1.0 : kind == 2 ? -infinity : infinity;
}

double reduceStep(int kind, double a, double b) {
  return kind == 0 ? a + b : kind == 1 ? a * b : kind == 2 ? larger(a, b) : smaller(a, b);
}

} // namespace tilewright::tests
