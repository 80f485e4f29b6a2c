// Comparing a compiled model node by node: every value that a kernel leaves in memory against what it should be.
//
//   x ── Mul ── Add ── Relu ──> r ── MatMul ── Bias ──> y
//   └─────── group ────────┘        └──── group ────┘
//
// r and y are in memory. The values between are in registers and cannot be looked at.
#pragma once

#include "tools/tilewright/model/EvaluateModel.h"
#include "tools/tilewright/values/Compare.h"

namespace tilewright {

struct NodeRow {
  std::string node, op, value;
  Comparison result;
};

/// The values that pass from a kernel of `plan` to another one or to an output, in the order of their nodes.
std::vector<std::string> materializedValues(const OnnxModel &model, const runtime::Plan &plan);

/// `given` where the command line has one; else by type, and for values inside of `model` innerTolerance.
Tolerance toleranceAt(const OnnxModel &model, const std::string &value, DType type,
                      const std::optional<Tolerance> &given);

/// Compiles `model` with each materialized value as an output besides, and compares those that `expected` has. A value
/// that becomes an output is stored in ONNX's layout too; nothing else about the kernels changes.
Expected<std::vector<NodeRow>> checkNodes(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &inputs,
                                          const ValueMap &expected, const std::optional<Tolerance> &tolerance);

} // namespace tilewright
