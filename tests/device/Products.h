// SPDX-License-Identifier: Apache-2.0
// A contraction as a device case.
#pragma once

#include "tests/device/Cases.h"

namespace tilewright::test {

enum class Tail {
  Bias,     // y = a * b + bias, in the type of the sums
  Residual, // y = a * b + r, in the operands' type: lanes exchange halves for wide loads and stores
  Gelu,     // y = gelu(a * b + bias), in the operands' type
  Rounded,  // y = a * b + bias, in the operands' type
};

struct Product {
  DType type;
  int64_t m, n, k, bm, bn, bk, warps, stages;
  bool transposedA = false, transposedB = false, prologue = false;
  Tail tail = Tail::Bias;
  bool runTimeColumns = false;               // n is known only at run time: each access has two versions
  bool unsignedA = false, unsignedB = false; // of bytes
  int64_t groups = 0;                        // copies by warps of their own; the grid has one dimension
  int64_t parts = 1;                         // programs that share the sums of a tile; likewise
  bool clustered = false;                    // these programs are a cluster
  bool constantB = false;                    // no kernel writes the right side
  bool ofModel = false;                      // nor the left side: both are inputs of the model, or constants
  bool filled = false;                       // the last row of tiles begins so early that it is full
  bool streamed = false;                     // what is read of it leaves the cache first
  int64_t lastColumns = 0; // of bn, in sums of their own: 192 columns are 128 and 64, 80 are 64 and 16
  bool rounded = false;    // singles by one product of tf32, which the copy engine rounds
};

DeviceCase product(const Product &p, std::string edge);

} // namespace tilewright::test
