// SPDX-License-Identifier: Apache-2.0
// Result types of graph operations. The importer uses them to build operations, the verifiers to check them.
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::graph {

/// Called with a sentence ("expected X because Y, got Z") when one of these functions fails.
using ShapeError = llvm::function_ref<void(const llvm::Twine &)>;

mlir::FailureOr<mlir::RankedTensorType> transposedType(mlir::RankedTensorType data, llvm::ArrayRef<int64_t> perm,
                                                       ShapeError error);
mlir::FailureOr<mlir::RankedTensorType> concatenatedType(mlir::TypeRange inputs, int64_t axis, ShapeError error);
/// Sums and products of half types have elements of f32.
mlir::FailureOr<mlir::RankedTensorType> reducedType(ReduceKind kind, mlir::RankedTensorType input,
                                                    llvm::ArrayRef<int64_t> axes, ShapeError error);
/// Contractions of half types have elements of f32, those of i8 of i32.
mlir::FailureOr<mlir::RankedTensorType> contractedType(mlir::RankedTensorType lhs, mlir::RankedTensorType rhs,
                                                       llvm::ArrayRef<mlir::AffineMap> maps, ShapeError error);

/// The access map of a reshape, from coordinates of the result to coordinates of the operand: linearize in row-major
/// order, then delinearize. Groups of dimensions with equal products are handled separately to keep the map small.
mlir::AffineMap reshapeMap(mlir::RankedTensorType data, mlir::RankedTensorType result);

} // namespace tilewright::graph
