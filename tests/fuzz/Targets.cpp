// SPDX-License-Identifier: Apache-2.0
// The table of targets.
#include "tests/fuzz/Targets.h"

#include "backend/Dialects.h"
#include "backend/StageDump.h"
#include "frontend/import/Importer.h"
#include "frontend/onnx/DimExpression.h"
#include "frontend/onnx/TensorData.h"
#include "runtime/artifact/OutputFile.h"
#include "tests/ScratchFolder.h"
#include "tests/fuzz/RunArtifact.h"
#include "tools/tilewright/values/Npy.h"
#include "tools/tilewright/values/Npz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace tilewright::test {
namespace {

std::string_view textOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

void expectSentence(const Status &status) {
  if (status.ok() || (status.code() != Code::Internal && !status.message().empty()))
    return;
  std::fprintf(stderr, "code %d: '%s'\n", static_cast<int>(status.code()), status.message().c_str());
  std::abort();
}

/// A context never frees types, attributes and expressions, and is slow to create, so each target has one that is
/// replaced after some inputs.
class ReplacedContext {
public:
  explicit ReplacedContext(void (*registerAll)(mlir::DialectRegistry &) = nullptr) {
    if (registerAll)
      registerAll(registry_);
  }
  mlir::MLIRContext &get() {
    constexpr int mostInputs = 1000;
    if (inputs_++ % mostInputs == 0) {
      context_ = std::make_unique<mlir::MLIRContext>(registry_, mlir::MLIRContext::Threading::DISABLED);
      context_->loadAllAvailableDialects();
    }
    return *context_;
  }

private:
  mlir::DialectRegistry registry_;
  std::unique_ptr<mlir::MLIRContext> context_;
  int inputs_ = 0;
};

void fuzzImport(std::span<const uint8_t> bytes) {
  static ReplacedContext context;
  expectSentence(importModelBytes(context.get(), textOf(bytes), "/nonexistent", {}).status());
}

void fuzzNpy(std::span<const uint8_t> bytes) { expectSentence(parseNpy(std::as_bytes(bytes), "x.npy").status()); }

void fuzzNpz(std::span<const uint8_t> bytes) { expectSentence(parseNpz(std::as_bytes(bytes), "x.npz").status()); }

void fuzzTensorProto(std::span<const uint8_t> bytes) {
  auto proto = std::make_shared<onnx::TensorProto>();
  if (proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    expectSentence(decodeTensor(*proto, "x.pb", {nullptr, proto, std::nullopt}).status());
}

void fuzzDimExpression(std::span<const uint8_t> bytes) {
  static ReplacedContext contexts;
  mlir::MLIRContext *context = &contexts.get();
  parseDimExpression(context, textOf(bytes),
                     [&](std::string_view name) { return mlir::getAffineSymbolExpr(name.size() % 4, context); });
}

/// Stages are read from files, with their constants beside them.
void fuzzStage(std::span<const uint8_t> bytes) {
  static ScratchFolder scratch;
  static ReplacedContext context(registerDialects);
  std::string path = scratch / "stage.mlir";
  expectSentence(writeFile(path, textOf(bytes)));
  expectSentence(readStage(context.get(), path).status());
}

void fuzzArtifact(std::span<const uint8_t> bytes) {
  try {
    expectSentence(openAndRun(std::as_bytes(bytes)));
  } catch (const std::bad_alloc &) { // a plan may need more memory than there is; callers report this
  }
}

constexpr FuzzTarget targets[] = {
    {"import", fuzzImport},  {"artifact", fuzzArtifact, 256 << 10},
    {"npy", fuzzNpy},        {"npz", fuzzNpz},
    {"pb", fuzzTensorProto}, {"dim", fuzzDimExpression},
    {"stage", fuzzStage},
};

} // namespace

std::span<const FuzzTarget> fuzzTargets() { return targets; }

const FuzzTarget *findFuzzTarget(std::string_view name) {
  auto found = std::ranges::find(targets, name, &FuzzTarget::name);
  return found == std::end(targets) ? nullptr : found;
}

} // namespace tilewright::test
