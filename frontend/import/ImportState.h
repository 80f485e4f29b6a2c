// What the importer knows while it walks a model: values, symbols, and the module that grows.
#pragma once

#include "frontend/import/ImportFailure.h"
#include "frontend/import/Importer.h"
#include "frontend/graph/GraphOps.h"
#include "frontend/graph/SizeDefinition.h"
#include "runtime/Tensor.h"

#include "mlir/IR/Builders.h"

#include <deque>

namespace tilewright {

using Sizes = llvm::SmallVector<mlir::AffineExpr>;

/// What is known of the elements of a sequence, or of what an optional value holds.
struct ElementFacts {
  DType type = DType::F32;
  std::optional<Sizes> sizes; // nothing while the rank is not known; null for a size that elements do not share
  std::shared_ptr<const ElementFacts> element; // of its own elements, if it is a sequence or an optional value
};

/// A bool that says whether two sizes are equal, or (`negated`) whether they differ.
struct SizesCompared {
  mlir::AffineExpr a, b;
  bool negated = false;
};

/// One value of the ONNX graph. Any of `value`, `constant` and `elements` may be known; `ImportState::materialize`
/// makes the first from the others when an operation needs it, so shape arithmetic leaves nothing in the IR.
struct ImportedValue {
  std::string name;
  DType type = DType::F32;
  Sizes sizes;
  mlir::Value value;
  std::optional<Tensor> constant;
  std::optional<Sizes> elements;         // contents of a small integer tensor, as expressions in symbols
  std::optional<SizesCompared> compared; // what one bool means that sizes decide while running
  std::shared_ptr<const ElementFacts>
      element; // of a sequence or an optional value: what is in it; null if nothing is known to be

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
};

/// The element type that holds `type` in the graph dialect: signless integers, i1 for bool, a type of the dialect's own
/// for objects.
mlir::Type elementType(mlir::MLIRContext *context, DType type);
/// Whether arithmetic on `type` is done in f32 (half types are storage).
inline bool isHalf(DType type) { return type == DType::F16 || type == DType::BF16; }
inline bool isFloat(DType type) { return findDType(type) && findDType(type)->isFloat; }

class ImportState {
public:
  ImportState(mlir::MLIRContext &context, const ImportOptions &options, ImportReport &report);

  mlir::MLIRContext *context;
  const ImportOptions &options;
  ImportReport &report;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  mlir::OpBuilder builder;
  std::map<std::string, int64_t, std::less<>> declaredRanks; // of values that the model gives a shape
  std::vector<std::string> nodes;                            // "name|OpType", the module's graph.nodes
  llvm::DenseMap<mlir::Operation *, Tensor> constantTensors; // what graph.constant operations hold

  /// An empty @main.
  void beginMain();
  /// Begins as the body of a branch or a loop of `outer`: with its symbols, as its first, and its nodes.
  void enter(const ImportState &outer);
  /// A new argument of @main.
  ImportedValue *addInput(const std::string &name, DType type, const Sizes &sizes,
                          std::shared_ptr<const ElementFacts> element = nullptr);
  /// Ends @main with `outputs`, under these names.
  void setOutputs(llvm::ArrayRef<ImportedValue *> outputs, llvm::ArrayRef<std::string> names);
  /// Adds the module of a body, finished, and returns its name.
  std::string addBody(ImportState &body);

  ImportedValue *newValue(std::string name);
  ImportedValue *newConstant(std::string name, Tensor tensor);

  /// The symbol of this name, made on first use.
  mlir::AffineExpr symbol(std::string_view name);
  /// A symbol that no model can have named: "<stem>0", "<stem>1", ...
  mlir::AffineExpr freshSymbol(std::string_view stem);
  /// The same, for a size that was `first` and `second` when kernels were tried at sizes of the import's choice; none
  /// of them may be 0.
  mlir::AffineExpr freshSymbol(std::string_view stem, int64_t first, int64_t second);
  /// What each symbol stands for in the first (0) and the second trial of kernels: small numbers, in proportion to each
  /// other.
  const std::vector<int64_t> &trialNumbers(int trial) const { return numbers[trial]; }
  /// The same times `scale`, or ones for 0.
  std::vector<int64_t> scaledTrial(int trial, int64_t scale) const;
  /// The elements of `numbers`, a vector of i64, are `symbols` from here on. Any other size that one of them turns out
  /// to be is checked when it has been read.
  void readSizes(mlir::Value numbers, llvm::ArrayRef<mlir::AffineExpr> symbols);
  const std::vector<std::string> &symbols() const { return symbolNames; }
  std::string print(mlir::AffineExpr size) const { return graph::printSize(size, symbolNames); }
  std::string print(llvm::ArrayRef<mlir::AffineExpr> sizes) const;

