// SPDX-License-Identifier: Apache-2.0
// Compares results with one tolerance per type, never per model.
#pragma once

#include "runtime/Tensor.h"

#include <optional>
#include <string>

namespace tilewright {

/// An element differs if |actual - expected| > absolute + relative * |expected|. With `ofLargest` the relative part
/// is of the largest magnitude in the expected tensor instead, since half precision loses more to cancellation. With
/// `growsWithLargest` the absolute part is multiplied by that magnitude where it is above 1: what is left of a
/// cancellation is as uncertain as what was cancelled.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
  bool ofLargest = false;
  bool growsWithLargest = false;
};

/// The default by type: float32 1e-3 relative and 1e-5 absolute, times the largest magnitude above 1; float16 and
/// bfloat16 2e-2 of the largest magnitude; float64 1e-7 relative; integers and bool exact.
Tolerance defaultTolerance(DType type);

/// The default for values inside of a model, whose small elements result from cancellation: float32 1e-4 of the largest
/// magnitude, else as above.
Tolerance innerTolerance(DType type);

struct Comparison {
  bool same = false;
  double largestDifference = 0; // absolute
  double largestRelative = 0;   // relative to the expected element, where that is not 0
  std::string sentence;         // what differs, where, and by how much; empty if equal
};

/// Compares type, shape and elements. NaN equals NaN, infinities equal themselves.
Comparison compare(const std::string &name, const Tensor &actual, const Tensor &expected,
                   const std::optional<Tolerance> &tolerance = {});

} // namespace tilewright
