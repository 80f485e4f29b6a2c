// A list with labels: an inserted group's label lies in the middle of its neighbours'.
#include "fusion/groups/GroupOrder.h"

#include "fusion/groups/FusionGroup.h"

using namespace tilewright::fusion;

static constexpr uint64_t gap = uint64_t(1) << 32; // between labels: so many halvings before labels are given out again

bool GroupOrder::isBefore(const Group &a, const Group &b) { return a.place.label < b.place.label; }

void GroupOrder::insertAfter(Group *anchor, Group &group) {
  Group *next = anchor ? anchor->place.after : first;
  group.place.before = anchor;
  group.place.after = next;
  (anchor ? anchor->place.after : first) = &group;
  (next ? next->place.before : last) = &group;
  uint64_t low = anchor ? anchor->place.label : 0, high = next ? next->place.label : low + 2 * gap;
  group.place.label = low + (high - low) / 2;
  if (group.place.label == low)
    relabel();
}

void GroupOrder::erase(Group &group) {
  auto [before, after, label] = group.place;
  (before ? before->place.after : first) = after;
  (after ? after->place.before : last) = before;
  group.place = {};
}

void GroupOrder::relabel() {
  uint64_t label = 0;
  for (Group *group = first; group; group = group->place.after)
    group->place.label = label += gap;
}
