// SPDX-License-Identifier: Apache-2.0
// Memory for tensors with sizes from untrusted files.
#include "runtime/Tensor.h"

#include <gtest/gtest.h>

#include <new>

using namespace tilewright;

namespace {

TEST(Tensor, WhatNoMachineHoldsIsNotAllocated) {
  for (const Shape &shape : {Shape{int64_t(1) << 32, int64_t(1) << 32},
                             {int64_t(1) << 32, int64_t(1) << 32, 3},
                             {-1},
                             {-3, -5},
                             {int64_t(1) << 61}})
    for (DType type : {DType::F32, DType::F64, DType::String})
      EXPECT_THROW(Tensor::allocate(type, shape), std::bad_alloc) << shape.size() << " sizes from " << shape[0];
}

TEST(Tensor, OfNoElementsIsEmptyHoweverLargeItsOtherSizesAre) {
  Tensor tensor = Tensor::allocate(DType::F32, {int64_t(1) << 40, 0, int64_t(1) << 40});
  EXPECT_EQ(tensor.count(), 0);
  EXPECT_EQ(tensor.byteSize(), 0u);
}

} // namespace
