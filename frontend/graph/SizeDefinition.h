// Symbols whose values other symbols give: sizes that no polynomial says.
//
//   graph.definitions = [[2, "min", affine_map<()[s0] -> (s0)>, affine_map<() -> (512)>], ...]        s2 = min(s0, 512)
//
// Whoever needs numbers (the plan, the interpreter, an import's trials) computes them; everything else sees a symbol
// like any other.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace tilewright::graph {

enum class DefinitionKind {
  Minimum,   // "min"
  Maximum,   // "max"
  Quotient,  // "floordiv": of what is divided exactly, by a guard
  Broadcast, // "broadcast": the other one where the first is 1, else the first
  Value,     // "value": the first; for guards on an expression that has been replaced everywhere else
};

struct SizeDefinition {
  unsigned symbol = 0;
  DefinitionKind kind = DefinitionKind::Value;
  mlir::AffineExpr lhs, rhs;

  /// From numbers for both sides.
  static int64_t compute(DefinitionKind kind, int64_t lhs, int64_t rhs);

  mlir::ArrayAttr toAttribute(mlir::MLIRContext *context) const;
  static SizeDefinition fromAttribute(mlir::ArrayAttr attribute);
};

/// The definitions of a module, in an order in which none needs a later one.
llvm::SmallVector<SizeDefinition> definitionsOf(mlir::Operation *module);

/// The symbols of `definitions`, and of `readSymbols`, that may be 0 though no tensor is empty: a place, or how much is
/// left out. All others are sizes.
llvm::SmallVector<int64_t> symbolsThatMayBeZero(llvm::ArrayRef<SizeDefinition> definitions,
                                                llvm::ArrayRef<int64_t> readSymbols);

/// The whole x with `size` = c * s + k for a symbol s and constants c >= 1 and k: s = (x - k) floordiv c.
struct ScaledSymbol {
  unsigned symbol = 0;
  int64_t factor = 1, added = 0;
};
std::optional<ScaledSymbol> asScaledSymbol(mlir::AffineExpr size);

} // namespace tilewright::graph
