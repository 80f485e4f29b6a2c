// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements: Transpose, Expand, Tile, Concat, Split, Slice, Pad, Where and their kin.
#include "runtime/reference/Move.h"

#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tilewright::reference {

//===- Gathering and permuting dimensions -------------------------------------------------------------------------===//

IndexMap identityMap(int64_t size) {
  IndexMap map(size);
  std::iota(map.begin(), map.end(), 0);
  return map;
}

Tensor pick(const Tensor &x, const std::vector<IndexMap> &maps, const Tensor &filling) {
  Shape shape, strides = stridesOf(x.shape());
  for (const IndexMap &map : maps)
    shape.push_back(static_cast<int64_t>(map.size()));
  Tensor result = allocate(x.type(), shape);
  if (result.count() == 0)
    return result;
  int64_t rank = x.rank();
  dispatchWidth(x.type(), [&](auto zero) {
    using Word = decltype(zero);
    const Word *from = x.data<Word>();
    Word *to = result.data<Word>(), filler = filling.defined() ? filling.data<Word>()[0] : Word{0};
    if (rank == 0) {
      *to = *from;
      return;
    }
    Shape outer(shape.begin(), shape.end() - 1), index(rank - 1, 0);
    do {
      int64_t base = 0;
      for (int64_t d = 0; d < rank - 1 && base >= 0; ++d)
        base = maps[d][index[d]] == fill ? fill : base + maps[d][index[d]] * strides[d];
      for (int64_t last : maps.back())
        *to++ = base == fill || last == fill ? filler : from[base + last];
    } while (advanceIndex(index, outer));
  });
  return result;
}

Tensor transpose(const Tensor &x, const std::vector<int64_t> &permutation) {
  Shape shape, strides, own = stridesOf(x.shape());
  for (int64_t d : permutation) {
    shape.push_back(x.shape()[d]);
    strides.push_back(own[d]);
  }
  Tensor result = allocate(x.type(), shape);
  dispatchWidth(x.type(), [&](auto zero) {
    using Word = decltype(zero);
    const Word *from = x.data<Word>();
    Word *to = result.data<Word>();
    walk(shape, std::array{strides}, [&](const auto &at) { *to++ = from[at[0]]; });
  });
  return result;
}

Tensor splitHeads(const Tensor &x, int64_t heads) {
  if (x.rank() == 4)
    return x;
  require(x.rank() == 3 && heads >= 1 && x.shape()[2] % heads == 0,
          "expected [batch, sequence, {} heads * size], found shape {}", heads, x.shape());
  return transpose(x.reshaped({x.shape()[0], x.shape()[1], heads, x.shape()[2] / heads}), {0, 2, 1, 3});
}

Tensor joinHeads(const Tensor &x) {
  const Shape &shape = x.shape();
  return transpose(x, {0, 2, 1, 3}).reshaped({shape[0], shape[2], shape[1] * shape[3]});
}

Tensor expandTo(const Tensor &x, const Shape &shape) {
  broadcastStrides(x.shape(), shape);
  Shape aligned(shape.size() - x.shape().size(), 1);
  aligned.insert(aligned.end(), x.shape().begin(), x.shape().end());
  checkSize(x.type(), shape);
  std::vector<IndexMap> maps;
  for (size_t d = 0; d < shape.size(); ++d)
    maps.push_back(aligned[d] == 1 ? IndexMap(shape[d], 0) : identityMap(shape[d]));
  return pick(x.reshaped(aligned), maps);
}

//===- Operators --------------------------------------------------------------------------------------------------===//

void transposeOp(Call &call) {
  const Tensor &x = call.input(0);
  std::vector<int64_t> permutation = identityMap(x.rank());
  std::reverse(permutation.begin(), permutation.end());
  if (auto given = call.integers("perm")) {
    require(static_cast<int64_t>(given->size()) == x.rank(), "expected a permutation of {} axes, found {}", x.rank(),
            *given);
    permutation = normalizeAxes(*given, x.rank());
  }
  call.give(0, transpose(x, permutation));
}

void expand(Call &call) {
  Shape shape = call.indices(1);
  product(shape);
  call.give(0, expandTo(call.input(0), broadcast(call.input(0).shape(), shape)));
}

