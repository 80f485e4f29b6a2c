// SPDX-License-Identifier: Apache-2.0
// The kernels of tests/tilegen/kernels/*.mlir as test cases.
#include "tests/tilegen/KernelFiles.h"

#include "frontend/graph/Sizes.h"
#include "tests/reference/GraphInterpreter.h"
#include "tilegen/emit/EmitTiles.h"
#include "tilegen/schedule/SelectSchedule.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <filesystem>
#include <random>

using namespace mlir;

namespace tilewright::tests {

std::vector<std::string> kernelFiles() {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(TILEWRIGHT_SOURCE_DIR "/tests/tilegen/kernels"))
    files.push_back(entry.path().stem().string());
  std::sort(files.begin(), files.end());
  return files;
}

static Dense randomInput(RankedTensorType type, ArrayRef<int64_t> symbols, std::mt19937 &random) {
  Dense dense;
  for (AffineExpr size : graph::getSizes(type))
    dense.shape.push_back(graph::evaluate(size, {}, symbols));
  bool real = isa<FloatType>(type.getElementType()), byte = type.getElementType().isInteger(8);
  for (int64_t i = 0; i < dense.count(); ++i)
    if (byte)
      dense.elements.push_back(static_cast<double>(random() % 256) - 128);
    else
      dense.elements.push_back(real ? static_cast<double>(random() % 129) / 64 - 1
                                    : static_cast<double>(random() % (type.getElementType().isInteger(1) ? 2 : 5)));
  return dense;
}

/// The constant as the panels that the kernel asks for.
static Dense pack(const Dense &source, AffineMap from, tile::BufferType buffer) {
  Dense packed;
  for (AffineExpr size : buffer.getSizes().getResults())
    packed.shape.push_back(graph::evaluate(size, {}, {}));
  SmallVector<int64_t> point(packed.shape.size(), 0);
  for (int64_t i = 0; i < packed.count(); ++i) {
    int64_t rest = i;
    for (size_t d = packed.shape.size(); d-- > 0; rest /= packed.shape[d])
      point[d] = rest % packed.shape[d];
    int64_t position = 0;
    bool inside = true;
    for (auto [expr, size] : llvm::zip_equal(from.getResults(), source.shape)) {
      int64_t at = graph::evaluate(expr, point, {});
      inside &= at >= 0 && at < size;
      position = position * size + at;
    }
    packed.elements.push_back(inside ? source.elements[position] : 0.0);
  }
  return packed;
}

/// A schedule with other sizes of the same shape: primes where `odd`, small powers of two otherwise.
static tile::ScheduleAttr perturb(tile::ScheduleAttr schedule, bool odd) {
  auto change = [&](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> changed;
    for (auto [i, size] : llvm::enumerate(sizes))
      changed.push_back(size == 1 ? 1 : odd ? (i % 2 ? 7 : 3) : (i % 2 ? 4 : 8));
    return changed;
  };
  return tile::ScheduleAttr::get(
      schedule.getContext(), schedule.getRoot(), change(schedule.getTile()), change(schedule.getReduce()), 1, 1,
      schedule.getRegisters(), schedule.getPack() ? 8 : 0, /*groups=*/0, /*order=*/1, /*parts=*/1, /*clustered=*/false,
      /*streamed=*/false, /*mostTiles=*/0, /*inPlace=*/false, /*matrix=*/false, /*unrolled=*/false, /*strip=*/0);
}

tile::ScheduleAttr unchanged(tile::ScheduleAttr schedule) { return schedule; }
tile::ScheduleAttr oddSizes(tile::ScheduleAttr schedule) { return perturb(schedule, true); }
tile::ScheduleAttr smallPowers(tile::ScheduleAttr schedule) { return perturb(schedule, false); }

tile::ScheduleAttr oddTiles(tile::ScheduleAttr schedule) {
  tile::ScheduleAttr odd = oddSizes(schedule);
  return tile::ScheduleAttr::ofVector(schedule.getContext(), schedule.getRoot(), odd.getTile(), schedule.getReduce(),
                                      schedule.getRegisters());
}

