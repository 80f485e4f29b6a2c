// SPDX-License-Identifier: Apache-2.0
// Writing an artifact: the compiler's side of Format.h.
#pragma once

#include "runtime/plan/Plan.h"

#include <filesystem>
#include <map>
#include <vector>

namespace tilewright::runtime {

/// Collects constants, one entry for equal bytes. Keeps no copy: the bytes must stay until the artifact is written.
class ConstantPool {
public:
  explicit ConstantPool(std::vector<std::span<const std::byte>> &constants) : constants_(constants) {}

  /// The id of the entry, for Value::source.
  uint32_t add(std::span<const std::byte> bytes);

private:
  std::vector<std::span<const std::byte>> &constants_;
  std::multimap<uint64_t, uint32_t> byHash_;
};

/// Writes `contents` to `path`, through a temporary file beside it that replaces `path` once it is complete; a failure
/// leaves nothing behind. The same contents give the same bytes. Fails with Code::Internal if a plan breaks a rule of
/// PlanVerifier.h, Code::Io otherwise.
Status writeArtifact(const Contents &contents, const std::filesystem::path &path);

/// The same bytes in memory.
Expected<std::vector<std::byte>> serializeArtifact(const Contents &contents);

} // namespace tilewright::runtime
