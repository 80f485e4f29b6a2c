// SPDX-License-Identifier: Apache-2.0
// cuBLAS and rocBLAS through stand-ins for them and for the drivers: checks the calls, in column-major terms. (CTest:
// backend.CublasStandIn, backend.RocblasStandIn.)
#include "runtime/Devices.h"
#include "tools/tilewright/bench/VendorLibrary.h"

#include <gtest/gtest.h>

using namespace tilewright;

/// Where the library or the device is missing, checks the error only; CTest runs this again with stand-ins.
static void askForProducts(const std::string &id, const std::string &file) {
  auto device = runtime::openDevice(id);
  auto library = device ? openVendorLibrary(**device) : device.status();
  if (!library) {
    EXPECT_EQ(library.status().code(), Code::Device) << library.status().message();
    return;
  }
  EXPECT_NE((*library)->name().find(file), std::string::npos) << (*library)->name();
  EXPECT_TRUE((*library)->has({1, 2, 3, 4, DType::BF16}));
  EXPECT_FALSE((*library)->has({1, 2, 3, 4, DType::I8}));
  EXPECT_FALSE((*library)->has({1, 0, 3, 4, DType::F32}));
  for (DType type : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    Expected<double> time = (*library)->time({3, 17, 5, 9, type});
    ASSERT_TRUE(time) << time.status().message();
    EXPECT_GE(*time, 0);
  }
}

TEST(GpuBlas, AsksCublasForRowMajorProducts) { askForProducts("cuda:0", "cuBLAS (libcublas.so.1"); }
TEST(GpuBlas, AsksRocblasForRowMajorProducts) { askForProducts("hip:0", "rocBLAS (librocblas.so"); }
