// SPDX-License-Identifier: Apache-2.0
// Casts from and to the types that kernels only store.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// From and to the types that kernels only store.
std::vector<Case> narrowCasts() {
  std::vector<Case> cases;
  auto to = [](DType type) { return std::pair<std::string, AttributeValue>("to", static_cast<int64_t>(type)); };
  DType floats[] = {DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ, DType::F8E8M0, DType::F4E2M1};
  for (DType type : floats) {
    for (int64_t saturate : {0, 1})
      for (DType from : {DType::F32, DType::I64, DType::U8, DType::Bool})
        cases.push_back({"Cast", {{{9, 31}, from}}, {to(type), {"saturate", saturate}}, 28});
    for (DType other : {DType::F32, DType::I64, DType::F8E5M2, DType::I4})
      if (other != type)
        cases.push_back({"Cast", {{{9, 31}, type}}, {to(other)}, 28});
  }
  for (const char *mode : {"up", "down", "nearest"})
    cases.push_back({"Cast", {{{9, 31}}}, {to(DType::F8E8M0), {"round_mode", std::string(mode)}}, 28});
  for (DType type : {DType::I4, DType::U4, DType::I2, DType::U2})
    for (DType other : {DType::F32, DType::I64, DType::U8, DType::F8E4M3FN}) {
      cases.push_back({"Cast", {{{9, 31}, other}}, {to(type)}, 28});
      cases.push_back({"Cast", {{{9, 31}, type}}, {to(other)}, 28});
      cases.push_back({"CastLike", {{{9, 31}, other}, {{1}, type}}, {}, 28});
    }
  return cases;
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(NarrowCasts, HandlersTest, testing::ValuesIn(narrowCasts()), caseName);

} // namespace tilewright::test
