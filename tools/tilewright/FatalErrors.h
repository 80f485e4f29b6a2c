// SPDX-License-Identifier: Apache-2.0
// Turns fatal errors of libraries and the system into a sentence and an exit code.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

/// Running out of memory inside LLVM (which cannot be unwound), an uncaught exception, LLVM's fatal errors, and a
/// mapped file that is truncated while it is read: each then prints one sentence and exits with its code instead of by
/// a signal.
void installFatalErrorHandlers();

/// `text` for a terminal: control characters other than newlines are escaped, invalid UTF-8 is replaced, and long words
/// (names, paths) are cut in the middle if the sentence would exceed 300 characters.
std::string printable(std::string_view text);

} // namespace tilewright
