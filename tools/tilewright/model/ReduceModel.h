// Shrinks a model that gives wrong results to the fewest nodes that still do, as a folder to attach to a bug report.
//
//   DIR/model.onnx                                   the nodes that are left, weights inside
//   DIR/test_data_set_0/input_N.pb, output_N.pb      what goes in, and what should come out
//   DIR/group.mlir                                   how the compiler grouped them
//   DIR/README.txt                                   the difference, and the command that shows it
#pragma once

#include "tools/tilewright/model/EvaluateModel.h"
#include "tools/tilewright/values/Compare.h"

#include <filesystem>
#include <functional>

namespace tilewright {

/// The smallest subset of `nodes` for which `fails` holds and from which no node can be left out. (Zeller and
/// Hildebrandt's delta debugging: whole halves first, then ever smaller pieces.) `fails(nodes)` must hold.
std::vector<int> shrink(std::vector<int> nodes, const std::function<bool(const std::vector<int> &)> &fails);

struct Reduction {
  std::vector<int> nodes;
  size_t tried = 0;
  std::string difference; // a sentence about the first output that differs
};

/// `known` holds every value of the model, as it should be. Code::Differs where the part that is all of it does not
/// fail.
Expected<Reduction> reduceModel(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &known,
                                const std::optional<Tolerance> &tolerance);

/// Writes the folder. `command` is the line that reproduces the difference there.
Status writeReduction(const OnnxModel &model, const Evaluation &evaluation, const ValueMap &known,
                      const Reduction &reduction, const std::filesystem::path &folder, const std::string &command);

} // namespace tilewright
