// SPDX-License-Identifier: Apache-2.0
// Handlers for terminate, SIGBUS and LLVM's fatal errors.
#include "tools/tilewright/FatalErrors.h"

#include "runtime/Status.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/ErrorHandling.h"

#include <csignal>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <system_error>
#include <unistd.h>

namespace tilewright {

/// Prints `sentence` and exits. Safe in a signal handler, and when out of memory.
[[noreturn]] static void end(Code code, std::string_view sentence) {
  for (std::string_view part : {std::string_view("tilewright: "), sentence, std::string_view("\n")})
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0)
      break; // nobody reads stderr; the exit code remains
  ::_exit(static_cast<int>(code));
}

static constexpr std::string_view noMemory = "there is too little memory; use smaller inputs or models";

static void onTerminate() {
  static constinit bool again = false;
  if (std::exchange(again, true))
    end(Code::Internal, "an exception while another one was reported, which is a bug of ours");
  try {
    if (std::exception_ptr current = std::current_exception())
      std::rethrow_exception(current);
  } catch (const std::bad_alloc &) {
    end(Code::Device, noMemory);
  } catch (const std::system_error &error) { // a thread that could not be started
    end(Code::Device,
        fmt::format("the system refuses a thread or another resource: {}; set TILEWRIGHT_NUM_THREADS lower",
                    error.what()));
  } catch (const std::exception &error) {
    end(Code::Internal, fmt::format("an exception that nobody catches, which is a bug of ours: {}", error.what()));
  } catch (...) {
  }
  end(Code::Internal, "an exception that nobody catches, which is a bug of ours");
}

static void onBusError(int) {
  end(Code::Io, "a file became shorter while it was read (the model, its data or an artifact)");
}

void installFatalErrorHandlers() {
  std::set_terminate(onTerminate);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { end(Code::Device, noMemory); });
  llvm::install_fatal_error_handler([](void *, const char *why, bool) {
    end(Code::Internal, fmt::format("the code generator gave up, which is a bug of ours: {}", why));
  });
  struct sigaction action = {};
  action.sa_handler = onBusError;
  ::sigaction(SIGBUS, &action, nullptr);
}

//===- What is printed --------------------------------------------------------------------------------------------===//

static std::string shortened(std::string_view word, size_t longest) {
  if (word.size() <= longest)
    return std::string(word);
  return fmt::format("{}...({} bytes)...{}", word.substr(0, longest / 2), word.size(),
                     word.substr(word.size() - longest / 4));
}

/// Appends `word` with control characters escaped and invalid UTF-8 replaced.
static void appendPrintable(std::string &result, std::string_view word) {
  for (size_t i = 0; i < word.size();) {
    auto *start = reinterpret_cast<const llvm::UTF8 *>(word.data() + i);
    size_t length = llvm::getNumBytesForUTF8(*start);
    auto byte = static_cast<unsigned char>(word[i]);
    bool isControl = byte < 0x20 || byte == 0x7f;
    if (isControl || length > word.size() - i || !llvm::isLegalUTF8Sequence(start, start + length)) {
      result += isControl ? fmt::format("\\x{:02x}", byte) : "\xef\xbf\xbd"; // U+FFFD, as JSON output has it
      length = 1;
    } else {
      result += word.substr(i, length);
    }
    i += length;
  }
}

static std::string printable(std::string_view text, size_t longestWord) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find_first_of(" \n", at), text.size());
    appendPrintable(result, shortened(text.substr(at, end - at), longestWord));
    if (end < text.size())
      result += text[end++];
    at = end;
  }
  return result;
}

std::string printable(std::string_view text) {
  constexpr size_t longestSentence = 300; // several lines may be longer
  // Words are cut to the first of these lengths that suffices: for typed paths, generated names, and hostile names.
  constexpr size_t longestWords[] = {240, 64, 32};
  std::string result;
  for (size_t longest : longestWords)
    if (result = printable(text, longest); result.size() <= longestSentence || result.find('\n') != std::string::npos)
      return result;
  constexpr std::string_view cut = " ... ";
  size_t front = longestSentence * 2 / 3,
         back = longestSentence - front - cut.size(); // the cause is at either end
  return fmt::format("{}{}{}", std::string_view(result).substr(0, front), cut,
                     std::string_view(result).substr(result.size() - back));
}

} // namespace tilewright
