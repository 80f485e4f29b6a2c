// SPDX-License-Identifier: Apache-2.0
// The version of Tilewright, as CMakeLists.txt states it.
#pragma once

#include <string_view>

namespace tilewright {

/// "0.1.0"; recorded in every artifact.
std::string_view version();

} // namespace tilewright
