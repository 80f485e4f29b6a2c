// SPDX-License-Identifier: Apache-2.0
#include "fusion/windows/SingleWindows.h"

#include "fusion/cost/Iterations.h"
#include "fusion/windows/ChannelsLast.h"
#include "fusion/windows/WalkedPixels.h"

#include "frontend/graph/GraphOps.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// What pays on an H100 (docs/performance.md). Below 2^28 multiplications an image is not worth turning or copying:
/// 2^27 took 0.9 to 1.3 times as long. `mostBytes` bounds the copy, which has each element as often as a window has
/// taps.
constexpr double leastMultiplications = 1 << 28, leastOfTurned = 1 << 26, mostBytes = 1 << 30, bytesOfRow = 16;
/// An unknown number of images counts as 16: one image loses less by copies than 16 images gain. As there may be more
/// than 16, their copies may have only half as many bytes.
constexpr int64_t unknownImages = 16;
constexpr double mostBytesOfUnknown = 1 << 29;
constexpr int64_t channelsOfBox = 32; // 128 bytes

/// Whether nothing but the number of images may be unknown.
static bool areImagesOfKnownSize(RankedTensorType windows) {
  return llvm::none_of(windows.getShape().drop_front(), ShapedType::isDynamic);
}

namespace {
/// A window that a contraction reads, in numbers.
struct ReadWindow {
  double elements, columns, bytesOfRow;
  bool hasKnownSize; // the number of images as well
};
} // namespace

/// nullopt if a copy engine cannot help: elements other than f32, groups, unknown sizes, or other readers.
static std::optional<ReadWindow> readOf(graph::WindowOp window) {
  constexpr double bytesOfSingle = 4;
  auto type = cast<RankedTensorType>(window.getType());
  bool isImage = window.getDims().front() <= 2; // no groups beside the batch and the channels
  if (!type.getElementType().isF32() || !areImagesOfKnownSize(type) || !isImage || !window->hasOneUse())
    return std::nullopt;
  OpOperand &use = *window->use_begin();
  auto contract = dyn_cast<graph::ContractOp>(use.getOwner());
  if (!contract)
    return std::nullopt;
  unsigned side = use.getOperandNumber();
  if (matchPattern(contract->getOperand(1 - side), m_Constant())) // one number: there is nothing to bring
    return std::nullopt;
  return ReadWindow{elementsOf(window, unknownImages), iterationsWithout(contract, 1 - side, side, unknownImages),
                    iterationsWithout(contract, side, 2, unknownImages) * bytesOfSingle, type.hasStaticShape()};
}

static bool isCopied(const ReadWindow &read, int64_t leastColumns) {
  constexpr double bytesOfSingle = 4;
  return read.elements * read.columns >= leastMultiplications && read.columns >= static_cast<double>(leastColumns) &&
         std::fmod(read.bytesOfRow, bytesOfRow) == 0 &&
         read.elements * bytesOfSingle <= (read.hasKnownSize ? mostBytes : mostBytesOfUnknown);
}

/// Whether the engine can walk the pixels of these windows, and that pays. The image is [batch, channels, y, x] or
/// [batch, y, x, channels], or a volume in one of these orders, its channels are a multiple of a box's 128 bytes, and
/// there are enough columns and multiplications.
static bool arePixels(graph::WindowOp window, const ReadWindow &read, int64_t leastColumns) {
  auto type = cast<RankedTensorType>(window.getData().getType());
  ArrayRef<int64_t> dims = window.getDims();
  bool areLast = dims.front() == 1;
  if (read.elements * read.columns < (areLast ? leastOfTurned : leastMultiplications))
    return false;
  bool isImage = type.getRank() == static_cast<int64_t>(dims.size()) + 2 && dims.front() > 0;
  return isImage && areWalkable(window) && !hasOneTap(window) &&
         type.getDimSize(areLast ? type.getRank() - 1 : 1) % channelsOfBox == 0 &&
         !window.getData().getDefiningOp<graph::WindowOp>() && read.columns >= static_cast<double>(leastColumns);
}

void fusion::layOutWindows(func::FuncOp main, const SingleWindows &least) {
  for (auto window : main.front().getOps<graph::WindowOp>()) {
    std::optional<ReadWindow> read = window.getPixels() ? std::nullopt : readOf(window); // laid out by an earlier pass
    if (read && arePixels(window, *read, least.pixelColumns))
      window.setPixels(true);
    else if (read && isCopied(*read, least.copiedColumns))
      window.setCopied(true);
  }
}
