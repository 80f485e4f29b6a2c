// The symbols and size expressions of a plan while it is built.
//
// A symbol of the module becomes a symbol of the plan. It is *bound* once its value is known when running:
//   by an input          a dimension of an input is the bare symbol
//   by what runs a body  the first symbols of a body are given by the branch or loop around it
//   by a step            a host call's result has it as a dimension, or sizes are read from a tensor's elements
//   as a part            a dimension is c * s + k of it: a symbol of the plan stands for the whole dimension, s is the
//                        quotient, and a guard checks that the division leaves nothing over
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

  /// Enters the module's symbols into the plan. The first `given` are bound by the step that runs this plan as a body;
  /// of the others, those that dimensions of @main's inputs tell are bound by these.
  void bindInputs(mlir::func::FuncOp main, size_t given);
  /// Binds the symbols that dimensions of a step's results tell. `values` are the plan's values of the results.
  std::vector<runtime::BoundSymbol> bindResults(mlir::ValueRange results, llvm::ArrayRef<runtime::ValueId> values);
  /// Binds a symbol that an element of a tensor tells.
  void bindElement(unsigned symbol);

  runtime::ExprId expr(mlir::AffineExpr expression);
  runtime::ExprId constant(int64_t value) { return exprs.constant(value); }
  /// A symbol of the plan (not of the module).
  runtime::ExprId planSymbol(runtime::SymbolId symbol) { return exprs.symbol(symbol); }
  /// The sizes of a tensor, as its type has them.
  std::vector<runtime::ExprId> sizesOf(mlir::Value value);

  /// True if every symbol of these expressions, or of the tensor's sizes, is bound by what the plan holds so far.
  bool isBound(llvm::ArrayRef<mlir::AffineExpr> sizes) const;
  bool isBound(mlir::Value value) const;

  /// Appends the guards of the dimensions bound as a whole since the last call.
  void addWholeGuards();
  /// Appends those of `graph.guards` whose symbols are bound and that the plan does not check yet.
  void addGuards();
  /// A guard that the plan does not check, because nothing binds its symbols.
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
  llvm::DenseMap<unsigned, runtime::ExprId> scaled; // symbols of which a dimension is c * s + k: (it - k) / c
  llvm::DenseMap<unsigned, graph::SizeDefinition> defined;
  llvm::DenseMap<unsigned, runtime::ExprId> definedIds;               // those that were asked for
  std::vector<std::pair<runtime::SymbolId, mlir::AffineExpr>> wholes; // dimensions bound whole, not yet checked
  llvm::SmallVector<mlir::ArrayAttr> guards;                          // of the module, not yet checked
};

} // namespace tilewright
