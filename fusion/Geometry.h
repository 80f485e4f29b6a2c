// SPDX-License-Identifier: Apache-2.0
// Whether a set of operations can be one kernel: its root, its loops, and whether every value can be computed at the
// coordinates that the root's loops give.
//
// A kernel iterates over the loops of its root. It computes an output at one point of that space from its operands,
// each at the coordinates that access maps give, and so on up to the arguments. Values that do not depend on the root
// can be computed at any coordinates: they are *free*. The root's result is only available at the current point. So
// each value that depends on the root (these form the *spine*) is at known coordinates relative to the root, and an
// elementwise operation may only combine spine values at the same coordinates.
//
//     space    spine values                                          what the next operation does
//     Result   after a contraction, or the reduction of a window     reshapes and transposes are recorded
//     Row      after a reduction: one value for each row             a broadcast along the reduced loops leads to Full
//     Full     after that broadcast: one value for each element      a reduction over the same loops leads to Row again
//
// An attention has two contractions (Attention.h). Once a row of the first one's results is reduced, these are Full;
// the second contraction sums over the reduced loop, and its results are at Result again.
//
// A contraction may have up to three more beside it, of the same left side over the same loops (gate and up of an MLP,
// the gates of a recurrence): all their results are at Result.
#pragma once

#include "fusion/Reason.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/IR/Operation.h"

#include <optional>
#include <variant>

namespace tilewright::fusion {

using graph::RootKind;

/// The most contractions in a kernel that have one left side.
inline constexpr size_t mostContractions = 4;

struct Geometry {
  RootKind kind = RootKind::Pointwise;
  bool areColumns = false;                   // of a row reduction: the rows are not innermost, and one program's each
  mlir::Operation *root = nullptr;           // the first contraction or reduction; null for pointwise
  llvm::SmallVector<mlir::Operation *> more; // contractions beside the first one, of its left side
  llvm::SmallVector<mlir::Value> outputs;    // values used outside the set, in program order
};

using GeometryOrRefusal = std::variant<Geometry, Refusal>;

/// The geometry of `ops`, operations of one block in program order, or why they cannot be one kernel.
GeometryOrRefusal analyze(llvm::ArrayRef<mlir::Operation *> ops);

/// The same for the body of a kernel; fails with a diagnostic on the operation that does not fit.
mlir::FailureOr<Geometry> analyze(graph::KernelOp kernel);

/// Which operand of a contraction (0 or 1) has the columns of the result: the innermost of the result's loops that not
/// both operands have is a loop of this one. nullopt if both operands have all loops of the result.
std::optional<unsigned> sideOfColumns(graph::ContractOp contract);

/// True for arith and math operations that work element by element on tensors.
bool isElementwise(mlir::Operation *op);

/// True for constants and sizes, which cost nothing: kernels contain them or take them as arguments.
bool isConstantLike(mlir::Operation *op);

} // namespace tilewright::fusion
