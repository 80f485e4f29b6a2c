// The operators that a recurrence is written as (ImportRecurrent.cpp). Each has the recurrence's attributes, and the direction's number as
// `direction_index`. States and sequences are in f32 where the model computes in halves.
#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

//===- Activations -------------------------------------------------------------------------------------------------------===//

struct Activation {
  std::string_view name;
  double alpha, beta; // what they are when the node does not say
  bool takesAlpha, takesBeta;
  Term (*function)(NodeBuilder &b, Term x, double alpha, double beta);
};

Term whereNegative(NodeBuilder &b, Term x, Term then) {
  return b.select(b.compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, x, b.like(x, 0)), then, x);
}

constexpr Activation activations[] = {
    {"affine", 1, 0, true, true, [](NodeBuilder &, Term x, double a, double b) { return x * a + b; }},
    {"elu", 1, 0, true, false, [](NodeBuilder &b, Term x, double a, double) { return whereNegative(b, x, (b.exp(x) - 1.0) * a); }},
    {"hardsigmoid", 0.2, 0.5, true, true,
     [](NodeBuilder &b, Term x, double a, double c) { return b.maximum(b.minimum(x * a + c, b.like(x, 1)), 0); }},
    {"leakyrelu", 0.01, 0, true, false, [](NodeBuilder &b, Term x, double a, double) { return whereNegative(b, x, x * a); }},
    {"relu", 0, 0, false, false, [](NodeBuilder &b, Term x, double, double) { return b.relu(x); }},
    {"scaledtanh", 1, 1, true, true, [](NodeBuilder &b, Term x, double a, double c) { return b.tanh(x * c) * a; }},
    {"sigmoid", 0, 0, false, false, [](NodeBuilder &b, Term x, double, double) { return b.sigmoid(x); }},
    {"softsign", 0, 0, false, false, [](NodeBuilder &b, Term x, double, double) { return x / (b.abs(x) + 1.0); }},
    {"tanh", 0, 0, false, false, [](NodeBuilder &b, Term x, double, double) { return b.tanh(x); }},
};

const Activation *findActivation(std::string_view name) {
  const auto *row = llvm::find_if(activations, [&](const Activation &each) { return StringRef(each.name).equals_insensitive(name); });
  return row == std::end(activations) ? nullptr : row;
}

std::vector<std::string> activationNames(NodeBuilder &b) {
  auto found = b.node.attributes.find("activations");
  auto *names = found == b.node.attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&found->second);
  return names ? *names : std::vector<std::string>();
}

std::vector<float> reals(NodeBuilder &b, std::string_view name) {
  auto found = b.node.attributes.find(name);
  auto *list = found == b.node.attributes.end() ? nullptr : std::get_if<std::vector<float>>(&found->second);
  return list ? *list : std::vector<float>();
}

//===- One step ----------------------------------------------------------------------------------------------------------===//

struct Cell {
  NodeBuilder &b;
  Term x;                        // [B, gates * H]: X W^T + the bias of W
  Term weights;                  // [gates * H, H]
  Term bias;                     // [gates * H], of the recurrence; zero where there is none
  std::optional<Term> peepholes; // [3 * H]
  Term hidden, cell;             // [B, H]
  int64_t size;                  // H
  std::vector<Activation> activations;
  double clip;

  /// H elements of the last dimension.
  Term gate(Term all, int64_t i) const { return b.slice(all, all.rank() - 1, b.number(i * size), b.number(size)); }
  Term rows(int64_t i) const { return b.slice(weights, 0, b.number(i * size), b.number(size)); }
  Term recur(Term state, Term rows) const { return b.contract(state, rows, "bh,gh->bg"); }
  Term peep(Term gate, int64_t i, Term at) const { return peepholes ? gate + at * b.along(this->gate(*peepholes, i), at, 1) : gate; }
  Term plain(size_t which, Term value) const {
    return activations[which].function(b, value, activations[which].alpha, activations[which].beta);
  }
  Term activate(size_t which, Term value) const {
    if (clip > 0)
      value = b.minimum(b.maximum(value, -clip), b.like(value, clip));
    return plain(which, value);
  }
};

