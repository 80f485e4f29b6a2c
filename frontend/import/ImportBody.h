// The body of a branch or a loop while it is imported, and what If and the loops share.
#pragma once

#include "frontend/import/ModelImporter.h"

namespace tilewright {

/// A body while it is imported.
struct ModelImporter::Body {
  Body(ImportState &outer)
      : outer(outer), state(*outer.context, outer.options, outer.report), given(outer.symbols().size()) {
    state.enter(outer);
  }

  ImportState &outer;
  ImportState state;
  Scope scope;
  size_t given; // symbols of `state` that are those of `outer`
  std::vector<ImportedValue *> outputs;
  llvm::SmallVector<mlir::Value> captures; // the values of `outer` that became arguments, in their order
  std::map<const ImportedValue *, ImportedValue *> known;

  bool isPoisonous() const {
    return llvm::any_of(outputs, [](auto *output) { return isPoisoned(output); });
  }
  mlir::AffineMap sizes() const {
    Sizes symbols;
    for (size_t i = 0; i < given; ++i)
      symbols.push_back(outer.resolve(mlir::getAffineSymbolExpr(i, outer.context)));
    return mlir::AffineMap::get(0, outer.symbols().size(), symbols, outer.context);
  }
};

/// The only element of a constant condition.
std::optional<bool> constantBool(ImportState &state, ImportedValue &value);
/// Malformed unless it is of bools.
void expectCondition(const ImportedValue &value);
mlir::ArrayAttr dtypeNames(ImportState &state, llvm::ArrayRef<DType> types);

} // namespace tilewright
