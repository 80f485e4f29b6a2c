// SPDX-License-Identifier: Apache-2.0
// Moving elements of any type by their width in bytes.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// For each index of an output dimension, the index of the input that it reads; `fill` stands for the fill value.
using IndexMap = std::vector<int64_t>;
inline constexpr int64_t fill = -1;

/// y[i, j, ...] = x[maps[0][i], maps[1][j], ...]. Slices, tilings, paddings and nearest-neighbour resizing are this
/// with different maps. `filling` holds one element of x's type, or is undefined for zero.
Tensor pick(const Tensor &x, const std::vector<IndexMap> &maps, const Tensor &filling = {});

/// y's dimension d is x's dimension permutation[d].
Tensor transpose(const Tensor &x, const std::vector<int64_t> &permutation);

/// [batch, sequence, heads * size] as [batch, heads, sequence, size]; tensors of rank 4 are returned unchanged. Throws
/// Failure for other ranks, and if `heads` does not divide the last dimension.
Tensor splitHeads(const Tensor &x, int64_t heads);

/// The inverse of splitHeads.
Tensor joinHeads(const Tensor &x);

/// x repeated to `shape`, to which it must broadcast.
Tensor expandTo(const Tensor &x, const Shape &shape);

/// 0, 1, ..., size - 1.
IndexMap identityMap(int64_t size);

__extension__ using WideWord = unsigned __int128; // complex128

/// Calls `function` with a zero of the unsigned integer as wide as elements of `type`.
template <typename Function> decltype(auto) dispatchWidth(DType type, Function &&function) {
  switch (elementBytes(type)) {
  case 1:
    return function(uint8_t{});
  case 2:
    return function(uint16_t{});
  case 4:
    return function(uint32_t{});
  case 8:
    return function(uint64_t{});
  case 16:
    return function(WideWord{});
  default:
    unsupported(fmt::format("no kernel holds elements of {}", name(type)));
  }
}

} // namespace tilewright::reference
