// SPDX-License-Identifier: Apache-2.0
// Operators that read or write at indices from a tensor: Gather and Scatter in all forms, OneHot, Compress, NonZero,
// Unique.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

namespace tilewright::reference {

/// An index counted from the front of its dimension. Malformed if it is out of range.
static int64_t inside(int64_t index, int64_t size, int64_t dimension) {
  require(-size <= index && index < size, "index {} is out of range for dimension {} of size {}", index, dimension,
          size);
  return index < 0 ? index + size : index;
}

void gather(Call &call) {
  const Tensor &x = call.input(0);
  int64_t axis = normalizeAxis(call.integer("axis", 0), x.rank());
  std::vector<int64_t> indices = call.indices(1);
  AxisView view(x.shape(), axis);
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), call.input(1).shape().begin(), call.input(1).shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  for (int64_t &index : indices)
    index = inside(index, view.size, axis);
  Tensor &result = call.make(0, x.type(), shape);
  size_t unit = view.inner * elementBytes(x.type());
  std::byte *to = result.bytes();
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t index : indices) {
      std::memcpy(to, x.bytes() + (o * view.size + index) * unit, unit);
      to += unit;
    }
}

/// For each element of `indices`: the offset into a tensor of `shape` at the element's position, with the index as
/// coordinate `axis`.
static std::vector<int64_t> elementOffsets(Call &call, const Shape &shape, int64_t axis) {
  const Shape &own = call.input(1).shape();
  require(own.size() == shape.size(), "expected indices of rank {}, found shape {}", shape.size(), own);
  for (size_t d = 0; d < shape.size(); ++d)
    require(static_cast<int64_t>(d) == axis || own[d] <= shape[d], "indices of shape {} reach outside of {}", own,
            shape);
  std::vector<int64_t> offsets = call.indices(1);
  Shape strides = stridesOf(shape), others = strides;
  others[axis] = 0;
  int64_t i = 0;
  walk(own, std::array{others}, [&](const auto &at) {
    offsets[i] = at[0] + inside(offsets[i], shape[axis], axis) * strides[axis];
    ++i;
  });
  return offsets;
}

void gatherElements(Call &call) {
  const Tensor &x = call.input(0);
  int64_t axis = normalizeAxis(call.integer("axis", 0), x.rank());
  std::vector<int64_t> offsets = elementOffsets(call, x.shape(), axis);
  Tensor &result = call.make(0, x.type(), call.input(1).shape());
  size_t unit = elementBytes(x.type());
  for (size_t i = 0; i < offsets.size(); ++i)
    std::memcpy(result.bytes() + i * unit, x.bytes() + offsets[i] * unit, unit);
}

/// Index tuples along the last dimension of input 1: each selects a slice of a tensor of `shape`, after `batchDims`
/// leading dimensions.
struct TupleIndices {
  int64_t sliceSize = 1;
  Shape rest;                   // dimensions of a slice
  std::vector<int64_t> offsets; // of each slice's first element

  TupleIndices(Call &call, const Shape &shape, int64_t batchDims) {
    const Shape &own = call.input(1).shape();
    int64_t rank = static_cast<int64_t>(shape.size());
    require(!own.empty() && rank >= 1, "expected data and indices of rank 1 or more, found shapes {} and {}", shape,
            own);
    int64_t width = own.back();
    require(batchDims >= 0 && batchDims < std::min<int64_t>(rank, call.input(1).rank()) && width >= 0 &&
                batchDims + width <= rank,
            "index tuples of {} and {} batch dimensions do not fit shape {}", width, batchDims, shape);
    for (int64_t d = 0; d < batchDims; ++d)
      require(own[d] == shape[d], "expected equal batch dimensions, found {} and {}", shape, own);
    rest.assign(shape.begin() + batchDims + width, shape.end());
    sliceSize = product(rest);
    Shape strides = stridesOf(shape);
    std::vector<int64_t> indices = call.indices(1);
    int64_t tuples = product(std::span(own).first(own.size() - 1)), batches = product(std::span(own).first(batchDims));
    for (int64_t t = 0; t < tuples; ++t) {
      int64_t offset = t / (tuples / batches) * (batchDims ? strides[batchDims - 1] : 0);
      for (int64_t k = 0; k < width; ++k)
        offset += inside(indices[t * width + k], shape[batchDims + k], batchDims + k) * strides[batchDims + k];
      offsets.push_back(offset);
    }
  }
};

