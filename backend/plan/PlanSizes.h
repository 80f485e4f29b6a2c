// SPDX-License-Identifier: Apache-2.0
// Builds the symbols and size expressions of a plan.
//
// Each symbol of the module becomes a symbol of the plan, and is *bound* to a value at run time:
//   by an input          a dimension of an input is the symbol itself
//   by the outer plan    the branch or loop that runs a body gives its first symbols
//   by a step            a dimension of a host call's result, or an element of a tensor that sizes are read from
//   as a part            a dimension is c * s + k: a symbol of the plan stands for the whole dimension, s is the
//                        quotient, and a guard checks that the division has no remainder
//   by definition        `graph.definitions` gives it as an expression of other symbols
#pragma once

#include "frontend/graph/SizeDefinition.h"
#include "frontend/graph/Sizes.h"
#include "runtime/plan/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilewright {

class PlanSizes {
public:
  PlanSizes(mlir::ModuleOp module, runtime::Plan &plan);

  /// Enters the module's symbols into the plan. The step that runs this plan as a body binds the first `given`;
  /// dimensions of @main's inputs bind others.
  void bindInputs(mlir::func::FuncOp main, size_t given);
  /// Binds symbols to dimensions of a step's results. `values` are the plan's values of the results.
  std::vector<runtime::BoundSymbol> bindResults(mlir::ValueRange results, llvm::ArrayRef<runtime::ValueId> values);
  /// Marks a symbol as bound to an element of a tensor.
  void bindElement(unsigned symbol);

  runtime::ExprId expr(mlir::AffineExpr expression);
  runtime::ExprId constant(int64_t value) { return exprs.constant(value); }
  runtime::ExprId binary(runtime::ExprKind kind, runtime::ExprId lhs, runtime::ExprId rhs) {
    return exprs.binary(kind, lhs, rhs);
  }
  runtime::ExprId difference(runtime::ExprId lhs, runtime::ExprId rhs) {
    return exprs.add(lhs, exprs.mul(exprs.constant(-1), rhs));
  }
  /// A symbol of the plan (not of the module).
  runtime::ExprId planSymbol(runtime::SymbolId symbol) { return exprs.symbol(symbol); }
  /// The sizes in a tensor's type.
  std::vector<runtime::ExprId> sizesOf(mlir::Value value);

  /// True if every symbol of these expressions, or of the tensor's sizes, is bound by the inputs and the steps so far.
  bool isBound(llvm::ArrayRef<mlir::AffineExpr> sizes) const;
  bool isBound(mlir::Value value) const;

  /// Appends guards for dimensions bound as a whole since the last call: that c divides them without remainder.
  void addWholeGuards();
  /// Appends those of `graph.guards` whose symbols have become bound.
  void addGuards();
  /// The message of a guard whose symbols nothing binds, if there is one.
  std::optional<std::string> uncheckedGuard() const;

private:
  runtime::ExprId symbolExpr(unsigned position);
  runtime::ExprId definedExpr(const graph::SizeDefinition &definition);
  runtime::SymbolId bindScaled(mlir::AffineExpr size, std::string name, uint32_t input, uint32_t dim);
  bool isBoundSymbol(unsigned position) const;

  mlir::ModuleOp module;
  runtime::Plan &plan;
  runtime::ExprBuilder exprs;
  llvm::DenseSet<unsigned> bound;                   // by a step, or by the step that runs this plan as a body
  llvm::DenseMap<unsigned, runtime::ExprId> scaled; // parts s of a whole dimension c * s + k, as (whole - k) / c
  llvm::DenseMap<unsigned, graph::SizeDefinition> defined;
  llvm::DenseMap<unsigned, runtime::ExprId> definedIds;               // expressions of definitions in use
  std::vector<std::pair<runtime::SymbolId, mlir::AffineExpr>> wholes; // dimensions bound whole, not yet checked
  llvm::SmallVector<mlir::ArrayAttr> guards;                          // of the module, not yet checked
};

} // namespace tilewright
