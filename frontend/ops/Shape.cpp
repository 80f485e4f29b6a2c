// Operators that give elements another place: reshape, transpose, slice, pad, concat and their relatives.
#include "frontend/ops/Handlers.h"
#include "frontend/ops/RunTimeShape.h"

#include <numeric>

using namespace mlir;
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;

namespace tilewright::ops {

//===- Reshape and its special cases ------------------------------------------------------------------------------===//

/// Sizes as Reshape's `shape` input says them: 0 copies, -1 is what remains.
void reshape(NodeBuilder &b) {
  if (!b.hasAttribute("shape") && isRunTime(b, 1))
    return reshapeWhenRunning(b);
  Sizes target;
  if (auto attribute = b.integers("shape"))
    for (int64_t size : *attribute)
      target.push_back(b.number(size));
  else
    target = b.knownSizes(1);
  bool allowZero = b.integer("allowzero", 0);
  const Sizes &from = b.sizes(0);
  AffineExpr total = b.product(from);
  std::optional<size_t> unknown;
  for (size_t i = 0; i < target.size(); ++i) {
    std::optional<int64_t> constant = graph::constantSize(target[i]);
    if (constant == 0 && !allowZero) {
      b.expect(i < from.size(),
               fmt::format("expected at most {} sizes of 0 because the input has so many dimensions, got one at {}",
                           from.size(), i));
      target[i] = from[i];
    } else if (constant == -1) {
      b.expect(!unknown, "expected one size of -1, got two");
      unknown = i;
      target[i] = b.number(1);
    } else if (constant && *constant < 0) {
      malformed("expected sizes from -1 on, got {}", *constant);
    }
  }
  AffineExpr rest = b.product(target);
  if (unknown) {
    target[*unknown] = b.divide(total, rest, "a number of elements");
  }
  b.out(b.reshape(b.raw(0), target));
}

void flatten(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", 1), b.rank(0), true);
  llvm::ArrayRef<AffineExpr> sizes = b.sizes(0);
  b.out(b.reshape(b.raw(0), {b.product(sizes.take_front(axis)), b.product(sizes.drop_front(axis))}));
}

/// Without axes, symbolic sizes are dropped where the model declares a result of so many dimensions less. Without that,
/// rank depends on which of them are 1.
static void squeezeSymbols(NodeBuilder &b, Sizes &sizes) {
  Sizes symbols;
  llvm::copy_if(sizes, std::back_inserter(symbols), [](AffineExpr size) { return !graph::constantSize(size); });
  int64_t surplus = static_cast<int64_t>(sizes.size()) - b.declaredRank(0).value_or(static_cast<int64_t>(sizes.size()));
  if (surplus > 0 && surplus != static_cast<int64_t>(symbols.size()))
    unsupported("which of the sizes {} are 1 is only known at run time: give them with --shapes", b.print(symbols));
  if (surplus > 0) {
    for (AffineExpr size : symbols)
      b.unify(size, b.number(1), "a dimension that is dropped");
    llvm::erase_if(sizes, [](AffineExpr size) { return !graph::constantSize(size); });
    return;
  }
  for (AffineExpr size : symbols)
    if (size = b.state.resolve(size); !graph::constantSize(size))
      b.state.takeEqual(
          size, b.number(1),
          fmt::format("node '{}' (dimension {})", b.node.name, llvm::find(symbols, size) - symbols.begin()));
  llvm::transform(sizes, sizes.begin(), [&](AffineExpr size) { return b.state.resolve(size); });
  llvm::erase_if(sizes, [](AffineExpr size) { return graph::constantSize(size) == 1; });
}

void squeeze(NodeBuilder &b) {
  if (!b.hasAttribute("axes") && isRunTime(b, 1))
    return squeezeWhenRunning(b);
  auto given = b.integersFrom("axes", 1);
  std::vector<int64_t> axes = given ? b.axes(*given, b.rank(0)) : std::vector<int64_t>();
  for (int64_t axis : axes)
    b.unify(b.sizes(0)[axis], b.number(1), fmt::format("dimension {}", axis));
  Sizes sizes;
  for (auto [i, size] : llvm::enumerate(b.sizes(0)))
    if (given ? !llvm::is_contained(axes, static_cast<int64_t>(i)) : graph::constantSize(size) != 1)
      sizes.push_back(size);
  if (!given)
    squeezeSymbols(b, sizes);
  b.out(b.reshape(b.raw(0), sizes));
}

void unsqueeze(NodeBuilder &b) {
  if (!b.hasAttribute("axes") && isRunTime(b, 1))
    return unsqueezeWhenRunning(b);
  auto given = b.integersFrom("axes", 1);
  b.expect(given.has_value(), "expected axes, got none");
  int64_t rank = b.rank(0) + static_cast<int64_t>(given->size());
  std::vector<int64_t> axes = b.axes(*given, rank);
  Sizes sizes = b.sizes(0);
  for (int64_t axis : axes)
    sizes.insert(sizes.begin() + axis, b.number(1));
  b.out(b.reshape(b.raw(0), sizes));
}

void transpose(NodeBuilder &b) {
  auto perm = b.integers("perm");
  if (!perm) {
    perm.emplace();
    for (int64_t i = b.rank(0); i-- > 0;)
      perm->push_back(i);
  }
  b.out(b.transpose(b.raw(0), *perm));
}

//===- Expand, Tile -----------------------------------------------------------------------------------------------===//

void expand(NodeBuilder &b) {
  if (isRunTime(b, 1))
    return expandWhenRunning(b);
  Sizes target = b.knownSizes(1);
  for (AffineExpr size : target)
    b.expect(graph::constantSize(size).value_or(0) >= 0,
             fmt::format("expected sizes of at least 0, got {}", b.print(target)));
  b.out(b.broadcast(b.raw(0), b.broadcastSizes({b.sizes(0), target})));
}

/// [a, b] tiled (r, s) is [1, a, 1, b] broadcast to [r, a, s, b] and joined to [r*a, s*b].
void tile(NodeBuilder &b) {
  Sizes repeats = b.sizesFrom(1), split, result;
  b.expect(static_cast<int64_t>(repeats.size()) == b.rank(0),
           fmt::format("expected {} repeats because of the rank, got {}", b.rank(0), repeats.size()));
  SmallVector<int64_t> dims;
  for (auto [repeat, size] : llvm::zip_equal(repeats, b.sizes(0))) {
    b.expect(graph::constantSize(repeat).value_or(0) >= 0,
             fmt::format("expected repeats of at least 0, got {}", b.print(repeats)));
    split.push_back(repeat), split.push_back(size);
    dims.push_back(static_cast<int64_t>(split.size()) - 1);
    result.push_back(repeat * size);
  }
  b.out(b.reshape(b.broadcast(b.raw(0), split, dims), result));
}

//===- Slice, Split, Concat ---------------------------------------------------------------------------------------===//

namespace {

/// A bound of Slice within 0..size: negative counts from the end, what reaches past an end stops there.
AffineExpr sliceBound(NodeBuilder &b, AffineExpr bound, AffineExpr size) {
  constexpr int64_t far = std::numeric_limits<int32_t>::max() / 4; // exporters write "to the end" as a large number
  std::optional<int64_t> number = graph::constantSize(bound), extent = graph::constantSize(size);
  auto most = [&](AffineExpr a) { // one element is there, or nothing is worth slicing: a guard, and the rest is known
    if (a == b.number(1) && !extent) {
      b.state.requireAtMost(a, size,
                            fmt::format("node '{}' slices an empty dimension {}", b.node.name, b.state.print(size)));
      return a;
    }
    return b.state.minimum(a, size);
  };
  if (number && extent)
    return b.number(std::clamp<int64_t>(*number < 0 ? *number + *extent : *number, 0, *extent));
  if (number && *number < 0)
    return *number < -far ? b.number(0) : graph::canonicalSize(size - most(b.number(-*number)));
  if (number && *number >= 1000000000)
    return size;
  if (!graph::isNonNegative(bound))
    b.state.requireAtMost(
        b.number(0), bound,
        fmt::format("node '{}' slices from or to {}, which must not be negative", b.node.name, b.state.print(bound)));
  return most(bound);
}

Term sliceAlong(NodeBuilder &b, Term x, int64_t axis, AffineExpr start, AffineExpr end, int64_t step) {
  AffineExpr size = x.sizes()[axis];
  if (step > 0) {
    AffineExpr first = sliceBound(b, start, size), last = sliceBound(b, end, size);
    AffineExpr length = b.state.maximum(graph::canonicalSize(last - first), b.number(0));
    AffineExpr count = step == 1 ? length : graph::canonicalSize(length.ceilDiv(step));
    if (auto constant = graph::constantSize(count); constant == 0)
      first = b.number(0);
    return b.slice(x, axis, first, count, step);
  }
  // Backwards: from start (at most size - 1) down to end (at least -1), which negative numbers below -size mean.
  std::optional<int64_t> extent = graph::constantSize(size), from = graph::constantSize(start),
                         to = graph::constantSize(end);
  if (!from || !to)
    decline("a backward slice from or to a symbolic position is not compiled");
  if (!extent) {
    bool whole = (*from == -1 || *from >= 1000000000) && *to < -1000000000;
    if (!whole)
      decline("a backward slice of part of a symbolic dimension is not compiled");
    return b.slice(x, axis, size - 1, graph::canonicalSize(size.ceilDiv(-step)), step);
  }
  int64_t first = std::clamp<int64_t>(*from < 0 ? *from + *extent : *from, *extent > 0 ? 0 : -1, *extent - 1);
  int64_t last = *to < -*extent ? -1 : std::clamp<int64_t>(*to < 0 ? *to + *extent : *to, -1, *extent - 1);
  int64_t count = std::max<int64_t>(0, (first - last - step - 1) / -step);
  return b.slice(x, axis, b.number(count ? first : 0), b.number(count), count ? step : 1);
}

} // namespace

void slice(NodeBuilder &b) {
  if (b.node.opset >= 10 && (isRunTime(b, 1) || isRunTime(b, 2) || isRunTime(b, 3) || isRunTime(b, 4)))
    return sliceWhenRunning(b);
  Sizes starts, ends;
  std::vector<int64_t> axes, steps;
  if (b.node.opset < 10) {
    for (int64_t start : b.integers("starts").value_or(std::vector<int64_t>()))
      starts.push_back(b.number(start));
    for (int64_t end : b.integers("ends").value_or(std::vector<int64_t>()))
      ends.push_back(b.number(end));
    axes = b.integers("axes").value_or(std::vector<int64_t>());
  } else {
    starts = b.knownSizes(1), ends = b.knownSizes(2);
    if (b.has(3))
      axes = b.knownIntegers(3);
    if (b.has(4))
      steps = b.knownIntegers(4);
  }
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(static_cast<int64_t>(i));
  steps.resize(steps.empty() ? starts.size() : steps.size(), 1);
  b.expect(starts.size() == ends.size() && axes.size() == starts.size() && steps.size() == starts.size(),
           fmt::format("expected as many starts, ends, axes and steps, got {}, {}, {} and {}", starts.size(),
                       ends.size(), axes.size(), steps.size()));
  Term x = b.raw(0);
  for (size_t i = 0; i < starts.size(); ++i) {
    b.expect(steps[i] != 0, "expected steps other than 0");
    steps[i] = std::clamp<int64_t>(steps[i], -(int64_t(1) << 40), int64_t(1) << 40);
    x = sliceAlong(b, x, b.axis(axes[i], x.rank()), starts[i], ends[i], steps[i]);
  }
  b.out(x);
}

void split(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", 0), b.rank(0));
  AffineExpr size = b.sizes(0)[axis];
  Sizes parts;
  if (auto given = b.integers("split"))
    for (int64_t part : *given)
      parts.push_back(b.number(part));
  else if (b.has(1))
    parts = b.sizesFrom(1);
  auto count = static_cast<int64_t>(b.node.outputs.size());
  if (parts.empty()) {
    AffineExpr chunk = graph::canonicalSize(size.ceilDiv(count)); // the last part may be smaller
    if (b.node.opset < 18 && !graph::constantSize(size)) {
      chunk = b.divide(size, b.number(count), "a dimension to split");
      size = b.sizes(0)[axis];
    }
    parts.assign(count, chunk);
    AffineExpr rest = graph::canonicalSize(size - chunk * (count - 1));
    if (b.node.opset >= 18)
      b.state.requireAtMost(b.number(0), rest,
                            fmt::format("node '{}' splits {} elements in {}", b.node.name, b.state.print(size), count));
    parts.back() = rest;
  }
  b.expect(static_cast<int64_t>(parts.size()) == count,
           fmt::format("expected {} parts because of the outputs, got {}", count, parts.size()));
  AffineExpr offset = b.number(0);
  Term x = b.raw(0);
  for (int64_t i = 0; i < count; ++i) {
    b.expect(graph::constantSize(parts[i]).value_or(0) >= 0,
             fmt::format("expected parts of at least 0, got {}", b.print(parts)));
    b.out(b.slice(x, axis, offset, parts[i]), b.type(0), i);
    offset = graph::canonicalSize(offset + parts[i]);
  }
  b.unify(offset, size, "the sum of the parts");
}

/// A kernel reads each element of a concatenation through a choice among all parts, so very many are joined by and by.
static Term joined(NodeBuilder &b, ArrayRef<Term> parts, int64_t axis) {
  constexpr size_t most = 64, together = 32;
  if (parts.size() <= most)
    return b.concat(parts, axis);
  SmallVector<Term> larger;
  for (; !parts.empty(); parts = parts.drop_front(std::min(together, parts.size())))
    larger.push_back(b.concat(parts.take_front(together), axis));
  return joined(b, larger, axis);
}

void concat(NodeBuilder &b) {
  int64_t axis = b.axis(b.integer("axis", b.node.opset < 4 ? 1 : 0), b.rank(0));
  SmallVector<Term> parts;
  for (size_t i = 0; i < b.node.inputs.size(); ++i) {
    Term part = b.raw(i);
    b.expect(part.rank() == b.rank(0),
             fmt::format("expected operands of rank {}, got operand {} of rank {}", b.rank(0), i, part.rank()));
    for (int64_t dim = 0; dim < part.rank(); ++dim)
      if (dim != axis)
        b.unify(part.sizes()[dim], parts.empty() ? part.sizes()[dim] : parts[0].sizes()[dim],
                fmt::format("dimension {} of operand {}", dim, i));
    parts.push_back(part);
  }
  llvm::erase_if(parts, [&](Term part) { return graph::constantSize(part.sizes()[axis]) == 0; });
  b.out(parts.empty() ? b.raw(0) : joined(b, parts, axis));
}

//===- Pad --------------------------------------------------------------------------------------------------------===//

namespace {

/// Where each padded coordinate of a symbolic dimension reads, computed when running.
Term symbolicPadIndex(NodeBuilder &b, AffineExpr size, int64_t low, int64_t high, const std::string &mode) {
  AffineExpr left = graph::canonicalSize(size + std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0));
  if (!b.state.requireAtMost(b.number(1), left,
                             fmt::format("node '{}' pads an empty dimension with what it has", b.node.name)))
    malformed("expected elements to pad with, got an empty dimension");
  return padPositions(b, graph::canonicalSize(size + low + high), scalarOf(b, low), scalarOf(b, high),
                      scalarOf(b, size), mode);
}

/// Where each padded coordinate reads: mirrored, clamped or wrapped, as an index vector.
Term padByIndex(NodeBuilder &b, Term x, int64_t dim, int64_t low, int64_t high, const std::string &mode) {
  std::optional<int64_t> size = graph::constantSize(x.sizes()[dim]);
  if (!size)
    return b.take(x, {dim}, {symbolicPadIndex(b, x.sizes()[dim], low, high, mode)});
  constexpr int64_t most = 1 << 24;
  b.expect(*size > 0, "expected elements to pad with, got an empty dimension");
  b.expect(std::abs(low) <= most && std::abs(high) <= most && *size + low + high >= 0,
           fmt::format("expected paddings that leave at least 0 elements, got {} and {}", low, high));
  Tensor index = Tensor::allocate(DType::I64, {*size + low + high});
  // Negative paddings crop, before the others repeat what is left.
  int64_t cropped = std::max<int64_t>(0, -low), left = *size + std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0);
  b.expect(left > 0 || index.count() == 0,
           fmt::format("expected elements to pad with, got paddings {} and {} of {}", low, high, *size));
  for (int64_t i = 0; i < index.count(); ++i) {
    int64_t at = i - std::max<int64_t>(low, 0), period = 2 * (left - 1);
    if (mode == "edge")
      at = std::clamp<int64_t>(at, 0, left - 1);
    else if (mode == "wrap")
      at = llvm::mod(at, left);
    else if (period > 0)
      at = llvm::mod(at, period), at = at < left ? at : period - at;
    else
      at = 0;
    index.data<int64_t>()[i] = at + cropped;
  }
  return b.take(x, {dim}, {b.constantTerm(index)});
}

} // namespace

