// SPDX-License-Identifier: Apache-2.0
// Finds the elements of a TensorProto and decodes them.
#include "frontend/onnx/TensorData.h"

#include "runtime/reference/Kernel.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace tilewright {
namespace {

constexpr int64_t maxBytes = int64_t(1) << 40;

Status malformedTensor(const std::string &name, std::string why) {
  return Status(Code::Malformed, fmt::format("tensor '{}': {}", name, why));
}

/// A tensor that shares `bytes`, which `owner` keeps alive; a copy if they are not aligned for `type`.
Tensor shareBytes(DType type, Shape shape, std::span<const std::byte> bytes, const std::shared_ptr<const void> &owner) {
  auto *data = const_cast<std::byte *>(bytes.data());
  if (owner && reinterpret_cast<uintptr_t>(data) % elementBytes(type) == 0)
    return Tensor(type, std::move(shape), std::shared_ptr<std::byte[]>(std::const_pointer_cast<void>(owner), data));
  Tensor copy = Tensor::allocate(type, std::move(shape));
  if (!bytes.empty())
    std::memcpy(copy.bytes(), bytes.data(), bytes.size());
  return copy;
}

/// Decodes elements as stored in files, where types of less than a byte are packed, with the first element in the
/// lowest bits.
Tensor fromPacked(DType type, Shape shape, std::span<const std::byte> bytes, const std::shared_ptr<const void> &owner) {
  int64_t bits = findDType(type)->bits;
  if (bits >= 8)
    return shareBytes(type, std::move(shape), bytes, owner);
  Tensor tensor = Tensor::allocate(type, std::move(shape));
  int sign = findDType(type)->isSigned && !findDType(type)->isFloat ? 1 << (bits - 1) : 0;
  for (int64_t i = 0, n = tensor.count(); i < n; ++i) {
    int low = std::to_integer<int>(bytes[i * bits / 8]) >> (i * bits % 8) & ((1 << bits) - 1);
    tensor.data<int8_t>()[i] = static_cast<int8_t>((low ^ sign) - sign);
  }
  return tensor;
}

template <typename To, typename Field> void copyAs(Tensor &tensor, const Field &field) {
  std::transform(field.begin(), field.end(), tensor.data<To>(), [](auto value) { return static_cast<To>(value); });
}

/// The field of TensorProto for elements of a type.
struct TypedField {
  const char *name;
  int64_t size;
  void (*copy)(Tensor &, const onnx::TensorProto &);
};

TypedField typedField(DType type, const onnx::TensorProto &p) {
#define FIELD(NAME, TO)                                                                                                \
  TypedField {                                                                                                         \
    #NAME, p.NAME().size(), [](Tensor &t, const onnx::TensorProto &from) { copyAs<TO>(t, from.NAME()); }               \
  }
  switch (type) {
  case DType::F32:
  case DType::C64:
    return FIELD(float_data, float);
  case DType::C128:
  case DType::F64:
    return FIELD(double_data, double);
  case DType::I64:
    return FIELD(int64_data, int64_t);
  case DType::U64:
    return FIELD(uint64_data, uint64_t);
  case DType::U32:
    return FIELD(uint64_data, uint32_t);
  case DType::I32:
    return FIELD(int32_data, int32_t);
  case DType::I16:
    return FIELD(int32_data, int16_t);
  case DType::I8:
    return FIELD(int32_data, int8_t);
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return FIELD(int32_data, uint16_t);
  default:
    return FIELD(int32_data, uint8_t);
  }
#undef FIELD
}

struct ExternalPlace {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Expected<ExternalPlace> externalPlace(const onnx::TensorProto &proto, const std::string &name) {
  ExternalPlace place;
  for (const auto &entry : proto.external_data()) {
    const std::string &key = entry.key(), &value = entry.value();
    if (key == "location") {
      place.location = value;
      continue;
    }
    if (key == "checksum")
      continue;
    uint64_t number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size())
      return malformedTensor(name, fmt::format("external data '{}' must be a number, got '{}'", key, value));
    if (key == "offset")
      place.offset = number;
    else if (key == "length")
      place.length = number;
    else
      return malformedTensor(name, fmt::format("external data has the unknown key '{}'", key));
  }
  return place;
}

uint64_t mix(uint64_t &state) { // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Random weights, uniform, scaled so that a layer preserves the variance of its input. Vectors (scales, biases,
/// variances) are around 1. Integers are 0.
Tensor inventWeights(DType type, Shape shape, const std::string &name, uint64_t seed) {
  Tensor tensor = Tensor::allocate(type, shape);
  int64_t count = tensor.count();
  if (!findDType(type)->isFloat)
    return tensor;
  for (char c : name)
    seed = seed * 0x100000001b3 ^ static_cast<unsigned char>(c);
  int64_t fanIn = shape.size() < 2 ? 1 : shape.size() == 2 ? shape[0] : count / std::max<int64_t>(shape[0], 1);
  double center = shape.size() < 2 ? 1.0 : 0.0,
         spread = shape.size() < 2 ? 0.25 : std::sqrt(3.0 / std::max<int64_t>(fanIn, 1));
  for (int64_t i = 0; i < count; ++i) {
    double value = center + spread * (static_cast<double>(mix(seed) >> 11) * 0x1p-52 - 1.0);
    reference::write(tensor, i, 1, &value);
  }
  return tensor;
}

Expected<Tensor> decodeExternal(const onnx::TensorProto &proto, const std::string &name, DType type, Shape shape,
                                const TensorSource &source) {
  Expected<ExternalPlace> place = externalPlace(proto, name);
  if (!place)
    return place.status();
  if (!source.files)
    return malformedTensor(name, "external data is not allowed here");
  if (source.randomWeights && !source.files->exists(place->location))
    return inventWeights(type, std::move(shape), name, *source.randomWeights);
  Expected<MappedFile> file = source.files->open(place->location);
  if (!file)
    return Status(file.status().code(), fmt::format("tensor '{}': {}", name, file.status().message()));
  uint64_t size = file->bytes().size();
  auto packed = static_cast<uint64_t>(packedBytes(type, elementCount(shape)));
  if (place->length.value_or(packed) != packed)
    return malformedTensor(name,
                           fmt::format("expected {} bytes because of its type and shape, external data says length {}",
                                       packed, *place->length));
  if (place->offset > size || packed > size - place->offset)
    return malformedTensor(name, fmt::format("expected {} bytes at offset {} of '{}', which has {} bytes", packed,
                                             place->offset, place->location, size));
  return fromPacked(type, std::move(shape), file->bytes().subspan(place->offset, packed), file->owner());
}

Expected<Tensor> decodeStrings(const onnx::TensorProto &proto, const std::string &name, Shape shape, int64_t count) {
  if (proto.string_data_size() != count || proto.has_raw_data() || proto.data_location() == onnx::TensorProto::EXTERNAL)
    return malformedTensor(name, fmt::format("expected {} strings in string_data because of its shape [{}], got {}",
                                             count, fmt::join(shape, ", "), proto.string_data_size()));
  Tensor tensor = Tensor::allocate(DType::String, std::move(shape));
  std::ranges::copy(proto.string_data(), tensor.data<std::string>());
  return tensor;
}

} // namespace

Expected<DType> checkedDType(int32_t code, const std::string &name) {
  auto type = static_cast<DType>(code);
  if (code >= 0 && code < 256 && (findDType(type) || type == DType::String))
    return type;
  return Status(Code::Unsupported,
                fmt::format("tensor '{}' has element type {} ({}), which no kernel holds", name, code, "unknown here"));
}

Expected<int64_t> checkedByteSize(std::span<const int64_t> dims, DType type, const std::string &name) {
  int64_t bytes = type == DType::String ? 1 : elementBytes(type); // a lower bound: each has a length
  bool empty = std::ranges::find(dims, 0) != dims.end();
  for (int64_t dim : dims) {
    if (dim < 0)
      return malformedTensor(name, fmt::format("dimension {} is negative", dim));
    if (!empty && (__builtin_mul_overflow(bytes, dim, &bytes) || bytes > maxBytes))
      return malformedTensor(name, fmt::format("dimensions {} are more than 2^40 bytes", fmt::join(dims, "x")));
  }
  return empty ? 0 : bytes;
}

Expected<Tensor> decodeTensor(const onnx::TensorProto &proto, const std::string &name, const TensorSource &source) {
  Expected<DType> type = checkedDType(proto.data_type(), name);
  if (!type)
    return type.status();
  if (proto.has_segment())
    return Status(Code::Unsupported, fmt::format("tensor '{}' is stored in segments, which nothing writes", name));
  Shape shape(proto.dims().begin(), proto.dims().end());
  Expected<int64_t> bytes = checkedByteSize(shape, *type, name);
  if (!bytes)
    return bytes.status();
  if (*type == DType::String)
    return decodeStrings(proto, name, std::move(shape), *bytes);
  TypedField field = typedField(*type, proto);
  int64_t typed = proto.float_data_size() + proto.int32_data_size() + proto.string_data_size() +
                  proto.int64_data_size() + proto.double_data_size() + proto.uint64_data_size();
  bool external = proto.data_location() == onnx::TensorProto::EXTERNAL;
  bool raw = proto.has_raw_data() && (!proto.raw_data().empty() || typed == 0); // some writers set the field to nothing
  if (external + raw + (typed > 0) > 1)
    return malformedTensor(name, "its elements are in more than one place");
  if (external)
    return decodeExternal(proto, name, *type, std::move(shape), source);
  if (raw) {
    int64_t packed = packedBytes(*type, elementCount(shape));
    if (static_cast<int64_t>(proto.raw_data().size()) != packed)
      return malformedTensor(name,
                             fmt::format("expected {} bytes because of its type {} and shape [{}], got {}", packed,
                                         tilewright::name(*type), fmt::join(shape, ", "), proto.raw_data().size()));
    return fromPacked(*type, std::move(shape), std::as_bytes(std::span(proto.raw_data())), source.owner);
  }
  // In typed fields a complex number has two entries, and numbers of less than a byte share one.
  bool shares = findDType(*type)->bits < 8;
  int64_t count =
      shares ? packedBytes(*type, elementCount(shape)) : *bytes / elementBytes(*type) * (isComplex(*type) ? 2 : 1);
  if (field.size != count || typed != count)
    return malformedTensor(name,
                           fmt::format("expected {} elements in {} because of its type {} and shape [{}], got {}",
                                       count, field.name, tilewright::name(*type), fmt::join(shape, ", "), typed));
  if (shares) {
    Tensor packed = Tensor::allocate(DType::U8, {count});
    field.copy(packed, proto);
    return fromPacked(*type, std::move(shape), {packed.bytes(), packed.byteSize()}, nullptr);
  }
  Tensor tensor = Tensor::allocate(*type, std::move(shape));
  field.copy(tensor, proto);
  return tensor;
}

} // namespace tilewright
