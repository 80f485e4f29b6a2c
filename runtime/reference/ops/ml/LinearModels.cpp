// SPDX-License-Identifier: Apache-2.0
// ai.onnx.ml: linear models and support vector machines.
#include "runtime/reference/Contract.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Scores.h"
#include "runtime/reference/Shapes.h"
#include "runtime/reference/ops/ml/Labels.h"
#include "runtime/reference/ops/ml/Table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewright::reference {

namespace {

std::vector<double> realsOf(Call &call, std::string_view name) {
  std::vector<float> list = call.reals(name).value_or(std::vector<float>());
  return {list.begin(), list.end()};
}

/// x W^T + intercepts for each row; W [targets, features].
std::vector<double> linearScores(Call &call, const Table &x, int64_t targets) {
  std::vector<double> weights = realsOf(call, "coefficients"), intercepts = realsOf(call, "intercepts");
  require(static_cast<int64_t>(weights.size()) == targets * x.columns,
          "expected {} coefficients for {} targets and {} features, found {}", targets * x.columns, targets, x.columns,
          weights.size());
  require(intercepts.empty() || static_cast<int64_t>(intercepts.size()) == targets, "expected {} intercepts, found {}",
          targets, intercepts.size());
  std::vector<double> scores;
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t t = 0; t < targets; ++t)
      scores.push_back(std::inner_product(x.row(i), x.row(i) + x.columns, weights.begin() + t * x.columns,
                                          intercepts.empty() ? 0.0 : intercepts[t]));
  return scores;
}

std::vector<double> rowOf(const std::vector<double> &scores, int64_t i, int64_t size) {
  return {scores.begin() + i * size, scores.begin() + (i + 1) * size};
}

int64_t largest(const std::vector<double> &scores) { return std::ranges::max_element(scores) - scores.begin(); }

} // namespace

void linearRegressor(Call &call) {
  Table x(call.input(0));
  int64_t targets = call.integer("targets", 1);
  require(targets >= 1 && targets <= INT32_MAX, "expected targets of 1 or more, found {}", targets);
  std::vector<double> scores = linearScores(call, x, targets), result;
  for (int64_t i = 0; i < x.rows; ++i)
    writeScores(rowOf(scores, i, targets), call.text("post_transform", "NONE"), SecondScore::none, result);
  call.give(0, DType::F32, {x.rows, targets}, result);
}

/// A single score decides between two classes: a positive one means the second.
void linearClassifier(Call &call) {
  Table x(call.input(0));
  Labels labels = Labels::either(call, "classlabels_ints", "classlabels_strings");
  int64_t classes = std::max<int64_t>(static_cast<int64_t>(realsOf(call, "intercepts").size()), 1);
  bool addsSecond = classes == 1 && labels.size() == 2;
  require(classes == 1 || labels.size() == classes, "expected {} class labels, found {}", classes, labels.size());
  std::vector<double> scores = linearScores(call, x, classes), result;
  std::vector<int64_t> found; // positions of labels
  for (int64_t i = 0; i < x.rows; ++i) {
    std::vector<double> row = rowOf(scores, i, classes);
    found.push_back(classes > 1 ? largest(row) : row[0] > 0);
    writeScores(row, call.text("post_transform", "NONE"), addsSecond ? SecondScore::complement : SecondScore::none,
                result);
  }
  call.give(0, classes > 1 || addsSecond ? labels.at(found, {x.rows}) : store(DType::I64, {x.rows}, found));
  if (call.wants(1))
    call.give(1, DType::F32, {x.rows, classes + addsSecond}, result);
}

//===- Support vectors --------------------------------------------------------------------------------------------===//

namespace {

enum class KernelType : uint8_t { linear, poly, rbf, sigmoid };

struct Machine {
  KernelType kernel;
  double gamma = 0, offset = 0, degree = 0;
  std::vector<double> vectors, coefficients, rho;
  std::vector<double> turned; // [features, vectors], so that neighbouring sums are of neighbouring vectors: lanes

  explicit Machine(Call &call)
      : kernel(kernelOf(call.text("kernel_type", "LINEAR"))), vectors(realsOf(call, "support_vectors")),
        coefficients(realsOf(call, "coefficients")), rho(realsOf(call, "rho")) {
    std::vector<double> parameters = realsOf(call, "kernel_params");
    if (parameters.size() == 3)
      gamma = parameters[0], offset = parameters[1], degree = parameters[2];
    require(parameters.empty() || parameters.size() == 3, "expected three kernel_params, found {}", parameters.size());
    require(!rho.empty(), "expected rho, found none");
  }