void gatherND(Call &call) {
  const Tensor &x = call.input(0);
  TupleIndices tuples(call, x.shape(), call.integer("batch_dims", 0));
  Shape shape(call.input(1).shape().begin(), call.input(1).shape().end() - 1);
  shape.insert(shape.end(), tuples.rest.begin(), tuples.rest.end());
  Tensor &result = call.make(0, x.type(), shape);
  size_t element = elementBytes(x.type()), unit = tuples.sliceSize * element;
  for (size_t i = 0; i < tuples.offsets.size(); ++i)
    std::memcpy(result.bytes() + i * unit, x.bytes() + tuples.offsets[i] * element, unit);
}

//===- Scatter ----------------------------------------------------------------------------------------------------===//

/// Writes updates over data: elements are only moved, so they need no conversion to numbers.
static void overwrite(Call &call, const std::vector<int64_t> &offsets, int64_t sliceSize) {
  const Tensor &data = call.input(0), &updates = call.input(2);
  Tensor &result = call.make(0, data.type(), data.shape());
  std::memcpy(result.bytes(), data.bytes(), data.byteSize());
  dispatchWidth(data.type(), [&](auto zero) {
    using Unit = decltype(zero);
    auto *to = reinterpret_cast<Unit *>(result.bytes());
    auto *from = reinterpret_cast<const Unit *>(updates.bytes());
    int64_t slices = updates.count() / sliceSize;
    for (int64_t i = 0; i < slices; ++i)
      std::copy_n(from + i * sliceSize, sliceSize, to + offsets[i]);
  });
}

/// Combines updates[i] into element offsets[i / sliceSize] + i % sliceSize of data, in order.
static void scatterInto(Call &call, const std::vector<int64_t> &offsets, int64_t sliceSize) {
  const Tensor &data = call.input(0), &updates = call.input(2);
  require(data.type() == updates.type(), "expected updates of {}, found {}", name(data.type()), name(updates.type()));
  std::string reduction = call.text("reduction", "none");
  if (reduction == "none")
    return overwrite(call, offsets, sliceSize);
  dispatch(data.type(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> from(data), news(updates);
    std::vector<T> result(from.begin(), from.end());
    auto apply = [&](auto function) {
      for (int64_t i = 0; i < news.size(); ++i) {
        T &at = result[offsets[i / sliceSize] + i % sliceSize];
        at = static_cast<T>(function(at, news[i]));
      }
    };
    using Sum = std::conditional_t<std::is_same_v<T, double>, double, uint64_t>; // integers wrap
    if (reduction == "add")
      apply([](T a, T b) { return static_cast<Sum>(a) + static_cast<Sum>(b); });
    else if (reduction == "mul")
      apply([](T a, T b) { return static_cast<Sum>(a) * static_cast<Sum>(b); });
    else if (reduction == "max")
      apply([](T a, T b) { return a != a || a > b ? a : b; });
    else if (reduction == "min")
      apply([](T a, T b) { return a != a || a < b ? a : b; });
    else
      malformed(fmt::format("expected reduction to be none, add, mul, max or min, found '{}'", reduction));
    call.give(0, data.type(), data.shape(), result);
  });
}

