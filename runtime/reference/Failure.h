// SPDX-License-Identifier: Apache-2.0
// How a reference kernel ends early.
#pragma once

#include "runtime/Status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace tilewright::reference {

/// Thrown by kernels and caught in `evaluate`; never crosses the library's border.
struct Failure {
  Status status;
};

[[noreturn]] inline void malformed(std::string message) { throw Failure{Status(Code::Malformed, std::move(message))}; }
[[noreturn]] inline void unsupported(std::string message) {
  throw Failure{Status(Code::Unsupported, std::move(message))};
}

/// Ends the kernel with Code::Malformed unless `condition` holds.
template <typename... Args> void require(bool condition, fmt::format_string<Args...> format, Args &&...args) {
  if (!condition)
    malformed(fmt::format(format, std::forward<Args>(args)...));
}

} // namespace tilewright::reference
