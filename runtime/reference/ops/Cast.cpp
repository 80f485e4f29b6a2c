// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike, BitCast: one element type to another.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/SmallFloat.h"
#include "runtime/reference/StringNumbers.h"

#include <cstring>

namespace tilewright::reference {

/// Casts to an 8-bit float by a conversion other than the default.
template <typename Format, typename Convert> static Tensor castEach(const Tensor &x, DType type, Convert convert) {
  Tensor result = allocate(type, x.shape());
  Values<double> values(x);
  for (int64_t i = 0; i < values.size(); ++i)
    result.data<Format>()[i] = convert(values[i]);
  return result;
}

static RoundMode roundMode(Call &call) {
  std::string mode = call.text("round_mode", "up");
  require(mode == "up" || mode == "down" || mode == "nearest",
          "expected round_mode to be up, down or nearest, found '{}'", mode);
  return mode == "up" ? RoundMode::Up : mode == "down" ? RoundMode::Down : RoundMode::Nearest;
}

/// Floats to integers truncate and saturate, and NaN gives 0; the specification leaves these open. `saturate` and
/// `round_mode` apply to 8-bit floats only.
static Tensor castTo(Call &call, const Tensor &x, DType type) {
  if (x.type() == DType::String || type == DType::String)
    return convertStrings(x, type);
  bool saturate = call.integer("saturate", 1) != 0;
  RoundMode mode = roundMode(call);
  auto to = [&]<typename Format>(Format) {
    return castEach<Format>(x, type, [=](double value) { return Format::from(value, saturate); });
  };
  if (type == DType::F8E8M0)
    return castEach<E8M0>(x, type, [=](double value) { return E8M0::from(value, saturate, mode); });
  if (!saturate && type == DType::F8E4M3FN)
    return to(E4M3FN{});
  if (!saturate && type == DType::F8E4M3FNUZ)
    return to(E4M3FNUZ{});
  if (!saturate && type == DType::F8E5M2)
    return to(E5M2{});
  if (!saturate && type == DType::F8E5M2FNUZ)
    return to(E5M2FNUZ{});
  return convert(x, type);
}

/// The type named by `to` in opsets 1 to 5, where it is a string.
static DType typeByName(const std::string &name) {
  static constexpr std::pair<std::string_view, DType> names[] = {
      {"FLOAT", DType::F32},   {"UINT8", DType::U8},   {"INT8", DType::I8},    {"UINT16", DType::U16},
      {"INT16", DType::I16},   {"INT32", DType::I32},  {"INT64", DType::I64},  {"BOOL", DType::Bool},
      {"FLOAT16", DType::F16}, {"DOUBLE", DType::F64}, {"UINT32", DType::U32}, {"UINT64", DType::U64},
  };
  for (auto [text, type] : names)
    if (text == name)
      return type;
  unsupported(fmt::format("there is no cast to '{}'", name));
}

void cast(Call &call) {
  require(call.hasAttribute("to"), "expected the attribute 'to'");
  DType type = call.opset() < 6 ? typeByName(call.text("to", "")) : static_cast<DType>(call.integer("to", 0));
  call.give(0, castTo(call, call.input(0), type));
}

void castLike(Call &call) { call.give(0, castTo(call, call.input(0), call.input(1).type())); }

void bitCast(Call &call) {
  const Tensor &x = call.input(0);
  DType type = static_cast<DType>(call.integer("to", 0));
  const DTypeInfo *from = findDType(x.type()), *to = findDType(type);
  require(to && to->bits == from->bits, "expected a type of {} bits, found {}", from->bits, name(type));
  Tensor &result = call.make(0, type, x.shape());
  std::memcpy(result.bytes(), x.bytes(), x.byteSize());
  if (from->bits < 8 && from->isSigned != to->isSigned) // one is sign-extended in memory, the other is not
    for (size_t i = 0; i < result.byteSize(); ++i) {
      auto low = std::to_integer<uint8_t>(result.bytes()[i]) & ((1 << to->bits) - 1), sign = 1 << (to->bits - 1);
      result.bytes()[i] = static_cast<std::byte>(type == DType::I4 || type == DType::I2 ? (low ^ sign) - sign : low);
    }
}

} // namespace tilewright::reference