void stepRnn(Cell &c) { c.hidden = c.activate(0, c.x + c.recur(c.hidden, c.weights) + c.bias); }

/// Gates in the order update, reset, hidden.
void stepGru(Cell &c) {
  auto part = [&](int64_t i) { return c.recur(c.hidden, c.rows(i)) + c.gate(c.bias, i); };
  Term update = c.activate(0, c.gate(c.x, 0) + part(0)), reset = c.activate(0, c.gate(c.x, 1) + part(1));
  Term fresh = c.b.integer("linear_before_reset", 0) ? reset * part(2) : c.recur(reset * c.hidden, c.rows(2)) + c.gate(c.bias, 2);
  Term candidate = c.activate(1, c.gate(c.x, 2) + fresh);
  c.hidden = (1.0 - update) * candidate + update * c.hidden;
}

/// Gates in the order input, output, forget, cell; peepholes in the order input, output, forget.
void stepLstm(Cell &c) {
  Term all = c.x + c.recur(c.hidden, c.weights) + c.bias;
  Term open = c.activate(0, c.peep(c.gate(all, 0), 0, c.cell));
  Term keep = c.b.integer("input_forget", 0) ? 1.0 - open : c.activate(0, c.peep(c.gate(all, 2), 2, c.cell));
  c.cell = keep * c.cell + open * c.activate(1, c.gate(all, 3));
  c.hidden = c.activate(0, c.peep(c.gate(all, 1), 1, c.cell)) * c.plain(2, c.cell);
}

/// The slice of a parameter that has a direction first.
Term ofDirection(NodeBuilder &b, size_t i, int64_t rank, int64_t dim = 0) {
  b.expectRank(i, rank);
  Sizes sizes = b.sizes(i);
  Term one = b.slice(b.in(i), dim, b.number(b.integer("direction_index", 0)), b.number(1));
  sizes.erase(sizes.begin() + dim);
  return b.reshape(one, sizes);
}

/// The activations of the direction, with alpha and beta taken in order from the attributes of all directions.
std::vector<Activation> activationsOf(NodeBuilder &b, std::vector<std::string> defaults) {
  std::vector<std::string> names = activationNames(b);
  size_t each = defaults.size(), first = static_cast<size_t>(b.integer("direction_index", 0)) * each;
  if (names.empty())
    names = defaults, first = 0;
  b.expect(names.size() >= first + each, fmt::format("expected {} activations for each direction, got {}", each, names.size()));
  std::vector<float> alphas = reals(b, "activation_alpha"), betas = reals(b, "activation_beta");
  size_t nextAlpha = 0, nextBeta = 0;
  std::vector<Activation> all;
  for (const std::string &name : names) {
    const Activation *known = findActivation(name);
    if (!known)
      decline("the activation {} is not compiled", name);
    Activation &own = all.emplace_back(*known);
    if (own.takesAlpha && nextAlpha < alphas.size())
      own.alpha = alphas[nextAlpha++];
    if (own.takesBeta && nextBeta < betas.size())
      own.beta = betas[nextBeta++];
  }
  return {all.begin() + first, all.begin() + first + each};
}

/// Where a sequence is over, its state stays, and its elements are zero.
Term whereAlive(NodeBuilder &b, Term next, Term otherwise) {
  if (!b.has(5))
    return next;
  Term turn = b.convert(b.raw(4), b.type(4), DType::I32), lengths = b.raw(5);
  Term alive = b.compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, b.broadcast(turn, lengths.sizes()), lengths);
  return b.select(b.along(alive, next, 0), next, otherwise);
}

DType computedType(NodeBuilder &b, size_t i) { return isHalf(b.type(i)) ? DType::F32 : b.type(i); }

