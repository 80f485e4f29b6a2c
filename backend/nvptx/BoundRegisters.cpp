// SPDX-License-Identifier: Apache-2.0
// How many registers ptxas may give to a kernel's threads.
//
// Without a bound, ptxas may spill a few registers so that one more block fits on a multiprocessor. That does not raise
// the occupancy where shared memory has no room for the block, and gathers, whose 64-bit indices take the registers,
// have enough threads without it. And ptxas gives small tiles of singles, and small windows, so few registers that
// their loads wait for each other. Shares of rows take so many that one block alone would fit. Kernels of these kinds
// get a bound, others none.
#include "backend/nvptx/BoundRegisters.h"
#include "tilegen/place/Place.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

template <typename Op> static bool any(tile::KernelOp kernel, llvm::function_ref<bool(Op)> test) {
  return kernel.walk([&](Op op) { return test(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// How many blocks a multiprocessor should hold; 0: ptxas chooses.
static int64_t blocksWanted(tile::KernelOp kernel, const TargetDesc &desc) {
  constexpr int64_t gatheringThreads = 512;
  constexpr int64_t blocksOfShares = 2;
  constexpr int64_t reserved = 1 << 10; // shared memory that the system takes for each block
  // Registers of a contraction's thread besides those of its results: addresses, and what is loaded ahead. More for
  // singles, which are split into high and low parts: ptxas splits as many at once as it has registers for, and spills
  // if the estimate is too low.
  constexpr int64_t registersBesideHalves = 96, registersBesideSingles = 160;
  constexpr int64_t fewResults = 16, someResults = 32;    // of a thread
  constexpr int64_t warpsWithFew = 12, warpsWithSome = 8; // of a multiprocessor: 168 and 255 registers a thread
  auto schedule = kernel.getScheduleAttr();
  int64_t threads = *kernel.getThreads();
  if (!schedule)
    return 0;
  // Two blocks that hold shares of rows: one loads while the other one computes. Without a bound, ptxas takes 86
  // registers for a softmax's 512 threads, and there is room for one: 64 rows of 128,256 singles took 32.7 us, not
  // 26.6.
  if (schedule.getRoot() == graph::RootKind::RowReduction && schedule.getClustered())
    return blocksOfShares;
  if (schedule.getRoot() == graph::RootKind::Pointwise &&
      any<tile::LoadOp>(kernel, [](tile::LoadOp load) { return !load.getIndices().empty(); }))
    return std::max<int64_t>(gatheringThreads / threads, 1);
  int64_t results =
      std::accumulate(schedule.getTile().begin(), schedule.getTile().end(), int64_t(1), std::multiplies<>());
  // Without a bound, ptxas takes 80 registers for windows of 3x3 singles and spills four of them. With this one it
  // takes at most 128, and spills none.
  constexpr int64_t fewElements = 9, resultsOfFew = 8; // of a window, and of a thread
  int64_t elements =
      std::accumulate(schedule.getReduce().begin(), schedule.getReduce().end(), int64_t(1), std::multiplies<>());
  if (schedule.getUnrolled() && elements <= fewElements && results <= resultsOfFew * threads)
    return warpsWithFew * desc.warpWidth / threads;
  if (!any<tile::DotOp>(kernel, [](tile::DotOp dot) { return tile::fragmentsOf(dot) != nullptr; }))
    return 0;
  // A kernel with roles has at most as many blocks as there are multiprocessors; or it is an attention, whose scores
  // and weights take more registers than the results that are counted below.
  if (any<tile::RolesOp>(kernel, [](tile::RolesOp) { return true; }))
    return 1;
  bool holdsOperands = any<tile::DotOp>(kernel, [](tile::DotOp dot) { return !tile::fragmentsOf(dot)->readsShared(); });
  bool splitsSingles = any<tile::DotOp>(kernel, [](tile::DotOp dot) { return tile::fragmentsOf(dot)->products > 1; });
  int64_t registersBeside = splitsSingles ? registersBesideSingles : registersBesideHalves;
  int64_t roomInMemory = (desc.sharedBytes + reserved) / (static_cast<int64_t>(*kernel.getSharedBytes()) + reserved);
  int64_t roomInRegisters = tile::registersOfUnit / ((holdsOperands ? 2 : 1) * results + registersBeside * threads);
  if (roomInMemory <= roomInRegisters)
    return std::max<int64_t>(roomInMemory, 1);
  // Without a bound, ptxas takes 61 registers for a tile of 32x32, so that few loads are in flight at once, and spills
  // a word or two if sizes are symbols. With 133, such tiles of a ResNet-50 take 0.64 to 0.74 of the time. Shared
  // memory has no room for many more blocks in any case.
  bool isSmall = schedule.getRoot() == graph::RootKind::Matmul && splitsSingles && results <= someResults * threads;
  if (!isSmall || !desc.bulkCopies)
    return 0;
  return (results <= fewResults * threads ? warpsWithFew : warpsWithSome) * desc.warpWidth / threads;
}

void tilewright::boundRegisters(ModuleOp placed, ModuleOp distributed, const TargetDesc &target) {
  Builder b(placed.getContext());
  for (auto kernel : placed.getOps<tile::KernelOp>())
    if (int64_t blocks = blocksWanted(kernel, target)) {
      auto function = distributed.lookupSymbol<LLVM::LLVMFuncOp>(kernel.getSymName());
      auto marks = llvm::to_vector(function.getPassthroughAttr().getValue());
      marks.push_back(b.getStrArrayAttr({"nvvm.minctasm", std::to_string(blocks)}));
      function.setPassthroughAttr(b.getArrayAttr(marks));
    }
}
