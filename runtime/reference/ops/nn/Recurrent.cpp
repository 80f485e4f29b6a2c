// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: any direction, layout, activations, peepholes, sequence lengths and initial states.
//
//     gates = W x + R h + b, then the cell's formula gives the next h (and c)
//
// One loop over directions, batch and time; the cells differ in one function each.
#include "runtime/reference/Contract.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

namespace tilewright::reference {

//===- Activations ------------------------------------------------------------------------------------------------===//

struct Activation {
  std::string_view name;
  double alpha, beta; // defaults
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
    {"softplus", 0, 0, false, false,
     [](double x, double, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
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

/// The activations of all directions; alpha and beta are consumed from the attributes in order.
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

//===- The recurrence ---------------------------------------------------------------------------------------------===//

/// An input as numbers of type T: in place if that is its memory type, zeros if it is absent.
template <typename T> class Operand {
public:
  Operand(Call &call, int64_t i, const Shape &shape) {
    if (!call.has(i)) {
      owned_.resize(product(shape));
    } else {
      require(call.input(i).shape() == shape, "expected input {} of shape {}, found {}", i, shape,
              call.input(i).shape());
      fill(call.input(i));
    }
  }
  explicit Operand(const Tensor &tensor) { fill(tensor); }
  const T *data() const { return shared_.defined() ? shared_.template data<T>() : owned_.data(); }
  std::vector<T> copy(const Shape &shape) const { return {data(), data() + product(shape)}; }

private:
  void fill(const Tensor &tensor) {
    if constexpr (std::is_same_v<T, float>) {
      shared_ = tensor.type() == DType::F32 ? tensor : convert(tensor, DType::F32);
    } else {
      Values<T> values(tensor);
      owned_.assign(values.begin(), values.end());
    }
  }

  Tensor shared_;
  std::vector<T> owned_;
};

/// The data of one step of one sequence. Vectors have `hidden` elements, gates are `gates` such vectors.
template <typename T> struct Step {
  int64_t hidden;
  const T *input;            // W x + its bias, [gates][hidden]
  const T *recurrentWeights; // R, [gates][hidden][hidden]
  const T *recurrentBias;    // [gates][hidden]
  const T *peepholes;        // LSTM: [3][hidden]
  const Activation *activations;
  double clip;
  T *h, *c; // read and written

  double activate(int64_t which, double x) const {
    const Activation &own = activations[which];
    return own.function(std::clamp(x, -clip, clip), own.alpha, own.beta);
  }

  /// R v + bias for one gate.
  std::vector<T> recur(int64_t gate, const T *v) const {
    std::vector<T> result(recurrentBias + gate * hidden, recurrentBias + (gate + 1) * hidden);
    contractVector(hidden, hidden, recurrentWeights + gate * hidden * hidden, v, result.data());
    return result;
  }
};

/// The attributes and sizes of a recurrence.
struct Recurrence {
  int64_t steps, batch, width, hidden, gates, directions;
  bool batchFirst, backwards; // backwards: the only direction is the reverse one
  std::vector<int64_t> lengths;
  std::vector<Activation> functions; // of all directions
  double clip;

  Shape stateShape() const { return batchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden}; }
  Shape shape() const {
    return batchFirst ? Shape{batch, steps, directions, hidden} : Shape{steps, directions, batch, hidden};
  }
  int64_t state(int64_t d, int64_t n) const { return (batchFirst ? n * directions + d : d * batch + n) * hidden; }
  int64_t row(int64_t t, int64_t d, int64_t n) const {
    return (batchFirst ? (n * steps + t) * directions + d : (t * directions + d) * batch + n) * hidden;
  }
};

static Recurrence recurrenceOf(Call &call, int64_t gates, const std::vector<std::string> &defaults) {
  bool batchFirst = call.opset() >= 14 && call.integer("layout", 0);
  require(call.input(0).rank() == 3, "expected a sequence of rank 3, found shape {}", call.input(0).shape());
  const Shape &x = call.input(0).shape();
  std::string direction = call.text("direction", "forward");
  require(direction == "forward" || direction == "reverse" || direction == "bidirectional",
          "expected direction to be forward, reverse or bidirectional, found '{}'", direction);
  int64_t directions = direction == "bidirectional" ? 2 : 1, steps = x[batchFirst], batch = x[!batchFirst];
  require(call.input(2).rank() == 3, "expected recurrent weights of rank 3, found shape {}", call.input(2).shape());
  int64_t hidden = call.input(2).shape()[2];
  require(call.integer("hidden_size", hidden) == hidden, "expected hidden_size to be {}, as of the weights, found {}",
          hidden, call.integer("hidden_size", hidden));
  std::vector<int64_t> lengths = call.has(4) ? call.indices(4) : std::vector<int64_t>(batch, steps);
  require(static_cast<int64_t>(lengths.size()) == batch, "expected {} sequence lengths, found {}", batch,
          lengths.size());
  for (int64_t length : lengths)
    require(0 <= length && length <= steps, "expected sequence lengths from 0 to {}, found {}", steps, length);
  double clip = call.hasAttribute("clip") ? call.real("clip", 0) : HUGE_VAL;
  require(clip >= 0, "expected a clip of 0 or more, found {}", clip);
  return {steps,      batch,
          x[2],       hidden,
          gates,      directions,
          batchFirst, direction == "reverse",
          lengths,    activationsOf(call, defaults, directions),
          clip};
}

/// W x + bias of one direction for every step and sequence at once, [steps][batch][gates * hidden].
template <typename T>
static std::vector<T> projected(const Recurrence &r, const T *x, const T *weights, const T *bias) {
  int64_t columns = r.gates * r.hidden, rows = r.steps * r.batch;
  std::vector<T> result(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(bias, columns, result.begin() + i * columns);
  auto pack = [&](int64_t k, int64_t count, int64_t n, int64_t length, T *to) {
    constexpr int64_t block = 16; // rows of the weights, so that whole cache lines are used
    for (int64_t j0 = 0; j0 < length; j0 += block)
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = j0; j < std::min(j0 + block, length); ++j)
          to[i * length + j] = weights[(n + j) * r.width + k + i];
  };
  contractPacked(rows, columns, r.width, x, r.width, pack, result.data(), columns);
  return result;
}

/// Computes in T. The three operators list their inputs in the same order, except the LSTM's additional ones.
template <typename T, typename Cell> static void recurrentIn(Call &call, const Recurrence &r, bool lstm, Cell cell) {
  int64_t gates = r.gates, hidden = r.hidden;
  Operand<T> x(r.batchFirst ? transpose(call.input(0), {1, 0, 2}) : call.input(0)),
      w(call, 1, {r.directions, gates * hidden, r.width}), recurrent(call, 2, {r.directions, gates * hidden, hidden}),
      b(call, 3, {r.directions, 2 * gates * hidden}),
      peepholes(call, lstm ? 7 : call.inputCount(), {r.directions, 3 * hidden});
  std::vector<T> h = Operand<T>(call, 5, r.stateShape()).copy(r.stateShape()),
                 c = Operand<T>(call, lstm ? 6 : call.inputCount(), r.stateShape()).copy(r.stateShape());
  checkSize(DType::F64, r.shape());
  std::vector<T> y(product(r.shape()));
  for (int64_t d = 0; d < r.directions; ++d) {
    const T *bias = b.data() + d * 2 * gates * hidden;
    std::vector<T> input = projected(r, x.data(), w.data() + d * gates * hidden * r.width, bias);
    for (int64_t n = 0; n < r.batch; ++n) {
      Step<T> step{hidden,
                   nullptr,
                   recurrent.data() + d * gates * hidden * hidden,
                   bias + gates * hidden,
                   peepholes.data() + d * 3 * hidden,
                   r.functions.data() + d * static_cast<int64_t>(r.functions.size()) / r.directions,
                   r.clip,
                   h.data() + r.state(d, n),
                   c.data() + r.state(d, n)};
      for (int64_t s = 0; s < r.lengths[n]; ++s) {
        int64_t t = d == 1 || r.backwards ? r.lengths[n] - 1 - s : s;
        step.input = input.data() + (t * r.batch + n) * gates * hidden;
        cell(step);
        std::copy_n(step.h, hidden, y.begin() + r.row(t, d, n));
      }
    }
  }
  DType type = call.input(0).type();
  auto give = [&](int64_t i, const Shape &shape, const std::vector<T> &values) {
    if constexpr (std::is_same_v<T, float>)
      std::ranges::copy(values, call.make(i, DType::F32, shape).template data<float>());
    else
      call.give(i, type, shape, values);
  };
  give(0, r.shape(), y);
  give(1, r.stateShape(), h);
  if (lstm)
    give(2, r.stateShape(), c);
}

/// Computes float32 in float32, as ONNX Runtime does, at more than twice the speed; other types in double.
template <typename Cell>
static void recurrent(Call &call, int64_t gates, const std::vector<std::string> &defaults, Cell cell) {
  Recurrence recurrence = recurrenceOf(call, gates, defaults);
  bool lstm = call.op() == "LSTM";
  if (call.input(0).type() == DType::F32)
    recurrentIn<float>(call, recurrence, lstm, cell);
  else
    recurrentIn<double>(call, recurrence, lstm, cell);
}

//===- Cells ------------------------------------------------------------------------------------------------------===//

void rnn(Call &call) {
  recurrent(call, 1, {"Tanh"}, [](auto &step) {
    auto gate = step.recur(0, step.h);
    for (int64_t i = 0; i < step.hidden; ++i)
      step.h[i] = step.activate(0, step.input[i] + gate[i]);
  });
}

/// Gates in the order update (z), reset (r), hidden.
void gru(Call &call) {
  bool resetAfter = call.integer("linear_before_reset", 0);
  recurrent(call, 3, {"Sigmoid", "Tanh"}, [=](auto &step) {
    int64_t hidden = step.hidden;
    auto update = step.recur(0, step.h), reset = step.recur(1, step.h), kept = reset;
    for (int64_t i = 0; i < hidden; ++i) {
      update[i] = step.activate(0, step.input[i] + update[i]);
      reset[i] = step.activate(0, step.input[hidden + i] + reset[i]);
      kept[i] = resetAfter ? step.h[i] : reset[i] * step.h[i];
    }
    auto gate = step.recur(2, kept.data());
    for (int64_t i = 0; i < hidden; ++i) {
      double candidate = step.activate(1, step.input[2 * hidden + i] + (resetAfter ? reset[i] : 1) * gate[i]);
      step.h[i] = (1 - update[i]) * candidate + update[i] * step.h[i];
    }
  });
}

/// Gates in the order input, output, forget, cell; peepholes input, output, forget. input_forget couples forget = 1 -
/// input.
void lstm(Call &call) {
  bool coupled = call.integer("input_forget", 0);
  recurrent(call, 4, {"Sigmoid", "Tanh", "Tanh"}, [=](auto &step) {
    int64_t hidden = step.hidden;
    auto in = step.recur(0, step.h), out = step.recur(1, step.h), forget = step.recur(2, step.h),
         cell = step.recur(3, step.h);
    const auto *p = step.peepholes, *x = step.input;
    for (int64_t i = 0; i < hidden; ++i) {
      double open = step.activate(0, x[i] + in[i] + p[i] * step.c[i]);
      double keep =
          coupled ? 1 - open : step.activate(0, x[2 * hidden + i] + forget[i] + p[2 * hidden + i] * step.c[i]);
      step.c[i] = keep * step.c[i] + open * step.activate(1, x[3 * hidden + i] + cell[i]);
      double show = step.activate(0, x[hidden + i] + out[i] + p[hidden + i] * step.c[i]);
      const Activation &last = step.activations[2];
      step.h[i] = show * last.function(step.c[i], last.alpha, last.beta);
    }
  });
}

} // namespace tilewright::reference
