// SPDX-License-Identifier: Apache-2.0
// Decodes protobuf messages to tensors of tensors.
#include "tools/tilewright/values/ValueProto.h"

#include "frontend/onnx/TensorData.h"

#include "frontend/onnx/Values.pb.h"

#include <fmt/format.h>
#include <fstream>

namespace tilewright {
namespace {

/// Decodes the messages of one file. Tensors share the bytes of the file, which `owner` holds.
class Decoder {
public:
  Decoder(std::string file, std::shared_ptr<const void> owner) : file(std::move(file)), owner(std::move(owner)) {}

  Expected<Tensor> operator()(const onnx::TensorProto &tensor) const {
    return decodeTensor(tensor, file, {nullptr, owner, std::nullopt});
  }

  Expected<Tensor> operator()(const values::Sequence &sequence) const {
    std::vector<Tensor> elements;
    TILEWRIGHT_TRY(append(elements, sequence.tensor_values()));
    TILEWRIGHT_TRY(append(elements, sequence.sequence_values()));
    TILEWRIGHT_TRY(append(elements, sequence.map_values()));
    TILEWRIGHT_TRY(append(elements, sequence.optional_values()));
    return Tensor::of(DType::Sequence, std::move(elements));
  }

  Expected<Tensor> operator()(const values::Map &map) const {
    bool strings = map.string_keys_size() > 0;
    int64_t count = strings ? map.string_keys_size() : map.keys_size();
    Tensor keys = Tensor::allocate(strings ? DType::String : DType::I64, {count});
    if (strings)
      std::ranges::copy(map.string_keys(), keys.data<std::string>());
    else
      std::ranges::copy(map.keys(), keys.data<int64_t>());
    Expected<Tensor> values = (*this)(map.values());
    TILEWRIGHT_TRY(values);
    return Tensor::of(DType::Map, {keys, joined(*values)});
  }

  Expected<Tensor> operator()(const values::Optional &optional) const {
    std::vector<Tensor> held;
    if (optional.has_tensor_value())
      TILEWRIGHT_TRY(append(held, std::span(&optional.tensor_value(), 1)));
    else if (optional.has_sequence_value())
      TILEWRIGHT_TRY(append(held, std::span(&optional.sequence_value(), 1)));
    else if (optional.has_map_value())
      TILEWRIGHT_TRY(append(held, std::span(&optional.map_value(), 1)));
    else if (optional.has_optional_value())
      TILEWRIGHT_TRY(append(held, std::span(&optional.optional_value(), 1)));
    return Tensor::of(DType::Optional, std::move(held));
  }

private:
  /// A map's values, which the file has as a sequence: one tensor [n] if all are scalars of one type.
  static Tensor joined(const Tensor &sequence) {
    std::span<const Tensor> values(sequence.data<Tensor>(), static_cast<size_t>(sequence.count()));
    auto fits = [&](const Tensor &value) {
      return !isObject(value.type()) && value.type() == values[0].type() && value.count() == 1 && value.rank() == 0;
    };
    if (values.empty() || !std::ranges::all_of(values, fits))
      return sequence;
    Tensor all = Tensor::allocate(values[0].type(), {sequence.count()});
    std::byte *to = all.bytes();
    for (const Tensor &value : values)
      to = std::copy_n(value.bytes(), value.byteSize(), to);
    return all;
  }

  template <typename Messages> Status append(std::vector<Tensor> &elements, const Messages &messages) const {
    for (const auto &message : messages) {
      Expected<Tensor> element = (*this)(message);
      TILEWRIGHT_TRY(element);
      elements.push_back(*element);
    }
    return {};
  }

  std::string file;
  std::shared_ptr<const void> owner;
};

template <typename Message> Expected<NamedTensor> readAs(const std::filesystem::path &path, DType type) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Status(Code::Io, fmt::format("{}: cannot be opened", path.string()));
  auto message = std::make_shared<Message>();
  if (!message->ParseFromIstream(&file))
    return Status(Code::Malformed, fmt::format("{}: holds no {} of ONNX", path.string(), name(type)));
  Expected<Tensor> value = Decoder(path.filename().string(), message)(*message);
  TILEWRIGHT_TRY(value);
  return NamedTensor{message->name(), std::move(*value)};
}

} // namespace

Expected<NamedTensor> readValueProto(const std::filesystem::path &path, DType type) {
  switch (type) {
  case DType::Sequence:
    return readAs<values::Sequence>(path, type);
  case DType::Map:
    return readAs<values::Map>(path, type);
  default:
    return readAs<values::Optional>(path, type);
  }
}

} // namespace tilewright
