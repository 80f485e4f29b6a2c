// Allocation of dense host tensors.
#include "runtime/Tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tilewright {

static constexpr size_t alignment = 64; // a cache line, and the widest vector register

Tensor Tensor::allocate(DType type, Shape shape) {
  Tensor tensor(type, std::move(shape), nullptr);
  size_t bytes = std::max<size_t>(tensor.byteSize(), 1);
  bytes = (bytes + alignment - 1) / alignment * alignment;
  auto *memory = static_cast<std::byte *>(std::aligned_alloc(alignment, bytes));
  if (!memory)
    throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  tensor.bytes_ = std::shared_ptr<std::byte[]>(memory, [](std::byte *p) { std::free(p); });
  return tensor;
}

Tensor Tensor::view(DType type, Shape shape, void *data) {
  return Tensor(type, std::move(shape), std::shared_ptr<std::byte[]>(static_cast<std::byte *>(data), [](std::byte *) {}));
}

} // namespace tilewright
