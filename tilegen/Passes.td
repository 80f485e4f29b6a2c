// SPDX-License-Identifier: Apache-2.0
//===- Passes.td - the schedule and tile stages as passes, for tilewright-opt -------------------------------------===//
#ifndef TILEWRIGHT_TILEGEN_PASSES
#define TILEWRIGHT_TILEGEN_PASSES

include "mlir/Pass/PassBase.td"

def SelectSchedulesPass : Pass<"tilewright-schedule-select", "::mlir::ModuleOp"> {
  let summary = "Set the schedule of every graph.kernel that has none";
  let description = [{
    By a cost model, from the kernel's loops and the target's row in tilegen/TargetDesc.cpp. A schedule that is there
    already stays, so that it can be edited. Loops whose body is one kernel become a launch of that kernel, where the
    target can run all steps in it.
  }];
  let options = [Option<"target", "target", "std::string", "\"host\"", "The target, as --target spells it">];
  let dependentDialects = ["::tilewright::tile::TileDialect"];
}

def EmitTilesPass : Pass<"tilewright-tile-emit", "::mlir::ModuleOp"> {
  let summary = "Turn every graph.kernel, which has a schedule, into a tile.kernel";
  let description = [{
    Each output's store pulls its value through the maps of accesses. The text depends on the schedule alone, not on the
    target.
  }];
  let options = [Option<"target", "target", "std::string", "\"host\"", "The target, as --target spells it">];
  let dependentDialects = ["::tilewright::tile::TileDialect"];
}

#endif
