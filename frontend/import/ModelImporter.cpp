// The walk: inputs, nodes in topological order, outputs. How one operator is imported is in ImportOperator.cpp.
#include "frontend/import/ModelImporter.h"

#include "frontend/onnx/DimExpression.h"
#include "frontend/import/ObjectFacts.h"
#include "frontend/onnx/OpSchema.h"
#include "frontend/ops/OpTable.h"
#include "frontend/onnx/TensorData.h"
#include "frontend/import/WrittenNode.h"

#include <queue>
#include <set>

using namespace mlir;

namespace tilewright {
namespace {

constexpr int64_t maxInlinedNodes =
    200000; // of all calls of functions: thirty functions that call each other twice make 2^30

std::string canonicalDomain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

/// Every value name that `node` reads from where it stands: its inputs, and what its branches read but do not define.
/// Branches are nested no deeper than the parser allows.
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

} // namespace

/// A function there would take the place of what the import writes, which nothing checks a second time.
static void refuseOwnDomain(std::string_view domain) {
  if (domain == ownDomain)
    malformed("the domain '{}' is the compiler's own: give the model's functions another one", domain);
}

ModelImporter::ModelImporter(ImportState &state, std::shared_ptr<const onnx::ModelProto> model, ExternalData &files)
    : state(state), model(std::move(model)), rewritten(std::make_shared<std::deque<onnx::NodeProto>>()), files(files) {
  for (const auto &import : this->model->opset_import()) {
    if (import.version() < 1)
      malformed("opset version {} of domain '{}' is not positive", import.version(), import.domain());
    refuseOwnDomain(import.domain());
    opsets[canonicalDomain(import.domain())] = import.version();
  }
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

//===- Inputs and outputs -----------------------------------------------------------------------------------------===//

void ModelImporter::importInitializers(const onnx::GraphProto &graph, Scope &scope) {
  if (graph.sparse_initializer_size())
    unsupported("the sparse initializer '{}' is not supported: only dense ones are",
                graph.sparse_initializer(0).values().name());
  for (const auto &tensor : graph.initializer())
    define(tensor.name(), state.newConstant(tensor.name(), decode(tensor, tensor.name())), scope);
}

Tensor ModelImporter::decode(const onnx::TensorProto &proto, const std::string &name) {
  // What the tensor's bytes lie in: the model, or a node that the import has written.
  auto owner = std::make_shared<std::pair<decltype(model), decltype(rewritten)>>(model, rewritten);
  TensorSource source{.files = &files, .owner = owner, .randomWeights = state.options.randomWeights};
  Expected<Tensor> tensor = decodeTensor(proto, name, source);
  if (!tensor)
    throw ImportFailure{tensor.status()};
  return *tensor;
}

/// What --shapes says about symbols, before any input is typed: a symbol fixed at one input is fixed everywhere.
void ModelImporter::bindShapeOptions() {
  std::set<std::string> known;
  for (const auto &info : model->graph().input()) {
    auto option = state.options.shapes.find(info.name());
    known.insert(info.name());
    if (option == state.options.shapes.end() || !info.type().tensor_type().has_shape())
      continue;
    const auto &dims = info.type().tensor_type().shape().dim();
    if (dims.size() != static_cast<int>(option->second.size()))
      throw ImportFailure{Status(Code::Usage, fmt::format("--shapes gives input '{}' {} dimensions, the model has {}",
                                                          info.name(), option->second.size(), dims.size()))};
    for (int i = 0; i < dims.size(); ++i) {
      int64_t given = option->second[i];
      if (given < 0)
        throw ImportFailure{Status(
            Code::Usage, fmt::format("--shapes gives input '{}' the size {} in dimension {}", info.name(), given, i))};
      if (dims[i].has_dim_value() && dims[i].dim_value() >= 0 && dims[i].dim_value() != given)
        throw ImportFailure{
            Status(Code::Usage, fmt::format("--shapes gives input '{}' the size {} in dimension {}, the model has {}",
                                            info.name(), given, i, dims[i].dim_value()))};
      if (!isDimName(dims[i].dim_param()))
        continue;
      auto [entry, isNew] = fixedSymbols.try_emplace(dims[i].dim_param(), given);
      if (!isNew && entry->second != given)
        throw ImportFailure{Status(Code::Usage, fmt::format("--shapes gives '{}' the sizes {} and {}",
                                                            dims[i].dim_param(), entry->second, given))};
    }
  }
  for (const auto &[name, shape] : state.options.shapes)
    if (!known.contains(name))
      throw ImportFailure{
          Status(Code::Usage, fmt::format("--shapes names the input '{}', which the model does not have", name))};
}

void ModelImporter::importInputs(Scope &scope) {
  bindShapeOptions();
  llvm::StringSet<> listed;
  SmallVector<DictionaryAttr> attributes;
  for (const auto &info : model->graph().input()) {
    if (!listed.insert(info.name()).second)
      malformed("the input '{}' is listed twice", info.name());
    if (!scope.values.contains(info.name())) // IR 3 lists initializers as inputs too
      attributes.push_back(importInput(info, scope));
  }
  // Once: a function's type is as long as its arguments are many.
  state.main.setType(state.builder.getFunctionType(state.main.front().getArgumentTypes(), {}));
  state.main.setAllArgAttrs(attributes);
  if (model->graph().output().empty())
    malformed("the model has no outputs");
}

/// An argument of @main's block, and the attributes that it gets.
DictionaryAttr ModelImporter::importInput(const onnx::ValueInfoProto &info, Scope &scope) {
  std::shared_ptr<const ElementFacts> facts = declaredElement(state, info.type(), info.name());
  const auto &type = info.type().tensor_type();
  DType dtype = facts->type;
  Sizes sizes;
  bool shaped = info.type().has_tensor_type();
  auto option = state.options.shapes.find(info.name());
  if (!shaped && option != state.options.shapes.end())
    throw ImportFailure{Status(Code::Usage, fmt::format("--shapes gives sizes to input '{}', which is a {}",
                                                        info.name(), tilewright::name(dtype)))};
  if (!shaped)
    ; // has no sizes
  else if (option != state.options.shapes.end())
    for (int64_t size : option->second)
      sizes.push_back(state.number(size));
  else if (!type.has_shape())
    unsupported("input '{}' has no shape: give one with --shapes {}:...", info.name(), info.name());
  else
    for (int i = 0; i < type.shape().dim_size(); ++i)
      sizes.push_back(inputSize(type.shape().dim(i), info.name(), i));
  std::vector<int64_t> known;
  for (AffineExpr size : sizes)
    known.push_back(graph::constantSize(size).value_or(1));
  if (Expected<int64_t> bytes = checkedByteSize(known, dtype, info.name()); !bytes)
    throw ImportFailure{bytes.status()};

  ImportedValue *value = state.newValue(info.name());
  value->type = dtype, value->sizes = sizes, value->element = facts->element;
  value->value =
      state.main.front().addArgument(state.tensorType(sizes, elementType(state.context, dtype)), state.location);
  define(info.name(), value, scope);
  return state.builder.getDictionaryAttr(
      {state.builder.getNamedAttr(graph::nameAttr, state.builder.getStringAttr(info.name())),
       state.builder.getNamedAttr(graph::dtypeAttr, state.builder.getStringAttr(tilewright::name(dtype)))});
}

AffineExpr ModelImporter::inputSize(const onnx::TensorShapeProto::Dimension &dim, const std::string &input,
                                    int64_t position) {
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return state.number(dim.dim_value());
  if (dim.has_dim_value() && dim.dim_value() < -1) // -1 is how some exporters write "unknown"
    malformed("input '{}' has the negative dimension {} at {}", input, dim.dim_value(), position);
  const std::string &text = dim.dim_param();
  if (text.empty() || text == "?")
    return state.symbol(fmt::format("{}_d{}", input, position));
  if (isDimName(text)) {
    auto fixed = fixedSymbols.find(text);
    return fixed != fixedSymbols.end() ? state.number(fixed->second) : state.symbol(text);
  }
  // An expression counts as one only if every name in it is the size of some input, which then binds it.
  auto lookupSymbol = [&](std::string_view name) -> AffineExpr {
    if (auto fixed = fixedSymbols.find(name); fixed != fixedSymbols.end())
      return state.number(fixed->second);
    for (const auto &info : model->graph().input())
      for (const auto &other : info.type().tensor_type().shape().dim())
        if (other.dim_param() == name)
          return state.symbol(name);
    return {};
  };
  AffineExpr expression = parseDimExpression(state.context, text, lookupSymbol);
  if (!expression)
    return state.symbol(text);
  expression = graph::canonicalSize(expression);
  if (graph::constantSize(expression).value_or(0) < 0)
    malformed("input '{}' has the negative dimension {} = {} at {}", input, text, *graph::constantSize(expression),
              position);
  return expression;
}

void ModelImporter::importOutputs(const Scope &scope) {
  SmallVector<ImportedValue *> outputs;
  SmallVector<std::string> names;
  for (const auto &info : model->graph().output()) {
    outputs.push_back(lookup(info.name(), scope, "the graph's output"));
    names.push_back(info.name());
  }
  for (ImportedValue *output : outputs)
    state.materialize(*output);
  labelNewOperations(
      {.name = "outputs", .op = "Identity", .domain = "", .opset = 0, .attributes = {}, .inputs = {}, .outputs = {}},
      nullptr);
  state.setOutputs(outputs, names);
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

std::string ModelImporter::nodeName(const onnx::NodeProto &proto, const Scope &scope) const {
  std::string name = !proto.name().empty() ? proto.name() : proto.output_size() ? proto.output(0) : proto.op_type();
  return scope.prefix + name;
}

int64_t ModelImporter::opsetOf(const std::string &domain, const std::string &op, const Scope &scope) const {
  auto found = scope.opsets->find(domain);
  if (found == scope.opsets->end() && domain == "com.microsoft")
    return 1; // its only version, which ONNX Runtime's own optimizer forgets to import
  if (found == scope.opsets->end())
    malformed("the operator {} is of the domain '{}', which the model does not import", op,
              domain.empty() ? "ai.onnx" : domain);
  return found->second;
}

/// File order, but for nodes that read what comes later. A cycle is named.
std::vector<int> ModelImporter::topologicalOrder(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                                                 const Scope &scope) const {
  std::unordered_map<std::string, int> producer;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty() && !producer.try_emplace(output, i).second)
        malformed("the value '{}' is defined twice, by '{}' and '{}'", output, nodeName(nodes[producer[output]], scope),
                  nodeName(nodes[i], scope));
  std::vector<std::set<int>> readers(nodes.size());
  std::vector<int> waiting(nodes.size()), order;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string &name : readsOf(nodes[i]))
      if (auto found = producer.find(name); found != producer.end() && readers[found->second].insert(i).second)
        ++waiting[i];
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (waiting[i] == 0)
      ready.push(i);
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (int reader : readers[order.back()])
      if (--waiting[reader] == 0)
        ready.push(reader);
  }
  if (static_cast<int>(order.size()) < nodes.size()) {
    int stuck = std::ranges::find_if(waiting, [](int count) { return count > 0; }) - waiting.begin();
    malformed("the graph has a cycle through node '{}'", nodeName(nodes[stuck], scope));
  }
  return order;
}