void pad(NodeBuilder &b) {
  if (!b.hasAttribute("paddings") && !b.hasAttribute("pads") && (isRunTime(b, 1) || isRunTime(b, 3)))
    return padWhenRunning(b);
  int64_t rank = b.rank(0);
  auto given = b.integers(b.hasAttribute("paddings") ? "paddings" : "pads");
  if (!given)
    given = b.knownIntegers(1);
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (b.has(3)) {
    axes = b.knownIntegers(3);
    for (int64_t &axis : axes)
      axis = b.axis(axis, rank);
  }
  b.expect(given->size() == 2 * axes.size(),
           fmt::format("expected {} paddings, got {}", 2 * axes.size(), given->size()));
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i)
    low[axes[i]] = (*given)[i], high[axes[i]] = (*given)[axes.size() + i];
  std::string mode = b.text("mode", "constant");
  Term x = b.raw(0);
  if (mode != "constant") {
    for (int64_t dim = 0; dim < rank; ++dim)
      if (low[dim] || high[dim])
        x = padByIndex(b, x, dim, low[dim], high[dim], mode);
    return b.out(x);
  }
  double fill = b.real("value", 0);
  if (b.has(2)) {
    std::optional<double> constant = b.scalarConstant(2);
    if (!constant)
      decline("a padding value that is not a constant is not compiled");
    fill = *constant;
  }
  Sizes sizes = x.sizes();
  for (int64_t dim = 0; dim < rank; ++dim) {
    sizes[dim] = graph::canonicalSize(sizes[dim] + low[dim] + high[dim]);
    b.expect(graph::constantSize(sizes[dim]).value_or(0) >= 0,
             fmt::format("expected a result of at least 0 elements, got {} in dimension {}", b.state.print(sizes[dim]),
                         dim));
  }
  b.out(b.pad(x, low, sizes, fill));
}

