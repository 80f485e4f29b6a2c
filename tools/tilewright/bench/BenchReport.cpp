// SPDX-License-Identifier: Apache-2.0
// Puts the measurements of `bench` into tables and JSON.
#include "tools/tilewright/bench/BenchReport.h"

#include "tools/tilewright/Json.h"
#include "tools/tilewright/Table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
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

BenchSide countSide(const runtime::Context &context, Latency latency,
                    const std::vector<runtime::StepProfile> &profile) {
  runtime::Work all;
  for (const runtime::StepProfile &step : profile)
    all += step.work;
  return {context.program().plan().mode, latency, all.launches, all.hostCalls, all.bytes};
}

/// Shows a member "name|OpType" of a plan as its name, or as its type if the node has no name.
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

/// Is this a kernel that was not launched, because it is for other sizes or its tensors are empty?
static bool isIdle(const runtime::Step &step, const runtime::StepProfile &profile) {
  return std::holds_alternative<runtime::Launch>(step) && profile.work.launches == 0;
}

std::vector<StepRow> stepRows(const runtime::Context &context, const std::vector<runtime::StepProfile> &profile) {
  const runtime::Plan &plan = context.program().plan();
  std::vector<StepRow> rows;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    StepRow row;
    row.startMs = profile[i].beginMs, row.ms = profile[i].ms;
    row.bytes = profile[i].work.bytes, row.flops = profile[i].work.flops;
    if (runtime::GroupId id = groupOf(plan.steps[i]); id != runtime::none) {
      if (isIdle(plan.steps[i], profile[i]))
        continue;
      row.name = plan.groups[id].name;
      row.members = memberNames(plan.groups[id]);
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

std::vector<GroupRow> groupRows(const runtime::Context &fused, const std::vector<runtime::StepProfile> &fusedSteps,
                                const runtime::Context &unfused, const std::vector<runtime::StepProfile> &unfusedSteps,
                                const Peaks &peaks) {
  const runtime::Plan &plan = fused.program().plan(), &parts = unfused.program().plan();
  // The parts of a fused group are the unfused steps whose nodes all belong to it. A node of several groups counts for
  // the first.
  std::vector<bool> taken(parts.steps.size(), false);
  std::vector<GroupRow> rows;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    runtime::GroupId id = groupOf(plan.steps[i]);
    if (id == runtime::none || isIdle(plan.steps[i], fusedSteps[i]))
      continue;
    const runtime::Group &group = plan.groups[id];
    GroupRow row;
    row.name = group.name;
    std::set<std::string> members(group.members.begin(), group.members.end());
    row.members = memberNames(group);
    row.products = productsOf(fused, group);
    if (const auto *launch = std::get_if<runtime::Launch>(&plan.steps[i]))
      row.kernel = plan.kernels[launch->kernel].name, row.form = plan.kernels[launch->kernel].form;
    row.fusedMs = fusedSteps[i].ms;
    for (size_t j = 0; j < parts.steps.size(); ++j) {
      runtime::GroupId part = groupOf(parts.steps[j]);
      if (part == runtime::none || taken[j])
        continue;
      const auto &nodes = parts.groups[part].members;
      if (nodes.empty() ||
          !std::all_of(nodes.begin(), nodes.end(), [&](const std::string &node) { return members.count(node); }))
        continue;
      taken[j] = true;
      row.unfusedMs += unfusedSteps[j].ms;
    }
    row.bytes = fusedSteps[i].work.bytes;
    row.flops = fusedSteps[i].work.flops;
    size_t narrowest = sizeof(float);
    for (const ProductSize &size : row.products)
      narrowest = std::min<size_t>(narrowest, elementBytes(size.type));
    // In a loop, per launch: data that one iteration leaves in a cache is there for the next.
    double launches = std::max<double>(1, fusedSteps[i].work.launches);
    Roof roof = roofOf(peaks, row.bytes / launches, row.flops / launches, narrowest);
    row.roof = roof.name;
    row.roofShare = row.fusedMs > 0 ? launches * roof.milliseconds / row.fusedMs : 0;
    rows.push_back(std::move(row));
  }
  double total = 0;
  for (const GroupRow &row : rows)
    total += row.fusedMs;
  for (GroupRow &row : rows)
    row.share = total > 0 ? row.fusedMs / total : 0;
  return rows;
}

Status addResources(const runtime::Context &fused, std::vector<GroupRow> &groups) {
  const runtime::Plan &plan = fused.program().plan();
  for (runtime::KernelId id = 0; id < plan.kernels.size(); ++id)
    for (GroupRow &row : groups)
      if (row.kernel == plan.kernels[id].name && !row.resources) {
        Expected<std::optional<runtime::KernelResources>> resources = fused.resources(id);
        TILEWRIGHT_TRY(resources);
        row.resources = *resources;
      }
  return {};
}

std::vector<std::string> spillsOf(const BenchReport &report) {
  std::vector<std::string> lines;
  for (const GroupRow &row : mergedRows(report.groups))
    if (row.resources && row.resources->spilledBytes > 0)
      lines.push_back(
          fmt::format("kernel '{}' keeps {} bytes a thread in memory because its {} registers do not suffice",
                      row.kernel, row.resources->spilledBytes, row.resources->registers));
  return lines;
}

/// Adds another launch of the same kernel to a row.
static void add(GroupRow &to, const GroupRow &row) {
  double roofMs = to.roofShare * to.fusedMs + row.roofShare * row.fusedMs;
  to.members.insert(to.members.end(), row.members.begin(), row.members.end());
  to.launches += row.launches, to.share += row.share;
  to.fusedMs += row.fusedMs, to.unfusedMs += row.unfusedMs;
  to.bytes += row.bytes, to.flops += row.flops;
  to.roofShare = to.fusedMs > 0 ? roofMs / to.fusedMs : 0;
  to.vendorMs = to.vendorMs && row.vendorMs ? std::optional(*to.vendorMs + *row.vendorMs) : std::nullopt;
}

std::vector<GroupRow> mergedRows(const std::vector<GroupRow> &groups) {
  std::vector<GroupRow> rows;
  for (const GroupRow &row : groups) {
    auto same = std::ranges::find_if(
        rows, [&](const GroupRow &other) { return !row.kernel.empty() && other.kernel == row.kernel; });
    if (same == rows.end())
      rows.push_back(row);
    else
      add(*same, row);
  }
  std::ranges::sort(rows, std::greater(), &GroupRow::fusedMs);
  return rows;
}

std::string millisecondsText(double value, int decimals) {
  bool small = value > 0 && value < std::pow(10, 2 - decimals);
  return fmt::format("{:.{}f}", value, small ? 2 - static_cast<int>(std::floor(std::log10(value))) : decimals);
}

std::string conclusion(const BenchReport &report) {
  double fused = report.fused.latency.medianMs, unfused = report.unfused.latency.medianMs;
  if (!report.agree)
    return "the outputs differ beyond the tolerance of their types: the times compare two different results";
  std::string ratio = fused <= 0 ? "" : fmt::format(", {:.2f} times as long", unfused / fused);
  return fmt::format("{} takes {} ms, {} {} ms{}", report.names[0], millisecondsText(fused), report.names[1],
                     millisecondsText(unfused), ratio);
}

std::string assumedText(const BenchReport &report) {
  if (report.assumed.empty())
    return "";
  return fmt::format("warning: nobody said how large {} {}, so {} taken to be 1: --dim {}=8 says it",
                     fmt::join(report.assumed, ", "), report.assumed.size() == 1 ? "is" : "are",
                     report.assumed.size() == 1 ? "it is" : "they are", report.assumed.front());
}

std::string bytesText(double bytes) {
  return bytes >= 1e9   ? fmt::format("{:.2f} GB", bytes / 1e9)
         : bytes >= 1e6 ? fmt::format("{:.2f} MB", bytes / 1e6)
                        : fmt::format("{:.1f} kB", bytes / 1e3);
}

std::string membersText(const std::vector<std::string> &members) {
  std::string text = fmt::format("{}", fmt::join(members, " "));
  return text.size() <= 60 || members.empty()
             ? text
             : fmt::format("{} .. {} ({} nodes)", members.front(), members.back(), members.size());
}

static std::string sidesTable(const BenchReport &report) {
  Table table({"", report.names[0], report.names[1], fmt::format("{} / {}", report.names[1], report.names[0])});
  auto add = [&](const char *what, const std::string &a, const std::string &b, double fused, double unfused) {
    table.add({what, a, b, fused > 0 ? fmt::format("{:.2f}", unfused / fused) : "-"});
  };
  auto times = [&](const char *what, double fused, double unfused) {
    add(what, millisecondsText(fused), millisecondsText(unfused), fused, unfused);
  };
  auto counts = [&](const char *what, size_t fused, size_t unfused) {
    add(what, std::to_string(fused), std::to_string(unfused), double(fused), double(unfused));
  };
  times("median latency, ms", report.fused.latency.medianMs, report.unfused.latency.medianMs);
  if (report.fused.latency.p99Ms && report.unfused.latency.p99Ms)
    times("p99 latency, ms", *report.fused.latency.p99Ms, *report.unfused.latency.p99Ms);
  counts("kernels", report.fused.kernels, report.unfused.kernels);
  if (report.fused.hostCalls + report.unfused.hostCalls > 0)
    counts("nodes run by the reference", report.fused.hostCalls, report.unfused.hostCalls);
  table.add({"moved through memory", bytesText(report.fused.bytes), bytesText(report.unfused.bytes),
             report.fused.bytes > 0 ? fmt::format("{:.2f}", report.unfused.bytes / report.fused.bytes) : "-"});
  return table.print();
}

std::vector<std::string> groupTitles(const BenchReport &report) {
  return {"group",   "runs", "ms",   "share", "parts " + report.names[1] + ", ms", "vendor, ms", "GFLOP/s", "GB/s",
          "of roof", "roof", "form", "nodes"};
}

std::vector<std::string> groupCells(const GroupRow &row) {
  auto rate = [&](double amount) {
    return amount > 0 && row.fusedMs > 0 ? fmt::format("{:.1f}", amount / row.fusedMs / 1e6) : "-";
  };
  return {row.name,
          std::to_string(row.launches),
          millisecondsText(row.fusedMs, 4),
          fmt::format("{:.1f} %", 100 * row.share),
          millisecondsText(row.unfusedMs, 4),
          row.vendorMs ? millisecondsText(*row.vendorMs, 4) : "-",
          rate(row.flops),
          rate(row.bytes),
          fmt::format("{:.0f} %", 100 * row.roofShare),
          row.roof,
          row.form.empty() ? "-" : row.form,
          membersText(row.members)};
}

static std::string groupsTable(const BenchReport &report) {
  bool vendor = !report.vendor.empty();
  std::vector<std::string> header = groupTitles(report);
  if (!vendor)
    header.erase(header.begin() + vendorColumn);
  Table table(header);
  for (const GroupRow &row : mergedRows(report.groups)) {
    std::vector<std::string> cells = groupCells(row);
    if (!vendor)
      cells.erase(cells.begin() + vendorColumn);
    table.add(cells);
  }
  return table.print();
}

std::vector<std::pair<std::string, std::string>> describePeaks(const Peaks &peaks) {
  auto rate = [](double value, const char *unit) { return fmt::format("{:.1f} {}/s", value / 1e9, unit); };
  std::vector<std::pair<std::string, std::string>> facts = {
      {"copied (measured now)", rate(peaks.bytesPerSecond, "GB")}};
  for (const Peaks::Cache &cache : peaks.caches)
    facts.emplace_back(fmt::format("read from {} (measured now)", bytesText(cache.bytes)),
                       rate(cache.bytesPerSecond, "GB"));
  const char *source = peaks.halfFlopsPerSecond > 0 ? "data sheet" : "measured now";
  if (peaks.flopsPerSecond > 0)
    facts.emplace_back(fmt::format("multiplied and added in float32 ({})", source),
                       rate(peaks.flopsPerSecond, "GFLOP"));
  if (peaks.halfFlopsPerSecond > 0)
    facts.emplace_back(fmt::format("in half types ({})", source), rate(peaks.halfFlopsPerSecond, "GFLOP"));
  if (peaks.byteFlopsPerSecond > 0)
    facts.emplace_back(fmt::format("in bytes ({})", source), rate(peaks.byteFlopsPerSecond, "GOP"));
  return facts;
}

/// The inputs; of many, the first few.
static std::string inputsText(const BenchReport &report) {
  constexpr size_t most = 8;
  size_t shown = std::min(most, report.inputs.size());
  std::string text = fmt::format(
      "of {}", fmt::join(report.inputs.begin(), report.inputs.begin() + static_cast<ptrdiff_t>(shown), ", "));
  return report.inputs.empty()           ? "without inputs"
         : shown == report.inputs.size() ? text
                                         : fmt::format("{} and {} more", text, report.inputs.size() - shown);
}

std::string printReport(const BenchReport &report, bool perKernel) {
  std::string text = fmt::format("{}\n{} on {} ({}), {} interleaved runs each, {}\n", conclusion(report), report.model,
                                 report.device, report.target, report.fused.latency.runs, inputsText(report));
  if (std::string assumed = assumedText(report); !assumed.empty())
    text += assumed + "\n";
  text += "\n" + sidesTable(report) + "\n";
  text += fmt::format("largest difference of the outputs {:.3g}{}\n", report.largestDifference,
                      report.agree ? "" : ": beyond the tolerance");
  if (!perKernel)
    return text;
  text += "\nroof: ";
  for (const auto &[what, rate] : describePeaks(report.peaks))
    text += fmt::format("{}{} {}", text.ends_with(": ") ? "" : ",\n      ", rate, what);
  text += "\n";
  text += report.vendor.empty() ? report.vendorAbsent
                                : "vendor: the matrix products of each group alone, by " + report.vendor;
  text += "\n\n" + groupsTable(report);
  for (const std::string &line : spillsOf(report))
    text += "warning: " + line + "\n";
  return text;
}

static nlohmann::json orNull(const std::optional<double> &value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

static nlohmann::json jsonSide(const BenchSide &side) {
  return {{"mode", side.mode},
          {"median_ms", side.latency.medianMs},
          {"p99_ms", orNull(side.latency.p99Ms)},
          {"fastest_ms", side.latency.fastestMs},
          {"runs", side.latency.runs},
          {"kernels", side.kernels},
          {"host_calls", side.hostCalls},
          {"bytes", side.bytes}};
}

/// Null if they were not measured (--no-groups).
static nlohmann::json jsonPeaks(const Peaks &peaks) {
  if (peaks.bytesPerSecond == 0)
    return nullptr;
  return {{"bytes_per_second", peaks.bytesPerSecond}, {"flops_per_second", peaks.flopsPerSecond}};
}

nlohmann::json jsonReport(const BenchReport &report) {
  nlohmann::json json = {{"schema", jsonSchema},
                         {"model", report.model},
                         {"device", report.device},
                         {"target", report.target},
                         {"inputs", report.inputs},
                         {"sizes_assumed_1", report.assumed},
                         {report.names[0], jsonSide(report.fused)},
                         {report.names[1], jsonSide(report.unfused)},
                         {"largest_difference", report.largestDifference},
                         {"agree", report.agree},
                         {"vendor", report.vendor.empty() ? nlohmann::json(nullptr) : nlohmann::json(report.vendor)},
                         {"machine", std::map<std::string, std::string>(report.machine.begin(), report.machine.end())},
                         {"peaks", jsonPeaks(report.peaks)},
                         {"groups", nlohmann::json::array()}};
  for (const GroupRow &row : report.groups) {
    const auto &taken = row.resources;
    json["groups"].push_back(
        {{"name", row.name},
         {"kernel", row.kernel},
         {"form", row.form},
         {"share", row.share},
         {"members", row.members},
         {report.names[0] + "_ms", row.fusedMs},
         {report.names[1] + "_ms", row.unfusedMs},
         {"bytes", row.bytes},
         {"flops", row.flops},
         {"roof", row.roof},
         {"vendor_ms", orNull(row.vendorMs)},
         {"roof_share", row.roofShare},
         {"registers", taken ? nlohmann::json(taken->registers) : nlohmann::json(nullptr)},
         {"spilled_bytes", taken ? nlohmann::json(taken->spilledBytes) : nlohmann::json(nullptr)}});
  }
  return json;
}

} // namespace tilewright
