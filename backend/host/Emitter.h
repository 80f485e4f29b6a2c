// One tile kernel to one LLVM function, by demand: a store pulls its value one register tile at a time through whatever
// computes it.
//
//   store y[r, c..c+63]  <-  mulf  <-  load x[r, c..c+63]
//                                  <-  broadcast <- reduce (held in the workspace: computed once per row)
//
// Emitter.cpp pulls values, Memory.cpp reads and writes memory, Loops.cpp runs dot, reduce and scf.for in registers,
// Program.cpp decides what is held in the workspace and in which loops the stores run.
#pragma once

#include "backend/host/HostBackend.h"
#include "backend/host/Position.h"
#include "tilegen/tile/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>

namespace tilewright::host {

using Rows = llvm::SmallVector<llvm::Value *, 8>; // one vector, or scalar, for each row of a position

/// A tile held in memory: rows of `rowStride` elements, or panels of `panel` columns (all rows of one panel, then the
/// next).
struct Held {
  llvm::Value *base = nullptr;
  llvm::SmallVector<int64_t> shape;
  int64_t rowStride = 1, panel = 0; // rowStride counts the padding
  llvm::Type *element = nullptr;    // set: held wider than the tile (half types as f32, for dot alone)
  llvm::SmallVector<Ix> origin;     // by axis, subtracted from coordinates: what is held may be a part of the tile
};

/// What is computed in one loop nest: stores and held values of one shape.
struct Group {
  struct Root {
    tile::StoreOp store; // or
    mlir::Value value;   // to be held in
    Held target;
  };
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<Root> roots;
  llvm::SmallVector<Ix> limits = {};         // of the loops, by axis
  Position position = {};                    // in the loops that are open
  llvm::SmallVector<mlir::Value> heavy = {}; // needed a register tile at a time
};

class Emitter {
public:
  Emitter(llvm::Module &module, tile::KernelOp kernel, const HostOptions &options);

  /// Emits the function; afterwards `workspaceBytes()` is what it needs.
  Status run();
  uint64_t workspaceBytes() const { return workspace; }

private:
  //===- Emitter.cpp: values
  Ix index(mlir::Value value);
  Ix indexOf(mlir::Operation *op);
  Ix evaluate(mlir::AffineMap map, unsigned result, llvm::ArrayRef<Ix> dims = {});
  Rows pull(mlir::Value value, const Position &position);
  Rows compute(mlir::Value value, const Position &position);
  Rows splat(const Rows &scalars, unsigned rows, unsigned width);
  bool isUniform(mlir::Value value, const Position &position);
  bool findUniform(mlir::Value value, const Position &position);
  Rows emitBroadcast(tile::BroadcastOp op, const Position &position);
  Rows emitCoordinate(tile::CoordinateOp op, const Position &position);
  Rows emitElements(mlir::Operation *op, const Position &position);
  llvm::Value *lanes(llvm::Type *type, unsigned width);
  void remember(mlir::Value value, const Position &position, const Rows &rows);
  void fail(mlir::Operation *op, const llvm::Twine &reason);
  llvm::Type *typeOf(mlir::Value value);
  Position uniformAt(const Position &position);

