// The HTML report holds what was measured, names nothing outside itself, and lets no name of a model become markup.
#include "backend/driver/BenchHtml.h"
#include "backend/driver/BenchTrace.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tilewright;

static BenchReport sample() {
  BenchReport report;
  report.model = "a<b>.onnx";
  report.device = "cpu";
  report.fused = {"all", {1.5, 2, 7}, 1, 0, 4000};
  report.unfused = {"none", {3, 4, 7}, 2, 0, 8000};
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
  for (const char *wanted :
       {"a&lt;b&gt;.onnx", "<td>1.500</td>", "<td>3.000</td>", "<td>2.00</td>", "1.2500", "2.5000", "&lt;script&gt;", "add&amp;1",
        "<dt>threads</dt><dd>3</dd>", "no vendor library was found", "prefers-color-scheme: dark", "<svg"})
    EXPECT_NE(page.find(wanted), std::string::npos) << wanted;
  for (const char *unwanted : {"<script", "http:", "https:", "<link", "<img", "@import", "url(", "src="})
    EXPECT_EQ(page.find(unwanted), std::string::npos) << unwanted;
}

TEST(BenchHtml, LongestBarTakesTheWidthAndTheOthersTheirShare) {
  std::string page = htmlReport(sample());
  EXPECT_NE(page.find("class=\"fused\" x=\"260\" y=\"3\" width=\"320.00\""), std::string::npos) << page;
  EXPECT_NE(page.find("class=\"unfused\" x=\"260\" y=\"15\" width=\"640.00\""), std::string::npos) << page;
}

TEST(BenchTrace, StepsFollowEachOther) {
  std::vector<StepRow> fused = {{"a", {"n0", "n1"}, 0, 0.5, 10, 20}, {"b", {"n2"}, 0.5, 0.25, 1, 2}}, unfused = {{"c", {"n0"}, 0, 1, 5, 6}};
  nlohmann::json trace = chromeTrace(sample(), fused, unfused);
  std::vector<nlohmann::json> slices;
  for (const auto &event : trace["traceEvents"])
    if (event["ph"] == "X")
      slices.push_back(event);
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(slices[1]["ts"], 500.0);
  EXPECT_EQ(slices[1]["dur"], 250.0);
  EXPECT_EQ(slices[0]["args"]["nodes"], (std::vector<std::string>{"n0", "n1"}));
  EXPECT_EQ(slices[0]["args"]["flops"], 20.0);
  EXPECT_NE(slices[0]["pid"], slices[2]["pid"]);
}
