// SPDX-License-Identifier: Apache-2.0
// Lays out an artifact as a list of byte ranges, then writes that list to a file or to memory.
#include "runtime/artifact/ArtifactWriter.h"

#include "runtime/artifact/Checksum.h"
#include "runtime/artifact/FieldWriter.h"
#include "runtime/artifact/Format.h"
#include "runtime/artifact/OutputFile.h"
#include "runtime/plan/PlanVerifier.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tilewright::runtime {

using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

static constexpr std::byte zeros[format::alignment] = {};

/// The file as consecutive byte ranges; `owned` holds those created here.
struct Layout {
  std::vector<BytesView> ranges;
  std::vector<Bytes> owned;
  uint64_t fileBytes = 0;
};

/// A section whose offset is not yet known: the concatenation of `parts`, all but the last padded with zeros to the
/// alignment.
struct Section {
  format::SectionKind kind;
  std::vector<BytesView> parts;

  uint64_t bytes() const {
    uint64_t total = 0;
    for (BytesView part : parts)
      total = format::alignUp(total) + part.size();
    return total;
  }
};

template <typename... Fields> static Bytes stream(const Fields &...values) {
  FieldWriter writer;
  writer(values...);
  return writer.take();
}

static std::vector<ConstantEntry> constantTable(const Contents &contents) {
  std::vector<ConstantEntry> table;
  uint64_t offset = 0;
  for (BytesView constant : contents.constants) {
    table.push_back({offset, constant.size()});
    offset = format::alignUp(offset + constant.size());
  }
  return table;
}

static std::vector<Section> listSections(const Contents &contents, std::vector<Bytes> &owned) {
  using enum format::SectionKind;
  std::vector<Section> sections;
  auto add = [&](format::SectionKind kind, Bytes bytes) {
    sections.push_back({kind, {owned.emplace_back(std::move(bytes))}});
  };
  add(Metadata, stream(contents.metadata));
  for (const runtime::Plan &plan : contents.plans)
    add(Plan, stream(plan));
  add(CodeTable, stream(contents.code));
  for (const CodeObject &code : contents.code)
    sections.push_back({Code, {code.bytes}});
  if (!contents.report.empty())
    sections.push_back({Report, {std::as_bytes(std::span(contents.report))}});
  add(ConstantTable, stream(constantTable(contents)));
  sections.push_back({Constants, contents.constants});
  return sections;
}

/// sectionChecksum of a section whose parts are not contiguous: cuts their concatenation into the same chunks.
static uint64_t checksumOf(const Section &section) {
  if (section.parts.size() == 1)
    return sectionChecksum(section.parts.front());
  std::vector<uint64_t> chunks;
  Bytes chunk;
  chunk.reserve(format::checksumChunk);
  auto append = [&](BytesView bytes) {
    while (!bytes.empty()) {
      size_t taken = std::min<size_t>(bytes.size(), format::checksumChunk - chunk.size());
      chunk.insert(chunk.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(taken));
      bytes = bytes.subspan(taken);
      if (chunk.size() == format::checksumChunk) {
        chunks.push_back(hashBytes(chunk));
        chunk.clear();
      }
    }
  };
  uint64_t total = 0;
  for (BytesView part : section.parts) {
    append({zeros, format::alignUp(total) - total});
    append(part);
    total = format::alignUp(total) + part.size();
  }
  if (!chunk.empty())
    chunks.push_back(hashBytes(chunk));
  return hashBytes(std::as_bytes(std::span(chunks)));
}

static Bytes headerAndTable(const std::vector<Section> &sections, uint64_t &fileBytes) {
  std::vector<format::SectionEntry> table;
  uint64_t offset = format::alignUp(sizeof(format::Header) + sections.size() * sizeof(format::SectionEntry));
  for (const Section &section : sections) {
    table.push_back({section.kind, format::mustUnderstand, offset, section.bytes(), checksumOf(section), 0});
    if (section.kind == format::SectionKind::Report)
      table.back().flags = 0;
    offset = format::alignUp(offset + section.bytes());
  }
  fileBytes = offset;
  format::Header header = {format::magic,
                           format::majorVersion,
                           format::minorVersion,
                           fileBytes,
                           static_cast<uint32_t>(sections.size()),
                           0,
                           0,
                           {}};
  Bytes bytes(sizeof header + table.size() * sizeof(format::SectionEntry));
  std::memcpy(bytes.data() + sizeof header, table.data(), table.size() * sizeof(format::SectionEntry));
  std::memcpy(bytes.data(), &header, sizeof header);
  header.tableChecksum = hashBytes(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

static Expected<Layout> layOut(const Contents &contents) {
  if (Status broken = verifyContents(contents); !broken.ok())
    return Status(Code::Internal, "the compiler made a plan that its own verifier refuses: " + broken.message());
  Layout layout;
  std::vector<Section> sections = listSections(contents, layout.owned);
  uint64_t fileBytes = 0;
  auto append = [&](BytesView bytes) {
    uint64_t padding = format::alignUp(layout.fileBytes) - layout.fileBytes;
    layout.ranges.push_back({zeros, padding});
    layout.ranges.push_back(bytes);
    layout.fileBytes += padding + bytes.size();
  };
  append(layout.owned.emplace_back(headerAndTable(sections, fileBytes)));
  for (const Section &section : sections)
    for (BytesView part : section.parts)
      append(part);
  append({});
  return layout;
}

uint32_t ConstantPool::add(BytesView bytes) {
  uint64_t hash = hashBytes(bytes);
  for (auto [at, end] = byHash_.equal_range(hash); at != end; ++at)
    if (std::ranges::equal(constants_[at->second], bytes))
      return at->second;
  auto id = static_cast<uint32_t>(constants_.size());
  constants_.push_back(bytes);
  byHash_.emplace(hash, id);
  return id;
}

Expected<Bytes> serializeArtifact(const Contents &contents) {
  Expected<Layout> layout = layOut(contents);
  TILEWRIGHT_TRY(layout);
  Bytes bytes;
  bytes.reserve(layout->fileBytes);
  for (BytesView range : layout->ranges)
    bytes.insert(bytes.end(), range.begin(), range.end());
  return bytes;
}

Status writeArtifact(const Contents &contents, const std::filesystem::path &path) {
  Expected<Layout> layout = layOut(contents);
  TILEWRIGHT_TRY(layout);
  Expected<OutputFile> file = OutputFile::create(path);
  TILEWRIGHT_TRY(file);
  for (BytesView range : layout->ranges)
    TILEWRIGHT_TRY(file->write(range));
  return file->commit();
}

} // namespace tilewright::runtime
