// SPDX-License-Identifier: Apache-2.0
// Random ONNX models whose batch, height and width are symbols: convolutions, poolings, reshapes whose shapes are
// computed, slices by sizes.
#pragma once

#include "models/ModelBuilder.h"

#include <array>

namespace tilewright::test {

/// How many sizes each symbol takes. A model is valid for all of them.
inline constexpr size_t assignments = 5;

/// One size at each assignment.
using Extent = std::array<int64_t, assignments>;

/// The symbols of every random model: names that its inputs declare, and what they are at each assignment.
struct Symbol {
  const char *name;
  Extent sizes;
};
inline constexpr Symbol randomSymbols[] = {{"batch", {1, 2, 1, 3, 2}},
                                           {"height", {8, 9, 16, 6, 13}},
                                           {"width", {12, 7, 5, 11, 13}},
                                           {"length", {4, 10, 7, 3, 16}}};

struct RandomModel {
  onnx::ModelProto proto;
  std::vector<std::string> inputs;         // names
  std::vector<std::vector<Extent>> shapes; // of each input
};

/// Always the same model for one seed.
RandomModel randomModel(unsigned seed, unsigned operators);

} // namespace tilewright::test
