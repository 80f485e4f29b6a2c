// SPDX-License-Identifier: Apache-2.0
// What blocks ask for before they copy (tilegen/place/roles/AskAhead.cpp), on the imitated GPU, which has two
// multiprocessors.
#include "tests/backend/gpu/SimtMachine.h"
#include "tests/device/CaseRun.h"
#include "tests/device/Products.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Lines = std::vector<const std::byte *>;

/// The lines of a corner of `rows` rows of `bytes` bytes, `pitch` bytes apart.
Lines linesOf(const std::byte *start, int64_t rows, int64_t bytes, int64_t pitch) {
  constexpr int64_t lineBytes = 128;
  Lines lines;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < bytes; column += lineBytes)
      lines.push_back(start + row * pitch + column);
  return lines;
}

/// The lines of the first two steps of `part` of an operand's `size` rows or columns. `across` says whether the
/// operand's rows run across the sum.
Lines linesOfSteps(const std::byte *start, const Product &p, int64_t size, int64_t part, bool across) {
  int64_t bytes = static_cast<int64_t>(elementBytes(p.type)), depth = std::min(2 * p.bk, p.k);
  return across ? linesOf(start, depth, part * bytes, size * bytes) : linesOf(start, part, depth * bytes, p.k * bytes);
}

/// Runs the product on an imitated sm_90a, and returns the lines that were asked for, and those of the first two steps
/// of so many rows and columns of the result, in order.
std::pair<Lines, Lines> askedAndExpected(const Product &p, int64_t rows, int64_t columns) {
  DeviceCase c = product(p, "");
  auto program = SimtProgram::compile(c.kernel, **findTarget("sm_90a"));
  if (!program) {
    ADD_FAILURE() << program.status().message();
    return {};
  }
  std::vector<CaseBuffer> memory = makeBuffers(c);
  std::vector<uint64_t> arguments;
  for (CaseBuffer &buffer : memory)
    arguments.push_back(reinterpret_cast<uint64_t>(buffer.bytes.data() + CaseBuffer::guard));
  uint64_t errorWord = (*program)->run("k", arguments, c.grid);
  EXPECT_TRUE((*program)->hasRoles());
  EXPECT_EQ(verdict(c, memory.back(), errorWord), "");
  Lines asked = (*program)->asked();
  Lines expected = linesOfSteps(memory[0].bytes.data() + CaseBuffer::guard, p, p.m, rows, p.transposedA);
  Lines ofRight = linesOfSteps(memory[1].bytes.data() + CaseBuffer::guard, p, p.n, columns, !p.transposedB);
  expected.insert(expected.end(), ofRight.begin(), ofRight.end());
  std::ranges::sort(asked);
  std::ranges::sort(expected);
  return {asked, expected};
}

std::pair<Lines, Lines> askedAndExpected(const Product &p) { return askedAndExpected(p, p.m, p.n); }

Product productOfModel(int64_t m, int64_t n, int64_t k, bool at = false, bool bt = false) {
  Product p{DType::F16, m, n, k, 64, 128, 64, 4, 3, at, bt};
  p.groups = 1, p.ofModel = true;
  return p;
}

TEST(AskAhead, BlocksTogetherAskForEachLineOfTheFirstStepsOnce) {
  for (bool at : {false, true})
    for (bool bt : {false, true}) {
      auto [asked, expected] = askedAndExpected(productOfModel(120, 120, 200, at, bt));
      EXPECT_EQ(asked, expected) << at << bt;
    }
}

/// The second of two blocks has a line of the left side less than the first.
TEST(AskAhead, BlocksShareUnevenly) {
  auto [asked, expected] = askedAndExpected(productOfModel(75, 40, 40));
  EXPECT_EQ(asked, expected);
  EXPECT_EQ(asked.size(), 75u + 40u);
}

/// One block of 256 threads has 512 lines of each side.
TEST(AskAhead, ThreadsTakeSeveralLines) {
  Product p{DType::F16, 256, 256, 136, 256, 256, 64, 8, 3, /*transposedA=*/true};
  p.groups = 1, p.ofModel = true;
  auto [asked, expected] = askedAndExpected(p);
  EXPECT_EQ(asked, expected);
  EXPECT_EQ(asked.size(), 2 * 512u);
}

/// Five rows of tiles by two columns, down two rows at a time: the two blocks begin with two rows and one column.
TEST(AskAhead, BlocksAskForWhatTheirFirstProgramsRead) {
  auto [asked, expected] = askedAndExpected(productOfModel(300, 256, 200), /*rows=*/128, /*columns=*/128);
  EXPECT_EQ(asked, expected);
}

/// What kernels before may write is waited for, so nothing of it is worth asking for.
TEST(AskAhead, NothingIsAskedForWhereAnOperandIsAwaited) {
  Product p = productOfModel(120, 120, 72);
  p.ofModel = false, p.constantB = true;
  EXPECT_TRUE(askedAndExpected(p).first.empty());
}

} // namespace
