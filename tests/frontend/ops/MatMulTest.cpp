// SPDX-License-Identifier: Apache-2.0
// Matrix products and einsum.
#include "tests/frontend/ops/HandlersTest.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<Case> products() {
  std::vector<Case> cases;
  for (auto [left, right] : std::vector<std::pair<Shape, Shape>>{{{3, 4}, {4, 5}},
                                                                 {{2, 3, 4}, {4, 5}},
                                                                 {{2, 3, 4}, {2, 4, 5}},
                                                                 {{2, 1, 3, 4}, {3, 4, 5}},
                                                                 {{4}, {4, 5}},
                                                                 {{3, 4}, {4}},
                                                                 {{4}, {4}},
                                                                 {{4}, {2, 4, 5}},
                                                                 {{2, 3, 4}, {4}},
                                                                 {{2, 3, 4}, {1, 4, 5}},
                                                                 {{3, 4}, {2, 4, 5}}})
    cases.push_back({"MatMul", {{left}, {right}}});
  cases.push_back({"Gemm", {{{3, 4}}, {{4, 5}}, {{5}}}});
  cases.push_back({"Gemm",
                   {{{4, 3}}, {{5, 4}}, {{3, 1}}},
                   {{"transA", int64_t(1)}, {"transB", int64_t(1)}, {"alpha", 0.5f}, {"beta", 2.0f}}});
  cases.push_back({"MatMulInteger", {{{3, 4}, DType::U8}, {{4, 5}, DType::U8}, {{}, DType::U8}, {{5}, DType::U8}}});
  // Products of matrices; outer products and dot products of many vectors; several operands.
  for (const char *equation :
       {"ij,jk->ik", "bij,bkj->bik", "ij->ji", "i,j->ij", "ij,kj", "bhqd,bhkd->bhqk", "bi,bj->bij", "bi,ib->bi",
        "bnk,knb->bk", "i,i->", "ij,jk,kl->il", "b,bij,bj->ib", "abc,cd,ed,b->eac"}) {
    std::string text = equation;
    Case test{"Einsum", {}, {{"equation", text}}};
    for (size_t at = 0; at != std::string::npos && at < text.find("->");) {
      size_t end = std::min(text.find(',', at), text.find("->"));
      Shape shape;
      for (char label : text.substr(at, end == std::string::npos ? end : end - at))
        shape.push_back(label % 5 + 2);
      test.inputs.push_back({shape});
      at = end == std::string::npos || text[end] != ',' ? std::string::npos : end + 1;
    }
    cases.push_back(test);
  }
  cases.push_back({"Einsum", {{{2, 3, 4}}, {{2, 4, 5}}}, {{"equation", std::string("...ij,...jk->...ik")}}});
  return cases;
}

} // namespace

namespace tilewright::test {

INSTANTIATE_TEST_SUITE_P(Products, HandlersTest, testing::ValuesIn(products()), caseName);

} // namespace tilewright::test
