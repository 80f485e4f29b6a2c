// SPDX-License-Identifier: Apache-2.0
// What kernels of strings share.
#pragma once

#include "runtime/reference/Kernels.h"

namespace tilewright::reference {

using Texts = std::vector<std::string>;

/// Input `i`, which must be of strings.
const Tensor &stringInput(Call &call, int64_t i);

} // namespace tilewright::reference
