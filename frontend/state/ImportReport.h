// SPDX-License-Identifier: Apache-2.0
// What the import found that a user may want to know; `inspect --support` prints it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// An assumption that a rank depends on: two sizes are equal, or they differ.
struct SizeChoice {
  std::string asker; // the node
  bool equal = false;
  std::string sentence; // the assumption, in words
  bool operator==(const SizeChoice &other) const { return asker == other.asker && equal == other.equal; }
};

struct ImportReport {
  struct Entry {
    std::string node, op, domain;
    int64_t opset = 0;
    std::string reason;
    int64_t after = 0; // how many nodes had been imported when it was found
  };
  std::vector<Entry> fallbacks;   // nodes that run through the reference, each with the reason
  std::vector<Entry> unsupported; // nodes that nothing can run
  /// A sentence for each pair of broadcast sizes of which either could be 1: sizes that are known before a run, and
  /// pairs with one that only running tells.
  std::vector<std::string> assumedEqual, assumedEqualLate;
  std::vector<SizeChoice> choices; // in the order of the nodes
  std::vector<std::string> warnings;
  bool namesAreShared = true; // as in ImportOptions, or false if the import succeeded only without
  int64_t nodeCount = 0;      // after inlining functions and branches
};

} // namespace tilewright
