// SPDX-License-Identifier: Apache-2.0
// The features that models of ai.onnx.ml take.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// X [rows, features], or one row.
struct Table {
  Values<double> values;
  int64_t rows, columns;

  explicit Table(const Tensor &x)
      : values(x), rows(x.rank() == 1   ? 1
                        : x.rank() == 2 ? x.shape()[0]
                                        : 0),
        columns(x.rank() >= 1 ? x.shape().back() : 0) {
    require(x.rank() == 1 || x.rank() == 2, "expected features of shape [rows, features], found {}", x.shape());
  }
  const double *row(int64_t i) const { return values.data() + i * columns; }
};

} // namespace tilewright::reference
