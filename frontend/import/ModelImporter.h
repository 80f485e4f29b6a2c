// SPDX-License-Identifier: Apache-2.0
// The walk over a parsed model: scopes, functions, branches and loops, and the import of each node.
#pragma once

#include "frontend/builder/NodeBuilder.h"
#include "frontend/onnx/TensorData.h"

#include "onnx/onnx.pb.h"

#include <deque>
#include <unordered_map>

namespace tilewright {

/// "ai.onnx" and "" are the same domain.
inline std::string canonicalDomain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

inline constexpr int maxDepth = 64; // nesting of functions and bodies

/// Whether `value` is the result of an unsupported node. Nodes that read it are skipped.
inline bool isPoisoned(const ImportedValue *value) {
  return value && !value->value && !value->constant && !value->elements;
}

class ModelImporter {
public:
  /// Constants share the bytes of `model` and keep it alive.
  ModelImporter(ImportState &state, std::shared_ptr<const onnx::ModelProto> model, ExternalData &files);

  /// Imports everything into the state's module. Throws ImportFailure.
  void run();

private:
  using Opsets = std::map<std::string, int64_t, std::less<>>;
  using AttributeRefs = std::map<std::string, const onnx::AttributeProto *, std::less<>>;

  // Declared here and defined in controlflow/.
  struct Body;
  struct Branches;
  struct LoopForm;
  struct LoopResults;

  /// The names of values. In a branch, names of the surrounding graph are visible too; in a function they are not.
  struct Scope {
    std::unordered_map<std::string, ImportedValue *> values;
    const Scope *parent = nullptr;
    std::string prefix; // of node names, for functions
    const Opsets *opsets = nullptr;
    AttributeRefs references; // the attributes that `ref_attr_name` refers to
    int depth = 0;
    std::unordered_set<std::string> readApart; // values that something else than one product or gather reads
    Body *body = nullptr; // if this is the scope of a body: it captures the values that it reads from `parent`
  };

  // ModelImporter.cpp: scopes and nodes.
  ImportedValue *lookup(const std::string &name, const Scope &scope, const std::string &reader) const;
  void define(const std::string &name, ImportedValue *value, Scope &scope);
  int64_t opsetOf(const std::string &domain, const std::string &op, const Scope &scope) const;
  std::string nodeName(const onnx::NodeProto &proto, const Scope &scope) const;
  static bool isConstantNode(const onnx::NodeProto &proto);
  void noteOverruled(const std::string &name) const;
  std::vector<int> topologicalOrder(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                                    const Scope &scope) const;
  static void noteReaders(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope);
  void importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope);
  void importNode(const onnx::NodeProto &proto, Scope &scope);

  // ImportInterface.cpp
  void bindShapeOptions();
  void importInputs(Scope &scope);
  mlir::DictionaryAttr importInput(const onnx::ValueInfoProto &info, Scope &scope);
  mlir::AffineExpr inputSize(const onnx::TensorShapeProto::Dimension &dim, const std::string &input, int64_t position);
  void importInitializers(const onnx::GraphProto &graph, Scope &scope);
  void importOutputs(const Scope &scope);

  // ImportAttributes.cpp
  Attributes attributesOf(const onnx::NodeProto &proto, const Scope &scope);
  TensorSource tensorSource();
  Tensor decode(const onnx::TensorProto &proto, const std::string &name);
  Tensor decode(const onnx::SparseTensorProto &proto);
  void importConstant(const onnx::NodeProto &proto, const Attributes &attributes, Scope &scope);

  // InlineFunction.cpp
  const onnx::FunctionProto *functionOf(const onnx::NodeProto &proto, const std::string &domain,
                                        const Scope &scope) const;
  void inlineFunction(const onnx::NodeProto &proto, const onnx::FunctionProto &function, Scope &scope);

  // ImportOperator.cpp. Each of the functions that return bool says whether it has set the node's outputs.
  void importOperator(NodeBuilder::Node &node);
  bool foldConstants(NodeBuilder &builder);
  bool compileNode(NodeBuilder &builder, std::string &whyNot);
  bool callHost(NodeBuilder &builder, std::string &why);
  /// Attributes the operations after `last` to an ONNX node, by its name and operator.
  void labelNewOperations(std::string_view name, std::string_view op, mlir::Operation *last);
  mlir::Operation *lastOperation() const;

  // ImportFlexAttention.cpp
  class FlexAttentionWriter;
  void importFlexAttention(const onnx::NodeProto &proto, Scope &scope);