void ModelImporter::importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope) {
  for (int i : topologicalOrder(nodes, scope))
    importNode(nodes[i], scope);
}

//===- Nodes ------------------------------------------------------------------------------------------------------===//

Attributes ModelImporter::attributesOf(const onnx::NodeProto &proto, const Scope &scope) {
  Attributes attributes;
  std::set<std::string> seen;
  for (const auto &given : proto.attribute()) {
    const onnx::AttributeProto *attribute = &given;
    if (!seen.insert(given.name()).second)
      malformed("attribute '{}' is given twice", given.name());
    if (!given.ref_attr_name().empty()) {
      auto found = scope.references.find(given.ref_attr_name());
      if (found == scope.references.end())
        continue; // the caller leaves it out, so the operator's default holds
      attribute = found->second;
    }
    const std::string &name = given.name();
    switch (attribute->type()) {
    case onnx::AttributeProto::INT:
      attributes[name] = attribute->i();
      break;
    case onnx::AttributeProto::FLOAT:
      attributes[name] = attribute->f();
      break;
    case onnx::AttributeProto::STRING:
      attributes[name] = attribute->s();
      break;
    case onnx::AttributeProto::INTS:
      attributes[name] = std::vector<int64_t>(attribute->ints().begin(), attribute->ints().end());
      break;
    case onnx::AttributeProto::FLOATS:
      attributes[name] = std::vector<float>(attribute->floats().begin(), attribute->floats().end());
      break;
    case onnx::AttributeProto::STRINGS:
      attributes[name] = std::vector<std::string>(attribute->strings().begin(), attribute->strings().end());
      break;
    case onnx::AttributeProto::TENSOR:
      attributes[name] = decode(attribute->t(), fmt::format("attribute '{}'", name));
      break;
    case onnx::AttributeProto::GRAPH: // read where branches are inlined
      break;
    case onnx::AttributeProto::TYPE_PROTO: // ObjectFacts.cpp reads it
      attributes[std::string(serializedType)] = attribute->tp().SerializeAsString();
      break;
    default:
      unsupported("attribute '{}' has a kind that is not supported ({})", name, static_cast<int>(attribute->type()));
    }
  }
  return attributes;
}

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
    if (code == Code::Unsupported && opset) { // the walk goes on, so that one import names all that is unsupported
      state.report.unsupported.push_back(
          {name, proto.op_type(), domain, opset, failure.status.message(), state.report.nodeCount});
      for (const std::string &output : proto.output())
        if (!output.empty())
          scope.values.try_emplace(output, state.newValue(output));
      return;
    }
    // The innermost node is the one to name.
    if (failure.status.message().starts_with("node '"))
      throw;
    std::string version = opset ? fmt::format(", opset {}", opset) : "";
    throw ImportFailure{
        Status(code, fmt::format("node '{}' ({}{}): {}", name, proto.op_type(), version, failure.status.message()))};
  }
}

