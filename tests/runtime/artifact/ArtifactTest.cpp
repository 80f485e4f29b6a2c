// SPDX-License-Identifier: Apache-2.0
// The artifact's round trip and every refusal of a damaged one.
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/ArtifactWriter.h"
#include "runtime/artifact/Checksum.h"
#include "runtime/artifact/Format.h"
#include "tests/ScratchFolder.h"
#include "tests/runtime/SamplePlans.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace tilewright::runtime {

using Bytes = std::vector<std::byte>;

static Bytes sample() {
  Expected<Bytes> bytes = serializeArtifact(SampleContents().contents);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return *bytes;
}

static std::vector<format::SectionEntry> tableOf(const Bytes &file) {
  format::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<format::SectionEntry> table(header.sectionCount);
  std::memcpy(table.data(), file.data() + sizeof header, table.size() * sizeof table[0]);
  return table;
}

/// Writes an edited header and table back, with a correct checksum.
static void reseal(Bytes &file, format::Header header, const std::vector<format::SectionEntry> &table) {
  header.tableChecksum = 0;
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, table.data(), table.size() * sizeof table[0]);
  header.tableChecksum = hashBytes(std::span(file).first(sizeof header + table.size() * sizeof table[0]));
  std::memcpy(file.data(), &header, sizeof header);
}

static void expectRefused(const Bytes &file, const std::string &why) {
  Expected<Artifact> artifact = Artifact::fromBytes(file, "model.tw");
  ASSERT_FALSE(artifact.ok());
  EXPECT_EQ(artifact.status().code(), Code::Malformed);
  EXPECT_NE(artifact.status().message().find(why), std::string::npos) << artifact.status().message();
}

TEST(Artifact, ComesBackAsItWasWritten) {
  SampleContents original;
  Expected<Artifact> artifact = Artifact::fromBytes(sample());
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  const Contents &read = artifact->contents();
  EXPECT_EQ(read.metadata, original.contents.metadata);
  EXPECT_EQ(read.report, original.contents.report);
  ASSERT_EQ(read.plans.size(), original.contents.plans.size());
  const Plan &plan = read.plans[0], &expected = original.contents.plans[0];
  EXPECT_EQ(plan.symbols, expected.symbols);
  EXPECT_EQ(plan.exprs, expected.exprs);
  EXPECT_EQ(plan.values, expected.values);
  EXPECT_EQ(plan.kernels, expected.kernels);
  EXPECT_EQ(plan.groups, expected.groups);
  EXPECT_EQ(plan.faults, expected.faults);
  ASSERT_EQ(plan.steps.size(), expected.steps.size());
  EXPECT_EQ(std::get<Launch>(plan.steps[1]), std::get<Launch>(expected.steps[1]));
  ASSERT_EQ(read.constants.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(read.constants[0], original.contents.constants[0]));
  EXPECT_TRUE(std::ranges::equal(read.code[0].bytes, original.contents.code[0].bytes));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read.constants[0].data()) % format::alignment, 0u);
}

