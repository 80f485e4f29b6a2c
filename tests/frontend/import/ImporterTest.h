// SPDX-License-Identifier: Apache-2.0
// What tests of the importer share: import a model of a few nodes, look at its IR, or expect a refusal.
#pragma once

#include "tests/ScratchFolder.h"
#include "tests/frontend/TinyModel.h"

#include "frontend/graph/GraphOps.h"

#include <filesystem>

namespace tilewright::test {

struct ImporterTest : testing::Test {
  mlir::MLIRContext context;
  ImportOptions options;
  ImportReport report;
  ScratchFolder scratch;
  std::string folder = scratch / "model"; // of the model; `scratch` is outside of it

  ImporterTest() { std::filesystem::create_directory(folder); }

  Expected<mlir::OwningOpRef<mlir::ModuleOp>> import(const TinyModel &model) {
    return importModelBytes(context, model.bytes(), folder, options, &report);
  }

  std::string text(const TinyModel &model) {
    auto module = import(model);
    EXPECT_TRUE(module.ok()) << module.status().message();
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    if (module.ok())
      (**module)->print(stream);
    return printed;
  }

  size_t count(const std::string &text, const std::string &part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++found;
    return found;
  }

  /// Importing fails with `code` and a sentence that has every one of `parts`.
  void refuses(const TinyModel &model, Code code, std::initializer_list<std::string> parts) {
    auto module = import(model);
    ASSERT_FALSE(module.ok()) << "expected a refusal";
    EXPECT_EQ(static_cast<int>(module.status().code()), static_cast<int>(code)) << module.status().message();
    for (const std::string &part : parts)
      EXPECT_NE(module.status().message().find(part), std::string::npos)
          << "'" << part << "' is not in: " << module.status().message();
  }

  TinyModel relu() {
    TinyModel model;
    model.input("x", {2, 3}).output("y").node("Relu", {"x"}, {"y"});
    return model;
  }
};

} // namespace tilewright::test
