// SPDX-License-Identifier: Apache-2.0
// Verifies an artifact from the outside in: header, section table, padding, checksums, streams, then the rules of
// plans.
#include "runtime/artifact/Artifact.h"

#include "runtime/artifact/Checksum.h"
#include "runtime/artifact/FieldReader.h"
#include "runtime/artifact/Format.h"
#include "runtime/plan/MemoryRanges.h"
#include "runtime/plan/PlanVerifier.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright::runtime {

using BytesView = std::span<const std::byte>;
using format::SectionKind;

static Status malformed(const std::string &name, const std::string &why) {
  return {Code::Malformed, fmt::format("{} {}", name, why)};
}

static bool allZero(BytesView bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte(); });
}

static std::string_view sectionName(SectionKind kind) {
  static constexpr std::string_view names[] = {"unknown",        "metadata",  "code table", "code",
                                               "constant table", "constants", "plan",       "report"};
  auto index = static_cast<uint32_t>(kind);
  return names[index < std::size(names) ? index : 0];
}

/// Reads the header and checks magic, version and sizes.
static Expected<format::Header> readHeader(BytesView file, const std::string &name) {
  format::Header header = {};
  if (file.size() < sizeof header || std::memcmp(file.data(), format::magic.data(), format::magic.size()) != 0)
    return malformed(name, "is not a Tilewright artifact; compile the model with 'tilewright compile'");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.majorVersion != format::majorVersion)
    return malformed(name,
                     fmt::format("has artifact version {}.{}, this runtime reads version {}; compile the model again",
                                 header.majorVersion, header.minorVersion, format::majorVersion));
  if (header.fileBytes != file.size())
    return malformed(name, fmt::format("has {} bytes but its header says {}: it is truncated or altered", file.size(),
                                       header.fileBytes));
  return header;
}

static Expected<std::vector<format::SectionEntry>> readTable(BytesView file, const format::Header &header,
                                                             const std::string &name) {
  if (header.sectionCount > (file.size() - sizeof header) / sizeof(format::SectionEntry))
    return malformed(name, "is altered: its section table does not fit in it");
  std::vector<std::byte> covered(sizeof header + header.sectionCount * sizeof(format::SectionEntry));
  std::memcpy(covered.data(), file.data(), covered.size());
  format::Header unsummed = header;
  unsummed.tableChecksum = 0;
  std::memcpy(covered.data(), &unsummed, sizeof unsummed);
  if (hashBytes(covered) != header.tableChecksum)
    return malformed(name, "is altered: its section table does not match its checksum");
  std::vector<format::SectionEntry> table(header.sectionCount);
  std::ranges::copy(std::span(covered).subspan(sizeof header), std::as_writable_bytes(std::span(table)).begin());
  return table;
}

/// Checks that sections follow each other with only zero padding between them, and fill the file.
static Status checkPlacement(BytesView file, const std::vector<format::SectionEntry> &table, const std::string &name) {
  uint64_t end = sizeof(format::Header) + table.size() * sizeof(format::SectionEntry);
  auto paddingIsZero = [&](uint64_t upTo) { return allZero(file.subspan(end, upTo - end)); };
  for (const format::SectionEntry &entry : table) {
    if (entry.offset != format::alignUp(end) || entry.offset > file.size() || entry.bytes > file.size() - entry.offset)
      return malformed(name,
                       fmt::format("is altered: its {} section is not where it belongs", sectionName(entry.kind)));
    if (!paddingIsZero(entry.offset))
      return malformed(
          name, fmt::format("is altered: the padding before its {} section is not zero", sectionName(entry.kind)));
    end = entry.offset + entry.bytes;
  }
  if (format::alignUp(end) != file.size() || !paddingIsZero(file.size()))
    return malformed(name, "is altered: it does not end with its last section");
  return {};
}

/// Sections by kind, in order, with checked contents.
class Sections {
public:
  static Expected<Sections> check(BytesView file, const std::vector<format::SectionEntry> &table,
                                  const std::string &name) {
    Sections sections;
    for (const format::SectionEntry &entry : table) {
      if (sectionName(entry.kind) == sectionName(SectionKind(0)) && entry.flags & format::mustUnderstand)
        return malformed(
            name, fmt::format("has a section of kind {}, which this version does not know; use a newer Tilewright",
                              static_cast<uint32_t>(entry.kind)));
      BytesView bytes = file.subspan(entry.offset, entry.bytes);
      if (sectionChecksum(bytes) != entry.checksum)
        return malformed(
            name, fmt::format("is altered: its {} section does not match its checksum", sectionName(entry.kind)));
      sections.byKind_.emplace_back(entry.kind, bytes);
    }
    return sections;
  }

  std::vector<BytesView> all(SectionKind kind) const {
    std::vector<BytesView> found;
    for (const auto &[itsKind, bytes] : byKind_)
      if (itsKind == kind)
        found.push_back(bytes);
    return found;
  }

private:
  std::vector<std::pair<SectionKind, BytesView>> byKind_;
};

static constexpr struct {
  SectionKind kind;
  size_t atLeast, atMost;
} sectionCounts[] = {
    {SectionKind::Metadata, 1, 1},      {SectionKind::CodeTable, 1, 1}, {SectionKind::Code, 0, SIZE_MAX},
    {SectionKind::ConstantTable, 1, 1}, {SectionKind::Constants, 1, 1}, {SectionKind::Plan, 1, SIZE_MAX},
    {SectionKind::Report, 0, 1},
};

