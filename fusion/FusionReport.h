// What fusion did and why not more: the data behind --explain-fusion.
#pragma once

#include "fusion/groups/FormGroups.h"
#include "fusion/Geometry.h"

#include <string>
#include <vector>

namespace tilewright::fusion {

struct FusionReport {
  /// One launch, or a host call, whose kernel is then "host".
  struct Launch {
    std::string kernel;
    RootKind kind;
    std::vector<std::string> nodes; // ONNX names
    std::vector<std::string> rules; // of fusion/rules/RuleTable.cpp, by which it grew
  };
  /// A value that one launch (or host call) writes and another reads.
  struct Edge {
    size_t producer, consumer; // indices into launches
    std::string producerNode, consumerNode;
    Reason reason;
  };

  FusionMode mode = FusionMode::All;
  std::vector<Launch> launches;
  std::vector<Edge> edges;

  /// Adds the launches and edges of a body.
  void append(FusionReport body);
  /// One paragraph a launch: what it holds, and why each of its readers is another one.
  std::string text() const;
  /// {"schema": 1, "mode": ..., "launches": [{"kernel", "root", "nodes", "rules"}], "edges": [{"from", "to", "reason",
  /// "because", ...}]}
  std::string json() const;
};

} // namespace tilewright::fusion