//===- Blocks -----------------------------------------------------------------------------------------------------===//

void depthToSpace(NodeBuilder &b) {
  b.expect(b.rank(0) == 4, fmt::format("expected rank 4, got {}", b.rank(0)));
  int64_t block = b.integer("blocksize", 1);
  b.expect(block > 0 && block <= 1 << 20, fmt::format("expected a blocksize of 1 to 2^20, got {}", block));
  AffineExpr depth = b.divide(b.sizes(0)[1], b.number(block * block), "channels"), k = b.number(block);
  const Sizes s = b.sizes(0);
  std::string mode = b.text("mode", "DCR");
  b.expect(mode == "DCR" || mode == "CRD", fmt::format("expected mode to be DCR or CRD, got '{}'", mode));
  bool columnFirst = mode == "CRD";
  Term x = columnFirst ? b.transpose(b.reshape(b.raw(0), {s[0], depth, k, k, s[2], s[3]}), {0, 1, 4, 2, 5, 3})
                       : b.transpose(b.reshape(b.raw(0), {s[0], k, k, depth, s[2], s[3]}), {0, 3, 4, 1, 5, 2});
  b.out(b.reshape(x, {s[0], depth, s[2] * block, s[3] * block}));
}

void spaceToDepth(NodeBuilder &b) {
  b.expect(b.rank(0) == 4, fmt::format("expected rank 4, got {}", b.rank(0)));
  int64_t block = b.integer("blocksize", 1);
  b.expect(block > 0 && block <= 1 << 20, fmt::format("expected a blocksize of 1 to 2^20, got {}", block));
  AffineExpr k = b.number(block), height = b.divide(b.sizes(0)[2], k, "a height"),
             width = b.divide(b.sizes(0)[3], k, "a width");
  const Sizes s = b.sizes(0);
  height = b.state.resolve(height);
  std::string mode = b.text("mode", "DCR"); // an attribute since opset 28
  b.expect(mode == "DCR" || mode == "CRD", fmt::format("expected mode to be DCR or CRD, got '{}'", mode));
  SmallVector<int64_t> order =
      mode == "CRD" ? SmallVector<int64_t>{0, 1, 3, 5, 2, 4} : SmallVector<int64_t>{0, 3, 5, 1, 2, 4};
  Term x = b.transpose(b.reshape(b.raw(0), {s[0], s[1], height, k, width, k}), order);
  b.out(b.reshape(x, {s[0], s[1] * (block * block), height, width}));
}

