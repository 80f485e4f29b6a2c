// SPDX-License-Identifier: Apache-2.0
// Cases of attention, as rows of sizes.
#pragma once

#include "tests/device/Cases.h"

#include <optional>

namespace tilewright::test {

/// Row i sees the keys up to i + past, and of these the last `window`.
struct CausalMask {
  int64_t past, window;
  bool sees(int64_t row, int64_t key) const { return key <= row + past && key > row + past - window; }
};

struct Attention {
  DType type;
  int64_t batch, rows, keys, head, tileRows, tileKeys, tileHead, warps, stages;
  bool runTimeKeys = false;
  int64_t groups = 0;    // with 1 the copies have warps of their own
  int64_t sharing = 1;   // query heads that share one of keys
  bool isJoined = false; // queries, keys and values are columns of a matrix of three times as many
  bool isScaled = false; // queries are halved before they are multiplied
  bool isTurned = false; // keys lie as columns
  bool isWide = false;   // weights and results are singles, values halves
  std::optional<CausalMask> mask = {};
  int64_t parts = 1;          // programs that have a part of the keys each
  bool skips = false;         // steps that exclude no key do not look
  int64_t order = 1;          // heads of which all tiles of the last rows come first
  bool isPowersOfTwo = false; // of which the weights are

  DType resultType() const { return isWide ? DType::F32 : type; }
  int64_t columns() const { return 3 * batch * head; } // if joined
  /// Element `d` of row `row` in one of the three operands.
  int64_t at(int64_t operand, int64_t b, int64_t row, int64_t d) const {
    int64_t size = operand ? keys : rows, heads = operand ? sharing : 1;
    if (isTurned && operand == 1)
      return (b * head + d) * keys + row;
    return isJoined ? row * columns() + (operand * batch + b) * head + d : (b / heads * size + row) * head + d;
  }
};

/// The case of one attention, compared with sums in double.
DeviceCase attention(const Attention &a, std::string edge);

} // namespace tilewright::test
