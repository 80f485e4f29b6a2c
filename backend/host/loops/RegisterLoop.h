// SPDX-License-Identifier: Apache-2.0
// scf.for for one register tile: carried tiles are accumulators in registers.
#pragma once

#include "backend/host/emit/Addresses.h"
#include "backend/host/emit/TileValues.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright::host {

class RegisterLoop {
public:
  RegisterLoop(KernelFunction &function, TileValues &values, Addresses &addresses)
      : function(function), values(values), addresses(addresses), ir(function.ir), math(function.math) {}

  /// Emits the loop for one register tile of its result number `result`, and returns it. Results of other carried tiles
  /// that it needs are remembered (TileValues::remember).
  Rows emit(mlir::scf::ForOp op, unsigned result, const Position &position);

private:
  struct Carried; // tiles of one loop, in registers
  void start(mlir::scf::ForOp op, const Position &position, Carried &carried);
  Rows read(const Carried &carried, unsigned i, const Position &position);
  void iterate(mlir::scf::ForOp op, const Position &position, const Carried &carried, Ix iv);

  KernelFunction &function;
  TileValues &values;
  Addresses &addresses;
  llvm::IRBuilder<> &ir;
  IndexMath &math;
};

} // namespace tilewright::host