void ModelImporter::importConstant(const onnx::NodeProto &proto, const Attributes &attributes, Scope &scope) {
  if (proto.output_size() != 1 || attributes.size() != 1)
    unsupported("expected one output and one value that is a tensor, a number or a list of numbers, got {} outputs and "
                "{} values",
                proto.output_size(), attributes.size());
  auto vector = [](DType type, const auto &list, bool isScalar) {
    Tensor tensor = Tensor::allocate(type, isScalar ? Shape{} : Shape{static_cast<int64_t>(list.size())});
    std::ranges::copy(list, tensor.template data<std::decay_t<decltype(list[0])>>());
    return tensor;
  };
  auto stringTensor = [](const auto &value) {
    constexpr bool isScalar = std::is_same_v<std::decay_t<decltype(value)>, std::string>;
    std::vector<std::string> list;
    if constexpr (isScalar)
      list = {value};
    else
      list = value;
    Tensor tensor = Tensor::allocate(DType::String, isScalar ? Shape{} : Shape{static_cast<int64_t>(list.size())});
    std::ranges::copy(list, tensor.data<std::string>());
    return tensor;
  };
  auto make = [&](const auto &value) -> Tensor {
    using Kind = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Kind, Tensor>)
      return value;
    else if constexpr (std::is_same_v<Kind, float>)
      return vector(DType::F32, std::array{value}, true);
    else if constexpr (std::is_same_v<Kind, int64_t>)
      return vector(DType::I64, std::array{value}, true);
    else if constexpr (std::is_same_v<Kind, std::vector<float>>)
      return vector(DType::F32, value, false);
    else if constexpr (std::is_same_v<Kind, std::vector<int64_t>>)
      return vector(DType::I64, value, false);
    else
      return stringTensor(value);
  };
  define(proto.output(0), state.newConstant(proto.output(0), std::visit(make, attributes.begin()->second)), scope);
}

