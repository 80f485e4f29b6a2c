// SPDX-License-Identifier: Apache-2.0
// The code that the plans of one artifact share.
#pragma once

#include "backend/CodeGenerators.h"
#include "backend/plan/PlanRequest.h"
#include "frontend/graph/Signature.h"
#include "tilegen/tile/TileOps.h"

#include <deque>
#include <map>

namespace tilewright {

/// Generates each distinct kernel of a target once. The plans of one model for different sizes have most of their
/// kernels in common, and so have a model and the bodies of its loops.
class CodeLibrary {
public:
  /// Adds code objects to `objects`, whose bytes the library owns.
  explicit CodeLibrary(std::vector<runtime::CodeObject> &objects) : objects(objects) {}

  /// Generates code for those kernels of `module` that are not equal to one of an earlier module. `request` is told
  /// where the code of each kernel is, and what that code requires of a processor.
  Status generate(mlir::ModuleOp module, const TargetDesc &target, const CodeOptions &options, PlanRequest &request);

private:
  using Key = std::pair<std::string_view, graph::Signature>; // target's name
  Status generateNew(mlir::ModuleOp module, const TargetDesc &target, const CodeOptions &options, PlanRequest &request,
                     const std::map<mlir::Operation *, Key> &keys);

  std::vector<runtime::CodeObject> &objects;
  std::deque<TargetCode> codes; // of objects, one each
  std::map<Key, KernelCode> known;
};

} // namespace tilewright
