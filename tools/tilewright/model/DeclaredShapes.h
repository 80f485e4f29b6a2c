// SPDX-License-Identifier: Apache-2.0
// The shapes that a model declares for its inputs, with a number for each symbol.
#pragma once

#include "runtime/Status.h"
#include "runtime/Tensor.h"

#include <map>
#include <string>
#include <vector>

namespace tilewright {

/// The shapes of the inputs of the model at `path`, by name, where symbols have these sizes or 1. Without inputs that
/// declare an expression, such as "past + 1", whose sizes follow from those of others. Code::Usage if a name is no
/// symbol of an input.
Expected<std::map<std::string, Shape>> declaredShapes(const std::string &path,
                                                      const std::vector<std::pair<std::string, int64_t>> &sizes);

} // namespace tilewright