//===- Made from coordinates --------------------------------------------------------------------------------------===//

void trilu(NodeBuilder &b) {
  b.expect(b.rank(0) >= 2, fmt::format("expected rank 2 or more, got {}", b.rank(0)));
  Term x = b.raw(0);
  Type i64 = b.state.builder.getI64Type();
  Term k = b.has(1) ? b.reshape(b.raw(1), {}) : b.splatInteger({}, i64, 0);
  Term row = b.iota(x.sizes(), x.rank() - 2, i64), column = b.iota(x.sizes(), x.rank() - 1, i64);
  Term diagonal = row + k;
  Term keep = b.compare(F::OGE, b.integer("upper", 1) ? I::sge : I::sle, column, diagonal);
  b.out(b.select(keep, x, b.like(x, 0)));
}

void eyeLike(NodeBuilder &b) {
  b.expect(b.rank(0) == 2, fmt::format("expected rank 2, got {}", b.rank(0)));
  auto type = static_cast<DType>(b.integer("dtype", static_cast<int64_t>(b.type(0))));
  if (!findDType(type))
    decline("the element type {} is not compiled", b.integer("dtype", 0));
  Type i64 = b.state.builder.getI64Type(), element = elementType(b.state.context, type);
  const Sizes sizes = b.sizes(0);
  Term row = b.iota(sizes, 0, i64), column = b.iota(sizes, 1, i64);
  Term hit = b.compare(F::OEQ, I::eq, column, row + b.splatInteger(sizes, i64, b.integer("k", 0)));
  b.out(b.select(hit, b.splat(sizes, element, 1), b.splat(sizes, element, 0)), type);
}