tile::ScheduleAttr twoGroups(tile::ScheduleAttr schedule) {
  tile::ScheduleAttr small = smallPowers(schedule);
  if (small.getRoot() != graph::RootKind::Matmul)
    return small;
  return tile::ScheduleAttr::ofBlock(small.getContext(), small.getRoot(), small.getTile(), small.getReduce(),
                                     /*warps=*/1, /*stages=*/1, /*groups=*/2);
}

tile::ScheduleAttr unrolledWindows(tile::ScheduleAttr schedule) {
  if (schedule.getRoot() != graph::RootKind::Window)
    return smallPowers(schedule);
  SmallVector<int64_t> tile(schedule.getTile().size(), 4), steps(schedule.getReduce().size(), 2);
  return tile::ScheduleAttr::ofUnrolledWindow(schedule.getContext(), tile, steps, /*warps=*/1);
}

tile::ScheduleAttr asGemv(tile::ScheduleAttr schedule) {
  tile::ScheduleAttr odd = oddSizes(schedule);
  if (schedule.getRoot() != graph::RootKind::Matmul)
    return odd;
  return tile::ScheduleAttr::ofBlock(schedule.getContext(), graph::RootKind::Gemv, odd.getTile(), odd.getReduce(), 1);
}

KernelCase::KernelCase(graph::KernelOp source, tile::KernelOp kernel, ArrayRef<int64_t> moduleSymbols) {
  std::mt19937 random(1);
  std::vector<Dense> inputs;
  for (auto [i, type] : llvm::enumerate(source.getArgumentTypes())) {
    inputs.push_back(randomInput(cast<RankedTensorType>(type), moduleSymbols, random));
    auto from = kernel.getArgAttrOfType<AffineMapAttr>(i, tile::packedFromAttr);
    buffers.push_back(from ? pack(inputs.back(), from.getValue(), cast<tile::BufferType>(kernel.getArgumentTypes()[i]))
                           : inputs.back());
  }
  auto interpreted = graph::interpretKernel(source, inputs, moduleSymbols);
  if (!interpreted)
    llvm::report_fatal_error(llvm::Twine(interpreted.status().message()));
  expected = std::move(*interpreted);
  for (const Dense &output : expected)
    buffers.push_back({output.shape, std::vector<double>(output.elements.size(), NAN)});
  for (AffineExpr size : kernel.getSymbolsAttr().getValue().getResults())
    symbols.push_back(graph::evaluate(size, {}, moduleSymbols));
}

KernelFileTest::KernelFileTest() {
  DialectRegistry registry;
  registry.insert<graph::GraphDialect, tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

void KernelFileTest::emit(StringRef targetName, Change change) {
  graphs = parseSourceFile<ModuleOp>(TILEWRIGHT_SOURCE_DIR "/tests/tilegen/kernels/" + GetParam() + ".mlir", &context);
  ASSERT_TRUE(graphs);
  const TargetDesc &target = **findTarget(targetName.str());
  ASSERT_TRUE(succeeded(selectSchedules(*graphs, target)));
  for (auto kernel : graphs->getOps<graph::KernelOp>())
    kernel.setScheduleAttr(change(cast<tile::ScheduleAttr>(kernel.getScheduleAttr())));
  tiles = graphs->clone();
  ASSERT_TRUE(succeeded(emitTiles(*tiles, target)));
  ASSERT_TRUE(succeeded(verify(*tiles)));
}

void KernelFileTest::forEachKernel(llvm::function_ref<void(graph::KernelOp, tile::KernelOp, ArrayRef<int64_t>)> visit) {
  for (auto kernel : graphs->getOps<graph::KernelOp>())
    for (const SmallVector<int64_t> &symbols : {SmallVector<int64_t>{1, 1}, {2, 5}, {3, 9}}) {
      visit(kernel, tiles->lookupSymbol<tile::KernelOp>(kernel.getSymName()), symbols);
      if (HasFatalFailure() || !graphs->getOperation()->hasAttr(graph::symbolsAttr))
        break;
    }
}

} // namespace tilewright::tests
