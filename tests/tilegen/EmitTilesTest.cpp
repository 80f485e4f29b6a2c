// Every kernel of tests/tilegen/kernels/*.mlir, under each target's schedule and under odd ones, computes what its graph says.
#include "tests/tilegen/Interpreters.h"

#include "frontend/graph/Sizes.h"
#include "tilegen/EmitTiles.h"
#include "tilegen/SelectSchedule.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <random>

using namespace mlir;
using namespace tilewright;

namespace {

std::vector<std::string> kernelFiles() {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(TILEWRIGHT_SOURCE_DIR "/tests/tilegen/kernels"))
    files.push_back(entry.path().stem().string());
  std::sort(files.begin(), files.end());
  return files;
}

Dense randomInput(RankedTensorType type, ArrayRef<int64_t> symbols, std::mt19937 &random) {
  Dense dense;
  for (AffineExpr size : graph::getSizes(type))
    dense.shape.push_back(evaluateExpr(size, {}, symbols));
  bool real = isa<FloatType>(type.getElementType());
  for (int64_t i = 0; i < dense.count(); ++i)
    dense.elements.push_back(real ? static_cast<double>(random() % 2001) / 1000 - 1 : static_cast<double>(random() % (type.getElementType().isInteger(1) ? 2 : 5)));
  return dense;
}

/// The constant as the panels that the kernel asks for.
Dense pack(const Dense &source, AffineMap from, tile::BufferType buffer) {
  Dense packed;
  for (AffineExpr size : buffer.getSizes().getResults())
    packed.shape.push_back(evaluateExpr(size, {}, {}));
  SmallVector<int64_t> point(packed.shape.size(), 0);
  for (int64_t i = 0; i < packed.count(); ++i) {
    int64_t rest = i;
    for (size_t d = packed.shape.size(); d-- > 0; rest /= packed.shape[d])
      point[d] = rest % packed.shape[d];
    int64_t position = 0;
    bool inside = true;
    for (auto [expr, size] : llvm::zip_equal(from.getResults(), source.shape)) {
      int64_t at = evaluateExpr(expr, point, {});
      inside &= at >= 0 && at < size;
      position = position * size + at;
    }
    packed.elements.push_back(inside ? source.elements[position] : 0.0);
  }
  return packed;
}

/// A schedule with other sizes of the same shape: primes where `odd`, small powers of two otherwise.
tile::ScheduleAttr perturb(tile::ScheduleAttr schedule, bool odd) {
  auto change = [&](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> changed;
    for (auto [i, size] : llvm::enumerate(sizes))
      changed.push_back(size == 1 ? 1 : odd ? (i % 2 ? 7 : 3) : (i % 2 ? 4 : 8));
    return changed;
  };
  return tile::ScheduleAttr::get(schedule.getContext(), schedule.getRoot(), change(schedule.getTile()), change(schedule.getReduce()), 1, 1,
                                 schedule.getRegisters(), schedule.getPack() ? 8 : 0);
}

struct EmitTilesTest : testing::TestWithParam<std::string> {
  EmitTilesTest() {
    DialectRegistry registry;
    registry.insert<graph::GraphDialect, tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse() {
    return parseSourceFile<ModuleOp>(TILEWRIGHT_SOURCE_DIR "/tests/tilegen/kernels/" + GetParam() + ".mlir", &context);
  }

  void compare(graph::KernelOp source, tile::KernelOp kernel, ArrayRef<int64_t> symbols) {
    std::mt19937 random(1);
    std::vector<Dense> inputs, buffers;
    for (auto [i, type] : llvm::enumerate(source.getArgumentTypes())) {
      inputs.push_back(randomInput(cast<RankedTensorType>(type), symbols, random));
      auto from = kernel.getArgAttrOfType<AffineMapAttr>(i, "tile.packed_from");
      buffers.push_back(from ? pack(inputs.back(), from.getValue(), cast<tile::BufferType>(kernel.getArgumentTypes()[i])) : inputs.back());
    }
    std::vector<Dense> expected = interpretGraph(source, inputs, symbols);
    for (const Dense &output : expected)
      buffers.push_back({output.shape, std::vector<double>(output.elements.size(), NAN)});
    SmallVector<int64_t> own;
    for (int64_t symbol : kernel->getAttrOfType<DenseI64ArrayAttr>("symbols").asArrayRef())
      own.push_back(symbols[symbol]);
    std::string error, text;
    llvm::raw_string_ostream(text) << *kernel.getOperation();
    ASSERT_TRUE(interpretTile(kernel, buffers, own, error)) << error << "\n" << text;
    for (size_t i = 0; i < expected.size(); ++i)
      for (size_t j = 0; j < expected[i].elements.size(); ++j)
        ASSERT_NEAR(buffers[inputs.size() + i].elements[j], expected[i].elements[j], 1e-9) << "output " << i << " element " << j << "\n" << text;
  }

  /// Emits under a schedule for each kernel and compares.
  void run(StringRef targetName, llvm::function_ref<tile::ScheduleAttr(tile::ScheduleAttr)> change) {
    OwningOpRef<ModuleOp> source = parse();
    ASSERT_TRUE(source);
    const TargetDesc &target = **findTarget(targetName);
    ASSERT_TRUE(succeeded(selectSchedules(*source, target)));
    for (auto kernel : source->getOps<graph::KernelOp>())
      kernel->setAttr("schedule", change(kernel->getAttrOfType<tile::ScheduleAttr>("schedule")));
    OwningOpRef<ModuleOp> module = source->clone();
    ASSERT_TRUE(succeeded(emitTiles(*module, target)));
    ASSERT_TRUE(succeeded(verify(*module)));
    for (auto kernel : source->getOps<graph::KernelOp>())
      for (SmallVector<int64_t> symbols : {SmallVector<int64_t>{1, 1}, {2, 5}, {3, 9}}) {
        compare(kernel, module->lookupSymbol<tile::KernelOp>(kernel.getSymName()), symbols);
        if (HasFatalFailure() || !source->getOperation()->hasAttr("graph.symbols"))
          break;
      }
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

TEST_P(EmitTilesTest, UnderTheSchedulesOfVectors) {
  run("x86-64-v4", [](tile::ScheduleAttr schedule) { return schedule; });
}
TEST_P(EmitTilesTest, UnderTheSchedulesOfBlocks) {
  run("sm_90a", [](tile::ScheduleAttr schedule) { return schedule; });
}
TEST_P(EmitTilesTest, UnderOddSchedules) {
  run("x86-64-v4", [](tile::ScheduleAttr schedule) { return perturb(schedule, true); });
}
TEST_P(EmitTilesTest, UnderSmallPowersOfTwo) {
  run("sm_90a", [](tile::ScheduleAttr schedule) { return perturb(schedule, false); });
}

INSTANTIATE_TEST_SUITE_P(Kernels, EmitTilesTest, testing::ValuesIn(kernelFiles()), [](const auto &info) {
  std::string name;
  for (char c : info.param)
    name += c == '-' || c == '_' ? '_' : c;
  return name;
});

} // namespace
