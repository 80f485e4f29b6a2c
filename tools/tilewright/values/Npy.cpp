// SPDX-License-Identifier: Apache-2.0
// Reads and writes .npy:  "\x93NUMPY" major minor, header length, "{'descr': '<f4', 'fortran_order': False, 'shape':
// (2, 3), }", bytes.
#include "tools/tilewright/values/Npy.h"

#include "frontend/onnx/MappedFile.h"
#include "runtime/artifact/OutputFile.h"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace tilewright {

namespace {
struct Descriptor {
  std::string_view text;
  DType type;
};
} // namespace

static constexpr Descriptor descriptors[] = {
    {"<f4", DType::F32}, {"<f2", DType::F16},  {"<f8", DType::F64}, {"<i8", DType::I64},   {"<i4", DType::I32},
    {"<i2", DType::I16}, {"|i1", DType::I8},   {"<u8", DType::U64}, {"<u4", DType::U32},   {"<u2", DType::U16},
    {"|u1", DType::U8},  {"|b1", DType::Bool}, {"<c8", DType::C64}, {"<c16", DType::C128},
};

static constexpr std::string_view magic = "\x93NUMPY";

/// The text between `open` and `close` in the value of `key`.
static std::optional<std::string_view> valueOf(std::string_view header, std::string_view key, char open, char close) {
  size_t at = header.find(key);
  if (at == std::string_view::npos)
    return std::nullopt;
  at = header.find_first_not_of(' ', at + key.size());
  if (at == std::string_view::npos || header[at] != open)
    return std::nullopt;
  size_t end = header.find(close, at + 1);
  if (end == std::string_view::npos)
    return std::nullopt;
  return header.substr(at + 1, end - at - 1);
}

/// Parses the inside of a shape tuple: "2, 3", "4," or "". None if it is malformed, or its size would overflow.
static std::optional<Shape> parseShape(std::string_view text, size_t elementBytes) {
  Shape shape;
  int64_t bytes = static_cast<int64_t>(elementBytes);
  while ((text.remove_prefix(std::min(text.find_first_not_of(' '), text.size())), !text.empty())) {
    int64_t size = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
    shape.push_back(size);
    text.remove_prefix(end - text.data());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (!text.empty() && text.front() != ',')
      return std::nullopt;
    text.remove_prefix(text.empty() ? 0 : 1);
  }
  return shape;
}

/// Reads the elements after a header.
static Expected<Tensor> parseElements(std::string_view header, std::string_view data, const std::string &name) {
  auto malformed = [&](std::string_view why) { return Status(Code::Malformed, fmt::format("{}: {}", name, why)); };
  auto descr = valueOf(header, "'descr':", '\'', '\''), shapeText = valueOf(header, "'shape':", '(', ')');
  if (!descr || !shapeText)
    return malformed("has a header without type or shape");
  if (header.find("'fortran_order': False") == std::string::npos)
    return malformed("is in Fortran order, expected C order (np.ascontiguousarray)");
  for (const Descriptor &row : descriptors) {
    if (row.text != *descr)
      continue;
    std::optional<Shape> shape = parseShape(*shapeText, elementBytes(row.type));
    if (!shape)
      return malformed(fmt::format("has the shape ({}), which is none or too large", *shapeText));
    uint64_t expected = elementCount(*shape) * elementBytes(row.type);
    if (data.size() != expected)
      return malformed(fmt::format("holds {} bytes of data, expected {} for its shape", data.size(), expected));
    Tensor tensor = Tensor::allocate(row.type, *shape);
    std::copy(data.begin(), data.end(), reinterpret_cast<char *>(tensor.bytes()));
    return tensor;
  }
  return malformed(fmt::format(
      "has elements of type '{}', expected one of f4, f2, f8, i1 to i8, u1 to u8 or b1 in little-endian order",
      *descr));
}

Expected<Tensor> parseNpy(std::span<const std::byte> bytes, const std::string &name) {
  auto malformed = [&](std::string_view why) { return Status(Code::Malformed, fmt::format("{}: {}", name, why)); };
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (!text.starts_with(magic) || text.size() < magic.size() + 2)
    return malformed("is not a .npy file");
  size_t lengthBytes = text[magic.size()] == 1 ? 2 : 4;
  text.remove_prefix(magic.size() + 2);
  uint32_t length = 0;
  if (text.size() < lengthBytes)
    return malformed("has no header");
  std::memcpy(&length, text.data(), lengthBytes);
  text.remove_prefix(lengthBytes);
  if (length > text.size())
    return malformed("ends inside its header");
  return parseElements(text.substr(0, length), text.substr(length), name);
}

Expected<Tensor> readNpy(const std::filesystem::path &path) {
  Expected<MappedFile> file = MappedFile::open(path.string());
  TILEWRIGHT_TRY(file);
  return parseNpy(file->bytes(), path.string());
}

std::string npyHeader(const Tensor &tensor) {
  std::string_view descr = "<u2";
  for (const Descriptor &row : descriptors)
    if (row.type == tensor.type())
      descr = row.text;
  std::string shape;
  for (int64_t size : tensor.shape())
    shape += fmt::format("{},", size);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  size_t prefix = magic.size() + 4;
  header.resize((prefix + header.size() + 1 + 63) / 64 * 64 - prefix, ' '); // data starts at a multiple of 64
  header.back() = '\n';
  uint16_t length = header.size();
  std::string start(magic);
  start.append("\x01\x00", 2).append(reinterpret_cast<char *>(&length), 2);
  return start + header;
}

Status writeNpy(const std::filesystem::path &path, const Tensor &tensor) {
  Expected<OutputFile> file = OutputFile::create(path);
  TILEWRIGHT_TRY(file);
  TILEWRIGHT_TRY(file->write(npyHeader(tensor)));
  TILEWRIGHT_TRY(file->write(std::span(tensor.bytes(), tensor.byteSize())));
  return file->commit();
}

} // namespace tilewright
