// SPDX-License-Identifier: Apache-2.0
// A recurrence whose steps are a loop of one kernel (graph.steps), from the graph's text:
//
//   h_t = tanh(h_{t-1} W^T / sqrt(n) + x_t)        the output is all h_t, or the last one
//
// The factor keeps a difference of one step from growing in the next ones.
#include "tests/device/Cases.h"

#include <cmath>
#include <fmt/format.h>
#include <memory>

namespace tilewright::test {
namespace {

struct Recurrence {
  DType type;
  int64_t directions, rows, n, steps;
  int64_t height, width, warps; // of a program; columns take n / width blocks, which are a cluster
  const char *edge;
  bool isBackward = false;
  bool isLast = false;            // the output is the last state
  bool areStepsOfRunTime = false; // their number is known only at run time
};

constexpr Recurrence recurrences[] = {
    {DType::F32, 1, 1, 64, 5, 1, 64, 8, "power of two"},
    {DType::F32, 1, 3, 64, 4, 2, 64, 8, "multiple of 8"},
    {DType::F32, 1, 7, 24, 3, 4, 32, 4, "prime"},
    {DType::F32, 2, 2, 64, 4, 1, 32, 4, "power of two", true},
    {DType::F32, 1, 2, 40, 4, 1, 8, 2, "multiple of 8", false, true},
    {DType::F32, 1, 1, 96, 6, 1, 32, 8, "multiple of 8", false, false, true},
    {DType::F32, 1, 4, 32, 0, 2, 16, 1, "size 0", false, true, true},
    {DType::F32, 1, 2, 48, 0, 1, 64, 4, "size 0", false, true},
    {DType::F32, 1, 1, 64, 1, 1, 64, 4, "size 1", true, false, true},
    {DType::F16, 1, 1, 128, 4, 1, 128, 16, "power of two"},
    {DType::F16, 2, 5, 128, 3, 1, 32, 8, "multiple of 8", true},
    {DType::F16, 1, 2, 256, 3, 1, 32, 8, "power of two"},
    {DType::F16, 1, 6, 200, 2, 1, 32, 8, "multiple of 8", false, true, true},
    {DType::BF16, 1, 3, 56, 3, 2, 64, 8, "multiple of 8", true, true},
};

int64_t powerAbove(int64_t value) {
  int64_t power = 1;
  while (power < value)
    power *= 2;
  return power;
}

std::string kernelOf(const Recurrence &r) {
  std::string type = typeText(r.type), state = fmt::format("tensor<{}x{}x{}x{}>", r.directions, r.rows, r.n, type),
              sums = fmt::format("tensor<{}x{}x{}xf32>", r.directions, r.rows, r.n),
              weights = fmt::format("tensor<{0}x{1}x{1}x{2}>", r.directions, r.n, type);
  const char *forward = r.isBackward ? "[]" : "[2]", *backward = r.isBackward ? "[2]" : "[]",
             *backwardResults = r.isBackward && !r.isLast ? "[1]" : "[]";
  std::string count = r.areStepsOfRunTime ? "()[s0] -> (s0)" : fmt::format("() -> ({})", r.steps),
              narrowed = r.type == DType::F32
                             ? "%h1 = arith.negf %z : " + sums + "\n%h2 = arith.negf %h1 : " + sums + "\n"
                             : fmt::format("%h2 = arith.truncf %z : {} to {}\n", sums, state);
  std::string results = r.isLast ? state : state + ", " + state, returned = r.isLast ? "%h2" : "%h2, %h2";
  return fmt::format(
      "graph.kernel @k(%h: {0}, %w: {1} {{graph.constant}}, %x: {2}) -> ({3}) attributes {{root = #graph.root<matmul>, "
      "schedule = #tile.schedule<gemv, tile = [1, {4}, {5}], reduce = [{6}], warps = {7}>, steps = #graph.steps<count "
      "= {8}, carried = [0], forward = {9}, backward = {10}, backward_results = {11}>}} {{\n"
      "%a = graph.contract %h, %w maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, "
      "affine_map<(b, m, n, k) -> (b, m, n)>] : {0}, {1} -> {2}\n"
      "%s = arith.constant dense<{12:.9e}> : {2}\n%p = arith.mulf %a, %s : {2}\n%q = arith.addf %p, %x : {2}\n"
      "%z = math.tanh %q : {2}\n{13}graph.return {14} : {3}\n}}",
      state, weights, sums, results, r.height, r.width, powerAbove(r.n), r.warps, count, forward, backward,
      backwardResults, 1 / std::sqrt(double(r.n)), narrowed, returned);
}

/// The states after each step, in double, rounded as they are stored.
std::vector<double> statesOf(const Recurrence &r, const std::vector<BufferSpec> &specs) {
  int64_t size = r.directions * r.rows * r.n;
  std::vector<double> states((r.steps + 1) * size);
  for (int64_t i = 0; i < size; ++i)
    states[i] = inputValue(specs[0], 0, i);
  for (int64_t t = 0; t < r.steps; ++t)
    for (int64_t i = 0; i < size; ++i) {
      int64_t column = i % r.n, row = i - column, direction = i / (r.rows * r.n);
      int64_t slice = r.isBackward ? r.steps - 1 - t : t;
      double sum = 0;
      for (int64_t k = 0; k < r.n; ++k)
        sum += states[t * size + row + k] * inputValue(specs[1], 1, (direction * r.n + column) * r.n + k);
      sum = sum / std::sqrt(double(r.n)) + inputValue(specs[2], 2, slice * size + i);
      states[(t + 1) * size + i] = rounded(r.type, std::tanh(sum));
    }
  return states;
}

DeviceCase recurrence(const Recurrence &r) {
  int64_t size = r.directions * r.rows * r.n, blocks = (r.n + r.width - 1) / r.width;
  DeviceCase c{.name = fmt::format("steps_{}_{}x{}x{}x{}_{}x{}x{}{}{}{}", typeText(r.type), r.steps, r.directions,
                                   r.rows, r.n, r.height, r.width, r.warps, r.isBackward ? "_backward" : "",
                                   r.isLast ? "_last" : "", r.areStepsOfRunTime ? "_sized" : ""),
               .family = "steps",
               .layout = "NT",
               .edge = r.edge,
               .type = r.type};
  c.kernel = kernelOf(r);
  c.grid = {blocks * ((r.rows + r.height - 1) / r.height) * r.directions, 1, 1};
  c.buffers = {{r.type, size},
               {r.type, r.directions * r.n * r.n},
               {DType::F32, std::max<int64_t>(r.steps, 1) * size},
               {r.type, 2 * size},
               {r.type, size}};
  if (!r.isLast)
    c.buffers.push_back({r.type, r.steps * size});
  if (r.areStepsOfRunTime)
    c.scalars = {r.steps};
  auto states = std::make_shared<std::vector<double>>();
  c.expected = [r, size, states, specs = c.buffers](int64_t index) {
    if (states->empty())
      *states = statesOf(r, specs);
    int64_t step = r.isLast ? r.steps : r.isBackward ? r.steps - index / size : index / size + 1;
    return (*states)[step * size + index % size];
  };
  c.tolerance = 4 * roundoff(r.type) + 1e-5; // what a step is off is less than halved by the next one
  c.needsClusters = blocks > 1;
  c.small = true;
  return c;
}

} // namespace

void addStepCases(std::vector<DeviceCase> &cases) {
  for (const Recurrence &r : recurrences)
    cases.push_back(recurrence(r));
}

} // namespace tilewright::test
