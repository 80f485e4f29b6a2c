// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: expanded, for each direction d, into a loop over the steps:
//
//     x_d           = X W_d^T + bias           RecurrentInputs: one product, [steps, batch, gates * hidden]
//     h_d, c_d      = initial_h, initial_c     RecurrentState, RecurrentCell: [batch, hidden]; RecurrentLengths checks
//                                              sequence_lens
//     h_d, c_d, y_d = Scan(h_d, c_d, x_d)      RnnStep, GruStep or LstmStep in each iteration
//     Y, Y_h, Y_c   = (y_0, y_1), ...          RecurrentResult
//
// These operators are our own (handlers in ops/Recurrent.cpp). A short sequence is unrolled into one operator for each
// step, followed by StackSteps. Both directions of a long one take their steps together, in one loop whose states and
// weights are those of both, if they compute the same: half of the steps to start, each with twice the work.
#include "frontend/import/ModelImporter.h"

#include "frontend/import/GeneratedNode.h"
#include "frontend/ops/Handlers.h"

using namespace mlir;

namespace tilewright {
namespace {

constexpr int64_t mostUnrolled = 32; // steps
constexpr int64_t leastLooped = 6;   // steps that take longer as kernels of their own than as one

struct Recurrence {
  std::string_view domain, op;
  int64_t since;
  std::string_view step;
  int64_t gates;
  int states;         // h, and the LSTM's c
  size_t activations; // for each direction
  bool ofBytes;       // weights [directions, K, gates * H] with scales and zero points, not [directions, gates * H, K]
};
constexpr Recurrence recurrences[] = {{"", "RNN", 7, "RnnStep", 1, 1, 1, false},
                                      {"", "GRU", 7, "GruStep", 3, 1, 2, false},
                                      {"", "LSTM", 7, "LstmStep", 4, 2, 3, false},
                                      {"com.microsoft", "DynamicQuantizeLSTM", 1, "LstmStep", 4, 2, 3, true}};

enum Input { X, W, R, B, Lengths, InitialH, InitialC, Peepholes, ScaleW, ZeroW, ScaleR, ZeroR };

/// Requires these sizes of an input that is present, by a check at run time if necessary.
void expectSizes(NodeBuilder &b, size_t i, ArrayRef<AffineExpr> sizes, std::string_view what) {
  if (!b.has(i))
    return;
  b.expectRank(i, static_cast<int64_t>(sizes.size()));
  for (auto [dim, size] : llvm::enumerate(sizes))
    b.unify(b.sizes(i)[dim], size, fmt::format("dimension {} of {}", dim, what));
}

} // namespace

/// Generates and imports the nodes that replace a recurrence.
class ModelImporter::RecurrenceWriter {
public:
  RecurrenceWriter(ModelImporter &importer, const onnx::NodeProto &proto, NodeBuilder &b, const Recurrence &kind,
                   int64_t size, const Scope &outer)
      : importer(importer), proto(proto), b(b), kind(kind), size(size), batchFirst(b.integer("layout", 0)) {
    static const Opsets own = {{"", 18}, {std::string(ownDomain), 1}};
    scope.parent = &outer, scope.opsets = &own, scope.references = outer.references, scope.depth = outer.depth + 1;
    scope.prefix = b.node.name + "/";
    for (auto [i, input] : llvm::enumerate(b.node.inputs))
      if (input)
        importer.define(name(i), input, scope);
  }

