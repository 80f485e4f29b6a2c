// SPDX-License-Identifier: Apache-2.0
// How a kernel is divided into roles: the loads of a loop that a copy engine can bring move to a role that copies,
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
// In a loop that carries only its products' sums (a matrix product, or two of one left side) all products read their
// operands together and share one ring.
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

/// The slots of all operands that are copied and released together.
struct PlannedRing {
  bool isOfProgram; // filled once a program, not once a step
};

/// An operand that every step reads and the engine cannot bring. The warps that multiply write it to shared memory.
struct StagedOperand {
  mlir::Value value;
  unsigned fast;
};

struct RolePlan {
  mlir::scf::ForOp loop;
  llvm::SmallVector<DotOp> dots; // of the loop
  bool carriesSums = false;      // the loop carries the products' sums and nothing else
  bool splitsSingles = false;    // for instructions that take tf32 (SingleParts.h)
  bool roundsSingles = false;    // the engine does, for instructions that read both sides from shared memory
  std::vector<CopiedOperand> copied;
  std::vector<StagedOperand> staged;
  llvm::SmallVector<PlannedRing> rings;
  llvm::DenseMap<mlir::Operation *, size_t> copyOf; // from a load to its index in `copied`; equal loads share one
  llvm::DenseMap<mlir::Operation *, size_t> ringOf; // from a product to the ring on which it waits in every step

  /// The operands of `ring`, one after the other.
  auto copiedInto(size_t ring) const {
    return llvm::make_filter_range(copied, [ring](const CopiedOperand &operand) { return operand.ring == ring; });
  }
  /// Is this load of the loop brought by the engine?
  bool isCopied(mlir::Operation *op) const { return copyOf.contains(op); }
};

/// Products of a single step stand in no loop. Makes a loop of one step around them and the loads of their operands, so
/// that roles may take them too: then a program's copies run while the program before stores. Returns null, and changes
/// nothing, where there are none, operands are computed, or sums start from values that are no constants.
mlir::scf::ForOp loopOfOneStep(KernelOp kernel);

/// nullopt where the kernel cannot have roles; then `why` is the reason, as it follows "because" in a remark.
std::optional<RolePlan> planRoles(KernelOp kernel, std::string &why);

/// Moves loads from behind the loop to in front of it, as far as a thread of `registers` 32-bit registers can hold
/// their elements during the loop.
void loadAhead(const RolePlan &plan, int64_t registers);

/// Has the loop as many steps in every program, because its bounds are constants or sizes?
bool isEquallyLong(mlir::scf::ForOp loop);

} // namespace tilewright::tile
