// SPDX-License-Identifier: Apache-2.0
// Kernels without reduction: every output is the tile of its value, stored.
//
//   %x = tile.load ...
//   %y = math.exp %x
//   tile.store %y ...
#include "tilegen/emit/Materialize.h"

using namespace mlir;

namespace tilewright::tilegen {

LogicalResult emitPointwise(TileEmitter &emitter, tile::ScheduleAttr) {
  Materializer values(emitter);
  Frame frame = llvm::to_vector(llvm::seq<unsigned>(0, emitter.getSpace().loops().size()));
  for (unsigned i = 0; i < emitter.getSpace().outputs.size(); ++i)
    if (failed(values.store(i, frame)))
      return failure();
  return success();
}

} // namespace tilewright::tilegen
