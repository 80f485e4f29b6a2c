// SPDX-License-Identifier: Apache-2.0
// Objects of a few lines of LLVM IR: linked and called, or refused with the reason.
#include "backend/host/FlatLink.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>

using namespace tilewright;
using namespace tilewright::host;

namespace {

llvm::SmallVector<char, 0> objectOf(const char *text) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm::TargetRegistry::lookupTarget(triple, error)
          ->createTargetMachine(triple, "x86-64-v3", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager manager;
  machine->addPassesToEmitFile(manager, stream, nullptr, llvm::CodeGenFileType::ObjectFile);
  manager.run(*module);
  return object;
}

Expected<FlatImage> link(const char *text) {
  llvm::SmallVector<char, 0> object = objectOf(text);
  return linkFlat(llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "test"));
}

TEST(FlatLink, FunctionsFindConstantsAndEachOtherWhereverTheyAreMapped) {
  Expected<FlatImage> image = link(R"(
@table = private unnamed_addr constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
define double @inner(i64 %i) noinline {
  %p = getelementptr double, ptr @table, i64 %i
  %v = load double, ptr %p
  ret double %v
}
define double @outer(i64 %i) {
  %v = call double @inner(i64 %i)
  %w = fadd double %v, 1.0e2
  ret double %w
})");
  ASSERT_TRUE(static_cast<bool>(image));
  EXPECT_EQ(image->symbols.size(), 2u);
  size_t size = image->bytes.size();
  auto *code = static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memcpy(code, image->bytes.data(), size);
  mprotect(code, size, PROT_READ | PROT_EXEC);
  auto outer = reinterpret_cast<double (*)(int64_t)>(code + image->symbols.lookup("outer"));
  EXPECT_EQ(outer(2), 103.5);
  munmap(code, size);
}

TEST(FlatLink, RefusesWhatIsNotInTheObject) {
  Expected<FlatImage> image = link(R"(
declare double @sin(double)
define double @f(double %x) {
  %v = call double @sin(double %x)
  ret double %v
})");
  ASSERT_FALSE(image);
  EXPECT_EQ(image.status().code(), Code::Internal);
  EXPECT_EQ(image.status().message(), "host code cannot be linked: 'sin' is not defined in it");
}

TEST(FlatLink, RefusesDataThatCouldBeWritten) {
  Expected<FlatImage> image = link(R"(
@count = internal global i64 7
define i64 @f() {
  %v = load volatile i64, ptr @count
  store volatile i64 0, ptr @count
  ret i64 %v
})");
  ASSERT_FALSE(image);
  EXPECT_EQ(image.status().message(), "host code cannot be linked: writable section .data");
}

TEST(FlatLink, RefusesWhatIsNoObject) {
  Expected<FlatImage> image = linkFlat(llvm::MemoryBufferRef("no object", "test"));
  ASSERT_FALSE(image);
  EXPECT_EQ(image.status().code(), Code::Internal);
}

} // namespace
