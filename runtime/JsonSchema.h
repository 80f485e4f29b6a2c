// SPDX-License-Identifier: Apache-2.0
// The version of all JSON that Tilewright writes: of the command line, and the fusion report inside artifacts.
#pragma once

namespace tilewright {

/// Written as "schema". Raised when a key is removed or changes its meaning.
inline constexpr int jsonSchema = 1;

} // namespace tilewright
