// What the specifications say of every operator: how many inputs and outputs, of which types, with which attributes.
//
// Handlers and reference kernels are formulas that may take this for granted: a node that breaks its schema is refused
// before either sees it, with one sentence, as ONNX Runtime refuses it.
#pragma once

#include "frontend/builder/NodeBuilder.h"

#include "onnx/onnx.pb.h"

#include <cstdint>
#include <limits>
#include <string_view>

namespace tilewright {

/// One version of one operator. `inputs` has a word for each formal input: a letter for its type variable ('-' for
/// none; inputs of one letter have one type), the number of its set of types in `typeSets`, and '+' where it may be
/// repeated. `attributes` has a word for each one: name=KIND, and '!' where it must be given; kinds are i, f, s, t, g,
/// p, y (int, float, string, tensor, graph, sparse tensor, type), in capitals for lists.
struct OpSchema {
  std::string_view domain, op;
  int64_t since;
  int32_t leastInputs, mostInputs, leastOutputs, mostOutputs;
  std::string_view inputs, attributes;
};

/// The schema that holds at `opset`, or null for an operator that the table does not know.
const OpSchema *findSchema(std::string_view domain, std::string_view op, int64_t opset);

/// Malformed if the node breaks its schema. `proto` is the same node as the model has it.
void checkSchema(const onnx::NodeProto &proto, const NodeBuilder::Node &node);

} // namespace tilewright
