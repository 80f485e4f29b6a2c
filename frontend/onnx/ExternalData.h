// SPDX-License-Identifier: Apache-2.0
// Files of weights next to a model. No path in a model can reach outside of the model's folder.
#pragma once

#include "frontend/onnx/MappedFile.h"

#include <map>

namespace tilewright {

class ExternalData {
public:
  /// `folder` contains the model. If the model is a symbolic link, as in caches, `alsoAllowed` is the folder it points
  /// to.
  ExternalData(std::string folder, std::string alsoAllowed = "");

  /// Maps the file that `location` names. Io if there is none; Malformed if it is outside the folder or not a regular
  /// file.
  Expected<MappedFile> open(const std::string &location);
  /// Whether the file exists. --random-weights only replaces files that do not.
  bool exists(const std::string &location) const;
  /// Oddities that are allowed, for the report (hard links).
  const std::vector<std::string> &warnings() const { return warnings_; }

private:
  std::string folder;
  std::vector<std::string> roots; // real paths of the folders that files may be in
  std::map<std::string, MappedFile> opened;
  std::vector<std::string> warnings_;
};

} // namespace tilewright
