// SPDX-License-Identifier: Apache-2.0
// Compares a compiled model node by node: every value that a kernel leaves in memory.
//
//   x ── Mul ── Add ── Relu ──> r ── MatMul ── Bias ──> y
//   └─────── group ────────┘        └──── group ────┘
//
// r and y are in memory. The values between are in registers and cannot be compared.
#pragma once

#include "tools/tilewright/model/EvaluateModel.h"
#include "tools/tilewright/values/Compare.h"

namespace tilewright {

struct NodeRow {
  std::string node, op, value;
  Comparison result;
};

/// The values that a kernel of `plan` writes and another one or an output reads, in the order of their nodes.
std::vector<std::string> materializedValues(const OnnxModel &model, const runtime::Plan &plan);

/// `given` if the command line has one; else the default of the type, and innerTolerance for values inside of `model`.
Tolerance toleranceAt(const OnnxModel &model, const std::string &value, DType type,
                      const std::optional<Tolerance> &given);

/// Compiles `model` with its materialized values as additional outputs, and compares those that are in `expected`.
/// These are also stored in ONNX's layout; otherwise the kernels stay the same.
Expected<std::vector<NodeRow>> checkNodes(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &inputs,
                                          const ValueMap &expected, const std::optional<Tolerance> &tolerance);

} // namespace tilewright
