// SPDX-License-Identifier: Apache-2.0
// com.microsoft: operators that ONNX Runtime's optimizers fuse from two to five standard ones, and copies of old
// operators.
#include "runtime/reference/Compose.h"
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewright::reference {

//===- Products ---------------------------------------------------------------------------------------------------===//

/// An operand of FusedMatMul with its matrix dimensions last. With `batch`, the first dimension holds the matrix's
/// rows.
static Tensor factor(Call &call, int64_t i, bool batch, bool transposed) {
  const Tensor &x = call.input(i);
  std::vector<int64_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  if (x.rank() < 2)
    return wide(x);
  if (batch)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (transposed)
    std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  return transpose(wide(x), order);
}

/// alpha * op(A) op(B), then the activation of FusedMatMulActivation.
void fusedMatMul(Call &call) {
  Tensor a = factor(call, 0, call.integer("transBatchA", 0), call.integer("transA", 0)),
         b = factor(call, 1, call.integer("transBatchB", 0), call.integer("transB", 0));
  Tensor y = composed("Mul", {composed("MatMul", {a, b}), wideScalar(call.real("alpha", 1))});
  call.give(0, convert(activated(call, y), call.input(0).type()));
}

void fusedGemm(Call &call) {
  Tensor c = call.has(2) ? wide(call.input(2)) : Tensor();
  Tensor y = composed("Gemm", {wide(call.input(0)), wide(call.input(1)), c},
                      selected(call, {"alpha", "beta", "transA", "transB"}));
  call.give(0, convert(activated(call, y), call.input(0).type()));
}

void gemmFastGelu(Call &call) {
  Tensor y = composed("MatMul", {wide(call.input(0)), wide(call.input(1))});
  if (call.has(2))
    y = composed("Add", {y, wide(call.input(2))});
  call.give(0, convert(composed("Gelu", {y}, {{"approximate", std::string("tanh")}}), call.input(0).type()));
}

//===- Images -----------------------------------------------------------------------------------------------------===//

/// activation(Conv(X, W, B) + Z), optionally with channels last.
static void convolve(Call &call, bool last) {
  auto image = [&](int64_t i) { return last ? channelsFirst(wide(call.input(i))) : wide(call.input(i)); };
  Tensor y = composed("Conv", {image(0), wide(call.input(1)), call.has(2) ? wide(call.input(2)) : Tensor()},
                      selected(call, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  if (call.has(3)) {
    Tensor z = image(3);
    require(z.shape() == y.shape(), "expected a tensor to add of shape {}, found {}", y.shape(), z.shape());
    y = composed("Add", {y, z});
  }
  y = convert(activated(call, y), call.input(0).type());
  call.give(0, last ? channelsLast(y) : y);
}

void fusedConv(Call &call) { convolve(call, false); }
void nhwcConv(Call &call) { convolve(call, true); }

void nhwcMaxPool(Call &call) {
  call.give(0, channelsLast(composed("MaxPool", {channelsFirst(call.input(0))}, call.attributes())));
}

/// ConvTranspose with pads as an input.
void convTransposeWithDynamicPads(Call &call) {
  Attributes attributes = call.attributes();
  if (call.has(2))
    attributes["pads"] = call.indices(2);
  call.give(
      0, composed("ConvTranspose", {call.input(0), call.input(1), call.has(3) ? call.input(3) : Tensor()}, attributes));
}

/// Group normalization of x + skip + bias, images with channels last or first, then optionally SiLU.
void channelGroupNorm(Call &call) {
  bool last = call.integer("channels_last", 1), skips = call.op() == "SkipGroupNorm";
  Tensor x = wide(call.input(0));
  require(x.rank() >= 3, "expected an image of rank 3 or more, found shape {}", x.shape());
  if (skips) {
    Tensor skip = wide(call.input(3));
    if (skip.rank() == 2) { // [N, C]
      Shape shape(x.rank(), 1);
      shape[0] = skip.shape()[0], shape[last ? x.rank() - 1 : 1] = skip.shape()[1];
      skip = skip.reshaped(shape);
    }
    x = composed("Add", {x, skip});
    if (call.has(4)) {
      Shape shape(last ? 1 : x.rank() - 1, 1);
      shape[0] = call.input(4).count();
      x = composed("Add", {x, wide(call.input(4)).reshaped(shape)});
    }
    require(x.shape() == call.input(0).shape(), "expected a skip that broadcasts to {}, found {}",
            call.input(0).shape(), call.input(3).shape());
  }
  Tensor y = composed(
      "GroupNormalization", {last ? channelsFirst(x) : x, wide(call.input(1)), wide(call.input(2))},
      {{"num_groups", call.integer("groups", 1)}, {"epsilon", static_cast<float>(call.real("epsilon", 1e-5))}});
  int64_t activation = call.integer("activation", 0);
  require(activation == 0 || activation == 1, "expected activation to be 0 (none) or 1 (SiLU), found {}", activation);
  if (activation == 1)
    y = composed("Mul", {y, composed("Sigmoid", {y})});
  call.give(0, convert(last ? channelsLast(y) : y, call.input(0).type()));
  if (skips && call.wants(1))
    call.give(1, convert(x, call.input(0).type()));
}

/// Bilinear or nearest samples of boxes [y1, x1, y2, x2] in units of the image's size; corners are aligned.
void cropAndResize(Call &call) {
  const Tensor &image = call.input(0), &boxes = call.input(1);
  require(image.rank() == 4 && boxes.rank() == 2 && boxes.shape()[1] == 4,
          "expected an image of rank 4 and boxes [n, 4], found {} and {}", image.shape(), boxes.shape());
  std::vector<int64_t> batches = call.indices(2), crop = call.indices(3);
  int64_t count = boxes.shape()[0], channels = image.shape()[1], height = image.shape()[2], width = image.shape()[3];
  require(static_cast<int64_t>(batches.size()) == count && crop.size() == 2 && crop[0] > 0 && crop[1] > 0,
          "expected an image number for each of {} boxes and two positive crop sizes, found {} and {}", count,
          batches.size(), crop);
  std::string mode = call.text("mode", "bilinear");
  require(mode == "bilinear" || mode == "nearest", "expected mode to be bilinear or nearest, found '{}'", mode);
  Shape shape{count, channels, crop[0], crop[1]};
  checkSize(DType::F64, shape);
  std::vector<double> result;
  result.reserve(product(shape));
  Values<double> pixels(image), box(boxes);
  auto place = [](double low, double high, int64_t size, int64_t at, int64_t steps) {
    return steps > 1 ? low * (size - 1) + at * (high - low) * (size - 1) / (steps - 1)
                     : 0.5 * (low + high) * (size - 1);
  };
  for (int64_t n = 0; n < count; ++n) {
    require(0 <= batches[n] && batches[n] < image.shape()[0], "index {} is out of range for dimension 0 of size {}",
            batches[n], image.shape()[0]);
    for (int64_t c = 0; c < channels; ++c) {
      const double *plane = pixels.data() + (batches[n] * channels + c) * height * width;
      for (int64_t i = 0; i < crop[0]; ++i)
        for (int64_t j = 0; j < crop[1]; ++j) {
          double y = place(box[n * 4], box[n * 4 + 2], height, i, crop[0]),
                 x = place(box[n * 4 + 1], box[n * 4 + 3], width, j, crop[1]);
          if (!(y >= 0 && y <= height - 1 && x >= 0 && x <= width - 1)) {
            result.push_back(call.real("extrapolation_value", 0));
          } else if (mode == "nearest") {
            result.push_back(plane[std::lround(y) * width + std::lround(x)]);
          } else {
            auto top = static_cast<int64_t>(y), left = static_cast<int64_t>(x),
                 bottom = static_cast<int64_t>(std::ceil(y)), right = static_cast<int64_t>(std::ceil(x));
            double dy = y - top, dx = x - left;
            result.push_back((plane[top * width + left] * (1 - dx) + plane[top * width + right] * dx) * (1 - dy) +
                             (plane[bottom * width + left] * (1 - dx) + plane[bottom * width + right] * dx) * dy);
          }
        }
    }
  }
  call.give(0, image.type(), shape, result);
}

//===- Rows -------------------------------------------------------------------------------------------------------===//

/// RMSNormalization under its name before opset 23. Output 1 is the inverse root mean square.
void simplifiedLayerNormalization(Call &call) {
  Tensor x = wide(call.input(0));
  int64_t axis = normalizeAxis(call.integer("axis", -1), x.rank());
  Tensor y = composed("RMSNormalization", {x, wide(call.input(1))}, selected(call, {"axis", "epsilon"}), 23);
  call.give(0, convert(y, call.input(1).type()));
  if (!call.wants(1))
    return;
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < x.rank(); ++i)
    axes.push_back(i);
  Tensor squares = composed("ReduceMean", {composed("Mul", {x, x})}, {{"axes", axes}}, 13);
  Tensor root = composed("Sqrt", {composed("Add", {squares, wideScalar(call.real("epsilon", 1e-5))})});
  call.give(1, convert(composed("Reciprocal", {root}), DType::F32));
}

/// Rows of a table at indices [batch, sequence].
static Tensor embedding(Call &call, int64_t table, const Tensor &ids) {
  require(call.input(table).rank() == 2, "expected a table of rank 2, found shape {}", call.input(table).shape());
  return composed("Gather", {wide(call.input(table)), ids});
}

/// LayerNormalization of word + position (+ segment) embeddings; output 1 counts the words of each row of the mask.
void embedLayerNormalization(Call &call) {
  const Tensor &ids = call.input(0);
  require(ids.rank() == 2, "expected words [batch, sequence], found shape {}", ids.shape());
  int64_t batch = ids.shape()[0], steps = ids.shape()[1];
  Tensor positions = call.has(8) ? call.input(8) : store(DType::I64, {1, steps}, identityMap(steps));
  Tensor sum = composed("Add", {embedding(call, 2, ids), embedding(call, 3, positions)});
  if (call.has(1) && call.has(4))
    sum = composed("Add", {sum, embedding(call, 4, call.input(1))});
  Tensor y = composed("LayerNormalization", {sum, wide(call.input(5)), wide(call.input(6))},
                      {{"epsilon", static_cast<float>(call.real("epsilon", 1e-12))}});
  DType type = call.input(2).type();
  call.give(0, convert(y, type));
  if (call.wants(1)) {
    std::vector<int64_t> words(batch, 0);
    if (call.has(7)) {
      require(call.input(7).shape() == ids.shape(), "expected a mask of shape {}, found {}", ids.shape(),
              call.input(7).shape());
      Values<int64_t> mask(call.input(7));
      for (int64_t i = 0; i < mask.size(); ++i)
        words[i / steps] += mask[i] == 1;
    }
    call.give(1, DType::I32, {batch}, words);
  }
  if (call.wants(2))
    call.give(2, convert(sum, type));
}

/// Softmax of data + bias over everything from `axis` on.
void biasSoftmax(Call &call) {
  Tensor sum = composed("Add", {wide(call.input(0)), wide(call.input(1))});
  require(sum.shape() == call.input(0).shape(), "expected a bias that broadcasts to {}, found {}",
          call.input(0).shape(), call.input(1).shape());
  call.give(0, convert(composed("Softmax", {sum}, {{"axis", call.integer("axis", 1)}}, 11), call.input(0).type()));
}

/// The left half of x + bias times Gelu of the right half.
void biasSplitGelu(Call &call) {
  Tensor x = composed("Add", {wide(call.input(0)), wide(call.input(1))});
  require(x.rank() >= 1 && x.shape().back() % 2 == 0, "expected an even last dimension, found shape {}", x.shape());
  std::vector<Tensor> halves = composedAll("Split", {x}, {{"axis", int64_t(-1)}}, 2, 13);
  call.give(0, convert(composed("Mul", {halves[0], composed("Gelu", {halves[1]})}), call.input(0).type()));
}

void biasAdd(Call &call) {
  Tensor sum = composed("Add", {composed("Add", {wide(call.input(0)), wide(call.input(1))}), wide(call.input(2))});
  call.give(0, convert(sum, call.input(0).type()));
}

//===- Copies of standard operators, and small ones ---------------------------------------------------------------===//

void expandDims(Call &call) {
  const Tensor &x = call.input(0);
  Shape shape = x.shape();
  shape.insert(shape.begin() + normalizeAxis(call.index(1), x.rank() + 1), 1);
  call.give(0, x.reshaped(shape));
}

void contribPad(Call &call) {
  Tensor pads = call.input(1).reshaped({call.input(1).count()}),
         value = call.has(2) ? call.input(2).reshaped({}) : Tensor();
  call.give(0, composed("Pad", {call.input(0), pads, value}, call.attributes(), 13));
}

/// The distinct values in order of first occurrence, the index of each element among them, their counts.
void contribUnique(Call &call) {
  std::vector<Tensor> all = composedAll("Unique", {call.input(0)}, {{"sorted", int64_t(0)}}, 4, 11);
  call.give(0, all[0]);
  call.give(1, all[2]);
  call.give(2, all[3]);
}

/// The inverse, by Gauss-Jordan elimination with partial pivoting.
static std::vector<double> inverted(std::vector<double> a, int64_t n) {
  std::vector<double> b(n * n);
  for (int64_t i = 0; i < n; ++i)
    b[i * n + i] = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t r = k + 1; r < n; ++r)
      if (std::abs(a[r * n + k]) > std::abs(a[pivot * n + k]))
        pivot = r;
    std::swap_ranges(a.begin() + pivot * n, a.begin() + (pivot + 1) * n, a.begin() + k * n);
    std::swap_ranges(b.begin() + pivot * n, b.begin() + (pivot + 1) * n, b.begin() + k * n);
    for (int64_t r = 0; r < n; ++r) {
      double share = r == k ? 1 - 1 / a[k * n + k] : a[r * n + k] / a[k * n + k]; // row k is divided by its pivot
      for (int64_t c = 0; c < n; ++c) {
        double x = a[k * n + c], y = b[k * n + c];
        a[r * n + c] -= share * x, b[r * n + c] -= share * y;
      }
      if (r == k)
        a[k * n + k] = 1;
    }
  }
  return b;
}

