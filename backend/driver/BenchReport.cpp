// Puts the measurements of `bench` into tables and JSON.
#include "backend/driver/BenchReport.h"

#include "backend/driver/Json.h"
#include "backend/driver/Table.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace tilewright {

static runtime::GroupId groupOf(const runtime::Step &step) {
  return std::visit(
      [](const auto &s) -> runtime::GroupId {
        if constexpr (requires { s.group; })
          return s.group;
        else
          return runtime::none;
      },
      step);
}

/// The value of an optional expression at the bound sizes; 0 where there is none.
static double valueOf(const runtime::Context &context, runtime::ExprId id) {
  if (id == runtime::none)
    return 0;
  Expected<int64_t> value = context.sizes().get(id);
  return value ? static_cast<double>(*value) : 0;
}

BenchSide countSide(const runtime::Context &context, Latency latency) {
  const runtime::Plan &plan = context.program().plan();
  BenchSide side;
  side.mode = plan.mode;
  side.latency = latency;
  for (const runtime::Step &step : plan.steps) {
    side.kernels += std::holds_alternative<runtime::Launch>(step);
    side.hostCalls += std::holds_alternative<runtime::HostCall>(step);
    if (runtime::GroupId group = groupOf(step); group != runtime::none)
      side.bytes += valueOf(context, plan.groups[group].bytesMoved);
  }
  return side;
}

/// "name|OpType" as in the plan, shown as the name, or the type where the model leaves nodes unnamed.
static std::string memberName(const std::string &member) {
  size_t bar = member.rfind('|');
  return bar == std::string::npos ? member : bar == 0 ? member.substr(1) : member.substr(0, bar);
}

static std::vector<std::string> memberNames(const runtime::Group &group) {
  std::vector<std::string> names;
  for (const std::string &member : group.members)
    names.push_back(memberName(member));
  return names;
}

