// SPDX-License-Identifier: Apache-2.0
// Parses dim_param strings: "batch", "seq + 1", "2*batch".
#pragma once

#include "mlir/IR/AffineExpr.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Parses sums, products, quotients (//, /) and remainders of integers and names. `symbol` gives the expression for a
/// name, or null if it is unknown. Null if the text is not such an expression; it is then a name itself.
mlir::AffineExpr parseDimExpression(mlir::MLIRContext *context, std::string_view text,
                                    const std::function<mlir::AffineExpr(std::string_view)> &symbol);

/// Whether the text is a single name.
bool isDimName(std::string_view text);

} // namespace tilewright
