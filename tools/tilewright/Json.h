// SPDX-License-Identifier: Apache-2.0
// JSON output of the command line. All of it carries the version as "schema", which is raised when a key is removed or
// changes its meaning.
#pragma once

#include "runtime/JsonSchema.h"

#include <nlohmann/json.hpp>
#include <string>

namespace tilewright {

/// As text, on one line without an indent. Names from models may be invalid UTF-8, which becomes U+FFFD.
template <typename Json> std::string toText(const Json &json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// JSON that may be on one line, with an indent of two and a line end; as it is if it is no JSON.
inline std::string indented(std::string_view text) {
  auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? std::string(text) : toText(json, 2) + "\n";
}

} // namespace tilewright
