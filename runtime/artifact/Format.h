// SPDX-License-Identifier: Apache-2.0
// The artifact (model.tw): this file is its specification.
//
//   offset 0     Header              64 bytes
//         64     SectionEntry[n]     40 bytes each
//         ...    zeros up to a multiple of 64
//         ...    section 0           starts at a multiple of 64, then zeros up to the next multiple of 64
//         ...    section 1 ...
//   fileBytes    the end: a section's end rounded up to 64
//
// All integers are little-endian. Sections lie in the order of the table, do not overlap, and leave no gap but zero
// padding: each byte of a file is covered by a checksum or has a known value, so that any alteration is detected. The
// checksums give integrity, not authenticity: an artifact is code, to be trusted like a program.
//
// Sections hold either raw bytes, used in place from the mapping, or a stream: fields in the order of PlanFields.h,
// where
//   u8, u32, u64, i64, f32   as they are, without alignment
//   bool                     u8, 0 or 1
//   string                   u32 length, then that many bytes
//   list of T                u32 count, then the items
//   enum                     u8, one of the listed codes; any other is refused
//   variant                  u8 code, then that alternative
// A stream ends exactly where its section ends.
//
// What may change: minor versions add section kinds, enum codes or step codes. A reader skips a section it does not
// know unless its flag says that it must be understood; it refuses an unknown code inside a stream. Any other change is
// a new major version.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tilewright::runtime::format {

static_assert(std::endian::native == std::endian::little, "artifacts are used in place on little-endian machines");

// Not text, damaged by line-end conversion, and unlike any known file: 0x89 'T' 'W' '\r' '\n' 0x1a '\n' 0.
inline constexpr std::array<uint8_t, 8> magic = {0x89, 'T', 'W', '\r', '\n', 0x1a, '\n', 0};
inline constexpr uint32_t majorVersion = 7;
inline constexpr uint32_t minorVersion = 0;
inline constexpr uint64_t alignment = 64;

struct Header {
  std::array<uint8_t, 8> magic;
  uint32_t majorVersion;
  uint32_t minorVersion;
  uint64_t fileBytes;
  uint32_t sectionCount;
  uint32_t reserved;
  uint64_t tableChecksum; // XXH3-64 of this header, with this field zero, followed by the section table
  std::array<uint8_t, 24> padding;
};
static_assert(sizeof(Header) == 64);

enum class SectionKind : uint32_t {
  Metadata = 1,      // stream: Metadata. Exactly one.
  CodeTable = 2,     // stream: list of {kind, target, symbols}, one for each Code section, in order. Exactly one.
  Code = 3,          // raw: machine code
  ConstantTable = 4, // stream: list of {u64 offset, u64 bytes} into the Constants section. Exactly one.
                     // Offsets are multiples of 64.
  Constants = 5,     // raw: the pool. Exactly one, maybe empty.
  Plan = 6,          // stream: Plan. At least one.
  Report = 7,        // raw: JSON in UTF-8, for people and tools. At most one.
};

inline constexpr uint32_t mustUnderstand =
    1; // SectionEntry::flags: a reader that does not know this kind refuses the file

struct SectionEntry {
  SectionKind kind;
  uint32_t flags;
  uint64_t offset;
  uint64_t bytes; // without padding
  uint64_t checksum;
  uint64_t reserved;
};
static_assert(sizeof(SectionEntry) == 40);

// A section's checksum: cut it into chunks of this size (the last one may be shorter; an empty section has none), take
// the XXH3-64 of each, and the XXH3-64 of the list of those (u64 each). Chunks let several threads check one large
// section.
inline constexpr uint64_t checksumChunk = uint64_t(4) << 20;

// A Step's variant code in a Plan stream: its index in `Step`, so that new kinds of step are appended.

// The deepest nesting of bodies (branches and loops); deeper plans are refused.
inline constexpr int deepestBody = 64;

constexpr uint64_t alignUp(uint64_t value) { return (value + alignment - 1) / alignment * alignment; }

} // namespace tilewright::runtime::format
