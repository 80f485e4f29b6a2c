// SPDX-License-Identifier: Apache-2.0
// Failures: an exit code and one clear sentence. No exception crosses the public API.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace tilewright {

/// The command line's exit codes, and the C API's status codes.
enum class Code : int {
  Ok = 0,
  Differs = 1,     // results differ from what was expected
  Usage = 2,       // wrong arguments
  Unsupported = 3, // a valid model that asks for something not built
  Malformed = 4,   // a malformed or unsafe model or artifact
  Device = 5,      // a device or driver is missing or failed
  Io = 6,          // a file could not be read or written
  Internal = 7,    // our own bug
};

/// Success, or a code with one sentence: what was expected, what was found, what to do.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::Ok; }
  explicit operator bool() const { return ok(); }
  Code code() const { return code_; }
  const std::string &message() const { return message_; }

private:
  Code code_ = Code::Ok;
  std::string message_;
};

/// A value, or the Status that says why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : state_(std::move(value)) {}
  Expected(Status failure) : state_(std::move(failure)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T &operator*() { return std::get<T>(state_); }
  const T &operator*() const { return std::get<T>(state_); }
  T *operator->() { return &std::get<T>(state_); }
  const T *operator->() const { return &std::get<T>(state_); }
  Status status() const { return ok() ? Status() : std::get<Status>(state_); }

private:
  std::variant<T, Status> state_;
};

/// Evaluates a call that returns a Status or an Expected. Returns from the current function with its failure, if it has
/// failed.
#define TILEWRIGHT_TRY(...)                                                                                            \
  do {                                                                                                                 \
    if (auto &&tried = (__VA_ARGS__); !tried.ok())                                                                     \
      return ::tilewright::statusOf(tried);                                                                            \
  } while (false)

inline Status statusOf(const Status &status) { return status; }
template <typename T> Status statusOf(const Expected<T> &value) { return value.status(); }

} // namespace tilewright
