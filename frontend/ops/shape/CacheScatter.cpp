// SPDX-License-Identifier: Apache-2.0
// TensorScatter: new elements of sequences, written into a cache of keys or values. Each place of the cache finds the
// element that it takes:
//
//   offset = d1 - start[d0]                0 <= offset < count ? update[d0, offset] : cache[d0, d1]
//
// In mode circular places before the start follow the last ones.
#include "frontend/ops/Handlers.h"
#include "frontend/ops/shape/ScatterIndices.h"
#include "frontend/sizes/RunTimeSizes.h"

using namespace mlir;

namespace tilewright::ops {

void tensorScatter(NodeBuilder &b) {
  int64_t rank = b.rank(0), axis = b.axis(b.integer("axis", -2), rank);
  std::string mode = b.text("mode", "linear");
  b.expect(axis > 0, "expected an axis behind the batch, got 0");
  b.expect(mode == "linear" || mode == "circular",
           fmt::format("expected mode to be linear or circular, got '{}'", mode));
  b.expect(b.rank(1) == rank, fmt::format("expected an update of rank {}, got {}", rank, b.rank(1)));
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      b.unify(b.sizes(1)[dim], b.sizes(0)[dim], fmt::format("the update in dimension {}", dim));
  std::optional<int64_t> size = graph::constantSize(b.sizes(0)[axis]), count = graph::constantSize(b.sizes(1)[axis]);
  if (!size || !count || *count == 0)
    decline("an update of {} of {} elements is not compiled, only one of known numbers",
            b.state.print(b.sizes(1)[axis]), b.state.print(b.sizes(0)[axis]));
  b.expect(*count <= *size, fmt::format("expected an update of at most {} elements, got {}", *size, *count));
  Term cache = b.raw(0), update = b.raw(1);
  Sizes sizes = cache.sizes();
  Term offset = b.iota(sizes, axis, b.state.builder.getI64Type());
  if (b.has(2)) {
    b.expectRank(2, 1);
    b.unify(b.sizes(2)[0], sizes[0], "the number of write indices");
    Term start = checkedIndices(b, b.raw(2), b.number(mode == "linear" ? *size - *count + 1 : *size + 1));
    offset = offset - b.broadcast(start, sizes, {0});
  }
  Term zero = b.like(offset, 0);
  if (mode == "circular")
    offset = b.select(isBelow(offset, zero), offset + b.like(offset, static_cast<double>(*size)), offset);
  Term isWritten =
      both(isBelow(b.like(offset, -1), offset), isBelow(offset, b.like(offset, static_cast<double>(*count))));
  Term written = b.takeElements(update, axis, b.select(isWritten, offset, zero));
  b.out(b.select(isWritten, written, cache));
}

} // namespace tilewright::ops