  /// Checks attributes and sizes here, so that errors name the node in the model.
  void check() {
    std::string direction = b.text("direction", "forward");
    b.expect(direction == "forward" || direction == "reverse" || direction == "bidirectional",
             fmt::format("expected direction to be forward, reverse or bidirectional, got '{}'", direction));
    directions = direction == "bidirectional" ? 2 : 1, reversed = direction == "reverse";
    size_t named = ops::activationNames(b).size(), wanted = kind.activations * directions;
    b.expect(named == 0 || named == wanted, fmt::format("expected {} activations, got {}", wanted, named));
    b.expect(!b.hasAttribute("clip") || b.real("clip", 0) >= 0,
             fmt::format("expected a clip of 0 or more, got {}", b.real("clip", 0)));
    AffineExpr steps = b.sizes(X)[batchFirst], batch = b.sizes(X)[!batchFirst], hidden = b.number(size);
    b.expect(b.integer("hidden_size", size) == size,
             fmt::format("expected hidden_size to be {}, as of R, got {}", size, b.integer("hidden_size", size)));
    AffineExpr rows = b.number(kind.gates * size), count = b.number(directions);
    auto weights = [&](AffineExpr depth) {
      return kind.ofBytes ? Sizes{count, depth, rows} : Sizes{count, rows, depth};
    };
    expectSizes(b, W, weights(b.sizes(X)[2]), "W");
    expectSizes(b, R, weights(hidden), "R");
    expectSizes(b, B, {count, b.number(2 * kind.gates * size)}, "B");
    expectSizes(b, Lengths, {batch}, "sequence_lens");
    for (int i = 0; i < kind.states; ++i)
      expectSizes(b, InitialH + i, batchFirst ? Sizes{batch, count, hidden} : Sizes{count, batch, hidden},
                  "an initial state");
    if (kind.states == 2)
      expectSizes(b, Peepholes, {count, b.number(3 * size)}, "P");
    unrolled = graph::constantSize(steps).value_or(0);
    if (unrolled > mostUnrolled || (unrolled >= leastLooped && isLooped()))
      unrolled = 0;
  }

  void write() {
    std::vector<std::string> sequences, last[2];
    if (b.has(Lengths))
      lengths = emit("RecurrentLengths", {given(X), given(Lengths)}, {"checked lengths"})[0];
    if (areStepsAlike())
      return writeTogether();
    for (direction = 0; direction < directions; ++direction) {
      // Slices of constants are folded, and get the best layout for their product.
      for (size_t i : {W, R, B, Peepholes, ScaleW, ZeroW, ScaleR, ZeroR})
        own[i] = b.has(i) ? standard("Gather", {name(i), constant(direction)}, made(name(i))) : "";
      splitLateGate(0);
      std::string x = emit("RecurrentInputs", {given(X), own[W], own[B], own[ScaleW], own[ZeroW]}, {made("x")})[0];
      std::vector<std::string> states = firstStates();
      bool backward = direction == 1 || reversed;
      std::vector<std::string> results =
          unrolled ? writeSteps(x, states, backward) : writeScan({x}, states, {backward});
      for (int i = 0; i < kind.states; ++i)
        last[i].push_back(results[i]);
      sequences.push_back(results.back());
    }
    give(0, sequences);
    for (int i = 0; i < kind.states; ++i)
      give(1 + i, last[i]);
  }

private:
  /// Whether the target computes a loop of these steps in one kernel: with one product, of few weights.
  bool isLooped() const {
    return !kind.ofBytes && !hasLateGate() && kind.gates * size * size <= importer.state.options.loopedWeights;
  }

  /// Whether there are two directions that differ in numbers alone. Each quantizes its own state.
  bool areStepsAlike() const {
    std::vector<std::string> names = ops::activationNames(b);
    auto middle = names.begin() + static_cast<std::ptrdiff_t>(names.size() / 2);
    return directions == 2 && !unrolled && !kind.ofBytes &&
           2 * kind.gates * size * size <= importer.state.options.togetherWeights &&
           std::equal(names.begin(), middle, middle, names.end()) && !b.hasAttribute("activation_alpha") &&
           !b.hasAttribute("activation_beta");
  }

  void writeTogether() {
    std::vector<std::string> x;
    for (direction = 0; direction < directions; ++direction) {
      for (size_t i : {W, B})
        own[i] = b.has(i) ? standard("Gather", {name(i), constant(direction)}, made(name(i))) : "";
      x.push_back(emit("RecurrentInputs", {given(X), own[W], own[B], "", ""}, {made("x")})[0]);
    }
    direction = 0, together = true;
    for (size_t i : {R, B, Peepholes})
      own[i] = given(i);
    splitLateGate(1);
    std::vector<std::string> states = firstStates();
    std::vector<std::string> results = writeScan(x, states, {false, true});
    give(0, {results.back()});
    for (int i = 0; i < kind.states; ++i)
      give(1 + i, {results[i]});
  }

  /// What the first step reads: h, and an LSTM's c.
  std::vector<std::string> firstStates() {
    std::vector<std::string> states = emit("RecurrentState", {given(X), given(InitialH)}, {made("h")});
    if (kind.states == 2)
      states.push_back(emit("RecurrentCell", {given(X), given(InitialC)}, {made("c")})[0]);
    return states;
  }

  /// The last gate of a GRU may depend on the others.
  bool hasLateGate() const { return kind.op == "GRU" && !b.integer("linear_before_reset", 0); }