/// The model's own definition of a node's operator, if it has one. Operators of these two domains are fused ones that
/// we know better than the body which an exporter left for those who do not.
const onnx::FunctionProto *ModelImporter::functionOf(const onnx::NodeProto &proto, const std::string &domain,
                                                     const Scope &scope) const {
  auto function = functions.find({domain, proto.op_type(), proto.overload()});
  if (function == functions.end())
    return nullptr;
  auto opset = scope.opsets->find(domain);
  bool known =
      (domain == "com.microsoft" || domain == "ai.onnx.ml") && opset != scope.opsets->end() &&
      (findHandler(domain, proto.op_type(), opset->second) || hasReference(proto.op_type(), domain, opset->second));
  return known ? nullptr : function->second;
}

void ModelImporter::inlineFunction(const onnx::NodeProto &proto, const onnx::FunctionProto &function, Scope &scope) {
  if (llvm::is_contained(inlining, &function))
    malformed("the local function '{}' calls itself", function.name());
  if (scope.depth >= maxDepth)
    malformed("branches and functions are nested more than {} deep", maxDepth);
  *inlinedNodes += std::max(1, function.node_size());
  if (*inlinedNodes > maxInlinedNodes)
    malformed("the model's functions call each other so often that they make more than {} nodes", maxInlinedNodes);
  if (proto.input_size() > function.input_size() || proto.output_size() > function.output_size())
    malformed("expected at most {} inputs and {} outputs of the local function '{}', got {} and {}",
              function.input_size(), function.output_size(), function.name(), proto.input_size(), proto.output_size());
  Opsets imports;
  for (const auto &import : function.opset_import())
    imports[canonicalDomain(import.domain())] = import.version();
  Scope inner;
  inner.opsets = imports.empty() ? scope.opsets : &imports;
  inner.prefix = nodeName(proto, scope) + "/", inner.depth = scope.depth + 1;
  for (const auto &attribute : function.attribute_proto()) // defaults
    inner.references[attribute.name()] = &attribute;
  for (const auto &attribute : proto.attribute()) {
    if (attribute.ref_attr_name().empty())
      inner.references[attribute.name()] = &attribute;
    else if (auto outer = scope.references.find(attribute.ref_attr_name()); outer != scope.references.end())
      inner.references[attribute.name()] = outer->second;
  }
  for (int i = 0; i < function.input_size(); ++i) { // one that the caller leaves out is absent in the body too
    bool given = i < proto.input_size() && !proto.input(i).empty();
    define(function.input(i), given ? lookup(proto.input(i), scope, "it") : nullptr, inner);
  }
  inlining.push_back(&function);
  importNodes(function.node(), inner);
  inlining.pop_back();
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty())
      continue;
    ImportedValue *value = lookup(function.output(i), inner, "the function");
    if (!value)
      malformed("the local function '{}' returns its input '{}', which the caller leaves out", function.name(),
                function.output(i));
    define(proto.output(i), value, scope);
  }
}

} // namespace tilewright
