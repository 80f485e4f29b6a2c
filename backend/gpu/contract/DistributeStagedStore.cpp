// SPDX-License-Identifier: Apache-2.0
// Stores of rows that begin anywhere, through shared memory. A chunk is 16 bytes at a multiple of 16, which is what a
// thread stores at once. Each warp works without the others: it holds all elements of its pieces, whose rows have 128
// bytes (tilegen/tile/StorePieces.h), and has a room of its own for one piece.
//
//   for each piece:    the warp meets: its room has been read
//                      lanes write their elements, each row as many elements further on as it begins behind a chunk
//                      the warp meets
//                      eight lanes store seven chunks of a row, and the elements of the chunks that the row shares
//                      with its neighbours, one by one
//
// So the chunks of a row in shared memory are those of its place in global memory:
//
//   columns           0   1   2 | 3   4   5   6   7   8   9  10 | 11 ...
//   in the room   .   .   .   . . a row that begins 5 elements behind a chunk
#include "backend/gpu/AccessContext.h"
#include "tilegen/tile/StorePieces.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

class KernelDistributor::StagedStoreLowering {
public:
  StagedStoreLowering(KernelDistributor &d, StoreOp op)
      : d_(d), b_(d.b_), value_(op.getValue()), fast_(*op.getStaged()), access_(Access::of(op)),
        element_(access_.tile.getElementType()), shape_(access_.tile.getShape()), layout_(layoutOf(access_.tile)),
        pieces_(*stagedPieces(access_.tile, fast_)), chunk_(storedChunkBytes / elementBytes(element_)),
        pitch_(stagedRowBytes / elementBytes(element_)), rows_(layoutOfRows()),
        held_(d, access_, layout_, alone(fast_)), stored_(d, access_, rows_, alone(fast_)) {
    Value ofWarp = arith::MulIOp::create(b_, d.warp_, d.i32(pieces_.rows * stagedRowBytes));
    Value offset = arith::AddIOp::create(b_, ofWarp, d.i32(*op.getScratch()));
    room_ = LLVM::GEPOp::create(b_, d.shared_.getType(), b_.getI8Type(), d.shared_, ArrayRef<LLVM::GEPArg>{offset});
    lane_ = arith::AndIOp::create(b_, d.lane_, d.i32(lanesOfRow - 1));
  }

  void run() {
    for (int64_t piece = 0; piece < pieces_.count(); ++piece) {
      Registers elements;
      for (unsigned i = 0; i < 1u << pieces_.within.size(); ++i)
        elements.push_back(d_.registerOf(value_, pieces_.registerAt(piece, i)));
      meet();
      write(piece, elements);
      meet();
      store(piece);
    }
  }

private:
  /// A row of a piece as a lane stores it.
  struct Row {
    Value start;    // of its first column in global memory, an element's number
    Value shift;    // elements from the start of its chunk to there: i32
    Value position; // of its first chunk in the room, an element's number: i32
    Value live;     // null: always
  };

  /// Chunks of one element: addresses are asked for one by one.
  static Chunks alone(unsigned dim) {
    Chunks chunks;
    chunks.dim = dim;
    return chunks;
  }

  void meet() {
    if (!d_.faults_.dropStoreWaits)
      d_.target_.copyEngine()->meetWarp(b_);
  }

  /// Who stores what: the lanes of a row one chunk each, of as many rows as there are lanes for. Registers are the
  /// other rows of a piece, then the pieces. The elements of a chunk are in none.
  Layout layoutOfRows() {
    Layout rows;
    rows.warp = layout_.warp;
    unsigned row = 0, chunkBits = llvm::Log2_64(chunk_);
    for (unsigned bit = 0; bit < llvm::Log2_64(lanesOfRow); ++bit)
      rows.lane.push_back(shape_.basis(fast_, chunkBits + bit));
    while (rows.lane.size() < layout_.lane.size())
      rows.lane.push_back(shape_.basis(pieces_.rowDim, row++));
    while (row < llvm::Log2_64(pieces_.rows))
      rows.reg.push_back(shape_.basis(pieces_.rowDim, row++));
    rowRegisters_ = 1u << rows.reg.size();
    for (unsigned bit : pieces_.pieces)
      rows.reg.push_back(layout_.reg[bit]);
    return rows;
  }

