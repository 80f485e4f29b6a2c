// How the command line writes JSON, and its version, which all of it carries as "schema": a number raised when a key is
// removed or changes its meaning.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilewright {

inline constexpr int schemaVersion = 1;

/// As text. Names come from models and need not be UTF-8, which JSON must be: what is not becomes U+FFFD. No indent is
/// one line.
template <typename Json> std::string toText(const Json &json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace tilewright
