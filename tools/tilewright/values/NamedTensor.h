// SPDX-License-Identifier: Apache-2.0
// A tensor with the name of its input or output.
#pragma once

#include "runtime/Tensor.h"

#include <string>

namespace tilewright {

struct NamedTensor {
  std::string name; // may be empty in test data
  Tensor tensor;
};

} // namespace tilewright
