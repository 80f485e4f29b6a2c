// SPDX-License-Identifier: Apache-2.0
// A GPU that every test machine has: the distributor's third target. Each thread of a block is a fiber on the CPU; the
// verbs are calls.
//
// What it models on purpose:
//  - asynchronous copies complete as late as allowed, and poison their destination until then, so that a missing wait
//    shows;
//  - what a product reads from shared memory by itself must stay there until it was waited for, or the error word says
//    so; it sees what threads wrote there only after their fence and a barrier;
//  - a thread runs until it must wait for others, so that a missing barrier shows;
//  - shared memory starts poisoned;
//  - what a block writes to a workspace is not there for others without fences (SimtDevice.h);
//  - matrix instructions are written from the vendors' manuals, not from tilegen/tile/Layout.cpp.
#pragma once

#include "backend/gpu/Distribute.h"
#include "runtime/Status.h"
#include "tests/backend/gpu/SimtDevice.h"
#include "tilegen/TargetDesc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::test {

/// Compiled kernels that imitate `target`.
class SimtProgram {
public:
  /// Parses tile kernels, places them for `target`, and compiles them for this CPU.
  static Expected<std::unique_ptr<SimtProgram>> compile(const std::string &text, const TargetDesc &target,
                                                        InjectedFaults faults = {});
  ~SimtProgram();
  static constexpr uint64_t hung = ~uint64_t(1);

  /// Runs every block of the grid, one after the other, those of a cluster together. `arguments` are buffers' addresses
  /// and scalars; workspaces and the error word are added. Returns the error word, which is all ones if shared memory
  /// was overwritten while a product read it or a zeroed workspace is not zero at the end, and `hung` if threads wait
  /// for what does not come.
  uint64_t run(const std::string &kernel, std::vector<uint64_t> arguments, std::array<int64_t, 3> grid,
               BlockOrder order = BlockOrder::Ascending);

  /// The addresses for which the last run's threads asked ahead, in no particular order.
  const std::vector<const std::byte *> &asked() const { return asked_; }
  /// Does some kernel copy by warps of its own?
  bool hasRoles();
  /// Do several programs share a tile of this kernel?
  bool sharesTiles(const std::string &kernel) const;
  /// How many blocks of this kernel are a cluster.
  unsigned clusterBlocks(const std::string &kernel) const { return kernels_.at(kernel).clusterBlocks; }

private:
  struct Facts {
    unsigned threads, sharedBytes, clusterBlocks;
  };
  SimtProgram() = default;
  static std::vector<struct SimtTensorMap> mapsOf(tile::KernelOp kernel, const std::vector<uint64_t> &arguments,
                                                  const PlacedLaunch &launch);

  std::unique_ptr<mlir::MLIRContext> context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;

  void *library_ = nullptr;
  unsigned lanes_ = 32;
  std::map<std::string, Facts> kernels_;
  std::vector<const std::byte *> asked_;
};

} // namespace tilewright::test
