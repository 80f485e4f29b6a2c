// SPDX-License-Identifier: Apache-2.0
// Replays without libFuzzer: every file below FOLDER as it is, then COUNT times one of them with a few bytes changed.
//
//   tilewright-fuzz-replay TARGET COUNT FOLDER...
//
// Inputs and their order are deterministic. To reproduce a crash, set COUNT to the number of the input;
// TILEWRIGHT_FUZZ_KEEP names a file that receives the last input tried.
#include "tests/fuzz/Targets.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace tilewright::test;
namespace fs = std::filesystem;

using Bytes = std::vector<uint8_t>;

static std::vector<Bytes> readSeeds(int count, char **folders) {
  constexpr uintmax_t largest = 1 << 16;
  std::vector<fs::path> files;
  for (int i = 0; i < count; ++i)
    for (const auto &entry : fs::recursive_directory_iterator(folders[i]))
      if (entry.is_regular_file() && entry.file_size() <= largest)
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds;
  for (const fs::path &file : files) {
    std::ifstream stream(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return seeds;
}

static Bytes mutated(Bytes bytes, std::mt19937_64 &random) {
  static constexpr uint8_t telling[] = {0, 1, 2, 7, 0x7f, 0x80, 0xfe, 0xff};
  for (uint64_t change = 1 + random() % 4; change-- > 0 && !bytes.empty();) {
    size_t at = random() % bytes.size();
    switch (random() % 4) {
    case 0:
      bytes[at] ^= 1 << random() % 8;
      break;
    case 1:
      bytes[at] = telling[random() % std::size(telling)];
      break;
    case 2:
      bytes.erase(bytes.begin() + at, bytes.begin() + std::min(bytes.size(), at + 1 + random() % 4));
      break;
    default: {
      size_t from = random() % bytes.size();
      Bytes part(bytes.begin() + from, bytes.begin() + std::min<size_t>(bytes.size(), from + random() % 16));
      bytes.insert(bytes.begin() + at, part.begin(), part.end());
    }
    }
  }
  return bytes;
}

int main(int count, char **arguments) {
  const FuzzTarget *target = count > 3 ? findFuzzTarget(arguments[1]) : nullptr;
  if (!target) {
    std::fprintf(stderr, "usage: %s TARGET COUNT FOLDER...\n", arguments[0]);
    return 2;
  }
  std::vector<Bytes> seeds = readSeeds(count - 3, arguments + 3);
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds below %s\n", arguments[3]);
    return 2;
  }
  const char *keep = std::getenv("TILEWRIGHT_FUZZ_KEEP");
  auto tryOne = [&](const Bytes &bytes) {
    if (keep)
      std::ofstream(keep, std::ios::binary)
          .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    target->run(bytes);
  };
  for (const Bytes &seed : seeds)
    tryOne(seed);
  std::mt19937_64 random(2026);
  long mutations = std::strtol(arguments[2], nullptr, 10);
  for (long i = 0; i < mutations; ++i)
    tryOne(mutated(seeds[random() % seeds.size()], random));
  std::printf("%s: %zu seeds and %ld mutations\n", arguments[1], seeds.size(), mutations);
  return 0;
}
