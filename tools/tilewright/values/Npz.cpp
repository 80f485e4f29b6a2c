// SPDX-License-Identifier: Apache-2.0
// Reads and writes the part of the zip format that .npz files need.
//
//   local header, name, extra, data      of each member
//   ...
//   directory entry, name, extra         of each member; sizes are taken from here only
//   ...
//   [64-bit end of directory, its locator]
//   end of directory, comment
#include "tools/tilewright/values/Npz.h"

#include "frontend/onnx/MappedFile.h"
#include "runtime/artifact/OutputFile.h"
#include "tools/tilewright/values/Npy.h"

#include <cstring>
#include <fmt/format.h>
#include <zlib.h>

namespace tilewright {

namespace {

constexpr uint32_t localSignature = 0x04034b50, entrySignature = 0x02014b50, endSignature = 0x06054b50,
                   end64Signature = 0x06064b50, locatorSignature = 0x07064b50;
constexpr size_t localBytes = 30, entryBytes = 46, endBytes = 22, end64Bytes = 56, locatorBytes = 20,
                 longestComment = 65535;
constexpr uint16_t stored = 0, deflated = 8, encrypted = 1, extra64 = 1;
constexpr uint32_t see64 = 0xffffffff; // marks a field that is in the 64-bit extra
constexpr uint64_t bestRatio =
    1032; // the best that deflate can do: a larger claimed size is refused before memory is allocated

/// Reads little-endian fields; those outside of the file are std::nullopt.
class Bytes {
public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes(bytes) {}
  uint64_t size() const { return bytes.size(); }
  bool has(uint64_t at, uint64_t count) const { return at <= bytes.size() && count <= bytes.size() - at; }
  std::span<const std::byte> part(uint64_t at, uint64_t count) const {
    return has(at, count) ? bytes.subspan(at, count) : std::span<const std::byte>();
  }
  template <typename T> T get(uint64_t at) const {
    T value = 0;
    if (has(at, sizeof(T)))
      std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
  }

private:
  std::span<const std::byte> bytes;
};

struct Member {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t checksum = 0;
  uint64_t packedBytes = 0, bytes = 0, header = 0;
};

struct Directory {
  uint64_t at = 0, count = 0;
};

/// Finds the directory through the last end record of the file.
std::optional<Directory> findDirectory(const Bytes &file) {
  for (uint64_t tail = endBytes; tail <= std::min<uint64_t>(file.size(), endBytes + longestComment); ++tail) {
    uint64_t at = file.size() - tail;
    if (file.get<uint32_t>(at) != endSignature || file.get<uint16_t>(at + 20) != tail - endBytes)
      continue;
    Directory directory{file.get<uint32_t>(at + 16), file.get<uint16_t>(at + 10)};
    if (at >= locatorBytes && file.get<uint32_t>(at - locatorBytes) == locatorSignature) {
      uint64_t wide = file.get<uint64_t>(at - locatorBytes + 8);
      if (file.has(wide, end64Bytes) && file.get<uint32_t>(wide) == end64Signature)
        directory = {file.get<uint64_t>(wide + 48), file.get<uint64_t>(wide + 32)};
    }
    return directory;
  }
  return std::nullopt;
}

/// Replaces fields that equal `see64` by those of the 64-bit extra, which has only these, in this order.
bool widen(Member &member, const Bytes &file, uint64_t extra, uint64_t end) {
  uint64_t *fields[] = {&member.bytes, &member.packedBytes, &member.header};
  bool wanted = false;
  for (uint64_t *field : fields)
    wanted |= *field == see64;
  while (wanted && extra + 4 <= end) {
    uint64_t at = extra + 4, next = at + file.get<uint16_t>(extra + 2);
    if (file.get<uint16_t>(extra) == extra64) {
      for (uint64_t *field : fields)
        if (*field == see64 && at + 8 <= std::min(next, end)) {
          *field = file.get<uint64_t>(at);
          at += 8;
        }
      return true;
    }
    extra = next;
  }
  return !wanted;
}

/// Reads the entry at `at` and advances `at`. False if the directory is truncated.
bool readEntry(const Bytes &file, uint64_t &at, Member &member) {
  if (!file.has(at, entryBytes) || file.get<uint32_t>(at) != entrySignature)
    return false;
  member = {"",
            file.get<uint16_t>(at + 8),
            file.get<uint16_t>(at + 10),
            file.get<uint32_t>(at + 16),
            file.get<uint32_t>(at + 20),
            file.get<uint32_t>(at + 24),
            file.get<uint32_t>(at + 42)};
  uint64_t nameBytes = file.get<uint16_t>(at + 28), extraBytes = file.get<uint16_t>(at + 30),
           commentBytes = file.get<uint16_t>(at + 32), name = at + entryBytes;
  at = name + nameBytes + extraBytes + commentBytes;
  if (!file.has(name, nameBytes + extraBytes + commentBytes))
    return false;
  auto text = file.part(name, nameBytes);
  member.name.assign(reinterpret_cast<const char *>(text.data()), text.size());
  return widen(member, file, name + nameBytes, name + nameBytes + extraBytes);
}

/// None if the stream is damaged or has another length.
std::optional<std::vector<std::byte>> inflateAll(std::span<const std::byte> packed, uint64_t bytes) {
  std::vector<std::byte> data;
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) // negative: raw deflate, without zlib's header
    return std::nullopt;
  constexpr uint64_t most = 1u << 26; // bytes at a time: zlib counts in 32 bits, and memory grows only with actual data
  uint64_t in = 0, out = 0;
  int status = Z_OK;
  std::byte nowhere[1]; // zlib requires a pointer even for 0 bytes
  while (status == Z_OK) {
    uint64_t inNow = std::min(most, packed.size() - in), outNow = std::min(most, bytes - out);
    data.resize(out + outNow);
    stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(packed.data() + in));
    stream.avail_in = inNow;
    stream.next_out = reinterpret_cast<Bytef *>(outNow ? data.data() + out : nowhere);
    stream.avail_out = outNow;
    status = inflate(&stream, Z_NO_FLUSH);
    in += inNow - stream.avail_in;
    out += outNow - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || in != packed.size() || out != bytes)
    return std::nullopt;
  return data;
}