  uint32_t rowOf(uint32_t element) { return shape_.coordinate(element, pieces_.rowDim) & (pieces_.rows - 1); }
  uint32_t columnOf(uint32_t element) { return shape_.coordinate(element, fast_) & (pieces_.width - 1); }
  /// The part of a row or column that the lane's number gives.
  Value ofLane(const Layout &layout, llvm::function_ref<uint32_t(uint32_t)> coordinate) {
    return d_.linear(d_.lane_, SmallVector<uint32_t>(llvm::map_range(layout.lane, coordinate)));
  }

  Value add(Value a, Value b) { return arith::AddIOp::create(b_, a, b); }
  /// How many elements behind the start of a chunk an element of global memory is: i32.
  Value inChunk(Value address) {
    Value rest = arith::AndIOp::create(b_, address, stored_.constant(chunk_ - 1));
    return rest.getType().isInteger(32) ? rest : arith::TruncIOp::create(b_, b_.getI32Type(), rest).getResult();
  }
  Value pointer(Value position) {
    return LLVM::GEPOp::create(b_, room_.getType(), element_, room_, ArrayRef<LLVM::GEPArg>{position});
  }

  //===- To shared memory -----------------------------------------------------------------------------------------===//

  unsigned neighbours(int64_t limit) { return pieces_.neighbours(layout_, shape_, fast_, limit); }

  void writeAt(Value position, Value value, int64_t bytes) {
    LLVM::StoreOp::create(b_, value, pointer(position), bytes);
  }

  /// Two halves that no word holds together, since rows may begin at an odd element. They are one word before, so that
  /// one instruction rounds both. (Where ptxas 13 rounds sums of matrix instructions one by one behind a branch, it
  /// waits for each instruction of the main loop: its message C7514.)
  void writeHalves(Value position, ArrayRef<Value> halves) {
    Type word = b_.getI32Type(), half = b_.getI16Type();
    Value both = vector::FromElementsOp::create(b_, VectorType::get(2, element_), halves);
    both = d_.target_.opaque(b_, LLVM::BitcastOp::create(b_, word, both));
    Value second = arith::ShRUIOp::create(b_, both, d_.i32(16));
    writeAt(position, arith::TruncIOp::create(b_, half, both), 2);
    writeAt(add(position, d_.i32(1)), arith::TruncIOp::create(b_, half, second), 2);
  }

  void write(int64_t piece, ArrayRef<Value> elements) {
    Value column = ofLane(layout_, [&](uint32_t basis) { return columnOf(basis); }),
          row = ofLane(layout_, [&](uint32_t basis) { return rowOf(basis); });
    llvm::DenseMap<uint32_t, Value> starts; // of the lane's first column in the room, by the register's part of the row
    unsigned together = neighbours(vectorWidth(access_, fast_, chunk_)); // rows are known to begin so
    bool areHalves = together == 1 && elementBytes(element_) == 2 && neighbours(2) == 2;
    unsigned count = areHalves ? 2 : together;
    for (unsigned i = 0; i < elements.size(); i += count) {
      unsigned r = pieces_.registerAt(piece, i);
      uint32_t element = layout_.element(r), ofRow = rowOf(element), ofColumn = columnOf(element);
      Value &start = starts[ofRow];
      if (!start) {
        Value address = held_.place(r).address, held = add(column, d_.i32(ofColumn));
        Value first = arith::SubIOp::create(b_, address, stored_.widen(held));
        start = arith::MulIOp::create(b_, add(row, d_.i32(ofRow)), d_.i32(pitch_));
        start = add(add(start, column), inChunk(first));
      }
      Value position = add(start, d_.i32(ofColumn));
      if (areHalves)
        writeHalves(position, elements.slice(i, count));
      else if (count == 1)
        writeAt(position, elements[i], elementBytes(element_));
      else
        writeAt(position,
                vector::FromElementsOp::create(b_, VectorType::get(count, element_), elements.slice(i, count)),
                count * elementBytes(element_));
    }
  }

  //===- From there -----------------------------------------------------------------------------------------------===//

  Row rowAt(int64_t piece, unsigned i) {
    unsigned r = i + piece * rowRegisters_;
    Value address = stored_.place(r).address, column = arith::MulIOp::create(b_, lane_, d_.i32(chunk_));
    Value row = add(ofLane(rows_, [&](uint32_t basis) { return rowOf(basis); }), d_.i32(rowOf(rows_.element(r))));
    return {arith::SubIOp::create(b_, address, stored_.widen(column)), inChunk(address),
            arith::MulIOp::create(b_, row, d_.i32(pitch_)),
            d_.faults_.dropMasks ? Value() : stored_.isInBounds(r, /*except=*/fast_)};
  }

