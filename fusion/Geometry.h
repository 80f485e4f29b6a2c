// What a set of operations is as one kernel: its root, its loops, and whether every value can be had at the root's
// coordinates.
//
// A kernel has an iteration space, the loops of its root, and computes each output by pulling: the output's value at
// some point of that space, its operands' values at coordinates that the access maps give, and so on up to the
// arguments. What does not hang on the root can be pulled at any coordinates (it is *free*). The root's own result
// exists at one point only, the current one, so what is computed from it must stay there: each value of this *spine*
// has a place, and elementwise operations join values of one place.
//
//     space    spine values                                       how the next operation moves
//     Result   what follows a contraction, or a window's reduction   one-to-one accesses (reshape, transpose) are remembered
//     Row      what follows a reduction, one for each row            broadcast along the reduced loops leads to Full
//     Full     the rows' elements, after that broadcast              reduction over the same loops leads to Row again
#pragma once

#include "fusion/Reason.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/IR/Operation.h"

#include <optional>
#include <variant>

namespace tilewright::fusion {

using graph::RootKind;

struct Geometry {
  RootKind kind = RootKind::Pointwise;
  mlir::Operation *root = nullptr;        // the contraction, or the first reduction; null for pointwise
  llvm::SmallVector<mlir::Value> outputs; // values used outside the set, in program order
};

struct Refusal {
  Reason reason;
  mlir::Operation *at; // the operation that does not fit
};

using GeometryOrRefusal = std::variant<Geometry, Refusal>;

/// The geometry of `ops`, which stand in one block, in program order; or why they are not one kernel.
GeometryOrRefusal analyze(llvm::ArrayRef<mlir::Operation *> ops);

/// The same for the body of a kernel; fails with a diagnostic on the operation that does not fit.
mlir::FailureOr<Geometry> analyze(graph::KernelOp kernel);

/// True for arith and math operations that work element by element on tensors.
bool isElementwise(mlir::Operation *op);

/// True for constants and sizes, which every kernel either holds itself or takes as arguments, and which are no work.
bool isConstantLike(mlir::Operation *op);

} // namespace tilewright::fusion