/// Repeats of every dimension; opset 1 has an axis and its repeats, both scalars of any numeric type.
static std::vector<int64_t> tileRepeats(Call &call) {
  if (call.opset() > 1)
    return call.indices(1);
  std::vector<int64_t> repeats(call.input(0).rank(), 1);
  repeats[normalizeAxis(static_cast<int64_t>(call.scalar(2)), call.input(0).rank())] =
      static_cast<int64_t>(call.scalar(1));
  return repeats;
}

void tile(Call &call) {
  const Tensor &x = call.input(0);
  std::vector<int64_t> repeats = tileRepeats(call);
  require(static_cast<int64_t>(repeats.size()) == x.rank(), "expected {} repeats, found {}", x.rank(), repeats);
  product(repeats);
  Shape shape = x.shape();
  for (size_t d = 0; d < shape.size(); ++d)
    require(!__builtin_mul_overflow(shape[d], repeats[d], &shape[d]), "the output is too large");
  checkSize(x.type(), shape);
  std::vector<IndexMap> maps;
  for (size_t d = 0; d < shape.size(); ++d) {
    IndexMap &map = maps.emplace_back(product(shape) ? shape[d] : 0);
    for (size_t i = 0; i < map.size(); ++i)
      map[i] = static_cast<int64_t>(i) % x.shape()[d];
  }
  if (product(shape) == 0)
    call.make(0, x.type(), shape);
  else
    call.give(0, pick(x, maps));
}

void concat(Call &call) {
  Shape shape = call.input(0).shape();
  int64_t axis = normalizeAxis(call.integer("axis", 1), call.input(0).rank());
  shape[axis] = 0;
  for (int64_t k = 0; k < call.inputCount(); ++k) {
    const Tensor &x = call.input(k);
    require(x.type() == call.input(0).type(), "expected inputs of one type, found {} and {}",
            name(call.input(0).type()), name(x.type()));
    Shape expected = shape;
    if (x.rank() == call.input(0).rank())
      expected[axis] = x.shape()[axis];
    require(x.shape() == expected, "expected inputs that differ in dimension {} only, found shapes {} and {}", axis,
            call.input(0).shape(), x.shape());
    shape[axis] += x.shape()[axis];
  }
  Tensor &result = call.make(0, call.input(0).type(), shape);
  AxisView view(shape, axis);
  size_t unit = view.inner * elementBytes(result.type()), row = view.size * unit, first = 0;
  for (int64_t k = 0; k < call.inputCount(); ++k) {
    size_t length = call.input(k).shape()[axis] * unit;
    for (int64_t o = 0; o < view.outer; ++o)
      std::memcpy(result.bytes() + o * row + first, call.input(k).bytes() + o * length, length);
    first += length;
  }
}

/// Sizes from the attribute (before opset 13) or the input, else equal parts: num_outputs (the last may be smaller), or
/// one for each output.
static std::vector<int64_t> splitSizes(Call &call, int64_t size) {
  if (call.opset() < 13 && call.integers("split"))
    return *call.integers("split");
  if (call.opset() >= 13 && call.has(1))
    return call.indices(1);
  if (call.opset() == 1 && call.has(1))
    return call.indices(1);
  int64_t parts = call.integer("num_outputs", call.outputCount());
  require(parts >= 1 && parts == call.outputCount(), "expected num_outputs to be the number of outputs, {}, found {}",
          call.outputCount(), parts);
  require(call.opset() >= 18 || size % parts == 0, "expected a dimension that divides into {} equal parts, found {}",
          parts, size);
  int64_t part = (size + parts - 1) / parts;
  std::vector<int64_t> sizes(parts);
  for (int64_t i = 0; i < parts; ++i)
    sizes[i] = std::clamp<int64_t>(size - i * part, 0, part);
  return sizes;
}