template <typename T> static Status readStream(BytesView section, SectionKind kind, const std::string &name, T &value) {
  FieldReader reader(section);
  reader(value);
  if (!reader.finished())
    return malformed(name, fmt::format("has a malformed {} section: {}", sectionName(kind), reader.failure()));
  return {};
}

static Status readConstants(const Sections &sections, const std::string &name, Contents &contents) {
  BytesView pool = sections.all(SectionKind::Constants).front();
  std::vector<ConstantEntry> table;
  TILEWRIGHT_TRY(readStream(sections.all(SectionKind::ConstantTable).front(), SectionKind::ConstantTable, name, table));
  for (const ConstantEntry &entry : table) {
    if (entry.offset % format::alignment != 0 || entry.offset > pool.size() || entry.bytes > pool.size() - entry.offset)
      return malformed(name, fmt::format("has a constant of {} bytes at {}, outside its pool of {} bytes", entry.bytes,
                                         entry.offset, pool.size()));
    contents.constants.push_back(pool.subspan(entry.offset, entry.bytes));
  }
  return {};
}

static Status readCode(const Sections &sections, const std::string &name, Contents &contents) {
  TILEWRIGHT_TRY(readStream(sections.all(SectionKind::CodeTable).front(), SectionKind::CodeTable, name, contents.code));
  std::vector<BytesView> bytes = sections.all(SectionKind::Code);
  if (bytes.size() != contents.code.size())
    return malformed(name,
                     fmt::format("has {} code sections, its code table lists {}", bytes.size(), contents.code.size()));
  for (size_t i = 0; i < bytes.size(); ++i)
    contents.code[i].bytes = bytes[i];
  return {};
}

static Status readContents(const Sections &sections, const std::string &name, Contents &contents) {
  for (auto [kind, atLeast, atMost] : sectionCounts)
    if (size_t count = sections.all(kind).size(); count < atLeast || count > atMost)
      return malformed(name, fmt::format("has {} {} sections, expected {}", count, sectionName(kind),
                                         atLeast ? "one" : "at most one"));
  TILEWRIGHT_TRY(
      readStream(sections.all(SectionKind::Metadata).front(), SectionKind::Metadata, name, contents.metadata));
  TILEWRIGHT_TRY(readConstants(sections, name, contents));
  TILEWRIGHT_TRY(readCode(sections, name, contents));
  for (BytesView section : sections.all(SectionKind::Plan))
    TILEWRIGHT_TRY(readStream(section, SectionKind::Plan, name, contents.plans.emplace_back()));
  for (BytesView section : sections.all(SectionKind::Report))
    contents.report.assign(reinterpret_cast<const char *>(section.data()), section.size());
  if (Status status = verifyContents(contents); !status.ok())
    return malformed(name, "holds a plan that must not run: " + status.message());
  return {};
}

Expected<Artifact> Artifact::verify(BytesView bytes, std::shared_ptr<const void> owner, std::string name) {
  Expected<format::Header> header = readHeader(bytes, name);
  TILEWRIGHT_TRY(header);
  Expected<std::vector<format::SectionEntry>> table = readTable(bytes, *header, name);
  TILEWRIGHT_TRY(table);
  TILEWRIGHT_TRY(checkPlacement(bytes, *table, name));
  Expected<Sections> sections = Sections::check(bytes, *table, name);
  TILEWRIGHT_TRY(sections);
  auto contents = std::make_shared<Contents>();
  TILEWRIGHT_TRY(readContents(*sections, name, *contents));
  Artifact artifact;
  artifact.name_ = std::move(name);
  artifact.owner_ = std::move(owner);
  artifact.contents_ = std::move(contents);
  return artifact;
}

Expected<Artifact> Artifact::fromContents(Contents contents, std::shared_ptr<const void> owner) {
  if (Status status = verifyContents(contents); !status.ok())
    return Status(Code::Internal, "a plan in memory must not run: " + status.message());
  Artifact artifact;
  artifact.name_ = contents.metadata.modelName;
  artifact.owner_ = std::move(owner);
  artifact.contents_ = std::make_shared<Contents>(std::move(contents));
  return artifact;
}

Expected<Artifact> Artifact::fromBytes(BytesView bytes, const std::string &name) {
  Tensor copy =
      Tensor::allocate(DType::U8, {static_cast<int64_t>(bytes.size())}); // aligned, as the mapping of a file is
  std::ranges::copy(bytes, copy.bytes());
  return verify({copy.bytes(), bytes.size()}, std::make_shared<Tensor>(copy), name);
}

Expected<Artifact> Artifact::open(const std::filesystem::path &path) {
  auto ioError = [&](const char *what) {
    return Status(Code::Io, fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(errno)));
  };
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // does not wait for the writer of a pipe
  if (file < 0)
    return ioError("open");
  struct stat info = {};
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
    Status status = S_ISREG(info.st_mode)
                        ? malformed(path.string(), "is empty; compile the model again")
                        : Status(Code::Io, fmt::format("cannot open {}: it is not a regular file", path.string()));
    ::close(file);
    return status;
  }
  auto bytes = static_cast<size_t>(info.st_size);
  void *mapping = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  ::close(file);
  if (mapping == MAP_FAILED)
    return ioError("map");
  BytesView view(static_cast<const std::byte *>(mapping), bytes);
  rememberRange(view, Backing::File);
  std::shared_ptr<const void> owner(mapping, [bytes](const void *p) {
    forgetRange(p);
    ::munmap(const_cast<void *>(p), bytes);
  });
  return verify(view, owner, path.string());
}

} // namespace tilewright::runtime
