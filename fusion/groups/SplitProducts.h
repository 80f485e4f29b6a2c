// SPDX-License-Identifier: Apache-2.0
// A product whose columns are read in equal parts that meet becomes a product for each part, in one kernel with what
// reads them: the gates of a recurrence, the two halves of a gated MLP whose weights are one constant.
#pragma once

#include "fusion/groups/FusionGroup.h"

namespace tilewright::fusion {

/// Merges a contraction, with the epilogue that it has, and an elementwise consumer that reads slices of its columns,
/// by computing each slice for itself. False, with all operations as before, if that is not one kernel; the consumer
/// then knows why (`notInParts`), if it does read such slices.
bool splitProduct(GroupGraph &graph, const Edge &edge);

} // namespace tilewright::fusion
