// SPDX-License-Identifier: Apache-2.0
// What the importer knows while it walks a model: values, symbols, and the module under construction.
#pragma once

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/SizeDefinition.h"
#include "frontend/state/ImportFailure.h"
#include "frontend/state/ImportOptions.h"
#include "frontend/state/ImportReport.h"
#include "runtime/Tensor.h"

#include "mlir/IR/Builders.h"

#include <deque>

namespace tilewright {

using Sizes = llvm::SmallVector<mlir::AffineExpr>;

struct OnnxType;
using OnnxTypePtr = std::shared_ptr<const OnnxType>;

/// The type of the elements of a sequence, of the content of an optional value or of a map's values, as far as it is
/// known.
struct OnnxType {
  DType type = DType::F32;
  std::optional<Sizes> sizes; // absent if the rank is unknown; a null size differs from element to element
  OnnxTypePtr element;        // of a nested sequence, optional value or map
};

/// The meaning of a boolean value: whether two sizes are equal or, if `negated`, whether they differ.
struct SizeComparison {
  mlir::AffineExpr a, b;
  bool negated = false;
};

/// One value of the ONNX graph. It may have an IR value, constant contents, or contents that are expressions in
/// symbols. `ImportState::materialize` makes the IR value from the contents only when an operation needs it, so shape
/// arithmetic leaves nothing in the IR.
struct ImportedValue {
  std::string name;
  DType type = DType::F32;
  Sizes sizes;
  mlir::Value value;
  std::optional<Tensor> constant;
  std::optional<Sizes> elements;          // contents of a small integer tensor, as expressions in symbols
  std::optional<SizeComparison> compared; // set for a boolean that the model computed by comparing sizes
  OnnxTypePtr element;                    // for a sequence or an optional value; null if no element is known

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
};

/// The element type in IR for `type`: signless integers, i1 for bool, a type of the flow dialect for strings,
/// sequences, optional values and maps.
mlir::Type elementType(mlir::MLIRContext *context, DType type);
/// Whether `type` is only a storage type: arithmetic on it is done in f32.
inline bool isHalf(DType type) { return type == DType::F16 || type == DType::BF16; }
inline bool isFloat(DType type) { return findDType(type) && findDType(type)->isFloat; }

/// Element `i` of a tensor of integers or booleans.
int64_t integerAt(const Tensor &tensor, int64_t i);

/// A symbol and the size that it is taken for.
using SizeAssumption = std::pair<mlir::AffineExpr, mlir::AffineExpr>;

class ImportState {
public:
  ImportState(mlir::MLIRContext &context, const ImportOptions &options, ImportReport &report);

  mlir::MLIRContext *context;
  const ImportOptions &options;
  ImportReport &report;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  mlir::OpBuilder builder;
  std::map<std::string, int64_t, std::less<>> declaredRanks; // by value name, where the model declares a shape
  std::vector<std::string> nodes;                            // "name|OpType", the module's graph.nodes
  llvm::DenseMap<mlir::Operation *, Tensor> constantTensors; // what graph.constant operations hold

  /// Starts an empty @main.
  void beginMain();
  /// Starts the body of a branch or loop inside of `outer`. The symbols of `outer` become the first symbols here, and
  /// its list of nodes is continued.
  void enter(const ImportState &outer);
  /// Adds an argument to @main.
  ImportedValue *addInput(const std::string &name, DType type, const Sizes &sizes, OnnxTypePtr element = nullptr);
  /// Terminates @main: it returns `outputs` under these names.
  void setOutputs(llvm::ArrayRef<ImportedValue *> outputs, llvm::ArrayRef<std::string> names);
  /// Finishes a body, adds its module to this one and returns the module's name.
  std::string addBody(ImportState &body);

  ImportedValue *newValue(std::string name);
  ImportedValue *newConstant(std::string name, Tensor tensor);

  /// The symbol of this name, made on first use.
  mlir::AffineExpr symbol(std::string_view name);
  /// A symbol with a new name: "<stem>0", "<stem>1", ...
  mlir::AffineExpr freshSymbol(std::string_view stem);
  /// The same, for a size that was `first` and `second` in the two trial runs of a reference kernel
  /// (HostCallResults.cpp). They become the symbol's trial numbers, unless one is 0.
  mlir::AffineExpr freshSymbol(std::string_view stem, int64_t first, int64_t second);
  /// The value of each symbol in trial run 0 or 1: small numbers that are consistent with each other.
  const std::vector<int64_t> &trialNumbers(int trial) const { return numbers[trial]; }
  /// The same numbers multiplied by `scale`; all 1 if `scale` is 0.
  std::vector<int64_t> scaledTrial(int trial, int64_t scale) const;
  /// Binds `symbols` to the elements of `numbers`, a vector of i64, at run time. If a later `unify` replaces one of
  /// them by another size, the number read is checked against that size.
  void readSizes(mlir::Value numbers, llvm::ArrayRef<mlir::AffineExpr> symbols);
  const std::vector<std::string> &symbols() const { return symbolNames; }
  std::string print(mlir::AffineExpr size) const { return graph::printSize(size, symbolNames); }
  std::string print(llvm::ArrayRef<mlir::AffineExpr> sizes) const;

