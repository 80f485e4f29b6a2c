// Allocation of dense host tensors.
#include "runtime/Tensor.h"

#include "runtime/HostMemory.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace tilewright {

Tensor Tensor::allocate(DType type, Shape shape) {
  Tensor tensor(type, std::move(shape), nullptr);
  size_t bytes = tensor.byteSize();
  auto *memory = static_cast<std::byte *>(runtime::allocateHostMemory(bytes));
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
