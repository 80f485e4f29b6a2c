// Bodies, Loop and Scan (If is in ImportIf.cpp): each body is imported into a module of its own, which reads the values
// around it through its arguments.
//
//   model                                     module
//     If(c) then { Add(x, y) } else { x }       @main        %r = flow.if %c then @body_0 sizes (s0) (%x, %y) else @body_1 sizes (s0) (%x)
//                                               @body_0      %main(%x, %y)    with symbols of its own, of which s0 is the first
//                                               @body_1      %main(%x)
//
// A loop's body is imported more than once where what it carries changes: first as if nothing did, then with fresh
// symbols for the sizes that did, until the types that go in are those that come out.
#include "frontend/import/ImportBody.h"
#include "frontend/import/ObjectFacts.h"
#include "frontend/import/WrittenNode.h"
#include "frontend/flow/FlowOps.h"

using namespace mlir;

namespace tilewright {
namespace {

constexpr int patientDepth = 3; // bodies nested deeper that hold others are imported once: every size may change
constexpr int mostAttempts = 6;

std::vector<int64_t> integersOf(const onnx::NodeProto &proto, std::string_view name, size_t count) {
  for (const auto &attribute : proto.attribute())
    if (attribute.name() == name) {
      if (attribute.ints_size() != static_cast<int>(count))
        malformed("expected {} numbers in {}, got {}", count, name, attribute.ints_size());
      return {attribute.ints().begin(), attribute.ints().end()};
    }
  return std::vector<int64_t>(count, 0);
}

bool hasAttribute(const onnx::NodeProto &proto, std::string_view name) {
  return llvm::any_of(proto.attribute(), [&](const auto &attribute) { return attribute.name() == name; });
}

int64_t integerOf(const onnx::NodeProto &proto, std::string_view name) {
  for (const auto &attribute : proto.attribute())
    if (attribute.name() == name)
      return attribute.i();
  return 0;
}

bool holdsBodies(const onnx::GraphProto &graph) {
  return llvm::any_of(graph.node(), [](const onnx::NodeProto &node) {
    return llvm::any_of(node.attribute(), [](const auto &attribute) { return attribute.has_g(); });
  });
}

} // namespace

std::optional<bool> constantBool(ImportState &state, ImportedValue &value) {
  const Tensor *tensor = state.constantOf(value);
  if (!tensor || tensor->type() != DType::Bool || tensor->count() != 1)
    return std::nullopt;
  return tensor->data<uint8_t>()[0] != 0;
}

void expectCondition(const ImportedValue &value) {
  if (value.type != DType::Bool)
    malformed("expected a condition of bool, got '{}' of {}", value.name, name(value.type));
}

ArrayAttr dtypeNames(ImportState &state, ArrayRef<DType> types) {
  SmallVector<StringRef> names;
  for (DType type : types)
    names.push_back(name(type));
  return state.builder.getStrArrayAttr(names);
}

ModelImporter::ModelImporter(const ModelImporter &outer, ImportState &state)
    : state(state), model(outer.model), rewritten(outer.rewritten), files(outer.files), opsets(outer.opsets),
      functions(outer.functions), inlining(outer.inlining), inlinedNodes(outer.inlinedNodes),
      fixedSymbols(outer.fixedSymbols), declared(outer.declared) {}

bool ModelImporter::importControlFlow(const onnx::NodeProto &proto, int64_t opset, Scope &scope) {
  static constexpr std::string_view operators[] = {"If", "Loop", "Scan", "SequenceMap"};
  if (!llvm::is_contained(operators, proto.op_type()))
    return false;
  if (scope.depth >= maxDepth)
    malformed("branches, loops and functions are nested more than {} deep", maxDepth);
  for (const std::string &input : proto.input())
    if (!input.empty() && isPoisoned(lookup(input, scope, "it"))) {
      poisonOutputs(proto, scope);
      return true;
    }
  if (proto.op_type() == "If")
    importIf(proto, scope);
  else if (proto.op_type() == "Loop")
    importLoop(proto, scope);
  else if (proto.op_type() == "SequenceMap")
    importSequenceMap(proto, scope);
  else if (opset < 9 && !hasAttribute(proto, "scan_input_axes"))
    importBatchedScan(proto, scope);
  else
    importScan(proto, scope);
  return true;
}

void ModelImporter::poisonOutputs(const onnx::NodeProto &proto, Scope &scope) {
  for (const std::string &output : proto.output())
    if (!output.empty())
      define(output, state.newValue(output), scope);
}

const onnx::GraphProto &ModelImporter::graphAttribute(const onnx::NodeProto &proto, std::string_view name) const {
  auto found = llvm::find_if(proto.attribute(),
                             [&](const auto &attribute) { return attribute.name() == name && attribute.has_g(); });
  if (found == proto.attribute().end())
    malformed("expected a graph as its {}, found none", name);
  return found->g();
}

//===- Bodies -----------------------------------------------------------------------------------------------------===//

std::unique_ptr<ModelImporter::Body> ModelImporter::beginBody(Scope &outer) {
  auto body = std::make_unique<Body>(state);
  body->scope.parent = &outer, body->scope.prefix = outer.prefix, body->scope.opsets = outer.opsets;
  body->scope.references = outer.references, body->scope.depth = outer.depth + 1, body->scope.body = body.get();
  return body;
}

/// What a body knows of a value around it: its contents where they are known, otherwise a new argument.
ImportedValue *ModelImporter::capture(Body &body, ImportedValue &outer) {
  auto [entry, isNew] = body.known.try_emplace(&outer, nullptr);
  if (!isNew)
    return entry->second;
  ImportState &state = body.state;
  if (const Tensor *tensor = isPoisoned(&outer) ? nullptr : body.outer.constantOf(outer))
    return entry->second = state.newConstant(outer.name, *tensor);
  if (isPoisoned(&outer) || body.outer.elementsOf(outer)) {
    ImportedValue *value = state.newValue(outer.name);
    value->type = outer.type;
    auto resolved = [&](const Sizes &sizes) {
      return Sizes(llvm::map_range(sizes, [&](AffineExpr size) { return state.resolve(size); }));
    };
    value->sizes = resolved(outer.sizes);
    if (outer.elements)
      value->elements = resolved(*outer.elements);
    return entry->second = value;
  }
  body.captures.push_back(body.outer.materialize(outer));
  return entry->second = state.addInput(outer.name, outer.type, outer.sizes, outer.element);
}

/// Imports the nodes of a body whose own inputs are defined.
void ModelImporter::runBody(Body &body, const onnx::GraphProto &graph) {
  ModelImporter inner(*this, body.state);
  for (const auto *list : {&graph.value_info(), &graph.output()})
    for (const auto &info : *list)
      inner.declared[info.name()] = &info;
  inner.importInitializers(graph, body.scope);
  inner.importNodes(graph.node(), body.scope);
  for (const auto &output : graph.output())
    body.outputs.push_back(inner.lookup(output.name(), body.scope, "its body"));
}

void ModelImporter::finishBody(Body &body, ArrayRef<ImportedValue *> outputs, ArrayRef<std::string> names) {
  for (ImportedValue *output : outputs)
    body.state.materialize(*output);
  ModelImporter(*this, body.state)
      .labelNewOperations({.name = "outputs",
                           .op = "Identity",
                           .domain = "",
                           .opset = 0,
                           .attributes = {},
                           .inputs = {},
                           .outputs = {}},
                          nullptr);
  body.state.setOutputs(outputs, names);
}

/// A size of a body's result as the graph around it can say it: the same expression, or a fresh symbol that running
/// binds.
AffineExpr ModelImporter::sizeOutside(const Body &body, AffineExpr size) {
  bool known = true;
  size.walk([&](AffineExpr part) {
    if (auto symbol = llvm::dyn_cast<AffineSymbolExpr>(part))
      known &= symbol.getPosition() < body.given;
  });
  return known ? state.resolve(size) : state.freshSymbol("u");
}

//===- Loops ------------------------------------------------------------------------------------------------------===//

/// A loop as the runtime knows it (Plan.h), of the values around it, and what attempts to import its body have found so
/// far.
struct ModelImporter::LoopForm {
  const onnx::GraphProto *graph = nullptr;
  bool counted = false; // the body takes the turn and the condition, and gives a condition
  ImportedValue *trips = nullptr, *condition = nullptr;
  std::vector<ImportedValue *> initial, scanned;
  std::vector<bool> reverseScanned, reverseCollected;
  std::vector<int64_t> collectedAxes; // of the results, where the turns stand

