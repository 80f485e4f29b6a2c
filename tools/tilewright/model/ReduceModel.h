// SPDX-License-Identifier: Apache-2.0
// Reduces a model that gives wrong results to the fewest nodes that still do, as a folder for a bug report.
//
//   DIR/model.onnx                                   the nodes that are left, weights inside
//   DIR/test_data_set_0/input_N.pb, output_N.pb      inputs and correct outputs
//   DIR/group.mlir                                   how the compiler grouped them
//   DIR/README.txt                                   the difference, and the command that shows it
#pragma once

#include "tools/tilewright/model/EvaluateModel.h"
#include "tools/tilewright/values/Compare.h"

#include <filesystem>
#include <functional>

namespace tilewright {

/// A minimal subset of `nodes` for which `fails` holds: no single node can be removed. Zeller and Hildebrandt's delta
/// debugging: halves first, then ever smaller pieces. `fails(nodes)` must hold.
std::vector<int> shrink(std::vector<int> nodes, const std::function<bool(const std::vector<int> &)> &fails);

struct Reduction {
  std::vector<int> nodes;
  size_t tried = 0;
  std::string difference; // a sentence about the first output that differs
};

/// `known` has the correct value of every node. Code::Differs if the whole model as a part does not fail.
Expected<Reduction> reduceModel(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &known,
                                const std::optional<Tolerance> &tolerance);

/// Writes the folder. `command` is the line that reproduces the difference there.
Status writeReduction(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &known,
                      const Reduction &reduction, const std::filesystem::path &folder, const std::string &command);

} // namespace tilewright
