// SPDX-License-Identifier: Apache-2.0
// Fatal errors end the process with a sentence and an exit code instead of a signal; printed text cannot harm a
// terminal.
#include "tools/tilewright/FatalErrors.h"

#include "frontend/onnx/MappedFile.h"
#include "runtime/artifact/OutputFile.h"
#include "tests/ScratchFolder.h"

#include "llvm/Support/ErrorHandling.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

using namespace tilewright;

namespace {

TEST(FatalErrorsDeathTest, AFileThatShrinksWhileItIsRead) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  test::ScratchFolder scratch;
  std::string path = scratch / "weights";
  ASSERT_TRUE(writeFile(path, std::string(1 << 16, 'w')).ok());
  auto read = [&] {
    installFatalErrorHandlers();
    Expected<MappedFile> file = MappedFile::open(path);
    std::filesystem::resize_file(path, 0);
    volatile std::byte last = file->bytes().back();
    (void)last;
  };
  EXPECT_EXIT(read(), testing::ExitedWithCode(6), "became shorter while it was read");
}

TEST(FatalErrorsDeathTest, WhatNobodyCatches) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto raise = [](auto what) {
    installFatalErrorHandlers();
    std::thread([&] { throw what; }).join(); // cannot be caught here
  };
  EXPECT_EXIT(raise(std::bad_alloc()), testing::ExitedWithCode(5), "too little memory");
  EXPECT_EXIT(raise(std::runtime_error("soup")), testing::ExitedWithCode(7), "a bug of ours: soup");
  auto giveUp = [] {
    installFatalErrorHandlers();
    llvm::report_fatal_error("cannot select");
  };
  EXPECT_EXIT(giveUp(), testing::ExitedWithCode(7), "the code generator gave up.*cannot select");
}

TEST(PrintableTest, EscapesCutsAndReplaces) {
  EXPECT_EQ(printable("node 'a' of model.onnx\n  second line"), "node 'a' of model.onnx\n  second line");
  EXPECT_EQ(printable("Grüße, 日本"), "Grüße, 日本");
  EXPECT_EQ(printable("\x1b[31m\r"), "\\x1b[31m\\x0d");
  EXPECT_EQ(printable("a\xff"), "a\xef\xbf\xbd");
  std::string cut = printable(std::string(6 << 20, 'n') + " end");
  EXPECT_LT(cut.size(), 300u);
  EXPECT_NE(cut.find("(6291456 bytes)"), std::string::npos);
}

} // namespace
