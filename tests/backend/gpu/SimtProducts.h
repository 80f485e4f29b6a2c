// SPDX-License-Identifier: Apache-2.0
// The matrix units of the imitated GPU.
#pragma once

#include "tests/backend/gpu/SimtTarget.h"

namespace tilewright::test {

/// Sets the verbs that multiply, in a table of VerbCount.
void setProductVerbs(const void **verbs);

} // namespace tilewright::test