/// (x, R, B, P, turn, sequence_lens, h, c) to (h, c, y): c for an LSTM alone.
void step(NodeBuilder &b, int64_t gates, const std::vector<std::string> &defaults, void (*formula)(Cell &)) {
  b.expectRank(0, 2), b.expectRank(6, 2);
  Term x = b.in(0), weights = ofDirection(b, 1, 3), zero = b.splat({weights.sizes()[0]}, x.element(), 0);
  std::optional<int64_t> size = graph::constantSize(weights.sizes()[1]);
  if (!size)
    decline("a hidden size that is symbolic is not compiled");
  Term bias = b.has(2) ? b.slice(ofDirection(b, 2, 2), 0, b.number(gates * *size), b.number(gates * *size)) : zero;
  Term hidden = b.in(6), cell = b.has(7) ? b.in(7) : hidden;
  Cell c{b,
         x,
         weights,
         bias,
         b.has(3) ? std::optional(ofDirection(b, 3, 2)) : std::nullopt,
         hidden,
         cell,
         *size,
         activationsOf(b, defaults),
         b.real("clip", 0)};
  formula(c);
  DType type = computedType(b, 0);
  size_t next = 0;
  b.out(whereAlive(b, c.hidden, hidden), type, next++);
  if (b.has(7))
    b.out(whereAlive(b, c.cell, cell), type, next++);
  b.out(whereAlive(b, c.hidden, b.like(c.hidden, 0)), type, next);
}

} // namespace

bool areCompiledActivations(NodeBuilder &b) { return llvm::all_of(activationNames(b), findActivation); }

void rnnStep(NodeBuilder &b) { step(b, 1, {"Tanh"}, stepRnn); }
void gruStep(NodeBuilder &b) { step(b, 3, {"Sigmoid", "Tanh"}, stepGru); }
void lstmStep(NodeBuilder &b) { step(b, 4, {"Sigmoid", "Tanh", "Tanh"}, stepLstm); }

/// (X, W, B) to X W^T and its bias, [steps, batch, gates * H].
void recurrentInputs(NodeBuilder &b) {
  b.expectRank(0, 3);
  Term x = b.integer("layout", 0) ? b.transpose(b.in(0), {1, 0, 2}) : b.in(0), weights = ofDirection(b, 1, 3);
  Sizes sizes = x.sizes();
  AffineExpr columns = weights.sizes()[0];
  Term rows = b.reshape(x, {b.product({sizes[0], sizes[1]}), sizes[2]});
  Term result = b.reshape(b.contract(rows, weights, "ri,gi->rg"), {sizes[0], sizes[1], columns});
  if (b.has(2))
    result = result + b.slice(ofDirection(b, 2, 2), 0, b.number(0), columns);
  b.out(result, computedType(b, 0));
}

/// (X, R, initial state) to the state before the first step, [batch, H].
void recurrentState(NodeBuilder &b) {
  b.expectRank(0, 3), b.expectRank(1, 3);
  bool batchFirst = b.integer("layout", 0);
  Sizes state{b.sizes(0)[batchFirst ? 0 : 1], b.sizes(1)[2]};
  Term first = b.has(2) ? b.conform(ofDirection(b, 2, 3, batchFirst), state) : b.splat(state, b.in(0).element(), 0);
  b.out(first, computedType(b, 0));
}

/// Elements [batch, H] to [steps, batch, H].
void stackSteps(NodeBuilder &b) {
  SmallVector<Term> parts;
  for (size_t i = 0; i < b.node.inputs.size(); ++i) {
    b.expectRank(i, 2);
    parts.push_back(b.reshape(b.in(i), {b.number(1), b.sizes(i)[0], b.sizes(i)[1]}));
  }
  b.out(b.concat(parts, 0));
}

/// (X, a result of each direction) to the recurrence's own layout: [steps, batch, H] each to [steps, directions, batch, H], or
/// [batch, H] each to [directions, batch, H], with the batch first if `layout` says so. In the type of X.
void recurrentResult(NodeBuilder &b) {
  SmallVector<Term> parts;
  for (size_t i = 1; i < b.node.inputs.size(); ++i) {
    b.expectRank(i, 2, 3);
    Sizes sizes = b.sizes(i);
    sizes.insert(sizes.end() - 2, b.number(1));
    parts.push_back(b.reshape(b.in(i), sizes));
  }
  b.expect(!parts.empty(), "expected a direction or two, got none");
  Term joined = b.concat(parts, parts[0].rank() - 3);
  if (b.integer("layout", 0))
    joined = joined.rank() == 4 ? b.transpose(joined, {2, 0, 1, 3}) : b.transpose(joined, {1, 0, 2});
  b.out(joined);
}

} // namespace tilewright::ops
