// SPDX-License-Identifier: Apache-2.0
// Matrix instructions, lane by lane as the vendors' documents say which element is where.
#include "tests/backend/gpu/SimtProducts.h"
#include "tests/backend/gpu/SimtBlock.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace tilewright;
using namespace tilewright::test;

namespace {
/// Halves are looked up: without F16C a conversion is a call.
float toFloat(uint16_t bits, bool isBrain) {
  static const std::vector<float> halves = [] {
    std::vector<float> all(1 << 16);
    for (uint32_t half = 0; half < all.size(); ++half)
      all[half] = float(std::bit_cast<_Float16>(static_cast<uint16_t>(half)));
    return all;
  }();
  return isBrain ? std::bit_cast<float>(uint32_t(bits) << 16) : halves[bits];
}

/// Calls `multiply` once for the warp, when all its lanes have come. It gets a function from a lane to what that lane
/// has passed, and adds to the sums of all lanes.
template <typename Element, typename Sum, typename Multiply>
void multiplyTogether(const Element *a, const Element *b, Sum *sums, const Multiply &multiply) {
  struct Given {
    const Element *a, *b;
    Sum *sums;
  } given{a, b, sums};
  block->self().given = &given;
  block->meetWarp();
  if (block->lane() == 0)
    multiply([](unsigned lane) { return *static_cast<const Given *>(block->inWarp(lane).given); });
  block->meetWarp();
}

struct Element {
  unsigned row, column;
};
/// Where element i of a lane's fragments is, from the manuals: A as row and k, B as k and column, C as row and column.
struct Instruction {
  unsigned m, n, k, perLane[3];
  Element (*a)(unsigned lane, unsigned i), (*b)(unsigned lane, unsigned i), (*c)(unsigned lane, unsigned i);
};
const std::map<int, Instruction> instructions = {
    {8, // mma.m16n8k16
     {16,
      8,
      16,
      {8, 4, 4},
      [](unsigned l, unsigned i) {
        return Element{l / 4 + (i % 4 >= 2 ? 8 : 0), l % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0)};
      },
      [](unsigned l, unsigned i) { return Element{l % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0), l / 4}; },
      [](unsigned l, unsigned i) { return Element{l / 4 + (i >= 2 ? 8 : 0), l % 4 * 2 + i % 2}; }}},
    {32, // v_mfma_f32_32x32x8
     {32,
      32,
      8,
      {4, 4, 16},
      [](unsigned l, unsigned i) { return Element{l % 32, 4 * (l / 32) + i}; },
      [](unsigned l, unsigned i) { return Element{4 * (l / 32) + i, l % 32}; },
      [](unsigned l, unsigned i) { return Element{8 * (i / 4) + 4 * (l / 32) + i % 4, l % 32}; }}},
    {16, // v_mfma_f32_16x16x16
     {16,
      16,
      16,
      {4, 4, 4},
      [](unsigned l, unsigned i) { return Element{l % 16, 4 * (l / 16) + i}; },
      [](unsigned l, unsigned i) { return Element{4 * (l / 16) + i, l % 16}; },
      [](unsigned l, unsigned i) { return Element{4 * (l / 16) + i, l % 16}; }}},
};

void multiply(int32_t which, int32_t isBrain, const uint16_t *a, const uint16_t *b, float *sums) {
  multiplyTogether(a, b, sums, [&](auto given) {
    const Instruction &instruction = instructions.at(which);
    std::vector<float> lhs(instruction.m * instruction.k), rhs(instruction.k * instruction.n);
    for (unsigned l = 0; l < block->lanes; ++l) {
      for (unsigned i = 0; i < instruction.perLane[0]; ++i)
        lhs[instruction.a(l, i).row * instruction.k + instruction.a(l, i).column] = toFloat(given(l).a[i], isBrain);
      for (unsigned i = 0; i < instruction.perLane[1]; ++i)
        rhs[instruction.b(l, i).row * instruction.n + instruction.b(l, i).column] = toFloat(given(l).b[i], isBrain);
    }
    for (unsigned l = 0; l < block->lanes; ++l)
      for (unsigned i = 0; i < instruction.perLane[2]; ++i) {
        Element c = instruction.c(l, i);
        float &sum = given(l).sums[i];
        for (unsigned k = 0; k < instruction.k; ++k)
          sum += lhs[c.row * instruction.k + k] * rhs[k * instruction.n + c.column];
      }
  });
}

