// SPDX-License-Identifier: Apache-2.0
// The HTML report has the measurements, loads nothing from outside, and escapes names from models.
#include "tools/tilewright/bench/BenchHtml.h"
#include "tools/tilewright/bench/BenchTrace.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tilewright;

static BenchReport sample() {
  BenchReport report;
  report.model = "a<b>.onnx";
  report.device = "cpu";
  report.agree = true;
  report.inputs = {"x float32 [1, 784]"};
  report.assumed = {"batch"};
  report.fused = {"all", {1.5, {}, 7, 1}, 1, 0, 4000};
  report.unfused = {"none", {3, {}, 7, 2}, 2, 0, 8000};
  GroupRow row;
  row.name = "matmul_add";
  row.members = {"\"><script>alert(1)</script>", "add&1"};
  row.fusedMs = 1.25, row.unfusedMs = 2.5, row.bytes = 4000, row.flops = 1e6, row.roof = "memory";
  report.groups = {row};
  report.vendorAbsent = "no vendor library was found";
  report.machine = {{"threads", "3"}};
  return report;
}

TEST(BenchHtml, HoldsWhatWasMeasuredAndNothingElse) {
  std::string page = htmlReport(sample());
  for (const char *wanted : {"a&lt;b&gt;.onnx", "<td>1.500</td>", "<td>3.000</td>", "<td>2.00</td>", "1.2500", "2.5000",
                             "&lt;script&gt;", "add&amp;1", "<dt>threads</dt><dd>3</dd>", "no vendor library was found",
                             "prefers-color-scheme: dark", "x float32 [1, 784]"})
    EXPECT_NE(page.find(wanted), std::string::npos) << wanted;
  for (const char *unwanted : {"<script", "http:", "https:", "<link", "<img", "@import", "url(", "src="})
    EXPECT_EQ(page.find(unwanted), std::string::npos) << unwanted;
}

TEST(BenchHtml, LongestBarTakesTheWidthAndTheOthersTheirShare) {
  std::string page = htmlReport(sample());
  EXPECT_NE(page.find("<i class=\"fused\" style=\"width: 35.00%\">"), std::string::npos) << page;
  EXPECT_NE(page.find("<i class=\"unfused\" style=\"width: 70.00%\">"), std::string::npos) << page;
}

/// The conclusion comes first, with a warning if a size was assumed.
TEST(BenchHtml, ConclusionComesFirst) {
  BenchReport report = sample();
  std::string page = htmlReport(report), text = printReport(report, true);
  size_t conclusion = page.find("fused takes 1.500 ms, unfused 3.000 ms, 2.00 times as long");
  EXPECT_LT(conclusion, page.find("<table>")) << page;
  EXPECT_NE(page.find("batch is, so it is taken to be 1"), std::string::npos) << page;
  EXPECT_TRUE(text.starts_with("fused takes 1.500 ms, unfused 3.000 ms, 2.00 times as long\n")) << text;
  EXPECT_NE(text.find("of x float32 [1, 784]\nwarning: "), std::string::npos) << text;
  report.assumed.clear();
  EXPECT_EQ(printReport(report, true).find("warning"), std::string::npos);
  report.agree = false;
  EXPECT_NE(htmlReport(report).find("the outputs differ beyond the tolerance"), std::string::npos);
}

/// Only elements that scroll on their own are wider than a phone.
TEST(BenchHtml, HasNoWidthInPixels) {
  std::string page = htmlReport(sample());
  for (size_t at = page.find("<table>"); at != std::string::npos; at = page.find("<table>", at + 1))
    EXPECT_EQ(page.substr(at - 18, 18), "<div class=\"wide\">");
  for (const char *unwanted : {"min-width", "width: 1", "max-content", "viewBox"})
    EXPECT_EQ(page.find(unwanted), std::string::npos) << unwanted;
  EXPECT_NE(page.find("width=device-width, initial-scale=1"), std::string::npos);
}

TEST(BenchReport, TellsThe99thPercentileOf100RunsOrMore) {
  std::vector<double> runs(99, 1.0);
  EXPECT_FALSE(summarize(runs).p99Ms);
  BenchReport report = sample();
  EXPECT_EQ(printReport(report, false).find("p99"), std::string::npos);
  EXPECT_TRUE(jsonReport(report)["fused"]["p99_ms"].is_null());
  runs.push_back(5);
  ASSERT_TRUE(summarize(runs).p99Ms);
  EXPECT_EQ(*summarize(runs).p99Ms, 5);
  report.fused.latency.p99Ms = 5, report.unfused.latency.p99Ms = 6;
  EXPECT_NE(printReport(report, false).find("p99 latency, ms"), std::string::npos);
}

TEST(BenchReport, KeepsThreeDigitsOfSmallTimes) {
  EXPECT_EQ(millisecondsText(12.3456), "12.346");
  EXPECT_EQ(millisecondsText(0.1234), "0.123");
  EXPECT_EQ(millisecondsText(0.0123456), "0.0123");
  EXPECT_EQ(millisecondsText(0.000065432), "0.0000654");
  EXPECT_EQ(millisecondsText(0), "0.000");
}

TEST(BenchReport, MergesLaunchesOfOneKernelAndSortsByTime) {
  auto row = [](const char *kernel, double ms, double share) {
    GroupRow made;
    made.name = made.kernel = kernel, made.members = {kernel}, made.fusedMs = ms, made.unfusedMs = 2 * ms,
    made.share = share;
    made.bytes = 100, made.flops = 10, made.roofShare = 0.5, made.roof = "memory", made.vendorMs = 1;
    return made;
  };
  std::vector<GroupRow> rows =
      mergedRows({row("a", 1, 0.1), row("b", 4, 0.4), row("a", 4, 0.4), row("", 0.5, 0.05), row("", 0.5, 0.05)});
  ASSERT_EQ(rows.size(), 4u); // steps that are not kernels are not merged
  EXPECT_EQ(rows[0].kernel, "a");
  EXPECT_EQ(rows[0].launches, 2u);
  EXPECT_DOUBLE_EQ(rows[0].fusedMs, 5);
  EXPECT_DOUBLE_EQ(rows[0].unfusedMs, 10);
  EXPECT_DOUBLE_EQ(rows[0].share, 0.5);
  EXPECT_DOUBLE_EQ(rows[0].bytes, 200);
  EXPECT_DOUBLE_EQ(rows[0].roofShare, 0.5);
  EXPECT_DOUBLE_EQ(*rows[0].vendorMs, 2);
  EXPECT_EQ(rows[0].members.size(), 2u);
  EXPECT_EQ(rows[1].kernel, "b");
}

TEST(BenchTrace, StepsBeginWhenTheyDid) {
  std::vector<StepRow> fused = {{"a", {"n0", "n1"}, 0, 0.5, 10, 20}, {"b", {"n2"}, 0.75, 0.25, 1, 2}},
                       unfused = {{"c", {"n0"}, 0, 1, 5, 6}};
  nlohmann::json trace = chromeTrace(sample(), fused, unfused);
  std::vector<nlohmann::json> slices;
  for (const auto &event : trace["traceEvents"])
    if (event["ph"] == "X")
      slices.push_back(event);
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(slices[1]["ts"], 750.0);
  EXPECT_EQ(slices[1]["dur"], 250.0);
  EXPECT_EQ(slices[0]["args"]["nodes"], (std::vector<std::string>{"n0", "n1"}));
  EXPECT_EQ(slices[0]["args"]["flops"], 20.0);
  EXPECT_NE(slices[0]["pid"], slices[2]["pid"]);
}