  // ImportRecurrent.cpp
  class RecurrenceWriter;
  /// Sets the outputs of an RNN, GRU or LSTM. False if it is left to the reference.
  bool importRecurrence(const onnx::NodeProto &proto, NodeBuilder::Node &node, const Scope &scope);

  // controlflow/ImportControlFlow.cpp
  bool importControlFlow(const onnx::NodeProto &proto, int64_t opset, Scope &scope);
  void poisonOutputs(const onnx::NodeProto &proto, Scope &scope);
  const onnx::GraphProto &graphAttribute(const onnx::NodeProto &proto, std::string_view name) const;
  const onnx::NodeProto &generateNode(const char *op, const std::vector<std::string> &inputs,
                                      const std::string &output);

  // controlflow/ImportBody.cpp
  ModelImporter(const ModelImporter &outer, ImportState &state);
  static Scope scopeWithin(const Scope &outer);
  std::unique_ptr<Body> beginBody(Scope &outer);
  static ImportedValue *capture(Body &body, ImportedValue &outer);
  void importBodyNodes(Body &body, const onnx::GraphProto &graph);
  void finishBody(Body &body, llvm::ArrayRef<ImportedValue *> outputs, llvm::ArrayRef<std::string> names);
  mlir::AffineExpr sizeOutside(const Body &body, mlir::AffineExpr size);

  // controlflow/ImportIf.cpp
  void importIf(const onnx::NodeProto &proto, Scope &scope);
  void inlineBranch(const onnx::NodeProto &proto, const onnx::GraphProto &branch, Scope &scope);
  void importBranches(Branches &branches, const ImportedValue &condition, Scope &scope);
  std::optional<int> branchBySizes(const Branches &branches, const ImportedValue &condition, const std::string &node,
                                   const ImportReport &before);
  void matchRanks(Branches &branches, const onnx::NodeProto &proto, const Scope &scope);
  ImportedValue *joinOutputs(const Branches &branches, int i, const std::string &output);
  void emitIf(Branches &branches, ImportedValue &condition, const onnx::NodeProto &proto, Scope &scope);

  // controlflow/ImportLoop.cpp
  void importLoop(const onnx::NodeProto &proto, Scope &scope);
  void importLoopForm(const onnx::NodeProto &proto, LoopForm &form, Scope &scope);
  void importPeeledLoop(const onnx::NodeProto &proto, LoopForm form, Scope &scope);
  void countFrom(int64_t first, ImportedValue &turn, Body &body);
  std::unique_ptr<Body> importLoopBody(LoopForm &form, Scope &scope);
  bool hasStableTypes(LoopForm &form, Body &body);
  void emitLoop(const onnx::NodeProto &proto, LoopForm &form, Body &body, Scope &scope);
  llvm::SmallVector<mlir::Value> addCarried(const LoopForm &form, const Body &body, LoopResults &results);
  void addCollected(const LoopForm &form, const Body &body, LoopResults &results);
  void defineLoopOutputs(const onnx::NodeProto &proto, const LoopForm &form, const LoopResults &results, Scope &scope);

  // controlflow/ImportScan.cpp
  void importScan(const onnx::NodeProto &proto, Scope &scope);
  void importBatchedScan(const onnx::NodeProto &proto, Scope &scope);
  ImportedValue *moveDimension(ImportedValue &value, int64_t from, int64_t to);

  // controlflow/ImportSequenceMap.cpp
  void importSequenceMap(const onnx::NodeProto &proto, Scope &scope);

  ImportState &state;
  std::shared_ptr<const onnx::ModelProto> model;
  std::shared_ptr<std::deque<onnx::NodeProto>> generated; // by the importer; constants share their bytes
  ExternalData &files;
  Opsets opsets;
  using FunctionKey = std::tuple<std::string, std::string, std::string>; // domain, name, overload
  std::map<FunctionKey, const onnx::FunctionProto *> functions;
  std::vector<const onnx::FunctionProto *> inlining; // functions being inlined, outermost first
  /// The number of nodes inlined from all calls of functions. Importers of bodies share it.
  std::shared_ptr<int64_t> inlinedNodes = std::make_shared<int64_t>(0);
  /// The multiplications of all contractions that were folded (FoldBounds.h). Importers of bodies share it.
  std::shared_ptr<double> foldedOperations = std::make_shared<double>(0);
  std::map<std::string, int64_t, std::less<>> fixedSymbols;     // by --shapes
  std::map<std::string, const onnx::ValueInfoProto *> declared; // value_info and outputs, by name
};

} // namespace tilewright
