// Finds the divisions that a multiplication by an approximate reciprocal computes as well.
//
// A GPU's reciprocal treats subnormal numbers as zeros, on both sides: 1/b is wrong for subnormal b, and zero for |b| >
// 2^126. A division that is right for every b scales both operands first, which is most of its instructions. Here the
// divisor's range is derived from how it is computed: 1 + exp(-x) of a sigmoid and 1 + |x| of a softsign need no
// scaling.
#pragma once

#include "mlir/IR/Operation.h"

namespace tilewright {

/// On an arith.divf: the divisor is normal, and either at most 2^126 or the dividend at most 1 (then what is lost is a
/// subnormal result).
constexpr llvm::StringLiteral byReciprocalAttr = "tilewright.by_reciprocal";

/// Marks the divisions of f32 below `root` for which that is proved. Functions must not be expanded yet.
void markReciprocalDivisions(mlir::Operation *root);

} // namespace tilewright
