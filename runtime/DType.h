// The element types of tensors, with ONNX's own codes (TensorProto.DataType), so that no table translates between the two.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright {

enum class DType : uint8_t {
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8, // only as a name in diagnostics: no kernel takes strings
  Bool = 9,   // one byte in memory, 0 or 1
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  BF16 = 16,
};

struct DTypeInfo {
  DType type;
  std::string_view name; // as ONNX's operator specifications spell it
  uint32_t bytes;
  bool isFloat;
  bool isSigned;
};

/// One row for each type that kernels can hold in memory.
inline constexpr DTypeInfo dtypeTable[] = {
    {DType::F32, "float32", 4, true, true},   {DType::F16, "float16", 2, true, true},
    {DType::BF16, "bfloat16", 2, true, true}, {DType::F64, "float64", 8, true, true},
    {DType::I64, "int64", 8, false, true},    {DType::I32, "int32", 4, false, true},
    {DType::I16, "int16", 2, false, true},    {DType::I8, "int8", 1, false, true},
    {DType::U64, "uint64", 8, false, false},  {DType::U32, "uint32", 4, false, false},
    {DType::U16, "uint16", 2, false, false},  {DType::U8, "uint8", 1, false, false},
    {DType::Bool, "bool", 1, false, false},
};

/// The row of `type`, or nullptr for a type that no kernel can hold (strings, 4-bit and 8-bit floats).
constexpr const DTypeInfo *findDType(DType type) {
  for (const DTypeInfo &row : dtypeTable)
    if (row.type == type)
      return &row;
  return nullptr;
}

/// Bytes of one element; 0 for a type that has no row.
constexpr uint32_t elementBytes(DType type) {
  const DTypeInfo *row = findDType(type);
  return row ? row->bytes : 0;
}

constexpr std::string_view name(DType type) {
  const DTypeInfo *row = findDType(type);
  return row ? row->name : type == DType::String ? "string" : "an unknown type";
}

} // namespace tilewright