  /// The weights of a late gate, rows of dimension `axis`, are an input of their own.
  void splitLateGate(int64_t axis) {
    if (!hasLateGate())
      return;
    late = standard("Slice", {own[R], list(2 * size), list(3 * size), list(axis)}, made("late weights"));
    own[R] = standard("Slice", {own[R], list(0), list(2 * size), list(axis)}, made("early weights"));
  }

  static std::string name(size_t input) { return fmt::format("input {}", input); }
  std::string given(size_t input) const { return b.has(input) ? name(input) : ""; }
  std::string made(std::string_view what) const {
    return together ? fmt::format("{}, both directions", what) : fmt::format("{}, direction {}", what, direction);
  }

  /// A node of our own domain with the attributes of the recurrence.
  onnx::NodeProto node(std::string_view op, const std::vector<std::string> &inputs,
                       const std::vector<std::string> &outputs) const {
    onnx::NodeProto made;
    made.set_op_type(std::string(op)), made.set_domain(std::string(ownDomain)), made.set_name(outputs[0]);
    made.mutable_input()->Assign(inputs.begin(), inputs.end()),
        made.mutable_output()->Assign(outputs.begin(), outputs.end());
    *made.mutable_attribute() = proto.attribute();
    addInteger(made, "direction_index", direction), addInteger(made, "state_size", size);
    addInteger(made, "together", together);
    return made;
  }
  std::vector<std::string> emit(std::string_view op, const std::vector<std::string> &inputs,
                                const std::vector<std::string> &outputs) {
    import(node(op, inputs, outputs));
    return outputs;
  }
  void import(onnx::NodeProto made) { importer.importNode(importer.generated->emplace_back(std::move(made)), scope); }

  std::string constant(int64_t value) { return constant(value, {}); }
  std::string list(int64_t value) { return constant(value, {1}); }
  std::string constant(int64_t value, const Shape &shape) {
    std::string name = fmt::format("{} {}", shape.empty() ? "number" : "list of", value);
    if (!scope.values.contains(name)) {
      Tensor tensor = Tensor::allocate(DType::I64, shape);
      *tensor.data<int64_t>() = value;
      importer.define(name, importer.state.newConstant(name, tensor), scope);
    }
    return name;
  }
  std::string standard(const char *op, const std::vector<std::string> &inputs, const std::string &output) {
    importer.importNode(importer.generateNode(op, inputs, output), scope);
    return output;
  }

  /// The node for one step. Its outputs are the next states, then the element of the sequence.
  /// `x` and `turns` have one for each direction.
  onnx::NodeProto stepNode(const std::vector<std::string> &x, const std::vector<std::string> &states,
                           const std::vector<std::string> &turns, const std::vector<std::string> &outputs) const {
    std::vector<std::string> inputs = {
        x[0], own[R], late, own[B], kind.states == 2 ? own[Peepholes] : "", b.has(Lengths) ? turns[0] : "", lengths};
    inputs.insert(inputs.end(), states.begin(), states.end());
    inputs.resize(9), inputs.push_back(own[ScaleR]), inputs.push_back(own[ZeroR]);
    if (together)
      inputs.push_back(x[1]), inputs.push_back(b.has(Lengths) ? turns[1] : "");
    return node(kind.step, inputs, outputs);
  }
  std::vector<std::string> stepOutputs(const std::string &of) const {
    std::vector<std::string> names;
    for (const char *what : {"h", "c"})
      if (static_cast<int>(names.size()) < kind.states)
        names.push_back(made(what) + of);
    names.push_back(made("y") + of);
    return names;
  }

  std::vector<std::string> writeSteps(const std::string &x, std::vector<std::string> states, bool backward) {
    std::vector<std::string> sequence(static_cast<size_t>(unrolled));
    for (int64_t i = 0; i < unrolled; ++i) {
      int64_t t = backward ? unrolled - 1 - i : i;
      std::string of = fmt::format(", step {}", t);
      std::vector<std::string> outputs = stepOutputs(of);
      import(stepNode({standard("Gather", {x, constant(t)}, x + of)}, states, {constant(t)}, outputs));
      sequence[static_cast<size_t>(t)] = outputs.back();
      outputs.pop_back();
      states = std::move(outputs);
    }
    states.push_back(emit("StackSteps", sequence, {made("y")})[0]);
    return states;
  }

