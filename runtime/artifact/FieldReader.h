// SPDX-License-Identifier: Apache-2.0
// Reads fields from an untrusted stream section: never past its end, checks a count against the bytes that are left
// before it allocates, and rejects unknown enum codes.
#pragma once

#include "runtime/artifact/Format.h"
#include "runtime/artifact/PlanFields.h"
#include "runtime/artifact/StringConstants.h"

#include <cstring>
#include <string>
#include <vector>

namespace tilewright::runtime {

class FieldReader {
public:
  explicit FieldReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename... Fields> void operator()(Fields &...values) { (read(values), ...); }

  /// True if all bytes were read without a failure.
  bool finished() const { return !failure_ && rest_.empty(); }
  /// The failure, as the end of a sentence.
  const char *failure() const { return failure_ ? failure_ : "it has bytes left over after its last field"; }

private:
  void fail(const char *why) {
    failure_ = failure_ ? failure_ : why;
    rest_ = {};
  }
  bool take(void *target, size_t size) {
    if (size > rest_.size()) {
      fail("it ends in the middle of a field");
      return false;
    }
    if (size && target) // memcpy forbids null even for 0 bytes
      std::memcpy(target, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return true;
  }
  /// Every item takes at least one byte, so a count above the bytes left is rejected before anything is allocated.
  uint32_t count() {
    uint32_t items = 0;
    read(items);
    if (items > rest_.size()) {
      fail("it holds a count beyond its end");
      return 0;
    }
    return items;
  }

  template <typename T> void read(T &value) {
    if constexpr (std::is_enum_v<T>) {
      uint8_t code = 0;
      if (take(&code, 1) && code > static_cast<uint8_t>(lastCode<T>))
        fail("it holds a code that this version does not know");
      else
        value = static_cast<T>(code);
    } else if constexpr (std::is_arithmetic_v<T>) {
      take(&value, sizeof(T));
    } else {
      static_assert(HasFields<T>);
      fields(*this, value);
    }
  }
  void read(std::string &value) {
    value.resize(count());
    take(value.data(), value.size());
  }
  template <typename First, typename Second> void read(std::pair<First, Second> &value) {
    read(value.first);
    read(value.second);
  }
  template <typename T, size_t n> void read(std::array<T, n> &values) {
    for (T &value : values)
      read(value);
  }
  template <typename T> void read(std::vector<T> &values) {
    uint32_t items = count();
    for (uint32_t i = 0; i < items && !failure_; ++i)
      read(values.emplace_back());
  }
  template <typename... Ts> void read(std::variant<Ts...> &value) {
    uint8_t code = 0;
    read(code);
    if (code >= sizeof...(Ts))
      return fail("it holds a kind of step or attribute that this version does not know");
    readAlternative(value, code, std::index_sequence_for<Ts...>());
  }
  template <typename... Ts, size_t... indices>
  void readAlternative(std::variant<Ts...> &value, uint8_t code, std::index_sequence<indices...>) {
    ((code == indices ? read(value.template emplace<indices>()) : void()), ...);
  }
  void read(std::vector<Plan> &bodies) {
    if (++depth_ > format::deepestBody)
      return fail("it nests bodies too deep");
    uint32_t items = count();
    for (uint32_t i = 0; i < items && !failure_; ++i)
      read(bodies.emplace_back());
    --depth_;
  }
  void read(Attributes &attributes) {
    uint32_t items = count();
    for (uint32_t i = 0; i < items && !failure_; ++i) {
      std::string name;
      read(name);
      read(attributes[std::move(name)]);
    }
  }
  void read(Tensor &tensor) {
    DType type = DType::F32;
    Shape shape;
    read(type);
    read(shape);
    uint32_t bytes = count();
    bool strings = type == DType::String;
    uint64_t expected = strings ? 1 : elementBytes(type);
    for (int64_t dim : shape)
      if (dim < 0 || __builtin_mul_overflow(expected, static_cast<uint64_t>(dim), &expected))
        return fail("it holds a tensor with an impossible shape");
    if (strings && !failure_ && countsStrings(rest_.first(bytes), expected)) {
      tensor = decodeStrings(rest_.first(bytes), std::move(shape));
      return (void)take(nullptr, bytes);
    }
    if (failure_ || elementBytes(type) == 0 || expected != bytes)
      return fail("it holds a tensor whose length does not match its shape");
    tensor = Tensor::allocate(type, std::move(shape));
    take(tensor.bytes(), bytes);
  }

  std::span<const std::byte> rest_;
  const char *failure_ = nullptr;
  int depth_ = 0;
};

} // namespace tilewright::runtime
