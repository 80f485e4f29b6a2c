// SPDX-License-Identifier: Apache-2.0
// Compares tensors element by element in double.
#include "tools/tilewright/values/Compare.h"

#include "runtime/reference/Kernel.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

Tolerance defaultTolerance(DType type) {
  switch (type) {
  case DType::F32:
    return {1e-3, 1e-5, false, /*growsWithLargest=*/true};
  case DType::F16:
  case DType::BF16:
    return {2e-2, 1e-5, true};
  case DType::F64:
    return {1e-7, 1e-12, false};
  default:
    return {0, 0, false};
  }
}

Tolerance innerTolerance(DType type) {
  return type == DType::F32 ? Tolerance{1e-4, 1e-5, true} : defaultTolerance(type);
}

/// The elements as doubles; real and imaginary parts of complex ones alternate.
static std::vector<double> elementsOf(const Tensor &tensor) {
  Tensor real = tensor;
  if (isComplex(tensor.type()))
    real =
        Tensor(tensor.type() == DType::C64 ? DType::F32 : DType::F64, {2 * tensor.count()},
               std::shared_ptr<std::byte[]>(std::make_shared<Tensor>(tensor), const_cast<std::byte *>(tensor.bytes())));
  std::vector<double> elements(real.count());
  reference::read(real, 0, real.count(), elements.data());
  return elements;
}

static bool within(double actual, double expected, double limit) {
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual);
  bool isFinite = std::isfinite(expected) && std::isfinite(actual); // nothing else is near an infinity
  return actual == expected || (isFinite && std::abs(actual - expected) <= limit);
}

/// Strings must be equal; elements of sequences are compared recursively.
static Comparison compareObjects(const std::string &name, const Tensor &actual, const Tensor &expected,
                                 const std::optional<Tolerance> &tolerance) {
  Comparison all{true, 0, 0, ""};
  for (int64_t i = 0; i < expected.count() && all.same; ++i) {
    if (expected.type() == DType::String) {
      const std::string &a = actual.data<std::string>()[i], &b = expected.data<std::string>()[i];
      all.same = a == b;
      if (!all.same)
        all.sentence =
            fmt::format("output '{}': element {} is '{}', expected '{}'", name, i, a.substr(0, 60), b.substr(0, 60));
      continue;
    }
    Comparison one =
        compare(fmt::format("{}[{}]", name, i), actual.data<Tensor>()[i], expected.data<Tensor>()[i], tolerance);
    all = {one.same, std::max(all.largestDifference, one.largestDifference),
           std::max(all.largestRelative, one.largestRelative), one.sentence};
  }
  return all;
}

Comparison compare(const std::string &name, const Tensor &actual, const Tensor &expected,
                   const std::optional<Tolerance> &tolerance) {
  if (actual.type() != expected.type())
    return {false, 0, 0,
            fmt::format("output '{}' has type {}, expected {}", name, tilewright::name(actual.type()),
                        tilewright::name(expected.type()))};
  if (actual.shape() != expected.shape())
    return {false, 0, 0,
            fmt::format("output '{}' has shape [{}], expected [{}]", name, fmt::join(actual.shape(), ", "),
                        fmt::join(expected.shape(), ", "))};
  if (isObject(expected.type()))
    return compareObjects(name, actual, expected, tolerance);
  Tolerance limits = tolerance.value_or(defaultTolerance(expected.type()));
  std::vector<double> found = elementsOf(actual), wanted = elementsOf(expected);
  int64_t count = static_cast<int64_t>(wanted.size()), different = 0, first = -1;
  double largest = 0, worst = 0, worstRelative = 0;
  for (int64_t i = 0; i < count; ++i)
    if (double magnitude = std::abs(wanted[i]); std::isfinite(magnitude))
      largest = std::max(largest, magnitude);
  double absolute = limits.absolute * (limits.growsWithLargest ? std::max(largest, 1.0) : 1);
  for (int64_t i = 0; i < count; ++i) {
    double a = found[i], b = wanted[i];
    double limit = absolute + limits.relative * (limits.ofLargest ? largest : std::abs(b));
    double difference = a == b || (std::isnan(a) && std::isnan(b)) ? 0 : std::isnan(a - b) ? INFINITY : std::abs(a - b);
    if (difference > worst)
      worst = difference;
    if (b != 0 && difference / std::abs(b) > worstRelative)
      worstRelative = difference / std::abs(b);
    if (within(a, b, limit))
      continue;
    first = different++ == 0 ? i : first;
  }
  if (different == 0)
    return {true, worst, worstRelative, ""};
  return {false, worst, worstRelative,
          fmt::format("output '{}': {} of {} elements differ; the first is element {}: {}, expected {}; the largest "
                      "difference is {:.3g}",
                      name, different, count, first, found[first], wanted[first], worst)};
}

} // namespace tilewright