void split(Call &call) {
  const Tensor &x = call.input(0);
  int64_t axis = normalizeAxis(call.integer("axis", 0), x.rank());
  AxisView view(x.shape(), axis);
  std::vector<int64_t> sizes = splitSizes(call, view.size);
  int64_t total = 0;
  for (int64_t size : sizes)
    require(size >= 0 && !__builtin_add_overflow(total, size, &total), "expected sizes of 0 or more, found {}", sizes);
  require(total == view.size && static_cast<int64_t>(sizes.size()) == call.outputCount(),
          "expected {} sizes that add up to {}, found {}", call.outputCount(), view.size, sizes);
  size_t unit = view.inner * elementBytes(x.type()), first = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    Shape shape = x.shape();
    shape[axis] = sizes[k];
    Tensor &result = call.make(static_cast<int64_t>(k), x.type(), shape);
    for (int64_t o = 0; o < view.outer; ++o)
      std::memcpy(result.bytes() + o * sizes[k] * unit, x.bytes() + o * view.size * unit + first, sizes[k] * unit);
    first += sizes[k] * unit;
  }
}

/// The indices that start:end:step selects in a dimension. Clamped as in Python, except that a backward slice that
/// starts before the first element starts at it.
static IndexMap sliceMap(int64_t start, int64_t end, int64_t step, int64_t size) {
  require(step != 0, "expected steps other than 0");
  step = std::clamp<int64_t>(step, -(int64_t{1} << 62), int64_t{1} << 62);
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto place = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, low, high); };
  start = place(start), end = place(end);
  if (step < 0 && size > 0)
    start = std::max<int64_t>(start, 0);
  int64_t span = step > 0 ? end - start : start - end;
  IndexMap map(span > 0 ? (span - 1) / std::abs(step) + 1 : 0);
  for (size_t i = 0; i < map.size(); ++i)
    map[i] = start + static_cast<int64_t>(i) * step;
  return map;
}

void slice(Call &call) {
  const Tensor &x = call.input(0);
  bool attributes = call.opset() < 10;
  std::vector<int64_t> starts = attributes ? call.integers("starts").value_or(Shape{}) : call.indices(1);
  std::vector<int64_t> ends = attributes ? call.integers("ends").value_or(Shape{}) : call.indices(2);
  std::vector<int64_t> axes = identityMap(static_cast<int64_t>(starts.size())), steps(starts.size(), 1);
  if (attributes)
    axes = call.integers("axes").value_or(axes);
  else if (call.has(3))
    axes = call.indices(3);
  if (!attributes && call.has(4))
    steps = call.indices(4);
  require(starts.size() == ends.size() && starts.size() == axes.size() && starts.size() == steps.size(),
          "expected as many starts as ends, axes and steps, found {}, {}, {}, {}", starts.size(), ends.size(),
          axes.size(), steps.size());
  axes = normalizeAxes(axes, x.rank());
  std::vector<IndexMap> maps;
  for (int64_t size : x.shape())
    maps.push_back(identityMap(size));
  for (size_t k = 0; k < axes.size(); ++k)
    maps[axes[k]] = sliceMap(starts[k], ends[k], steps[k], x.shape()[axes[k]]);
  call.give(0, pick(x, maps));
}

/// The indices that a padded dimension reads. A reflection does not repeat the border; negative pads crop before the
/// others repeat.
static IndexMap padMap(const std::string &mode, int64_t before, int64_t after, int64_t size) {
  int64_t length = 0;
  require(!__builtin_add_overflow(size, before, &length) && !__builtin_add_overflow(length, after, &length) &&
              length >= 0,
          "pads {} and {} do not fit a dimension of {}", before, after, size);
  int64_t cropped = std::max<int64_t>(0, -before);
  size += std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0), before = std::max<int64_t>(before, 0);
  require(length == 0 || size > 0 || mode == "constant", "a dimension of 0 has nothing to pad with in mode {}", mode);
  checkSize(DType::I64, {length});
  IndexMap map(length);
  int64_t period = std::max<int64_t>(2 * (size - 1), 1);
  for (int64_t i = 0; i < length; ++i) {
    int64_t at = i - before, mirrored = (at % period + period) % period;
    if (at >= 0 && at < size)
      map[i] = at;
    else if (mode == "constant")
      map[i] = fill;
    else if (mode == "edge")
      map[i] = std::clamp<int64_t>(at, 0, size - 1);
    else if (mode == "wrap")
      map[i] = (at % size + size) % size;
    else
      map[i] = mirrored < size ? mirrored : period - mirrored;
    map[i] += map[i] == fill ? 0 : cropped;
  }
  return map;
}