uint32_t checksumOf(std::span<const std::byte> bytes, uint32_t start = 0) {
  return crc32_z(start, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
}

/// Reads the array of one member.
Expected<NamedTensor> readMember(const Bytes &file, const Member &member, const std::string &archive) {
  std::string name = fmt::format("{}: member '{}'", archive, member.name);
  auto malformed = [&](std::string_view why) { return Status(Code::Malformed, fmt::format("{} {}", name, why)); };
  if (!member.name.ends_with(".npy"))
    return malformed("is no .npy file");
  if (member.flags & encrypted)
    return malformed("is encrypted");
  if (member.method != stored && member.method != deflated)
    return malformed(fmt::format("is packed with method {}, expected 0 (stored) or 8 (deflated)", member.method));
  if (!file.has(member.header, localBytes) || file.get<uint32_t>(member.header) != localSignature)
    return malformed("has no header where the directory says");
  uint64_t at =
      member.header + localBytes + file.get<uint16_t>(member.header + 26) + file.get<uint16_t>(member.header + 28);
  if (!file.has(at, member.packedBytes))
    return malformed(
        fmt::format("is to have {} bytes at {}, the file ends at {}", member.packedBytes, at, file.size()));
  std::span<const std::byte> data = file.part(at, member.packedBytes);
  std::optional<std::vector<std::byte>> unpacked;
  if (member.method == stored ? member.bytes != member.packedBytes
                              : member.bytes > bestRatio * (member.packedBytes + 1))
    return malformed(fmt::format("is to have {} bytes, which its {} cannot hold", member.bytes, member.packedBytes));
  if (member.method == deflated) {
    unpacked = inflateAll(data, member.bytes);
    if (!unpacked)
      return malformed("does not unpack");
    data = *unpacked;
  }
  if (checksumOf(data) != member.checksum)
    return malformed("does not have its checksum");
  Expected<Tensor> tensor = parseNpy(data, name);
  TILEWRIGHT_TRY(tensor);
  return NamedTensor{member.name.substr(0, member.name.size() - 4), std::move(*tensor)};
}

} // namespace

