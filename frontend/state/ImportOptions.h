// SPDX-License-Identifier: Apache-2.0
// What the caller of the importer may choose.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

struct ImportOptions {
  /// Sizes of inputs by name, as `--shapes` gives them. A symbol that one input fixes is fixed everywhere.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// A seed: files of external data that are missing are replaced by random weights.
  std::optional<uint64_t> randomWeights;
  /// Runs every node through the reference, even where a handler could compile it: `verify --against interpreter`.
  bool allAsReference = false;
  /// What to do with two sizes that meet in a broadcast when either may turn out to be 1. By default they are assumed
  /// to be equal; if this is set, the broadcast is decided at run time: slower, but right for all sizes.
  bool broadcastWhenRunning = false;
  /// Whether dimensions of inputs that have the same name have the same size. Some models give one name to sizes that
  /// differ: if the import fails, it is tried again with false.
  bool namesAreShared = true;
  /// A node that only the reference can run is an error (`--no-fallback`).
  bool noFallback = false;
  /// The default answer where a rank depends on whether two sizes are equal (as when a dimension is dropped if it is
  /// 1).
  bool sizesAreEqual = false;
  /// Recurrences with so many recurrent weights at most are loops, since the targets compute all steps of the loop in
  /// one kernel. Others of few known steps are unrolled.
  int64_t loopedWeights = 0;
  /// Both directions of a recurrence with so many recurrent weights at most, of both, take their steps together.
  int64_t togetherWeights = std::numeric_limits<int64_t>::max();
  /// Answers already decided for this attempt, by the node that asked.
  std::map<std::string, bool, std::less<>> settled;
};

} // namespace tilewright