void scatterElements(Call &call) {
  const Tensor &data = call.input(0);
  int64_t axis = normalizeAxis(call.integer("axis", 0), data.rank());
  require(call.input(2).shape() == call.input(1).shape(), "expected updates of the indices' shape {}, found {}",
          call.input(1).shape(), call.input(2).shape());
  scatterInto(call, elementOffsets(call, data.shape(), axis), 1);
}

void scatterND(Call &call) {
  const Tensor &data = call.input(0);
  TupleIndices tuples(call, data.shape(), 0);
  Shape shape(call.input(1).shape().begin(), call.input(1).shape().end() - 1);
  shape.insert(shape.end(), tuples.rest.begin(), tuples.rest.end());
  require(call.input(2).shape() == shape, "expected updates of shape {}, found {}", shape, call.input(2).shape());
  scatterInto(call, tuples.offsets, std::max<int64_t>(tuples.sliceSize, 1));
}

/// Writes an update into a key-value cache [batch, ..., sequence, ...] at write_indices[batch] along the sequence; mode
/// circular wraps around.
void tensorScatter(Call &call) {
  const Tensor &cache = call.input(0), &update = call.input(1);
  int64_t axis = normalizeAxis(call.integer("axis", -2), cache.rank());
  std::string mode = call.text("mode", "linear");
  require(mode == "linear" || mode == "circular", "expected mode to be linear or circular, found '{}'", mode);
  Shape expected = cache.shape();
  require(axis > 0 && update.rank() == cache.rank() && update.type() == cache.type(),
          "expected an update like the cache {}, found {}", cache.shape(), update.shape());
  expected[axis] = std::min(update.shape()[axis], cache.shape()[axis]);
  require(update.shape() == expected, "expected an update of shape {}, found {}", expected, update.shape());
  std::vector<int64_t> starts = call.has(2) ? call.indices(2) : Shape(cache.shape()[0], 0);
  require(static_cast<int64_t>(starts.size()) == cache.shape()[0], "expected {} write indices, found {}",
          cache.shape()[0], starts.size());
  Tensor &result = call.make(0, cache.type(), cache.shape());
  std::memcpy(result.bytes(), cache.bytes(), cache.byteSize());
  AxisView to(cache.shape(), axis), from(update.shape(), axis);
  size_t unit = to.inner * elementBytes(cache.type());
  for (int64_t o = 0; o < to.outer; ++o)
    for (int64_t i = 0; i < from.size; ++i) {
      int64_t start = starts[o / (to.outer / cache.shape()[0])];
      require(start >= 0 && start <= to.size && (mode == "circular" || start + from.size <= to.size),
              "an update of {} at {} does not fit a cache of {}", from.size, start, to.size);
      std::memcpy(result.bytes() + (o * to.size + (start + i) % to.size) * unit,
                  update.bytes() + (o * from.size + i) * unit, unit);
    }
}

//===- Selections -------------------------------------------------------------------------------------------------===//

/// Adds an axis of size depth with the on-value at each index; an index outside of [-depth, depth) gives off-values
/// only.
void oneHot(Call &call) {
  const Tensor &indices = call.input(0), &values = call.input(2);
  double asked = call.scalar(1);
  require(asked >= 1 && asked < 0x1p40, "expected a depth of 1 or more, found {}", asked);
  int64_t depth = static_cast<int64_t>(asked), rank = indices.rank() + 1,
          axis = normalizeAxis(call.integer("axis", -1), rank);
  require(values.shape() == Shape{2}, "expected values of shape [2], found {}", values.shape());
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, depth);
  Tensor &result = call.make(0, values.type(), shape);
  AxisView view(shape, axis);
  Values<double> positions(indices);
  dispatchWidth(values.type(), [&](auto zero) {
    using Word = decltype(zero);
    const Word *choice = values.data<Word>();
    Word *to = result.data<Word>();
    std::fill_n(to, result.count(), choice[0]);
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i) {
        double at = positions[o * view.inner + i];
        if (at >= -asked && at < asked)
          to[(o * depth + static_cast<int64_t>(at < 0 ? at + asked : at)) * view.inner + i] = choice[1];
      }
  });
}

