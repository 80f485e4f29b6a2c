// SPDX-License-Identifier: Apache-2.0
// Symbols that are computed from other symbols, for sizes that are not polynomials.
//
//   graph.definitions = [[2, "min", affine_map<()[s0] -> (s0)>, affine_map<() -> (512)>], ...]        s2 = min(s0, 512)
//
// The plan, the tests' interpreter and the import's trial runs compute them. For everything else they are symbols like
// any other.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace tilewright::graph {

enum class DefinitionKind {
  Minimum,   // "min"
  Maximum,   // "max"
  Quotient,  // "floordiv": an exact division; a guard checks that
  Broadcast, // "broadcast": rhs if lhs is 1, else lhs
  Value,     // "value": lhs, an expression that has been replaced everywhere but in a guard
};

/// Whether an attribute is an affine map with one result, in symbols only.
bool isSize(mlir::Attribute attribute);

struct SizeDefinition {
  unsigned symbol = 0;
  DefinitionKind kind = DefinitionKind::Value;
  mlir::AffineExpr lhs, rhs;

  /// The value of the symbol, from the values of both sides.
  static int64_t compute(DefinitionKind kind, int64_t lhs, int64_t rhs);

  mlir::ArrayAttr toAttribute(mlir::MLIRContext *context) const;
  static SizeDefinition fromAttribute(mlir::ArrayAttr attribute);
  /// Whether `attribute` is one that toAttribute makes.
  static bool isValid(mlir::ArrayAttr attribute);
};

/// The definitions of a module, each after those it depends on.
llvm::SmallVector<SizeDefinition> definitionsOf(mlir::Operation *module);

/// Those symbols of `definitions` and `readSymbols` that may be 0 even if no tensor is empty, because they are offsets
/// or amounts of padding rather than sizes.
llvm::SmallVector<int64_t> symbolsThatMayBeZero(llvm::ArrayRef<SizeDefinition> definitions,
                                                llvm::ArrayRef<int64_t> readSymbols);

/// `size` as c * s + k with a symbol s and constants c >= 1 and k, so that the symbol's value follows from the value of
/// `size`. nullopt if it has another form.
struct ScaledSymbol {
  unsigned symbol = 0;
  int64_t factor = 1, added = 0;
};
std::optional<ScaledSymbol> asScaledSymbol(mlir::AffineExpr size);

} // namespace tilewright::graph
