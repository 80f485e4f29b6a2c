// SPDX-License-Identifier: Apache-2.0
// How failures travel inside the importer: thrown where they are found, caught where the node is known that they are
// about. No exception leaves importModel.
#pragma once

#include "runtime/Status.h"

#include <fmt/format.h>

namespace tilewright {

/// The model cannot be imported.
struct ImportFailure {
  Status status;
};

/// The handler does not cover this form of the operator. The reference may still run it.
struct HandlerDeclined {
  std::string reason;
};

template <typename... Args> [[noreturn]] void malformed(fmt::format_string<Args...> text, Args &&...args) {
  throw ImportFailure{Status(Code::Malformed, fmt::format(text, std::forward<Args>(args)...))};
}

template <typename... Args> [[noreturn]] void unsupported(fmt::format_string<Args...> text, Args &&...args) {
  throw ImportFailure{Status(Code::Unsupported, fmt::format(text, std::forward<Args>(args)...))};
}

template <typename... Args> [[noreturn]] void decline(fmt::format_string<Args...> text, Args &&...args) {
  throw HandlerDeclined{fmt::format(text, std::forward<Args>(args)...)};
}

} // namespace tilewright
