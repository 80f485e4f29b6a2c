// SPDX-License-Identifier: Apache-2.0
// One pass over the bytes in memory order, whatever the order of the dimensions.
#include "frontend/normalize/ByteSums.h"

#include "frontend/normalize/Quantized.h"
#include "frontend/normalize/Rebuild.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

SmallVector<int32_t> normalize::sumBytes(graph::ConstantOp constant, ArrayRef<Operation *> transposes,
                                         ArrayRef<std::optional<int64_t>> places) {
  ArrayRef<int8_t> bytes = bytesOf(constant);
  SmallVector<int64_t> shape(tensorOf(constant).getShape()),
      strides(shape.size(), 1); // of the operand, in the constant's bytes
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  for (Operation *transpose : llvm::reverse(transposes)) {
    SmallVector<int64_t> oldShape = shape, oldStrides = strides;
    for (auto [d, from] : llvm::enumerate(cast<graph::TransposeOp>(transpose).getPerm()))
      shape[d] = oldShape[from], strides[d] = oldStrides[from];
  }
  SmallVector<unsigned> kept, order = llvm::to_vector(llvm::seq<unsigned>(0, shape.size()));
  llvm::copy_if(order, std::back_inserter(kept), [&](unsigned d) { return places[d].has_value(); });
  llvm::sort(kept, [&](unsigned a, unsigned b) { return *places[a] < *places[b]; });
  SmallVector<int64_t> sumStrides(shape.size(), 0);
  int64_t count = 1;
  for (unsigned d : llvm::reverse(kept)) {
    sumStrides[d] = count;
    count *= shape[d];
  }
  // Dimensions in memory order.
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::pair(strides[b], a) < std::pair(strides[a], b); });
  SmallVector<uint32_t> sums(count, 0);
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t place = 0;
  for (int8_t byte : bytes) {
    sums[place] += static_cast<uint32_t>(static_cast<int32_t>(byte));
    for (size_t o = order.size(); o-- > 0;) {
      unsigned d = order[o];
      place += sumStrides[d];
      if (++index[d] < shape[d])
        break;
      place -= sumStrides[d] * shape[d];
      index[d] = 0;
    }
  }
  return SmallVector<int32_t>(sums.begin(), sums.end());
}
