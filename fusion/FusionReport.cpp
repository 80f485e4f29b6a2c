// SPDX-License-Identifier: Apache-2.0
// The fusion report as text and as JSON.
#include "fusion/FusionReport.h"

#include "runtime/JsonSchema.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace tilewright;
using namespace tilewright::fusion;

void FusionReport::append(FusionReport body) {
  if (launches.empty() && joins.empty()) {
    *this = std::move(body);
    return;
  }
  mode = body.mode;
  for (Edge &edge : body.edges) {
    edge.producer += launches.size(), edge.consumer += launches.size();
    edges.push_back(edge);
  }
  std::ranges::move(body.launches, std::back_inserter(launches));
  std::ranges::move(body.joins, std::back_inserter(joins));
}

std::string FusionReport::text() const {
  std::string out = fmt::format("fusion {}: {} launches\n", name(mode).str(), launches.size());
  std::vector<std::vector<const Edge *>> leaving(launches.size());
  for (const Edge &edge : edges)
    leaving[edge.producer].push_back(&edge);
  for (size_t i = 0; i < launches.size(); ++i) {
    const Launch &launch = launches[i];
    out += fmt::format("{:4} {} ({}): {}\n", i, launch.kernel, graph::stringifyRootKind(launch.kind).str(),
                       fmt::join(launch.nodes, ", "));
    if (!launch.keys.empty())
      out += fmt::format("       a row visits {}\n", launch.keys);
    for (const Edge *edge : leaving[i]) {
      bool split = edge->producerNode == edge->consumerNode; // an ONNX node is several operations
      std::string what = split ? fmt::format("{} is split between the two", edge->producerNode)
                               : fmt::format("{} is not fused with {}", edge->producerNode, edge->consumerNode);
      out += fmt::format("       {} -> {} {}: {} because {}\n", i, edge->consumer, launches[edge->consumer].kernel,
                         what, tilewright::fusion::text(edge->reason).sentence.str());
    }
  }
  for (const Products &join : joins)
    out += fmt::format("products of one left side {} {} because {}\n", fmt::join(join.nodes, ", "),
                       join.verdict == JoinVerdict::Joined ? "are joined" : "stay apart",
                       tilewright::fusion::text(join.verdict).sentence.str());
  return out;
}

std::string FusionReport::json(unsigned indent) const {
  std::string out;
  llvm::raw_string_ostream stream(out);
  llvm::json::OStream json(stream, indent);
  json.object([&] {
    json.attribute("schema", jsonSchema);
    json.attribute("mode", name(mode));
    json.attributeArray("launches", [&] {
      for (const Launch &launch : launches)
        json.object([&] {
          json.attribute("kernel", launch.kernel);
          json.attribute("root", graph::stringifyRootKind(launch.kind));
          json.attributeArray("nodes",
                              [&] { llvm::for_each(launch.nodes, [&](llvm::StringRef node) { json.value(node); }); });
          json.attributeArray("rules",
                              [&] { llvm::for_each(launch.rules, [&](llvm::StringRef rule) { json.value(rule); }); });
          if (!launch.keys.empty())
            json.attribute("keys", launch.keys);
        });
    });
    json.attributeArray("edges", [&] {
      for (const Edge &edge : edges)
        json.object([&] {
          json.attribute("from", static_cast<int64_t>(edge.producer));
          json.attribute("to", static_cast<int64_t>(edge.consumer));
          json.attribute("from_node", edge.producerNode);
          json.attribute("to_node", edge.consumerNode);
          json.attribute("reason", tilewright::fusion::text(edge.reason).name);
          json.attribute("because", tilewright::fusion::text(edge.reason).sentence);
        });
    });
    if (joins.empty())
      return;
    json.attributeArray("products", [&] {
      for (const Products &join : joins)
        json.object([&] {
          json.attributeArray("nodes",
                              [&] { llvm::for_each(join.nodes, [&](llvm::StringRef node) { json.value(node); }); });
          json.attribute("joined", join.verdict == JoinVerdict::Joined);
          json.attribute("reason", tilewright::fusion::text(join.verdict).name);
          json.attribute("because", tilewright::fusion::text(join.verdict).sentence);
        });
    });
  });
  return out;
}
