// Result types of graph operations: one function an operation, used by the importer to build it and by the verifier to
// check it.
#pragma once

#include "frontend/graph/GraphOps.h"

namespace tilewright::graph {

/// Each returns the result's type, or fails after calling `error` with a sentence ("expected X because Y, got Z").
using ShapeError = llvm::function_ref<void(const llvm::Twine &)>;

mlir::FailureOr<mlir::RankedTensorType> transposedType(mlir::RankedTensorType data, llvm::ArrayRef<int64_t> perm,
                                                       ShapeError error);
mlir::FailureOr<mlir::RankedTensorType> concatenatedType(mlir::TypeRange inputs, int64_t axis, ShapeError error);
/// Sums and products of half types are f32.
mlir::FailureOr<mlir::RankedTensorType> reducedType(ReduceKind kind, mlir::RankedTensorType input,
                                                    llvm::ArrayRef<int64_t> axes, ShapeError error);
/// Half operands give f32, i8 operands i32.
mlir::FailureOr<mlir::RankedTensorType> contractedType(mlir::RankedTensorType lhs, mlir::RankedTensorType rhs,
                                                       llvm::ArrayRef<mlir::AffineMap> maps, ShapeError error);

/// Which operand dimension a result coordinate of a reshape comes from: (row-major linearize, then delinearize), with
/// equal prefixes and groups of dimensions split off so that the map stays as small as the reshape allows.
mlir::AffineMap reshapeMap(mlir::RankedTensorType data, mlir::RankedTensorType result);

} // namespace tilewright::graph
