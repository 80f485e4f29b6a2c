// SPDX-License-Identifier: Apache-2.0
// Weights of few bits that stay packed in the graph: shifted, masked and scaled where a product multiplies them.
//
//   K = blocks * block
//   bytes [K * bits / 8, N]   neighbours in a row belong to neighbouring columns of the product, and the numbers of a
//                             byte follow each other along K, low bits first
//   scale, zero [blocks, N]   of `block` numbers along K each
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

struct StoredWeights {
  int64_t bits; // 2, 4 or 8; unsigned
  int64_t block, blocks, n;
  Tensor bytes;
};

/// (number - zero) * scale as floats, [blocks * block, N]. `scale` is [blocks, N] of floats, and so is `zero` unless it
/// is the same for all.
Term dequantized(NodeBuilder &b, const StoredWeights &weights, Term scale, Term zero);
Term dequantized(NodeBuilder &b, const StoredWeights &weights, Term scale, double zero);

/// A zero point for each block, a byte each, as floats: `zeros` is [blocks, N] of U8.
Term zeroPoints(NodeBuilder &b, const Tensor &zeros);

/// Whether a DequantizeLinear is of a matrix of constants of four bits that stays packed: of 4,096 elements or more, in
/// whole blocks of even size, with parameters that are constants of float32, float16 or bfloat16. One product or gather
/// reads it: for others, or several, it is dequantized once, when compiling.
bool isStoredMatrix(const NodeBuilder &b);
/// Such a node's result.
Term dequantizedMatrix(NodeBuilder &b);

} // namespace tilewright::ops
