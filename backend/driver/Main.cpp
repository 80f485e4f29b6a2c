// The command line's entry.
#include "runtime/Version.h"

#include "llvm/Config/llvm-config.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

int main(int argc, char **argv) {
  CLI::App app("Compiles ONNX models to fused tile kernels and runs them.", "tilewright");
  app.require_subcommand(1);
  auto *version = app.add_subcommand("version", "Print the versions of Tilewright and of its LLVM");
  version->callback([] { fmt::print("tilewright {} (LLVM {})\n", tilewright::version(), LLVM_VERSION_STRING); });
  CLI11_PARSE(app, argc, argv);
}
