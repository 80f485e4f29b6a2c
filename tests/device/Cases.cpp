// SPDX-License-Identifier: Apache-2.0
// Input numbers of device conformance, and the list of families.
#include "tests/device/Cases.h"

#include "runtime/reference/Half.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace tilewright::test {

static double computedInput(const BufferSpec &spec, size_t buffer, int64_t index) {
  uint64_t x = (uint64_t(index) + 1) * 0x9e3779b97f4a7c15 + buffer * 0xd1b54a32d192ed03;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  x ^= x >> 31;
  if (spec.below)
    return double(x % uint64_t(spec.below));
  if (findDType(spec.type)->isFloat)
    return rounded(spec.type, double(x >> 11) * 0x1p-52 - 1);
  return double(int64_t(x % 101) - 50); // twice that fits i8
}

/// Expected sums read every element often, so the last buffers' first ones are kept.
double inputValue(const BufferSpec &spec, size_t buffer, int64_t index) {
  constexpr int64_t most = 1 << 22;
  struct Kept {
    DType type = DType::F32;
    int64_t below = 0;
    std::vector<double> values;
  };
  static std::array<Kept, 8> all;
  if (buffer >= all.size() || index >= most)
    return computedInput(spec, buffer, index);
  Kept &kept = all[buffer];
  if (kept.type != spec.type || kept.below != spec.below)
    kept = {spec.type, spec.below, {}};
  for (auto next = int64_t(kept.values.size()); next <= index; ++next)
    kept.values.push_back(computedInput(spec, buffer, next));
  return kept.values[index];
}

void store(DType type, std::byte *at, double value) {
  auto put = [&](auto number) { std::memcpy(at, &number, sizeof number); };
  switch (type) {
  case DType::F32:
    return put(float(value));
  case DType::F64:
    return put(value);
  case DType::F16:
    return put(reference::toHalf(value));
  case DType::BF16:
    return put(reference::toBFloat(value));
  case DType::I64:
    return put(int64_t(value));
  case DType::I32:
    return put(int32_t(value));
  default:
    return put(int8_t(value));
  }
}

double load(DType type, const std::byte *at) {
  auto get = [&](auto number) {
    std::memcpy(&number, at, sizeof number);
    return number;
  };
  switch (type) {
  case DType::F32:
    return get(float());
  case DType::F64:
    return get(double());
  case DType::F16:
    return reference::fromHalf(get(uint16_t()));
  case DType::BF16:
    return reference::fromBFloat(get(uint16_t()));
  case DType::I64:
    return double(get(int64_t()));
  case DType::I32:
    return get(int32_t());
  default:
    return get(int8_t());
  }
}

double rounded(DType type, double value) {
  std::byte bytes[8];
  store(type, bytes, value);
  return load(type, bytes);
}

double roundedToTf32(double value) {
  int exponent = 0;
  return std::ldexp(std::nearbyint(std::ldexp(std::frexp(value, &exponent), 11)), exponent - 11);
}

std::string typeText(DType type) {
  switch (type) {
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::I64:
    return "i64";
  case DType::I32:
    return "i32";
  default:
    return "i8";
  }
}

double roundoff(DType type) {
  switch (type) {
  case DType::F32:
    return 0x1p-24;
  case DType::F64:
    return 0x1p-53;
  case DType::F16:
    return 0x1p-11;
  case DType::BF16:
    return 0x1p-8;
  default:
    return 0;
  }
}

std::vector<DeviceCase> deviceCases() {
  std::vector<DeviceCase> cases;
  for (auto *add : {addPointwiseCases, addRowCases, addProductCases, addStreamedCases, addModelProductCases,
                    addFirstStripCases, addLateStoreCases, addGemvCases, addWindowCases, addGatherCases, addRollCases,
                    addAttentionCases, addSharedSumCases, addStoredWeightCases, addPairedProductCases,
                    addGatedStepCases, addPixelCases, addSlidingWindowCases, addStepCases})
    add(cases);
  return cases;
}

} // namespace tilewright::test