/// indices compared with 0..depth-1 along a new dimension.
void oneHot(NodeBuilder &b) {
  Sizes depth = b.sizesFrom(1);
  b.expect(depth.size() == 1, fmt::format("expected one depth, got {}", depth.size()));
  b.expectRank(2, 1);
  b.unify(b.sizes(2)[0], b.number(2), "values (off and on)");
  int64_t axis = b.axis(b.integer("axis", -1), b.rank(0) + 1);
  Sizes sizes = b.sizes(0);
  sizes.insert(sizes.begin() + axis, depth[0]);
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < static_cast<int64_t>(sizes.size()); ++dim)
    if (dim != axis)
      dims.push_back(dim);
  Term index = b.wrapped(b.convert(b.raw(0), b.type(0), DType::I64), depth[0]);
  Term hit = b.compare(F::OEQ, I::eq, b.broadcast(index, sizes, dims), b.iota(sizes, axis, index.element()));
  Term values = b.in(2); // halves cannot be chosen between, only moved
  auto value = [&](int64_t at) { return b.reshape(b.slice(values, 0, b.number(at), b.number(1)), {}); };
  b.out(b.select(hit, value(1), value(0)), b.type(2));
}

void constantOfShape(NodeBuilder &b) {
  Sizes sizes = b.sizesFrom(0);
  for (AffineExpr size : sizes)
    b.expect(graph::constantSize(size).value_or(0) >= 0,
             fmt::format("expected sizes of at least 0, got {}", b.print(sizes)));
  auto found = b.node.attributes.find("value");
  if (found == b.node.attributes.end())
    return b.out(b.splat(sizes, b.state.builder.getF32Type(), 0), DType::F32);
  const auto *value = std::get_if<Tensor>(&found->second);
  b.expect(value && value->count() == 1, "expected a value of one element");
  b.out(b.broadcast(b.reshape(b.constantTerm(*value), {}), sizes), value->type());
}

/// start + iota * delta, of a length that the import knows.
void range(NodeBuilder &b) {
  DType type = b.type(0);
  bool isInteger = type == DType::I64 || type == DType::I32;
  if (!isInteger || isRunTime(b, 0) || isRunTime(b, 1) || isRunTime(b, 2))
    return rangeWhenRunning(b);
  AffineExpr start = b.knownSize(0), limit = b.knownSize(1), delta = b.knownSize(2);
  std::optional<int64_t> step = graph::constantSize(delta);
  if (!step || *step <= 0)
    decline("a range with a step that is not a positive constant is not compiled");
  AffineExpr count = graph::canonicalSize((limit - start).ceilDiv(*step));
  if (auto constant = graph::constantSize(count))
    count = b.number(std::max<int64_t>(0, *constant));
  Sizes sizes{count};
  Term position = b.iota(sizes, 0, elementType(b.state.context, type));
  Term result = *step == 1 ? position : position * b.splatInteger(sizes, position.element(), *step);
  b.out(start == b.number(0) ? result : result + b.sizeAs(start, sizes, position.element()), type);
}

} // namespace tilewright::ops
