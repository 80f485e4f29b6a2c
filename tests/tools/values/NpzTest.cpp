// SPDX-License-Identifier: Apache-2.0
// .npy and .npz: files that are written can be read back, and damaged ones only give errors.
#include "tools/tilewright/values/Npz.h"
#include "tests/ScratchFolder.h"
#include "tools/tilewright/values/Npy.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <random>

using namespace tilewright;

namespace {

std::string bytesOf(const Tensor &tensor) {
  return {reinterpret_cast<const char *>(tensor.bytes()), tensor.byteSize()};
}

Tensor counting(DType type, Shape shape) {
  Tensor tensor = Tensor::allocate(type, std::move(shape));
  for (size_t i = 0; i < tensor.byteSize(); ++i)
    tensor.bytes()[i] = std::byte(i * 7);
  return tensor;
}

Expected<std::vector<NamedTensor>> parse(const std::string &archive) {
  return parseNpz(std::as_bytes(std::span(archive)), "a.npz");
}
Status parseOne(const std::string &array) { return parseNpy(std::as_bytes(std::span(array)), "a.npy").status(); }

std::string slurp(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string twoArrays() {
  test::ScratchFolder scratch;
  std::string path = scratch / "two.npz";
  EXPECT_TRUE(writeNpz(path, {{"x", counting(DType::F32, {2, 3})}, {"mask", counting(DType::U8, {5})}}));
  return slurp(path);
}

template <typename T> void put(std::string &text, size_t at, T value) {
  std::memcpy(text.data() + at, &value, sizeof value);
}

/// One deflated member, as np.savez_compressed writes it; `claimed` is its length in the directory.
std::string deflatedArchive(const std::string &array, uint32_t claimed) {
  std::string packed(compressBound(array.size()), 0);
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(array.data())), stream.avail_in = array.size();
  stream.next_out = reinterpret_cast<Bytef *>(packed.data()), stream.avail_out = packed.size();
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  std::string local(30, 0), entry(46, 0), end(22, 0), name = "x.npy";
  put(local, 0, 0x04034b50), put(local, 26, uint16_t(name.size()));
  put(entry, 0, 0x02014b50), put(entry, 10, uint16_t(8));
  put(entry, 16, uint32_t(crc32_z(0, reinterpret_cast<const Bytef *>(array.data()), array.size())));
  put(entry, 20, uint32_t(packed.size())), put(entry, 24, claimed), put(entry, 28, uint16_t(name.size()));
  put(end, 0, 0x06054b50), put(end, 10, uint16_t(1)),
      put(end, 16, uint32_t(local.size() + name.size() + packed.size()));
  return local + name + packed + entry + name + end;
}

} // namespace

TEST(Npz, ReadsBackWhatItWrote) {
  auto arrays = parse(twoArrays());
  ASSERT_TRUE(arrays) << arrays.status().message();
  ASSERT_EQ(arrays->size(), 2u);
  EXPECT_EQ((*arrays)[0].name, "x");
  EXPECT_EQ((*arrays)[1].name, "mask");
  EXPECT_EQ((*arrays)[0].tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ((*arrays)[0].tensor.type(), DType::F32);
  EXPECT_EQ(bytesOf((*arrays)[0].tensor), bytesOf(counting(DType::F32, {2, 3})));
  EXPECT_EQ(bytesOf((*arrays)[1].tensor), bytesOf(counting(DType::U8, {5})));
}

TEST(Npz, UnpacksDeflatedMembers) {
  Tensor tensor = counting(DType::I64, {300});
  std::string array = npyHeader(tensor) + bytesOf(tensor);
  auto arrays = parse(deflatedArchive(array, array.size()));
  ASSERT_TRUE(arrays) << arrays.status().message();
  EXPECT_EQ(bytesOf(arrays->front().tensor), bytesOf(tensor));
}

TEST(Npz, DoesNotBelieveLengths) {
  Tensor tensor = counting(DType::I64, {300});
  std::string array = npyHeader(tensor) + bytesOf(tensor);
  for (uint32_t claimed : {0u, uint32_t(array.size()) - 1, uint32_t(array.size()) + 1, 4000000000u}) {
    auto arrays = parse(deflatedArchive(array, claimed));
    ASSERT_FALSE(arrays) << claimed;
    EXPECT_EQ(arrays.status().code(), Code::Malformed);
  }
}

/// Alters every byte in eight ways, and truncates at every byte: an error, or the same arrays if the byte does not
/// matter.
TEST(Npz, SurvivesDamage) {
  std::string good = twoArrays(), wanted = bytesOf(counting(DType::F32, {2, 3})) + bytesOf(counting(DType::U8, {5}));
  size_t refused = 0, tried = 0;
  auto check = [&](const std::string &bad) {
    auto arrays = parse(bad);
    ++tried;
    if (!arrays) {
      ++refused;
      EXPECT_EQ(arrays.status().code(), Code::Malformed);
      EXPECT_NE(arrays.status().message(), "");
      return;
    }
    std::string data;
    for (const NamedTensor &array : *arrays)
      data += bytesOf(array.tensor);
    EXPECT_TRUE(wanted.find(data) != std::string::npos); // a member may be missing, but not altered
  };
  for (size_t i = 0; i < good.size(); ++i) {
    check(good.substr(0, i));
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] ^= 1 << bit;
      check(bad);
    }
  }
  EXPECT_GT(refused, tried * 3 / 4); // dates, for example, do not matter
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bad = good;
    for (int i = 0; i < 6; ++i)
      bad[random() % bad.size()] = static_cast<char>(random());
    check(bad);
  }
}

TEST(Npy, RefusesWhatItCannotHold) {
  auto array = [](std::string dictionary, size_t bytes) {
    std::string start("\x93NUMPY\x01\x00", 8);
    uint16_t length = dictionary.size();
    return start.append(reinterpret_cast<char *>(&length), 2) + dictionary + std::string(bytes, 0);
  };
  auto header = [](const char *shape) {
    return "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::string(shape) + "), }";
  };
  EXPECT_TRUE(parseOne(array(header("2, 3"), 48)).ok());
  EXPECT_TRUE(parseOne(array(header("4,"), 32)).ok());
  EXPECT_TRUE(parseOne(array(header(""), 8)).ok());
  EXPECT_TRUE(parseOne(array(header("0, 7"), 0)).ok());
  for (const char *shape :
       {"2305843009213693952", "-2", "2 3", "2, x", "99999999999999999999", "4294967296, 4294967296, 4294967296"})
    EXPECT_EQ(parseOne(array(header(shape), 0)).code(), Code::Malformed) << shape;
  EXPECT_EQ(parseOne(array(header("2, 3"), 47)).code(), Code::Malformed);
  EXPECT_EQ(parseOne(array("{'descr': '" + std::string(60000, '<'), 8)).code(), Code::Malformed);
}
