// Kernels without reduction: every output is stored from what pulling it gives.
//
//   %x = tile.load ...
//   %y = math.exp %x
//   tile.store %y ...
#include "tilegen/roots/Roots.h"

using namespace mlir;

namespace tilewright::tilegen {

LogicalResult emitPointwise(TileEmitter &emitter) {
  Puller puller(emitter);
  Frame frame = llvm::to_vector(llvm::seq<unsigned>(0, emitter.getSpace().loops().size()));
  for (unsigned i = 0; i < emitter.getSpace().outputs.size(); ++i)
    if (failed(puller.store(i, frame)))
      return failure();
  return success();
}

} // namespace tilewright::tilegen
