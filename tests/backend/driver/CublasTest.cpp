// cuBLAS through stand-ins for it and for the driver: what is asked of it, in its own column-major terms. (CTest: backend.CublasStandIn.)
#include "backend/driver/VendorLibrary.h"

#include <gtest/gtest.h>

using namespace tilewright;

TEST(Cublas, IsAskedForRowMajorProducts) {
  auto device = runtime::openDevice("cuda:0");
  auto library = device ? openVendorLibrary(**device) : device.status();
  if (!library) {
    EXPECT_EQ(library.status().code(), Code::Device) << library.status().message(); // the run that counts has stand-ins, or both
    return;
  }
  EXPECT_NE((*library)->name().find("libcublas.so.1"), std::string::npos);
  EXPECT_TRUE((*library)->has({1, 2, 3, 4, DType::BF16}));
  EXPECT_FALSE((*library)->has({1, 2, 3, 4, DType::I8}));
  EXPECT_FALSE((*library)->has({1, 0, 3, 4, DType::F32}));
  for (DType type : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    Expected<double> time = (*library)->time({3, 17, 5, 9, type});
    ASSERT_TRUE(time) << time.status().message();
    EXPECT_GE(*time, 0);
  }
}
