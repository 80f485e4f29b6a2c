// SPDX-License-Identifier: Apache-2.0
// Functions and divisions as arithmetic, as passes.
#include "backend/math/Passes.h"
#include "backend/math/MathExpansion.h"
#include "backend/math/PairReciprocals.h"
#include "backend/math/ReciprocalDivisions.h"
#include "backend/math/SafeIntegers.h"
#include "backend/math/tiles/ApproximateExponentials.h"
#include "backend/math/tiles/NarrowProducts.h"
#include "backend/math/tiles/RowReciprocals.h"

using namespace mlir;

namespace tilewright {

#define GEN_PASS_DEF_APPROXIMATEEXPONENTIALSPASS
#define GEN_PASS_DEF_DIVIDEBYROWRECIPROCALSPASS
#define GEN_PASS_DEF_MARKRECIPROCALDIVISIONSPASS
#define GEN_PASS_DEF_EXPANDFUNCTIONSPASS
#define GEN_PASS_DEF_MAKEINTEGERSSAFEPASS
#define GEN_PASS_DEF_NARROWPRODUCTSPASS
#define GEN_PASS_DEF_PAIRRECIPROCALSPASS
#include "backend/math/Passes.h.inc"

namespace {

struct MarkReciprocalDivisionsPass : impl::MarkReciprocalDivisionsPassBase<MarkReciprocalDivisionsPass> {
  using MarkReciprocalDivisionsPassBase::MarkReciprocalDivisionsPassBase;
  void runOnOperation() override { markReciprocalDivisions(getOperation()); }
};

struct PairReciprocalsPass : impl::PairReciprocalsPassBase<PairReciprocalsPass> {
  using PairReciprocalsPassBase::PairReciprocalsPassBase;
  void runOnOperation() override { pairReciprocals(getOperation()); }
};

struct NarrowProductsPass : impl::NarrowProductsPassBase<NarrowProductsPass> {
  using NarrowProductsPassBase::NarrowProductsPassBase;
  void runOnOperation() override {
    getOperation()->walk([](tile::KernelOp kernel) { narrowProducts(kernel); });
  }
};

struct DivideByRowReciprocalsPass : impl::DivideByRowReciprocalsPassBase<DivideByRowReciprocalsPass> {
  using DivideByRowReciprocalsPassBase::DivideByRowReciprocalsPassBase;
  void runOnOperation() override {
    getOperation()->walk([](tile::KernelOp kernel) { divideByRowReciprocals(kernel); });
  }
};

struct ApproximateExponentialsPass : impl::ApproximateExponentialsPassBase<ApproximateExponentialsPass> {
  using ApproximateExponentialsPassBase::ApproximateExponentialsPassBase;
  void runOnOperation() override {
    getOperation()->walk([](tile::KernelOp kernel) { approximateExponentials(kernel); });
  }
};

constexpr std::pair<StringLiteral, bool NativeMath::*> nativeFunctions[] = {{"exp2", &NativeMath::exp2},
                                                                            {"whole_exp2", &NativeMath::wholeExp2},
                                                                            {"log2", &NativeMath::log2},
                                                                            {"rsqrt", &NativeMath::rsqrt}};

struct ExpandFunctionsPass : impl::ExpandFunctionsPassBase<ExpandFunctionsPass> {
  using ExpandFunctionsPassBase::ExpandFunctionsPassBase;
  void runOnOperation() override {
    NativeMath computed;
    for (const std::string &name : native) {
      const auto *row = llvm::find_if(nativeFunctions, [&](const auto &row) { return row.first == name; });
      if (row == std::end(nativeFunctions)) {
        getOperation()->emitError("expected native functions among exp2, whole_exp2, log2 and rsqrt, got '")
            << name << "'";
        return signalPassFailure();
      }
      computed.*row->second = true;
    }
    expandMath(getOperation(), computed);
  }
};

struct MakeIntegersSafePass : impl::MakeIntegersSafePassBase<MakeIntegersSafePass> {
  using MakeIntegersSafePassBase::MakeIntegersSafePassBase;
  void runOnOperation() override {
    SmallVector<Operation *> scalars;
    getOperation()->walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->getResult(0).getType().isIntOrFloat())
        scalars.push_back(op);
    });
    for (Operation *op : scalars) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      if (Value safe = emitSafeInteger(b, op, op->getOperands(), op->getResult(0).getType())) {
        op->getResult(0).replaceAllUsesWith(safe);
        op->erase();
      }
    }
  }
};

} // namespace
} // namespace tilewright
