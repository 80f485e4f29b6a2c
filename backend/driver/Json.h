// The version that all JSON of the command line carries as "schema": one number, raised when a key is removed or changes its meaning.
#pragma once

namespace tilewright {

inline constexpr int schemaVersion = 1;

} // namespace tilewright
