// SPDX-License-Identifier: Apache-2.0
// How contractions of f32 are computed on GPUs whose matrix units take tf32: 8 bits of exponent, 10 of mantissa.
//
//   ieee     multiplications and additions of f32
//   tf32x3   each operand as the sum of two tf32: x = high + low, and three products, without low * low
//   tf32     operands rounded to tf32
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mlir {
class Operation;
}

namespace tilewright {

enum class MatmulPrecision { Ieee, Tf32x3, Tf32 };

inline constexpr MatmulPrecision defaultMatmulPrecision = MatmulPrecision::Tf32x3;

/// On a module: how it, and the modules in it, multiply; the default if it is absent.
inline constexpr llvm::StringLiteral matmulPrecisionAttr = "tile.matmul_precision";

/// As --matmul-precision spells it. Parsing gives nullopt for other text.
llvm::StringRef name(MatmulPrecision precision);
std::optional<MatmulPrecision> parseMatmulPrecision(llvm::StringRef text);

/// The precision that the innermost module around `op` with the attribute says, else the default.
MatmulPrecision matmulPrecisionOf(mlir::Operation *op);

} // namespace tilewright
