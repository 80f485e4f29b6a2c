// SPDX-License-Identifier: Apache-2.0
// Loops: imports the body until its types are consistent, then emits flow.loop.
//
// The sizes of what a body carries may change from one iteration to the next. The body is therefore imported several
// times: first as if no size changed, then with fresh symbols for the sizes that did, until the types of its results
// are those of its arguments.
//
// Exporters of recognizers hand a placeholder of another rank to the first iteration, which replaces it. That iteration
// is then imported in front of the loop, if it is known to run:
//
//   Loop(trips, c, v: rank 0)   ->   c', v': rank 2 = body(0, c, v);  Loop(trips - 1, c', v') from iteration 1 on
#include "frontend/flow/FlowOps.h"
#include "frontend/import/ObjectTypes.h"
#include "frontend/import/controlflow/LoopForm.h"

using namespace mlir;

namespace tilewright {
namespace {

/// A body with bodies of its own that is nested deeper than this is imported once, with a fresh symbol for every size:
/// each level would multiply the attempts.
constexpr int deepestRepeated = 3;
constexpr int mostAttempts = 6;

bool holdsBodies(const onnx::GraphProto &graph) {
  return llvm::any_of(graph.node(), [](const onnx::NodeProto &node) {
    return llvm::any_of(node.attribute(), [](const auto &attribute) { return attribute.has_g(); });
  });
}

/// The number of iterations if the import knows it, otherwise null.
AffineExpr knownTrips(ImportState &state, ImportedValue *trips) {
  const Sizes *elements = trips ? state.elementsOf(*trips) : nullptr;
  if (!elements || elements->size() != 1)
    return {};
  if (std::optional<int64_t> number = graph::constantSize(elements->front()))
    return state.number(std::max<int64_t>(0, *number));
  return llvm::isa<AffineSymbolExpr>(elements->front()) ? elements->front() : AffineExpr();
}

bool isKnownPositive(AffineExpr count) { return count && graph::constantSize(count).value_or(0) > 0; }

} // namespace

//===- The body ---------------------------------------------------------------------------------------------------===//

/// Defines the iteration number as the body's nodes see it: `turn`, which counts from 0, plus `first`.
void ModelImporter::countFrom(int64_t first, ImportedValue &turn, Body &body) {
  Tensor number = Tensor::allocate(turn.type, {});
  *number.data<int64_t>() = first;
  std::string counted = turn.name + "/counted", from = turn.name + "/from", sum = turn.name + "/turn";
  define(counted, &turn, body.scope);
  define(from, body.state.newConstant(from, number), body.scope);
  ModelImporter(*this, body.state).importNode(generateNode("Add", {counted, from}, sum), body.scope);
  body.scope.values[turn.name] = body.scope.values.at(sum);
}

std::unique_ptr<ModelImporter::Body> ModelImporter::importLoopBody(LoopForm &form, Scope &scope) {
  std::unique_ptr<Body> body = beginBody(scope);
  ImportState &inside = body->state;
  int next = 0;
  auto scalar = [&](DType type) { // of rank 0, or of rank 1 if the body declares that
    const auto &info = form.graph->input(next++);
    Sizes sizes(std::min(1, info.type().tensor_type().shape().dim_size()), inside.number(1));
    ImportedValue *value = inside.addInput(info.name(), type, sizes);
    define(info.name(), value, body->scope);
    return value;
  };
  if (form.counted) {
    ImportedValue *turn = scalar(DType::I64);
    if (form.firstIteration > 0)
      countFrom(form.firstIteration, *turn, *body);
    form.conditionArgument = scalar(DType::Bool);
  }
  auto bodyName = [&](size_t i) { return form.graph->input(next + static_cast<int>(i)).name(); };
  for (auto [i, initial, carried] : llvm::enumerate(form.initial, form.carried)) {
    Sizes sizes = initial->sizes;
    for (auto [size, varies] : llvm::zip_equal(sizes, carried.varies))
      if (varies)
        inside.takeAsLate(size = inside.freshSymbol("c"));
    if (!carried.isInvariant)
      carried.argument = inside.addInput(bodyName(i), initial->type, sizes, carried.element);
  }
  for (auto [i, scanned] : llvm::enumerate(form.scanned)) {
    std::string name = bodyName(form.initial.size() + i);
    define(name, inside.addInput(name, scanned->type, Sizes(llvm::drop_begin(scanned->sizes))), body->scope);
  }
  for (auto [i, initial, carried] : llvm::enumerate(form.initial, form.carried)) {
    if (carried.isInvariant) // an argument after those that change with each iteration, like captures
      carried.argument = capture(*body, *initial);
    define(bodyName(i), carried.argument, body->scope);
  }
  importBodyNodes(*body, *form.graph);
  return body;
}

/// Whether the types of the body's results are those of its arguments. If not, updates `form` for the next attempt.
bool ModelImporter::hasStableTypes(LoopForm &form, Body &body) {
  bool stable = true;
  for (auto [i, carried] : llvm::enumerate(form.carried)) {
    ImportedValue *&result = body.outputs[form.firstCarried() + i];
    if (carried.argument->type == DType::Optional && result->type != DType::Optional) {
      carried.wrapsOptional = true;
      std::string name = form.graph->output(static_cast<int>(form.firstCarried() + i)).name();
      ModelImporter(*this, body.state).importNode(generateNode("Optional", {name}, name + "/held"), body.scope);
      result = body.scope.values.at(name + "/held");
    }
    ImportedValue &in = *carried.argument, &out = *result;
    if (in.type != out.type)
      malformed("expected what it carries to keep its type, got {} and then {} for '{}'", name(in.type), name(out.type),
                in.name);
    form.changesRanks |= in.rank() != out.rank();
    if (in.rank() != out.rank())
      unsupported("it carries '{}' in rank {} and then in rank {}", in.name, in.rank(), out.rank());
    if (carried.isInvariant)
      continue;
    if (&in == &out && form.assumesStableSizes) {
      carried.isInvariant = true, stable = false;
      continue;
    }
    for (auto [d, sizes] : llvm::enumerate(llvm::zip_equal(in.sizes, out.sizes)))
      if (!carried.varies[d] && body.state.resolve(std::get<0>(sizes)) != body.state.resolve(std::get<1>(sizes)))
        carried.varies[d] = true, stable = false;
    OnnxTypePtr both = commonType(carried.element, typeOutside(out.element, body.given));
    if (!sameType(both, carried.element))
      carried.element = both, stable = false;
  }
  form.conditional =
      form.counted && body.outputs[0] != form.conditionArgument && constantBool(body.state, *body.outputs[0]) != true;
  return stable;
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
  if (scope.depth >= deepestRepeated && holdsBodies(*form.graph))
    form.assumeAllSizesVary();
  Operation *last = lastOperation();
  std::unique_ptr<Body> body;
  for (int attempt = 0; !body; ++attempt) {
    ImportReport before = state.report;
    try {
      std::unique_ptr<Body> made = importLoopBody(form, scope);
      if (made->isPoisoned())
        return poisonOutputs(proto, scope);
      if (hasStableTypes(form, *made)) {
        body = std::move(made);
        break;
      }
    } catch (ImportFailure &) { // perhaps only because sizes were assumed not to change
      if (!form.assumesStableSizes || form.changesRanks)
        throw;
      form.assumeAllSizesVary();
    }
    state.report = before;
    if (attempt == mostAttempts / 2)
      form.assumeAllSizesVary();
    if (attempt > mostAttempts)
      unsupported("what it carries changes its type in every turn");
  }
  emitLoop(proto, form, *body, scope);
  labelNewOperations(nodeName(proto, scope), proto.op_type(), last);
}

//===- The operation ----------------------------------------------------------------------------------------------===//

struct ModelImporter::LoopResults : BodyResults {
  SmallVector<ImportedValue *>
      yielded;                    // the body's results: first the condition if there is one, then one for each value
  SmallVector<std::string> names; // of these

