// SPDX-License-Identifier: Apache-2.0
// The schemas of all operators: numbers of inputs and outputs, their types, and attributes.
//
// A node that violates its schema is refused before any handler or reference kernel sees it, so these may rely on it.
#pragma once

#include "frontend/builder/NodeBuilder.h"

#include "onnx/onnx.pb.h"

#include <cstdint>
#include <limits>
#include <string_view>

namespace tilewright {

/// One version of one operator.
///  * `inputs` has a word for each formal input: a letter for its type variable (inputs with the same letter have the
///    same type; '-' for none), the number of its set of types in `typeSets`, and '+' if it may be repeated.
///  * `attributes` has a word for each attribute: name=KIND, with '!' if it is required. Kinds are i, f, s, t, g, p, y
///    (int, float, string, tensor, graph, sparse tensor, type), in capitals for lists.
struct OpSchema {
  std::string_view domain, op;
  int64_t since;
  int32_t leastInputs, mostInputs, leastOutputs, mostOutputs;
  std::string_view inputs, attributes;
};

/// The schema at `opset`; null if the operator is not in the table.
const OpSchema *findSchema(std::string_view domain, std::string_view op, int64_t opset);

/// Malformed if the node violates its schema. `proto` is the same node in the model.
void checkSchema(const onnx::NodeProto &proto, const NodeBuilder::Node &node);

} // namespace tilewright
