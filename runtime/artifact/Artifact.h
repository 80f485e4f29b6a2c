// SPDX-License-Identifier: Apache-2.0
// Opening an artifact: all of it is verified before any of it is used.
#pragma once

#include "runtime/plan/Plan.h"

#include <filesystem>
#include <memory>

namespace tilewright::runtime {

/// A verified artifact in memory. Its contents point into the bytes, which live as long as any copy of this object.
class Artifact {
public:
  /// Maps the file. Code::Io if it cannot be read, Code::Malformed with one sentence if it is truncated, altered, of
  /// another version, or breaks a rule of PlanVerifier.h.
  static Expected<Artifact> open(const std::filesystem::path &path);
  /// Copies `bytes`; `name` stands for the file in messages.
  static Expected<Artifact> fromBytes(std::span<const std::byte> bytes, const std::string &name = "the artifact");
  /// Wraps contents that are in memory already. `owner` keeps alive the bytes that `contents` points to, where each
  /// constant starts at a multiple of 64 bytes.
  static Expected<Artifact> fromContents(Contents contents, std::shared_ptr<const void> owner);

  const Contents &contents() const { return *contents_; }
  const std::string &name() const { return name_; }

private:
  static Expected<Artifact> verify(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                   std::string name);

  std::string name_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const Contents> contents_;
};

} // namespace tilewright::runtime