TEST(Artifact, AttributesOfEveryTypeComeBack) {
  SampleContents original;
  Tensor tensor = Tensor::allocate(DType::I32, {2});
  tensor.data<int32_t>()[1] = 7;
  Attributes attributes = {{"i", int64_t(-3)},
                           {"f", 0.5f},
                           {"s", std::string("same")},
                           {"is", std::vector<int64_t>{1, 2}},
                           {"fs", std::vector<float>{1.5f}},
                           {"ss", std::vector<std::string>{"a", ""}},
                           {"t", tensor}};
  std::get<HostCall>(original.contents.plans[0].steps[0]).attributes = attributes;
  Expected<Bytes> bytes = serializeArtifact(original.contents);
  ASSERT_TRUE(bytes.ok());
  Expected<Artifact> artifact = Artifact::fromBytes(*bytes);
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  Attributes read = std::get<HostCall>(artifact->contents().plans[0].steps[0]).attributes;
  EXPECT_EQ(std::get<Tensor>(read["t"]).data<int32_t>()[1], 7);
  EXPECT_EQ(std::get<Tensor>(read["t"]).shape(), Shape{2});
  read.erase("t");
  attributes.erase("t");
  ASSERT_EQ(read.size(), attributes.size());
  EXPECT_EQ(std::get<std::vector<std::string>>(read["ss"]), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(std::get<std::vector<float>>(read["fs"]), std::vector<float>{1.5f});
  EXPECT_EQ(std::get<int64_t>(read["i"]), -3);
}

TEST(Artifact, TheSameContentsGiveTheSameBytes) { EXPECT_EQ(sample(), sample()); }

TEST(Artifact, RefusesEveryTruncation) {
  Bytes file = sample();
  for (size_t size = 0; size < file.size(); size += size < 512 ? 1 : 61) {
    Expected<Artifact> artifact = Artifact::fromBytes(std::span(file).first(size));
    ASSERT_FALSE(artifact.ok()) << "truncated to " << size;
    EXPECT_EQ(artifact.status().code(), Code::Malformed);
  }
}

TEST(Artifact, RefusesAFlippedBitAnywhere) {
  Bytes file = sample();
  for (size_t at = 0; at < file.size(); ++at) {
    file[at] ^= std::byte(1 << (at % 8));
    Expected<Artifact> artifact = Artifact::fromBytes(file);
    ASSERT_FALSE(artifact.ok()) << "bit flipped at " << at;
    EXPECT_EQ(artifact.status().code(), Code::Malformed);
    file[at] ^= std::byte(1 << (at % 8));
  }
  EXPECT_TRUE(Artifact::fromBytes(file).ok());
}

TEST(Artifact, RefusesABitFlippedInEachSectionByName) {
  Bytes file = sample();
  constexpr const char *names[] = {"",          "metadata", "code table", "code", "constant table",
                                   "constants", "plan",     "report"};
  for (const format::SectionEntry &entry : tableOf(file)) {
    Bytes altered = file;
    altered[entry.offset + entry.bytes / 2] ^= std::byte(4);
    expectRefused(altered, std::string("its ") + names[static_cast<uint32_t>(entry.kind)] +
                               " section does not match its checksum");
  }
}

TEST(Artifact, RefusesAnotherVersionAndOtherFiles) {
  Bytes file = sample();
  file[8] = std::byte(9);
  expectRefused(file, "has artifact version 9.0, this runtime reads version " + std::to_string(format::majorVersion));
  expectRefused(Bytes(200), "is not a Tilewright artifact");
}

TEST(Artifact, SkipsOrRefusesAnUnknownSectionAsItsFlagSays) {
  Bytes file = sample();
  format::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<format::SectionEntry> table = tableOf(file);
  auto report = std::ranges::find(table, format::SectionKind::Report, &format::SectionEntry::kind);
  report->kind = static_cast<format::SectionKind>(77);
  reseal(file, header, table);
  EXPECT_TRUE(Artifact::fromBytes(file).ok());
  report->flags = format::mustUnderstand;
  reseal(file, header, table);
  expectRefused(file, "has a section of kind 77, which this version does not know");
}

TEST(Artifact, RefusesUnknownStepsAndLyingCountsInsideAValidEnvelope) {
  Bytes file = sample();
  format::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<format::SectionEntry> table = tableOf(file);
  auto plan = std::ranges::find(table, format::SectionKind::Plan, &format::SectionEntry::kind);
  // Whatever a byte of the plan is changed to, the loader either refuses the plan or still has a plan that its verifier
  // accepts.
  size_t refused = 0;
  for (size_t at = 0; at < plan->bytes; ++at) {
    Bytes altered = file;
    altered[plan->offset + at] ^= std::byte(0xff);
    std::vector<format::SectionEntry> edited = table;
    edited[static_cast<size_t>(plan - table.begin())].checksum =
        sectionChecksum(std::span(altered).subspan(plan->offset, plan->bytes));
    reseal(altered, header, edited);
    Expected<Artifact> artifact = Artifact::fromBytes(altered);
    refused += !artifact.ok();
    if (!artifact.ok())
      EXPECT_EQ(artifact.status().code(), Code::Malformed);
  }
  EXPECT_GT(refused, plan->bytes / 3); // changes in names and messages are valid, changes in structure are not
}

TEST(Artifact, MissingFileIsAnInputOutputError) {
  Expected<Artifact> artifact = Artifact::open("/nonexistent/model.tw");
  ASSERT_FALSE(artifact.ok());
  EXPECT_EQ(artifact.status().code(), Code::Io);
  EXPECT_EQ(artifact.status().message(), "cannot open /nonexistent/model.tw: No such file or directory");
}

TEST(ArtifactWriter, WritesWhatItSerializesAndLeavesNothingElse) {
  test::ScratchFolder scratch;
  const std::filesystem::path &folder = scratch.folder();
  ASSERT_TRUE(writeArtifact(SampleContents().contents, folder / "model.tw").ok());
  EXPECT_TRUE(Artifact::open(folder / "model.tw").ok());
  std::ifstream stream(folder / "model.tw", std::ios::binary);
  std::string written((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(written)), sample()));
  Status status = writeArtifact(SampleContents().contents, folder / "missing" / "model.tw");
  EXPECT_EQ(status.code(), Code::Io);
  std::filesystem::create_directory(folder / "taken");
  EXPECT_EQ(writeArtifact(SampleContents().contents, folder / "taken").code(), Code::Io);
  size_t files = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder))
    ++files;
  EXPECT_EQ(files, 2u);
}

TEST(ConstantPool, EqualBytesGetOneEntry) {
  std::vector<std::span<const std::byte>> entries;
  ConstantPool pool(entries);
  std::vector<float> a = {1, 2}, b = {1, 2}, c = {1, 3};
  EXPECT_EQ(pool.add(std::as_bytes(std::span(a))), 0u);
  EXPECT_EQ(pool.add(std::as_bytes(std::span(c))), 1u);
  EXPECT_EQ(pool.add(std::as_bytes(std::span(b))), 0u);
  EXPECT_EQ(entries.size(), 2u);
}

} // namespace tilewright::runtime