  static KernelType kernelOf(const std::string &text) {
    static constexpr std::string_view names[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
    auto found = std::ranges::find(names, text);
    require(found != std::end(names), "expected kernel_type to be LINEAR, POLY, RBF or SIGMOID, found '{}'", text);
    return static_cast<KernelType>(found - names);
  }

  /// The kernel function of two vectors, from their product, or the square of their distance for rbf.
  double valueOf(double sum) const {
    switch (kernel) {
    case KernelType::poly:
      return std::pow(gamma * sum + offset, degree);
    case KernelType::rbf:
      return std::exp(-gamma * sum);
    case KernelType::sigmoid:
      return std::tanh(gamma * sum + offset);
    case KernelType::linear:
      break;
    }
    return sum;
  }

  double operator()(const double *x, const double *y, int64_t size) const {
    double sum = 0;
    for (int64_t i = 0; i < size; ++i)
      sum += kernel == KernelType::rbf ? (x[i] - y[i]) * (x[i] - y[i]) : x[i] * y[i];
    return valueOf(sum);
  }

  /// Prepares withVectors for `count` support vectors.
  void turn(int64_t count) {
    size_t features = count > 0 ? vectors.size() / count : 0;
    require(count >= 0 && vectors.size() == count * features, "expected {} support vectors, found {} numbers", count,
            vectors.size());
    turned.resize(vectors.size());
    for (size_t i = 0, size = count; i < size; ++i)
      for (size_t f = 0; f < features; ++f)
        turned[f * size + i] = vectors[i * features + f];
  }

  /// The kernel function of a row and each of `count` support vectors.
  std::vector<double> withVectors(const Table &x, int64_t row, int64_t count) const {
    require(static_cast<int64_t>(turned.size()) == count * x.columns,
            "expected {} support vectors of {} features, found {} numbers", count, x.columns, turned.size());
    std::vector<double> sums(count);
    const double *y = turned.data();
    for (const double *value = x.row(row); value != x.row(row + 1); ++value, y += count) {
      if (kernel == KernelType::rbf)
        for (int64_t i = 0; i < count; ++i)
          sums[i] += (*value - y[i]) * (*value - y[i]);
      else
        for (int64_t i = 0; i < count; ++i)
          sums[i] += *value * y[i];
    }
    for (double &sum : sums)
      sum = valueOf(sum);
    return sums;
  }
};

/// Probabilities of classes from those of pairs, by LIBSVM's iteration (Wu, Lin and Weng 2004, algorithm 2).
std::vector<double> coupled(const std::vector<double> &pair, int64_t n) {
  std::vector<double> q(n * n), p(n, 1.0 / n), qp(n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (i != j)
        q[i * n + i] += pair[j * n + i] * pair[j * n + i], q[i * n + j] = -pair[j * n + i] * pair[i * n + j];
  for (int64_t round = 0; round < 100; ++round) {
    double total = 0, worst = 0;
    for (int64_t i = 0; i < n; ++i) {
      qp[i] = std::inner_product(p.begin(), p.end(), q.begin() + i * n, 0.0);
      total += p[i] * qp[i];
    }
    for (int64_t i = 0; i < n; ++i)
      worst = std::max(worst, std::abs(qp[i] - total));
    if (worst < 0.005 / n)
      break;
    for (int64_t i = 0; i < n; ++i) {
      double change = (total - qp[i]) / q[i * n + i];
      p[i] += change;
      total = (total + change * (change * q[i * n + i] + 2 * qp[i])) / (1 + change) / (1 + change);
      for (int64_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + change * q[i * n + j]) / (1 + change);
        p[j] /= 1 + change;
      }
    }
  }
  return p;
}

struct Classifier {
  Machine machine;
  Labels labels;
  std::vector<int64_t> perClass, firstOf;
  std::vector<double> a, b;
  int64_t classes, vectors = 0;
  bool isLinear; // one vector of coefficients for each class

  explicit Classifier(Call &call)
      : machine(call), labels(Labels::either(call, "classlabels_ints", "classlabels_strings")),
        perClass(call.integers("vectors_per_class").value_or(std::vector<int64_t>())), a(realsOf(call, "prob_a")),
        b(realsOf(call, "prob_b")), classes(labels.size()), isLinear(perClass.empty()) {
    require(classes >= 1, "expected class labels, found none");
    require(a.size() == b.size(), "expected prob_a and prob_b of one length, found {} and {}", a.size(), b.size());
    for (int64_t count : perClass) {
      require(count >= 0 && count <= INT32_MAX, "expected vectors_per_class of 0 or more, found {}", count);
      firstOf.push_back(vectors), vectors += count;
    }
    if (isLinear)
      return;
    machine.turn(vectors);
    auto pairs = static_cast<size_t>(classes * (classes - 1) / 2);
    require(static_cast<int64_t>(perClass.size()) == classes && machine.rho.size() == pairs &&
                (a.empty() || a.size() == pairs) &&
                static_cast<int64_t>(machine.coefficients.size()) == (classes - 1) * vectors,
            "expected {} numbers in vectors_per_class, {} in rho and {} coefficients, found {}, {} and {}", classes,
            pairs, (classes - 1) * vectors, perClass.size(), machine.rho.size(), machine.coefficients.size());
  }

