// SPDX-License-Identifier: Apache-2.0
// The walk: inputs, nodes in topological order, outputs. ImportOperator.cpp imports a single operator.
#include "frontend/import/ModelImporter.h"

#include "frontend/import/GeneratedNode.h"
#include "frontend/onnx/OpSchema.h"
#include "frontend/ops/OpTable.h"

#include <queue>
#include <set>

using namespace mlir;

namespace tilewright {
namespace {

/// The names of all values that `node` reads: its inputs, and what its branches read but do not define. The recursion
/// is bounded because the parser bounds the nesting of branches.
std::set<std::string> readsOf(const onnx::NodeProto &node) {
  std::set<std::string> reads(node.input().begin(), node.input().end());
  for (const auto &attribute : node.attribute()) {
    if (!attribute.has_g())
      continue;
    std::set<std::string> inner, own;
    for (const auto &tensor : attribute.g().initializer())
      own.insert(tensor.name());
    for (const auto &input : attribute.g().input())
      own.insert(input.name());
    for (const auto &output : attribute.g().output())
      inner.insert(output.name());
    for (const auto &nested : attribute.g().node()) {
      own.insert(nested.output().begin(), nested.output().end());
      inner.merge(readsOf(nested));
    }
    std::ranges::set_difference(inner, own, std::inserter(reads, reads.end()));
  }
  return reads;
}

/// A function in the importer's own domain would replace generated nodes, whose form is not checked again.
void refuseOwnDomain(std::string_view domain) {
  if (domain == ownDomain)
    malformed("the domain '{}' is the compiler's own: give the model's functions another one", domain);
}

} // namespace

ModelImporter::ModelImporter(ImportState &state, std::shared_ptr<const onnx::ModelProto> model, ExternalData &files)
    : state(state), model(std::move(model)), generated(std::make_shared<std::deque<onnx::NodeProto>>()), files(files) {
  for (const auto &import : this->model->opset_import()) {
    refuseOwnDomain(import.domain());
    int64_t &version = opsets[canonicalDomain(import.domain())]; // the newest, if a domain is imported twice
    version = std::max<int64_t>(version, import.version());
  }
  for (const auto &[domain, version] : opsets)
    if (version < 1)
      malformed("the opset version of domain '{}' is not positive", domain);
  for (const auto &function : this->model->functions()) {
    refuseOwnDomain(function.domain());
    for (const auto &import : function.opset_import())
      refuseOwnDomain(import.domain());
    if (!functions.try_emplace({canonicalDomain(function.domain()), function.name(), function.overload()}, &function)
             .second)
      malformed("the local function '{}' is defined twice", function.name());
  }
}

void ModelImporter::run() {
  Scope scope;
  scope.opsets = &opsets;
  state.beginMain();
  for (const auto &info : model->graph().value_info())
    declared[info.name()] = &info;
  for (const auto &info : model->graph().output())
    declared[info.name()] = &info;
  for (const auto &[name, info] : declared)
    if (info->type().has_tensor_type() && info->type().tensor_type().has_shape())
      state.declaredRanks[name] = info->type().tensor_type().shape().dim_size();
  importInitializers(model->graph(), scope);
  importInputs(scope);
  importNodes(model->graph().node(), scope);
  if (!state.report.unsupported.empty()) {
    const auto &first = state.report.unsupported.front();
    std::string more =
        state.report.unsupported.size() > 1
            ? fmt::format(" (and {} more nodes; inspect --support lists them)", state.report.unsupported.size() - 1)
            : "";
    unsupported("node '{}' needs the operator {}{}{} at opset {}, which is not supported: {}{}", first.node,
                first.domain, first.domain.empty() ? "" : ".", first.op, first.opset, first.reason, more);
  }
  importOutputs(scope);
}

//===- Scopes -----------------------------------------------------------------------------------------------------===//

ImportedValue *ModelImporter::lookup(const std::string &name, const Scope &scope, const std::string &reader) const {
  if (auto found = scope.values.find(name); found != scope.values.end())
    return found->second;
  if (!scope.parent)
    malformed("{} reads '{}', which nothing defines", reader, name);
  ImportedValue *value = lookup(name, *scope.parent, reader);
  return scope.body ? capture(*scope.body, *value) : value;
}

void ModelImporter::define(const std::string &name, ImportedValue *value, Scope &scope) {
  if (name.empty())
    malformed("a value that must have a name has none");
  if (!scope.values.try_emplace(name, value).second)
    malformed("the value '{}' is defined twice", name);
}

bool ModelImporter::isConstantNode(const onnx::NodeProto &proto) {
  return proto.op_type() == "Constant" && canonicalDomain(proto.domain()).empty();
}

void ModelImporter::noteOverruled(const std::string &name) const {
  state.report.warnings.push_back(
      fmt::format("the constant '{}' is defined several times: the last one counts, as in ONNX Runtime", name));
}

std::string ModelImporter::nodeName(const onnx::NodeProto &proto, const Scope &scope) const {
  std::string name = !proto.name().empty() ? proto.name() : proto.output_size() ? proto.output(0) : proto.op_type();
  return scope.prefix + name;
}

int64_t ModelImporter::opsetOf(const std::string &domain, const std::string &op, const Scope &scope) const {
  auto found = scope.opsets->find(domain);
  // Domains that models use without importing them, with the version by which ONNX Runtime reads them.
  static constexpr std::pair<std::string_view, int64_t> presumed[] = {{"com.microsoft", 1}, {"ai.onnx.ml", 5}};
  for (const auto &[known, version] : presumed)
    if (found == scope.opsets->end() && known == domain)
      return version;
  if (found == scope.opsets->end())
    malformed("the operator {} is of the domain '{}', which the model does not import", op,
              domain.empty() ? "ai.onnx" : domain);
  return found->second;
}

/// File order, except for nodes that read results of later nodes.
std::vector<int> ModelImporter::topologicalOrder(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                                                 const Scope &scope) const {
  std::unordered_map<std::string, int> producer;
  std::set<int> overruled;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output()) {
      auto [entry, isNew] = output.empty() ? std::pair(producer.end(), true) : producer.try_emplace(output, i);
      if (isNew)
        continue;
      if (int before = std::exchange(entry->second, i); isConstantNode(nodes[before]) && isConstantNode(nodes[i])) {
        overruled.insert(before);
        noteOverruled(output);
      } else {
        malformed("the value '{}' is defined twice, by '{}' and '{}'", output, nodeName(nodes[before], scope),
                  nodeName(nodes[i], scope));
      }
    }
  std::vector<std::set<int>> readers(nodes.size());
  std::vector<int> waiting(nodes.size()), order;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string &name : readsOf(nodes[i]))
      if (auto found = producer.find(name); found != producer.end() && readers[found->second].insert(i).second)
        ++waiting[i];
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (waiting[i] == 0 && !overruled.contains(i))
      ready.push(i);
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (int reader : readers[order.back()])
      if (--waiting[reader] == 0)
        ready.push(reader);
  }
  if (order.size() + overruled.size() < static_cast<size_t>(nodes.size())) {
    int stuck = std::ranges::find_if(waiting, [](int count) { return count > 0; }) - waiting.begin();
    malformed("the graph has a cycle through node '{}'", nodeName(nodes[stuck], scope));
  }
  return order;
}

