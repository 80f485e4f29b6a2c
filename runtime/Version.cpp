// SPDX-License-Identifier: Apache-2.0
// The version of Tilewright, as CMakeLists.txt states it.
#include "runtime/Version.h"

std::string_view tilewright::version() { return TILEWRIGHT_VERSION; }
