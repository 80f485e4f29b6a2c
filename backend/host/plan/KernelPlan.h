// SPDX-License-Identifier: Apache-2.0
// The plan of a kernel: what its program computes, in which order, and what it keeps in memory meanwhile.
//
//   softmax                                          matmul with an epilogue
//     nest  max = reduce x         -> buffer 0         nest  y = f(dot)     register-blocked: dot
//     nest  e = exp(x - max)       -> buffer 1
//     nest  sum = reduce e         -> buffer 2
//     nest  y = e / sum            -> store
//
// A plan is a value: it is made from the tile operations alone, before any code is emitted. Emission makes none of
// these decisions.
#pragma once

#include "backend/host/plan/DotOperands.h"
#include "backend/host/plan/LiveKeys.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <memory>
#include <variant>

namespace tilewright::host {

/// A tile in the workspace: rows of `rowStride` elements, or panels of `panel` columns (all rows of one panel, then the
/// next).
struct Buffer {
  llvm::SmallVector<int64_t> shape;
  int64_t rowStride = 1; // in elements, with padding
  int64_t panel = 0;     // 0: no panels
  bool asFloat = false;  // holds values of a half type as f32, converted once for a dot
  uint64_t offset = 0;   // in bytes, from the start of the workspace
};

/// A loop nest: the stores and buffered values of one shape that it computes.
struct Nest {
  enum class Order {
    Rows,            // row by row, or by register tiles
    TransposedLoad,  // square blocks of a buffered load, read by columns
    TransposedStore, // square blocks, stored by columns
  };
  struct Root {
    tile::StoreOp store; // or
    mlir::Value value;   // written to `target`
    Buffer target;
  };

  Order order = Order::Rows;
  unsigned laneAxis = 0; // along which vectors lie: 0 (columns), or another if there is one column
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<Root> roots;
  bool isBuffered = false; // later readers of the root's value read its buffer
  /// Set: the buffer keeps the tile of the program before this one while none of these indices changes.
  std::optional<llvm::SmallVector<mlir::Value>> keptFor = {};
  tile::StoreOp onlyReader = {};                       // of the root's buffer, if there is one
  llvm::SmallVector<tile::StoreOp> limits = {};        // by axis: its bounds end the loop; null: the shape does
  int64_t columnUnit = 1;                              // a loop over columns that `limits` ends is rounded up to it
  std::optional<unsigned> keysAxis = {};               // the axis whose loop ends with the last key
  llvm::SmallVector<mlir::Value> registerBlocked = {}; // computed a register tile at a time, for all roots
  llvm::SmallVector<tile::LoadOp> guarded = {};        // loads in registerBlocked that may leave their buffers
  llvm::SmallVector<tile::LoadOp> windows = {};        // those of `guarded` whose rows are rows of the nest
  llvm::SmallVector<mlir::Value> transposedLoads = {}; // read by columns, if this nest runs alone
};

struct MemoryLoop;
/// Neighbouring nests run together, row by row, if each of their rows depends only on the same row of the others.
using Step = std::variant<Nest, std::unique_ptr<MemoryLoop>>;
using Steps = std::vector<Step>;

/// A loop that stores, or whose carried tiles cannot stay in registers. Its carried tiles are buffered, and each
/// iteration is a sequence of steps.
struct MemoryLoop {
  mlir::scf::ForOp op;
  int64_t step;
  llvm::SmallVector<Buffer> current, next; // of each carried tile; the same buffer if it is updated in place
  Steps initial, body, update;
};

struct KernelPlan {
  Steps steps;
  uint64_t workspaceBytes = 0;
  DotSchedule dots;
  LiveKeys keys;
  unsigned registerColumns = 0; // of a register tile
  uint32_t clampableAxes = 0;   // bit per axis: Position::clampable may be set (see there)
};

} // namespace tilewright::host