int32_t toInteger(uint8_t byte, bool isUnsigned) { return isUnsigned ? byte : static_cast<int8_t>(byte); }

/// PTX ISA, "Matrix Fragments for mma.m16n8k32": each lane has four words of A, two of B and four sums.
void multiplyBytes(int32_t lhsUnsigned, int32_t rhsUnsigned, const uint8_t *a, const uint8_t *b, int32_t *sums) {
  multiplyTogether(a, b, sums, [&](auto given) {
    int32_t lhs[16][32], rhs[32][8];
    for (unsigned l = 0; l < block->lanes; ++l) {
      for (unsigned i = 0; i < 16; ++i)
        lhs[l / 4 + (i / 4 % 2 ? 8 : 0)][l % 4 * 4 + i % 4 + (i >= 8 ? 16 : 0)] = toInteger(given(l).a[i], lhsUnsigned);
      for (unsigned i = 0; i < 8; ++i)
        rhs[l % 4 * 4 + i % 4 + (i >= 4 ? 16 : 0)][l / 4] = toInteger(given(l).b[i], rhsUnsigned);
    }
    for (unsigned l = 0; l < block->lanes; ++l)
      for (unsigned i = 0; i < 4; ++i)
        for (unsigned k = 0; k < 32; ++k)
          given(l).sums[i] += lhs[l / 4 + (i >= 2 ? 8 : 0)][k] * rhs[k][l % 4 * 2 + i % 2];
  });
}

/// PTX ISA, cvt.rna.tf32: to nearest, ties away from zero; infinity stays, and NaN is always the same one.
uint32_t roundToTf32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return 0x7fffffffu;
  return std::isfinite(value) ? (bits + 0x1000) & ~0x1fffu : bits;
}

/// What the instruction sees of a word: its last 13 bits are not read.
float asTf32(float value) { return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & ~0x1fffu); }

