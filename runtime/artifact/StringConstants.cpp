// SPDX-License-Identifier: Apache-2.0
// Length-prefixed strings, one after the other.
#include "runtime/artifact/StringConstants.h"

#include <cstring>

namespace tilewright::runtime {

std::vector<std::byte> encodeStrings(const Tensor &strings) {
  std::vector<std::byte> bytes;
  auto append = [&](const void *from, size_t size) {
    bytes.insert(bytes.end(), static_cast<const std::byte *>(from), static_cast<const std::byte *>(from) + size);
  };
  for (int64_t i = 0; i < strings.count(); ++i) {
    const std::string &text = strings.data<std::string>()[i];
    auto length = static_cast<uint32_t>(text.size());
    append(&length, sizeof length);
    append(text.data(), text.size());
  }
  return bytes;
}

/// Removes one string from the front; false if the bytes do not hold one.
static bool takeString(std::span<const std::byte> &rest, std::string_view &text) {
  uint32_t length = 0;
  if (rest.size() < sizeof length)
    return false;
  std::memcpy(&length, rest.data(), sizeof length);
  rest = rest.subspan(sizeof length);
  if (rest.size() < length)
    return false;
  text = {reinterpret_cast<const char *>(rest.data()), length};
  rest = rest.subspan(length);
  return true;
}

bool countsStrings(std::span<const std::byte> bytes, uint64_t count) {
  std::string_view text;
  for (; count > 0 && takeString(bytes, text); --count) {
  }
  return count == 0 && bytes.empty();
}

Tensor decodeStrings(std::span<const std::byte> bytes, Shape shape) {
  Tensor strings = Tensor::allocate(DType::String, std::move(shape));
  std::string_view text;
  for (int64_t i = 0; i < strings.count() && takeString(bytes, text); ++i)
    strings.data<std::string>()[i] = text;
  return strings;
}

} // namespace tilewright::runtime
