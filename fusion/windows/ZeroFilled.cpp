// SPDX-License-Identifier: Apache-2.0
#include "fusion/windows/ZeroFilled.h"

#include "frontend/graph/ConstantPool.h"
#include "runtime/Tensor.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <cstring>

using namespace mlir;
using namespace tilewright;

std::string fusion::zeroFilled(graph::ConstantOp constant, int64_t count, StringRef form,
                               llvm::function_ref<int64_t(ArrayRef<int64_t>)> placeOf) {
  auto type = cast<RankedTensorType>(constant.getType());
  auto &pool = constant.getContext()->getLoadedDialect<graph::GraphDialect>()->constants();
  std::span<const std::byte> bytes = pool.get(constant.getKey());
  size_t elementBytes = type.getElementTypeBitWidth() / 8;
  std::string absent = (constant.getKey() + " " + form).str();
  if (bytes.size() != static_cast<size_t>(type.getNumElements()) * elementBytes)
    return graph::constantKey(std::as_bytes(std::span(absent.data(), absent.size())));
  std::vector<std::byte> result(static_cast<size_t>(count) * elementBytes);
  SmallVector<int64_t> at(type.getRank(), 0);
  for (size_t from = 0; from < bytes.size(); from += elementBytes) {
    std::memcpy(result.data() + static_cast<size_t>(placeOf(at)) * elementBytes, bytes.data() + from, elementBytes);
    advanceIndex(at, type.getShape());
  }
  return pool.add(std::span<const std::byte>(result));
}

SmallVector<unsigned> fusion::loopsOf(graph::ContractOp contract, unsigned operand) {
  return llvm::map_to_vector(contract.getMap(operand).getResults(),
                             [](AffineExpr e) { return cast<AffineDimExpr>(e).getPosition(); });
}