static Expected<std::vector<NamedTensor>> readMembers(const Bytes &file, const std::string &name) {
  std::optional<Directory> directory = findDirectory(file);
  if (!directory)
    return Status(
        Code::Malformed,
        fmt::format("{}: is not a .npz file: no end of a zip archive's directory in its {} bytes", name, file.size()));
  std::vector<NamedTensor> tensors;
  uint64_t at = directory->at, packedBytes = 0;
  for (uint64_t i = 0; i < directory->count; ++i) {
    Member member;
    if (!readEntry(file, at, member))
      return Status(Code::Malformed,
                    fmt::format("{}: the directory breaks off at member {} of {}", name, i, directory->count));
    if (packedBytes += std::min(member.packedBytes, file.size()); packedBytes > file.size())
      return Status(Code::Malformed, fmt::format("{}: member '{}' overlaps another one", name, member.name));
    Expected<NamedTensor> tensor = readMember(file, member, name);
    TILEWRIGHT_TRY(tensor);
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Expected<std::vector<NamedTensor>> parseNpz(std::span<const std::byte> bytes, const std::string &name) {
  try {
    return readMembers(Bytes(bytes), name);
  } catch (const std::bad_alloc &) {
    return Status(Code::Malformed, fmt::format("{}: asks for more memory than there is", name));
  }
}

Expected<std::vector<NamedTensor>> readNpz(const std::filesystem::path &path) {
  Expected<MappedFile> file = MappedFile::open(path.string());
  TILEWRIGHT_TRY(file);
  return parseNpz(file->bytes(), path.string());
}

//===- Writing ----------------------------------------------------------------------------------------------------===//

template <typename... Fields> static std::string record(Fields... fields) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char *>(&fields), sizeof fields), ...);
  return bytes;
}

Status writeNpz(const std::filesystem::path &path, const std::vector<NamedTensor> &tensors) {
  constexpr uint16_t version = 20, utf8 = 1 << 11, midnight = 0, newYear1980 = 33;
  Expected<OutputFile> file = OutputFile::create(path);
  TILEWRIGHT_TRY(file);
  std::string directory;
  uint64_t at = 0;
  for (const auto &[name, tensor] : tensors) {
    std::string member = name + ".npy", header = npyHeader(tensor);
    uint64_t bytes = header.size() + tensor.byteSize();
    if (member.size() > UINT16_MAX)
      return {
          Code::Unsupported,
          fmt::format("{}: an output's name has {} bytes, and a .npz file holds names of at most {}; write a folder "
                      "of .npy files instead",
                      path.string(), name.size(), UINT16_MAX - 4)};
    if (at + bytes + member.size() > see64 - longestComment)
      return {Code::Unsupported,
              fmt::format("{}: would be larger than 4 GiB; write a folder of .npy files instead", path.string())};
    std::span<const std::byte> elements(tensor.bytes(), tensor.byteSize());
    uint32_t checksum = checksumOf(elements, checksumOf(std::as_bytes(std::span(header))));
    std::string facts = record(version, utf8, stored, midnight, newYear1980, checksum, uint32_t(bytes), uint32_t(bytes),
                               uint16_t(member.size()), uint16_t(0));
    directory += record(entrySignature, version) + facts +
                 record(uint16_t(0), uint16_t(0), uint16_t(0), uint32_t(0), uint32_t(at)) + member;
    TILEWRIGHT_TRY(file->write(record(localSignature) + facts + member + header));
    TILEWRIGHT_TRY(file->write(elements));
    at += localBytes + member.size() + bytes;
  }
  uint16_t count = tensors.size();
  TILEWRIGHT_TRY(file->write(directory + record(endSignature, uint16_t(0), uint16_t(0), count, count,
                                                uint32_t(directory.size()), uint32_t(at), uint16_t(0))));
  return file->commit();
}

} // namespace tilewright
