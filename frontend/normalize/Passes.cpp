// SPDX-License-Identifier: Apache-2.0
// The stage "normalize" as a pass.
#include "frontend/normalize/Passes.h"
#include "frontend/normalize/Normalize.h"

using namespace mlir;

namespace tilewright::normalize {

#define GEN_PASS_DEF_NORMALIZEGRAPHPASS
#include "frontend/normalize/Passes.h.inc"

namespace {

struct NormalizeGraphPass : impl::NormalizeGraphPassBase<NormalizeGraphPass> {
  using NormalizeGraphPassBase::NormalizeGraphPassBase;
  void runOnOperation() override {
    if (failed(normalizeGraph(getOperation())))
      signalPassFailure();
  }
};

} // namespace
} // namespace tilewright::normalize
