// SPDX-License-Identifier: Apache-2.0
//===- Passes.td - functions and divisions as arithmetic, for tilewright-opt --------------------------------------===//
#ifndef TILEWRIGHT_MATH_PASSES
#define TILEWRIGHT_MATH_PASSES

include "mlir/Pass/PassBase.td"

def MarkReciprocalDivisionsPass : Pass<"tilewright-math-mark-reciprocal-divisions"> {
  let summary = "Mark divisions of f32 that a product with an approximate reciprocal computes as well";
  let description = [{
    Sets `tilewright.by_reciprocal` on each arith.divf whose divisor's range, as far as the operations that compute it
    tell, is one for which a GPU's reciprocal is right. Functions must not be expanded yet.
  }];
}

def PairReciprocalsPass : Pass<"tilewright-math-pair-reciprocals"> {
  let summary = "Compute divisions of f32 in pairs, by one reciprocal of the product of both divisors";
  let description = [{
    Of scalars. For divisions with `tilewright.may_pair`: the divisor is at least 1, and an error of 2^-60 in its
    reciprocal does not matter. A NaN in one stays out of the other.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NarrowProductsPass : Pass<"tilewright-math-narrow-products"> {
  let summary = "Multiply in f16 or bf16 what is rounded to it, where both factors are such numbers exactly";
  let description = [{
    Of tile kernels. Factors are extended halves and integers of few bits, or sums of those: weights of four bits less
    their zero point, times a scale. The bits of the results stay the same.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DivideByRowReciprocalsPass : Pass<"tilewright-math-divide-by-row-reciprocals"> {
  let summary = "Divide the elements of a row by one number by multiplying with its reciprocal";
  let description = [{
    Of placed tile kernels: divisions of f32 by a broadcast tile, of which a thread has several elements for each
    divisor. A power of two keeps the reciprocal a normal number. Quotients that are compared or rounded to integers
    keep their divisions.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ApproximateExponentialsPass : Pass<"tilewright-math-approximate-exponentials"> {
  let summary = "Let exponentials of f32 be approximate from which only halves are computed";
  let description = [{
    Of tile kernels. Sets fastmath<afn> on each math.exp whose uses, through smooth functions, reductions and loops, end
    in roundings to f16 or bf16.
  }];
}

def ExpandFunctionsPass : Pass<"tilewright-math-expand-functions"> {
  let summary = "Replace functions that no instruction computes by formulas of fma, sqrt and integer operations";
  let description = [{
    Every exp, tanh, erf, powf, ... and arith.remf, on scalars, vectors and tiles. Half types are computed in f32.
  }];
  let options = [ListOption<"native", "native", "std::string",
                            "What the target computes by itself in f32: exp2, whole_exp2, log2, rsqrt">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def MakeIntegersSafePass : Pass<"tilewright-math-make-integers-safe"> {
  let summary = "Define integer divisions and casts from floats for every operand";
  let description = [{
    Of scalars. x / 0 and x % 0 are 0, the smallest number over -1 is itself, casts from floats saturate, and NaN
    becomes 0. Code generation does the same while it makes scalars of tiles.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
