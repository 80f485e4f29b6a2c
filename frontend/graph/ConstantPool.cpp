// SPDX-License-Identifier: Apache-2.0
// Constants by content hash, in memory and in the file next to the dump of a stage:
//
//   "TWPOOL1\n" | count u64 | count * { key 32 bytes, offset u64, size u64 } | entries, each aligned to 64 bytes
#include "frontend/graph/ConstantPool.h"

#include "frontend/onnx/MappedFile.h"
#include "runtime/artifact/OutputFile.h"
#include "runtime/plan/MemoryRanges.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <cstring>

namespace tilewright::graph {
namespace {

constexpr char magic[8] = {'T', 'W', 'P', 'O', 'O', 'L', '1', '\n'};
constexpr uint64_t alignment = 64;

struct Row {
  char key[32];
  uint64_t offset;
  uint64_t size;
};

uint64_t aligned(uint64_t offset) { return (offset + alignment - 1) / alignment * alignment; }

/// Calls `visit` with the pieces of a concatenation in order: row i of each part, for every row.
template <typename Visit> void forEachPiece(const std::vector<ConstantBytes> &parts, size_t rows, Visit visit) {
  for (size_t row = 0; row < rows; ++row)
    for (const ConstantBytes &part : parts)
      visit(part.bytes.subspan(row * (part.bytes.size() / rows), part.bytes.size() / rows));
}

std::string keyOf(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

/// Memory for `size` bytes, and one more, so that it has an address.
std::shared_ptr<std::byte[]> allocate(size_t size) {
  return {new (std::align_val_t(alignment)) std::byte[size + 1],
          [](std::byte *data) { ::operator delete[](data, std::align_val_t(alignment)); }};
}

} // namespace

std::string constantKey(std::span<const std::byte> bytes) { return keyOf(XXH3_128bits(bytes.data(), bytes.size())); }

std::string ConstantPool::insert(std::string key, Entry entry) {
  std::lock_guard lock(mutex);
  entries.try_emplace(key, std::move(entry));
  return key;
}

std::string ConstantPool::add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  return insert(constantKey(bytes), {bytes.size(), {bytes, std::move(owner)}, {}, 1});
}

std::string ConstantPool::add(std::span<const std::byte> bytes) {
  std::shared_ptr<std::byte[]> copy = allocate(bytes.size());
  if (!bytes.empty())
    std::memcpy(copy.get(), bytes.data(), bytes.size());
  return add({copy.get(), bytes.size()}, copy);
}

std::string ConstantPool::join(std::span<const std::string> parts, size_t rows) {
  if (!std::ranges::all_of(parts, [&](const std::string &part) { return contains(part); })) {
    std::string names = fmt::format("{} {}", rows, fmt::join(parts, " "));
    return constantKey(std::as_bytes(std::span(names)));
  }
  std::vector<ConstantBytes> contents;
  Entry entry{0, {}, {parts.begin(), parts.end()}, rows};
  for (const std::string &part : parts) {
    contents.push_back(read(part));
    entry.size += contents.back().bytes.size();
  }
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(hash.get());
  forEachPiece(contents, rows, [&](auto piece) { XXH3_128bits_update(hash.get(), piece.data(), piece.size()); });
  for (const ConstantBytes &part : contents)
    releasePages(part.bytes);
  return insert(keyOf(XXH3_128bits_digest(hash.get())), std::move(entry));
}

/// Entries stay where they are, and only `get` changes one.
const ConstantPool::Entry *ConstantPool::find(std::string_view key) const {
  std::lock_guard lock(mutex);
  auto found = entries.find(key);
  return found == entries.end() ? nullptr : &found->second;
}

ConstantBytes ConstantPool::layOut(const Entry &joined) const {
  std::vector<ConstantBytes> parts;
  for (const std::string &part : joined.parts)
    parts.push_back(read(part));
  std::shared_ptr<std::byte[]> memory = allocate(joined.size);
  std::byte *end = memory.get();
  forEachPiece(parts, joined.rows, [&](auto piece) { end = std::ranges::copy(piece, end).out; });
  for (const ConstantBytes &part : parts)
    releasePages(part.bytes);
  return {{memory.get(), joined.size}, memory};
}

bool ConstantPool::contains(std::string_view key) const { return find(key); }

size_t ConstantPool::size(std::string_view key) const {
  const Entry *entry = find(key);
  return entry ? entry->size : 0;
}

ConstantBytes ConstantPool::read(std::string_view key) const {
  const Entry *entry = find(key);
  if (!entry)
    return {};
  {
    std::lock_guard lock(mutex);
    if (entry->parts.empty() || entry->contents.owner)
      return entry->contents;
  }
  return layOut(*entry);
}

std::span<const std::byte> ConstantPool::get(std::string_view key) const {
  ConstantBytes contents = read(key);
  std::lock_guard lock(mutex);
  auto found = entries.find(key);
  if (found == entries.end())
    return {};
  if (!found->second.contents.bytes.data())
    found->second.contents = std::move(contents);
  return found->second.contents.bytes;
}

Status ConstantPool::save(const std::string &path, std::span<const std::string> keys) const {
  std::vector<Row> rows(keys.size());
  uint64_t offset = sizeof(magic) + sizeof(uint64_t) + keys.size() * sizeof(Row);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!contains(keys[i]) || keys[i].size() != sizeof(Row::key))
      return Status(Code::Internal, fmt::format("the constant pool has no entry '{}' to save", keys[i]));
    std::memcpy(rows[i].key, keys[i].data(), sizeof(Row::key));
    rows[i].offset = offset = aligned(offset);
    rows[i].size = size(keys[i]);
    offset += rows[i].size;
  }
  Expected<OutputFile> file = OutputFile::create(path);
  TILEWRIGHT_TRY(file);
  uint64_t count = rows.size();
  TILEWRIGHT_TRY(file->write(std::as_bytes(std::span(magic))));
  TILEWRIGHT_TRY(file->write(std::as_bytes(std::span(&count, 1))));
  TILEWRIGHT_TRY(file->write(std::as_bytes(std::span(rows))));
  uint64_t at = sizeof(magic) + sizeof(count) + rows.size() * sizeof(Row);
  static constexpr std::byte zeros[alignment] = {};
  for (size_t i = 0; i < rows.size(); ++i) {
    TILEWRIGHT_TRY(file->write(std::span(zeros, rows[i].offset - at)));
    TILEWRIGHT_TRY(file->write(read(keys[i]).bytes));
    at = rows[i].offset + rows[i].size;
  }
  return file->commit();
}

