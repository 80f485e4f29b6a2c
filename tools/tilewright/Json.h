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

/// JSON that may be on one line, with an indent of two and a line end. As it is if it is no JSON, or nested so deep
/// that printing it, which recurses, could run out of stack: the report of an artifact may hold anything.
inline std::string indented(std::string_view text) {
  constexpr int deepest = 64;
  bool isDeep = false;
  auto isShallow = [&](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json &) {
    isDeep |= depth > deepest;
    return !isDeep;
  };
  auto json = nlohmann::ordered_json::parse(text, isShallow, /*allow_exceptions=*/false);
  return json.is_discarded() || isDeep ? std::string(text) : toText(json, 2) + "\n";
}

} // namespace tilewright
