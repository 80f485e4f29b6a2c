// SPDX-License-Identifier: Apache-2.0
// Stores by the copy engine. Each warp works without the others: it holds all elements of its pieces, and has rooms of
// its own, which are buffers in shared memory of one piece each (tilegen/tile/StorePieces.h).
//
//   for each piece:    lane 0 waits until its room was read ; the warp meets
//                      lanes write their elements, and publish them ; the warp meets
//                      lane 0 starts the store
//
// The wait counts groups of stores, and each piece is a group. Rooms are taken in turn, so with n rooms the piece that
// was in a room before is at least n groups old, whatever other tiles were stored between.
//
// Where pieces take turns, each of them is behind a branch of its own, which also computes what is elementwise of it.
#include "backend/gpu/KernelDistributor.h"
#include "tilegen/tile/StorePieces.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

class KernelDistributor::BulkStoreLowering {
public:
  BulkStoreLowering(KernelDistributor &d, BulkStoreOp op)
      : d_(d), b_(d.b_), op_(op), type_(cast<RankedTensorType>(op.getValue().getType())), shape_(type_.getShape()),
        layout_(layoutOf(type_)), pieces_(*storePieces(type_, op.getFast())) {}

  void run() {
    int64_t pieceBytes = pieces_.rows * tensorMapRowBytes, rooms = op_.getRooms();
    Value ofWarp = arith::MulIOp::create(b_, d_.warp_, d_.i32(rooms * pieceBytes));
    Value first = offset(d_.shared_, arith::AddIOp::create(b_, ofWarp, d_.i32(*op_.getScratch())));
    thread_ = d_.linear(
        d_.lane_, SmallVector<uint32_t>(llvm::map_range(layout_.lane, [&](uint32_t basis) { return address(basis); })));
    auto room = [&](int64_t piece) { return offset(first, d_.i32(piece % rooms * pieceBytes)); };
    if (op_.getTurn())
      return storeInTurns(d_.scalar(op_.getTurn()), room);
    for (int64_t piece = 0; piece < pieces_.count(); ++piece)
      storeShare(piece, 0, room(piece));
  }

private:
  uint32_t address(uint32_t flat) { return pieces_.address(shape_, op_.getFast(), flat); }
  Value offset(Value base, Value bytes) {
    return LLVM::GEPOp::create(b_, base.getType(), b_.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  }

  void storeInTurns(Value turn, llvm::function_ref<Value(int64_t)> room) {
    SmallVector<Value> late = d_.takeWaiting(op_->getBlock());
    d_.computeWaiting(); // else what a branch computes first would be used behind it
    int64_t shares = op_.getShares();
    for (int64_t number = 0; number < pieces_.count() * shares; ++number) {
      OpBuilder::InsertionGuard guard(b_);
      auto known = d_.registers_;
      enterTurn(turn, number);
      int64_t piece = number / shares;
      hideCarried(late, piece, number % shares);
      storeShare(piece, number % shares, room(piece));
      d_.registers_ = std::move(known);
    }
    d_.waiting_.append(late);
  }

  /// The elements of a share, as numbers of a thread's elements in the piece.
  auto numbersOf(int64_t share) {
    unsigned count = pieces_.elements() / op_.getShares();
    return llvm::seq<unsigned>(share * count, (share + 1) * count);
  }

  /// Hides where the registers of a share come from, in the tiles that loops carry and `late` reads. A branch computes
  /// the same in each step, and LLVM would compute all of it in front of the steps, where nothing is multiplied.
  void hideCarried(ArrayRef<Value> late, int64_t piece, int64_t share) {
    constexpr unsigned wordBits = 32;
    SetVector<Value> carried;
    for (Value tile : late)
      for (Value operand : tile.getDefiningOp()->getOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.getType());
            type && isa<BlockArgument>(operand) && llvm::is_contained({16, 32}, type.getElementTypeBitWidth()))
          carried.insert(operand);
    for (Value tile : carried) {
      Type element = cast<RankedTensorType>(tile.getType()).getElementType(), word = b_.getI32Type();
      unsigned together = wordBits / element.getIntOrFloatBitWidth();
      Registers &registers = d_.registers_[tile];
      SmallVector<unsigned> numbers =
          llvm::map_to_vector(numbersOf(share), [&](unsigned number) { return pieces_.registerAt(piece, number); });
      for (size_t i = 0; i < numbers.size(); i += together) {
        Registers pair;
        for (unsigned r : ArrayRef(numbers).slice(i, together))
          pair.push_back(registers[r]);
        Value vector = vector::FromElementsOp::create(b_, VectorType::get(together, element), pair);
        Value hidden = d_.target_.opaque(b_, LLVM::BitcastOp::create(b_, word, vector));
        vector = LLVM::BitcastOp::create(b_, vector.getType(), hidden);
        for (unsigned j = 0; j < together; ++j)
          registers[numbers[i + j]] = vector::ExtractOp::create(b_, vector, j);
      }
    }
  }

