// Compares tensors element by element in double.
#include "backend/driver/Compare.h"

#include "runtime/reference/Half.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

Tolerance defaultTolerance(DType type) {
  switch (type) {
  case DType::F32: return {1e-3, 1e-5, false};
  case DType::F16:
  case DType::BF16: return {2e-2, 1e-5, true};
  case DType::F64: return {1e-7, 1e-12, false};
  default: return {0, 0, false};
  }
}

Tolerance innerTolerance(DType type) { return type == DType::F32 ? Tolerance{1e-4, 1e-5, true} : defaultTolerance(type); }

/// Element `i` as a double. 64-bit integers beyond 2^53 are compared apart from this.
static double elementAt(const Tensor &tensor, int64_t i) {
  switch (tensor.type()) {
  case DType::F32: return tensor.data<float>()[i];
  case DType::F64: return tensor.data<double>()[i];
  case DType::F16: return reference::fromHalf(tensor.data<uint16_t>()[i]);
  case DType::BF16: return reference::fromBFloat(tensor.data<uint16_t>()[i]);
  case DType::I64: return static_cast<double>(tensor.data<int64_t>()[i]);
  case DType::I32: return tensor.data<int32_t>()[i];
  case DType::I16: return tensor.data<int16_t>()[i];
  case DType::I8: return tensor.data<int8_t>()[i];
  case DType::U64: return static_cast<double>(tensor.data<uint64_t>()[i]);
  case DType::U32: return tensor.data<uint32_t>()[i];
  case DType::U16: return tensor.data<uint16_t>()[i];
  default: return tensor.data<uint8_t>()[i];
  }
}

static bool within(double actual, double expected, double limit) {
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual);
  return actual == expected || std::abs(actual - expected) <= limit;
}

Comparison compare(const std::string &name, const Tensor &actual, const Tensor &expected, const std::optional<Tolerance> &tolerance) {
  if (actual.type() != expected.type())
    return {false, 0, 0,
            fmt::format("output '{}' has type {}, expected {}", name, tilewright::name(actual.type()), tilewright::name(expected.type()))};
  if (actual.shape() != expected.shape())
    return {
        false, 0, 0,
        fmt::format("output '{}' has shape [{}], expected [{}]", name, fmt::join(actual.shape(), ", "), fmt::join(expected.shape(), ", "))};
  Tolerance limits = tolerance.value_or(defaultTolerance(expected.type()));
  int64_t count = expected.count(), different = 0, first = -1;
  double largest = 0, worst = 0, worstRelative = 0;
  for (int64_t i = 0; limits.ofLargest && i < count; ++i)
    if (double magnitude = std::abs(elementAt(expected, i)); std::isfinite(magnitude))
      largest = std::max(largest, magnitude);
  for (int64_t i = 0; i < count; ++i) {
    double a = elementAt(actual, i), b = elementAt(expected, i);
    double limit = limits.absolute + limits.relative * (limits.ofLargest ? largest : std::abs(b));
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
          fmt::format("output '{}': {} of {} elements differ; the first is element {}: {}, expected {}; the largest difference is {:.3g}",
                      name, different, count, first, elementAt(actual, first), elementAt(expected, first), worst)};
}

} // namespace tilewright
