// SPDX-License-Identifier: Apache-2.0
// The operators that RNN, GRU and LSTM are expanded into (ImportRecurrent.cpp). Each has the attributes of the original
// node, `direction_index`, and the parameters of its direction only. Where the model has half types, the inputs of the
// gates and an LSTM's cells are f32; the state h, which is the result of each step, has the model's type. Quantized
// weights are [K, gates * H] with a scale and a zero point.
//
// Where both directions take their steps `together`, their states, weights and biases have a dimension more in front.
#include "frontend/builder/ExactMath.h"
#include "frontend/ops/Compose.h"
#include "frontend/ops/Handlers.h"
#include "frontend/sizes/RunTimeSizes.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

//===- Activations ------------------------------------------------------------------------------------------------===//

struct Activation {
  std::string_view name;
  double alpha, beta; // the defaults
  bool takesAlpha, takesBeta;
  Term (*function)(NodeBuilder &b, Term x, double alpha, double beta);
};

Term whereNegative(NodeBuilder &b, Term x, Term then) {
  return b.select(b.compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, x, b.like(x, 0)), then, x);
}

constexpr Activation activations[] = {
    {"affine", 1, 0, true, true, [](NodeBuilder &, Term x, double a, double b) { return x * a + b; }},
    {"elu", 1, 0, true, false,
     [](NodeBuilder &b, Term x, double a, double) { return whereNegative(b, x, (b.exp(x) - 1.0) * a); }},
    {"hardsigmoid", 0.2, 0.5, true, true,
     [](NodeBuilder &b, Term x, double a, double c) { return b.maximum(b.minimum(x * a + c, b.like(x, 1)), 0); }},
    {"leakyrelu", 0.01, 0, true, false,
     [](NodeBuilder &b, Term x, double a, double) { return whereNegative(b, x, x * a); }},
    {"relu", 0, 0, false, false, [](NodeBuilder &b, Term x, double, double) { return b.relu(x); }},
    {"scaledtanh", 1, 1, true, true, [](NodeBuilder &b, Term x, double a, double c) { return b.tanh(x * c) * a; }},
    {"sigmoid", 0, 0, false, false, [](NodeBuilder &b, Term x, double, double) { return b.sigmoid(x); }},
    {"softsign", 0, 0, false, false, [](NodeBuilder &b, Term x, double, double) { return x / (b.abs(x) + 1.0); }},
    {"tanh", 0, 0, false, false, [](NodeBuilder &b, Term x, double, double) { return b.tanh(x); }},
};

const Activation *findActivation(std::string_view name) {
  const auto *row =
      llvm::find_if(activations, [&](const Activation &each) { return StringRef(each.name).equals_insensitive(name); });
  return row == std::end(activations) ? nullptr : row;
}

std::vector<float> reals(NodeBuilder &b, std::string_view name) {
  auto found = b.node.attributes.find(name);
  auto *list = found == b.node.attributes.end() ? nullptr : std::get_if<std::vector<float>>(&found->second);
  return list ? *list : std::vector<float>();
}

//===- One step ---------------------------------------------------------------------------------------------------===//

struct Cell {
  NodeBuilder &b;
  Term x;                        // [B, gates * H]: X W^T + the bias of W; [2, B, gates * H] of both directions
  std::optional<Term> late;      // [H, H], weights of a gate that depends on others, in the model's type; [2, H, H]
  Term bias;                     // [gates * H], of the recurrence, zeros if absent; [2, 1, gates * H]
  std::optional<Term> peepholes; // [3 * H]; [2, 1, 3 * H]
  Term hidden, cell;             // [B, H]; [2, B, H]
  int64_t size;                  // H
  std::vector<Activation> activations;
  std::optional<double> clip;

