// SPDX-License-Identifier: Apache-2.0
// com.microsoft: products of integers with a scale, and products of floats by weights of 2, 4 or 8 bits in blocks.
#include "runtime/reference/Compose.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Quantization.h"
#include "runtime/reference/Shapes.h"

namespace tilewright::reference {

//===- Products of integers ---------------------------------------------------------------------------------------===//

/// value - zero point in double; a vector of zero points is along the last dimension, or the first if `first`.
static Tensor centered(Call &call, int64_t value, int64_t zero, bool first = false) {
  Tensor x = wide(call.input(value));
  if (!call.has(zero))
    return x;
  Tensor z = wide(call.input(zero));
  if (first && z.rank() == 1 && z.count() > 1)
    z = z.reshaped({z.count(), 1});
  return composed("Sub", {x, z});
}

/// alpha * scales * (A B + C), as floats or quantized again. B has one scale and zero point, or one for each column.
void qGemm(Call &call) {
  Attributes turns = selected(call, {"transA", "transB"});
  Tensor sum =
      composed("Gemm", {centered(call, 0, 2), centered(call, 3, 5, call.integer("transB", 0)), Tensor()}, turns);
  if (call.has(6))
    sum = composed("Add", {sum, wide(call.input(6))});
  Tensor scale =
      composed("Mul", {composed("Mul", {wide(call.input(1)), wide(call.input(4))}), wideScalar(call.real("alpha", 1))});
  Tensor y = composed("Mul", {sum, scale});
  if (!call.has(7))
    return (void)call.give(0, convert(y, DType::F32));
  Values<double> values(y);
  call.give(0, quantize({values.begin(), values.end()}, y.shape(), call.input(7), call.input(8)));
}

/// sum * scales + bias
static void giveScaled(Call &call, Tensor y, const Tensor &left, const Tensor &right, int64_t bias, DType type) {
  y = composed("Mul", {composed("Mul", {y, left}), right});
  if (call.has(bias))
    y = composed("Add", {y, wide(call.input(bias))});
  call.give(0, convert(y, type));
}

void matMulIntegerToFloat(Call &call) {
  Tensor sum = composed("MatMul", {centered(call, 0, 4), centered(call, 1, 5)});
  giveScaled(call, sum, wide(call.input(2)), wide(call.input(3)), 6, call.input(2).type());
}

/// Quantizes the left operand to 8 bits by its range first, as DynamicQuantizeLinear does.
void dynamicQuantizeMatMul(Call &call) {
  std::vector<Tensor> a = composedAll("DynamicQuantizeLinear", {call.input(0)}, {}, 3);
  Tensor sum = composed("MatMul", {composed("Sub", {wide(a[0]), wide(a[2])}), centered(call, 1, 3)});
  giveScaled(call, sum, wide(a[1]), wide(call.input(2)), 4, call.input(0).type());
}

//===- Block-quantized weights ------------------------------------------------------------------------------------===//

/// Element i of a row of packed `bits`-bit numbers, low bits first.
static int64_t unpackedAt(const uint8_t *row, int64_t i, int64_t bits) {
  return row[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1);
}

static int64_t checkedBits(Call &call) {
  int64_t bits = call.integer("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8)
    unsupported(fmt::format("weights of {} bits are not supported", bits));
  return bits;
}

/// A product with weights [N, K], quantized in blocks of `block_size` along K: (number - zero point) * scale.
void matMulNBits(Call &call) {
  int64_t bits = checkedBits(call), k = call.integer("K", 0), n = call.integer("N", 0),
          block = call.integer("block_size", 0);
  const Tensor &packed = call.input(1), &scales = call.input(2);
  require(k > 0 && n > 0 && block >= 8 && k <= 1 << 30 && n <= 1 << 30 && block <= 1 << 20,
          "expected positive K and N and a block_size of 8 or more, found {}, {} and {}", k, n, block);
  require(block * bits % 8 == 0, "expected blocks of whole bytes, found {} numbers of {} bits", block, bits);
  int64_t blocks = (k + block - 1) / block, blob = block * bits / 8;
  require(packed.type() == DType::U8 && packed.count() == n * blocks * blob,
          "expected {} bytes of weights, found shape {} of {}", n * blocks * blob, packed.shape(), name(packed.type()));
  require(scales.count() == n * blocks, "expected {} scales, found shape {}", n * blocks, scales.shape());
  if (call.integer("weight_prepacked", 0))
    unsupported("weights in another machine's layout are not supported");
  Values<double> scale(scales), zeros(call.has(3) && call.input(3).type() != DType::U8 ? call.input(3) : wideScalar(0));
  std::vector<int64_t> group; // the block of each k
  if (call.has(4))
    group = call.indices(4);
  require(group.empty() || static_cast<int64_t>(group.size()) >= k, "expected {} groups, found {}", k, group.size());
  int64_t zeroRow = (blocks * bits + 7) / 8; // bytes of one column's zero points
  if (call.has(3))
    require(call.input(3).count() == (call.input(3).type() == DType::U8 ? n * zeroRow : n * blocks),
            "expected a zero point for each of {} blocks, found shape {}", n * blocks, call.input(3).shape());
  checkSize(DType::F64, {n, k});
  std::vector<double> weights(n * k);
  for (int64_t column = 0; column < n; ++column)
    for (int64_t i = 0; i < k; ++i) {
      int64_t b = group.empty() ? i / block : group[i];
      require(0 <= b && b < blocks, "expected groups below {}, found {}", blocks, b);
      double zero = 1 << (bits - 1);
      if (call.has(3) && call.input(3).type() == DType::U8)
        zero = static_cast<double>(unpackedAt(call.input(3).data<uint8_t>() + column * zeroRow, b, bits));
      else if (call.has(3))
        zero = zeros[column * blocks + b];
      auto number = static_cast<double>(unpackedAt(packed.data<uint8_t>() + column * blocks * blob, i, bits));
      weights[i * n + column] = (number - zero) * scale[column * blocks + b];
    }
  Tensor y = composed("MatMul", {wide(call.input(0)), store(DType::F64, {k, n}, weights)});
  if (call.has(5))
    y = composed("Add", {y, wide(call.input(5))});
  call.give(0, convert(y, call.input(0).type()));
}

/// The integers of packed bytes, `8 / bits` times as many along the last dimension.
static Tensor unpacked(const Tensor &x, int64_t bits) {
  if (x.type() != DType::U8 || bits == 8)
    return wide(x);
  Shape shape = x.shape();
  require(!shape.empty(), "expected packed integers of rank 1 or more, found a scalar");
  shape.back() *= 8 / bits;
  std::vector<double> values(product(shape));
  for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i)
    values[i] = static_cast<double>(unpackedAt(x.data<uint8_t>(), i, bits));
  return store(DType::F64, shape, values);
}

/// Rows of a block-quantized table. Dequantizes the gathered rows only, unless blocks lie along the gathered axis.
void gatherBlockQuantized(Call &call) {
  int64_t bits = checkedBits(call), block = call.integer("block_size", 128), rank = call.input(0).rank();
  int64_t axis = normalizeAxis(call.integer("quantize_axis", 1), rank),
          from = normalizeAxis(call.integer("gather_axis", 0), rank);
  require(block > 0 && call.input(2).rank() == rank,
          "expected a positive block_size and scales of rank {}, found {} and shape {}", rank, block,
          call.input(2).shape());
  bool late = axis == from;
  auto taken = [&](const Tensor &x) { return late ? x : composed("Gather", {x, call.input(1)}, {{"axis", from}}); };
  Tensor data = unpacked(taken(call.input(0)), bits), scales = wide(taken(call.input(2)));
  if (!late && axis > from)
    axis += call.input(1).rank() - 1;
  int64_t last = data.rank() - 1;
  require(scales.shape()[axis] == (data.shape()[axis] + block - 1) / block,
          "expected a scale for each block of {}, found shape {} for {}", block, scales.shape(), data.shape());
  std::vector<int64_t> owner;
  for (int64_t i = 0; i < data.shape()[axis]; ++i)
    owner.push_back(i / block);
  Tensor owners = store(DType::I64, {data.shape()[axis]}, owner);
  auto spread = [&](const Tensor &parameter) { return composed("Gather", {parameter, owners}, {{"axis", axis}}); };
  Tensor zero = wideScalar(call.input(0).type() == DType::U8 ? 1 << (bits - 1) : 0);
  if (call.has(3)) {
    Tensor zeros = unpacked(taken(call.input(3)), bits); // with an odd number of blocks, the last half byte is unused
    auto one = [](int64_t value) { return store(DType::I64, {1}, std::vector<int64_t>{value}); };
    zero = spread(composed("Slice", {zeros, one(0), one(scales.shape()[last]), one(last)}));
  }
  Tensor y = composed("Mul", {composed("Sub", {data, zero}), spread(scales)});
  if (late)
    y = composed("Gather", {y, call.input(1)}, {{"axis", from}});
  call.give(0, convert(y, call.input(2).type()));
}

} // namespace tilewright::reference
