// SPDX-License-Identifier: Apache-2.0
// Pages of a file can be released and are read from it again; memory of any other kind stays as it is.
#include "runtime/plan/MemoryRanges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <sys/mman.h>
#include <vector>

using namespace tilewright;

namespace {

constexpr size_t pages = 16, page = 4096, size = pages * page;

size_t residentPages(void *start) {
  std::vector<unsigned char> resident(pages);
  EXPECT_EQ(::mincore(start, size, resident.data()), 0);
  return std::ranges::count_if(resident, [](unsigned char flags) { return flags & 1; });
}

/// The process's resident pages of a mapping, from /proc: for files, mincore reports the page cache instead.
size_t ownPages(const void *start) {
  std::FILE *map = std::fopen("/proc/self/pagemap", "rb");
  size_t present = 0;
  for (size_t i = 0; map && i < pages; ++i) {
    uint64_t entry = 0;
    std::fseek(map, static_cast<long>((reinterpret_cast<uintptr_t>(start) / page + i) * sizeof(entry)), SEEK_SET);
    present += std::fread(&entry, sizeof(entry), 1, map) == 1 && (entry >> 63);
  }
  if (map)
    std::fclose(map);
  return present;
}

TEST(MemoryRanges, FilePagesAreGivenBackAndReadAgain) {
  std::FILE *file = std::tmpfile();
  ASSERT_TRUE(file);
  std::vector<char> content(size, 'w');
  ASSERT_EQ(std::fwrite(content.data(), 1, size, file), size);
  ASSERT_EQ(std::fflush(file), 0);
  void *start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, ::fileno(file), 0);
  ASSERT_NE(start, MAP_FAILED);
  std::span<const std::byte> bytes(static_cast<const std::byte *>(start), size);
  EXPECT_FALSE(liesIn(Backing::File, bytes));
  releasePages(bytes); // the range is not remembered, so nothing happens
  size_t before = ownPages(start);
  EXPECT_EQ(before, pages);
  rememberRange(bytes, Backing::File);
  EXPECT_TRUE(liesIn(Backing::File, bytes.subspan(5, 100)));
  EXPECT_FALSE(liesIn(Backing::HugePages, bytes));
  releasePages(bytes.subspan(1)); // the first page is only partly covered, so it stays
  EXPECT_EQ(ownPages(start), 1u);
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte('w'); }));
  forgetRange(start);
  EXPECT_FALSE(liesIn(Backing::File, bytes));
  ::munmap(start, size);
  std::fclose(file);
}

TEST(MemoryRanges, OtherMemoryKeepsItsContents) {
  void *start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(start, MAP_FAILED);
  std::span<std::byte> bytes(static_cast<std::byte *>(start), size);
  std::ranges::fill(bytes, std::byte(7));
  releasePages(bytes);
  rememberRange(bytes, Backing::HugePages);
  EXPECT_TRUE(liesIn(Backing::HugePages, bytes));
  releasePages(bytes);
  EXPECT_EQ(residentPages(start), pages);
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte(7); }));
  forgetRange(start);
  ::munmap(start, size);
}

TEST(MemoryRanges, ARangeDoesNotReachIntoItsNeighbour) {
  std::vector<std::byte> bytes(100);
  rememberRange(std::span(bytes).first(50), Backing::HugePages);
  EXPECT_TRUE(liesIn(Backing::HugePages, std::span(bytes).first(50)));
  EXPECT_FALSE(liesIn(Backing::HugePages, std::span(bytes).first(51)));
  EXPECT_FALSE(liesIn(Backing::HugePages, std::span(bytes).subspan(50, 10)));
  forgetRange(bytes.data());
}

} // namespace