/// Towards zero, as matrix units round what they add up.
float truncated(double exact) {
  auto nearest = static_cast<float>(exact);
  return std::abs(double(nearest)) > std::abs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k8": each lane has four words of A, two of B and four sums. How sums are
/// rounded: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021.
void multiplyTf32(const float *a, const float *b, float *sums) {
  multiplyTogether(a, b, sums, [&](auto given) {
    float lhs[16][8], rhs[8][8];
    for (unsigned l = 0; l < block->lanes; ++l) {
      for (unsigned i = 0; i < 4; ++i)
        lhs[l / 4 + (i % 2 ? 8 : 0)][l % 4 + (i >= 2 ? 4 : 0)] = asTf32(given(l).a[i]);
      for (unsigned i = 0; i < 2; ++i)
        rhs[l % 4 + 4 * i][l / 4] = asTf32(given(l).b[i]);
    }
    for (unsigned l = 0; l < block->lanes; ++l)
      for (unsigned i = 0; i < 4; ++i)
        for (unsigned half : {0, 4}) { // four products and the sum so far are added exactly
          float &sum = given(l).sums[i];
          double exact = sum;
          for (unsigned k = half; k < half + 4; ++k)
            exact += double(lhs[l / 4 + (i >= 2 ? 8 : 0)][k]) * rhs[k][l % 4 * 2 + i % 2];
          sum = truncated(exact);
        }
  });
}

/// PTX ISA, "Strides" and "Swizzling modes" of wgmma's matrices: an element's bytes from the matrix's start, before
/// chunks are exchanged. Rows of `rowBytes` come in groups of eight; where rows run across k, `panels` lie between one
/// row and the next elements of the same k.
struct SharedOperand {
  const std::byte *start;
  uint32_t panels, alongK, rowBytes;

  /// Of bytes, whose rows of 128 run along k.
  uint8_t byteAt(unsigned across, unsigned k) const {
    size_t offset = start - block->memory() + across * 128 + k;
    return static_cast<uint8_t>(*block->asSeen(block->memory() + (offset ^ (offset >> 7 << 4 & 0x70))));
  }
  float singleAt(unsigned across, unsigned k) const {
    size_t offset = start - block->memory() + across * 128 + k * sizeof(float);
    float value;
    std::memcpy(&value, block->asSeen(block->memory() + (offset ^ (offset >> 7 << 4 & 0x70))), sizeof(value));
    return value;
  }
  uint16_t at(unsigned across, unsigned k) const {
    unsigned row = alongK ? across : k, column = alongK ? k : across;
    unsigned inRow = rowBytes / 2;
    size_t offset = start - block->memory() + column / inRow * panels + row * rowBytes + column % inRow * 2;
    offset ^= offset >> 7 << 4 & (rowBytes - 16); // bits 7 to 9 onto bits 4 to 6, as many as rows have
    uint16_t bits;
    std::memcpy(&bits, block->asSeen(block->memory() + offset), 2);
    return bits;
  }
};

/// What an instruction will read, for `waitProducts` to see whether somebody wrote there meanwhile: whole rows.
void noteReads(const SharedOperand &operand, unsigned across) {
  unsigned group = 8 * operand.rowBytes, inRow = operand.rowBytes / 2;
  auto *from = block->memory() + (operand.start - block->memory()) / group * group;
  unsigned panels = operand.alongK ? 1 : (across + inRow - 1) / inRow,
           bytes = operand.rowBytes * (operand.alongK ? across : 16);
  for (unsigned panel = 0; panel < panels; ++panel, from += operand.panels)
    block->self().products.back().push_back({from, {from, from + bytes}});
}

/// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16" and k32, whose sums lie alike: the thread's own, for
/// which it needs nobody else. `left` and `right` get k behind the row or the column.
template <typename Sum>
void addProducts(int32_t n, Sum *sums, unsigned depth, llvm::function_ref<Sum(unsigned, unsigned)> left,
                 llvm::function_ref<Sum(unsigned, unsigned)> right) {
  constexpr unsigned deepest = 32;
  unsigned lane = block->lane(), warp = block->current / block->lanes % 4;
  Sum rows[2][deepest], column[deepest];
  for (unsigned half : {0, 1})
    for (unsigned k = 0; k < depth; ++k)
      rows[half][k] = left(warp * 16 + lane / 4 + 8 * half, k);
  for (int i = 0; i < n / 4; ++i) { // columns of a lane
    for (unsigned k = 0; k < depth; ++k)
      column[k] = right(i / 2 * 8 + lane % 4 * 2 + i % 2, k);
    for (unsigned half : {0, 1})
      for (unsigned k = 0; k < depth; ++k)
        sums[i / 2 * 4 + half * 2 + i % 2] += rows[half][k] * column[k];
  }
}
void multiplyShared(int32_t n, int32_t isBrain, float *sums, const std::byte *a, uint32_t aPanels, uint32_t aAlongK,
                    uint32_t aRow, const std::byte *b, uint32_t bPanels, uint32_t bAlongK, uint32_t bRow) {
  SharedOperand lhs{a, aPanels, aAlongK, aRow}, rhs{b, bPanels, bAlongK, bRow};
  noteReads(lhs, 64), noteReads(rhs, n);
  addProducts<float>(
      n, sums, 16, [&](unsigned row, unsigned k) { return toFloat(lhs.at(row, k), isBrain); },
      [&](unsigned column, unsigned k) { return toFloat(rhs.at(column, k), isBrain); });
}
void multiplySharedBytes(int32_t n, int32_t isUnsigned, int32_t *sums, const std::byte *a, uint32_t aPanels,
                         uint32_t aAlongK, uint32_t aRow, const std::byte *b, uint32_t bPanels, uint32_t bAlongK,
                         uint32_t bRow) {
  SharedOperand lhs{a, aPanels, aAlongK, aRow}, rhs{b, bPanels, bAlongK, bRow};
  noteReads(lhs, 64), noteReads(rhs, n);
  if (!aAlongK || !bAlongK) // the instruction would read something else
    return;
  addProducts<int32_t>(
      n, sums, 32, [&](unsigned row, unsigned k) { return toInteger(lhs.byteAt(row, k), isUnsigned & 1); },
      [&](unsigned column, unsigned k) { return toInteger(rhs.byteAt(column, k), isUnsigned & 2); });
}
/// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16": four lanes hold a row of the left side.
void multiplyHeld(int32_t n, int32_t isBrain, float *sums, const uint16_t *held, const std::byte *b, uint32_t bPanels,
                  uint32_t bAlongK, uint32_t bRow) {
  SharedOperand rhs{b, bPanels, bAlongK, bRow};
  noteReads(rhs, n);
  block->self().given = held;
  block->meetWarp();
  auto left = [&](unsigned row, unsigned k) {
    unsigned lane = row % 8 * 4 + k % 8 / 2, position = k % 2 + (row % 16 >= 8 ? 2 : 0) + (k >= 8 ? 4 : 0);
    return toFloat(static_cast<const uint16_t *>(block->inWarp(lane).given)[position], isBrain);
  };
  addProducts<float>(n, sums, 16, left,
                     [&](unsigned column, unsigned k) { return toFloat(rhs.at(column, k), isBrain); });
  block->meetWarp();
}
/// "... for wgmma.mma_async.m64nNk8". What tf32 has no bits for is not read, and four products and the sum so far are
/// added exactly, then truncated, as by mma.sync.
void addSingles(int32_t n, float *sums, const SharedOperand &rhs, llvm::function_ref<float(unsigned, unsigned)> left) {
  unsigned lane = block->lane(), warp = block->current / block->lanes % 4;
  for (int i = 0; i < n / 2; ++i) {
    unsigned row = warp * 16 + lane / 4 + (i % 4 >= 2 ? 8 : 0), column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    for (unsigned half : {0, 4}) {
      double exact = sums[i];
      for (unsigned k = half; k < half + 4; ++k)
        exact += double(asTf32(left(row, k))) * asTf32(rhs.singleAt(column, k));
      sums[i] = truncated(exact);
    }
  }
}
void multiplySharedSingles(int32_t n, int32_t, float *sums, const std::byte *a, uint32_t aPanels, uint32_t aAlongK,
                           uint32_t aRow, const std::byte *b, uint32_t bPanels, uint32_t bAlongK, uint32_t bRow) {
  SharedOperand lhs{a, aPanels, aAlongK, aRow}, rhs{b, bPanels, bAlongK, bRow};
  noteReads(lhs, 64), noteReads(rhs, n);
  if (aAlongK && bAlongK) // the instruction would read something else
    addSingles(n, sums, rhs, [&](unsigned row, unsigned k) { return lhs.singleAt(row, k); });
}
void multiplyHeldSingles(int32_t n, int32_t, float *sums, const float *held, const std::byte *b, uint32_t bPanels,
                         uint32_t bAlongK, uint32_t bRow) {
  SharedOperand rhs{b, bPanels, bAlongK, bRow};
  noteReads(rhs, n);
  block->self().given = held;
  block->meetWarp();
  if (bAlongK) // the instruction would read something else
    addSingles(n, sums, rhs, [&](unsigned row, unsigned k) {
      auto *elements = static_cast<const float *>(block->inWarp(row % 8 * 4 + k % 4).given);
      return elements[(row % 16 >= 8 ? 1 : 0) + (k >= 4 ? 2 : 0)];
    });
  block->meetWarp();
}
void commitProducts() { block->self().products.emplace_back(); }
void waitProducts(int32_t pending) {
  auto &products = block->self().products; // the last one is open
  for (; products.size() > static_cast<size_t>(pending) + 1; products.pop_front())
    for (const PendingRead &read : products.front())
      block->overwritten |= std::memcmp(read.from, read.bytes.data(), read.bytes.size()) != 0;
  block->meetWarp(); // .sync.aligned: no lane goes on, and releases what was read, before all have waited
}
} // namespace

void tilewright::test::setProductVerbs(const void **verbs) {
  auto set = [&](Verb verb, auto *function) { verbs[verb] = reinterpret_cast<const void *>(function); };
  set(Multiply, multiply), set(MultiplyBytes, multiplyBytes), set(MultiplySharedBytes, multiplySharedBytes);
  set(RoundToTf32, roundToTf32), set(MultiplyTf32, multiplyTf32);
  set(MultiplyShared, multiplyShared), set(MultiplyHeld, multiplyHeld), set(MultiplyHeldSingles, multiplyHeldSingles);
  set(MultiplySharedSingles, multiplySharedSingles);
  set(CommitProducts, commitProducts), set(WaitProducts, waitProducts);
}
