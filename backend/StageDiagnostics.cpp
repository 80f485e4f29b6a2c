// SPDX-License-Identifier: Apache-2.0
#include "backend/StageDiagnostics.h"

#include <fmt/format.h>

using namespace mlir;

namespace tilewright {

/// The ONNX node that a location came from.
static std::string nodeName(Location location) {
  std::string name;
  location->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner)) {
      name = named.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return name;
}

StageDiagnostics::StageDiagnostics(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !first.empty())
          return success();
        std::string node = nodeName(diagnostic.getLocation());
        first = node.empty() ? diagnostic.str() : fmt::format("node '{}': {}", node, diagnostic.str());
        return success();
      }) {}

Status StageDiagnostics::failure(Stage stage, const std::string &file) const {
  std::string why = first.empty() ? "it gave no reason" : first;
  return file.empty()
             ? Status(Code::Internal, fmt::format("{} failed, which is a bug of the compiler: {}", name(stage), why))
             : Status(Code::Malformed, fmt::format("{}: stage {} cannot take it: {}", file, name(stage), why));
}

} // namespace tilewright
