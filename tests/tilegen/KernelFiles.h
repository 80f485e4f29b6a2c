// SPDX-License-Identifier: Apache-2.0
// The kernels of tests/tilegen/kernels/*.mlir as test cases: emitted under a schedule, with random inputs and what
// their graphs make of them.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "tests/reference/TileInterpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "gtest/gtest.h"

namespace tilewright::tests {

/// Names of the files, which are test parameters.
std::vector<std::string> kernelFiles();

/// What a test does with the schedule that a target would choose.
using Change = tile::ScheduleAttr (*)(tile::ScheduleAttr);
tile::ScheduleAttr unchanged(tile::ScheduleAttr schedule);
tile::ScheduleAttr oddSizes(tile::ScheduleAttr schedule);
tile::ScheduleAttr smallPowers(tile::ScheduleAttr schedule);
/// Tiles as those of oddSizes; what is reduced or contracted is not cut further.
tile::ScheduleAttr oddTiles(tile::ScheduleAttr schedule);
/// The same with two groups of warps for products, whose last rows of tiles are filled.
tile::ScheduleAttr twoGroups(tile::ScheduleAttr schedule);
/// Windows in straight code, in tiles and steps that do not divide them; the rest as smallPowers.
tile::ScheduleAttr unrolledWindows(tile::ScheduleAttr schedule);
/// Contractions as sums of products, the rest as oddSizes.
tile::ScheduleAttr asGemv(tile::ScheduleAttr schedule);

/// Buffers of one run of a kernel: random inputs (packed where the kernel wants panels), outputs of NaNs; and what is
/// expected of these.
struct KernelCase {
  KernelCase(graph::KernelOp source, tile::KernelOp kernel, llvm::ArrayRef<int64_t> moduleSymbols);
  std::vector<Dense> buffers, expected;
  llvm::SmallVector<int64_t> symbols; // the kernel's own
};

struct KernelFileTest : testing::TestWithParam<std::string> {
  KernelFileTest();
  /// Fills `graphs` and `tiles`.
  void emit(llvm::StringRef target, Change change);
  /// Calls `visit` with every kernel, as graph and as tiles, for several values of the symbols where there are any.
  void forEachKernel(llvm::function_ref<void(graph::KernelOp, tile::KernelOp, llvm::ArrayRef<int64_t>)> visit);

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> graphs, tiles;
};

} // namespace tilewright::tests
