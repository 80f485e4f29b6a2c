// SPDX-License-Identifier: Apache-2.0
// The plan of a kernel: what its program computes, in which order, and what it keeps in memory meanwhile.
//
//   softmax                                          matmul with an epilogue
//     nest  max = reduce x         -> buffer 0         nest  y = f(dot)     register-blocked: dot
//     nest  e = exp(x - max)       -> buffer 1
//     nest  sum = reduce e         -> buffer 2
//     nest  y = e / sum            -> store
//
// A plan is a value: it is made from the tile operations alone, before any code. Emission obeys it.
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
  int64_t rowStride = 1; // counts the padding
  int64_t panel = 0;     // 0: no panels
  bool asFloat = false;  // half types, converted once to f32 for a dot
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
    mlir::Value value;   // written to
    Buffer target;
  };

  Order order = Order::Rows;
  unsigned laneAxis = 0; // along which vectors lie: 0, the columns, or where there is only one of them another axis
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<Root> roots;
  bool isBuffered = false;                      // whoever reads the root's value afterwards finds it in its buffer
  tile::StoreOp onlyReader = {};                // of the root's buffer, if there is one
  llvm::SmallVector<tile::StoreOp> limits = {}; // by axis: the store whose bounds end the loop; null: the shape does
  int64_t columnUnit = 1;                       // a limited loop over columns ends at a multiple of it
  std::optional<unsigned> keysAxis = {};        // the axis whose loop ends with the last key
  llvm::SmallVector<mlir::Value> registerBlocked = {}; // computed a register tile at a time, for all roots
  llvm::SmallVector<tile::LoadOp> guarded = {};        // loads of these that may leave their buffers
  llvm::SmallVector<tile::LoadOp> windows = {};        // those of them whose rows are rows of the nest
  llvm::SmallVector<mlir::Value> transposedLoads = {}; // read by columns, if this nest runs alone
};

struct MemoryLoop;
/// Neighbouring nests whose rows depend on the same rows only run row by row together.
using Step = std::variant<Nest, std::unique_ptr<MemoryLoop>>;
using Steps = std::vector<Step>;

/// A loop that stores, or whose carried tiles do not stay in registers: they are buffered, and an iteration is a
/// sequence of steps.
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
  uint32_t clampableAxes = 0;   // bit per axis: elements outside of the bounds are never combined with others
};

} // namespace tilewright::host
