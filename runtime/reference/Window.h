// SPDX-License-Identifier: Apache-2.0
// A window sliding over spatial dimensions: what convolution, its transpose, pooling and Col2Im have in common.
//
//     in one dimension, with kernel 3, stride 2, dilation 1, one element of padding at each end (.):
//
//         . a b c d e .        output 0 reads (., a, b), output 1 (b, c, d), output 2 (d, e, .)
//
// `sources` lists the input element that each tap of the kernel reads for each output, so that kernels are loops over
// one table for every rank, stride, dilation and padding.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

struct Window {
  static constexpr int64_t padding = -1; // the tap reads padding
  static constexpr int64_t beyond = -2;  // the tap lies outside of the padding too, in a last window of ceil_mode

  Shape input, kernel, strides, dilations, padsBegin, padsEnd, output; // spatial dimensions only

  /// From the attributes strides, dilations, pads, auto_pad and ceil_mode.
  Window(Call &call, Shape input, Shape kernel);
  Window() = default;

  int64_t taps() const;
  int64_t outputs() const;

  /// table[tap * count + i]: the input offset that `tap` of output first + i reads, or padding, or beyond.
  void sources(int64_t first, int64_t count, int64_t *table) const;
};

/// strides, dilations or pads of a call, with their length checked; `otherwise` is the default.
Shape windowAttribute(Call &call, std::string_view name, size_t length, int64_t otherwise);

} // namespace tilewright::reference