std::vector<StepRow> stepRows(const runtime::Context &context, const std::vector<double> &milliseconds) {
  const runtime::Plan &plan = context.program().plan();
  std::vector<StepRow> rows;
  double start = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    StepRow row;
    row.startMs = start;
    row.ms = milliseconds[i];
    start += row.ms;
    if (runtime::GroupId id = groupOf(plan.steps[i]); id != runtime::none) {
      const runtime::Group &group = plan.groups[id];
      row.name = group.name;
      row.members = memberNames(group);
      row.bytes = valueOf(context, group.bytesMoved);
      row.flops = valueOf(context, group.flops);
    } else if (std::holds_alternative<runtime::Guard>(plan.steps[i])) {
      continue; // checked before the run
    } else {
      row.name = std::holds_alternative<runtime::Copy>(plan.steps[i]) ? "copy" : "write sizes";
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

static std::vector<ProductSize> productsOf(const runtime::Context &context, const runtime::Group &group) {
  std::vector<ProductSize> sizes;
  auto size = [&](runtime::ExprId id) { return static_cast<int64_t>(valueOf(context, id)); };
  for (const runtime::Product &product : group.products)
    sizes.push_back({size(product.batch), size(product.m), size(product.n), size(product.k), product.type});
  return sizes;
}

std::vector<GroupRow> groupRows(const runtime::Context &fused, const std::vector<double> &fusedSteps, const runtime::Context &unfused,
                                const std::vector<double> &unfusedSteps, const Peaks &peaks) {
  const runtime::Plan &plan = fused.program().plan(), &parts = unfused.program().plan();
  // A fused group's parts are the unfused steps all of whose nodes it holds; a node that several groups hold counts for the first.
  std::vector<bool> taken(parts.steps.size(), false);
  std::vector<GroupRow> rows;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    runtime::GroupId id = groupOf(plan.steps[i]);
    if (id == runtime::none)
      continue;
    const runtime::Group &group = plan.groups[id];
    GroupRow row;
    row.name = group.name;
    std::set<std::string> members(group.members.begin(), group.members.end());
    row.members = memberNames(group);
    row.products = productsOf(fused, group);
    row.fusedMs = fusedSteps[i];
    for (size_t j = 0; j < parts.steps.size(); ++j) {
      runtime::GroupId part = groupOf(parts.steps[j]);
      if (part == runtime::none || taken[j])
        continue;
      const auto &nodes = parts.groups[part].members;
      if (nodes.empty() || !std::all_of(nodes.begin(), nodes.end(), [&](const std::string &node) { return members.count(node); }))
        continue;
      taken[j] = true;
      row.unfusedMs += unfusedSteps[j];
    }
    row.bytes = valueOf(fused, group.bytesMoved);
    row.flops = valueOf(fused, group.flops);
    bool half = std::ranges::any_of(row.products, [](const ProductSize &size) { return elementBytes(size.type) == 2; });
    Roof roof = roofOf(peaks, row.bytes, row.flops, half);
    row.roof = roof.name;
    row.roofShare = row.fusedMs > 0 ? roof.milliseconds / row.fusedMs : 0;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string bytesText(double bytes) {
  return bytes >= 1e9   ? fmt::format("{:.2f} GB", bytes / 1e9)
         : bytes >= 1e6 ? fmt::format("{:.2f} MB", bytes / 1e6)
                        : fmt::format("{:.1f} kB", bytes / 1e3);
}

std::string membersText(const std::vector<std::string> &members) {
  std::string text = fmt::format("{}", fmt::join(members, " "));
  return text.size() <= 60 || members.empty() ? text : fmt::format("{} .. {} ({} nodes)", members.front(), members.back(), members.size());
}

static std::string sidesTable(const BenchReport &report) {
  Table table({"", "fused", "unfused", "unfused / fused"});
  auto add = [&](const char *what, const char *format, double fused, double unfused) {
    table.add({what, fmt::format(fmt::runtime(format), fused), fmt::format(fmt::runtime(format), unfused),
               fused > 0 ? fmt::format("{:.2f}", unfused / fused) : "-"});
  };
  add("median latency, ms", "{:.3f}", report.fused.latency.medianMs, report.unfused.latency.medianMs);
  add("p99 latency, ms", "{:.3f}", report.fused.latency.p99Ms, report.unfused.latency.p99Ms);
  add("kernels", "{:.0f}", report.fused.kernels, report.unfused.kernels);
  if (report.fused.hostCalls + report.unfused.hostCalls > 0)
    add("nodes run by the reference", "{:.0f}", report.fused.hostCalls, report.unfused.hostCalls);
  table.add({"moved through memory", bytesText(report.fused.bytes), bytesText(report.unfused.bytes),
             report.fused.bytes > 0 ? fmt::format("{:.2f}", report.unfused.bytes / report.fused.bytes) : "-"});
  return table.print();
}

static std::string groupsTable(const BenchReport &report) {
  bool vendor = !report.vendor.empty();
  std::vector<std::string> header = {"group", "ms", "parts unfused, ms", "GFLOP/s", "GB/s", "of roof", "roof", "nodes"};
  if (vendor)
    header.insert(header.begin() + 3, "vendor, ms");
  Table table(header);
  for (const GroupRow &row : report.groups) {
    std::vector<std::string> cells = {row.name, fmt::format("{:.4f}", row.fusedMs), fmt::format("{:.4f}", row.unfusedMs),
                                      fmt::format("{:.1f}", row.flops / row.fusedMs / 1e6), fmt::format("{:.1f}", row.bytes / row.fusedMs / 1e6),
                                      fmt::format("{:.0f} %", 100 * row.roofShare), row.roof, membersText(row.members)};
    if (vendor)
      cells.insert(cells.begin() + 3, row.vendorMs ? fmt::format("{:.4f}", *row.vendorMs) : "-");
    table.add(cells);
  }
  return table.print();
}

std::vector<std::pair<std::string, std::string>> roofFacts(const Peaks &peaks) {
  auto rate = [](double value, const char *unit) { return fmt::format("{:.1f} {}/s", value / 1e9, unit); };
  std::vector<std::pair<std::string, std::string>> facts = {{"copied (measured now)", rate(peaks.bytesPerSecond, "GB")}};
  for (const Peaks::Cache &cache : peaks.caches)
    facts.emplace_back(fmt::format("read from {} (measured now)", bytesText(cache.bytes)), rate(cache.bytesPerSecond, "GB"));
  const char *source = peaks.halfFlopsPerSecond > 0 ? "data sheet" : "measured now";
  if (peaks.flopsPerSecond > 0)
    facts.emplace_back(fmt::format("multiplied and added in float32 ({})", source), rate(peaks.flopsPerSecond, "GFLOP"));
  if (peaks.halfFlopsPerSecond > 0)
    facts.emplace_back(fmt::format("in half types ({})", source), rate(peaks.halfFlopsPerSecond, "GFLOP"));
  return facts;
}

std::string printReport(const BenchReport &report, bool perKernel) {
  std::string text = fmt::format("{} on {} ({}), {} interleaved runs each\n\n{}\n", report.model, report.device, report.target,
                                 report.fused.latency.runs, sidesTable(report));
  text +=
      fmt::format("largest difference of the outputs {:.3g}{}\n", report.largestDifference, report.agree ? "" : ": beyond the tolerance");
  if (!perKernel)
    return text;
  text += "\nroof: ";
  for (const auto &[what, rate] : roofFacts(report.peaks))
    text += fmt::format("{}{} {}", text.ends_with(": ") ? "" : ",\n      ", rate, what);
  text += "\n";
  text += report.vendor.empty() ? report.vendorAbsent : "vendor: the matrix products of each group alone, by " + report.vendor;
  return text + "\n\n" + groupsTable(report);
}

static nlohmann::json jsonSide(const BenchSide &side) {
  return {{"mode", side.mode},       {"median_ms", side.latency.medianMs}, {"p99_ms", side.latency.p99Ms}, {"fastest_ms", side.latency.fastestMs}, {"runs", side.latency.runs},
          {"kernels", side.kernels}, {"host_calls", side.hostCalls},       {"bytes", side.bytes}};
}

nlohmann::json jsonReport(const BenchReport &report) {
  nlohmann::json json = {{"schema", schemaVersion},
                         {"model", report.model},
                         {"device", report.device},
                         {"target", report.target},
                         {"fused", jsonSide(report.fused)},
                         {"unfused", jsonSide(report.unfused)},
                         {"largest_difference", report.largestDifference},
                         {"agree", report.agree},
                         {"vendor", report.vendor.empty() ? nlohmann::json(nullptr) : nlohmann::json(report.vendor)},
                         {"machine", std::map<std::string, std::string>(report.machine.begin(), report.machine.end())},
                         {"peaks", {{"bytes_per_second", report.peaks.bytesPerSecond}, {"flops_per_second", report.peaks.flopsPerSecond}}},
                         {"groups", nlohmann::json::array()}};
  for (const GroupRow &row : report.groups)
    json["groups"].push_back({{"name", row.name},
                              {"members", row.members},
                              {"fused_ms", row.fusedMs},
                              {"unfused_ms", row.unfusedMs},
                              {"bytes", row.bytes},
                              {"flops", row.flops},
                              {"roof", row.roof},
                              {"vendor_ms", row.vendorMs ? nlohmann::json(*row.vendorMs) : nlohmann::json(nullptr)},
                              {"roof_share", row.roofShare}});
  return json;
}

} // namespace tilewright