  void addResult(ImportState &state, ImportedValue *inBody, Sizes sizes, OnnxTypePtr element) {
    ImportedValue *value = state.newValue(inBody->name);
    value->type = inBody->type, value->sizes = std::move(sizes), value->element = std::move(element);
    yielded.push_back(inBody), names.push_back(inBody->name);
    add(state, value);
  }
};

/// Adds the carried values to `results`, and returns their initial values.
SmallVector<Value> ModelImporter::addCarried(const LoopForm &form, const Body &body, LoopResults &results) {
  SmallVector<Value> initial;
  for (auto [i, carried] : llvm::enumerate(form.carried)) {
    if (carried.isInvariant)
      continue;
    initial.push_back(state.materialize(*form.initial[i]));
    Sizes sizes = form.initial[i]->sizes;
    for (auto [size, varies] : llvm::zip_equal(sizes, carried.varies))
      size = varies ? state.freshSymbol("u") : size;
    results.addResult(state, body.outputs[form.firstCarried() + i], sizes, carried.element);
  }
  return initial;
}

/// Adds the results that are stacked from all iterations.
void ModelImporter::addCollected(const LoopForm &form, const Body &body, LoopResults &results) {
  bool runsAllTrips = !form.conditional && !form.condition;
  AffineExpr trips = !form.counted  ? form.scanned[0]->sizes[0]
                     : runsAllTrips ? knownTrips(state, form.trips)
                                    : AffineExpr();
  trips = trips ? trips : state.freshSymbol("u");
  for (size_t i = 0; i < form.reverseCollected.size(); ++i) {
    ImportedValue *slice = body.outputs[form.firstCarried() + form.carried.size() + i];
    if (isObject(slice->type))
      unsupported("it collects slices of {}, which only tensors of numbers have", name(slice->type));
    Sizes sizes{trips};
    for (AffineExpr size : slice->sizes)
      sizes.push_back(sizeOutside(body, size));
    results.addResult(state, slice, sizes, nullptr);
  }
}

void ModelImporter::emitLoop(const onnx::NodeProto &proto, LoopForm &form, Body &body, Scope &scope) {
  LoopResults results;
  if (form.conditional)
    results.yielded.push_back(body.outputs[0]), results.names.push_back("condition");
  SmallVector<Value> carried = addCarried(form, body, results), scanned;
  addCollected(form, body, results);
  for (ImportedValue *value : form.scanned)
    scanned.push_back(state.materialize(*value));
  finishBody(body, results.yielded, results.names);
  AffineMap sizes = body.sizes();
  (*body.state.module)->setAttr(graph::repeatedAttr, state.builder.getUnitAttr());
  std::string bodyName = state.addBody(body.state);
  auto flags = [](const std::vector<bool> &list) { return SmallVector<bool>(list.begin(), list.end()); };
  auto op = flow::LoopOp::create(state.builder, state.location, results.types, bodyName, sizes,
                                 form.trips ? state.materialize(*form.trips) : Value(),
                                 form.condition ? state.materialize(*form.condition) : Value(), carried, scanned,
                                 body.captures, flags(form.reverseScanned), flags(form.reverseCollected), form.counted,
                                 form.conditional);
  results.attach(state, op);
  defineLoopOutputs(proto, form, results, scope);
}

void ModelImporter::defineLoopOutputs(const onnx::NodeProto &proto, const LoopForm &form, const LoopResults &results,
                                      Scope &scope) {
  auto next = results.values.begin();
  for (int i = 0; i < proto.output_size(); ++i) {
    bool isCarried = i < static_cast<int>(form.carried.size());
    ImportedValue *result = isCarried && form.carried[i].isInvariant ? form.initial[i] : *next++;
    int64_t axis = isCarried ? 0 : form.collectedAxes[i - form.carried.size()];
    if (!isCarried && axis != 0)
      result = moveDimension(*result, 0, axis < 0 ? axis + result->rank() : axis);
    if (proto.output(i).empty())
      continue;
    if (isCarried && form.carried[i].wrapsOptional) {
      define(proto.output(i) + "/held", result, scope);
      importNode(generateNode("OptionalGetElement", {proto.output(i) + "/held"}, proto.output(i)), scope);
    } else {
      define(proto.output(i), result, scope);
    }
  }
}

//===- Loop -------------------------------------------------------------------------------------------------------===//

/// Imports the first iteration in front of the loop, which is known to have one.
void ModelImporter::importPeeledLoop(const onnx::NodeProto &proto, LoopForm form, Scope &scope) {
  Scope inner = scopeWithin(scope);
  auto constant = [&](int input, DType type, int64_t number) {
    const auto &info = form.graph->input(input);
    Tensor tensor = Tensor::allocate(type, Shape(std::min(1, info.type().tensor_type().shape().dim_size()), 1));
    if (type == DType::Bool)
      *tensor.data<uint8_t>() = number != 0;
    else
      *tensor.data<int64_t>() = number;
    define(info.name(), state.newConstant(info.name(), tensor), inner);
  };
  constant(0, DType::I64, 0), constant(1, DType::Bool, 1);
  for (auto [i, initial] : llvm::enumerate(form.initial))
    define(form.graph->input(static_cast<int>(i) + 2).name(), initial, inner);
  importInitializers(*form.graph, inner);
  importNodes(form.graph->node(), inner);
  std::vector<ImportedValue *> outputs;
  for (const auto &output : form.graph->output())
    outputs.push_back(lookup(output.name(), inner, "its body"));
  if (llvm::any_of(outputs, isPoisoned))
    return poisonOutputs(proto, scope);

  form.condition = constantBool(state, *outputs[0]) == true ? nullptr : outputs[0];
  for (auto [i, initial] : llvm::enumerate(form.initial))
    initial = outputs[i + 1];
  if (form.trips) {
    Tensor rest = Tensor::allocate(DType::I64, {});
    *rest.data<int64_t>() = *graph::constantSize(knownTrips(state, form.trips)) - 1;
    form.trips = state.newConstant(form.trips->name + "/rest", rest);
  }
  form.firstIteration = 1;
  // A collected result is the slice of the first iteration, then those that the loop collects.
  onnx::NodeProto &rest = generated->emplace_back(proto);
  int carried = static_cast<int>(form.initial.size());
  for (int i = carried; i < proto.output_size(); ++i)
    if (!proto.output(i).empty())
      rest.set_output(i, proto.output(i) + "/rest");
  importLoopForm(rest, form, scope);
  for (int i = carried; i < proto.output_size(); ++i) {
    if (proto.output(i).empty())
      continue;
    ImportedValue *slice = outputs[i + 1], *first = state.newValue(proto.output(i) + "/first");
    first->type = slice->type, first->sizes = slice->sizes;
    first->sizes.insert(first->sizes.begin(), state.number(1));
    first->value = graph::ReshapeOp::create(state.builder, state.location,
                                            state.tensorType(first->sizes, elementType(state.context, first->type)),
                                            state.materialize(*slice));
    define(first->name, first, scope);
    generateNode("Concat", {first->name, rest.output(i)}, proto.output(i));
    onnx::NodeProto &joined = generated->back();
    onnx::AttributeProto *axis = joined.add_attribute();
    axis->set_name("axis"), axis->set_type(onnx::AttributeProto::INT), axis->set_i(0);
    importNode(joined, scope);
  }
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
  bool runsOnce = !form.condition && (!form.trips || isKnownPositive(knownTrips(state, form.trips)));
  LoopForm whole = form;
  ImportReport before = state.report;
  try {
    importLoopForm(proto, whole, scope);
  } catch (ImportFailure &) {
    if (!whole.changesRanks || !runsOnce)
      throw;
    state.report = before;
    importPeeledLoop(proto, std::move(form), scope);
  }
}

} // namespace tilewright