  /// The part of gate i: H elements of the last dimension.
  Term gate(Term all, int64_t i) const { return b.slice(all, all.rank() - 1, b.number(i * size), b.number(size)); }
  /// h R^T for the gates that do not depend on other gates.
  Term recur() const {
    if (ofBytes())
      return roundedFirst(b,
                          productWithBytes(b, valueOf(b, hidden, DType::F32), &b.input(1), &b.input(9), given(b, 10)));
    return times(b.raw(7), b.raw(1));
  }
  /// x R^T, of operands in the type of the model.
  Term times(Term x, Term weights) const {
    return b.contract(x, weights, x.rank() == 3 ? "dbh,dgh->dbg" : "bh,gh->bg");
  }
  Term peep(Term gate, int64_t i, Term at) const { return peepholes ? gate + at * this->gate(*peepholes, i) : gate; }
  Term plain(size_t which, Term value) const {
    return activations[which].function(b, value, activations[which].alpha, activations[which].beta);
  }
  bool ofBytes() const { return b.has(9); }
  /// A product that is rounded before it is added to another, if weights are quantized (ExactMath.h).
  Term product(Term x, Term y) const { return ofBytes() ? roundedFirst(b, x * y) : x * y; }
  Term activate(size_t which, Term value) const {
    if (clip)
      value = b.minimum(b.maximum(value, -*clip), b.like(value, *clip));
    return plain(which, value);
  }
};

void stepRnn(Cell &c) { c.hidden = c.activate(0, c.x + c.recur() + c.bias); }

/// Gates in the order update, reset, hidden.
void stepGru(Cell &c) {
  Term all = c.recur();
  auto part = [&](int64_t i) { return c.gate(all, i) + c.gate(c.bias, i); };
  Term update = c.activate(0, c.gate(c.x, 0) + part(0)), reset = c.activate(0, c.gate(c.x, 1) + part(1));
  Term fresh =
      c.late ? c.times(c.b.stored(reset * c.hidden, c.b.type(7)), *c.late) + c.gate(c.bias, 2) : reset * part(2);
  Term candidate = c.activate(1, c.gate(c.x, 2) + fresh);
  c.hidden = (1.0 - update) * candidate + update * c.hidden;
}

/// Gates in the order input, output, forget, cell; peepholes in the order input, output, forget.
void stepLstm(Cell &c) {
  Term all = c.x + c.recur() + c.bias;
  Term open = c.activate(0, c.peep(c.gate(all, 0), 0, c.cell));
  Term keep = c.b.integer("input_forget", 0) ? 1.0 - open : c.activate(0, c.peep(c.gate(all, 2), 2, c.cell));
  c.cell = c.product(keep, c.cell) + c.product(open, c.activate(1, c.gate(all, 3)));
  c.hidden = c.activate(0, c.peep(c.gate(all, 1), 1, c.cell)) * c.plain(2, c.cell);
}

/// The activations of the direction. Their alphas and betas are taken in order from attributes for all directions.
std::vector<Activation> activationsOf(NodeBuilder &b, const std::vector<std::string> &defaults) {
  std::vector<std::string> names = activationNames(b);
  size_t each = defaults.size(), first = static_cast<size_t>(b.integer("direction_index", 0)) * each;
  if (names.empty())
    names = defaults, first = 0;
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

constexpr size_t secondX = 11, secondTurn = 12; // of the other direction, where both take their steps together

/// Terms of the same sizes along a new first dimension.
Term stacked(NodeBuilder &b, ArrayRef<Term> terms) {
  SmallVector<Term> parts;
  for (Term term : terms) {
    Sizes sizes = term.sizes();
    sizes.insert(sizes.begin(), b.number(1));
    parts.push_back(b.reshape(term, sizes));
  }
  return b.concat(parts, 0);
}

/// `next` for sequences that have not ended, else `otherwise`: after its end a sequence keeps its state, and its
/// elements are zero.
Term whereAlive(NodeBuilder &b, Term next, Term otherwise) {
  if (!b.has(6))
    return next;
  Term lengths = b.raw(6);
  auto aliveAt = [&](size_t i) {
    Term turn = b.convert(b.raw(i), b.type(i), DType::I32);
    return b.compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, b.broadcast(turn, lengths.sizes()), lengths);
  };
  Term alive = b.has(secondTurn) ? stacked(b, {aliveAt(5), aliveAt(secondTurn)}) : aliveAt(5);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, alive.rank()));
  return b.select(b.broadcast(alive, next.sizes(), dims), next, otherwise);
}

DType computedType(NodeBuilder &b, size_t i) { return isHalf(b.type(i)) ? DType::F32 : b.type(i); }