  //===- Memory.cpp
  struct Lanes;  // a coordinate along the lanes
  struct Access; // an address along the lanes, with the conditions under which it may be touched
  Lanes evaluateLanes(mlir::AffineExpr expr, llvm::ArrayRef<Lanes> dims, unsigned width);
  Lanes divideLanes(const Lanes &value, Ix divisor, bool wantRest, unsigned width);
  llvm::Value *deltas(const Lanes &value, unsigned width);
  Ix sum(llvm::ArrayRef<Ix> terms);
  Lanes addLanes(const Lanes &a, const Lanes &b, unsigned width);
  Lanes scaleLanes(const Lanes &a, Ix factor, unsigned width);
  struct Reference; // what a load and a store have in common
  Access access(const Reference &reference, const Position &position, unsigned row);
  void addBounds(const Reference &reference, const Position &position, unsigned row, Access &result,
                 llvm::MutableArrayRef<Lanes> coordinates);
  Lanes coordinateOf(const Reference &reference, const Position &position, unsigned row, unsigned i);
  std::optional<Lanes> divideTerms(llvm::ArrayRef<Ix> terms, int64_t divisor, bool wantRest);
  Reference referenceTo(tile::LoadOp op);
  llvm::SmallVector<llvm::Value *> commonGuards(tile::LoadOp load, const Position &position, mlir::Operation *scope);
  void addGuard(const Reference &reference, unsigned dim, const Lanes &coordinate, unsigned width, Access &result);
  Rows emitLoad(tile::LoadOp op, const Position &position);
  llvm::Value *addressOf(tile::LoadOp op, const Position &position, unsigned row, int64_t panel);
  llvm::Value *gather(llvm::Value *base, llvm::Value *offsets, llvm::Value *mask, llvm::Type *memory,
                      llvm::Value *fills);
  llvm::Value *loadAt(const Access &access, llvm::Type *element, llvm::Value *fill, unsigned width);
  Rows emitCheck(tile::CheckOp op, const Position &position);
  void emitStore(tile::StoreOp op, const Position &position, const Rows &rows);
  llvm::Value *fromMemory(llvm::Value *value, llvm::Type *element, unsigned width);
  llvm::Value *toMemory(llvm::Value *value, unsigned width);
  llvm::Value *heldAddress(const Held &held, const Position &position, unsigned row, llvm::Type *element);
  Rows loadHeld(const Held &held, mlir::Value value, const Position &position);
  void storeHeld(const Held &held, const Rows &rows, const Position &position);

  //===- Loops.cpp
  Rows emitDot(tile::DotOp op, const Position &position);
  bool canMultiplyQuads(tile::DotOp op);
  Rows emitQuads(tile::DotOp op, const Position &position);
  llvm::Value *insertLanes(llvm::Value *row, llvm::Value *part, unsigned first, llvm::Type *whole);
  llvm::Value *addQuads(llvm::Value *sum, llvm::Value *a, llvm::Value *b, bool aUnsigned, bool bUnsigned);
  Rows emitReduce(tile::ReduceOp op, const Position &position);
  Rows emitFor(mlir::scf::ForOp op, unsigned result, const Position &position);
  void whereLive(llvm::ArrayRef<llvm::Value *> guards, llvm::function_ref<void()> body);
  llvm::Value *combine(tile::ReduceKind kind, llvm::Value *a, llvm::Value *b);
  llvm::Value *identity(tile::ReduceKind kind, llvm::Type *type);
  llvm::Value *acrossLanes(tile::ReduceKind kind, llvm::Value *vector);
  llvm::Value *slot(llvm::Type *type); // an alloca, which becomes a register
  Ix liveSize(mlir::Value value, unsigned axis, Ix size, llvm::SmallVectorImpl<Position::Live> &facts);
  std::optional<Position::Live> liveBelow(mlir::Value value, unsigned axis,
                                          llvm::SmallVectorImpl<mlir::Value> &operands);
  llvm::Value *convertIfFloat(llvm::Value *value, llvm::Type *element, unsigned width);
  llvm::Value *columnsBefore(const Position &position); // lanes before position.end
  void pullUniform(mlir::Value value, const Position &position, llvm::DenseSet<mlir::Value> &seen);
  /// Runs over columns [from, to): vectors of `widest`, narrow ones, then the rest masked or one by one. Up to
  /// `wholeTo` `position`'s facts about columns hold.
  void overColumns(Ix from, Ix to, Ix wholeTo, unsigned widest, const Position &position,
                   llvm::function_ref<void(const Position &)> body);