  /// Moves `count` elements, of which the first is `column` elements (i32) behind the row's first chunk.
  void move(const Row &row, Value column, int64_t count, Value condition) {
    onlyWhere(b_, condition, [&] {
      Type type = count == 1 ? element_ : VectorType::get(count, element_);
      unsigned bytes = count * elementBytes(element_);
      Value value = LLVM::LoadOp::create(b_, type, pointer(add(row.position, column)), bytes);
      Value chunk = arith::SubIOp::create(b_, row.start, stored_.widen(row.shift));
      LLVM::StoreOp::create(b_, value, stored_.pointer(add(chunk, stored_.widen(column))), bytes);
    });
  }

  /// A piece of which all columns are live. Its row begins and ends in chunks of which other pieces have the rest; what
  /// it has of both is as much as one chunk.
  Registers storeChunks(int64_t piece) {
    Value isInside = arith::CmpIOp::create(b_, arith::CmpIPredicate::ne, lane_, d_.i32(0));
    for (unsigned i = 0; i < rowRegisters_; ++i) {
      Row row = rowAt(piece, i);
      move(row, arith::MulIOp::create(b_, lane_, d_.i32(chunk_)), chunk_, stored_.both(row.live, isInside));
      Value isFirst = arith::CmpIOp::create(b_, arith::CmpIPredicate::uge, lane_, row.shift);
      Value live = row.live;
      if (chunk_ < lanesOfRow)
        live = stored_.both(live, arith::CmpIOp::create(b_, arith::CmpIPredicate::ult, lane_, d_.i32(chunk_)));
      move(row, arith::SelectOp::create(b_, isFirst, lane_, add(lane_, d_.i32(pieces_.width))), 1, live);
    }
    return {};
  }

  /// A piece whose columns the tensor's edge cuts.
  Registers storeElements(int64_t piece, Value liveColumns) {
    Value first = d_.i32(0), last = d_.i32(pieces_.width), step = d_.i32(lanesOfRow);
    SmallVector<Row> rows;
    for (unsigned i = 0; i < rowRegisters_; ++i)
      rows.push_back(rowAt(piece, i));
    auto loop = scf::ForOp::create(b_, first, last, step);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(loop.getBody());
    Value column = add(loop.getInductionVar(), lane_);
    Value isLive = arith::CmpIOp::create(b_, arith::CmpIPredicate::slt, column, liveColumns);
    for (const Row &row : rows)
      move(row, add(column, row.shift), 1, stored_.both(d_.faults_.dropMasks ? Value() : row.live, isLive));
    return {};
  }

  void store(int64_t piece) {
    if (isAlwaysLive(access_, fast_)) {
      storeChunks(piece);
      return;
    }
    uint32_t column = shape_.coordinate(layout_.element(pieces_.registerAt(piece, 0)), fast_);
    Value ofWarp = d_.linear(d_.warp_, SmallVector<uint32_t>(llvm::map_range(layout_.warp, [&](uint32_t basis) {
                               return shape_.coordinate(basis, fast_);
                             })));
    Value live = arith::SubIOp::create(b_, stored_.remaining[fast_], add(ofWarp, d_.i32(column)));
    Value isWhole = arith::CmpIOp::create(b_, arith::CmpIPredicate::sge, live, d_.i32(pieces_.width));
    eitherWay(b_, isWhole, {}, [&] { return storeChunks(piece); }, [&] { return storeElements(piece, live); });
  }

  KernelDistributor &d_;
  ImplicitLocOpBuilder &b_;
  Value value_;
  unsigned fast_;
  Access access_;
  Type element_;
  TileShape shape_;
  Layout layout_;
  StorePieces pieces_;
  int64_t chunk_, pitch_;       // elements of a chunk, and from one row of the room to the next
  unsigned rowRegisters_ = 1;   // rows of a piece that one lane stores chunks of
  Layout rows_;                 // layoutOfRows
  AccessContext held_, stored_; // addresses of what threads hold, and of the chunks that they store
  Value room_, lane_;           // of this warp; the number of the lane among those of its row
};

void KernelDistributor::lowerStagedStore(StoreOp op) { StagedStoreLowering(*this, op).run(); }