/// The rows of a file's table, each within the file.
static Expected<std::vector<Row>> readTable(const std::string &path, std::span<const std::byte> bytes) {
  auto malformed = [&](const char *why) {
    return Status(Code::Malformed, fmt::format("'{}' is not a constants file: {}", path, why));
  };
  uint64_t count = 0;
  if (bytes.size() < sizeof(magic) + sizeof(count) || std::memcmp(bytes.data(), magic, sizeof(magic)) != 0)
    return malformed("its first bytes are not 'TWPOOL1'");
  std::memcpy(&count, bytes.data() + sizeof(magic), sizeof(count));
  if (count > (bytes.size() - sizeof(magic) - sizeof(count)) / sizeof(Row))
    return malformed("its table is longer than the file");
  std::vector<Row> rows(count);
  if (count > 0)
    std::memcpy(rows.data(), bytes.data() + sizeof(magic) + sizeof(count), count * sizeof(Row));
  for (const Row &row : rows)
    if (row.offset > bytes.size() || row.size > bytes.size() - row.offset)
      return malformed("an entry reaches past its end");
  return rows;
}

Status ConstantPool::load(const std::string &path) {
  Expected<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.status();
  auto file = std::make_shared<MappedFile>(std::move(*mapped));
  Expected<std::vector<Row>> rows = readTable(path, file->bytes());
  TILEWRIGHT_TRY(rows);
  for (const Row &row : *rows)
    if (add(file->bytes().subspan(row.offset, row.size), file) != std::string_view(row.key, sizeof(row.key)))
      return Status(Code::Malformed, fmt::format("'{}' is not a constants file: an entry does not have the hash that "
                                                 "its name says",
                                                 path));
  return Status();
}

std::vector<std::string> ConstantPool::savedIn(const std::string &path) const {
  std::vector<std::string> keys;
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return keys;
  if (Expected<std::vector<Row>> rows = readTable(path, file->bytes()))
    for (const Row &row : *rows)
      if (std::string key(row.key, sizeof(row.key)); contains(key))
        keys.push_back(std::move(key));
  return keys;
}

} // namespace tilewright::graph
