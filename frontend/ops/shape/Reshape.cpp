// SPDX-License-Identifier: Apache-2.0
// Reshape and its special cases, Transpose, Expand, Tile, and the moves between depth and space.
#include "frontend/ops/Handlers.h"
#include "frontend/ops/shape/RunTimeShape.h"

using namespace mlir;

namespace tilewright::ops {

//===- Reshape and its special cases ------------------------------------------------------------------------------===//

/// In `shape`, 0 copies the size of the input, and -1 stands for what remains.
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

/// Squeeze without axes drops all dimensions of size 1. If the rank that the model declares for the result says that
/// all symbolic dimensions are dropped, they are required to be 1. Without a declaration, the importer makes a choice.
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

/// [a, b] tiled by (r, s): broadcast to [r, a, s, b], then reshaped to [r*a, s*b].
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

} // namespace tilewright::ops
