// SPDX-License-Identifier: Apache-2.0
// Fills the memory of device cases, and checks it.
#include "tests/device/CaseRun.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tilewright::test {

std::vector<CaseBuffer> makeBuffers(const DeviceCase &c) {
  std::vector<CaseBuffer> buffers(c.buffers.size());
  for (size_t b = 0; b < c.buffers.size(); ++b) {
    const BufferSpec &spec = c.buffers[b];
    size_t size = elementBytes(spec.type);
    buffers[b].bytes.assign(spec.count * size + 2 * CaseBuffer::guard, CaseBuffer::poison);
    if (b + 1 < c.buffers.size())
      for (int64_t i = 0; i < spec.count; ++i)
        store(spec.type, buffers[b].bytes.data() + CaseBuffer::guard + i * size, inputValue(spec, b, i));
  }
  return buffers;
}

static std::string checkElement(const DeviceCase &c, const std::byte *elements, int64_t i) {
  const BufferSpec &spec = c.buffers.back();
  double value = load(spec.type, elements + i * elementBytes(spec.type)), expected = c.expected(i);
  if (value == expected || std::abs(value - expected) <= c.tolerance * (1 + std::abs(expected)))
    return {};
  return fmt::format("element {} is {}, expected {}", i, value, expected);
}

std::string verdict(const DeviceCase &c, const CaseBuffer &output, uint64_t errorWord) {
  if (errorWord != c.errorWord)
    return fmt::format("the error word is {:#x}, expected {:#x}", errorWord, c.errorWord);
  const BufferSpec &spec = c.buffers.back();
  auto isPoison = [](std::byte byte) { return byte == CaseBuffer::poison; };
  auto first = output.bytes.begin() + CaseBuffer::guard, last = output.bytes.end() - CaseBuffer::guard;
  if (!std::all_of(output.bytes.begin(), first, isPoison) || !std::all_of(last, output.bytes.end(), isPoison))
    return "guard bytes around the output were written";
  size_t size = elementBytes(spec.type);
  const std::byte *elements = output.bytes.data() + CaseBuffer::guard;
  for (int64_t i = 0; i < spec.count && size > 1; ++i) {
    bool poisoned = std::all_of(elements + i * size, elements + (i + 1) * size, isPoison);
    if (poisoned && !checkElement(c, elements, i).empty()) // a correct element of two bytes may equal the poison
      return fmt::format("element {} was not written", i);
  }
  // Checks all elements of a small output, a sample of a large one, and both ends.
  int64_t step = spec.count <= 1 << 16 ? 1 : spec.count / 20011 | 1;
  for (int64_t i = 0; i < spec.count; i += step)
    if (std::string wrong = checkElement(c, elements, i); !wrong.empty())
      return wrong;
  return spec.count ? checkElement(c, elements, spec.count - 1) : std::string();
}

} // namespace tilewright::test
