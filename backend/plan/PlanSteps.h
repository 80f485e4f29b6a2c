// SPDX-License-Identifier: Apache-2.0
// Builds the steps of a plan, one for each operation of @main.
#pragma once

#include "backend/plan/PlanRequest.h"
#include "backend/plan/PlanValues.h"
#include "frontend/flow/FlowOps.h"
#include "frontend/graph/GraphOps.h"

#include "mlir/IR/SymbolTable.h"

namespace tilewright {

/// A body that is already built: an element of Plan::bodies.
struct PlanBody {
  uint32_t index;
  std::vector<size_t> sizes; // of the sizes that the branch or loop gives, the positions of those that the body uses
};

class PlanSteps {
public:
  /// `bodies` must have each body before the step that runs it is added.
  PlanSteps(mlir::ModuleOp module, const PlanRequest &request, runtime::Plan &plan, PlanSizes &sizes,
            PlanValues &values, const llvm::StringMap<PlanBody> &bodies)
      : module(module), request(request), plan(plan), sizes(sizes), values(values), bodies(bodies),
        symbolTable(module) {}

  Status add(mlir::Operation *op);
  /// True if every size that `op` needs is bound by the inputs and the steps so far. Operands do not express this: a
  /// `graph.dims`, or a loop over a size that a host call binds, has no operand from that call.
  bool hasBoundSizes(mlir::Operation *op) const;

private:
  Status addLaunch(graph::LaunchOp launch);
  Status addKernel(graph::LaunchOp launch, mlir::FlatSymbolRefAttr name, runtime::ExprId runs, runtime::GroupId &group);
  runtime::ExprId isAbove(runtime::ExprId size, std::optional<int64_t> bound);
  Status addHostCall(graph::HostCallOp call);
  Status addReadSizes(graph::ReadSizesOp read);
  Status addDims(graph::DimsOp dims);
  Status addIf(flow::IfOp branch);
  Status addLoop(flow::LoopOp loop);
  std::vector<runtime::BoundSymbol> addResults(mlir::Operation *op, std::vector<runtime::ValueId> &outputs);
  Expected<std::vector<runtime::ValueId>> passTo(const runtime::Plan &body, size_t first, mlir::ValueRange operands);
  Expected<runtime::BodyUse> useOf(llvm::StringRef body, mlir::AffineMap bodySizes, mlir::ValueRange captures);
  runtime::KernelId kernelOf(tile::KernelOp kernel);
  /// `symbols`: for each symbol of the kernel, the module's expression that the launch passes for it.
  runtime::TensorMap tensorMapOf(tile::TensorMapOp map, llvm::ArrayRef<mlir::AffineExpr> symbols);
  runtime::GroupId groupOf(mlir::Operation *op, llvm::StringRef name, llvm::StringRef root);
  /// The symbols of the module that `kernel` takes as scalars.
  llvm::SmallVector<mlir::AffineExpr> symbolsOf(tile::KernelOp kernel) const;
  /// The ONNX node that `op` came from, as "name|operator".
  std::string nodeOf(mlir::Operation *op) const;
  std::string nodeAt(size_t index) const;

  mlir::ModuleOp module;
  const PlanRequest &request;
  runtime::Plan &plan;
  PlanSizes &sizes;
  PlanValues &values;
  const llvm::StringMap<PlanBody> &bodies;
  mlir::SymbolTable symbolTable;
  llvm::DenseMap<mlir::Operation *, runtime::KernelId> kernels;
};

} // namespace tilewright