  /// What is built from here on runs if it is this turn.
  void enterTurn(Value turn, int64_t number) {
    Value isNow = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, turn, arith::ConstantIndexOp::create(b_, number));
    b_.setInsertionPointToStart(scf::IfOp::create(b_, isNow, /*withElse=*/false).thenBlock());
  }

  void storeShare(int64_t piece, int64_t share, Value room) {
    CopyEngine &engine = *d_.target_.copyEngine();
    bool isFirst = share == 0, isLast = share + 1 == static_cast<int64_t>(op_.getShares());
    if (isFirst && !d_.faults_.dropStoreWaits)
      d_.byFirstLane([&] { engine.awaitStores(b_, op_.getRooms() - 1); });
    // Elements are computed behind the branch: if sums are read before a branch, ptxas serializes the matrix products
    // of the main loop.
    Registers elements;
    for (unsigned number : numbersOf(share))
      elements.push_back(d_.registerOf(op_.getValue(), pieces_.registerAt(piece, number)));
    if (isFirst)
      engine.meetWarp(b_);
    write(piece, room, elements, *numbersOf(share).begin());
    if (!isLast)
      return;
    if (!d_.faults_.dropProxyFences)
      d_.target_.publishShared(b_);
    engine.meetWarp(b_);
    d_.byFirstLane([&] {
      engine.storeBox(b_, room, d_.scalar(op_.getMap()), coordinatesOf(piece));
      engine.commitStores(b_);
    });
  }

  /// Whether an instruction of the engine writes a piece: a thread holds pairs of neighbours in a row, four lanes the
  /// next pairs, and eight lanes other rows, as with the sums of matrix instructions.
  bool isMatrices() {
    auto isAlongRow = [&](uint32_t basis, unsigned bit) { return basis == shape_.basis(op_.getFast(), bit); };
    return elementBytes(type_.getElementType()) == 2 && pieces_.within.size() >= 3 &&
           isAlongRow(layout_.reg[pieces_.within[0]], 0) && isAlongRow(layout_.lane[0], 1) &&
           isAlongRow(layout_.lane[1], 2);
  }

  /// Eight elements at a time are four matrices of pairs: the second and third bit of an element's number in the piece
  /// are the matrix's number.
  void writeMatrices(int64_t piece, Value room, ArrayRef<Value> elements, unsigned first) {
    constexpr unsigned pair = 2, together = StorePieces::shareElements;
    Type element = type_.getElementType();
    uint32_t ofRows[] = {layout_.lane[2], layout_.lane[3], layout_.lane[4], layout_.reg[pieces_.within[1]],
                         layout_.reg[pieces_.within[2]]};
    Value row = d_.linear(
        d_.lane_, SmallVector<uint32_t>(llvm::map_range(ofRows, [&](uint32_t basis) { return address(basis); })));
    for (unsigned i = 0; i < elements.size(); i += together) {
      SmallVector<Value> words;
      for (unsigned j = i; j < i + together; j += pair) {
        Value both = vector::FromElementsOp::create(b_, VectorType::get(pair, element), elements.slice(j, pair));
        words.push_back(LLVM::BitcastOp::create(b_, b_.getI32Type(), both));
      }
      d_.target_.copyEngine()->writeMatrices(b_, elementAt(room, row, piece, first + i), words);
    }
  }

  /// Where element `number` of a piece is in its room; `thread` is the lane's part of the address.
  Value elementAt(Value room, Value thread, int64_t piece, unsigned number) {
    Value position =
        arith::XOrIOp::create(b_, thread, d_.i32(address(layout_.element(pieces_.registerAt(piece, number)))));
    return LLVM::GEPOp::create(b_, room.getType(), type_.getElementType(), room, ArrayRef<LLVM::GEPArg>{position});
  }

  /// Writes elements of a thread in a piece, from number `first` on.
  void write(int64_t piece, Value room, ArrayRef<Value> elements, unsigned first) {
    if (isMatrices())
      return writeMatrices(piece, room, elements, first);
    Type element = type_.getElementType();
    unsigned count = pieces_.neighbours(layout_, shape_, op_.getFast(), storedChunkBytes / elementBytes(element));
    for (unsigned i = 0; i < elements.size(); i += count) {
      Value value = elements[i];
      if (count > 1)
        value = vector::FromElementsOp::create(b_, VectorType::get(count, element), elements.slice(i, count));
      LLVM::StoreOp::create(b_, value, elementAt(room, thread_, piece, first + i), count * elementBytes(element));
    }
  }

  /// The coordinates of this warp's piece in the tensor: the tile's, plus the piece's in the tile.
  SmallVector<Value> coordinatesOf(int64_t piece) {
    SmallVector<Value> coordinates;
    uint32_t start = layout_.element(pieces_.registerAt(piece, 0));
    for (auto [i, coordinate] : llvm::enumerate(op_.getCoordinates())) {
      Value word = d_.word(coordinate);
      if (i < 2) {
        unsigned dim = i ? pieces_.rowDim : op_.getFast();
        Value warps = d_.linear(d_.warp_, SmallVector<uint32_t>(llvm::map_range(layout_.warp, [&](uint32_t basis) {
                                  return shape_.coordinate(basis, dim);
                                })));
        word = arith::AddIOp::create(b_, word, arith::AddIOp::create(b_, warps, d_.i32(shape_.coordinate(start, dim))));
      }
      coordinates.push_back(word);
    }
    return coordinates;
  }

  KernelDistributor &d_;
  ImplicitLocOpBuilder &b_;
  BulkStoreOp op_;
  RankedTensorType type_;
  TileShape shape_;
  Layout layout_;
  StorePieces pieces_;
  Value thread_; // the lane's part of an element's address
};

/// The elementwise results in `block` that are not computed yet. They wait no longer: the caller has branches compute
/// what they need of them.
SmallVector<Value> KernelDistributor::takeWaiting(Block *block) {
  auto isOwn = [&](Value tile) { return tile.getParentBlock() == block && !loads_.contains(tile); };
  SmallVector<Value> taken(llvm::make_filter_range(waiting_, isOwn));
  llvm::erase_if(waiting_, isOwn);
  return taken;
}

void KernelDistributor::lowerBulkStore(BulkStoreOp op) { BulkStoreLowering(*this, op).run(); }

/// A block's shared memory is released when it ends, so a role that has stored waits until its last room was read.
void KernelDistributor::finishBulkStores(Region &body) {
  if (storesByEngine(body) && !faults_.dropStoreWaits)
    byFirstLane([&] { target_.copyEngine()->awaitStores(b_, 0); });
}
