// A topological order of groups that is kept while they merge, so that a search for a path between two groups ends at
// the later one.
//
//     before:  a  b  c  d      merging a into d, where c reads a:      after:  b  ad  c
#pragma once

#include <cstdint>

namespace tilewright::fusion {

struct Group;

/// A group's place: neighbours, and a label that grows from the first to the last.
struct OrderPlace {
  Group *before = nullptr, *after = nullptr;
  uint64_t label = 0;
};

/// Comparing costs nothing, moving a group a few steps; now and then all labels are given out again.
class GroupOrder {
public:
  void append(Group &group) { insertAfter(last, group); }
  /// A null anchor stands for the place in front of the first.
  void insertAfter(Group *anchor, Group &group);
  void erase(Group &group);
  static bool isBefore(const Group &a, const Group &b);

private:
  void relabel();

  Group *first = nullptr, *last = nullptr;
};

} // namespace tilewright::fusion
