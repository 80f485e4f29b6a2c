// SPDX-License-Identifier: Apache-2.0
// A constant mask as a comparison of its indices, so that a kernel need not read it:
//
//   0 x x        %in = arith.cmpi sle, (iota of columns), (iota of rows)
//   0 0 x   ->   arith.select %in, 0, x
//   0 0 0
#pragma once

#include "mlir/IR/Builders.h"

#include <map>
#include <optional>

namespace tilewright::fusion {

/// The constants of one module, each of which is read once.
class ComparedBands {
public:
  /// Emits at `builder` what equals `constant`, if that is a graph.constant of booleans or floats whose elements are
  /// two numbers, one of them 0, of which one fills a band (ConstantBand.h). Null for everything else.
  mlir::Value emit(mlir::Operation *constant, mlir::OpBuilder &builder);

private:
  struct Band {
    unsigned row, column;
    int64_t shapeRow, shapeColumn, first, last;
    double inside, outside;
  };
  static std::optional<Band> find(mlir::Operation *constant);
  std::map<mlir::Operation *, std::optional<Band>> known;
};

} // namespace tilewright::fusion
