// SPDX-License-Identifier: Apache-2.0
// All checks are made on the open file, not on its path, so that the file that was checked is the one that is read.
#include "frontend/onnx/ExternalData.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {
namespace {

std::string realPath(const std::string &path) {
  std::unique_ptr<char, void (*)(void *)> resolved(::realpath(path.empty() ? "." : path.c_str(), nullptr), std::free);
  return resolved ? resolved.get() : std::string();
}

bool isBelow(const std::string &path, const std::string &root) {
  return !root.empty() && path.size() > root.size() && path.starts_with(root) &&
         (root.back() == '/' || path[root.size()] == '/');
}

/// Why `location` must not be opened, or nothing.
std::optional<std::string> objection(const std::string &location) {
  std::filesystem::path path(location);
  if (location.empty() || location.find('\0') != std::string::npos)
    return "it is empty or has a zero byte";
  if (path.is_absolute())
    return "it is absolute";
  for (const auto &part : path)
    if (part == "..")
      return "it climbs out with '..'";
  return std::nullopt;
}

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0)
      ::close(value);
  }
};

} // namespace

ExternalData::ExternalData(std::string folder, std::string alsoAllowed) : folder(std::move(folder)) {
  roots.push_back(realPath(this->folder));
  if (!alsoAllowed.empty())
    roots.push_back(realPath(alsoAllowed));
}

bool ExternalData::exists(const std::string &location) const {
  return !objection(location) && ::access((std::filesystem::path(folder) / location).c_str(), F_OK) == 0;
}

Expected<MappedFile> ExternalData::open(const std::string &location) {
  if (auto found = opened.find(location); found != opened.end())
    return found->second;
  if (auto why = objection(location))
    return Status(Code::Malformed,
                  fmt::format("the external data file '{}' must be a relative path inside the model's folder, but {}",
                              location, *why));
  std::string path = (std::filesystem::path(folder) / location).string();
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0)
    return Status(Code::Io,
                  fmt::format("cannot open the external data file '{}': {} (--random-weights invents weights)", path,
                              std::strerror(errno)));
  struct stat facts;
  if (fstat(file.value, &facts) != 0 || !S_ISREG(facts.st_mode))
    return Status(Code::Malformed, fmt::format("the external data file '{}' is not a regular file", path));
  std::string real = realPath(fmt::format("/proc/self/fd/{}", file.value));
  if (std::ranges::none_of(roots, [&](const std::string &root) { return isBelow(real, root); }))
    return Status(Code::Malformed,
                  fmt::format("the external data file '{}' leads to '{}', outside the model's folder", location, real));
  if (facts.st_nlink > 1)
    warnings_.push_back(fmt::format("the external data file '{}' has {} names (hard links)", path,
                                    static_cast<uint64_t>(facts.st_nlink)));
  Expected<MappedFile> mapped = MappedFile::map(file.value, path);
  if (mapped)
    opened.emplace(location, *mapped);
  return mapped;
}

} // namespace tilewright
