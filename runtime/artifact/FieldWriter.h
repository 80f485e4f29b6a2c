// SPDX-License-Identifier: Apache-2.0
// Appends fields to a stream section, as Format.h lays them out.
#pragma once

#include "runtime/artifact/PlanFields.h"
#include "runtime/artifact/StringConstants.h"

#include <cstring>
#include <string>
#include <vector>

namespace tilewright::runtime {

class FieldWriter {
public:
  template <typename... Fields> void operator()(const Fields &...values) { (write(values), ...); }

  std::vector<std::byte> take() { return std::move(bytes_); }

private:
  void raw(const void *data, size_t size) {
    const auto *first = static_cast<const std::byte *>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  void count(size_t items) { write(static_cast<uint32_t>(items)); }

  template <typename T> void write(const T &value) {
    if constexpr (std::is_enum_v<T>) {
      static_assert(sizeof(T) == 1);
      raw(&value, 1);
    } else if constexpr (std::is_arithmetic_v<T>) {
      raw(&value, sizeof(T));
    } else {
      static_assert(HasFields<const T>);
      fields(*this, value);
    }
  }
  void write(const std::string &value) {
    count(value.size());
    raw(value.data(), value.size());
  }
  template <typename First, typename Second> void write(const std::pair<First, Second> &value) {
    write(value.first);
    write(value.second);
  }
  template <typename T, size_t n> void write(const std::array<T, n> &values) {
    for (const T &value : values)
      write(value);
  }
  template <typename T> void write(const std::vector<T> &values) {
    count(values.size());
    for (const T &value : values)
      write(value);
  }
  template <typename... Ts> void write(const std::variant<Ts...> &value) {
    write(static_cast<uint8_t>(value.index()));
    std::visit([this](const auto &alternative) { this->write(alternative); }, value);
  }
  void write(const Attributes &attributes) {
    count(attributes.size());
    for (const auto &[name, attribute] : attributes) {
      write(name);
      write(attribute);
    }
  }
  void write(const Tensor &tensor) {
    write(tensor.type());
    write(tensor.shape());
    if (tensor.type() == DType::String) {
      std::vector<std::byte> strings = encodeStrings(tensor);
      count(strings.size());
      return raw(strings.data(), strings.size());
    }
    count(tensor.byteSize());
    raw(tensor.bytes(), tensor.byteSize());
  }

  std::vector<std::byte> bytes_;
};

} // namespace tilewright::runtime