void ModelImporter::noteReaders(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope) {
  static constexpr std::string_view products[] = {"MatMul", "Gemm", "Gather", "Transpose"};
  std::unordered_set<std::string_view> read;
  for (const onnx::NodeProto &node : nodes)
    for (const std::string &input : node.input())
      if (!read.insert(input).second || !llvm::is_contained(products, node.op_type()))
        scope.readApart.insert(input);
}

void ModelImporter::importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope) {
  noteReaders(nodes, scope);
  for (int i : topologicalOrder(nodes, scope))
    importNode(nodes[i], scope);
}

//===- Nodes ------------------------------------------------------------------------------------------------------===//

void ModelImporter::importNode(const onnx::NodeProto &proto, Scope &scope) {
  std::string name = nodeName(proto, scope), domain = canonicalDomain(proto.domain());
  state.location = NameLoc::get(state.builder.getStringAttr(name));
  int64_t opset = 0;
  try {
    if (const onnx::FunctionProto *function = functionOf(proto, domain, scope))
      return inlineFunction(proto, *function, scope);
    opset = opsetOf(domain, proto.op_type(), scope);
    ++state.report.nodeCount;
    if (proto.output().empty())
      malformed("expected outputs, got none");
    if (domain.empty() && importControlFlow(proto, opset, scope))
      return;
    if (domain == "ai.onnx.preview" && proto.op_type() == "FlexAttention")
      return importFlexAttention(proto, scope);
    NodeBuilder::Node node{name, proto.op_type(), domain, opset, attributesOf(proto, scope), {}, {}};
    node.feedsOneProduct = !scope.readApart.contains(proto.output(0));
    if (domain.empty() && node.op == "Constant")
      return importConstant(proto, node.attributes, scope);
    for (const std::string &input : proto.input())
      node.inputs.push_back(input.empty() ? nullptr : lookup(input, scope, "it"));
    while (!node.inputs.empty() && !node.inputs.back())
      node.inputs.pop_back();
    for (const std::string &output : proto.output())
      node.outputs.push_back(output.empty() ? nullptr : state.newValue(output));
    if (llvm::none_of(node.inputs, isPoisoned)) {
      checkSchema(proto, node);
      if (!importRecurrence(proto, node, scope))
        importOperator(node);
    } else if (!findHandler(domain, node.op, opset) && !hasReference(node.op, domain, opset))
      state.report.unsupported.push_back(
          {name, node.op, domain, opset, "no handler compiles it", state.report.nodeCount});
    for (int i = 0; i < proto.output_size(); ++i)
      if (node.outputs[i])
        define(proto.output(i), node.outputs[i], scope);
  } catch (ImportFailure &failure) {
    Code code = failure.status.code();
    if (code == Code::Unsupported && opset) { // go on, so that one import reports everything that is unsupported
      state.report.unsupported.push_back(
          {name, proto.op_type(), domain, opset, failure.status.message(), state.report.nodeCount});
      for (const std::string &output : proto.output())
        if (!output.empty())
          scope.values.try_emplace(output, state.newValue(output));
      return;
    }
    // Nested failures already name the innermost node.
    if (failure.status.message().starts_with("node '"))
      throw;
    std::string version = opset ? fmt::format(", opset {}", opset) : "";
    throw ImportFailure{
        Status(code, fmt::format("node '{}' ({}{}): {}", name, proto.op_type(), version, failure.status.message()))};
  }
}

} // namespace tilewright
