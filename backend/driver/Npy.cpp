// Reads and writes .npy:  "\x93NUMPY" major minor, header length, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes.
#include "backend/driver/Npy.h"

#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <regex>

namespace tilewright {

namespace {
struct Descriptor {
  std::string_view text;
  DType type;
};
} // namespace

static constexpr Descriptor descriptors[] = {
    {"<f4", DType::F32}, {"<f2", DType::F16}, {"<f8", DType::F64}, {"<i8", DType::I64}, {"<i4", DType::I32}, {"<i2", DType::I16}, {"|i1", DType::I8},
    {"<u8", DType::U64}, {"<u4", DType::U32}, {"<u2", DType::U16}, {"|u1", DType::U8},  {"|b1", DType::Bool},
};

static constexpr std::string_view magic = "\x93NUMPY";

static Status malformed(const std::filesystem::path &path, std::string_view why) {
  return {Code::Malformed, fmt::format("{}: {}", path.string(), why)};
}

/// The shape tuple of a header, "(2, 3)" or "(4,)" or "()". Empty where a number is negative or does not fit.
static std::optional<Shape> parseShape(const std::string &text) {
  Shape shape;
  int64_t count = 1;
  static const std::regex number("[0-9]+");
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    if (it->length() > 18)
      return std::nullopt;
    shape.push_back(std::stoll(it->str()));
    if (__builtin_mul_overflow(count, shape.back(), &count))
      return std::nullopt;
  }
  return shape;
}

Expected<Tensor> readNpy(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Status(Code::Io, fmt::format("{}: cannot be opened", path.string()));
  char start[8];
  if (!file.read(start, 8) || std::string_view(start, 6) != magic)
    return malformed(path, "is not a .npy file");
  uint32_t length = 0;
  if (!file.read(reinterpret_cast<char *>(&length), start[6] == 1 ? 2 : 4) || length > 65536)
    return malformed(path, "has no header");
  std::string header(length, ' ');
  if (!file.read(header.data(), length))
    return malformed(path, "ends inside its header");
  std::smatch descr, shapeText;
  if (!std::regex_search(header, descr, std::regex("'descr': *'([^']*)'")) || !std::regex_search(header, shapeText, std::regex("'shape': *\\(([^)]*)\\)")))
    return malformed(path, "has a header without type or shape");
  if (header.find("'fortran_order': False") == std::string::npos)
    return malformed(path, "is in Fortran order, expected C order (np.ascontiguousarray)");
  for (const Descriptor &row : descriptors) {
    if (row.text != descr[1].str())
      continue;
    std::optional<Shape> shape = parseShape(shapeText[1].str());
    if (!shape)
      return malformed(path, "has a shape that is too large");
    uint64_t expected = elementCount(*shape) * elementBytes(row.type), present = std::filesystem::file_size(path) - file.tellg();
    if (present != expected)
      return malformed(path, fmt::format("holds {} bytes of data, expected {} for its shape", present, expected));
    Tensor tensor = Tensor::allocate(row.type, *shape);
    file.read(reinterpret_cast<char *>(tensor.bytes()), expected);
    return tensor;
  }
  return malformed(path, fmt::format("has elements of type '{}', expected one of f4, f2, f8, i1 to i8, u1 to u8 or b1 in little-endian order", descr[1].str()));
}

Status writeNpy(const std::filesystem::path &path, const Tensor &tensor) {
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
  std::ofstream file(path, std::ios::binary);
  file.write(magic.data(), magic.size()).write("\x01\x00", 2).write(reinterpret_cast<char *>(&length), 2) << header;
  file.write(reinterpret_cast<const char *>(tensor.bytes()), tensor.byteSize());
  file.close();
  if (!file)
    return {Code::Io, fmt::format("{}: cannot be written", path.string())};
  return {};
}

} // namespace tilewright
