// SPDX-License-Identifier: Apache-2.0
// A loop as the runtime executes it (runtime/plan/Plan.h): Loop, Scan and SequenceMap are brought into this form.
#pragma once

#include "frontend/import/controlflow/ImportBody.h"

namespace tilewright {

/// The operands of a loop, and what attempts to import its body have found out so far.
struct ModelImporter::LoopForm {
  const onnx::GraphProto *graph = nullptr;
  bool counted = false; // as in Loop: the body takes iteration number and condition, and returns a condition
  ImportedValue *trips = nullptr, *condition = nullptr;
  std::vector<ImportedValue *> initial, scanned;
  std::vector<bool> reverseScanned, reverseCollected;
  std::vector<int64_t> collectedAxes; // the axis of each collected result that the iterations are stacked along

  /// A value that each iteration hands to the next.
  struct Carried {
    bool isInvariant = false;          // the body returns it unchanged, so it is a captured value instead
    bool wrapsOptional = false;        // an optional value whose content the body returns, to be wrapped again
    llvm::SmallVector<bool> varies;    // by dimension: its size changes
    OnnxTypePtr element;               // of a sequence or an optional value
    ImportedValue *argument = nullptr; // in the body
  };
  std::vector<Carried> carried;
  bool assumesStableSizes = true; // sizes do not change until an attempt shows that they do
  bool conditional = false;       // the condition that the body returns is not always true
  bool changesRanks = false;      // an attempt ended because the body returns a value in another rank
  int64_t firstIteration = 0;     // the iteration number that the body takes first
  ImportedValue *conditionArgument = nullptr;

  /// The position of the first carried value among the body's outputs.
  size_t firstCarried() const { return counted ? 1 : 0; }
  void assumeAllSizesVary() {
    assumesStableSizes = false;
    for (Carried &value : carried)
      value.varies.assign(value.varies.size(), true), value.isInvariant = false;
  }
};

} // namespace tilewright
