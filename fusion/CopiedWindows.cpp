// SPDX-License-Identifier: Apache-2.0
#include "fusion/CopiedWindows.h"

#include "fusion/cost/Iterations.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// What pays on an H100 (docs/performance.md): 2^27 multiplications took 0.9 to 1.3 times as long. A large image is
/// copied as many times as a window has elements.
constexpr double leastMultiplications = 1 << 28, mostBytes = 1 << 30, bytesOfRow = 16;
/// A single image loses less by copies than 16 images gain. There may be many more.
constexpr int64_t unknownImages = 16;
constexpr double mostBytesOfUnknown = 1 << 29;

/// Whether nothing but the number of images may be unknown.
static bool areImagesOfKnownSize(RankedTensorType windows) {
  return llvm::none_of(windows.getShape().drop_front(), ShapedType::isDynamic);
}

static bool isCopied(graph::WindowOp window, int64_t leastColumns) {
  constexpr double bytesOfSingle = 4;
  auto type = cast<RankedTensorType>(window.getType());
  bool isImage = window.getDims().front() <= 2; // no groups beside the batch and the channels
  if (!type.getElementType().isF32() || !areImagesOfKnownSize(type) || !isImage || !window->hasOneUse())
    return false;
  OpOperand &use = *window->use_begin();
  auto contract = dyn_cast<graph::ContractOp>(use.getOwner());
  if (!contract)
    return false;
  unsigned side = use.getOperandNumber();
  if (matchPattern(contract->getOperand(1 - side), m_Constant())) // one number: there is nothing to bring
    return false;
  double elements = elementsOf(window, unknownImages),
         columns = iterationsWithout(contract, 1 - side, side, unknownImages),
         row = iterationsWithout(contract, side, 2, unknownImages);
  return columns >= static_cast<double>(leastColumns) && std::fmod(row * bytesOfSingle, bytesOfRow) == 0 &&
         elements * bytesOfSingle <= (type.hasStaticShape() ? mostBytes : mostBytesOfUnknown) &&
         elements * columns >= leastMultiplications;
}

void fusion::copyWindows(func::FuncOp main, int64_t leastColumns) {
  for (auto window : main.front().getOps<graph::WindowOp>())
    if (isCopied(window, leastColumns))
      window.setCopied(true);
}
