// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/Isolated.h"

#include "tools/tilewright/FatalErrors.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewright::test {

static uint64_t addressSpace() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

static void limit(int resource, rlim_t value) {
  rlimit limits = {value, value};
  ::setrlimit(resource, &limits);
}

[[noreturn]] static void runChild(const std::function<Status()> &body, const Limits &limits, int pipe) {
  limit(RLIMIT_CPU, limits.seconds);
  limit(RLIMIT_AS, addressSpace() + limits.bytes);
  limit(RLIMIT_CORE, 0);
  ::alarm(6 * limits.seconds); // ends waits too, which use no processor time
  Status status;
  try {
    status = body();
  } catch (const std::bad_alloc &) { // as in the command line
    status = {Code::Device, "there is too little memory"};
  } catch (const std::exception &error) {
    status = {Code::Internal, fmt::format("an exception: {}", error.what())};
  }
  std::string message = printable(status.message());
  if (::write(pipe, message.data(), message.size()) < 0)
    ::_exit(125);
  ::_exit(static_cast<int>(status.code()));
}

Ending runIsolated(const std::function<Status()> &body, Limits limits) {
  int ends[2];
  if (::pipe(ends) != 0)
    return {{Code::Io, std::strerror(errno)}, 0};
  std::fflush(nullptr);
  pid_t child = ::fork();
  if (child == 0)
    runChild(body, limits, ends[1]);
  ::close(ends[1]);
  std::string message;
  std::array<char, 4096> part;
  for (ssize_t got; (got = ::read(ends[0], part.data(), part.size())) > 0;)
    message.append(part.data(), static_cast<size_t>(got));
  ::close(ends[0]);
  int state = 0;
  ::waitpid(child, &state, 0);
  if (WIFSIGNALED(state))
    return {{}, WTERMSIG(state)};
  return {{static_cast<Code>(WEXITSTATUS(state)), message}, 0};
}

std::string objection(const Ending &ending) {
  constexpr size_t longest = 300;
  if (ending.signal)
    return fmt::format("ended by signal {} ({})", ending.signal, ::strsignal(ending.signal));
  const Status &status = ending.status;
  switch (status.code()) {
  case Code::Ok:
    return "";
  case Code::Usage:
  case Code::Unsupported:
  case Code::Malformed:
  case Code::Device:
  case Code::Io:
    break;
  default:
    return fmt::format("ended with code {}: {}", static_cast<int>(status.code()), status.message());
  }
  if (status.message().empty() || status.message().size() > longest || status.message().find('\n') != std::string::npos)
    return fmt::format("said {} characters, expected one sentence of at most {}: {}", status.message().size(), longest,
                       status.message());
  return "";
}

} // namespace tilewright::test
