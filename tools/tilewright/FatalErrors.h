// What ends the process from below still ends it with a sentence and an exit code.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

/// Memory that runs out inside LLVM (which cannot be unwound through), an exception that nobody catches, LLVM's fatal
/// errors, and a mapped file that somebody truncates while it is read: each prints one sentence and exits with its
/// code, where the default is a signal.
void installFatalErrorHandlers();

/// `text` as a terminal can show it: control characters other than a line's end are escaped, bytes that are no UTF-8
/// replaced, and words (names, paths) are cut in their middle where a sentence would be longer than 300 characters for
/// them.
std::string printable(std::string_view text);

} // namespace tilewright
