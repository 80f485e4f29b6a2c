// SPDX-License-Identifier: Apache-2.0
// What was fused, and why the rest was not: the data of --explain-fusion.
#pragma once

#include "fusion/FusionMode.h"
#include "fusion/Geometry.h"
#include "fusion/products/JoinVerdict.h"

#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace tilewright::fusion {

/// The names are owned by the module's MLIRContext or by constant tables, so a report must not outlive the context.
struct FusionReport {
  using Names = llvm::SmallVector<llvm::StringRef, 1>;

  /// A launch of `kernel`, or a host call, whose `kernel` is "host".
  struct Launch {
    llvm::StringRef kernel;
    RootKind kind;
    Names nodes;           // ONNX names
    Names rules;           // that formed it, as named in fusion/rules/RuleTable.cpp
    std::string keys = {}; // of an attention: which keys a row visits, at (d0, d1, ...) of the scores
  };
  /// A value that one launch or host call writes and another reads.
  struct Edge {
    size_t producer, consumer; // indices into launches
    llvm::StringRef producerNode, consumerNode;
    Reason reason;
  };

  /// Products that read the same left side.
  struct Products {
    Names nodes; // ONNX names
    JoinVerdict verdict;
  };

  FusionMode mode = FusionMode::All;
  std::vector<Launch> launches;
  std::vector<Edge> edges;
  std::vector<Products> joins;

  /// Adds the launches, edges and products of the body of a branch or loop.
  void append(FusionReport body);
  /// A paragraph for each launch: its ONNX nodes, and why it was not fused with the launches that read its results.
  /// Then a sentence for the products of each left side.
  std::string text() const;
  /// {"schema": 1, "mode": ..., "launches": [{"kernel", "root", "nodes", "rules", perhaps "keys"}],
  /// "edges": [{"from", "to", "reason", "because", ...}], "products": [{"nodes", "joined", "reason", "because"}]},
  /// without products where no left side has several; on one line unless `indent` asks for more
  std::string json(unsigned indent = 0) const;
};

} // namespace tilewright::fusion
