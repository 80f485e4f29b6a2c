// SPDX-License-Identifier: Apache-2.0
// A topological order that is maintained while groups merge. It bounds the search for a path between two groups: the
// search, which goes from the later one to what it is computed from, can stop at the earlier one.
//
//     before:  a  b  c  d      merging a into d, where c reads a and d reads b:      after:  b  ad  c
#pragma once

#include <cstdint>

namespace tilewright::fusion {

/// An element of a GroupOrder: its neighbours, and a label that increases from the first element to the last.
struct Ordered {
  Ordered *before = nullptr, *after = nullptr;
  uint64_t label = 0;
};

/// A linked list whose elements can be compared in constant time. Insertion takes constant time too, except that from
/// time to time all labels are assigned again.
class GroupOrder {
public:
  void append(Ordered &element) { insertAfter(last, element); }
  /// A null anchor inserts in front of the first element.
  void insertAfter(Ordered *anchor, Ordered &element);
  void erase(Ordered &element);
  static bool isBefore(const Ordered &a, const Ordered &b) { return a.label < b.label; }

private:
  void relabel();

  Ordered *first = nullptr, *last = nullptr;
};

} // namespace tilewright::fusion
