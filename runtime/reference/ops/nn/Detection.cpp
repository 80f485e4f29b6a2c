// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: for each class, the best-scoring boxes that do not overlap a better one too much.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <span>

namespace tilewright::reference {

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

/// Two opposite corners in any order [y, x, y, x], or the centre and the extent [x, y, width, height].
static Box boxOf(const double *at, bool centred) {
  if (centred)
    return {at[1] - at[3] / 2, at[0] - at[2] / 2, at[1] + at[3] / 2, at[0] + at[2] / 2};
  return {std::min(at[0], at[2]), std::min(at[1], at[3]), std::max(at[0], at[2]), std::max(at[1], at[3])};
}

static double overlap(const Box &a, const Box &b) {
  double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top),
         width = std::min(a.right, b.right) - std::max(a.left, b.left);
  double common = std::max(height, 0.0) * std::max(width, 0.0), all = a.area() + b.area() - common;
  return all > 0 ? common / all : 0;
}

/// Whether `box` overlaps one of the `kept` boxes too much. Most boxes do not touch each other at all, and a comparison
/// says so, without the division.
static bool isCovered(const Box &box, std::span<const Box> kept, double threshold) {
  constexpr size_t together = 16;
  for (; !kept.empty(); kept = kept.subspan(std::min(together, kept.size()))) {
    std::span<const Box> some = kept.first(std::min(together, kept.size()));
    bool touches = threshold < 0;
    for (const Box &other : some)
      touches |= std::min(std::min(box.bottom, other.bottom) - std::max(box.top, other.top),
                          std::min(box.right, other.right) - std::max(box.left, other.left)) > 0;
    if (touches && std::ranges::any_of(some, [&](const Box &other) { return overlap(box, other) > threshold; }))
      return true;
  }
  return false;
}

/// Returns rows (batch, class, box), one for each selected box.
void nonMaxSuppression(Call &call) {
  const Shape &boxes = call.input(0).shape(), &scores = call.input(1).shape();
  require(boxes.size() == 3 && boxes[2] == 4 && scores.size() == 3 && scores[0] == boxes[0] && scores[2] == boxes[1],
          "expected boxes [N, B, 4] and scores [N, C, B], found {} and {}", boxes, scores);
  bool centred = call.integer("center_point_box", 0);
  int64_t limit = call.has(2) ? call.index(2) : 0, count = boxes[1];
  double threshold = call.has(3) ? call.scalar(3) : 0;
  std::optional<double> least = call.has(4) ? std::optional(call.scalar(4)) : std::nullopt;
  Values<double> corners(call.input(0)), values(call.input(1));
  std::vector<int64_t> result;
  for (int64_t n = 0; n < boxes[0]; ++n)
    for (int64_t c = 0; c < scores[1]; ++c) {
      const double *score = values.data() + (n * scores[1] + c) * count;
      std::vector<int64_t> order = identityMap(count);
      std::erase_if(order, [&](int64_t i) { return score[i] != score[i] || (least && score[i] <= *least); });
      std::sort(order.begin(), order.end(),
                [&](int64_t a, int64_t b) { return score[a] > score[b] || (score[a] == score[b] && a < b); });
      std::vector<Box> kept;
      for (int64_t i : order) {
        if (static_cast<int64_t>(kept.size()) >= limit)
          break;
        Box box = boxOf(corners.data() + (n * count + i) * 4, centred);
        if (isCovered(box, kept, threshold))
          continue;
        kept.push_back(box);
        result.insert(result.end(), {n, c, i});
      }
    }
  call.give(0, DType::I64, {static_cast<int64_t>(result.size()) / 3, 3}, result);
}

} // namespace tilewright::reference
