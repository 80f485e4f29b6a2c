// Files of weights beside a model, opened so that no path in the model can reach outside the model's folder.
#pragma once

#include "frontend/onnx/MappedFile.h"

#include <map>

namespace tilewright {

class ExternalData {
public:
  /// `folder` holds the model; `alsoAllowed` is where the model file itself lies if it is a symbolic link (caches link
  /// so).
  ExternalData(std::string folder, std::string alsoAllowed = "");

  /// Maps the file that `location` names. Io if there is none; Malformed if it is outside the folder or not a regular
  /// file.
  Expected<MappedFile> open(const std::string &location);
  /// Whether the file exists at all: what --random-weights replaces is only what is absent.
  bool exists(const std::string &location) const;
  /// What was odd but allowed, for the report (hard links).
  const std::vector<std::string> &warnings() const { return warnings_; }

private:
  std::string folder;
  std::vector<std::string> roots; // real paths that a file may resolve below
  std::map<std::string, MappedFile> opened;
  std::vector<std::string> warnings_;
};

} // namespace tilewright
