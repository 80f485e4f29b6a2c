// SPDX-License-Identifier: Apache-2.0
#include "backend/host/KernelEmitter.h"

#include "backend/host/contract/ByteContraction.h"
#include "backend/host/contract/Contraction.h"
#include "backend/host/contract/MatrixContraction.h"
#include "backend/host/emit/Operations.h"
#include "backend/host/loops/Program.h"
#include "backend/host/loops/Reduction.h"
#include "backend/host/loops/RegisterLoop.h"
#include "backend/host/plan/PlanKernel.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::host {
namespace {

/// Owns the emitters of one kernel, which depend on each other from the lowest layer up, and calls the one that an
/// operation needs.
class KernelEmitter {
public:
  KernelEmitter(llvm::Module &module, tile::KernelOp kernel, const HostOptions &options, const KernelPlan &plan)
      : kernel(kernel), plan(plan), function(module, kernel, options),
        byteContraction(function, tileMemory, values, memory, columns, plan.dots),
        matrixContraction(function, tileMemory, values, addresses, memory, plan),
        registerBlocks(function, tileMemory, values, addresses, nestRows, plan),
        program(function, tileMemory, values, nestRows, registerBlocks, transposedBlocks, plan) {
    values.compute = [this](Value value, const Position &position) { return compute(value, position); };
    values.computeInMemory = [this](Value value, const Position &position) -> std::optional<TileInMemory> {
      auto dot = value.getDefiningOp<tile::DotOp>();
      return dot && matrixContraction.canEmit(dot, position) ? std::optional(matrixContraction.emit(dot, position))
                                                             : std::nullopt;
    };
  }

  Status run() {
    matrixContraction.configure(kernel);
    Status status = function.run([&] { program.emit(plan.steps); });
    function.ir.SetInsertPoint(function.ir.GetInsertBlock()->getTerminator());
    matrixContraction.release();
    return status;
  }

private:
  Rows compute(Value value, const Position &position);

  tile::KernelOp kernel;
  const KernelPlan &plan;
  KernelFunction function;
  TileMemory tileMemory{function};
  TileValues values{function, tileMemory};
  Addresses addresses{function};
  Memory memory{function, addresses, values};
  Operations operations{function, values};
  Columns columns{function, values, plan.keys};
  Reduction reduction{function, tileMemory, values, addresses, columns};
  Contraction contraction{function, values, addresses, memory, columns};
  ByteContraction byteContraction;
  MatrixContraction matrixContraction;
  RegisterLoop registerLoop{function, values, addresses};
  NestRows nestRows{function, tileMemory, values, memory, columns, reduction};
  RegisterBlocks registerBlocks;
  TransposedBlocks transposedBlocks{function, tileMemory, values, memory};
  Program program;
};

} // namespace

Rows KernelEmitter::compute(Value value, const Position &position) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    function.fail(value.getParentRegion()->getParentOp(),
                  "a carried tile is read at another place than it is computed at");
    return operations.poison(value, position);
  }
  return llvm::TypeSwitch<Operation *, Rows>(op)
      .Case([&](tile::LoadOp load) { return memory.load(load, position); })
      .Case([&](tile::CheckOp check) { return memory.check(check, position); })
      .Case([&](tile::BroadcastOp broadcast) { return operations.broadcast(broadcast, position); })
      .Case([&](tile::CoordinateOp coordinate) { return operations.coordinate(coordinate, position); })
      .Case([&](arith::SelectOp select) {
        return plan.keys.isMask(select) ? values.tileOf(select.getTrueValue(), position)
                                        : operations.elementwise(select, position);
      })
      .Case([&](tile::ReduceOp reduce) { return reduction.emit(reduce, position); })
      .Case([&](tile::DotOp dot) {
        return matrixContraction.canEmit(dot, position)
                   ? tileMemory.load(matrixContraction.emit(dot, position), dot, position)
               : byteContraction.canEmit(dot) ? byteContraction.emit(dot, position)
                                              : contraction.emit(dot, position);
      })
      .Case([&](scf::ForOp loop) { return registerLoop.emit(loop, cast<OpResult>(value).getResultNumber(), position); })
      .Default([&](Operation *other) { return operations.elementwise(other, position); });
}

Expected<uint64_t> emitKernel(llvm::Module &module, tile::KernelOp kernel, const HostOptions &options) {
  Expected<KernelPlan> plan = planKernel(kernel, VectorUnit(options));
  if (!plan)
    return plan.status();
  if (Status status = KernelEmitter(module, kernel, options, *plan).run(); !status)
    return status;
  return plan->workspaceBytes;
}

} // namespace tilewright::host