void inverse(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() >= 2 && x.shape().back() == x.shape()[x.rank() - 2], "expected square matrices, found shape {}",
          x.shape());
  int64_t n = x.shape().back();
  Values<double> values(x);
  std::vector<double> result;
  for (int64_t m = 0; n > 0 && m < values.size(); m += n * n) {
    std::vector<double> one = inverted({values.data() + m, values.data() + m + n * n}, n);
    result.insert(result.end(), one.begin(), one.end());
  }
  call.give(0, x.type(), x.shape(), result);
}

/// Sets the score of each word that would repeat an n-gram of `ngram_size` words to -infinity.
void nGramRepeatBlock(Call &call) {
  const Tensor &ids = call.input(0), &scores = call.input(1);
  int64_t size = call.integer("ngram_size", 0);
  require(size > 0 && ids.rank() == 2 && scores.rank() == 2 && ids.shape()[0] == scores.shape()[0],
          "expected words and scores of one batch and a positive ngram_size, found {}, {} and {}", ids.shape(),
          scores.shape(), size);
  int64_t steps = ids.shape()[1], words = scores.shape()[1];
  Values<int64_t> word(ids);
  Values<double> values(scores);
  std::vector<double> result(values.begin(), values.end());
  for (int64_t n = 0; n < ids.shape()[0] && steps + 1 >= size; ++n) {
    const int64_t *row = word.data() + n * steps;
    for (int64_t i = 0; i + size <= steps; ++i)
      if (std::equal(row + i, row + i + size - 1, row + steps - size + 1)) {
        int64_t next = row[i + size - 1];
        require(0 <= next && next < words, "index {} is out of range for dimension 1 of size {}", next, words);
        result[n * words + next] = -HUGE_VAL;
      }
  }
  call.give(0, scores.type(), scores.shape(), result);
}

} // namespace tilewright::reference
