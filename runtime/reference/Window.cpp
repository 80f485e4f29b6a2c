// SPDX-License-Identifier: Apache-2.0
// The arithmetic of sliding windows: output sizes, automatic padding, and which element each tap reads.
#include "runtime/reference/Window.h"

#include "runtime/reference/Shapes.h"

#include <algorithm>

namespace tilewright::reference {

static constexpr int64_t largest = int64_t{1}
                                   << 40; // sums of such numbers fit into 64 bits; products below are checked

Shape windowAttribute(Call &call, std::string_view attribute, size_t length, int64_t otherwise) {
  Shape values = call.integers(attribute).value_or(Shape(length, otherwise));
  if (values.empty())
    values.assign(length, otherwise);
  require(values.size() == length, "expected {} values in '{}', found {}", length, attribute, values.size());
  for (int64_t value : values)
    require(-largest < value && value < largest, "expected '{}' of a sane size, found {}", attribute, value);
  return values;
}

static int64_t ceilDivide(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

Window::Window(Call &call, Shape inputSizes, Shape kernelSizes)
    : input(std::move(inputSizes)), kernel(std::move(kernelSizes)) {
  size_t rank = input.size();
  require(kernel.size() == rank, "expected a kernel of {} dimensions, found {}", rank, kernel);
  strides = windowAttribute(call, "strides", rank, 1);
  dilations = windowAttribute(call, "dilations", rank, 1);
  Shape pads = windowAttribute(call, "pads", 2 * rank, 0);
  padsBegin.assign(pads.begin(), pads.begin() + static_cast<int64_t>(rank));
  padsEnd.assign(pads.begin() + static_cast<int64_t>(rank), pads.end());
  std::string automatic = call.text("auto_pad", "NOTSET");
  bool ceilMode = call.integer("ceil_mode", 0);
  for (size_t d = 0; d < rank; ++d) {
    require(kernel[d] >= 1 && kernel[d] < largest && strides[d] >= 1 && dilations[d] >= 1 && input[d] < largest,
            "expected kernel, strides and dilations of 1 or more, found {}, {}, {}", kernel, strides, dilations);
    require(padsBegin[d] >= 0 && padsEnd[d] >= 0, "expected pads of 0 or more, found {}", pads);
    int64_t extent = 0;
    require(!__builtin_mul_overflow(kernel[d] - 1, dilations[d], &extent) && extent < largest,
            "the kernel {} dilated by {} is too large", kernel, dilations);
    extent += 1;
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      output.push_back(ceilDivide(input[d], strides[d]));
      int64_t total = std::max<int64_t>(0, (output[d] - 1) * strides[d] + extent - input[d]);
      padsBegin[d] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      padsEnd[d] = total - padsBegin[d];
      continue;
    }
    if (automatic == "VALID")
      padsBegin[d] = padsEnd[d] = 0;
    else
      require(automatic == "NOTSET", "expected auto_pad to be NOTSET, SAME_UPPER, SAME_LOWER or VALID, found '{}'",
              automatic);
    int64_t room = input[d] + padsBegin[d] + padsEnd[d] - extent;
    require(room >= 0, "a kernel that spans {} does not fit into a dimension of {} padded by {} and {}", extent,
            input[d], padsBegin[d], padsEnd[d]);
    int64_t size = (ceilMode ? ceilDivide(room, strides[d]) : room / strides[d]) + 1;
    if (ceilMode && (size - 1) * strides[d] >= input[d] + padsBegin[d])
      --size; // ceil_mode: a window must not start in the padding at the end
    output.push_back(size);
  }
  checkSize(DType::I64, {taps(), 1024}); // the size of one block of the table of `sources`
}

int64_t Window::taps() const { return product(kernel); }
int64_t Window::outputs() const { return product(output); }

void Window::sources(int64_t first, int64_t count, int64_t *table) const {
  size_t rank = input.size();
  Shape inputStrides = stridesOf(input), at(rank), tap(rank, 0);
  int64_t *entry = table;
  do {
    for (int64_t rest = first, d = static_cast<int64_t>(rank) - 1; d >= 0; --d) {
      at[d] = rest % output[d];
      rest /= output[d];
    }
    for (int64_t i = 0; i < count; ++i, ++entry, advanceIndex(at, output)) {
      *entry = 0;
      for (size_t d = 0; d < rank; ++d) {
        int64_t position = at[d] * strides[d] + tap[d] * dilations[d] - padsBegin[d];
        bool inside = 0 <= position && position < input[d];
        if (inside && *entry >= 0)
          *entry += position * inputStrides[d];
        else if (!inside)
          *entry = std::min(*entry, position >= input[d] + padsEnd[d] ? beyond : padding);
      }
    }
  } while (advanceIndex(tap, kernel));
}

} // namespace tilewright::reference
