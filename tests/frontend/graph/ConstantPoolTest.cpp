// SPDX-License-Identifier: Apache-2.0
// The pool's keys, its files, and the files it refuses.
#include "frontend/graph/ConstantPool.h"
#include "tests/ScratchFolder.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace tilewright;
using tilewright::graph::ConstantPool;

namespace {

std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

struct ConstantPoolTest : testing::Test {
  test::ScratchFolder scratch;
  std::string path = scratch / "constants";
};

TEST_F(ConstantPoolTest, EqualBytesAreOneEntry) {
  ConstantPool pool;
  std::string key = pool.add(bytesOf("weights"));
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(pool.add(bytesOf("weights")), key);
  EXPECT_NE(pool.add(bytesOf("weightz")), key);
  EXPECT_EQ(pool.get(key).size(), 7u);
  EXPECT_EQ(pool.get("missing").data(), nullptr);
}

TEST_F(ConstantPoolTest, JoinsRowByRow) {
  ConstantPool pool, other;
  std::vector<std::string> parts{pool.add(bytesOf("aabbcc")), pool.add(bytesOf("XYZ"))};
  std::string rows = pool.join(parts, 3), whole = pool.join(parts, 1);
  EXPECT_EQ(rows, other.add(bytesOf("aaXbbYccZ"))); // by content, as if it had been added
  EXPECT_EQ(pool.size(rows), 9u);
  EXPECT_TRUE(std::ranges::equal(pool.read(rows).bytes, bytesOf("aaXbbYccZ")));
  EXPECT_TRUE(std::ranges::equal(pool.get(whole), bytesOf("aabbccXYZ")));
  std::vector<std::string> twice{rows, whole};
  EXPECT_TRUE(std::ranges::equal(pool.get(pool.join(twice, 1)), bytesOf("aaXbbYccZaabbccXYZ")));
  ASSERT_TRUE(pool.save(path, std::vector{rows}).ok());
  ASSERT_TRUE(other.load(path).ok());
  EXPECT_TRUE(std::ranges::equal(other.get(rows), bytesOf("aaXbbYccZ")));
}

TEST_F(ConstantPoolTest, JoinsOfAbsentPartsAreAbsent) {
  ConstantPool pool;
  std::vector<std::string> parts{pool.add(bytesOf("there")), "missing"};
  std::string key = pool.join(parts, 1);
  EXPECT_EQ(key.size(), 32u);
  EXPECT_FALSE(pool.contains(key));
  EXPECT_EQ(pool.size(key), 0u);
}

TEST_F(ConstantPoolTest, KnowsWhatAFileHas) {
  ConstantPool pool, other;
  std::vector<std::string> keys{pool.add(bytesOf("first")), pool.add(bytesOf("second"))};
  ASSERT_TRUE(pool.save(path, keys).ok());
  EXPECT_EQ(pool.savedIn(path), keys);
  other.add(bytesOf("second"));
  EXPECT_EQ(other.savedIn(path), std::vector{keys[1]});
  EXPECT_TRUE(pool.savedIn(path + "-missing").empty());
}

TEST_F(ConstantPoolTest, FilesRoundTrip) {
  ConstantPool pool, other;
  std::vector<std::string> keys{pool.add(bytesOf("first")), pool.add(bytesOf("")), pool.add(bytesOf("the third one"))};
  ASSERT_TRUE(pool.save(path, keys).ok());
  ASSERT_TRUE(other.load(path).ok());
  for (const std::string &key : keys)
    EXPECT_TRUE(std::ranges::equal(pool.get(key), other.get(key)));
}

TEST_F(ConstantPoolTest, RefusesWhatIsNotItsFile) {
  ConstantPool pool;
  EXPECT_EQ(pool.load(path + "-missing").code(), Code::Io);
  std::ofstream(path) << "not a pool";
  EXPECT_EQ(pool.load(path).code(), Code::Malformed);
  std::vector<std::string> keys{pool.add(bytesOf("first"))};
  ASSERT_TRUE(pool.save(path, keys).ok());
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file << "X"; // the last byte of the data
  file.close();
  EXPECT_NE(pool.load(path).message().find("hash"), std::string::npos);
}

} // namespace
