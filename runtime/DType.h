// SPDX-License-Identifier: Apache-2.0
// The element types of tensors, with ONNX's own codes (TensorProto.DataType), so that nothing has to translate between
// the two; and the types of values that are not numbers, which exist on the host only (Tensor.h).
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
  String = 8,
  Bool = 9, // one byte in memory, 0 or 1
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  C64 = 14,  // two float32: real, imaginary
  C128 = 15, // two float64
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21, // types of less than a byte take one byte each in memory; signed ones are sign-extended
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24, // a power of two, without sign
  U2 = 25,
  I2 = 26,
  // ONNX types that are not element types, under codes of our own.
  Sequence = 64,
  Optional = 65,
  Map = 66,
};

/// Whether values of this type are C++ objects on the host (Tensor.h), which no compiled kernel accepts.
constexpr bool isObject(DType type) { return type == DType::String || (type >= DType::Sequence && type <= DType::Map); }

struct DTypeInfo {
  DType type;
  std::string_view name; // as ONNX's operator specifications spell it
  uint32_t bytes;        // of an element in memory
  bool isFloat;
  bool isSigned;
  uint32_t bits; // significant bits, as ONNX files store an element
};

/// One row for each type whose elements are plain bytes in memory.
inline constexpr DTypeInfo dtypeTable[] = {
    {DType::F32, "float32", 4, true, true, 32},
    {DType::F16, "float16", 2, true, true, 16},
    {DType::BF16, "bfloat16", 2, true, true, 16},
    {DType::F64, "float64", 8, true, true, 64},
    {DType::I64, "int64", 8, false, true, 64},
    {DType::I32, "int32", 4, false, true, 32},
    {DType::I16, "int16", 2, false, true, 16},
    {DType::I8, "int8", 1, false, true, 8},
    {DType::U64, "uint64", 8, false, false, 64},
    {DType::U32, "uint32", 4, false, false, 32},
    {DType::U16, "uint16", 2, false, false, 16},
    {DType::U8, "uint8", 1, false, false, 8},
    {DType::Bool, "bool", 1, false, false, 8},
    {DType::C64, "complex64", 8, false, true, 64},
    {DType::C128, "complex128", 16, false, true, 128},
    {DType::F8E4M3FN, "float8e4m3fn", 1, true, true, 8},
    {DType::F8E4M3FNUZ, "float8e4m3fnuz", 1, true, true, 8},
    {DType::F8E5M2, "float8e5m2", 1, true, true, 8},
    {DType::F8E5M2FNUZ, "float8e5m2fnuz", 1, true, true, 8},
    {DType::F8E8M0, "float8e8m0", 1, true, false, 8},
    {DType::F4E2M1, "float4e2m1", 1, true, true, 4},
    {DType::I4, "int4", 1, false, true, 4},
    {DType::U4, "uint4", 1, false, false, 4},
    {DType::I2, "int2", 1, false, true, 2},
    {DType::U2, "uint2", 1, false, false, 2},
};

/// The row of `type`, or nullptr for objects.
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

constexpr bool isComplex(DType type) { return type == DType::C64 || type == DType::C128; }

/// Types whose elements compiled kernels move but do not compute with: there is no arithmetic on them in the tile
/// dialect.
constexpr bool isStorageOnly(DType type) {
  const DTypeInfo *row = findDType(type);
  return !row || isComplex(type) || row->bits < 8 || (row->isFloat && row->bits == 8);
}

/// Bytes that `count` elements take in ONNX files, where types narrower than a byte are packed.
constexpr int64_t packedBytes(DType type, int64_t count) {
  const DTypeInfo *row = findDType(type);
  return !row ? 0 : row->bits < 8 ? (count * row->bits + 7) / 8 : count * row->bytes;
}

constexpr std::string_view name(DType type) {
  if (const DTypeInfo *row = findDType(type))
    return row->name;
  switch (type) {
  case DType::String:
    return "string";
  case DType::Sequence:
    return "sequence";
  case DType::Optional:
    return "optional";
  case DType::Map:
    return "map";
  default:
    return "an unknown type";
  }
}

/// The type of this name; F32 for unknown names.
constexpr DType parseDType(std::string_view text) {
  for (const DTypeInfo &row : dtypeTable)
    if (row.name == text)
      return row.type;
  for (DType type : {DType::String, DType::Sequence, DType::Optional, DType::Map})
    if (name(type) == text)
      return type;
  return DType::F32;
}

} // namespace tilewright