/// (x, R, late R, B, P, turn, sequence_lens, h, c, scale and zero point of R, x and turn of the second direction) to
/// (h, c, y); c only for an LSTM.
void step(NodeBuilder &b, int64_t gates, const std::vector<std::string> &defaults, void (*formula)(Cell &)) {
  bool together = b.has(secondX);
  b.expectRank(0, 2);
  for (size_t i : {1, 7})
    b.expectRank(i, together ? 3 : 2);
  Term x = together ? stacked(b, {b.in(0), b.in(secondX)}) : b.in(0), hidden = b.in(7),
       cell = b.has(8) ? b.in(8) : hidden;
  std::optional<int64_t> size = graph::constantSize(hidden.sizes().back());
  if (!size)
    decline("a hidden size that is symbolic is not compiled");
  AffineExpr rows = b.number(gates * *size);
  auto perSequence = [&](size_t i) { // broadcast to all sequences of a direction
    Term all = b.in(i);
    return together ? b.reshape(all, {all.sizes()[0], b.number(1), all.sizes()[1]}) : all;
  };
  Term bias = b.has(3) ? b.slice(perSequence(3), together ? 2 : 0, rows, rows) : b.splat({rows}, x.element(), 0);
  std::optional<Term> peepholes = b.has(4) ? std::optional(perSequence(4)) : std::nullopt;
  std::optional<double> clip = b.hasAttribute("clip") ? std::optional(b.real("clip", 0)) : std::nullopt;
  std::optional<Term> late = b.has(2) ? std::optional(b.raw(2)) : std::nullopt;
  Cell c{b, x, late, bias, peepholes, hidden, cell, *size, activationsOf(b, defaults), clip};
  if (c.ofBytes()) { // in the order and with the functions of ONNX Runtime
    if (b.has(3))
      c.bias = b.slice(b.in(3), 0, b.number(0), rows) + bias;
    for (Activation &activation : c.activations)
      activation.function = activation.name == "sigmoid" ? rationalSigmoid
                            : activation.name == "tanh"  ? rationalTanh
                                                         : activation.function;
  }
  formula(c);
  size_t next = 0;
  b.out(whereAlive(b, c.hidden, hidden), b.type(7), next++);
  if (b.has(8))
    b.out(whereAlive(b, c.cell, cell), b.type(8), next++);
  b.out(whereAlive(b, c.hidden, b.like(c.hidden, 0)), b.type(7), next);
}

} // namespace

std::vector<std::string> activationNames(NodeBuilder &b) {
  auto found = b.node.attributes.find("activations");
  auto *names = found == b.node.attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&found->second);
  return names ? *names : std::vector<std::string>();
}

bool areCompiledActivations(NodeBuilder &b) { return llvm::all_of(activationNames(b), findActivation); }

/// Declines a recurrence that ImportRecurrent.cpp could not expand, with the reason.
void recurrence(NodeBuilder &b) {
  for (const std::string &name : activationNames(b))
    if (!findActivation(name))
      decline("the activation {} is not compiled", name);
  decline("a hidden size that only running tells is not compiled");
}

void rnnStep(NodeBuilder &b) { step(b, 1, {"Tanh"}, stepRnn); }
void gruStep(NodeBuilder &b) { step(b, 3, {"Sigmoid", "Tanh"}, stepGru); }
void lstmStep(NodeBuilder &b) { step(b, 4, {"Sigmoid", "Tanh", "Tanh"}, stepLstm); }

/// (X, W, B, scale and zero point of W) to X W^T and its bias, [steps, batch, gates * H].
void recurrentInputs(NodeBuilder &b) {
  b.expectRank(0, 3), b.expectRank(1, 2);
  bool ofBytes = b.has(3);
  Term x = b.integer("layout", 0) ? b.transpose(b.raw(0), {1, 0, 2}) : b.raw(0);
  Sizes sizes = x.sizes();
  AffineExpr columns = b.sizes(1)[ofBytes ? 1 : 0];
  Term rows = b.reshape(x, {b.product({sizes[0], sizes[1]}), sizes[2]});
  Term result =
      ofBytes
          ? roundedFirst(b, productWithBytes(b, valueOf(b, rows, DType::F32), &b.input(1), &b.input(3), given(b, 4)))
          : b.contract(rows, b.raw(1), "ri,gi->rg");
  result = b.reshape(result, {sizes[0], sizes[1], columns});
  if (b.has(2) && !ofBytes) // the step adds the bias of quantized weights
    result = result + b.slice(b.in(2), 0, b.number(0), columns);
  b.out(result, computedType(b, 0));
}

