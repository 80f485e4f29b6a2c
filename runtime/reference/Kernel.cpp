// SPDX-License-Identifier: Apache-2.0
// Checked access to a call's inputs and attributes, and the conversions between memory and arithmetic types.
#include "runtime/reference/Kernel.h"

#include "runtime/reference/Half.h"
#include "runtime/reference/Shapes.h"
#include "runtime/reference/SmallFloat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <unistd.h>

namespace tilewright::reference {

//===- Memory types -----------------------------------------------------------------------------------------------===//

struct Half {
  uint16_t bits;
  operator double() const { return fromHalf(bits); }
};
struct BFloat {
  uint16_t bits;
  operator double() const { return fromBFloat(bits); }
};
struct Boolean {
  uint8_t bits;
};

/// Calls `function` with a zero of the memory type.
template <typename Function> static void dispatchMemory(DType type, Function &&function) {
  switch (type) {
  case DType::F32:
    return function(float{});
  case DType::F64:
    return function(double{});
  case DType::F16:
    return function(Half{});
  case DType::BF16:
    return function(BFloat{});
  case DType::I8:
    return function(int8_t{});
  case DType::I16:
    return function(int16_t{});
  case DType::I32:
    return function(int32_t{});
  case DType::I64:
    return function(int64_t{});
  case DType::U8:
    return function(uint8_t{});
  case DType::U16:
    return function(uint16_t{});
  case DType::U32:
    return function(uint32_t{});
  case DType::U64:
    return function(uint64_t{});
  case DType::Bool:
    return function(Boolean{});
  case DType::F8E4M3FN:
    return function(E4M3FN{});
  case DType::F8E4M3FNUZ:
    return function(E4M3FNUZ{});
  case DType::F8E5M2:
    return function(E5M2{});
  case DType::F8E5M2FNUZ:
    return function(E5M2FNUZ{});
  case DType::F8E8M0:
    return function(E8M0{});
  case DType::F4E2M1:
    return function(E2M1{});
  case DType::I4:
    return function(SmallInteger<4, true>{});
  case DType::U4:
    return function(SmallInteger<4, false>{});
  case DType::I2:
    return function(SmallInteger<2, true>{});
  case DType::U2:
    return function(SmallInteger<2, false>{});
  case DType::C64:
  case DType::C128:
    unsupported(fmt::format("this operator does not compute with {}", name(type)));
  default:
    break;
  }
  unsupported(fmt::format("no kernel holds elements of {}", name(type)));
}

template <typename To> static To saturate(double value) {
  // 2^digits is exact in double where the largest integer is not.
  constexpr double above = 2.0 * static_cast<double>(uint64_t{1} << (std::numeric_limits<To>::digits - 1));
  if (value != value)
    return 0;
  if (value >= above)
    return std::numeric_limits<To>::max();
  if (value <= static_cast<double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

template <typename T> static constexpr bool isSmallInteger = false;
template <int Bits, bool Signed> static constexpr bool isSmallInteger<SmallInteger<Bits, Signed>> = true;

/// Converts an arithmetic type to a memory type, by the rules of `store`.
template <typename To, typename From> static To element(From from) {
  if constexpr (std::is_same_v<To, Half>)
    return Half{toHalf(static_cast<double>(from))};
  else if constexpr (std::is_same_v<To, BFloat>)
    return BFloat{toBFloat(static_cast<double>(from))};
  else if constexpr (std::is_same_v<To, Boolean>)
    return Boolean{static_cast<uint8_t>(from != From{0})};
  else if constexpr (requires { To::from(0.0); })
    return To::from(static_cast<double>(from));
  else if constexpr (isSmallInteger<To> && std::is_same_v<From, double>)
    return To::wrapped(static_cast<uint64_t>(saturate<int32_t>(from))); // as in ONNX's tests; wider integers saturate
  else if constexpr (isSmallInteger<To>)
    return To::wrapped(static_cast<uint64_t>(from));
  else if constexpr (std::is_integral_v<To> && std::is_same_v<From, double>)
    return saturate<To>(from);
  else
    return static_cast<To>(from);
}

/// Converts a memory type to an arithmetic type, by way of its own arithmetic type.
template <typename T, typename Memory> static T arithmetic(Memory from) {
  if constexpr (std::is_same_v<Memory, Boolean>)
    return static_cast<T>(from.bits != 0);
  else if constexpr (isSmallInteger<Memory>)
    return element<T>(static_cast<int64_t>(from));
  else if constexpr (std::is_integral_v<Memory>)
    return static_cast<T>(from);
  else
    return element<T>(static_cast<double>(from));
}

template <typename T> void read(const Tensor &tensor, int64_t first, int64_t count, T *to) {
  dispatchMemory(tensor.type(), [&](auto zero) {
    using Memory = decltype(zero);
    const Memory *from = tensor.data<Memory>() + first;
    for (int64_t i = 0; i < count; ++i)
      to[i] = arithmetic<T>(from[i]);
  });
}

template void read(const Tensor &, int64_t, int64_t, double *);
template void read(const Tensor &, int64_t, int64_t, int64_t *);
template void read(const Tensor &, int64_t, int64_t, uint64_t *);

template <typename T> void write(Tensor &tensor, int64_t first, int64_t count, const T *from) {
  dispatchMemory(tensor.type(), [&](auto zero) {
    using Memory = decltype(zero);
    Memory *to = tensor.data<Memory>() + first;
    for (int64_t i = 0; i < count; ++i)
      to[i] = element<Memory>(from[i]);
  });
}

template void write(Tensor &, int64_t, int64_t, const double *);
template void write(Tensor &, int64_t, int64_t, const int64_t *);
template void write(Tensor &, int64_t, int64_t, const uint64_t *);

template <typename T> Values<T>::Values(const Tensor &tensor) : size_(tensor.count()) {
  if (!tensor.defined())
    malformed("expected a tensor, found an absent one");
  constexpr DType own = std::is_same_v<T, double> ? DType::F64 : std::is_same_v<T, int64_t> ? DType::I64 : DType::U64;
  if (tensor.type() == own) {
    shared_ = tensor;
    data_ = shared_.data<T>();
    return;
  }
  owned_.resize(static_cast<size_t>(size_));
  read(tensor, 0, size_, owned_.data());
  data_ = owned_.data();
}

template class Values<double>;
template class Values<int64_t>;
template class Values<uint64_t>;

template <typename T> Tensor store(DType type, const Shape &shape, const std::vector<T> &values) {
  Tensor result = allocate(type, shape);
  if (result.count() != static_cast<int64_t>(values.size()))
    throw Failure{Status(Code::Internal,
                         fmt::format("{} values were computed for a tensor of {}", values.size(), result.count()))};
  write(result, 0, result.count(), values.data());
  return result;
}

template Tensor store(DType, const Shape &, const std::vector<double> &);
template Tensor store(DType, const Shape &, const std::vector<int64_t> &);
template Tensor store(DType, const Shape &, const std::vector<uint64_t> &);

Tensor convert(const Tensor &tensor, DType type) {
  if (tensor.type() == type)
    return tensor;
  Tensor result = allocate(type, tensor.shape());
  dispatch(tensor.type(), [&](auto zero) {
    constexpr int64_t block = 1024;
    std::array<decltype(zero), block> numbers;
    for (int64_t first = 0, n = tensor.count(); first < n; first += block) {
      int64_t count = std::min(block, n - first);
      read(tensor, first, count, numbers.data());
      write(result, first, count, numbers.data());
    }
  });
  return result;
}

//===- Sizes ------------------------------------------------------------------------------------------------------===//

/// The largest tensor that is not refused: 2^40 bytes, or the machine's memory.
static int64_t byteLimit() {
  static const int64_t limit =
      std::min<int64_t>(int64_t{1} << 40, int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE));
  return limit;
}

void checkSize(DType type, const Shape &shape) {
  if (!findDType(type) && !isObject(type))
    unsupported(fmt::format("no kernel holds elements of {}", name(type)));
  int64_t count = product(shape), bytes = isObject(type) ? sizeof(std::string) : elementBytes(type);
  require(count <= byteLimit() / bytes, "an output of shape {} of {} is larger than this machine's memory", shape,
          name(type));
}

Tensor allocate(DType type, const Shape &shape) {
  checkSize(type, shape);
  return Tensor::allocate(type, shape);
}

//===- Inputs -----------------------------------------------------------------------------------------------------===//

Call::Call(const ReferenceCall &node, std::span<const Tensor> inputs)
    : node_(node), inputs_(inputs.begin(), inputs.end()) {
  while (!inputs_.empty() && !inputs_.back().defined())
    inputs_.pop_back();
  for (const Tensor &tensor : inputs_)
    if (tensor.defined() && !findDType(tensor.type()) && !isObject(tensor.type()))
      unsupported(fmt::format("no kernel holds elements of {}", name(tensor.type())));
}

const Tensor &Call::input(int64_t i) const {
  require(has(i), "expected input {}, found {} inputs{}", i, inputCount(),
          i < inputCount() ? " of which this one is empty" : "");
  return inputs_[i];
}

std::vector<int64_t> Call::indices(int64_t i) const {
  const Tensor &tensor = input(i);
  require(tensor.type() == DType::I64 || tensor.type() == DType::I32, "expected input {} of int64 or int32, found {}",
          i, name(tensor.type()));
  Values<int64_t> values(tensor);
  return {values.begin(), values.end()};
}

double Call::scalar(int64_t i) const {
  require(input(i).count() == 1, "expected one element in input {}, found shape {}", i, input(i).shape());
  return Values<double>(input(i))[0];
}

int64_t Call::index(int64_t i) const {
  std::vector<int64_t> values = indices(i);
  require(values.size() == 1, "expected one element in input {}, found shape {}", i, input(i).shape());
  return values[0];
}

//===- Attributes and outputs -------------------------------------------------------------------------------------===//

template <typename T> const T *Call::find(std::string_view name) const {
  if (!node_.attributes)
    return nullptr;
  auto found = node_.attributes->find(name);
  if (found == node_.attributes->end())
    return nullptr;
  const T *value = std::get_if<T>(&found->second);
  require(value != nullptr, "attribute '{}' has a kind that the operator does not take", name);
  return value;
}

const Attributes &Call::attributes() const {
  static const Attributes none;
  return node_.attributes ? *node_.attributes : none;
}

bool Call::hasAttribute(std::string_view name) const {
  return node_.attributes && node_.attributes->find(name) != node_.attributes->end();
}

int64_t Call::integer(std::string_view name, int64_t otherwise) const {
  const int64_t *value = find<int64_t>(name);
  return value ? *value : otherwise;
}

double Call::real(std::string_view name, double otherwise) const {
  const float *value = find<float>(name);
  // Attributes are floats, so the default is rounded to float: an explicit 0.01 then equals a default of 0.01.
  return value ? *value : static_cast<float>(otherwise);
}

std::string Call::text(std::string_view name, std::string_view otherwise) const {
  const std::string *value = find<std::string>(name);
  return value ? *value : std::string(otherwise);
}

template <typename T> static std::optional<T> copied(const T *value) {
  return value ? std::optional<T>(*value) : std::nullopt;
}

std::optional<std::vector<int64_t>> Call::integers(std::string_view name) const {
  return copied(find<std::vector<int64_t>>(name));
}
std::optional<std::vector<float>> Call::reals(std::string_view name) const {
  return copied(find<std::vector<float>>(name));
}
std::optional<std::vector<std::string>> Call::texts(std::string_view name) const {
  return copied(find<std::vector<std::string>>(name));
}
const Tensor *Call::tensor(std::string_view name) const { return find<Tensor>(name); }

Tensor &Call::give(int64_t i, Tensor tensor) {
  if (i >= static_cast<int64_t>(outputs_.size()))
    outputs_.resize(i + 1);
  return outputs_[i] = std::move(tensor);
}

} // namespace tilewright::reference