  //===- Sizes that must fit each other (SolveSizes.cpp) ----------------------------------------------------------===//
  /// Makes two sizes equal: by solving for a symbol or a quotient, which vanishes from everything imported so far
  /// (inputs too, so that binding them checks it). What cannot be solved becomes a guard with `message`, and then the
  /// two still are different expressions: `NodeBuilder::conform` gives a tensor the other. False if they differ
  /// whatever the symbols are.
  bool unify(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message = "");
  /// size / by, where `by` divides it at run time, which is guarded unless it is known. Null if it never does.
  mlir::AffineExpr divide(mlir::AffineExpr size, mlir::AffineExpr by, const std::string &message);
  mlir::AffineExpr minimum(mlir::AffineExpr a, mlir::AffineExpr b);
  mlir::AffineExpr maximum(mlir::AffineExpr a, mlir::AffineExpr b);
  /// The size of what a dimension of `a` and one of `b` broadcast to, each 1 or that size, which is guarded.
  mlir::AffineExpr broadcast(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message);
  /// A size read before some `unify`, as it is now.
  mlir::AffineExpr resolve(mlir::AffineExpr size) const;
  /// Requires a <= b at run time, where that cannot be told now. False if it is wrong for constants.
  bool requireAtMost(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message);
  /// Requires a != b at run time.
  void requireDifferent(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message);
  /// Whether two sizes on which the rank that `asker` gives depends are taken to be equal, which is required at run
  /// time. An import that fails is tried again with another answer, unless there is only one.
  bool takeEqual(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &asker,
                 std::optional<bool> only = std::nullopt);
  /// Whether `size` is what `broadcast` made of others.
  bool isBroadcast(mlir::AffineExpr size) const;
  /// Whether `size` is a symbol that a dimension of an input binds.
  bool isInputSymbol(mlir::AffineExpr size) const;

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

  /// Writes symbols, nodes, guards and bodies to the module, and erases what nobody reads.
  void finish();

  mlir::Location location; // of the node being imported

private:
  mlir::Value splatAttribute(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, mlir::TypedAttr scalar);
  mlir::AffineExpr partSymbol(mlir::AffineExpr whole, int64_t by);
  mlir::AffineExpr define(graph::DefinitionKind kind, mlir::AffineExpr a, mlir::AffineExpr b, bool isTwin = false);
  std::vector<graph::SizeDefinition> orderedDefinitions() const;
  const graph::SizeDefinition *definitionOf(mlir::AffineExpr symbol) const;
  bool isEarly(mlir::AffineExpr expr) const;
  mlir::AffineExpr readInstead(mlir::AffineExpr symbol);
  bool dependsOn(mlir::AffineExpr expr, mlir::AffineExpr part) const;
  bool solveForSymbol(mlir::AffineExpr difference, const std::string &message);
  bool solveByMultiples(mlir::AffineExpr difference);
  bool solveForQuotient(mlir::AffineExpr difference, const std::string &message);
  void replaceEverywhere(mlir::AffineExpr part, mlir::AffineExpr by);
  void guard(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message, llvm::StringRef relation);

  std::deque<ImportedValue> values;
  std::vector<std::string> symbolNames;
  std::map<std::string, int, std::less<>> nextFresh;                   // number after the stem
  std::vector<int64_t> numbers[2];                                     // of the symbols, in trials
  std::vector<std::pair<mlir::AffineExpr, mlir::AffineExpr>> replaced; // in the order of the unifications
  std::vector<graph::SizeDefinition> definitions;
  llvm::SmallDenseSet<int64_t> readSymbols; // that a graph.read_sizes binds
  std::vector<mlir::Attribute> guards;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>>
      bodies; // joined to the module at the end, so that no walk over it meets their symbols
};

} // namespace tilewright
