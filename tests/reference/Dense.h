// SPDX-License-Identifier: Apache-2.0
// A tensor whose elements are doubles, whatever its element type: what tests of kernels compare.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright::tests {

struct Dense {
  std::vector<int64_t> shape;
  std::vector<double> elements;

  int64_t count() const {
    int64_t total = 1;
    for (int64_t size : shape)
      total *= size;
    return total;
  }
};

} // namespace tilewright::tests
