// If: a step that runs one of two bodies. A branch whose condition is known takes the place of its node, and so does
// the only one that gives the rank which the model needs where the condition compares sizes.
#include "frontend/import/ImportBody.h"
#include "frontend/import/ObjectFacts.h"

#include "frontend/flow/FlowOps.h"

using namespace mlir;

namespace tilewright {
namespace {

bool isOneNumber(const ImportedValue &value) {
  return !isObject(value.type) &&
         llvm::all_of(value.sizes, [](AffineExpr size) { return graph::constantSize(size) == 1; });
}

/// One number in another rank.
ImportedValue *inRank(ImportState &state, ImportedValue &number, int64_t rank) {
  ImportedValue *result = state.newValue(number.name);
  result->type = number.type, result->sizes = Sizes(static_cast<size_t>(rank), state.number(1));
  result->value = graph::ReshapeOp::create(state.builder, state.location,
                                           state.tensorType(result->sizes, elementType(state.context, number.type)),
                                           state.materialize(number));
  return result;
}

} // namespace

/// A branch whose condition is known takes the place of its node.
void ModelImporter::inlineBranch(const onnx::NodeProto &proto, const onnx::GraphProto &branch, Scope &scope) {
  Scope inner;
  inner.parent = &scope, inner.prefix = scope.prefix, inner.opsets = scope.opsets, inner.references = scope.references,
  inner.depth = scope.depth + 1;
  importInitializers(branch, inner);
  importNodes(branch.node(), inner);
  for (int i = 0; i < proto.output_size(); ++i)
    if (!proto.output(i).empty())
      define(proto.output(i), lookup(branch.output(i).name(), inner, "the branch"), scope);
}

void ModelImporter::importIf(const onnx::NodeProto &proto, Scope &scope) {
  if (proto.input_size() != 1)
    malformed("expected one condition, got {} inputs", proto.input_size());
  ImportedValue *condition = lookup(proto.input(0), scope, "it");
  expectCondition(*condition);
  const onnx::GraphProto *branches[] = {&graphAttribute(proto, "then_branch"), &graphAttribute(proto, "else_branch")};
  for (const onnx::GraphProto *branch : branches)
    if (branch->output_size() != proto.output_size())
      malformed("expected {} outputs of each branch, got {}", proto.output_size(), branch->output_size());
  if (const Tensor *known = state.constantOf(*condition); known && known->count() != 1)
    malformed("expected a condition of one boolean, got {} elements", known->count());
  if (std::optional<bool> known = constantBool(state, *condition))
    return inlineBranch(proto, *branches[*known ? 0 : 1], scope);

  std::unique_ptr<Body> bodies[] = {beginBody(scope), beginBody(scope)};
  Operation *last = lastOperation();
  ImportReport before = state.report;
  std::optional<ImportFailure> failures[2];
  for (int i : {0, 1}) {
    bodies[i]->state.nodes = state.nodes;
    try {
      runBody(*bodies[i], *branches[i]);
    } catch (ImportFailure &failure) { // sizes that never come here
      if (!condition->compared)
        throw;
      failures[i] = failure;
    }
    state.nodes = bodies[i]->state.nodes;
  }
  auto fails = [&](int i) { return failures[i] || bodies[i]->isPoisonous(); };
  if (std::optional<SizesCompared> sizes = condition->compared; sizes && (!fails(0) || !fails(1))) {
    // Exporters ask whether a size is 1 before they drop it. Rank is one for all sizes.
    auto rank = [](ImportedValue *value) { return value->rank(); };
    int equal = sizes->negated ? 1 : 0;
    bool decides = fails(0) || fails(1) ||
                   !llvm::equal(llvm::map_range(bodies[0]->outputs, rank), llvm::map_range(bodies[1]->outputs, rank));
    if (decides) {
      state.report = before;
      std::optional<bool> only = fails(equal)       ? std::optional(false)
                                 : fails(1 - equal) ? std::optional(true)
                                                    : std::nullopt;
      bool taken = state.takeEqual(sizes->a, sizes->b, fmt::format("node '{}'", nodeName(proto, scope)), only);
      return inlineBranch(proto, *branches[taken ? equal : 1 - equal], scope);
    }
  }
  for (const std::optional<ImportFailure> &failure : failures)
    if (failure)
      throw *failure;
  if (fails(0) || fails(1))
    return poisonOutputs(proto, scope);
  for (int i = 0; i < proto.output_size(); ++i) { // a number and a list of one read alike
    int64_t ranks[] = {bodies[0]->outputs[i]->rank(), bodies[1]->outputs[i]->rank()},
            most = std::max(ranks[0], ranks[1]);
    if (ranks[0] == ranks[1] || !isOneNumber(*bodies[0]->outputs[i]) || !isOneNumber(*bodies[1]->outputs[i]))
      continue;
    state.report.warnings.push_back(fmt::format("node '{}' gives '{}' in ranks {} and {}: it is taken in rank {}",
                                                nodeName(proto, scope), proto.output(i), ranks[0], ranks[1], most));
    for (auto &body : bodies)
      if (body->outputs[i]->rank() != most)
        body->outputs[i] = inRank(body->state, *body->outputs[i], most);
  }
  SmallVector<ImportedValue *> results;
  SmallVector<Type> types;
  SmallVector<DType> dtypes;
  SmallVector<std::string> names;
  for (int i = 0; i < proto.output_size(); ++i) {
    ImportedValue &then = *bodies[0]->outputs[i], &otherwise = *bodies[1]->outputs[i],
                  *result = state.newValue(proto.output(i));
    if (then.type != otherwise.type)
      malformed("expected branches of one type, got {} and {} for '{}'", name(then.type), name(otherwise.type),
                proto.output(i));
    if (then.rank() != otherwise.rank())
      unsupported("its branches give '{}' in ranks {} and {}, and its condition is known only at run time",
                  proto.output(i), then.rank(), otherwise.rank());
    result->type = then.type;
    result->element = join(then.element, otherwise.element);
    for (auto [a, b] : llvm::zip_equal(then.sizes, otherwise.sizes))
      result->sizes.push_back(a == b ? sizeOutside(*bodies[0], a) : state.freshSymbol("u"));
    results.push_back(result);
    types.push_back(state.tensorType(result->sizes, elementType(state.context, result->type)));
    dtypes.push_back(result->type);
    names.push_back(proto.output(i));
  }
  for (auto &body : bodies) {
    body->state.nodes = state.nodes;
    finishBody(*body, body->outputs, names);
    state.nodes = body->state.nodes;
  }
  Value decision = state.materialize(*condition);
  AffineMap sizes[] = {bodies[0]->sizes(), bodies[1]->sizes()};
  bodies[1]->state.nodes = state.nodes; // of both, which addBody takes over
  bodies[0]->state.nodes = state.nodes;
  std::string then = state.addBody(bodies[0]->state), otherwise = state.addBody(bodies[1]->state);
  auto op = flow::IfOp::create(state.builder, state.location, types, decision, then, sizes[0], otherwise, sizes[1],
                               bodies[0]->captures, bodies[1]->captures);
  op->setAttr("output_dtypes", dtypeNames(state, dtypes));
  for (auto [i, result] : llvm::enumerate(results)) {
    result->value = op.getResult(i);
    if (!proto.output(i).empty())
      define(proto.output(i), result, scope);
  }
  labelNewOperations({.name = nodeName(proto, scope),
                      .op = "If",
                      .domain = "",
                      .opset = 0,
                      .attributes = {},
                      .inputs = {},
                      .outputs = {}},
                     last);
}

} // namespace tilewright
