// RNN, GRU and LSTM over a short static sequence: the input's part of every gate is one matrix product, then one step after another.
#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

constexpr int64_t maxSteps = 32; // a longer sequence would be a program, not a graph

/// Weights and state of one direction, in f32.
struct Cell {
  Term recurrence;          // [gates * H, H]
  Term inputs;              // [T, B, gates * H]: x W^T + Wb
  Term bias;                // [gates * H] of the recurrence; zero where there is none
  Term hidden, cell;        // [B, H]
  int64_t size;             // H
  std::vector<std::string> activations;

  Term gate(NodeBuilder &b, Term all, int64_t i) const { return b.slice(all, all.rank() - 1, b.number(i * size), b.number(size)); }
};

Term activate(NodeBuilder &b, const std::string &name, Term x) {
  if (name == "Sigmoid")
    return b.sigmoid(x);
  if (name == "Tanh")
    return b.tanh(x);
  if (name == "Relu")
    return b.relu(x);
  decline("the activation {} in a recurrent operator is not compiled", name);
}

Term product(NodeBuilder &b, Term state, Term weights) { return b.contract(state, weights, "bh,gh->bg"); }

void stepRnn(NodeBuilder &b, Cell &c, Term x) { c.hidden = activate(b, c.activations[0], x + product(b, c.hidden, c.recurrence) + c.bias); }

/// Gates z, r, h.
void stepGru(NodeBuilder &b, Cell &c, Term x) {
  auto rows = [&](int64_t i) { return b.slice(c.recurrence, 0, b.number(i * c.size), b.number(c.size)); };
  auto part = [&](int64_t i) { return product(b, c.hidden, rows(i)) + c.gate(b, c.bias, i); };
  Term z = activate(b, c.activations[0], c.gate(b, x, 0) + part(0));
  Term r = activate(b, c.activations[0], c.gate(b, x, 1) + part(1));
  Term fresh = b.integer("linear_before_reset", 0) ? r * part(2) : product(b, r * c.hidden, rows(2)) + c.gate(b, c.bias, 2);
  Term h = activate(b, c.activations[1], c.gate(b, x, 2) + fresh);
  c.hidden = (1.0 - z) * h + z * c.hidden;
}

/// Gates i, o, f, c.
void stepLstm(NodeBuilder &b, Cell &c, Term x) {
  Term all = x + product(b, c.hidden, c.recurrence) + c.bias;
  Term i = activate(b, c.activations[0], c.gate(b, all, 0)), o = activate(b, c.activations[0], c.gate(b, all, 1));
  Term f = activate(b, c.activations[0], c.gate(b, all, 2)), g = activate(b, c.activations[1], c.gate(b, all, 3));
  c.cell = f * c.cell + i * g;
  c.hidden = o * activate(b, c.activations[2], c.cell);
}

struct Kind {
  int64_t gates;
  std::vector<std::string> activations;
  void (*step)(NodeBuilder &, Cell &, Term);
};

/// One slice of a parameter that has a direction first.
Term ofDirection(NodeBuilder &b, size_t i, int64_t direction) {
  b.expectRank(i, i == 3 ? 2 : 3);
  Term x = b.in(i);
  Sizes sizes = x.sizes();
  return b.reshape(b.slice(x, 0, b.number(direction), b.number(1)), llvm::ArrayRef(sizes).drop_front());
}