void pad(Call &call) {
  const Tensor &x = call.input(0);
  std::string mode = call.text("mode", "constant");
  require(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap",
          "expected mode to be constant, reflect, edge or wrap, found '{}'", mode);
  bool attributes = call.opset() < 11;
  std::string_view attribute = call.opset() == 1 ? "paddings" : "pads";
  std::vector<int64_t> pads = attributes ? call.integers(attribute).value_or(Shape{}) : call.indices(1),
                       axes = identityMap(x.rank());
  if (call.opset() >= 18 && call.has(3))
    axes = normalizeAxes(call.indices(3), x.rank());
  require(pads.size() == 2 * axes.size(), "expected {} pads, found {}", 2 * axes.size(), pads);
  Tensor filling;
  if (attributes) {
    filling = store(x.type(), {}, std::vector<double>{call.real("value", 0)});
  } else if (call.has(2)) {
    require(call.input(2).type() == x.type() && call.input(2).count() == 1,
            "expected a scalar of {} to pad with, found {} of shape {}", name(x.type()), name(call.input(2).type()),
            call.input(2).shape());
    filling = call.input(2);
  }
  std::vector<IndexMap> maps;
  for (int64_t size : x.shape())
    maps.push_back(identityMap(size));
  for (size_t k = 0; k < axes.size(); ++k)
    maps[axes[k]] = padMap(mode, pads[k], pads[k + axes.size()], x.shape()[axes[k]]);
  call.give(0, pick(x, maps, filling));
}

/// Crops or pads with zeros equally at both ends; an odd element is at the end.
void centerCropPad(Call &call) {
  const Tensor &x = call.input(0);
  std::vector<int64_t> target = call.indices(1),
                       axes = normalizeAxes(call.integers("axes").value_or(identityMap(x.rank())), x.rank());
  require(target.size() == axes.size(), "expected {} sizes, found {}", axes.size(), target);
  checkSize(DType::U8, target);
  std::vector<IndexMap> maps;
  for (int64_t size : x.shape())
    maps.push_back(identityMap(size));
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t size = x.shape()[axes[k]], before = target[k] >= size ? (target[k] - size) / 2 : -((size - target[k]) / 2);
    maps[axes[k]] = padMap("constant", before, target[k] - size - before, size);
  }
  call.give(0, pick(x, maps));
}

/// Views [N, C, H, W] as [N, b, b, C', H, W] or [N, C', b, b, H, W], then moves the blocks behind H and W.
void depthToSpace(Call &call) {
  const Tensor &x = call.input(0);
  int64_t b = call.integer("blocksize", 0);
  std::string mode = call.text("mode", "DCR");
  require(mode == "DCR" || mode == "CRD", "expected mode to be DCR or CRD, found '{}'", mode);
  require(x.rank() == 4 && b > 0 && b < 1 << 16 && x.shape()[1] % (b * b) == 0,
          "expected [N, C, H, W] with C a multiple of {} squared, found {}", b, x.shape());
  int64_t n = x.shape()[0], c = x.shape()[1] / (b * b), h = x.shape()[2], w = x.shape()[3];
  Tensor moved = mode == "DCR" ? transpose(x.reshaped({n, b, b, c, h, w}), {0, 3, 4, 1, 5, 2})
                               : transpose(x.reshaped({n, c, b, b, h, w}), {0, 1, 4, 2, 5, 3});
  call.give(0, moved.reshaped({n, c, h * b, w * b}));
}

