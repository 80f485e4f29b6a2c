// SPDX-License-Identifier: Apache-2.0
// Expansion of math operations: a table from operation to formula, and one walk. Half types are computed in f32.
//
//   %y = math.tanh %x : tensor<1x64xf32>   ->   %a = math.absf %x ... %y = math.copysign %q, %x
#include "backend/math/MathExpansion.h"
#include "backend/math/FoldScales.h"
#include "backend/math/FormComplements.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tilewright {

namespace {
struct Row {
  StringRef operation;
  Value (MathFunctions::*unary)(Value);
  Value (MathFunctions::*binary)(Value, Value);
  bool NativeMath::*native;                             // set: the target computes it in f32
  Value (MathFunctions::*approximate)(Value) = nullptr; // with fastmath<afn>
};
} // namespace

using F = MathFunctions;
static const Row rows[] = {
    {"math.exp", &F::exp, nullptr, nullptr, &F::approximateExp},
    {"math.exp2", &F::exp2, nullptr, &NativeMath::exp2},
    {"math.expm1", &F::expm1, nullptr, nullptr},
    {"math.log", &F::log, nullptr, nullptr},
    {"math.log2", &F::log2, nullptr, &NativeMath::log2},
    {"math.log10", &F::log10, nullptr, nullptr},
    {"math.log1p", &F::log1p, nullptr, nullptr},
    {"math.tanh", &F::tanh, nullptr, nullptr},
    {"math.erf", &F::erf, nullptr, nullptr},
    {"math.erfc", &F::erfc, nullptr, nullptr},
    {"math.sin", &F::sin, nullptr, nullptr},
    {"math.cos", &F::cos, nullptr, nullptr},
    {"math.tan", &F::tan, nullptr, nullptr},
    {"math.asin", &F::asin, nullptr, nullptr},
    {"math.acos", &F::acos, nullptr, nullptr},
    {"math.atan", &F::atan, nullptr, nullptr},
    {"math.sinh", &F::sinh, nullptr, nullptr},
    {"math.cosh", &F::cosh, nullptr, nullptr},
    {"math.asinh", &F::asinh, nullptr, nullptr},
    {"math.acosh", &F::acosh, nullptr, nullptr},
    {"math.atanh", &F::atanh, nullptr, nullptr},
    {"math.rsqrt", &F::rsqrt, nullptr, &NativeMath::rsqrt},
    {"math.atan2", nullptr, &F::atan2, nullptr},
    {"math.powf", nullptr, &F::pow, nullptr},
    {"arith.remf", nullptr, &F::rem, nullptr},
};

static const Row *findRow(Operation *op) {
  static const llvm::StringMap<const Row *> index = [] {
    llvm::StringMap<const Row *> result;
    for (const Row &row : rows)
      result[row.operation] = &row;
    return result;
  }();
  return index.lookup(op->getName().getStringRef());
}

/// f32 of the shape of `type`, for the half types; `type` itself for the others.
static Type computeType(Type type) {
  Type element = getElementTypeOrSelf(type), f32 = Float32Type::get(type.getContext());
  if (element.isF32() || element.isF64())
    return type;
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(f32)) : f32;
}

static bool mayApproximate(Operation *op) {
  auto math = dyn_cast<arith::ArithFastMathInterface>(op);
  return math && bitEnumContainsAny(math.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
}

static void expand(Operation *op, const Row &row, NativeMath native) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  Type type = op->getResult(0).getType(), inner = computeType(type);
  auto widen = [&](Value value) -> Value {
    return inner == type ? value : arith::ExtFOp::create(builder, inner, value);
  };
  MathFunctions functions(builder, inner, native);
  auto unary = row.approximate && mayApproximate(op) ? row.approximate : row.unary;
  Value result = unary ? (functions.*unary)(widen(op->getOperand(0)))
                       : (functions.*row.binary)(widen(op->getOperand(0)), widen(op->getOperand(1)));
  if (inner != type)
    result = arith::TruncFOp::create(builder, type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

/// Erases arithmetic without a use, which formComplements and foldScales leave.
static void eraseUnused(Operation *root) {
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) && isOpTriviallyDead(op))
      op->erase();
  });
}

void expandMath(Operation *root, NativeMath native) {
  formComplements(root, native);
  if (native.exp2) {
    foldScales(root);
    eraseUnused(root);
  }
  SmallVector<std::pair<Operation *, const Row *>> found;
  root->walk([&](Operation *op) {
    const Row *row = findRow(op);
    bool isNative =
        row && row->native && native.*row->native && !getElementTypeOrSelf(op->getResult(0).getType()).isF64();
    if (row && !isNative)
      found.emplace_back(op, row);
  });
  for (auto [op, row] : found)
    expand(op, *row, native);
}

} // namespace tilewright
