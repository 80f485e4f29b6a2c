// SPDX-License-Identifier: Apache-2.0
// Writes the report as HTML: the conclusion, fused and unfused side by side, a bar chart and the table of groups.
#include "tools/tilewright/bench/BenchHtml.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

// Widths are shares of the page only, and wide elements scroll on their own, so that the page works on a phone.
static constexpr std::string_view style = R"(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1b1f24; --faint: #667080; --rule: #d8dde3; --fused: #1f6feb; --unfused: #c9832b; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --ink: #e4e7ea; --faint: #98a2ae; --rule: #343a42; --fused: #6ea8fe; --unfused: #e0a75a; } }
body { background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 1rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin-bottom: .3rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
p, dt { color: var(--faint); } .conclusion { color: var(--ink); font-size: 1.2rem; margin: 0; } .warning { color: var(--unfused); }
dd { margin: 0 0 .4rem 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; } th:first-child, td:first-child { text-align: left; }
th { color: var(--faint); font-weight: 500; }
.group { margin: .5rem 0; } .bar { display: flex; align-items: center; gap: .4rem; font-size: .8rem; line-height: 1.1; }
.bar i { display: block; height: .7rem; flex-shrink: 1; } .bar span { color: var(--faint); white-space: nowrap; }
.fused { color: var(--fused); } i.fused { background: var(--fused); } .unfused { color: var(--unfused); } i.unfused { background: var(--unfused); }
)";

/// Escapes names, which come from models and must not end a tag or an attribute.
static std::string escape(std::string_view text) {
  std::string safe;
  for (char c : text)
    switch (c) {
    case '&':
      safe += "&amp;";
      break;
    case '<':
      safe += "&lt;";
      break;
    case '>':
      safe += "&gt;";
      break;
    case '"':
      safe += "&quot;";
      break;
    case '\'':
      safe += "&#39;";
      break;
    default:
      safe += c;
    }
  return safe;
}

static std::string cells(const std::string &tag, const std::vector<std::string> &texts) {
  std::string row = "<tr>";
  for (const std::string &text : texts)
    row += fmt::format("<{0}>{1}</{0}>", tag, escape(text));
  return row + "</tr>\n";
}

static std::string ratio(double unfused, double fused) {
  return fused > 0 ? fmt::format("{:.2f}", unfused / fused) : "-";
}

static std::string sidesTable(const BenchReport &report) {
  const BenchSide &fused = report.fused, &unfused = report.unfused;
  std::string table = "<div class=\"wide\"><table>\n" +
                      cells("th", {"", report.names[0], report.names[1], report.names[1] + " / " + report.names[0]});
  auto times = [&](const char *what, double a, double b) {
    table += cells("td", {what, millisecondsText(a), millisecondsText(b), ratio(b, a)});
  };
  times("median latency, ms", fused.latency.medianMs, unfused.latency.medianMs);
  if (fused.latency.p99Ms && unfused.latency.p99Ms)
    times("p99 latency, ms", *fused.latency.p99Ms, *unfused.latency.p99Ms);
  table += cells("td", {"kernels", std::to_string(fused.kernels), std::to_string(unfused.kernels),
                        ratio(unfused.kernels, fused.kernels)});
  if (fused.hostCalls + unfused.hostCalls > 0)
    table += cells(
        "td", {"nodes run by the reference", std::to_string(fused.hostCalls), std::to_string(unfused.hostCalls), ""});
  table += cells("td", {"moved through memory", bytesText(fused.bytes), bytesText(unfused.bytes),
                        ratio(unfused.bytes, fused.bytes)});
  return table + "</table></div>\n";
}

/// Two bars for each row, proportional to their times. The longest takes 70 % of the width, which leaves room for its
/// number.
static std::string chart(const std::vector<GroupRow> &rows) {
  double longest = 0;
  for (const GroupRow &row : rows)
    longest = std::max({longest, row.fusedMs, row.unfusedMs});
  std::string bars;
  for (const GroupRow &row : rows) {
    std::string times = row.launches > 1 ? fmt::format(" &times; {}", row.launches) : "";
    bars += fmt::format("<div class=\"group\" title=\"{}\">{}{}\n",
                        escape(fmt::format("{}", fmt::join(row.members, " "))), escape(row.name), times);
    for (auto [kind, ms] : {std::pair("fused", row.fusedMs), {"unfused", row.unfusedMs}})
      bars += fmt::format("<div class=\"bar\"><i class=\"{}\" style=\"width: {:.2f}%\"></i><span>{}</span></div>\n",
                          kind, longest > 0 ? 70 * ms / longest : 0, millisecondsText(ms, 4));
    bars += "</div>\n";
  }
  return bars;
}

static std::string groupsTable(const BenchReport &report, const std::vector<GroupRow> &rows) {
  std::string table = "<div class=\"wide\"><table>\n" + cells("th", groupTitles(report));
  for (const GroupRow &row : rows)
    table += cells("td", groupCells(row));
  return table + "</table></div>\n";
}

static std::string facts(const BenchReport &report) {
  std::string list = "<dl>";
  auto add = [&](const std::string &name, const std::string &text) {
    list += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(text));
  };
  for (const auto &[name, text] : report.machine)
    add(name, text);
  for (const auto &[what, rate] : describePeaks(report.peaks))
    add(what, rate);
  return list + "</dl>\n";
}

std::string htmlReport(const BenchReport &report) {
  std::string title = escape(fmt::format("{} on {}", report.model, report.device));
  std::string page = fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                                 "<title>{}</title><style>{}</style></head><body>\n<h1>{}</h1>\n",
                                 title, style, title);
  page += fmt::format("<p class=\"conclusion\">{}</p>\n", escape(conclusion(report)));
  if (!report.assumed.empty())
    page += fmt::format("<p class=\"warning\">{}</p>\n", escape(assumedText(report)));
  page += fmt::format(
      "<p>{} (--fuse={}) beside {}: {} interleaved runs each{}{}.</p>\n", report.names[0], escape(report.fused.mode),
      report.names[1] == "unfused" ? "unfused, one kernel for each node" : report.names[1], report.fused.latency.runs,
      report.inputs.empty() ? "" : " of ", escape(fmt::format("{}", fmt::join(report.inputs, ", "))));
  page += sidesTable(report);
  page += fmt::format("<p>Largest difference of the outputs {:.3g}{}.</p>\n", report.largestDifference,
                      report.agree ? "" : ", beyond the tolerance");
  if (!report.groups.empty()) {
    std::vector<GroupRow> rows = mergedRows(report.groups);
    page += fmt::format("<h2>Groups: milliseconds <span class=\"fused\">{}</span> and <span "
                        "class=\"unfused\">{}</span></h2>\n",
                        report.names[0], report.names[1]) +
            chart(rows) + groupsTable(report, rows);
    page += "<p>" +
            escape(report.vendor.empty() ? report.vendorAbsent
                                         : "Vendor: the matrix products of each group alone, by " + report.vendor) +
            "</p>\n";
  }
  return page + "<h2>Machine</h2>\n" + facts(report) + "</body></html>\n";
}

} // namespace tilewright
