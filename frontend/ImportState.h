// What the importer knows while it walks a model: values, symbols, and the module that grows.
#pragma once

#include "frontend/ImportFailure.h"
#include "frontend/Importer.h"
#include "frontend/graph/GraphOps.h"
#include "runtime/Tensor.h"

#include "mlir/IR/Builders.h"

#include <deque>

namespace tilewright {

using Sizes = llvm::SmallVector<mlir::AffineExpr>;

/// One value of the ONNX graph. Any of `value`, `constant` and `elements` may be known; `ImportState::materialize` makes the first from
/// the others when an operation needs it, so shape arithmetic leaves nothing in the IR.
struct ImportedValue {
  std::string name;
  DType type = DType::F32;
  Sizes sizes;
  mlir::Value value;
  std::optional<Tensor> constant;
  std::optional<Sizes> elements; // contents of a small integer tensor, as expressions in symbols

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
};

/// The element type that holds `type` in the graph dialect: signless integers, i1 for bool.
mlir::Type elementType(mlir::MLIRContext *context, DType type);
/// Whether arithmetic on `type` is done in f32 (half types are storage).
inline bool isHalf(DType type) { return type == DType::F16 || type == DType::BF16; }
inline bool isFloat(DType type) { return findDType(type)->isFloat; }

class ImportState {
public:
  ImportState(mlir::MLIRContext &context, const ImportOptions &options, ImportReport &report);

  mlir::MLIRContext *context;
  const ImportOptions &options;
  ImportReport &report;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  mlir::OpBuilder builder;
  std::vector<std::string> nodes; // "name|OpType", the module's graph.nodes
  llvm::DenseMap<mlir::Operation *, Tensor> constantTensors; // what graph.constant operations hold

  ImportedValue *newValue(std::string name);
  ImportedValue *newConstant(std::string name, Tensor tensor);

  /// The symbol of this name, made on first use.
  mlir::AffineExpr symbol(std::string_view name);
  /// A symbol that no model can have named: "<stem>0", "<stem>1", ...
  mlir::AffineExpr freshSymbol(std::string_view stem);
  /// The same, for a size that was `first` and `second` when kernels were tried at sizes of the import's choice; none of them may be 0.
  mlir::AffineExpr freshSymbol(std::string_view stem, int64_t first, int64_t second);
  /// What each symbol stands for in the first (0) and the second trial of kernels: small numbers, in proportion to each other.
  const std::vector<int64_t> &trialNumbers(int trial) const { return numbers[trial]; }
  const std::vector<std::string> &symbols() const { return symbolNames; }
  std::string print(mlir::AffineExpr size) const { return graph::printSize(size, symbolNames); }
  std::string print(llvm::ArrayRef<mlir::AffineExpr> sizes) const;

  /// Makes two sizes equal: by solving for a symbol, which vanishes from everything imported so far (inputs too, so that binding them
  /// checks it). False if they differ as constants or cannot be solved.
  bool unify(mlir::AffineExpr a, mlir::AffineExpr b);
  /// A size read before some `unify`, as it is now.
  mlir::AffineExpr resolve(mlir::AffineExpr size) const;
  /// Requires a <= b at run time, where that cannot be told now. False if it is wrong for constants.
  bool requireAtMost(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message);

  mlir::RankedTensorType tensorType(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element) const;
  mlir::AffineExpr number(int64_t value) { return mlir::getAffineConstantExpr(value, context); }

  /// The value in the IR: a constant, or sizes as a tensor, if it is not there yet.
  mlir::Value materialize(ImportedValue &value);
  /// A constant operation with these contents: a splat as arith.constant, anything else through the pool.
  mlir::Value constant(const Tensor &tensor);
  /// A splat of `value` with static or symbolic sizes.
  mlir::Value splat(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, double value);
  mlir::Value splatInteger(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, int64_t value);

  /// Contents as size expressions, if they are known and few; null otherwise.
  const Sizes *elementsOf(ImportedValue &value);
  /// Contents as a host tensor, if every element is a constant; null otherwise.
  const Tensor *constantOf(ImportedValue &value);

  /// Writes symbols, nodes and guards to the module.
  void finish();

  mlir::Location location; // of the node being imported

private:
  mlir::Value splatAttribute(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, mlir::TypedAttr scalar);
  void replaceSymbol(unsigned position, mlir::AffineExpr by);

  std::deque<ImportedValue> values;
  std::vector<std::string> symbolNames;
  std::map<std::string, int, std::less<>> nextFresh; // number after the stem
  std::vector<int64_t> numbers[2];                   // of the symbols, in trials
  std::vector<std::pair<unsigned, mlir::AffineExpr>> replaced; // in the order of the unifications
  std::vector<mlir::Attribute> guards;
};

} // namespace tilewright
