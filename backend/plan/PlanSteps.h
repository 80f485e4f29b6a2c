// The steps of a plan: each operation of @main as the step that does it when running.
#pragma once

#include "backend/plan/PlanRequest.h"
#include "backend/plan/PlanValues.h"
#include "frontend/flow/FlowOps.h"
#include "frontend/graph/GraphOps.h"

#include "mlir/IR/SymbolTable.h"

namespace tilewright {

/// A body of the plan that is built: an element of Plan::bodies.
struct PlanBody {
  uint32_t index;
  std::vector<size_t> sizes; // which of the sizes that a branch or loop gives its body are symbols of the body's plan
};

class PlanSteps {
public:
  /// `bodies` are complete before the first step that runs one.
  PlanSteps(mlir::ModuleOp module, const PlanRequest &request, runtime::Plan &plan, PlanSizes &sizes,
            PlanValues &values, const llvm::StringMap<PlanBody> &bodies)
      : module(module), request(request), plan(plan), sizes(sizes), values(values), bodies(bodies),
        symbolTable(module) {}

  Status add(mlir::Operation *op);
  /// True if every size that `op` needs is bound by the inputs and the steps so far. Operations are ordered by what
  /// they read, and no operand says that `graph.dims`, or a loop over a size that a host call binds, needs that call.
  bool hasBoundSizes(mlir::Operation *op) const;

private:
  Status addLaunch(graph::LaunchOp launch);
  Status addHostCall(graph::HostCallOp call);
  Status addReadSizes(graph::ReadSizesOp read);
  Status addDims(graph::DimsOp dims);
  Status addIf(flow::IfOp branch);
  Status addLoop(flow::LoopOp loop);
  std::vector<runtime::BoundSymbol> addResults(mlir::Operation *op, std::vector<runtime::ValueId> &outputs);
  Expected<std::vector<runtime::ValueId>> passTo(const runtime::Plan &body, size_t first, mlir::ValueRange operands);
  Expected<runtime::BodyUse> useOf(llvm::StringRef body, mlir::AffineMap bodySizes, mlir::ValueRange captures);
  runtime::KernelId kernelOf(tile::KernelOp kernel);
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
