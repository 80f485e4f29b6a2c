// SPDX-License-Identifier: Apache-2.0
// Builds the values of a plan: one for each value of @main that a step reads or writes.
#pragma once

#include "backend/plan/PlanConstants.h"
#include "backend/plan/PlanSizes.h"
#include "tilegen/tile/TileOps.h"

namespace tilewright {

/// The memory type of a tensor without a recorded ONNX type: signless integers are signed.
DType memoryType(mlir::Type element);
DType memoryType(mlir::Value tensor);

class PlanValues {
public:
  PlanValues(mlir::ModuleOp module, runtime::Plan &plan, PlanSizes &sizes, PlanConstants &constants)
      : module(module), plan(plan), sizes(sizes), constants(constants) {}

  void addInputs(mlir::func::FuncOp main);
  /// Adds the outputs. A step writes its output in place if possible.
  void addOutputs(mlir::func::FuncOp main);
  /// Appends copies for the outputs that no step writes in place.
  Status copyOutputs(mlir::func::FuncOp main);

  /// The plan's value for a value of @main. Constants are added at their first use.
  Expected<runtime::ValueId> idOf(mlir::Value value);
  /// The same as another memory type of equal width (for ONNX's unsigned integers).
  Expected<runtime::ValueId> idAs(mlir::Value value, DType type);
  /// A constant operand packed in the panels that the kernel reads; any other operand as it is.
  Expected<runtime::ValueId> operandOf(tile::KernelOp kernel, unsigned argument, mlir::Value value);
  /// The value that a step writes: an output in place, or else a temporary.
  runtime::ValueId resultOf(mlir::Value result, DType type);
  /// Memory that a kernel takes beside its buffers. Zeroed memory is one value for all launches, as large as the
  /// largest of them needs.
  runtime::ValueId workspaceOf(tile::WorkspaceOp workspace);
  /// Makes `result` another name of `source`'s memory.
  Status alias(mlir::Value result, mlir::Value source);

private:
  runtime::ValueId newValue(runtime::ValueKind kind, mlir::Value value, DType type, std::string name,
                            uint32_t source = runtime::none);
  runtime::ValueId aliasOf(mlir::Value value, runtime::ValueId source, DType type);
  Expected<runtime::ValueId> constantOf(mlir::Operation *op, mlir::Value value);

  mlir::ModuleOp module;
  runtime::Plan &plan;
  PlanSizes &sizes;
  PlanConstants &constants;
  llvm::DenseMap<mlir::Value, runtime::ValueId> ids;
  std::optional<runtime::ValueId> zeroed;
  int64_t zeroedSize = 0;
  llvm::DenseMap<mlir::Value, uint32_t> outputNumber; // of values that are written in place
};

} // namespace tilewright
