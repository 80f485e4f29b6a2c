// SPDX-License-Identifier: Apache-2.0
#include "fusion/windows/WalkedPixels.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {
/// A dimension of pixels: where they begin and end relative to the first and the last pixel of the image, how far the
/// elements of a window lie apart, and the step from window to window.
struct Walk {
  int64_t lower = 0, upper = 0, reach = 0, step = 1;
};
} // namespace

/// The dimensions that are left in the kernel (WalkedPixels.h), innermost first. Sizes are known.
static SmallVector<Walk> walksOf(graph::WindowOp window) {
  auto image = cast<RankedTensorType>(window.getData().getType()), windows = cast<RankedTensorType>(window.getType());
  auto spatial = static_cast<int64_t>(window.getDims().size());
  SmallVector<Walk> walks;
  int64_t inside = 1; // pixels of the dimensions inside of this one along which windows do not move
  for (int64_t i = spatial - 1; i >= 0; --i) {
    int64_t dim = window.getDims()[i], size = image.getDimSize(dim), count = windows.getDimSize(dim),
            taps = windows.getDimSize(window.getDims().front() + spatial + i), step = window.getStrides()[i],
            low = window.getLow()[i];
    Walk walk = {-low, (count - 1) * step - low - (size - 1), (taps - 1) * window.getDilations()[i], step};
    if (walk.lower == 0 && walk.upper == 0 && walk.reach == 0 && step == 1) {
      inside *= size;
      continue;
    }
    if (step > 1 && inside > 1)
      walks.emplace_back(), inside = 1;
    walks.push_back({walk.lower * inside, walk.upper * inside, walk.reach * inside, step});
    inside = 1;
  }
  return walks;
}

bool fusion::areWalkable(graph::WindowOp window) {
  auto image = cast<RankedTensorType>(window.getData().getType()), windows = cast<RankedTensorType>(window.getType());
  ArrayRef<int64_t> dims = window.getDims();
  auto isLong = [&](int64_t dim) { return image.getDimSize(dim) > 1 && windows.getDimSize(dim) > 1; };
  if (dims.size() < 2 || dims.size() > std::size(mostCorner) || !llvm::all_of(dims, isLong))
    return false;
  bool areRows = image.getRank() == static_cast<int64_t>(dims.size()) + 1;
  SmallVector<Walk> walks = areRows ? SmallVector<Walk>() : walksOf(window);
  return llvm::all_of(walks, [&](const Walk &walk) {
    int64_t most = mostCorner[walks.size() - 1];
    return std::min(walk.lower, walk.upper) >= -most && std::max(walk.lower, walk.upper) < most &&
           walk.reach < 2 * most && walk.step <= mostPixelStep;
  });
}
