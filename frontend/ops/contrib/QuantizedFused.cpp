// SPDX-License-Identifier: Apache-2.0
// com.microsoft: the QLinear operators, integer products with scales, and weights quantized to few bits in blocks.
#include "frontend/ops/Compose.h"
#include "frontend/ops/Handlers.h"
#include "frontend/ops/StoredWeights.h"

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

namespace tilewright::ops {
namespace {

//===- Dequantize, an operator on floats, quantize ----------------------------------------------------------------===//

/// Dequantizes input `value`; the next two inputs are its scale and zero point.
ImportedValue *realOf(NodeBuilder &b, size_t value) {
  return composed(b, "DequantizeLinear", {given(b, value), given(b, value + 1), given(b, value + 2)});
}

/// Sets output 0 to y, quantized with input `scale` and the zero point after it, in the type of input `like`.
void giveQuantized(NodeBuilder &b, ImportedValue *y, size_t scale, size_t like) {
  ImportedValue *zero = given(b, scale + 1);
  if (!zero)
    zero = constantOf(b, Tensor::allocate(b.type(like), {}));
  give(b, composed(b, "QuantizeLinear", {y, given(b, scale), zero}));
}

} // namespace

void qLinearBinary(NodeBuilder &b) {
  giveQuantized(b, composed(b, b.node.op == "QLinearAdd" ? "Add" : "Mul", {realOf(b, 0), realOf(b, 3)}), 6, 0);
}

void qLinearUnary(NodeBuilder &b) {
  giveQuantized(
      b, composed(b, b.node.op == "QLinearSigmoid" ? "Sigmoid" : "LeakyRelu", {realOf(b, 0)}, selected(b, {"alpha"})),
      3, 0);
}

void qLinearSoftmax(NodeBuilder &b) {
  int64_t opset = b.integer("opset", 13) < 13 ? 11 : 13;
  giveQuantized(b, composed(b, "Softmax", {realOf(b, 0)}, selected(b, {"axis"}), opset), 3, 0);
}

void qLinearWhere(NodeBuilder &b) {
  giveQuantized(b, composed(b, "Where", {given(b, 0), realOf(b, 1), realOf(b, 4)}), 7, 1);
}

void qLinearConcat(NodeBuilder &b) {
  b.expect(b.node.inputs.size() >= 5 && b.node.inputs.size() % 3 == 2,
           fmt::format("expected two inputs and three for each part, got {}", b.node.inputs.size()));
  SmallVector<ImportedValue *> parts;
  for (size_t i = 2; i < b.node.inputs.size(); i += 3)
    parts.push_back(realOf(b, i));
  giveQuantized(b, composed(b, "Concat", parts, selected(b, {"axis"})), 0, 2);
}

void qLinearPool(NodeBuilder &b) {
  bool last = b.integer("channels_last", 0);
  ImportedValue *x = last ? imageFirst(b, realOf(b, 0)) : realOf(b, 0);
  Attributes attributes =
      selected(b, {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"});
  ImportedValue *y =
      composed(b, std::string_view(b.node.op).substr(std::string_view("QLinear").size()), {x}, attributes, 19);
  giveQuantized(b, last ? imageLast(b, y) : y, 3, 0);
}

void qLinearReduceMean(NodeBuilder &b) {
  giveQuantized(b, composed(b, "ReduceMean", {realOf(b, 0)}, selected(b, {"axes", "keepdims"}), 13), 3, 0);
}

void contribQLinearConv(NodeBuilder &b) {
  bool last = b.integer("channels_last", 0);
  SmallVector<ImportedValue *> inputs(b.node.inputs.begin(), b.node.inputs.end());
  if (last && !inputs.empty())
    inputs[0] = imageFirst(b, inputs[0]);
  Attributes attributes = selected(b, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
  ImportedValue *y = composed(b, "QLinearConv", inputs, attributes);
  give(b, last ? imageLast(b, y) : y);
}

//===- Products of integers ---------------------------------------------------------------------------------------===//

namespace {

/// Reshapes a vector of one element to a scalar, which broadcasts to any rank.
Term scalarOrVector(NodeBuilder &b, Term x) {
  return x.rank() == 1 && graph::constantSize(x.sizes()[0]) == 1 ? b.reshape(x, {}) : x;
}

Term scaled(NodeBuilder &b, ImportedValue *sum, Term left, Term right) {
  Term y = b.convert(b.term(b.state.materialize(*sum)), DType::I32, DType::F32);
  return y * (scalarOrVector(b, left) * scalarOrVector(b, right));
}

} // namespace

void qGemm(NodeBuilder &b) {
  auto turned = [&](size_t i, bool turn) {
    b.expectRank(i, 2);
    return turn ? valueOf(b, b.transpose(b.raw(i), {1, 0}), b.type(i)) : given(b, i);
  };
  ImportedValue *sum =
      composed(b, "MatMulInteger",
               {turned(0, b.integer("transA", 0)), turned(3, b.integer("transB", 0)), given(b, 2), given(b, 5)});
  if (b.has(6))
    sum = composed(b, "Add", {sum, given(b, 6)});
  Term y = scaled(b, sum, b.in(1), b.in(4));
  if (double alpha = b.real("alpha", 1); alpha != 1)
    y = y * alpha;
  if (!b.has(7))
    return b.out(y, DType::F32);
  giveQuantized(b, valueOf(b, y, DType::F32), 7, 0);
}

void matMulIntegerToFloat(NodeBuilder &b) {
  Term y =
      scaled(b, composed(b, "MatMulInteger", {given(b, 0), given(b, 1), given(b, 4), given(b, 5)}), b.in(2), b.in(3));
  b.out(b.has(6) ? y + b.in(6) : y, b.type(2));
}

Term productWithBytes(NodeBuilder &b, ImportedValue *x, ImportedValue *weights, ImportedValue *scale,
                      ImportedValue *zero) {
  SmallVector<ImportedValue *> bytes = composedAll(b, "DynamicQuantizeLinear", {x}, {}, 3);
  return scaled(b, composed(b, "MatMulInteger", {bytes[0], weights, bytes[2], zero}), termOf(b, bytes[1]),
                termOf(b, scale));
}

void dynamicQuantizeMatMul(NodeBuilder &b) {
  Term y = productWithBytes(b, given(b, 0), given(b, 1), &b.input(2), given(b, 3));
  b.out(b.has(4) ? y + b.in(4) : y, b.type(0));
}

//===- Blocks of a few bits ---------------------------------------------------------------------------------------===//

namespace {

/// Unpacks numbers of `bits` bits from bytes, low bits first: rows of `width` numbers that each start at a byte.
std::vector<int64_t> unpackedConstant(const Tensor &packed, int64_t rows, int64_t width, int64_t bits) {
  std::vector<int64_t> numbers;
  int64_t rowBytes = (width * bits + 7) / 8;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < width; ++i)
      numbers.push_back(packed.data<uint8_t>()[row * rowBytes + i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1));
  return numbers;
}

struct BlockWeights {
  int64_t bits, k, n, block, blocks;

  explicit BlockWeights(NodeBuilder &b)
      : bits(b.integer("bits", 4)), k(b.integer("K", 0)), n(b.integer("N", 0)), block(b.integer("block_size", 0)) {
    b.expect(k > 0 && n > 0 && block >= 8 && k <= 1 << 30 && n <= 1 << 30 && block <= 1 << 20,
             fmt::format("expected positive K and N and a block_size of 8 or more, got {}, {} and {}", k, n, block));
    b.expect(block * bits % 8 == 0,
             fmt::format("expected blocks of whole bytes, got {} numbers of {} bits", block, bits));
    blocks = llvm::divideCeil(k, block);
  }
};

/// Weights of few bits as kernels read them, [K * bits / 8, N] of bytes: neighbours in a row belong to neighbouring
/// columns of the product, and the numbers of a byte follow each other along K, low bits first.
Tensor turned(const BlockWeights &w, const Tensor &packed) {
  int64_t rowBytes = w.blocks * w.block * w.bits / 8;
  Tensor result = Tensor::allocate(DType::U8, {rowBytes, w.n});
  constexpr int64_t together = 64; // columns and rows of a block that stays in the first-level cache
  for (int64_t column = 0; column < w.n; column += together)
    for (int64_t row = 0; row < rowBytes; row += together)
      for (int64_t i = row; i < std::min(row + together, rowBytes); ++i)
        for (int64_t j = column; j < std::min(column + together, w.n); ++j)
          result.data<uint8_t>()[i * w.n + j] = packed.data<uint8_t>()[j * rowBytes + i];
  return result;
}

/// The zero points of packed bytes, a byte each: [blocks, N].
Tensor unpackedZeros(const BlockWeights &w, const Tensor &zeros) {
  std::vector<int64_t> numbers = unpackedConstant(zeros, w.n, w.blocks, w.bits);
  Tensor result = Tensor::allocate(DType::U8, {w.blocks, w.n});
  for (int64_t i = 0; i < result.count(); ++i)
    result.data<uint8_t>()[i % w.blocks * w.n + i / w.blocks] = static_cast<uint8_t>(numbers[i]);
  return result;
}

} // namespace

/// A product with weights in blocks along K, which stay packed.
void matMulNBits(NodeBuilder &b) {
  BlockWeights w(b);
  const Tensor *packed = b.constant(1), *zeros = b.constant(3);
  if (w.bits != 2 && w.bits != 4 && w.bits != 8)
    decline("weights of {} bits are not compiled", w.bits);
  if (!packed || packed->type() != DType::U8 || packed->count() != w.n * w.blocks * (w.block * w.bits / 8))
    decline("weights that are no constant of packed bytes are not compiled");
  if (b.has(4) || b.integer("weight_prepacked", 0))
    decline("reordered weights are not compiled");
  bool packedZeros = b.has(3) && b.type(3) == DType::U8;
  if (packedZeros && (!zeros || zeros->count() != w.n * ((w.blocks * w.bits + 7) / 8)))
    decline("zero points that are no constant of packed bytes are not compiled");
  auto byBlock = [&](size_t i) {
    b.unify(b.product(b.sizes(i)), b.number(w.n * w.blocks), fmt::format("elements of input {}", i));
    Term turned = b.transpose(b.reshape(b.raw(i), {b.number(w.n), b.number(w.blocks)}), {1, 0}); // of a constant: one
    return b.convert(turned, b.type(i), DType::F32);
  };
  StoredWeights stored{w.bits, w.block, w.blocks, w.n, turned(w, *packed)};
  Term weights = !b.has(3)     ? dequantized(b, stored, byBlock(2), static_cast<double>(int64_t(1) << (w.bits - 1)))
                 : packedZeros ? dequantized(b, stored, byBlock(2), zeroPoints(b, unpackedZeros(w, *zeros)))
                               : dequantized(b, stored, byBlock(2), byBlock(3));
  if (w.k != w.blocks * w.block)
    weights = b.slice(weights, 0, b.number(0), b.number(w.k));
  Sizes left = b.sizes(0);
  b.expect(!left.empty(), "expected an input of rank 1 or more, got a scalar");
  b.unify(left.back(), b.number(w.k), "K");
  Term rows = b.reshape(b.raw(0), {b.product(ArrayRef(left).drop_back()), b.number(w.k)});
  Term y = b.contract(rows, b.stored(weights, b.type(0)), "mk,kn->mn");
  left.back() = b.number(w.n);
  y = b.reshape(y, left);
  b.out(b.has(5) ? y + b.in(5) : y);
}

/// Gathers rows of a table that is quantized in blocks along the last dimension: as bytes, then unpacked and scaled.
void gatherBlockQuantized(NodeBuilder &b) {
  int64_t bits = b.integer("bits", 4), block = b.integer("block_size", 128), rank = b.rank(0);
  if (b.type(0) != DType::U8 || rank != 2 || (bits != 2 && bits != 4 && bits != 8) ||
      b.axis(b.integer("gather_axis", 0), rank) != 0 || b.axis(b.integer("quantize_axis", 1), rank) != 1)
    decline("this layout of a quantized table is not compiled");
  b.expectRank(2, 2);
  if (b.has(3))
    b.expectRank(3, 2);
  std::optional<int64_t> packed = graph::constantSize(b.sizes(0)[1]), blocks = graph::constantSize(b.sizes(2).back());
  if (!packed || !blocks || block <= 0 || *packed * 8 / bits != *blocks * block)
    decline("a table whose rows are not a whole number of blocks is not compiled");
  Term rows = termOf(b, composed(b, "Gather", {given(b, 0), given(b, 1)}));
  /// [..., bytes] to [..., bytes * 8 / bits] floats.
  auto unpack = [&](Term bytes, DType type) {
    int64_t many = 8 / bits;
    Term x = b.convert(bytes, type, DType::I32);
    if (many == 1)
      return b.convert(x, DType::I32, DType::F32);
    Sizes split = x.sizes(), whole = x.sizes();
    split.push_back(b.number(many)), whole.back() = whole.back() * many;
    Term shift = b.iota(split, x.rank(), x.element()) * b.splatInteger(split, x.element(), bits);
    Term number =
        b.apply<arith::ShRUIOp>(b.broadcast(x, split, llvm::to_vector(llvm::seq<int64_t>(0, x.rank()))), shift);
    number = b.apply<arith::AndIOp>(number, b.splatInteger(split, x.element(), (1 << bits) - 1));
    return b.convert(b.reshape(number, whole), DType::I32, DType::F32);
  };
  Term numbers = unpack(rows, DType::U8);
  Sizes flat = numbers.sizes(), split = flat;
  split.back() = b.number(*blocks), split.push_back(b.number(block));
  auto byBlock = [&](Term parameter) {
    return b.reshape(b.broadcast(parameter, split, llvm::to_vector(llvm::seq<int64_t>(0, parameter.rank()))), flat);
  };
  Term scales = termOf(b, composed(b, "Gather", {given(b, 2), given(b, 1)}));
  if (b.has(3)) {
    Term zeros = unpack(termOf(b, composed(b, "Gather", {given(b, 3), given(b, 1)})), DType::U8);
    numbers = numbers - byBlock(b.slice(zeros, zeros.rank() - 1, b.number(0),
                                        b.number(*blocks))); // the last byte may be half used
  } else {
    numbers = numbers - static_cast<double>(int64_t(1) << (bits - 1));
  }
  b.out(numbers * byBlock(scales), b.type(2));
}

} // namespace tilewright::ops
