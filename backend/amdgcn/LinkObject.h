// SPDX-License-Identifier: Apache-2.0
// Links one object file to a shared library with lld, in process.
#pragma once

#include "runtime/Status.h"

#include <string>

namespace tilewright {

/// The bytes of a shared library made of `object`; undefined symbols are an error.
Expected<std::string> linkObject(const std::string &object);

} // namespace tilewright
