// How many registers ptxas may give to a kernel's threads.
//
// Left alone, it spills a little to make room for one block more: in vain where shared memory has no room for that
// block, and needlessly for the 64-bit indices of gathers, whose threads are many in any case. Kernels of other kinds
// are left alone.
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

/// Blocks that a multiprocessor should hold; 0 leaves that to ptxas.
static int64_t blocksWanted(tile::KernelOp kernel, const TargetDesc &desc) {
  constexpr int64_t gatheringThreads = 512, registerFile = 64 << 10;
  constexpr int64_t reserved = 1 << 10; // shared memory that the system takes for each block
  constexpr int64_t registersBeside =
      96; // of a thread of a contraction beside its results: addresses, what it loads ahead
  auto schedule = kernel->getAttrOfType<tile::ScheduleAttr>("schedule");
  int64_t threads = kernel->getAttrOfType<IntegerAttr>("threads").getInt();
  if (!schedule)
    return 0;
  if (schedule.getRoot() == graph::RootKind::Pointwise &&
      any<tile::LoadOp>(kernel, [](tile::LoadOp load) { return !load.getIndices().empty(); }))
    return std::max<int64_t>(gatheringThreads / threads, 1);
  if (!any<tile::DotOp>(kernel, [](tile::DotOp dot) { return tile::fragmentsOf(dot) != nullptr; }))
    return 0;
  bool holdsOperands = any<tile::DotOp>(kernel, [](tile::DotOp dot) { return !tile::fragmentsOf(dot)->readsShared(); });
  int64_t results =
      std::accumulate(schedule.getTile().begin(), schedule.getTile().end(), int64_t(1), std::multiplies<>());
  int64_t roomInMemory =
      (desc.sharedBytes + reserved) / (kernel->getAttrOfType<IntegerAttr>("shared_bytes").getInt() + reserved);
  int64_t roomInRegisters = registerFile / ((holdsOperands ? 2 : 1) * results + registersBeside * threads);
  return roomInMemory <= roomInRegisters ? std::max<int64_t>(roomInMemory, 1) : 0;
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
