// SPDX-License-Identifier: Apache-2.0
// Equal kernels of several modules have one code.
#include "backend/CodeLibrary.h"

#include "backend/Dialects.h"

#include "mlir/Parser/Parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tilewright;

namespace {

/// Copies elements of a vector of `size` from a vector of `size`: `width` of them a program.
std::string copyKernel(const std::string &name, int width, const std::string &size) {
  return fmt::format(R"(
    tile.kernel @{0}(%x: !tile.buffer<f32, ()[s0] -> (s0)>, %y: !tile.buffer<f32, ()[s0] -> (s0)>, %n: index)
        attributes {{grid = affine_map<()[s0] -> (s0 ceildiv {1}, 1, 1)>, symbols = affine_map<()[s0, s1] -> ({2})>,
                    schedule = #tile.schedule<pointwise, tile = [{1}], registers = [1, 8]>}} {{
      %p = tile.program_id 0
      %o = tile.size (d0) -> (d0 * {1})(%p)
      %v = tile.load %x[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : !tile.buffer<f32, ()[s0] -> (s0)> -> tensor<{1}xf32>
      tile.store %v, %y[%o] bounds ()[s0] -> (s0) map (d0) -> (d0) : tensor<{1}xf32> -> !tile.buffer<f32, ()[s0] -> (s0)>
      tile.return
    }})",
                     name, width, size);
}

class CodeLibraryTest : public testing::Test {
protected:
  CodeLibraryTest() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// The code of the kernels of a module, by their names.
  std::map<std::string, KernelCode> generate(const std::string &kernels) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(kernels, &context);
    EXPECT_TRUE(module);
    PlanRequest request;
    request.target = "host";
    Status status = library.generate(*module, **findTarget("x86-64-v3"), {}, request);
    EXPECT_TRUE(status.ok()) << status.message();
    requirements = request.requirements;
    std::map<std::string, KernelCode> codes;
    for (auto kernel : module->getOps<tile::KernelOp>())
      codes[kernel.getSymName().str()] = request.code.at(kernel);
    return codes;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::vector<runtime::CodeObject> objects;
  CodeLibrary library{objects};
  std::vector<std::string> requirements;
};

TEST_F(CodeLibraryTest, EqualKernelsForOtherSizesHaveOneCode) {
  auto codes = generate(copyKernel("a", 16, "s0") + copyKernel("b", 16, "(s1 + 7) floordiv 8"));
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].symbols.size(), 1u);
  EXPECT_EQ(codes["a"].entry, "a");
  EXPECT_EQ(codes["b"].entry, "a");
}

TEST_F(CodeLibraryTest, ALaterModuleBringsOnlyWhatIsNew) {
  generate(copyKernel("a", 16, "s0"));
  std::vector<std::string> before = requirements;
  auto codes = generate(copyKernel("b", 16, "s1") + copyKernel("a", 32, "s0"));
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[1].symbols.size(), 1u);
  EXPECT_EQ(codes["b"].index, 0u);
  EXPECT_EQ(codes["b"].entry, "a");
  EXPECT_EQ(codes["a"].index, 1u);
  EXPECT_EQ(codes["a"].entry, "a");
  EXPECT_EQ(requirements, before);
}

TEST_F(CodeLibraryTest, AModuleOfKnownKernelsBringsNoCode) {
  generate(copyKernel("a", 16, "s0"));
  auto codes = generate(copyKernel("c", 16, "s0"));
  EXPECT_EQ(objects.size(), 1u);
  EXPECT_EQ(codes["c"].entry, "a");
  EXPECT_FALSE(requirements.empty());
}

} // namespace
