// SPDX-License-Identifier: Apache-2.0
// A private folder for a test: tests run in parallel, so shared file names would race.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace tilewright::test {

/// A new, empty folder below the system's temporary one, removed with its contents. Aborts if it cannot be created.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "tilewright-test-XXXXXX";
    if (!::mkdtemp(name.data())) {
      std::perror(name.c_str());
      std::abort();
    }
    path = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;

  /// The path of `name` in it.
  std::string operator/(std::string_view name) const { return path / name; }
  const std::filesystem::path &folder() const { return path; }

private:
  std::filesystem::path path;
};

} // namespace tilewright::test
