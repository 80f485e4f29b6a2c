// SPDX-License-Identifier: Apache-2.0
// Random convolutions, poolings and resizes.
#include "tests/fusion/RandomModelGrower.h"

using namespace tilewright;
using namespace tilewright::test;

Grower::Result Grower::convolution(const Node &x) {
  if (x.rank() < 3 || x.rank() > 5 || !x.known[1])
    return {};
  size_t spatial = x.rank() - 2;
  int64_t channels = x.shape[1][0], kernel = 1 + 2 * pick(2), stride = 1 + pick(2), dilation = 1 + pick(2),
          low = pick(kernel / 2 + 1);
  int64_t group = channels % 2 == 0 && pick(3) == 0 ? (pick(2) ? channels : 2) : 1, filters = group * (1 + pick(3));
  Extents shape = {x.shape[0], fixed(filters)};
  for (size_t i = 0; i < spatial; ++i) {
    shape.push_back(
        map(x.shape[2 + i], [&](int64_t size) { return (size + 2 * low - dilation * (kernel - 1) - 1) / stride + 1; }));
    if (least(x.shape[2 + i]) + 2 * low < dilation * (kernel - 1) + 1)
      return {};
  }
  std::vector<int64_t> filter(x.rank(), kernel);
  filter[0] = filters;
  filter[1] = channels / group;
  std::vector<int64_t> ones(spatial, 1), strides(spatial, stride), dilations(spatial, dilation), pads(2 * spatial, low);
  std::vector<bool> known = x.known;
  return Node{model.op("Conv", {x.value, weight(filter), weight({filters})},
                       {{"group", group}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}}),
              shape, known};
}

Grower::Result Grower::transposedConvolution(const Node &x) {
  if (x.rank() < 3 || x.rank() > 4 || !x.known[1])
    return {};
  size_t spatial = x.rank() - 2;
  int64_t channels = x.shape[1][0], kernel = 2 + pick(2), stride = 1 + pick(2),
          group = channels % 2 == 0 && pick(3) == 0 ? 2 : 1, each = 1 + pick(3);
  int64_t extra = stride > 1 ? pick(2) : 0;
  Extents shape = {x.shape[0], fixed(group * each)};
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back(map(x.shape[2 + i], [&](int64_t size) { return (size - 1) * stride + kernel + extra; }));
  std::vector<int64_t> filter(x.rank(), kernel), strides(spatial, stride), extras(spatial, extra);
  filter[0] = channels;
  filter[1] = each;
  return Node{model.op("ConvTranspose", {x.value, weight(filter)},
                       {{"group", group}, {"strides", strides}, {"output_padding", extras}}),
              shape, x.known};
}

Grower::Result Grower::pooling(const Node &x) {
  if (x.rank() < 3 || x.rank() > 5)
    return {};
  size_t spatial = x.rank() - 2;
  int64_t kernel = 2 + pick(2), stride = 1 + pick(2), low = pick(2), ceil = pick(2);
  Extents shape = {x.shape[0], x.shape[1]};
  for (size_t i = 0; i < spatial; ++i) {
    if (least(x.shape[2 + i]) + 2 * low < kernel + stride)
      return {};
    shape.push_back(map(x.shape[2 + i], [&](int64_t size) {
      int64_t room = size + 2 * low - kernel, steps = ceil ? (room + stride - 1) / stride : room / stride;
      return steps + 1 - (ceil && steps * stride >= size + low); // no window starts in the padding behind the image
    }));
  }
  std::vector<int64_t> kernels(spatial, kernel), strides(spatial, stride), pads(2 * spatial, low);
  if (pick(2))
    return Node{model.op("MaxPool", {x.value},
                         {{"kernel_shape", kernels}, {"strides", strides}, {"pads", pads}, {"ceil_mode", ceil}}),
                shape, x.known};
  return Node{model.op("AveragePool", {x.value},
                       {{"kernel_shape", kernels},
                        {"strides", strides},
                        {"pads", pads},
                        {"ceil_mode", ceil},
                        {"count_include_pad", pick(2)}}),
              shape, x.known};
}

Grower::Result Grower::resize(const Node &x) {
  if (x.rank() != 4)
    return {};
  Extents shape = x.shape;
  for (size_t i = 2; i < 4; ++i)
    shape[i] = map(shape[i], [](int64_t size) { return 2 * size; });
  models::Value scales = model.op("Cast", {integers({1, 1, 2, 2})}, {{"to", int64_t(1)}});
  if (pick(2))
    return Node{
        model.op("Resize", {x.value, {}, scales},
                 {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}),
        shape, x.known};
  return Node{model.op("Resize", {x.value, {}, scales}, {{"mode", "linear"}}), shape, x.known};
}