void compress(Call &call) {
  const Tensor &condition = call.input(1);
  require(condition.type() == DType::Bool && condition.rank() == 1,
          "expected a condition of bool of rank 1, found {} of shape {}", name(condition.type()), condition.shape());
  bool flat = !call.hasAttribute("axis");
  Tensor x = flat ? call.input(0).reshaped({call.input(0).count()}) : call.input(0);
  int64_t axis = flat ? 0 : normalizeAxis(call.integer("axis", 0), x.rank());
  require(condition.count() <= x.shape()[axis], "expected a condition of at most {}, found {}", x.shape()[axis],
          condition.count());
  std::vector<IndexMap> maps;
  for (int64_t size : x.shape())
    maps.push_back(identityMap(size));
  maps[axis].clear();
  for (int64_t i = 0; i < condition.count(); ++i)
    if (condition.data<uint8_t>()[i])
      maps[axis].push_back(i);
  call.give(0, pick(x, maps));
}

/// [rank, number of nonzeros], indices in row-major order.
void nonZero(Call &call) {
  const Tensor &x = call.input(0);
  Values<double> values(x);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < values.size(); ++i)
    if (values[i] != 0)
      found.push_back(i);
  Shape strides = stridesOf(x.shape());
  std::vector<int64_t> result;
  for (int64_t d = 0; d < x.rank(); ++d)
    for (int64_t i : found)
      result.push_back(i / strides[d] % x.shape()[d]);
  call.give(0, DType::I64, {x.rank(), static_cast<int64_t>(found.size())}, result);
}

/// The distinct elements, or slices along an axis, sorted or in order of first occurrence.
void unique(Call &call) {
  bool flat = !call.hasAttribute("axis");
  Tensor x = flat ? call.input(0).reshaped({call.input(0).count()}) : call.input(0);
  int64_t axis = flat ? 0 : normalizeAxis(call.integer("axis", 0), x.rank());
  AxisView view(x.shape(), axis);
  std::vector<int64_t> inverse(view.size), firsts, counts;
  dispatch(x.type(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> values(x);
    auto before = [&](int64_t a, int64_t b) { // lexicographic, NaN last
      for (int64_t o = 0; o < view.outer; ++o)
        for (int64_t i = 0; i < view.inner; ++i) {
          T left = values[(o * view.size + a) * view.inner + i], right = values[(o * view.size + b) * view.inner + i];
          if (left < right || (left == left && right != right))
            return true;
          if (right < left || (right == right && left != left))
            return false;
        }
      return false;
    };
    std::map<int64_t, int64_t, decltype(before)> groups(before); // first of equal slices -> its number
    for (int64_t i = 0; i < view.size; ++i) {
      auto [at, isNew] = groups.try_emplace(i, static_cast<int64_t>(firsts.size()));
      if (isNew) {
        firsts.push_back(i);
        counts.push_back(0);
      }
      inverse[i] = at->second;
      ++counts[at->second];
    }
    if (!call.integer("sorted", 1))
      return;
    std::vector<int64_t> rank(firsts.size()), oldFirsts = firsts, oldCounts = counts;
    int64_t next = 0;
    for (auto [first, number] : groups) {
      firsts[next] = oldFirsts[number];
      counts[next] = oldCounts[number];
      rank[number] = next++;
    }
    for (int64_t &number : inverse)
      number = rank[number];
  });
  std::vector<IndexMap> maps;
  for (int64_t size : x.shape())
    maps.push_back(identityMap(size));
  maps[axis] = firsts;
  call.give(0, pick(x, maps));
  Shape each{static_cast<int64_t>(firsts.size())};
  call.give(1, DType::I64, each, firsts);
  call.give(2, DType::I64, {view.size}, inverse);
  call.give(3, DType::I64, each, counts);
}

} // namespace tilewright::reference
