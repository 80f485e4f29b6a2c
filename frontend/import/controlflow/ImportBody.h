// SPDX-License-Identifier: Apache-2.0
// The body of a branch or loop during its import, and what If and the loops share.
#pragma once

#include "frontend/import/ModelImporter.h"

namespace tilewright {

struct ModelImporter::Body {
  Body(ImportState &outer)
      : outer(outer), state(*outer.context, outer.options, outer.report), given(outer.symbols().size()) {
    state.enter(outer);
  }

  ImportState &outer;
  ImportState state;
  Scope scope;
  size_t given; // how many symbols `state` has from `outer`: its first ones
  std::vector<ImportedValue *> outputs;
  llvm::SmallVector<mlir::Value> captures; // values of `outer`, in the order of the arguments they became
  std::map<const ImportedValue *, ImportedValue *> captured; // values of `outer`, and what they are inside

  bool isPoisoned() const { return llvm::any_of(outputs, tilewright::isPoisoned); }
  /// The values of the given symbols, as expressions in the symbols of `outer`.
  mlir::AffineMap sizes() const {
    Sizes symbols;
    for (size_t i = 0; i < given; ++i)
      symbols.push_back(outer.resolve(mlir::getAffineSymbolExpr(i, outer.context)));
    return mlir::AffineMap::get(0, outer.symbols().size(), symbols, outer.context);
  }
};

/// The results of a flow.if or flow.loop.
struct BodyResults {
  llvm::SmallVector<ImportedValue *> values;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<DType> dtypes;

  void add(ImportState &state, ImportedValue *value);
  /// Makes the results of `op` the values, and notes their ONNX types in an attribute.
  void attach(ImportState &state, mlir::Operation *op) const;
};

/// The value of a condition that is a constant of one element.
std::optional<bool> constantBool(ImportState &state, ImportedValue &value);
/// Malformed unless the value is boolean.
void expectCondition(const ImportedValue &value);

} // namespace tilewright
