// SPDX-License-Identifier: Apache-2.0
// If: runs one of two bodies. If the condition is known, the branch taken replaces the node. If the condition compares
// sizes, and only one branch has a result of the rank that the model needs, that branch replaces the node too.
#include "frontend/flow/FlowOps.h"
#include "frontend/import/ObjectTypes.h"
#include "frontend/import/controlflow/ImportBody.h"

using namespace mlir;

namespace tilewright {

/// The branches of an If during import: then, else.
struct ModelImporter::Branches {
  const onnx::GraphProto *graphs[2];
  std::unique_ptr<Body> bodies[2];
  std::exception_ptr failures[2]; // of importing the body

  bool fails(int i) const { return failures[i] || bodies[i]->isPoisoned(); }
  bool haveEqualRanks() const {
    auto rank = [](ImportedValue *value) { return value->rank(); };
    return llvm::equal(llvm::map_range(bodies[0]->outputs, rank), llvm::map_range(bodies[1]->outputs, rank));
  }
};

namespace {

bool hasOneElement(const ImportedValue &value) {
  return !isObject(value.type) &&
         llvm::all_of(value.sizes, [](AffineExpr size) { return graph::constantSize(size) == 1; });
}

/// A value of one element, reshaped to `rank`.
ImportedValue *withRank(ImportState &state, ImportedValue &number, int64_t rank) {
  ImportedValue *result = state.newValue(number.name);
  result->type = number.type, result->sizes = Sizes(static_cast<size_t>(rank), state.number(1));
  result->value = graph::ReshapeOp::create(state.builder, state.location,
                                           state.tensorType(result->sizes, elementType(state.context, number.type)),
                                           state.materialize(number));
  return result;
}

} // namespace

void ModelImporter::inlineBranch(const onnx::NodeProto &proto, const onnx::GraphProto &branch, Scope &scope) {
  Scope inner = scopeWithin(scope);
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
  Branches branches{{&graphAttribute(proto, "then_branch"), &graphAttribute(proto, "else_branch")}, {}, {}};
  for (const onnx::GraphProto *branch : branches.graphs)
    if (branch->output_size() != proto.output_size())
      malformed("expected {} outputs of each branch, got {}", proto.output_size(), branch->output_size());
  if (const Tensor *known = state.constantOf(*condition); known && known->count() != 1)
    malformed("expected a condition of one boolean, got {} elements", known->count());
  if (std::optional<bool> known = constantBool(state, *condition))
    return inlineBranch(proto, *branches.graphs[*known ? 0 : 1], scope);

  Operation *last = lastOperation();
  ImportReport before = state.report;
  importBranches(branches, *condition, scope);
  if (std::optional<int> taken = branchBySizes(branches, *condition, nodeName(proto, scope), before))
    return inlineBranch(proto, *branches.graphs[*taken], scope);
  for (const std::exception_ptr &failure : branches.failures)
    if (failure)
      std::rethrow_exception(failure);
  if (branches.fails(0) || branches.fails(1))
    return poisonOutputs(proto, scope);
  matchRanks(branches, proto, scope);
  emitIf(branches, *condition, proto, scope);
  labelNewOperations(nodeName(proto, scope), "If", last);
}

void ModelImporter::importBranches(Branches &branches, const ImportedValue &condition, Scope &scope) {
  for (std::unique_ptr<Body> &body : branches.bodies)
    body = beginBody(scope);
  for (int i : {0, 1}) {
    Body &body = *branches.bodies[i];
    body.state.nodes = state.nodes;
    try {
      importBodyNodes(body, *branches.graphs[i]);
    } catch (const ImportFailure &) { // a branch for sizes that do not occur may not even import
      if (!condition.compared)
        throw;
      branches.failures[i] = std::current_exception();
    }
    state.nodes = body.state.nodes;
  }
}

/// Exporters ask whether a size is 1 before they drop the dimension, so that the branches differ in rank, or only one
/// of them is valid. As a rank cannot depend on run-time values, this decides now which branch is taken for all sizes,
/// and returns its number. nullopt if the condition does not compare sizes, or both branches can be kept.
std::optional<int> ModelImporter::branchBySizes(const Branches &branches, const ImportedValue &condition,
                                                const std::string &node, const ImportReport &before) {
  const std::optional<SizeComparison> &sizes = condition.compared;
  if (!sizes || (branches.fails(0) && branches.fails(1)))
    return std::nullopt;
  if (!branches.fails(0) && !branches.fails(1) && branches.haveEqualRanks())
    return std::nullopt;
  int equal = sizes->negated ? 1 : 0; // the branch for equal sizes
  state.report = before;
  std::optional<bool> only = branches.fails(equal)       ? std::optional(false)
                             : branches.fails(1 - equal) ? std::optional(true)
                                                         : std::nullopt;
  bool taken = state.takeEqual(sizes->a, sizes->b, fmt::format("node '{}'", node), only);
  return taken ? equal : 1 - equal;
}

/// If one branch returns a scalar and the other a list of one element, both become lists.
void ModelImporter::matchRanks(Branches &branches, const onnx::NodeProto &proto, const Scope &scope) {
  for (int i = 0; i < proto.output_size(); ++i) {
    ImportedValue *outputs[] = {branches.bodies[0]->outputs[i], branches.bodies[1]->outputs[i]};
    int64_t ranks[] = {outputs[0]->rank(), outputs[1]->rank()}, most = std::max(ranks[0], ranks[1]);
    if (ranks[0] == ranks[1] || !hasOneElement(*outputs[0]) || !hasOneElement(*outputs[1]))
      continue;
    state.report.warnings.push_back(fmt::format("node '{}' gives '{}' in ranks {} and {}: it is taken in rank {}",
                                                nodeName(proto, scope), proto.output(i), ranks[0], ranks[1], most));
    for (std::unique_ptr<Body> &body : branches.bodies)
      if (body->outputs[i]->rank() != most)
        body->outputs[i] = withRank(body->state, *body->outputs[i], most);
  }
}

/// What output `i` of the node is, whichever branch runs.
ImportedValue *ModelImporter::joinOutputs(const Branches &branches, int i, const std::string &output) {
  const ImportedValue &then = *branches.bodies[0]->outputs[i], &otherwise = *branches.bodies[1]->outputs[i];
  ImportedValue *result = state.newValue(output);
  if (then.type != otherwise.type)
    malformed("expected branches of one type, got {} and {} for '{}'", name(then.type), name(otherwise.type), output);
  if (then.rank() != otherwise.rank())
    unsupported("its branches give '{}' in ranks {} and {}, and its condition is known only at run time", output,
                then.rank(), otherwise.rank());
  result->type = then.type;
  auto elementOf = [](const ImportedValue &value, const Body &body) { return typeOutside(value.element, body.given); };
  result->element = commonType(elementOf(then, *branches.bodies[0]), elementOf(otherwise, *branches.bodies[1]));
  for (auto [a, b] : llvm::zip_equal(then.sizes, otherwise.sizes))
    result->sizes.push_back(a == b ? sizeOutside(*branches.bodies[0], a) : state.freshSymbol("u"));
  return result;
}

void ModelImporter::emitIf(Branches &branches, ImportedValue &condition, const onnx::NodeProto &proto, Scope &scope) {
  auto &[then, otherwise] = branches.bodies;
  BodyResults results;
  SmallVector<std::string> names(proto.output().begin(), proto.output().end());
  for (int i = 0; i < proto.output_size(); ++i)
    results.add(state, joinOutputs(branches, i, proto.output(i)));
  for (std::unique_ptr<Body> &body : branches.bodies) { // one list of nodes goes through both
    body->state.nodes = state.nodes;
    finishBody(*body, body->outputs, names);
    state.nodes = body->state.nodes;
  }
  Value decision = state.materialize(condition);
  AffineMap sizes[] = {then->sizes(), otherwise->sizes()};
  then->state.nodes = otherwise->state.nodes = state.nodes; // addBody takes them over
  std::string thenName = state.addBody(then->state), otherwiseName = state.addBody(otherwise->state);
  auto op = flow::IfOp::create(state.builder, state.location, results.types, decision, thenName, sizes[0],
                               otherwiseName, sizes[1], then->captures, otherwise->captures);
  results.attach(state, op);
  for (auto [value, output] : llvm::zip_equal(results.values, proto.output()))
    if (!output.empty())
      define(output, value, scope);
}

} // namespace tilewright