  struct Carried {
    bool stays = false;                          // what goes in comes out
    bool held = false;                           // an optional value goes in, and what it would hold comes out
    SmallVector<bool> varies;                    // by dimension
    std::shared_ptr<const ElementFacts> element; // of a sequence
    ImportedValue *inside = nullptr;
  };
  std::vector<Carried> carried;
  bool patient = true; // sizes may still turn out to stay
  bool conditional = false;
  ImportedValue *conditionInside = nullptr;

  size_t firstCarried() const { return counted ? 1 : 0; }
  void giveUpSizes() {
    patient = false;
    for (Carried &value : carried)
      value.varies.assign(value.varies.size(), true), value.stays = false;
  }
};

std::unique_ptr<ModelImporter::Body> ModelImporter::importLoopBody(LoopForm &form, Scope &scope) {
  std::unique_ptr<Body> body = beginBody(scope);
  ImportState &inside = body->state;
  int next = 0;
  auto scalar = [&](DType type) { // of rank 0, or 1 where the body says so
    const auto &info = form.graph->input(next++);
    Sizes sizes(std::min(1, info.type().tensor_type().shape().dim_size()), inside.number(1));
    ImportedValue *value = inside.addInput(info.name(), type, sizes);
    define(info.name(), value, body->scope);
    return value;
  };
  if (form.counted) {
    scalar(DType::I64);
    form.conditionInside = scalar(DType::Bool);
  }
  for (auto [initial, carried] : llvm::zip_equal(form.initial, form.carried)) {
    const std::string &name = form.graph->input(next++).name();
    Sizes sizes = initial->sizes;
    for (auto [size, varies] : llvm::zip_equal(sizes, carried.varies))
      size = varies ? inside.freshSymbol("c") : size;
    carried.inside =
        carried.stays ? capture(*body, *initial) : inside.addInput(name, initial->type, sizes, carried.element);
    define(name, carried.inside, body->scope);
  }
  for (ImportedValue *scanned : form.scanned) {
    const std::string &name = form.graph->input(next++).name();
    define(name, inside.addInput(name, scanned->type, Sizes(llvm::drop_begin(scanned->sizes))), body->scope);
  }
  runBody(*body, *form.graph);
  return body;
}

/// Whether the body gives what it was imported to take; if not, `form` knows more for the next attempt.
bool ModelImporter::settles(LoopForm &form, Body &body) {
  bool settled = true;
  for (auto [i, carried] : llvm::enumerate(form.carried)) {
    ImportedValue *&given = body.outputs[form.firstCarried() + i];
    if (carried.inside->type == DType::Optional && given->type != DType::Optional) {
      carried.held = true;
      std::string name = form.graph->output(static_cast<int>(form.firstCarried() + i)).name();
      ModelImporter(*this, body.state).importNode(rewriteNode("Optional", {name}, name + "/held"), body.scope);
      given = body.scope.values.at(name + "/held");
    }
    ImportedValue &in = *carried.inside, &out = *given;
    if (in.type != out.type)
      malformed("expected what it carries to keep its type, got {} and then {} for '{}'", name(in.type), name(out.type),
                in.name);
    if (in.rank() != out.rank())
      unsupported("it carries '{}' in rank {} and then in rank {}", in.name, in.rank(), out.rank());
    if (carried.stays)
      continue;
    if (&in == &out && form.patient) {
      carried.stays = true, settled = false;
      continue;
    }
    for (auto [d, sizes] : llvm::enumerate(llvm::zip_equal(in.sizes, out.sizes)))
      if (!carried.varies[d] && body.state.resolve(std::get<0>(sizes)) != body.state.resolve(std::get<1>(sizes)))
        carried.varies[d] = true, settled = false;
    if (auto both = join(carried.element, out.element); !same(both, carried.element))
      carried.element = both, settled = false;
  }
  form.conditional =
      form.counted && body.outputs[0] != form.conditionInside && constantBool(body.state, *body.outputs[0]) != true;
  return settled;
}

void ModelImporter::importLoopForm(const onnx::NodeProto &proto, LoopForm &form, Scope &scope) {
  int inputs = (form.counted ? 2 : 0) + static_cast<int>(form.initial.size() + form.scanned.size());
  int collected = static_cast<int>(form.reverseCollected.size());
  int outputs = static_cast<int>(form.firstCarried() + form.initial.size()) + collected;
  if (form.graph->input_size() != inputs || form.graph->output_size() != outputs)
    malformed("expected a body of {} inputs and {} outputs because of the node's, got {} and {}", inputs, outputs,
              form.graph->input_size(), form.graph->output_size());
  for (ImportedValue *initial : form.initial)
    form.carried.push_back({false, false, SmallVector<bool>(initial->rank(), false), initial->element, nullptr});
  if (scope.depth >= patientDepth && holdsBodies(*form.graph))
    form.giveUpSizes();
  Operation *last = lastOperation();
  std::unique_ptr<Body> body;
  for (int attempt = 0; !body; ++attempt) {
    ImportReport before = state.report;
    try {
      std::unique_ptr<Body> made = importLoopBody(form, scope);
      if (made->isPoisonous())
        return poisonOutputs(proto, scope);
      if (settles(form, *made)) {
        body = std::move(made);
        break;
      }
    } catch (ImportFailure &) { // perhaps of sizes that were taken to stay
      if (!form.patient)
        throw;
      form.giveUpSizes();
    }
    state.report = before;
    if (attempt == mostAttempts / 2)
      form.giveUpSizes();
    if (attempt > mostAttempts)
      unsupported("what it carries changes its type in every turn");
  }
  emitLoop(proto, form, *body, scope);
  labelNewOperations({.name = nodeName(proto, scope),
                      .op = proto.op_type(),
                      .domain = "",
                      .opset = 0,
                      .attributes = {},
                      .inputs = {},
                      .outputs = {}},
                     last);
}

/// How many turns there will be, where the import knows it; null if only running tells.
static AffineExpr knownTurns(ImportState &state, ImportedValue *trips) {
  const Sizes *elements = trips ? state.elementsOf(*trips) : nullptr;
  if (!elements || elements->size() != 1)
    return {};
  if (std::optional<int64_t> number = graph::constantSize(elements->front()))
    return state.number(std::max<int64_t>(0, *number));
  return llvm::isa<AffineSymbolExpr>(elements->front()) ? elements->front() : AffineExpr();
}

void ModelImporter::emitLoop(const onnx::NodeProto &proto, LoopForm &form, Body &body, Scope &scope) {
  SmallVector<Value> carried, scanned;
  SmallVector<ImportedValue *> inside, results; // what the body gives, what the loop does
  SmallVector<std::string> names;
  SmallVector<Type> types;
  SmallVector<DType> dtypes;
  auto addResult = [&](ImportedValue *given, Sizes sizes, std::shared_ptr<const ElementFacts> element) {
    ImportedValue *result = state.newValue(given->name);
    result->type = given->type, result->sizes = std::move(sizes), result->element = std::move(element);
    inside.push_back(given), names.push_back(given->name), results.push_back(result), dtypes.push_back(given->type);
    types.push_back(state.tensorType(result->sizes, elementType(state.context, result->type)));
  };
  if (form.conditional)
    inside.push_back(body.outputs[0]), names.push_back("condition");
  for (auto [i, value] : llvm::enumerate(form.carried)) {
    if (value.stays)
      continue;
    carried.push_back(state.materialize(*form.initial[i]));
    Sizes sizes = form.initial[i]->sizes;
    for (auto [size, varies] : llvm::zip_equal(sizes, value.varies))
      size = varies ? state.freshSymbol("u") : size;
    addResult(body.outputs[form.firstCarried() + i], sizes, value.element);
  }
  bool always = !form.conditional && !form.condition;
  AffineExpr turns = !form.counted ? form.scanned[0]->sizes[0] : always ? knownTurns(state, form.trips) : AffineExpr();
  turns = turns ? turns : state.freshSymbol("u");
  for (size_t i = 0; i < form.reverseCollected.size(); ++i) {
    ImportedValue *given = body.outputs[form.firstCarried() + form.carried.size() + i];
    if (isObject(given->type))
      unsupported("it collects slices of {}, which only tensors of numbers have", name(given->type));
    Sizes sizes{turns};
    for (AffineExpr size : given->sizes)
      sizes.push_back(sizeOutside(body, size));
    addResult(given, sizes, nullptr);
  }
  for (ImportedValue *value : form.scanned)
    scanned.push_back(state.materialize(*value));
  finishBody(body, inside, names);
  AffineMap sizes = body.sizes();
  std::string bodyName = state.addBody(body.state);
  auto flags = [&](const std::vector<bool> &list) { return SmallVector<bool>(list.begin(), list.end()); };
  auto op = flow::LoopOp::create(
      state.builder, state.location, types, bodyName, sizes, form.trips ? state.materialize(*form.trips) : Value(),
      form.condition ? state.materialize(*form.condition) : Value(), carried, scanned, body.captures,
      flags(form.reverseScanned), flags(form.reverseCollected), form.counted, form.conditional);
  op->setAttr("output_dtypes", dtypeNames(state, dtypes));
  for (auto [i, result] : llvm::enumerate(results))
    result->value = op.getResult(i);

  auto next = results.begin();
  for (int i = 0; i < proto.output_size(); ++i) {
    bool isCarried = i < static_cast<int>(form.carried.size());
    ImportedValue *result = isCarried && form.carried[i].stays ? form.initial[i] : *next++;
    int64_t axis = isCarried ? 0 : form.collectedAxes[i - form.carried.size()];
    if (!isCarried && axis != 0)
      result = moveDimension(*result, 0, axis < 0 ? axis + result->rank() : axis);
    if (proto.output(i).empty())
      continue;
    if (isCarried && form.carried[i].held) {
      define(proto.output(i) + "/held", result, scope);
      importNode(rewriteNode("OptionalGetElement", {proto.output(i) + "/held"}, proto.output(i)), scope);
    } else {
      define(proto.output(i), result, scope);
    }
  }
}

/// The value with one of its dimensions at another place.
ImportedValue *ModelImporter::moveDimension(ImportedValue &value, int64_t from, int64_t to) {
  if (from < 0 || from >= value.rank() || to < 0 || to >= value.rank())
    malformed("expected an axis of '{}', which has rank {}, got {}", value.name, value.rank(), std::max(from, to));
  SmallVector<int64_t> perm;
  for (int64_t i = 0; i < value.rank(); ++i)
    if (i != from)
      perm.push_back(i);
  perm.insert(perm.begin() + to, from);
  ImportedValue *moved = state.newValue(value.name);
  moved->type = value.type;
  for (int64_t dim : perm)
    moved->sizes.push_back(value.sizes[dim]);
  moved->value = graph::TransposeOp::create(state.builder, state.location,
                                            state.tensorType(moved->sizes, elementType(state.context, value.type)),
                                            state.materialize(value), perm);
  return moved;
}

void ModelImporter::importLoop(const onnx::NodeProto &proto, Scope &scope) {
  LoopForm form;
  form.graph = &graphAttribute(proto, "body");
  form.counted = true;
  auto input = [&](int i) {
    return i < proto.input_size() && !proto.input(i).empty() ? lookup(proto.input(i), scope, "it") : nullptr;
  };
  form.trips = input(0), form.condition = input(1);
  if (form.trips && form.trips->type != DType::I64)
    malformed("expected a trip count of int64, got {}", name(form.trips->type));
  if (form.condition)
    expectCondition(*form.condition);
  if (form.condition && constantBool(state, *form.condition) == true)
    form.condition = nullptr;
  for (int i = 2; i < proto.input_size(); ++i)
    form.initial.push_back(lookup(proto.input(i), scope, "it"));
  int collected = form.graph->output_size() - 1 - static_cast<int>(form.initial.size());
  if (collected < 0 || proto.output_size() > static_cast<int>(form.initial.size()) + collected)
    malformed("expected a body with a condition, {} carried values and what it collects, got {} outputs",
              form.initial.size(), form.graph->output_size());
  form.reverseCollected.assign(collected, false);
  form.collectedAxes.assign(collected, 0);
  importLoopForm(proto, form, scope);
}

//===- Scan -------------------------------------------------------------------------------------------------------===//

void ModelImporter::importScan(const onnx::NodeProto &proto, Scope &scope) {
  LoopForm form;
  form.graph = &graphAttribute(proto, "body");
  int64_t scans = integerOf(proto, "num_scan_inputs"), states = proto.input_size() - scans;
  if (scans < 1 || states < 0)
    malformed("expected 1 to {} scanned inputs, got num_scan_inputs {}", proto.input_size(), scans);
  for (int i = 0; i < states; ++i)
    form.initial.push_back(lookup(proto.input(i), scope, "it"));
  Operation *last = lastOperation();
  std::vector<int64_t> axes = integersOf(proto, "scan_input_axes", scans);
  for (int i = 0; i < scans; ++i) {
    ImportedValue *value = lookup(proto.input(static_cast<int>(states) + i), scope, "it");
    if (isObject(value->type))
      unsupported("it scans a {}", name(value->type));
    int64_t axis = axes[i] < 0 ? axes[i] + value->rank() : axes[i];
    if (axis < 0 || axis >= value->rank())
      malformed("expected an axis of '{}', which has rank {}, got {}", value->name, value->rank(), axes[i]);
    form.scanned.push_back(axis == 0 ? value : moveDimension(*value, axis, 0));
    AffineExpr first = form.scanned[0]->sizes[0], own = form.scanned[i]->sizes[0];
    if (!state.unify(first, own) && graph::constantSize(first) && graph::constantSize(own))
      malformed("expected as many slices of '{}' as of '{}', got {} and {}", value->name, form.scanned[0]->name,
                state.print(own), state.print(first));
  }
  int64_t collected = form.graph->output_size() - states;
  if (collected < 0 || proto.output_size() > form.graph->output_size())
    malformed("expected a body of at least {} outputs, got {}", std::max<int64_t>(states, proto.output_size()),
              form.graph->output_size());
  form.collectedAxes = integersOf(proto, "scan_output_axes", collected);
  for (int64_t direction : integersOf(proto, "scan_input_directions", scans))
    form.reverseScanned.push_back(direction != 0);
  for (int64_t direction : integersOf(proto, "scan_output_directions", collected))
    form.reverseCollected.push_back(direction != 0);
  labelNewOperations({.name = nodeName(proto, scope),
                      .op = "Scan",
                      .domain = "",
                      .opset = 0,
                      .attributes = {},
                      .inputs = {},
                      .outputs = {}},
                     last);
  importLoopForm(proto, form, scope);
}

//===- Forms that are written as others ---------------------------------------------------------------------------===//

/// Opset 8: every input has a batch dimension before the one that is scanned. That is a scan over the batch of a scan.
void ModelImporter::importBatchedScan(const onnx::NodeProto &proto, Scope &scope) {
  if (proto.input_size() < 2 || !proto.input(0).empty())
    unsupported("sequence_lens of opset 8 is not supported");
  int64_t scans = integerOf(proto, "num_scan_inputs"), count = proto.input_size() - 1;
  onnx::NodeProto &outer = rewritten->emplace_back(), inner;
  outer.set_op_type("Scan"), inner.set_op_type("Scan");
  outer.set_name(nodeName(proto, scope)), inner.set_name(nodeName(proto, scope) + "/batch");
  auto setForm = [](onnx::NodeProto &node, int64_t scanned) {
    addInteger(node, "num_scan_inputs", scanned);
    onnx::AttributeProto *axes = addAttribute(node, "scan_input_axes", onnx::AttributeProto::INTS);
    for (int64_t i = 0; i < scanned; ++i)
      axes->add_ints(0);
  };
  setForm(outer, count), setForm(inner, scans);
  for (const auto &attribute : proto.attribute())
    if (attribute.name() == "body" || attribute.name() == "directions") {
      onnx::AttributeProto &kept = *inner.add_attribute() = attribute;
      kept.set_name(attribute.name() == "body" ? "body" : "scan_input_directions");
    }
  onnx::GraphProto &graph = *addAttribute(outer, "body", onnx::AttributeProto::GRAPH)->mutable_g();
  for (int i = 0; i < count; ++i) {
    std::string name = fmt::format("{}/of_batch/{}", inner.name(), proto.input(i + 1));
    outer.add_input(proto.input(i + 1));
    graph.add_input()->set_name(name);
    inner.add_input(name);
  }
  for (const std::string &output : proto.output()) {
    outer.add_output(output);
    inner.add_output(fmt::format("{}/of_batch/{}", inner.name(), output));
    graph.add_output()->set_name(inner.output(inner.output_size() - 1));
  }
  *graph.add_node() = std::move(inner);
  importScan(outer, scope);
}

const onnx::NodeProto &ModelImporter::rewriteNode(const char *op, const std::vector<std::string> &inputs,
                                                  const std::string &output) {
  onnx::NodeProto &node = rewritten->emplace_back();
  node.set_op_type(op), node.set_name(output);
  node.mutable_input()->Assign(inputs.begin(), inputs.end());
  node.add_output(output);
  return node;
}

/// A loop over the elements of the sequences, which carries the sequences of the results.
void ModelImporter::importSequenceMap(const onnx::NodeProto &proto, Scope &scope) {
  const onnx::GraphProto &mapped = graphAttribute(proto, "body");
  if (proto.input_size() < 1 || mapped.input_size() != proto.input_size() ||
      mapped.output_size() != proto.output_size())
    malformed("expected a body of {} inputs and {} outputs, got {} and {}", proto.input_size(), proto.output_size(),
              mapped.input_size(), mapped.output_size());
  std::string prefix = nodeName(proto, scope) + "/map/";
  importNode(rewriteNode("SequenceLength", {proto.input(0)}, prefix + "length"), scope);
  onnx::NodeProto &loop = rewritten->emplace_back();
  loop.set_op_type("Loop"), loop.set_name(nodeName(proto, scope));
  loop.add_input(prefix + "length"), loop.add_input("");
  onnx::GraphProto &graph = *addAttribute(loop, "body", onnx::AttributeProto::GRAPH)->mutable_g();
  graph = mapped;
  graph.clear_input(), graph.clear_output(), graph.clear_node();
  graph.add_input()->set_name(prefix + "turn"), graph.add_input()->set_name(prefix + "condition");
  graph.add_output()->set_name(prefix + "condition");
  for (int i = 0; i < proto.input_size(); ++i) {
    bool isSequence = lookup(proto.input(i), scope, "it")->type == DType::Sequence;
    if (isSequence)
      *graph.add_node() = rewriteNode("SequenceAt", {proto.input(i), prefix + "turn"}, mapped.input(i).name());
    else
      *graph.add_node() = rewriteNode("Identity", {proto.input(i)}, mapped.input(i).name());
  }
  graph.mutable_node()->MergeFrom(mapped.node());
  for (int i = 0; i < proto.output_size(); ++i) {
    std::string before = fmt::format("{}before_{}", prefix, i), after = fmt::format("{}after_{}", prefix, i),
                empty = fmt::format("{}empty_{}", prefix, i);
    importNode(rewriteNode("SequenceEmpty", {}, empty), scope);
    loop.add_input(empty), loop.add_output(proto.output(i));
    graph.add_input()->set_name(before), graph.add_output()->set_name(after);
    *graph.add_node() = rewriteNode("SequenceInsert", {before, mapped.output(i).name()}, after);
  }
  importLoop(loop, scope);
}

} // namespace tilewright
