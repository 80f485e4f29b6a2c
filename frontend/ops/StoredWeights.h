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

/// Whether the node dequantizes a constant matrix of four bits that stays packed: it has 4,096 elements or more, in
/// whole blocks of even size, and parameters that are constants of float32, float16 or bfloat16; and its only reader is
/// one product or gather. With other or several readers it is dequantized once, when compiling.
bool isStoredMatrix(const NodeBuilder &b);
/// The result of such a node.
Term dequantizedMatrix(NodeBuilder &b);

} // namespace tilewright::ops