  /// `x` has the inputs of each direction, which goes `backward` or not. The results are in the order of the first one.
  std::vector<std::string> writeScan(const std::vector<std::string> &x, const std::vector<std::string> &states,
                                     const std::vector<bool> &backward) {
    std::vector<std::string> scanned = x;
    if (b.has(Lengths)) {
      std::string steps = standard("Gather", {standard("Shape", {x[0]}, made("shape")), constant(0)}, made("steps")),
                  turns = standard("Range", {constant(0), steps, constant(1)}, made("turns"));
      scanned.insert(scanned.end(), x.size(), turns);
    }
    onnx::NodeProto scan;
    scan.set_op_type("Scan"), scan.set_name(made("steps of"));
    onnx::GraphProto &body = *addAttribute(scan, "body", onnx::AttributeProto::GRAPH)->mutable_g();
    std::vector<std::string> inside, outputs = stepOutputs(" of a turn");
    for (const std::vector<std::string> *list : {&states, static_cast<const std::vector<std::string> *>(&scanned)})
      for (const std::string &outer : *list) {
        scan.add_input(outer);
        std::string name = outer + " in a turn";
        if (llvm::is_contained(inside, name)) // turns, from the last one on
          name += ", backward";
        body.add_input()->set_name(inside.emplace_back(name));
      }
    auto slice = [&](size_t first, size_t count) {
      return std::vector(inside.begin() + static_cast<std::ptrdiff_t>(first),
                         inside.begin() + static_cast<std::ptrdiff_t>(first + count));
    };
    *body.add_node() = stepNode(slice(states.size(), x.size()), slice(0, states.size()),
                                slice(inside.size() - x.size(), x.size()), outputs);
    for (const std::string &output : outputs)
      body.add_output()->set_name(output);
    std::vector<std::string> results = stepOutputs("");
    for (const std::string &result : results)
      scan.add_output(result + " at the end");
    addInteger(scan, "num_scan_inputs", static_cast<int64_t>(scanned.size()));
    onnx::AttributeProto *into = addAttribute(scan, "scan_input_directions", onnx::AttributeProto::INTS);
    for (size_t i = 0; i < scanned.size(); ++i)
      into->add_ints(backward[i % x.size()]);
    addAttribute(scan, "scan_output_directions", onnx::AttributeProto::INTS)->add_ints(backward[0]);
    import(scan);
    return {scan.output().begin(), scan.output().end()};
  }

  /// Sets output i of the recurrence, by joining the results of all directions.
  void give(size_t i, const std::vector<std::string> &parts) {
    if (!b.wants(i))
      return;
    std::vector<std::string> inputs = {given(X)};
    inputs.insert(inputs.end(), parts.begin(), parts.end());
    ImportedValue *value =
        importer.lookup(emit("RecurrentResult", inputs, {fmt::format("output {}", i)})[0], scope, "it");
    value->name = b.node.outputs[i]->name;
    b.node.outputs[i] = value;
  }

  ModelImporter &importer;
  const onnx::NodeProto &proto;
  NodeBuilder &b;
  const Recurrence &kind;
  int64_t size; // of the state
  Scope scope;
  std::array<std::string, 12> own; // the parameters of this direction
  std::string lengths;             // of the sequences; empty if there is no such input
  std::string late;                // weights R of the gate that depends on the others, if there is one
  bool batchFirst, reversed = false;
  bool together = false; // both directions take their steps in one loop
  int64_t directions = 1, direction = 0;
  int64_t unrolled = 0; // the number of steps if they are unrolled
};

bool ModelImporter::importRecurrence(const onnx::NodeProto &proto, NodeBuilder::Node &node, const Scope &scope) {
  const auto *kind =
      llvm::find_if(recurrences, [&](const Recurrence &row) { return row.domain == node.domain && row.op == node.op; });
  if (kind == std::end(recurrences) || node.opset < kind->since || state.options.allAsReference ||
      scope.depth >= maxDepth)
    return false;
  NodeBuilder b(state, node);
  for (size_t i : {X, W, R})
    b.expectRank(i, 3);
  std::optional<int64_t> size = graph::constantSize(b.sizes(R)[kind->ofBytes ? 1 : 2]);
  if (!size || !ops::areCompiledActivations(b))
    return false;
  RecurrenceWriter writer(*this, proto, b, *kind, *size, scope);
  writer.check();
  int64_t nodes = state.report.nodeCount;
  writer.write();
  state.report.nodeCount = nodes;
  return true;
}

} // namespace tilewright
