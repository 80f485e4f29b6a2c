// RNN, GRU and LSTM: any direction, layout, activations, peepholes, sequence lengths and initial states.
//
//     gates = W x + R h + b, then the cell's formula gives the next h (and c)
//
// One loop over directions, batch and time; the three cells differ in one function each.
#include "runtime/reference/Contract.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

namespace tilewright::reference {

//===--- Activations --------------------------------------------------------------------------------------------------------===//

struct Activation {
  std::string_view name;
  double alpha, beta; // what they are when the node does not say
  bool takesAlpha, takesBeta;
  double (*function)(double x, double alpha, double beta);
};

static constexpr Activation activations[] = {
    {"affine", 1, 0, true, true, [](double x, double a, double b) { return a * x + b; }},
    {"elu", 1, 0, true, false, [](double x, double a, double) { return x >= 0 ? x : a * std::expm1(x); }},
    {"hardsigmoid", 0.2, 0.5, true, true, [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }},
    {"leakyrelu", 0.01, 0, true, false, [](double x, double a, double) { return x >= 0 ? x : a * x; }},
    {"relu", 0, 0, false, false, [](double x, double, double) { return x < 0 ? 0 : x; }},
    {"scaledtanh", 1, 1, true, true, [](double x, double a, double b) { return a * std::tanh(b * x); }},
    {"sigmoid", 0, 0, false, false, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {"softplus", 0, 0, false, false, [](double x, double, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
    {"softsign", 0, 0, false, false, [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {"tanh", 0, 0, false, false, [](double x, double, double) { return std::tanh(x); }},
    {"thresholdedrelu", 1, 0, true, false, [](double x, double a, double) { return x > a ? x : 0; }},
};

static const Activation &findActivation(const std::string &name) {
  auto same = [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); };
  for (const Activation &row : activations)
    if (std::ranges::equal(row.name, name, same))
      return row;
  malformed(fmt::format("'{}' is no activation", name));
}

/// The activations of all directions, each with its alpha and beta taken in order from the attributes.
static std::vector<Activation> activationsOf(Call &call, std::vector<std::string> otherwise, int64_t directions) {
  size_t each = otherwise.size();
  std::vector<std::string> names = call.texts("activations").value_or(std::vector<std::string>());
  if (names.empty())
    for (int64_t d = 0; d < directions; ++d)
      names.insert(names.end(), otherwise.begin(), otherwise.end());
  require(names.size() == each * directions, "expected {} activations, found {}", each * directions, names.size());
  auto alphas = call.reals("activation_alpha").value_or(std::vector<float>()),
       betas = call.reals("activation_beta").value_or(std::vector<float>());
  size_t nextAlpha = 0, nextBeta = 0;
  std::vector<Activation> result;
  for (const std::string &name : names) {
    Activation &own = result.emplace_back(findActivation(name));
    if (own.takesAlpha && nextAlpha < alphas.size())
      own.alpha = alphas[nextAlpha++];
    if (own.takesBeta && nextBeta < betas.size())
      own.beta = betas[nextBeta++];
  }
  return result;
}

//===--- The recurrence -----------------------------------------------------------------------------------------------------===//

/// What a cell sees in one step of one sequence. Vectors of `hidden` elements, gates of `gates` such vectors.
struct Step {
  int64_t hidden;
  const double *input;            // W x + its bias, [gates][hidden]
  const double *recurrentWeights; // R, [gates][hidden][hidden]
  const double *recurrentBias;    // [gates][hidden]
  const double *peepholes;        // LSTM: [3][hidden]
  const Activation *activations;
  double clip;
  double *h, *c; // read and written

  double activate(int64_t which, double x) const {
    const Activation &own = activations[which];
    return own.function(std::clamp(x, -clip, clip), own.alpha, own.beta);
  }

  /// R v + bias for one gate.
  std::vector<double> recur(int64_t gate, const double *v) const {
    std::vector<double> result(recurrentBias + gate * hidden, recurrentBias + (gate + 1) * hidden);
    contractVector(hidden, hidden, recurrentWeights + gate * hidden * hidden, v, result.data());
    return result;
  }
};

static std::vector<double> valuesOf(Call &call, int64_t i, const Shape &shape) {
  if (!call.has(i))
    return std::vector<double>(product(shape));
  require(call.input(i).shape() == shape, "expected input {} of shape {}, found {}", i, shape, call.input(i).shape());
  Values<double> values(call.input(i));
  return {values.begin(), values.end()};
}

/// The inputs in the order in which the three operators list them, without the LSTM's own.
template <typename Cell> static void recurrent(Call &call, int64_t gates, std::vector<std::string> defaults, Cell cell) {
  bool lstm = call.op() == "LSTM", batchFirst = call.opset() >= 14 && call.integer("layout", 0);
  require(call.input(0).rank() == 3, "expected a sequence of rank 3, found shape {}", call.input(0).shape());
  Tensor x = batchFirst ? transpose(call.input(0), {1, 0, 2}) : call.input(0);
  int64_t steps = x.shape()[0], batch = x.shape()[1], width = x.shape()[2];
  std::string direction = call.text("direction", "forward");
  require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
          "expected direction to be forward, reverse or bidirectional, found '{}'", direction);
  int64_t directions = direction == "bidirectional" ? 2 : 1;
  require(call.input(2).rank() == 3, "expected recurrent weights of rank 3, found shape {}", call.input(2).shape());
  int64_t hidden = call.input(2).shape()[2];
  require(call.integer("hidden_size", hidden) == hidden, "expected hidden_size to be {}, as of the weights, found {}", hidden,
          call.integer("hidden_size", hidden));

  std::vector<double> values = valuesOf(call, 0, call.input(0).shape()), w = valuesOf(call, 1, {directions, gates * hidden, width}),
                      r = valuesOf(call, 2, {directions, gates * hidden, hidden}), b = valuesOf(call, 3, {directions, 2 * gates * hidden}),
                      peepholes = lstm ? valuesOf(call, 7, {directions, 3 * hidden}) : std::vector<double>();
  if (batchFirst) {
    Values<double> turned(x);
    values.assign(turned.begin(), turned.end());
  }
  std::vector<int64_t> lengths = call.has(4) ? call.indices(4) : std::vector<int64_t>(batch, steps);
  require(static_cast<int64_t>(lengths.size()) == batch, "expected {} sequence lengths, found {}", batch, lengths.size());
  Shape stateShape = batchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  std::vector<double> h = valuesOf(call, 5, stateShape), c = lstm ? valuesOf(call, 6, stateShape) : std::vector<double>(h.size());
  std::vector<Activation> functions = activationsOf(call, defaults, directions);
  Shape shape = batchFirst ? Shape{batch, steps, directions, hidden} : Shape{steps, directions, batch, hidden};
  checkSize(DType::F64, shape);
  std::vector<double> y(product(shape)), input(gates * hidden);
  double clip = call.hasAttribute("clip") ? call.real("clip", 0) : HUGE_VAL;
  require(clip >= 0, "expected a clip of 0 or more, found {}", clip);

  for (int64_t d = 0; d < directions; ++d)
    for (int64_t n = 0; n < batch; ++n) {
      require(0 <= lengths[n] && lengths[n] <= steps, "expected sequence lengths from 0 to {}, found {}", steps, lengths[n]);
      int64_t state = (batchFirst ? n * directions + d : d * batch + n) * hidden;
      const double *bias = b.data() + d * 2 * gates * hidden;
      Step step{hidden,
                input.data(),
                r.data() + d * gates * hidden * hidden,
                bias + gates * hidden,
                peepholes.data() + d * 3 * hidden * lstm,
                functions.data() + d * static_cast<int64_t>(defaults.size()),
                clip,
                h.data() + state,
                c.data() + state};
      for (int64_t s = 0; s < lengths[n]; ++s) {
        int64_t t = d == 1 || direction == "reverse" ? lengths[n] - 1 - s : s;
        std::copy_n(bias, gates * hidden, input.begin());
        contractVector(gates * hidden, width, w.data() + d * gates * hidden * width, values.data() + (t * batch + n) * width, input.data());
        cell(step);
        std::copy_n(step.h, hidden,
                    y.begin() + (batchFirst ? (n * steps + t) * directions + d : (t * directions + d) * batch + n) * hidden);
      }
    }
  call.give(0, x.type(), shape, y);
  call.give(1, x.type(), stateShape, h);
  if (lstm)
    call.give(2, x.type(), stateShape, c);
}

//===--- Cells --------------------------------------------------------------------------------------------------------------===//

void rnn(Call &call) {
  recurrent(call, 1, {"Tanh"}, [](Step &step) {
    std::vector<double> gate = step.recur(0, step.h);
    for (int64_t i = 0; i < step.hidden; ++i)
      step.h[i] = step.activate(0, step.input[i] + gate[i]);
  });
}

/// Gates in the order update (z), reset (r), hidden.
void gru(Call &call) {
  bool resetAfter = call.integer("linear_before_reset", 0);
  recurrent(call, 3, {"Sigmoid", "Tanh"}, [=](Step &step) {
    int64_t hidden = step.hidden;
    std::vector<double> update = step.recur(0, step.h), reset = step.recur(1, step.h), kept(hidden);
    for (int64_t i = 0; i < hidden; ++i) {
      update[i] = step.activate(0, step.input[i] + update[i]);
      reset[i] = step.activate(0, step.input[hidden + i] + reset[i]);
      kept[i] = resetAfter ? step.h[i] : reset[i] * step.h[i];
    }
    std::vector<double> gate = step.recur(2, kept.data());
    for (int64_t i = 0; i < hidden; ++i) {
      double candidate = step.activate(1, step.input[2 * hidden + i] + (resetAfter ? reset[i] : 1) * gate[i]);
      step.h[i] = (1 - update[i]) * candidate + update[i] * step.h[i];
    }
  });
}

/// Gates in the order input, output, forget, cell; peepholes input, output, forget. input_forget couples forget = 1 - input.
void lstm(Call &call) {
  bool coupled = call.integer("input_forget", 0);
  recurrent(call, 4, {"Sigmoid", "Tanh", "Tanh"}, [=](Step &step) {
    int64_t hidden = step.hidden;
    std::vector<double> in = step.recur(0, step.h), out = step.recur(1, step.h), forget = step.recur(2, step.h),
                        cell = step.recur(3, step.h);
    const double *p = step.peepholes, *x = step.input;
    for (int64_t i = 0; i < hidden; ++i) {
      double open = step.activate(0, x[i] + in[i] + p[i] * step.c[i]);
      double keep = coupled ? 1 - open : step.activate(0, x[2 * hidden + i] + forget[i] + p[2 * hidden + i] * step.c[i]);
      step.c[i] = keep * step.c[i] + open * step.activate(1, x[3 * hidden + i] + cell[i]);
      double show = step.activate(0, x[hidden + i] + out[i] + p[hidden + i] * step.c[i]);
      const Activation &last = step.activations[2];
      step.h[i] = show * last.function(step.c[i], last.alpha, last.beta);
    }
  });
}

} // namespace tilewright::reference