/// (X, initial state) to the state before the first step, [batch, state_size], or [2, batch, state_size].
static void firstState(NodeBuilder &b, DType type) {
  b.expectRank(0, 3);
  bool batchFirst = b.integer("layout", 0), together = b.integer("together", 0);
  Sizes state{b.sizes(0)[batchFirst ? 0 : 1], b.number(b.integer("state_size", 0))};
  if (together)
    state.insert(state.begin(), b.number(2));
  Term first = b.splat(state, b.in(0).element(), 0);
  if (b.has(1))
    b.expectRank(1, 3);
  if (b.has(1) && together) {
    first = b.conform(batchFirst ? b.transpose(b.in(1), {1, 0, 2}) : b.in(1), state);
  } else if (b.has(1)) {
    Term all = b.in(1), one = b.slice(all, batchFirst, b.number(b.integer("direction_index", 0)), b.number(1));
    first = b.conform(b.reshape(one, {all.sizes()[batchFirst ? 0 : 1], all.sizes()[2]}), state);
  }
  b.out(first, type);
}

void recurrentState(NodeBuilder &b) { firstState(b, b.type(0)); }
void recurrentCell(NodeBuilder &b) { firstState(b, computedType(b, 0)); }

/// (X, sequence_lens) to sequence_lens. Checks that each is from 0 to the number of steps.
void recurrentLengths(NodeBuilder &b) {
  b.expectRank(0, 3), b.expectRank(1, 1);
  Term lengths = b.convert(b.raw(1), b.type(1), DType::I64);
  AffineExpr steps = b.sizes(0)[b.integer("layout", 0) ? 1 : 0];
  RunTimeSizes read(b);
  read.require(both(isBelow(scalarOf(b, -1), b.reduce(graph::ReduceKind::Min, lengths, {0})),
                    isBelow(b.reduce(graph::ReduceKind::Max, lengths, {0}), scalarOf(b, steps) + scalarOf(b, 1))),
               fmt::format("expected sequence lengths from 0 to {}", b.print(steps)));
  read.read();
  b.out(b.raw(1), b.type(1));
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

/// [steps, 2, batch, H], where the second direction's steps are in reverse order, to the same with all steps in order.
Term inOneOrder(NodeBuilder &b, Term both) {
  Sizes sizes = both.sizes();
  Term number = b.iota(sizes, 1, b.state.builder.getI32Type()), reversed = b.slice(both, 0, sizes[0] - 1, sizes[0], -1);
  return b.select(b.compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, number, b.like(number, 0)), both,
                  reversed);
}

/// (X, a result of each direction or of both) to the recurrence's own layout: [steps, batch, H] each to [steps,
/// directions, batch, H], or [batch, H] each to [directions, batch, H], with the batch first if `layout` says so. In
/// the type of X.
void recurrentResult(NodeBuilder &b) {
  bool together = b.integer("together", 0);
  SmallVector<Term> parts;
  for (size_t i = 1; i < b.node.inputs.size(); ++i) {
    b.expectRank(i, together ? 3 : 2, together ? 4 : 3);
    Sizes sizes = b.sizes(i);
    if (!together)
      sizes.insert(sizes.end() - 2, b.number(1));
    parts.push_back(b.reshape(b.in(i), sizes));
  }
  b.expect(!parts.empty(), "expected a direction or two, got none");
  Term joined = together ? parts[0] : b.concat(parts, parts[0].rank() - 3);
  if (together && joined.rank() == 4)
    joined = inOneOrder(b, joined);
  if (b.integer("layout", 0))
    joined = joined.rank() == 4 ? b.transpose(joined, {2, 0, 1, 3}) : b.transpose(joined, {1, 0, 2});
  b.out(joined);
}

} // namespace tilewright::ops
