// The walk over a parsed model: scopes, functions, branches, and for each node the first of four ways that works.
#pragma once

#include "frontend/onnx/ExternalData.h"
#include "frontend/builder/NodeBuilder.h"

#include "onnx/onnx.pb.h"

#include <deque>
#include <unordered_map>

namespace tilewright {

inline constexpr int maxDepth = 64; // of functions and bodies

/// A value that an unsupported node should have made: nothing is known of it, and what reads it is skipped.
inline bool isPoisoned(const ImportedValue *value) {
  return value && !value->value && !value->constant && !value->elements;
}

class ModelImporter {
public:
  /// `model` is kept alive by the constants that share its bytes.
  ModelImporter(ImportState &state, std::shared_ptr<const onnx::ModelProto> model, ExternalData &files);

  /// Imports everything into the state's module. Throws ImportFailure.
  void run();

private:
  using Opsets = std::map<std::string, int64_t, std::less<>>;
  using AttributeRefs = std::map<std::string, const onnx::AttributeProto *, std::less<>>;

  struct Body;

  /// Names of values; a branch sees those around it, a function only its own.
  struct Scope {
    std::unordered_map<std::string, ImportedValue *> values;
    const Scope *parent = nullptr;
    std::string prefix; // of node names, for functions
    const Opsets *opsets = nullptr;
    AttributeRefs references; // what `ref_attr_name` stands for
    int depth = 0;
    Body *body = nullptr; // if these are the names of a body: what it reads from around it becomes its input
  };

  void importInputs(Scope &scope);
  mlir::DictionaryAttr importInput(const onnx::ValueInfoProto &info, Scope &scope);
  void importInitializers(const onnx::GraphProto &graph, Scope &scope);
  void importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope);
  void importNode(const onnx::NodeProto &proto, Scope &scope);
  void importConstant(const onnx::NodeProto &proto, const Attributes &attributes, Scope &scope);
  void importFlexAttention(const onnx::NodeProto &proto, Scope &scope);
  const onnx::FunctionProto *functionOf(const onnx::NodeProto &proto, const std::string &domain,
                                        const Scope &scope) const;
  // ImportRecurrent.cpp
  class RecurrenceWriter;
  /// Fills the outputs of an RNN, GRU or LSTM, unless it is left to the reference.
  bool importRecurrence(const onnx::NodeProto &proto, NodeBuilder::Node &node, const Scope &scope);
  // ImportControlFlow.cpp
  bool importControlFlow(const onnx::NodeProto &proto, int64_t opset, Scope &scope);
  static ImportedValue *capture(Body &body, ImportedValue &outer);
  void importIf(const onnx::NodeProto &proto, Scope &scope);
  void inlineBranch(const onnx::NodeProto &proto, const onnx::GraphProto &branch, Scope &scope);
  const onnx::NodeProto &rewriteNode(const char *op, const std::vector<std::string> &inputs, const std::string &output);
  ImportedValue *moveDimension(ImportedValue &value, int64_t from, int64_t to);
  void importLoop(const onnx::NodeProto &proto, Scope &scope);
  void importScan(const onnx::NodeProto &proto, Scope &scope);
  void importBatchedScan(const onnx::NodeProto &proto, Scope &scope);
  void importSequenceMap(const onnx::NodeProto &proto, Scope &scope);
  struct LoopForm;
  void importLoopForm(const onnx::NodeProto &proto, LoopForm &form, Scope &scope);
  std::unique_ptr<Body> importLoopBody(LoopForm &form, Scope &scope);
  bool settles(LoopForm &form, Body &body);
  void emitLoop(const onnx::NodeProto &proto, LoopForm &form, Body &body, Scope &scope);
  std::unique_ptr<Body> beginBody(Scope &outer);
  void finishBody(Body &body, llvm::ArrayRef<ImportedValue *> outputs, llvm::ArrayRef<std::string> names);
  void runBody(Body &body, const onnx::GraphProto &graph);
  const onnx::GraphProto &graphAttribute(const onnx::NodeProto &proto, std::string_view name) const;
  void poisonOutputs(const onnx::NodeProto &proto, Scope &scope);
  mlir::AffineExpr sizeOutside(const Body &body, mlir::AffineExpr size);
  ModelImporter(const ModelImporter &outer, ImportState &state);

  void inlineFunction(const onnx::NodeProto &proto, const onnx::FunctionProto &function, Scope &scope);
  void importOperator(NodeBuilder::Node &node);
  void importOutputs(const Scope &scope);

  /// Each of these says whether it has filled the node's outputs.
  bool foldConstants(NodeBuilder &builder);
  bool compileNode(NodeBuilder &builder, std::string &whyNot);
  bool callHost(NodeBuilder &builder, std::string &why);

  void bindShapeOptions();
  mlir::AffineExpr inputSize(const onnx::TensorShapeProto::Dimension &dim, const std::string &input, int64_t position);
  ImportedValue *lookup(const std::string &name, const Scope &scope, const std::string &reader) const;
  void define(const std::string &name, ImportedValue *value, Scope &scope);
  std::vector<int> topologicalOrder(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                                    const Scope &scope) const;
  Attributes attributesOf(const onnx::NodeProto &proto, const Scope &scope);
  int64_t opsetOf(const std::string &domain, const std::string &op, const Scope &scope) const;
  std::string nodeName(const onnx::NodeProto &proto, const Scope &scope) const;
  Tensor decode(const onnx::TensorProto &proto, const std::string &name);
  void labelNewOperations(const NodeBuilder::Node &node, mlir::Operation *last);
  mlir::Operation *lastOperation() const;

  ImportState &state;
  std::shared_ptr<const onnx::ModelProto> model;
  std::shared_ptr<std::deque<onnx::NodeProto>>
      rewritten; // nodes that the import has written itself; constants share their bytes
  ExternalData &files;
  Opsets opsets;
  std::map<std::tuple<std::string, std::string, std::string>, const onnx::FunctionProto *>
      functions;                                     // by domain, name, overload
  std::vector<const onnx::FunctionProto *> inlining; // functions being inlined, outermost first
  std::shared_ptr<int64_t> inlinedNodes =
      std::make_shared<int64_t>(0); // of all functions, as often as they are called; bodies count on
  std::map<std::string, int64_t, std::less<>> fixedSymbols; // by --shapes
  std::map<std::string, const onnx::ValueInfoProto *> declared;
};

} // namespace tilewright
