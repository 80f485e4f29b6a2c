// SPDX-License-Identifier: Apache-2.0
// Allocation of dense host tensors.
#include "runtime/Tensor.h"

#include "runtime/execute/HostMemory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace tilewright {

/// Allocates and constructs elements; the owner destroys them.
template <typename Element> static std::shared_ptr<std::byte[]> makeObjects(int64_t count) {
  auto elements = std::make_shared<Element[]>(static_cast<size_t>(count));
  auto *bytes = reinterpret_cast<std::byte *>(elements.get());
  return std::shared_ptr<std::byte[]>(std::move(elements), bytes);
}

Tensor Tensor::of(DType type, std::vector<Tensor> elements) {
  Tensor object = allocate(type, {static_cast<int64_t>(elements.size())});
  std::ranges::move(elements, object.data<Tensor>());
  return object;
}

/// Throws std::bad_alloc for sizes beyond any machine's memory: sizes from untrusted files could overflow the product.
static void expectFits(DType type, const Shape &shape) {
  int64_t bytes = std::max<int64_t>(1, isObject(type) ? sizeof(Tensor) : elementBytes(type));
  bool fits = true, isEmpty = std::ranges::find(shape, 0) != shape.end();
  for (int64_t dim : shape)
    fits &= dim >= 0 && (isEmpty || !__builtin_mul_overflow(bytes, dim, &bytes));
  if (!fits)
    throw std::bad_alloc();
}

Tensor Tensor::allocate(DType type, Shape shape) {
  expectFits(type, shape);
  if (isObject(type)) {
    int64_t count = elementCount(shape);
    return Tensor(type, std::move(shape),
                  type == DType::String ? makeObjects<std::string>(count) : makeObjects<Tensor>(count));
  }
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
  return Tensor(type, std::move(shape),
                std::shared_ptr<std::byte[]>(static_cast<std::byte *>(data), [](std::byte *) {}));
}

} // namespace tilewright
