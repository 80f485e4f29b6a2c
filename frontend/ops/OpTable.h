// SPDX-License-Identifier: Apache-2.0
// Every ONNX operator that is compiled, as rows.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright {

using Handler = void (*)(NodeBuilder &);

struct OpRow {
  std::string_view domain; // "" is ai.onnx
  std::string_view op;
  int64_t since; // first opset that the handler implements; valid until the next row of the same operator
  Handler handler;
};

/// The rows, ordered by domain, operator and opset.
std::span<const OpRow> opTable();

/// The handler of `op` at `opset`, or null.
Handler findHandler(std::string_view domain, std::string_view op, int64_t opset);

} // namespace tilewright
