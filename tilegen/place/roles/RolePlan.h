// SPDX-License-Identifier: Apache-2.0
// What of a kernel becomes roles: the loads of a loop that a copy engine can bring move to a role of their own,
// everything else stays with the warps that multiply.
//
//   %q = tile.load Q                      read by every step: a ring that is filled once a program if the engine can
//                                         bring it, else written to shared memory by those who multiply
//   for %n {
//     %k = tile.load K[%n]                a ring that is filled in every step
//     %s = tile.dot %q, %k
//     ...                                 other loads, masks among them, stay where they are
//     %v = tile.load V[%n]                a ring
//     %o = tile.dot %p, %v                %p is made of %s and stays in registers
//   }
//
// Products that only their loop's sums join (a matrix product, two of one left side) read their operands together and
// share one ring.
#pragma once

#include "tilegen/place/Place.h"
#include "tilegen/place/roles/BulkAccess.h"

namespace tilewright::tile {

/// An operand that the copy engine brings.
struct CopiedOperand {
  LoadOp load;
  unsigned fast; // the dimension along which its rows run
  BulkAccess access;
  size_t ring; // in RolePlan::rings
};

/// Slots that are filled and released together.
struct PlannedRing {
  bool isOfProgram; // filled once a program, not once a step
};

/// An operand that is read by every step, and that those who multiply write to shared memory.
struct StagedOperand {
  mlir::Value value;
  unsigned fast;
};

struct RolePlan {
  mlir::scf::ForOp loop;
  llvm::SmallVector<DotOp> dots; // of the loop
  bool carriesSums = false;      // and nothing else
  bool splitsSingles = false;    // for instructions that take tf32 (SingleParts.h)
  bool roundsSingles = false;    // by the engine, for instructions that read both sides from shared memory
  std::vector<CopiedOperand> copied;
  std::vector<StagedOperand> staged;
  llvm::SmallVector<PlannedRing> rings;
  llvm::DenseMap<mlir::Operation *, size_t> copyOf; // loads, of which several may be one of `copied`
  llvm::DenseMap<mlir::Operation *, size_t> ringOf; // of products: what their step waits for

  /// The operands of `ring`, one after the other.
  auto copiedInto(size_t ring) const {
    return llvm::make_filter_range(copied, [ring](const CopiedOperand &operand) { return operand.ring == ring; });
  }
  /// Is this load of the loop brought by the engine?
  bool isCopied(mlir::Operation *op) const { return copyOf.contains(op); }
};

/// Products of a single step stand in no loop. Makes one of one step around them and the loads of their operands, so
/// that roles may take them too: then a program's copies run beside the stores of the program before. Null, and nothing
/// changes, where operands are computed or sums start from values.
mlir::scf::ForOp loopOfOneStep(KernelOp kernel);

/// None where it cannot be; `why` says what is in the way.
std::optional<RolePlan> planRoles(KernelOp kernel, std::string &why);

/// Moves loads behind the loop to its front, where threads with so many registers can hold what they give.
void loadAhead(const RolePlan &plan, int64_t registers);

/// Is the loop as long in every program?
bool isEquallyLong(mlir::scf::ForOp loop);

} // namespace tilewright::tile