  /// The decision of each pair of classes, and the votes for each class.
  std::vector<double> pairScores(const std::vector<double> &kernels, std::vector<int64_t> &votes) const {
    std::vector<double> scores;
    for (int64_t i = 0; i < classes; ++i)
      for (int64_t j = i + 1; j < classes; ++j) {
        double sum = machine.rho[scores.size()];
        for (int64_t m = firstOf[i]; m < firstOf[i] + perClass[i]; ++m)
          sum += machine.coefficients[(j - 1) * vectors + m] * kernels[m];
        for (int64_t m = firstOf[j]; m < firstOf[j] + perClass[j]; ++m)
          sum += machine.coefficients[i * vectors + m] * kernels[m];
        ++votes[sum > 0 ? i : j];
        scores.push_back(sum);
      }
    return scores;
  }

  std::vector<double> probabilities(const std::vector<double> &scores) const {
    std::vector<double> pair(classes * classes);
    size_t at = 0;
    for (int64_t i = 0; i < classes; ++i)
      for (int64_t j = i + 1; j < classes; ++j, ++at) {
        double p = std::clamp(1 / (1 + std::exp(a[at] * scores[at] + b[at])), 1e-7, 1 - 1e-7);
        pair[i * classes + j] = p, pair[j * classes + i] = 1 - p;
      }
    return coupled(pair, classes);
  }
};

} // namespace

void svmRegressor(Call &call) {
  Table x(call.input(0));
  int64_t vectors = call.integer("n_supports", 0);
  auto cached = call.cached([&] {
    Machine machine(call);
    if (vectors > 0)
      machine.turn(vectors);
    return machine;
  });
  const Machine &machine = *cached;
  require(vectors > 0 ? static_cast<int64_t>(machine.coefficients.size()) == vectors
                      : static_cast<int64_t>(machine.coefficients.size()) == x.columns,
          "expected a coefficient for each of {} support vectors or {} features, found {}", vectors, x.columns,
          machine.coefficients.size());
  std::vector<double> result;
  for (int64_t i = 0; i < x.rows; ++i) {
    double sum = machine.rho[0];
    if (vectors > 0) {
      std::vector<double> kernels = machine.withVectors(x, i, vectors);
      sum += std::inner_product(kernels.begin(), kernels.end(), machine.coefficients.begin(), 0.0);
    } else {
      sum += machine(x.row(i), machine.coefficients.data(), x.columns);
    }
    if (call.integer("one_class", 0))
      result.push_back(sum > 0 ? 1 : -1);
    else
      writeScores({sum}, call.text("post_transform", "NONE"), SecondScore::none, result);
  }
  call.give(0, DType::F32, {x.rows, 1}, result);
}

void svmClassifier(Call &call) {
  Table x(call.input(0));
  auto cached = call.cached([&] { return Classifier(call); });
  const Classifier &model = *cached;
  std::string transform = call.text("post_transform", "NONE");
  std::vector<int64_t> found;
  std::vector<double> result;
  for (int64_t i = 0; i < x.rows; ++i) {
    std::vector<double> scores;
    std::vector<int64_t> votes(model.classes);
    if (model.isLinear) {
      require(static_cast<int64_t>(model.machine.coefficients.size()) == model.classes * x.columns,
              "expected {} coefficients, found {}", model.classes * x.columns, model.machine.coefficients.size());
      for (int64_t c = 0; c < model.classes; ++c)
        scores.push_back(model.machine(x.row(i), model.machine.coefficients.data() + c * x.columns, x.columns) +
                         model.machine.rho[0]);
    } else {
      scores = model.pairScores(model.machine.withVectors(x, i, model.vectors), votes);
    }
    if (!model.a.empty() && !model.isLinear)
      scores = model.probabilities(scores);
    // The votes of pairs decide, even if there are probabilities.
    int64_t best = model.isLinear ? largest(scores) : std::ranges::max_element(votes) - votes.begin();
    SecondScore second = SecondScore::none;
    if (model.classes == 2 && scores.size() == 1)
      second = transform == "NONE" ? SecondScore::opposite : SecondScore::complement;
    found.push_back(best);
    writeScores(scores, transform, second, result);
  }
  call.give(0, model.labels.at(found, {x.rows}));
  if (call.wants(1))
    call.give(1, DType::F32, {x.rows, x.rows ? static_cast<int64_t>(result.size()) / x.rows : model.classes}, result);
}

} // namespace tilewright::reference