  //===- Constraints on sizes (SolveSizes.cpp) --------------------------------------------------------------------===//
  /// Makes two sizes equal, if possible by solving for a symbol or a quotient. That is then replaced in everything
  /// imported so far, the types of inputs included, so that the runtime checks it when it binds the inputs. Otherwise
  /// the equality becomes a guard with `message`, and the two remain different expressions (`NodeBuilder::conform`
  /// converts a tensor from one to the other). False if the sizes differ for all values of the symbols.
  bool unify(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message = "");
  /// size / by, with a guard that the division is exact unless that is known. Null if it can never be.
  mlir::AffineExpr divide(mlir::AffineExpr size, mlir::AffineExpr by, const std::string &message);
  mlir::AffineExpr minimum(mlir::AffineExpr a, mlir::AffineExpr b);
  mlir::AffineExpr maximum(mlir::AffineExpr a, mlir::AffineExpr b);
  /// The size that dimensions of sizes `a` and `b` broadcast to at run time. A guard checks that they do: that each is
  /// 1 or the result.
  mlir::AffineExpr broadcast(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message);
  /// Records that a = b for sizes of which some were read at run time, which the plan checks by itself. `unify` then
  /// gives none of them a size for which that is never true.
  void recordEqual(mlir::AffineExpr a, mlir::AffineExpr b) { equations.push_back(resolve(a - b)); }
  /// Whether a recorded equation cannot hold if each symbol of `assumed` is the size that is paired with it, and all
  /// sizes are at least `least` (0 or 1).
  bool contradicts(llvm::ArrayRef<SizeAssumption> assumed, int64_t least) const;
  /// Whether `size` is a symbol that was read at run time.
  bool isRead(mlir::AffineExpr size) const;
  /// From now on sizes that `symbol` meets in a broadcast are not assumed to equal it: it may be 1.
  void takeAsRepeated(mlir::AffineExpr symbol) { repeated.insert(symbol); }
  bool isRepeated(mlir::AffineExpr size) const { return repeated.contains(size); }
  /// `size` after all replacements that `unify` has made since it was read.
  mlir::AffineExpr resolve(mlir::AffineExpr size) const;
  /// Requires a <= b, with a guard unless it is known. False if both are constants and it does not hold.
  bool requireAtMost(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message);
  /// Requires a != b at run time.
  void requireDifferent(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message);
  /// Decides whether to assume that two sizes are equal, because the rank of the result of node `asker` depends on it.
  /// The assumption is checked at run time. If the import fails later, it is tried again with the other answer, unless
  /// `only` says that there is just one.
  bool takeEqual(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &asker,
                 std::optional<bool> only = std::nullopt);
  /// Whether `size` is a symbol that `broadcast` defined.
  bool isBroadcast(mlir::AffineExpr size) const;
  /// Whether `size` is a symbol that is the size of an input's dimension.
  bool isInputSymbol(mlir::AffineExpr size) const;
  /// Whether the inputs bind every symbol of `expr`, so that its value is known before the first step runs.
  bool isEarly(mlir::AffineExpr expr) const;
  /// Whether only running the model tells the value of `expr`. In a body, that may be so of what its inputs bind: of
  /// sizes that are late outside, and of those that differ from one iteration to the next.
  bool isLate(mlir::AffineExpr expr) const;
  void takeAsLate(mlir::AffineExpr symbol) { lateInputs.push_back(symbol); }

  mlir::RankedTensorType tensorType(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element) const;
  mlir::AffineExpr number(int64_t value) { return mlir::getAffineConstantExpr(value, context); }

  /// The IR value. If there is none yet, creates it: a constant, or a tensor of sizes.
  mlir::Value materialize(ImportedValue &value);
  /// A constant with these contents: an arith.constant for a splat, otherwise a graph.constant in the constant pool.
  mlir::Value constant(const Tensor &tensor);
  /// A tensor with `value` in every element; sizes may be symbolic.
  mlir::Value splat(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, double value);
  mlir::Value splatInteger(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, int64_t value);

  /// The contents as size expressions; null if they are unknown or too many.
  const Sizes *elementsOf(ImportedValue &value);
  /// The contents as a tensor; null unless every element is a known constant.
  const Tensor *constantOf(ImportedValue &value);

  /// Adds symbols, nodes, guards, definitions and bodies to the module and erases dead operations.
  void finish();

  mlir::Location location; // of the node being imported

private:
  mlir::Value splatAttribute(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, mlir::TypedAttr scalar);
  mlir::AffineExpr partSymbol(mlir::AffineExpr whole, int64_t by);
  mlir::AffineExpr define(graph::DefinitionKind kind, mlir::AffineExpr a, mlir::AffineExpr b, bool isTwin = false);
  std::vector<graph::SizeDefinition> orderedDefinitions() const;
  const graph::SizeDefinition *definitionOf(mlir::AffineExpr symbol) const;
  mlir::AffineExpr readInstead(mlir::AffineExpr symbol);
  bool dependsOn(mlir::AffineExpr expr, mlir::AffineExpr part) const;
  bool solveForSymbol(mlir::AffineExpr difference, const std::string &message);
  bool solveByMultiples(mlir::AffineExpr difference);
  bool solveForQuotient(mlir::AffineExpr difference, const std::string &message);
  void replaceEverywhere(mlir::AffineExpr part, mlir::AffineExpr by);
  void guard(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &message, llvm::StringRef relation);

  std::deque<ImportedValue> values;
  std::vector<std::string> symbolNames;
  std::map<std::string, int, std::less<>> nextFresh;                   // by stem, the next number to try
  std::vector<int64_t> numbers[2];                                     // value of each symbol in the two trial runs
  std::vector<std::pair<mlir::AffineExpr, mlir::AffineExpr>> replaced; // (old, new), in the order of `unify`
  std::vector<graph::SizeDefinition> definitions;
  llvm::SmallDenseSet<int64_t> readSymbols; // bound by a graph.read_sizes
  std::vector<mlir::AffineExpr> equations;  // differences that are 0
  llvm::SmallDenseSet<mlir::AffineExpr> repeated;
  std::vector<mlir::AffineExpr> lateInputs; // symbols
  std::vector<mlir::Attribute> guards;
  /// Kept apart until `finish`, so that a walk over the module does not meet the symbols of bodies.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> bodies;
};

} // namespace tilewright
