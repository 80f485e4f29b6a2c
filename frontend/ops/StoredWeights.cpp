// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/StoredWeights.h"

using namespace mlir;

namespace tilewright::ops {

/// The numbers as floats, [blocks, block, N].
static Term unpacked(NodeBuilder &b, const StoredWeights &w) {
  Term x = b.convert(b.constantTerm(w.bytes), DType::U8, DType::I32);
  if (w.bits < 8) {
    Sizes sizes{x.sizes()[0], b.number(8 / w.bits), x.sizes()[1]};
    Term shift = b.iota(sizes, 1, x.element()) * b.splatInteger(sizes, x.element(), w.bits);
    x = b.apply<arith::ShRUIOp>(b.broadcast(x, sizes, {0, 2}), shift);
    x = b.apply<arith::AndIOp>(x, b.splatInteger(sizes, x.element(), (1 << w.bits) - 1));
  }
  return b.reshape(b.convert(x, DType::I32, DType::F32), {b.number(w.blocks), b.number(w.block), b.number(w.n)});
}

static Term scaled(NodeBuilder &b, const StoredWeights &w, Term centered, Term scale) {
  return b.reshape(centered * b.broadcast(scale, centered.sizes(), {0, 2}),
                   {b.number(w.blocks * w.block), b.number(w.n)});
}

Term dequantized(NodeBuilder &b, const StoredWeights &w, Term scale, Term zero) {
  Term numbers = unpacked(b, w);
  return scaled(b, w, numbers - b.broadcast(zero, numbers.sizes(), {0, 2}), scale);
}

Term dequantized(NodeBuilder &b, const StoredWeights &w, Term scale, double zero) {
  Term numbers = unpacked(b, w);
  return scaled(b, w, zero != 0 ? numbers - zero : numbers, scale);
}

Term zeroPoints(NodeBuilder &b, const Tensor &zeros) { return b.convert(b.constantTerm(zeros), DType::U8, DType::F32); }

//===- DequantizeLinear -------------------------------------------------------------------------------------------===//

/// Smaller matrices are folded at import, because their floats take little memory.
static constexpr int64_t leastElements = 1 << 12;

namespace {
/// The layout of a DequantizeLinear's matrix and its parameters. The depth is the dimension along which numbers are
/// packed into bytes and each `block` of them has one scale: the blocked dimension, or else the one along which all
/// scales are equal.
struct MatrixLayout {
  int64_t depthDim; // the other one is the columns
  int64_t depth, columns, block;
  enum class Parameters { One, OfColumns, OfBlocks } parameters;
};
} // namespace

/// nullopt if parameters have shapes that ONNX does not allow, or if blocks are incomplete or of odd size.
static std::optional<MatrixLayout> layoutOf(const NodeBuilder &b, const Tensor &data, const Tensor &scale) {
  int64_t block = b.integer("block_size", 0), axis = b.integer("axis", 1);
  axis += axis < 0 ? 2 : 0;
  if (data.rank() != 2 || axis < 0 || axis > 1 || block < 0)
    return std::nullopt;
  bool isOne = block == 0 && scale.count() == 1 && scale.rank() <= 1;
  MatrixLayout layout{};
  layout.depthDim = block > 0 ? axis : isOne ? 0 : 1 - axis;
  layout.depth = data.shape()[layout.depthDim], layout.columns = data.shape()[1 - layout.depthDim];
  layout.block = block > 0 ? block : layout.depth;
  layout.parameters = block > 0 ? MatrixLayout::Parameters::OfBlocks
                      : isOne   ? MatrixLayout::Parameters::One
                                : MatrixLayout::Parameters::OfColumns;
  if (layout.depth <= 0 || layout.depth % layout.block != 0 || layout.block % 2 != 0)
    return std::nullopt;
  Shape expected = scale.shape(); // of one number
  if (block > 0)
    expected = data.shape(), expected[axis] = layout.depth / block;
  else if (!isOne)
    expected = {layout.columns};
  return scale.shape() == expected ? std::optional(layout) : std::nullopt;
}

bool isStoredMatrix(const NodeBuilder &b) {
  if (b.node.op != "DequantizeLinear" || !b.has(0) || !b.has(1) || (b.type(0) != DType::I4 && b.type(0) != DType::U4) ||
      (b.type(1) != DType::F32 && !isHalf(b.type(1))) || b.integer("output_dtype", 0) != 0 || !b.node.feedsOneProduct)
    return false;
  const Tensor *data = b.constant(0), *scale = b.constant(1), *zero = b.has(2) ? b.constant(2) : nullptr;
  bool hasZeros = !b.has(2) || (zero && scale && zero->shape() == scale->shape());
  return data && scale && hasZeros && data->count() >= leastElements && layoutOf(b, *data, *scale);
}

Term dequantizedMatrix(NodeBuilder &b) {
  const Tensor &data = *b.constant(0), *zero = b.has(2) ? b.constant(2) : nullptr;
  MatrixLayout layout = *layoutOf(b, data, *b.constant(1));
  bool isSigned = b.type(0) == DType::I4, isTurned = layout.depthDim == 1;
  int64_t blocks = layout.depth / layout.block;
  auto numberAt = [&](const Tensor &tensor, int64_t place) -> unsigned { // signed numbers are 8 larger
    return (tensor.data<uint8_t>()[place] + (isSigned ? 8 : 0)) & 15;
  };
  StoredWeights w{4, layout.block, blocks, layout.columns,
                  Tensor::allocate(DType::U8, {layout.depth / 2, layout.columns})};
  for (int64_t i = 0; i < w.bytes.count(); ++i) {
    int64_t k = i / w.n * 2, column = i % w.n;
    auto at = [&](int64_t depth) { return isTurned ? column * layout.depth + depth : depth * w.n + column; };
    w.bytes.data<uint8_t>()[i] = static_cast<uint8_t>(numberAt(data, at(k)) | numberAt(data, at(k + 1)) << 4);
  }
  // Parameters as [blocks, N]. Parameters of blocks have the data's order of dimensions.
  Sizes byBlock{b.number(blocks), b.number(w.n)};
  bool isOne = layout.parameters == MatrixLayout::Parameters::One,
       areTurned = layout.parameters == MatrixLayout::Parameters::OfBlocks && isTurned;
  Term scale = b.raw(1);
  if (isOne)
    scale = b.broadcast(b.reshape(scale, {}), byBlock, {});
  else if (areTurned)
    scale = b.transpose(b.reshape(scale, {byBlock[1], byBlock[0]}), {1, 0});
  else
    scale = b.reshape(scale, byBlock);
  scale = b.convert(scale, b.type(1), DType::F32);
  Term y = [&] {
    if (!zero || isOne)
      return dequantized(b, w, scale, zero ? numberAt(*zero, 0) : isSigned ? 8.0 : 0.0);
    Tensor zeros = Tensor::allocate(DType::U8, {blocks, w.n});
    for (int64_t i = 0; i < zeros.count(); ++i)
      zeros.data<uint8_t>()[i] = static_cast<uint8_t>(numberAt(*zero, areTurned ? i % w.n * blocks + i / w.n : i));
    return dequantized(b, w, scale, zeroPoints(b, zeros));
  }();
  return isTurned ? b.transpose(y, {1, 0}) : y;
}

} // namespace tilewright::ops
