// SPDX-License-Identifier: Apache-2.0
// Elementary functions of f32 and f64 as formulas over arith and math primitives, for a scalar, vector or tile type.
//
// What remains afterwards is fma, sqrt, absf, copysign, arith on floats and on integers of equal width: selected by
// every backend without a library. MathFunctions.cpp says how each one is computed;
// tests/backend/math/MathFunctionsTest.cpp holds the worst errors:
//
//   function     worst error, f32          domain of that statement
//   exp, exp2    1.2 ulp                   all (subnormal results within 1.4 ulp of the smallest normal's ulp)
//   expm1        2.5 ulp                   all
//   log, log2    1.5 ulp                   all positive; log10 2.5 ulp; log1p 2.5 ulp
//   tanh         3.5 ulp                   all; 1 + tanh 2e-7 absolute
//   erf          2.5 ulp                   all
//   erfc         2.5 ulp                   x < 0.4; beyond, 4e-8 absolute
//   sin, cos     2 ulp, or 1e-7 absolute   |x| < 1e6; tan 4 ulp
//   asin, acos, atan, atan2, sinh, cosh, asinh, acosh, atanh   5 ulp
//   pow          2 ulp                     in f64 arithmetic
//   f64          a few units of 1e-16 relative; erf 1e-14; pow |y log2 x| times as much
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilewright {

/// Which functions the target computes well by itself.
struct NativeMath {
  /// math.exp2 stays, and exp is built on it: results are as accurate as the target's exp2, and zero where subnormal.
  bool exp2 = false;
  bool log2 = false;  // math.log2 stays
  bool rsqrt = false; // math.rsqrt stays
  /// One instruction computes p 2^n for whole n: a math.exp2 that exp is built on stays, with the attribute `whole`,
  /// and so does its product with p, with `scales`. The target must compute the product at once: 2^n may overflow.
  bool wholeExp2 = false;
};

/// On a math.exp2: its argument is a whole number, infinite or NaN.
inline constexpr llvm::StringLiteral wholeAttr = "whole";
/// On a product of p and a math.exp2 of a whole n, which nothing else uses: p 2^n is rounded once, also where the power
/// alone is out of range.
inline constexpr llvm::StringLiteral scalesAttr = "scales";

/// Builds formulas at the builder's insertion point; `type` is f32 or f64, or a shaped type of them.
class MathFunctions {
public:
  MathFunctions(mlir::ImplicitLocOpBuilder &builder, mlir::Type type, NativeMath native);

  using Value = mlir::Value;
  Value exp(Value x);
  /// For results that are rounded to halves (fastmath<afn>): an error of |x| 2^-24 on targets with an exp2.
  Value approximateExp(Value x);
  Value exp2(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value log1p(Value x);
  Value tanh(Value x);
  /// Only for targets with NativeMath::exp2.
  Value onePlusTanh(Value x);
  /// x (1 + erf(c x)) / 2 for c > 0, with the absolute error of erfc times x. Only for targets with NativeMath::exp2.
  Value geluByErf(Value x, double c);
  Value erf(Value x);
  Value erfc(Value x);
  Value sin(Value x);
  Value cos(Value x);
  Value tan(Value x);
  Value asin(Value x);
  Value acos(Value x);
  Value atan(Value x);
  Value atan2(Value y, Value x);
  Value sinh(Value x);
  Value cosh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value pow(Value x, Value y);
  Value rsqrt(Value x);
  Value rem(Value x, Value y);

private:
  struct Reduced; // x = n step + r, with n rounded to the nearest integer
  struct Log;     // log(x) = e ln2 + y, and x itself for the special cases

  Value constant(double value);
  Value integer(int64_t value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  Value sqrt(Value x);
  Value abs(Value x);
  Value negate(Value x);
  Value copySign(Value magnitude, Value sign);
  Value less(Value a, Value b);
  Value equal(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value bits(Value x);
  Value fromBits(Value x);
  Value atMost(Value x, double limit);  // keeps NaN
  Value atLeast(Value x, double limit); // keeps NaN
  Value polynomial(Value x, llvm::ArrayRef<double> narrow, llvm::ArrayRef<double> wide);
  Reduced reduce(Value x, double inverse, llvm::ArrayRef<double> narrowStep, llvm::ArrayRef<double> wideStep);
  Reduced reduceByLn2(Value x);
  Value powerOfTwo(Value n);
  Value scale(Value p, Value n);
  Value expm1OfRemainder(Value r);
  Value expByNativeExp2(Value x);
  Value expByWholeExp2(Value x);
  Value tanhByNativeExp2(Value x);
  Value complementOfTail(Value q);
  Log logParts(Value x);
  Value logSpecial(Value x, Value result);
  Value sinOrCos(Value x, int64_t quarter);
  std::pair<Value, Value> sinAndCosOfRemainder(Value r);

  mlir::ImplicitLocOpBuilder &builder;
  mlir::Type type, intType;
  NativeMath native;
  bool wide;       // f64
  bool wideTables; // polynomials for f64 too: not in pow of f32
};

} // namespace tilewright