Cell makeCell(NodeBuilder &b, const Kind &kind, Term x, int64_t direction, int64_t directions) {
  for (size_t i = 1; i <= 3; ++i)
    if (b.has(i) || i < 3)
      b.unify(b.input(i).sizes.empty() ? b.number(0) : b.sizes(i)[0], b.number(directions), fmt::format("directions of input {}", i));
  Term weights = ofDirection(b, 1, direction); // [gates * H, I]
  Cell cell{};
  cell.recurrence = ofDirection(b, 2, direction);
  std::optional<int64_t> hidden = graph::constantSize(cell.recurrence.sizes()[1]);
  if (!hidden)
    decline("a hidden size that is symbolic is not compiled");
  cell.size = *hidden;
  Sizes sizes = x.sizes(), gates{b.number(kind.gates * cell.size)}, state{sizes[1], b.number(cell.size)};
  b.unify(weights.sizes()[0], gates[0], "rows of W");
  cell.inputs = b.reshape(b.contract(b.reshape(x, {sizes[0] * sizes[1], sizes[2]}), weights, "ri,gi->rg"), {sizes[0], sizes[1], gates[0]});
  cell.bias = b.splat(gates, x.element(), 0);
  if (b.has(3)) {
    Term both = ofDirection(b, 3, direction);
    cell.inputs = cell.inputs + b.slice(both, 0, b.number(0), gates[0]);
    cell.bias = b.slice(both, 0, gates[0], gates[0]);
  }
  bool initial = b.has(5), batchFirst = b.integer("layout", 0);
  auto stateFrom = [&](size_t i) {
    b.expectRank(i, 3);
    return batchFirst ? b.reshape(b.slice(b.in(i), 1, b.number(direction), b.number(1)), state) : ofDirection(b, i, direction);
  };
  cell.hidden = initial ? stateFrom(5) : b.splat(state, x.element(), 0);
  cell.cell = b.has(6) ? stateFrom(6) : b.splat(state, x.element(), 0);
  auto found = b.node.attributes.find("activations");
  cell.activations = kind.activations;
  if (found != b.node.attributes.end()) {
    const auto *list = std::get_if<std::vector<std::string>>(&found->second);
    b.expect(list != nullptr, "expected attribute 'activations' to be a list of strings");
    const auto &names = *list;
    b.expect(names.size() == kind.activations.size() * directions,
             fmt::format("expected {} activations, got {}", kind.activations.size() * directions, names.size()));
    cell.activations.assign(names.begin() + direction * kind.activations.size(), names.begin() + (direction + 1) * kind.activations.size());
  }
  return cell;
}

void recurrent(NodeBuilder &b, const Kind &kind) {
  if (b.has(4) || b.has(7) || b.hasAttribute("clip") || b.integer("input_forget", 0))
    decline("sequence lengths, peepholes, clipping and coupled gates are not compiled");
  b.expectRank(0, 3);
  bool batchFirst = b.integer("layout", 0);
  Term x = batchFirst ? b.transpose(b.in(0), {1, 0, 2}) : b.in(0);
  std::optional<int64_t> steps = graph::constantSize(x.sizes()[0]);
  if (!steps || *steps > maxSteps || *steps < 1)
    decline("a sequence of {} steps is not compiled (1 to {} are)", b.state.print(x.sizes()[0]), maxSteps);
  std::string direction = b.text("direction", "forward");
  int64_t directions = direction == "bidirectional" ? 2 : 1;
  std::vector<Term> outputs(static_cast<size_t>(*steps * directions)), hidden, cells;
  for (int64_t d = 0; d < directions; ++d) {
    Cell cell = makeCell(b, kind, x, d, directions);
    bool backward = d == 1 || direction == "reverse";
    for (int64_t step = 0; step < *steps; ++step) {
      int64_t t = backward ? *steps - 1 - step : step;
      Sizes sizes = cell.inputs.sizes();
      kind.step(b, cell, b.reshape(b.slice(cell.inputs, 0, b.number(t), b.number(1)), {sizes[1], sizes[2]}));
      outputs[static_cast<size_t>(t * directions + d)] = cell.hidden;
    }
    hidden.push_back(cell.hidden), cells.push_back(cell.cell);
  }
  Sizes state = hidden[0].sizes();
  auto stack = [&](std::vector<Term> parts) { // each [B, H] as [1, B, H], joined
    for (Term &part : parts)
      part = b.reshape(part, {b.number(1), state[0], state[1]});
    return b.concat(parts, 0);
  };
  Term all = b.reshape(stack(outputs), {b.number(*steps), b.number(directions), state[0], state[1]});
  auto finish = [&](Term last) { return batchFirst ? b.transpose(last, {1, 0, 2}) : last; };
  b.out(batchFirst ? b.transpose(all, {2, 0, 1, 3}) : all);
  b.out(finish(stack(hidden)), b.type(0), 1);
  if (kind.gates == 4)
    b.out(finish(stack(cells)), b.type(0), 2);
}

} // namespace

void rnn(NodeBuilder &b) { recurrent(b, {1, {"Tanh"}, stepRnn}); }
void gru(NodeBuilder &b) { recurrent(b, {3, {"Sigmoid", "Tanh"}, stepGru}); }
void lstm(NodeBuilder &b) { recurrent(b, {4, {"Sigmoid", "Tanh", "Tanh"}, stepLstm}); }

} // namespace tilewright::ops
