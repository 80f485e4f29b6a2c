// The report as HTML: facts, fused beside unfused, a chart of the groups as inline SVG, the table of groups.
#include "backend/driver/BenchHtml.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

static constexpr std::string_view style = R"(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1b1f24; --faint: #667080; --rule: #d8dde3; --fused: #1f6feb; --unfused: #c9832b; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --ink: #e4e7ea; --faint: #98a2ae; --rule: #343a42; --fused: #6ea8fe; --unfused: #e0a75a; } }
body { background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
p, dt { color: var(--faint); } dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dd { margin: 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } .wide { overflow-x: auto; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--rule); text-align: right; } th:first-child, td:first-child, .text { text-align: left; }
th { color: var(--faint); font-weight: 500; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 11px; } svg .value { fill: var(--faint); }
.fused { fill: var(--fused); color: var(--fused); } .unfused { fill: var(--unfused); color: var(--unfused); }
)";

/// Names come from models, so that none of them may end a tag or an attribute.
static std::string escape(std::string_view text) {
  std::string safe;
  for (char c : text)
    switch (c) {
    case '&': safe += "&amp;"; break;
    case '<': safe += "&lt;"; break;
    case '>': safe += "&gt;"; break;
    case '"': safe += "&quot;"; break;
    case '\'': safe += "&#39;"; break;
    default: safe += c;
    }
  return safe;
}

static std::string cells(const std::string &tag, const std::vector<std::string> &texts) {
  std::string row = "<tr>";
  for (const std::string &text : texts)
    row += fmt::format("<{0}>{1}</{0}>", tag, escape(text));
  return row + "</tr>\n";
}

static std::string ratio(double unfused, double fused) { return fused > 0 ? fmt::format("{:.2f}", unfused / fused) : "-"; }

static std::string sidesTable(const BenchReport &report) {
  const BenchSide &fused = report.fused, &unfused = report.unfused;
  std::string table = "<table>\n" + cells("th", {"", "fused", "unfused", "unfused / fused"});
  auto times = [&](const char *what, double a, double b) {
    table += cells("td", {what, fmt::format("{:.3f}", a), fmt::format("{:.3f}", b), ratio(b, a)});
  };
  times("median latency, ms", fused.latency.medianMs, unfused.latency.medianMs);
  times("p99 latency, ms", fused.latency.p99Ms, unfused.latency.p99Ms);
  table += cells("td", {"kernels", std::to_string(fused.kernels), std::to_string(unfused.kernels), ratio(unfused.kernels, fused.kernels)});
  if (fused.hostCalls + unfused.hostCalls > 0)
    table += cells("td", {"nodes run by the reference", std::to_string(fused.hostCalls), std::to_string(unfused.hostCalls), ""});
  table += cells("td", {"moved through memory", bytesText(fused.bytes), bytesText(unfused.bytes), ratio(unfused.bytes, fused.bytes)});
  return table + "</table>\n";
}

/// Two bars for each group, as long as their times; the longest takes the chart's width.
static std::string chart(const BenchReport &report) {
  constexpr double labels = 260, bars = 640, values = 100, rowHeight = 30, barHeight = 11;
  double longest = 0;
  for (const GroupRow &row : report.groups)
    longest = std::max({longest, row.fusedMs, row.unfusedMs});
  double height = rowHeight * report.groups.size();
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"time of each group, fused and unfused\">\n",
                                labels + bars + values, height);
  for (size_t i = 0; i < report.groups.size(); ++i) {
    const GroupRow &row = report.groups[i];
    double y = rowHeight * i;
    svg += fmt::format("<g><title>{}</title><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                       escape(fmt::format("{}", fmt::join(row.members, " "))), labels - 8, y + 18,
                       escape(row.name.size() > 40 ? row.name.substr(0, 38) + ".." : row.name));
    for (auto [kind, ms, top] : {std::tuple("fused", row.fusedMs, y + 3), {"unfused", row.unfusedMs, y + 3 + barHeight + 1}}) {
      double length = longest > 0 ? ms / longest * bars : 0;
      svg += fmt::format(
          "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/><text class=\"value\" x=\"{:.2f}\" y=\"{}\">{:.4f}</text>",
          kind, labels, top, length, barHeight, labels + length + 5, top + 9.5, ms);
    }
    svg += "</g>\n";
  }
  return svg + "</svg>\n";
}

static std::string groupsTable(const BenchReport &report) {
  std::string table = "<div class=\"wide\"><table>\n" +
                      cells("th", {"group", "ms", "parts unfused, ms", "vendor, ms", "GFLOP/s", "GB/s", "of roof", "roof", "nodes"});
  for (const GroupRow &row : report.groups)
    table += cells("td", {row.name, fmt::format("{:.4f}", row.fusedMs), fmt::format("{:.4f}", row.unfusedMs),
                          row.vendorMs ? fmt::format("{:.4f}", *row.vendorMs) : "-", fmt::format("{:.1f}", row.flops / row.fusedMs / 1e6),
                          fmt::format("{:.1f}", row.bytes / row.fusedMs / 1e6), fmt::format("{:.0f} %", 100 * row.roofShare), row.roof,
                          membersText(row.members)});
  return table + "</table></div>\n";
}

static std::string facts(const BenchReport &report) {
  std::string list = "<dl>";
  auto add = [&](const std::string &name, const std::string &text) {
    list += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(text));
  };
  for (const auto &[name, text] : report.machine)
    add(name, text);
  for (const auto &[what, rate] : roofFacts(report.peaks))
    add(what, rate);
  return list + "</dl>\n";
}

std::string htmlReport(const BenchReport &report) {
  std::string title = escape(fmt::format("{} on {}", report.model, report.device));
  std::string page =
      fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                  "<title>{}</title><style>{}</style></head><body>\n<h1>{}</h1>\n",
                  title, style, title);
  page += fmt::format("<p>Fused (--fuse={}) beside unfused, one kernel for each node: {} interleaved runs each.</p>\n",
                      escape(report.fused.mode), report.fused.latency.runs);
  page += sidesTable(report);
  page += fmt::format("<p>Largest difference of the outputs {:.3g}{}.</p>\n", report.largestDifference,
                      report.agree ? "" : ", beyond the tolerance");
  if (!report.groups.empty()) {
    page += "<h2>Groups: milliseconds <span class=\"fused\">fused</span> and <span class=\"unfused\">unfused</span></h2>\n" +
            chart(report) + groupsTable(report);
    page += "<p>" +
            escape(report.vendor.empty() ? report.vendorAbsent : "Vendor: the matrix products of each group alone, by " + report.vendor) +
            "</p>\n";
  }
  return page + "<h2>Machine</h2>\n" + facts(report) + "</body></html>\n";
}

} // namespace tilewright