  //===- Program.cpp
  void emitPrograms(llvm::Function *function);
  void emitBlock(mlir::Block &block);
  void emitEffectLoop(mlir::scf::ForOp op);
  void addStore(Group &group, tile::StoreOp store);
  void emitGroup(Group &group);
  tile::StoreOp storeLimiting(unsigned axis, int64_t size);
  void prepare(Group &group);
  static bool sharesRows(const Group &earlier, const Group &later);
  void flush();
  int64_t runOfRow(const Group &group, Ix to);
  void emitRows(const Group &group, Position position, Ix columnFrom, Ix columnTo);
  void emitHeavy(const Group &group);
  void emitColumns(const Group &group, Ix column, Ix columnEnd, unsigned width);
  void emitRegisters(const Group &group, llvm::ArrayRef<Ix> rows, Ix rowEnd, Ix column, Ix columnEnd, unsigned width);
  Held holdRegisters(const Rows &registers, Ix column, Ix row, unsigned width);
  bool hold(Group &group, mlir::Value value, int64_t panel = 0);
  void setHeld(mlir::Value value, Held target);
  void dropHeld(mlir::Value value);
  Held allocate(mlir::RankedTensorType type, int64_t panel);
  void holdOperands(Group &group, tile::DotOp dot);

  //===- Interior.cpp
  /// Rows of a group for which guards hold whatever else varies. Null: nothing is known.
  struct Interior {
    Ix first = nullptr, end = nullptr;
    llvm::DenseSet<std::pair<mlir::Operation *, int64_t>> guards; // a load, and a dimension of its buffer
  };
  void tighten(Interior &interior, tile::LoadOp load, int64_t dim);
  Interior interiorOf(const Group &group);

  //===- Across.cpp
  Rows transpose(Rows rows);
  void overBlocks(const Group &group, llvm::function_ref<void(Ix, Ix, const Position &)> body);
  llvm::SmallVector<Ix, 8> sideOfBlock(Ix first, Ix limit);
  void forgetPartial(Position &position, unsigned axis, Ix first, Ix limit);
  Rows pullAcross(mlir::Value value, const Position &position, Ix column, Ix row, Ix columns);
  void emitLoadAcross(Group &group);
  void emitFromAcross(const Group &group, llvm::ArrayRef<mlir::Value> loads);
  void emitStoreAcross(Group &group, tile::StoreOp store);

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> ir;
  IndexMath math;
  tile::KernelOp kernel;
  const HostOptions &options;
  unsigned wide, narrow; // elements of a main loop's vector, and of one register of f32
  bool masks;            // masked accesses of every element size
  unsigned registerRows = 6, registerColumns = 64;
  int64_t registerDepth = 0;              // sums return to memory after steps of at most this depth
  uint32_t parallelAxes = ~0u;            // axes along which nothing is reduced
  llvm::DenseSet<mlir::Value> contracted; // tiles whose rows a dot sums over

  llvm::Value *arguments = nullptr, *workspaceBase = nullptr, *errorWord = nullptr;
  llvm::SmallVector<llvm::Value *> buffers;
  llvm::SmallVector<Ix> symbols;
  llvm::SmallVector<Ix, 3> programId;
  llvm::DenseMap<mlir::Value, Ix> indices; // of symbols and loops
  llvm::DenseMap<mlir::Value, Held> held;
  std::vector<Group> phases;                                     // taken over by emitGroup, not emitted yet
  llvm::DenseSet<std::pair<mlir::Operation *, int64_t>> certain; // guards that hold in what is emitted now
  uint64_t workspace = 0;
  Status status;

  // Values already pulled at a position, forgotten when the scope closes in which they were computed.
  using PositionKey = std::vector<const void *>;
  PositionKey keyOf(mlir::Value value, const Position &position);
  std::map<PositionKey, Rows> pulled;
  llvm::SmallVector<llvm::SmallVector<PositionKey>> pulledAtDepth;

  // What isUniform found, by what it looks at of a position. What is held decides too, so a change of that forgets all.
  std::map<PositionKey, llvm::DenseMap<mlir::Value, bool>> uniform;
};

} // namespace tilewright::host
