// SPDX-License-Identifier: Apache-2.0
// A new element gets the label in the middle between its neighbours'.
#include "fusion/groups/GroupOrder.h"

using namespace tilewright::fusion;

static constexpr uint64_t gap = uint64_t(1)
                                << 32; // between labels after relabel(): room for 32 insertions in one place

void GroupOrder::insertAfter(Ordered *anchor, Ordered &element) {
  Ordered *next = anchor ? anchor->after : first;
  element.before = anchor;
  element.after = next;
  (anchor ? anchor->after : first) = &element;
  (next ? next->before : last) = &element;
  uint64_t low = anchor ? anchor->label : 0, high = next ? next->label : low + 2 * gap;
  element.label = low + (high - low) / 2;
  if (element.label == low)
    relabel();
}

void GroupOrder::erase(Ordered &element) {
  auto [before, after, label] = element;
  (before ? before->after : first) = after;
  (after ? after->before : last) = before;
  element = {};
}

void GroupOrder::relabel() {
  uint64_t label = 0;
  for (Ordered *element = first; element; element = element->after)
    element->label = label += gap;
}
