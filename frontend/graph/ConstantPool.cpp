// SPDX-License-Identifier: Apache-2.0
// Constants by content hash, in memory and in the file next to the dump of a stage:
//
//   "TWPOOL1\n" | count u64 | count * { key 32 bytes, offset u64, size u64 } | entries, each aligned to 64 bytes
#include "frontend/graph/ConstantPool.h"

#include "frontend/onnx/MappedFile.h"
#include "runtime/artifact/OutputFile.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <vector>

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

} // namespace

std::string constantKey(std::span<const std::byte> bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string ConstantPool::add(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  std::string key = constantKey(bytes);
  std::lock_guard lock(mutex);
  entries.try_emplace(key, Entry{bytes, std::move(owner)});
  return key;
}

std::string ConstantPool::add(std::span<const std::byte> bytes) {
  std::shared_ptr<std::byte[]> copy(new (std::align_val_t(alignment)) std::byte[bytes.size() + 1],
                                    [](std::byte *data) { ::operator delete[](data, std::align_val_t(alignment)); });
  if (!bytes.empty())
    std::memcpy(copy.get(), bytes.data(), bytes.size());
  return add({copy.get(), bytes.size()}, copy);
}

bool ConstantPool::contains(std::string_view key) const {
  std::lock_guard lock(mutex);
  return entries.contains(key);
}

std::span<const std::byte> ConstantPool::get(std::string_view key) const {
  std::lock_guard lock(mutex);
  auto found = entries.find(key);
  return found == entries.end() ? std::span<const std::byte>() : found->second.bytes;
}

std::shared_ptr<const void> ConstantPool::owner(std::string_view key) const {
  std::lock_guard lock(mutex);
  auto found = entries.find(key);
  return found == entries.end() ? nullptr : found->second.owner;
}

Status ConstantPool::save(const std::string &path, std::span<const std::string> keys) const {
  std::vector<Row> rows(keys.size());
  std::vector<std::span<const std::byte>> blobs(keys.size());
  uint64_t offset = sizeof(magic) + sizeof(uint64_t) + keys.size() * sizeof(Row);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!contains(keys[i]) || keys[i].size() != sizeof(Row::key))
      return Status(Code::Internal, fmt::format("the constant pool has no entry '{}' to save", keys[i]));
    blobs[i] = get(keys[i]);
    std::memcpy(rows[i].key, keys[i].data(), sizeof(Row::key));
    rows[i].offset = offset = aligned(offset);
    rows[i].size = blobs[i].size();
    offset += blobs[i].size();
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
    TILEWRIGHT_TRY(file->write(blobs[i]));
    at = rows[i].offset + rows[i].size;
  }
  return file->commit();
}

Status ConstantPool::load(const std::string &path) {
  Expected<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.status();
  auto file = std::make_shared<MappedFile>(std::move(*mapped));
  std::span<const std::byte> bytes = file->bytes();
  auto malformed = [&](const char *why) {
    return Status(Code::Malformed, fmt::format("'{}' is not a constants file: {}", path, why));
  };
  uint64_t count = 0;
  if (bytes.size() < sizeof(magic) + sizeof(count) || std::memcmp(bytes.data(), magic, sizeof(magic)) != 0)
    return malformed("its first bytes are not 'TWPOOL1'");
  std::memcpy(&count, bytes.data() + sizeof(magic), sizeof(count));
  if (count > (bytes.size() - sizeof(magic) - sizeof(count)) / sizeof(Row))
    return malformed("its table is longer than the file");
  for (uint64_t i = 0; i < count; ++i) {
    Row row;
    std::memcpy(&row, bytes.data() + sizeof(magic) + sizeof(count) + i * sizeof(Row), sizeof(Row));
    if (row.offset > bytes.size() || row.size > bytes.size() - row.offset)
      return malformed("an entry reaches past its end");
    std::string key = add(bytes.subspan(row.offset, row.size), file);
    if (key != std::string_view(row.key, sizeof(row.key)))
      return malformed("an entry does not have the hash that its name says");
  }
  return Status();
}

} // namespace tilewright::graph