/// The inverse, with the blocks' offsets in front of the channels (DCR) or behind them (CRD, since opset 28).
void spaceToDepth(Call &call) {
  const Tensor &x = call.input(0);
  int64_t b = call.integer("blocksize", 0);
  std::string mode = call.text("mode", "DCR");
  require(mode == "DCR" || mode == "CRD", "expected mode to be DCR or CRD, found '{}'", mode);
  require(x.rank() == 4 && b > 0 && b < 1 << 16 && x.shape()[2] % b == 0 && x.shape()[3] % b == 0,
          "expected [N, C, H, W] with H and W multiples of {}, found {}", b, x.shape());
  int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2] / b, w = x.shape()[3] / b;
  std::vector<int64_t> order =
      mode == "DCR" ? std::vector<int64_t>{0, 3, 5, 1, 2, 4} : std::vector<int64_t>{0, 1, 3, 5, 2, 4};
  call.give(0, transpose(x.reshaped({n, c, h, b, w, b}), order).reshaped({n, c * b * b, h, w}));
}

void where(Call &call) {
  const Tensor &condition = call.input(0), &x = call.input(1), &y = call.input(2);
  require(condition.type() == DType::Bool && x.type() == y.type(),
          "expected a condition of bool and two values of one type, found {}, {}, {}", name(condition.type()),
          name(x.type()), name(y.type()));
  Shape shape = broadcast(broadcast(condition.shape(), x.shape()), y.shape());
  Tensor &result = call.make(0, x.type(), shape);
  std::array strides{broadcastStrides(condition.shape(), shape), broadcastStrides(x.shape(), shape),
                     broadcastStrides(y.shape(), shape)};
  dispatchWidth(x.type(), [&](auto zero) {
    using Word = decltype(zero);
    Word *to = result.data<Word>();
    walk(shape, strides, [&](const auto &at) {
      *to++ = condition.data<uint8_t>()[at[0]] ? x.data<Word>()[at[1]] : y.data<Word>()[at[2]];
    });
  });
}

/// Keeps the elements on and above (or below) the k-th diagonal of each matrix.
void trilu(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() >= 2, "expected matrices, found shape {}", x.shape());
  int64_t k = call.has(1) ? call.index(1) : 0, columns = x.shape().back(), rows = x.shape()[x.rank() - 2];
  bool upper = call.integer("upper", 1);
  k = std::clamp(k, -rows, columns); // diagonals beyond lie outside of the matrix
  Tensor &result = call.make(0, x.type(), x.shape());
  size_t bytes = elementBytes(x.type());
  for (int64_t row = 0, all = columns ? x.count() / columns : 0; row < all; ++row) {
    int64_t diagonal = std::clamp<int64_t>(row % rows + k + (upper ? 0 : 1), 0, columns);
    int64_t first = upper ? diagonal : 0, last = upper ? columns : diagonal;
    std::memcpy(result.bytes() + (row * columns + first) * bytes, x.bytes() + (row * columns + first) * bytes,
                (last - first) * bytes);
  }
}

/// Reverses the first sequence_lens[b] entries of each batch along the time axis.
void reverseSequence(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() >= 2, "expected rank 2 or more, found shape {}", x.shape());
  int64_t batchAxis = call.integer("batch_axis", 1), timeAxis = call.integer("time_axis", 0);
  require((batchAxis == 0 && timeAxis == 1) || (batchAxis == 1 && timeAxis == 0),
          "expected batch_axis and time_axis to be 0 and 1, found {} and {}", batchAxis, timeAxis);
  std::vector<int64_t> lengths = call.indices(1);
  require(static_cast<int64_t>(lengths.size()) == x.shape()[batchAxis], "expected {} sequence lengths, found {}",
          x.shape()[batchAxis], lengths.size());
  Tensor &result = call.make(0, x.type(), x.shape());
  size_t unit = AxisView(x.shape(), 1).inner * elementBytes(x.type());
  int64_t columns = x.shape()[1];
  for (int64_t i = 0; i < x.shape()[0]; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      int64_t time = timeAxis == 0 ? i : j, length = lengths[batchAxis == 0 ? i : j];
      require(0 <= length && length <= x.shape()[timeAxis], "expected sequence lengths from 0 to {}, found {}",
              x.shape()[timeAxis], length);
      int64_t source = time < length ? length - 1 - time : time;
      int64_t from = timeAxis == 0 ? source * columns + j : i * columns + source;
      std::memcpy(result.bytes() + (i * columns + j) * unit, x.bytes() + from * unit, unit);
    }
}

} // namespace tilewright::reference
