// SPDX-License-Identifier: Apache-2.0
// A softmax between two contractions, summed a block of keys at a time.
//
//   %q = tile.load ...                                                   rows x head, once if one tile holds the head
//   %m, %l, %acc = scf.for %n = 0 to keys step 64 iter_args(-inf, 0, 0) {
//     %s = tile.dot %q, (tile.load keys), 0                              rows x keys
//     %x = scale, mask of %s; -inf beyond the last key
//     %m' = max(%m, tile.reduce <max> %x)                                the largest logit so far
//     %p = exp(%x - %m')
//     %a = exp(%m - %m')                                                 what the sums so far are worth
//     yield %m', %l * %a + tile.reduce <sum> %p, tile.dot %p, (tile.load values), %acc * %a
//   }
//   %acc / %l, and the epilogue
//
// Rows are summed relative to the largest logit so far. A row whose logits are all -inf so far is relative to 0: its
// sum is 0 then, and the quotient is NaN, as the model's is. If one tile holds all keys there is no loop.
//
// Blocks whose weights are rounded to halves compute exp2 instead where they can (fusion/keys/ScaledLogits.h): %x are
// the units then, and the loop carries the largest logit times log2 e.
//
// If the schedule has `parts`, several programs take a part of the keys each, and tile.part_join says behind the loop
// how two parts become one: both are made relative to the larger of their largest logits, and added.
//
// Where indices tell which keys count in a row (fusion/keys/KeyRange.h), the loop runs over those that count in some
// row of the tile: under a causal mask up to those of its last row, in a sliding window from those of its first row on.
// Where they tell for which keys a mask is neutral (fusion/keys/NeutralMasks.h), blocks compute it in the other steps:
//
//     %x = scf.for %i = 0 to %masked step 64 iter_args(%s)      of one step, or of none
//
#include "fusion/keys/ScaledLogits.h"
#include "tilegen/emit/Materialize.h"
#include "tilegen/index/TileRange.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilewright::tilegen {
namespace {

/// Keys at least `from` and less than `below`; null where there is no such bound.
struct KeysBetween {
  Value from, below;
};

class AttentionEmitter {
public:
  AttentionEmitter(TileEmitter &emitter, tile::ScheduleAttr schedule)
      : emitter(emitter), schedule(schedule), space(emitter.getSpace()), parts(*space.attention),
        builder(emitter.getBuilder()), tiles(emitter), rows(space.loopsOfKind(LoopKind::Row).front()),
        keys(space.loopsOfKind(LoopKind::Reduction).front()), columns(space.loopsOfKind(LoopKind::Column).front()),
        head(space.loopsOfKind(LoopKind::Reduction).back()), f32(builder.getF32Type()) {
    if (isApproximate() && !isVectors())
      scaled = fusion::scaledLogits(parts);
  }

  LogicalResult emit();

private:
  int64_t multipleOfFirst();
  void boundKeys();
  Value endOfTile(AffineExpr expr, bool highest, int64_t multiple = 1);
  std::optional<KeysBetween> neutralKeys(const NeutralMask &mask);
  Value maskUnless(const KeysBetween &neutral, Value tile, llvm::function_ref<Value(Value)> mask);
  bool maskUnlessNeutral();
  /// The softmax of the keys so far: for each row the largest logit and the sum of weights, and the mix, not divided
  /// yet.
  struct State {
    Value max, sum, mix;
  };
  State step(std::optional<State> before);
  Value shiftOf(Value max);
  Value inPowersOfTwo(Value units);
  Value relative(Value tile, Value shift, arith::FastMathFlags flags = arith::FastMathFlags::none);
  State joined(State a, State b);
  std::optional<int64_t> liveSize(unsigned loop);
  DenseI64ArrayAttr liveSizes();
  SmallVector<Value> joinParts(ValueRange parts);
  Value logits();
  Value product(Value lhs, Value rhs, Value sums, unsigned depth, unsigned columns);
  LogicalResult storeOutputs(State state);

  Frame frameOf(unsigned row, unsigned column) const;
  Value load(Value value, ArrayRef<AffineExpr> coordinates, const Frame &frame, ArrayRef<unsigned> masked);
  Value number(double value, ArrayRef<int64_t> shape) {
    return emitter.splat(builder.getF32FloatAttr(static_cast<float>(value)), shape);
  }
  template <typename Op> Value join(Value a, Value b);
  Value smaller(Value a, Value b) { return joinIndices<arith::MinSIOp>(a, b); }
  Value larger(Value a, Value b) { return joinIndices<arith::MaxSIOp>(a, b); }
  template <typename Op> Value joinIndices(Value a, Value b) {
    emitter.at(std::max(emitter.depthOf(a), emitter.depthOf(b)));
    return Op::create(builder, emitter.loc, a, b);
  }
  Value isAny(arith::CmpFPredicate predicate, Value tile, double value);
  Value reduce(tile::ReduceKind kind, Value tile);
  Value narrowValues();
  /// The element type of the weights in the second product.
  Type weightType() { return cast<RankedTensorType>(parts.sharesOperand().getType()).getElementType(); }
  bool isApproximate() { return weightType() != f32; }
  bool isVectors() const { return !schedule.getRegisters().empty(); }
  SmallVector<int64_t> shapeOf(const Frame &frame) const {
    return llvm::map_to_vector(frame, [&](unsigned loop) { return emitter.tileOf(loop); });
  }

  TileEmitter &emitter;
  tile::ScheduleAttr schedule;
  const KernelSpace &space;
  fusion::Attention parts;
  OpBuilder &builder;
  Materializer tiles;
  unsigned rows, keys, columns, head;
  Type f32;
  std::optional<fusion::ScaledLogits> scaled; // nullopt: powers of e, of the logits themselves
  Value allKeys;                              // their number
  Value first, end;                           // the keys that count in some row of the tile; null where all do
  /// For each of the space's masks, the keys for which it is neutral in all rows of the tile; nullopt where none are
  /// known.
  SmallVector<std::optional<KeysBetween>> neutral;
};

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The number of the first key that is visited is a multiple of this, so that loads along the keys are aligned vectors.
constexpr int64_t keysTogether = 16;

} // namespace

/// The highest value of `expr` in the rows of this tile, or the lowest one rounded down to a multiple; null if it is
/// not known.
Value AttentionEmitter::endOfTile(AffineExpr expr, bool highest, int64_t multiple) {
  SmallVector<int64_t> sizes;
  SmallVector<AffineExpr> used(space.loops().size(), builder.getAffineConstantExpr(0));
  SmallVector<Value> offsets;
  for (unsigned loop = 0; loop < used.size(); ++loop) {
    sizes.push_back(emitter.tileOf(loop));
    if (!dependsOn(expr, loop))
      continue;
    used[loop] = builder.getAffineDimExpr(offsets.size());
    offsets.push_back(emitter.offsetOf(loop));
  }
  index::TileRange range = index::rangeOnTile(expr, sizes);
  AffineExpr value = !range.low ? AffineExpr() : highest ? range.high : range.low.floorDiv(multiple) * multiple;
  return value ? emitter.index(value.replaceDims(used), offsets) : Value();
}

/// What the number of the first key is a multiple of. Tiles from another multiple of keysTogether on may pass the last
/// key, even if they divide the number of keys. Then something must exclude the keys behind it: the mask of a tile that
/// may be cut, the end of a vector's loop, or a mask that excludes all of them for every row.
int64_t AttentionEmitter::multipleOfFirst() {
  IndexAlgebra facts = space.nest.algebra();
  auto excludes = [&](AffineExpr below) { return facts.isNonNegative(emitter.sizeOf(keys) - below); };
  bool mayPass = !emitter.isEven(keys) || (end && isVectors()) || llvm::any_of(space.keysBelow, excludes);
  return mayPass ? keysTogether : emitter.tileOf(keys);
}

/// Sets the first key and the end of the keys that the tile visits. There is at least one, so that a tile whose rows
/// have no keys that count needs no code of its own.
void AttentionEmitter::boundKeys() {
  for (AffineExpr expr : space.keysBelow)
    if (Value value = endOfTile(expr, /*highest=*/true))
      end = smaller(end ? end : allKeys, value);
  for (AffineExpr expr : space.keysFrom)
    if (Value value = endOfTile(expr, /*highest=*/false, multipleOfFirst()))
      first = larger(first ? first : emitter.indexConstant(0), value);
  if (!end)
    return;
  IndexAlgebra facts = space.nest.algebra();
  if (!llvm::all_of(space.keysBelow, [&](AffineExpr expr) { return facts.isNonNegative(expr - 1); }))
    end = larger(end, emitter.indexConstant(1));
}

std::optional<KeysBetween> AttentionEmitter::neutralKeys(const NeutralMask &mask) {
  KeysBetween keys;
  for (AffineExpr expr : mask.from) {
    Value value = endOfTile(expr, /*highest=*/true);
    if (!value)
      return std::nullopt;
    keys.from = keys.from ? larger(keys.from, value) : value;
  }
  for (AffineExpr expr : mask.below) {
    Value value = endOfTile(expr, /*highest=*/false);
    if (!value)
      return std::nullopt;
    keys.below = keys.below ? smaller(keys.below, value) : value;
  }
  return keys;
}

/// The dimensions of a matrix of `row` by `column`: the batch comes first.
Frame AttentionEmitter::frameOf(unsigned row, unsigned column) const {
  Frame frame = space.loopsOfKind(LoopKind::Parallel);
  frame.append({row, column});
  return frame;
}

/// A whole tile of an operand, with zero beyond the end of the loops in `masked`; null after a diagnostic.
Value AttentionEmitter::load(Value value, ArrayRef<AffineExpr> coordinates, const Frame &frame,
                             ArrayRef<unsigned> masked) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  auto zero = cast<TypedAttr>(builder.getZeroAttr(element));
  Value tile = tiles.materializeMasked(value, {{Exprs(coordinates), {}}, {}}, frame, masked, zero);
  return tile ? emitter.broadcast(tile, shapeOf(frame)) : Value();
}

/// Op(a, b) in the shape of both.
template <typename Op> Value AttentionEmitter::join(Value a, Value b) {
  unsigned rank = cast<RankedTensorType>(a.getType()).getRank();
  SmallVector<int64_t> shape = TileEmitter::joinShapes({a, b}, SmallVector<int64_t>(rank, 1));
  a = emitter.broadcast(a, shape);
  b = emitter.broadcast(b, shape);
  emitter.at(std::max(emitter.depthOf(a), emitter.depthOf(b)));
  return Op::create(builder, emitter.loc, a, b);
}

Value AttentionEmitter::isAny(arith::CmpFPredicate predicate, Value tile, double value) {
  Value other = number(value, cast<RankedTensorType>(tile.getType()).getShape());
  emitter.at(emitter.depthOf(tile));
  return arith::CmpFOp::create(builder, emitter.loc, predicate, tile, other);
}

/// Along the keys, the last dimension.
Value AttentionEmitter::reduce(tile::ReduceKind kind, Value tile) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(tile.getType()).getShape());
  shape.back() = 1;
  emitter.at(emitter.depthOf(tile));
  return tile::ReduceOp::create(builder, emitter.loc, RankedTensorType::get(shape, f32), kind, tile, shape.size() - 1);
}

/// The product of tiles that are summed along loop `depth`, and whose columns are those of loop `columns`. Where a loop
/// that one tile holds ends within it, the rest of the tile need not be multiplied.
Value AttentionEmitter::product(Value lhs, Value rhs, Value sums, unsigned depth, unsigned columns) {
  emitter.at(std::max({emitter.depthOf(lhs), emitter.depthOf(rhs), emitter.depthOf(sums)}));
  auto dot = tile::DotOp::create(builder, emitter.loc, lhs, rhs, sums, /*lhsUnsigned=*/false, /*rhsUnsigned=*/false);
  if (std::optional<int64_t> live = liveSize(depth))
    dot.setLiveDepth(live);
  if (std::optional<int64_t> live = liveSize(columns); live && columns != keys) // the softmax reads all keys
    dot.setLiveColumns(live);
  return dot;
}

/// The size of a loop that is known to end within the only tile along it; nullopt for other loops.
std::optional<int64_t> AttentionEmitter::liveSize(unsigned loop) {
  auto size = dyn_cast<AffineConstantExpr>(emitter.sizeOf(loop));
  return size && size.getValue() > 0 && size.getValue() < emitter.tileOf(loop) ? std::optional(size.getValue())
                                                                               : std::nullopt;
}

//===- Masks ------------------------------------------------------------------------------------------------------===//

/// `mask` of `tile`, or `tile` itself where the mask is neutral for all keys of this step. As placed programs have no
/// scf.if with results, it is a loop of one step, or of none where all keys of this step are between `neutral.from` and
/// `neutral.below`.
Value AttentionEmitter::maskUnless(const KeysBetween &neutral, Value tile, llvm::function_ref<Value(Value)> mask) {
  AffineExpr d0 = builder.getAffineDimExpr(0), d1 = builder.getAffineDimExpr(1);
  Value position = emitter.offsetOf(keys), masked;
  if (neutral.from)
    masked = emitter.index(d0 - d1, {neutral.from, position});
  if (neutral.below) {
    Value behind = emitter.index(d0 + emitter.tileOf(keys) - d1, {position, neutral.below});
    masked = masked ? larger(masked, behind) : behind;
  }
  auto body = [&](ValueRange carried) {
    emitter.setOffset(keys, emitter.index(d0 + d1, {position, emitter.offsetOf(keys)}));
    return SmallVector<Value>{mask(carried.front())};
  };
  Value times = smaller(masked, emitter.indexConstant(1));
  return emitter.forTilesBetween(keys, emitter.indexConstant(0), times, {tile}, body).front();
}

/// Masks the scores up to the last mask that is neutral for some keys; false after a diagnostic.
bool AttentionEmitter::maskUnlessNeutral() {
  Frame frame = frameOf(rows, keys);
  for (auto [mask, keys] : llvm::zip_equal(space.masks, neutral)) {
    if (!keys)
      continue;
    Place place{{mask.at, {}}, {}};
    Value scores = tiles.materialize(mask.scores, place, frame), result = mask.mask->getResult(0);
    if (!scores)
      return false;
    bool ok = true;
    Value tile = maskUnless(*keys, scores, [&](Value tile) {
      tiles.resolve(mask.scores, tile);
      Value masked = tiles.materialize(result, place, frame);
      ok = masked != nullptr;
      return ok ? masked : tile;
    });
    if (!ok)
      return false;
    tiles.resolve(mask.scores, scores);
    tiles.resolve(result, tile);
  }
  return true;
}

//===- A step -----------------------------------------------------------------------------------------------------===//

/// The tile of logits of the current keys, or of their units, with -inf beyond the last key; null after a diagnostic.
Value AttentionEmitter::logits() {
  Frame frame = frameOf(rows, keys);
  bool ok = true;
  SmallVector<Value> scores = emitter.forEachTile({head}, {number(0, shapeOf(frame))}, [&](ValueRange carried) {
    Value queryTile = load(space.lhs, space.lhsCoordinates, frameOf(rows, head), {head});
    Value keyTile = queryTile ? load(space.rhs, space.rhsCoordinates, frameOf(head, keys), {head}) : Value();
    ok = keyTile != nullptr;
    return SmallVector<Value>{ok ? product(queryTile, keyTile, carried[0], head, keys) : carried[0]};
  });
  if (!ok)
    return {};
  tiles.resolve(parts.scores.getResult(), scores[0]);
  bool skipsMasks = !isVectors() && emitter.depth();
  if (skipsMasks && !maskUnlessNeutral())
    return {};
  Value tile = tiles.materialize(scaled ? scaled->units : parts.logits, {{space.logits, {}}, {}}, frame);
  bool endsInTile = end && isVectors(); // vectors end their loops there (LiveKeys of the host)
  if (!tile || (emitter.isEven(keys) && !endsInTile))
    return tile;
  auto whereLive = [&](Value tile) {
    Value live = endsInTile ? emitter.liveMask(keys, end, frame) : emitter.liveMask(keys, frame);
    return emitter.select(live, tile, builder.getF32FloatAttr(-infinity));
  };
  return skipsMasks ? maskUnless({{}, allKeys}, tile, whereLive) : whereLive(tile);
}

/// The number that is subtracted from a row's logits: its largest logit, or 0 if that is -inf.
Value AttentionEmitter::shiftOf(Value max) {
  return emitter.select(isAny(arith::CmpFPredicate::UNE, max, -infinity), max, builder.getF32FloatAttr(0));
}

/// The logits of these units, times log2 e.
Value AttentionEmitter::inPowersOfTwo(Value units) {
  return join<arith::MulFOp>(
      units, number(scaled->scale * llvm::numbers::log2e, cast<RankedTensorType>(units.getType()).getShape()));
}

/// exp(tile - shift), or exp2 if both are in powers of two.
Value AttentionEmitter::relative(Value tile, Value shift, arith::FastMathFlags flags) {
  Value exponent = join<arith::SubFOp>(tile, shift);
  emitter.at(emitter.depthOf(exponent));
  if (scaled)
    return math::Exp2Op::create(builder, emitter.loc, exponent);
  return math::ExpOp::create(builder, emitter.loc, exponent, flags);
}

/// The values as blocks multiply them: weights that are singles with halves.
Value AttentionEmitter::narrowValues() {
  Value values = parts.valuesOperand(), halves = fusion::valuesBeforeWidening(parts.scores, values);
  return halves && !isVectors() ? halves : values;
}

/// Adds the current keys to the state of those before. The mix is null after a diagnostic.
AttentionEmitter::State AttentionEmitter::step(std::optional<State> before) {
  Value tile = logits(), values = tile ? load(narrowValues(), space.values, frameOf(keys, columns), {keys}) : Value();
  if (!values)
    return {};
  State after;
  after.max = reduce(tile::ReduceKind::Max, tile);
  if (scaled) // with the same rounding for all steps, since products with a positive number keep their order
    after.max = inPowersOfTwo(after.max), tile = inPowersOfTwo(tile);
  if (before)
    after.max = join<arith::MaximumFOp>(before->max, after.max);
  Value shift = shiftOf(after.max);
  // Weights that are rounded to halves need no more than an approximate exponential.
  arith::FastMathFlags flags = isApproximate() ? arith::FastMathFlags::afn : arith::FastMathFlags::none;
  Value weights = relative(tile, shift, flags);
  after.sum = reduce(tile::ReduceKind::Sum, weights);
  Value sums = number(0, shapeOf(frameOf(rows, columns)));
  if (before) {
    Value worth = relative(before->max, shift);
    after.sum = join<arith::AddFOp>(join<arith::MulFOp>(before->sum, worth), after.sum);
    sums = join<arith::MulFOp>(before->mix, worth);
  }
  if (isApproximate()) {
    emitter.at(emitter.depthOf(weights));
    weights = arith::TruncFOp::create(builder, emitter.loc,
                                      cast<RankedTensorType>(weights.getType()).clone(weightType()), weights);
  }
  after.mix = product(weights, values, sums, keys, columns);
  return after;
}

/// The state of two parts together: both are made relative to the larger of their largest logits, and added.
AttentionEmitter::State AttentionEmitter::joined(State a, State b) {
  State both;
  both.max = join<arith::MaximumFOp>(a.max, b.max);
  Value shift = shiftOf(both.max), worthOfA = relative(a.max, shift), worthOfB = relative(b.max, shift);
  auto add = [&](Value ofA, Value ofB) {
    return join<arith::AddFOp>(join<arith::MulFOp>(ofA, worthOfA), join<arith::MulFOp>(ofB, worthOfB));
  };
  both.sum = add(a.sum, b.sum);
  both.mix = add(a.mix, b.mix);
  return both;
}

/// The `live` sizes of tile.part_join: of tiles that are larger than their loops, what is ever stored. Null where no
/// loop is known to be smaller than its tile.
DenseI64ArrayAttr AttentionEmitter::liveSizes() {
  SmallVector<int64_t> live = shapeOf(frameOf(rows, columns));
  bool isAny = false;
  for (auto [size, loop] : llvm::zip(live, frameOf(rows, columns)))
    if (std::optional<int64_t> known = liveSize(loop))
      size = *known, isAny = true;
  return isAny ? builder.getDenseI64ArrayAttr(live) : DenseI64ArrayAttr();
}

/// The loop's results joined over all programs that share the tile.
SmallVector<Value> AttentionEmitter::joinParts(ValueRange parts) {
  auto op = tile::PartJoinOp::create(builder, emitter.loc, parts.getTypes(), parts, liveSizes());
  Block &body = op.getBody().emplaceBlock();
  for (int part = 0; part < 2; ++part)
    body.addArguments(parts.getTypes(), SmallVector<Location>(parts.size(), emitter.loc));
  emitter.within(op, &body, [&] {
    auto stateAt = [&](unsigned i) {
      return State{body.getArgument(i), body.getArgument(i + 1), body.getArgument(i + 2)};
    };
    State both = joined(stateAt(0), stateAt(3));
    builder.setInsertionPointToEnd(&body);
    tile::PartYieldOp::create(builder, emitter.loc, ValueRange{both.max, both.sum, both.mix});
  });
  return llvm::to_vector_of<Value>(op.getResults());
}

/// Divides the rows by their sums, takes the quotients as the second contraction's result, and stores all outputs.
LogicalResult AttentionEmitter::storeOutputs(State state) {
  Frame frame = frameOf(rows, columns);
  Value max = state.max;
  if (scaled) // from powers of two
    max = join<arith::MulFOp>(max, number(1 / llvm::numbers::log2e, cast<RankedTensorType>(max.getType()).getShape()));
  tiles.resolve(parts.max.getResult(), max);
  tiles.resolve(parts.sum.getResult(), state.sum);
  Value divisor = tiles.materialize(parts.divisor, {{space.row, {}}, {}}, frame);
  if (!divisor)
    return failure();
  Value mix = isApproximate() && !isVectors() // a division is slow on GPUs: halves take one inverse for each row
                  ? join<arith::MulFOp>(state.mix,
                                        join<arith::DivFOp>(number(1, SmallVector<int64_t>(frame.size(), 1)), divisor))
                  : join<arith::DivFOp>(state.mix, divisor);
  if (parts.zeroesUndefined)
    mix = emitter.select(isAny(arith::CmpFPredicate::OGT, state.sum, 0), mix, builder.getF32FloatAttr(0));
  tiles.resolve(parts.mix.getResult(), mix);
  for (unsigned i = 0; i < space.outputs.size(); ++i)
    if (failed(tiles.store(i, frame)))
      return failure();
  return success();
}

LogicalResult AttentionEmitter::emit() {
  SmallVector<int64_t> row = shapeOf(frameOf(rows, columns));
  row.back() = 1;
  allKeys = emitter.index(emitter.sizeOf(keys), {});
  boundKeys();
  for (const NeutralMask &mask : space.masks)
    neutral.push_back(neutralKeys(mask));
  SmallVector<Value> initial;
  bool isLoop = !emitter.isWhole(keys) || first;
  if (isLoop)
    initial = {number(-infinity, row), number(0, row), number(0, shapeOf(frameOf(rows, columns)))};
  bool ok = true;
  auto body = [&](ValueRange carried) {
    State state = step(carried.empty() ? std::nullopt : std::optional(State{carried[0], carried[1], carried[2]}));
    ok = state.mix != nullptr;
    return ok ? SmallVector<Value>{state.max, state.sum, state.mix} : llvm::to_vector_of<Value>(carried);
  };
  SmallVector<Value> last = isLoop ? emitter.forTilesBetween(keys, first ? first : emitter.indexConstant(0),
                                                             end ? end : allKeys, initial, body)
                                   : emitter.forEachTile({keys}, initial, body);
  if (ok && isLoop && schedule.getParts() > 1)
    last = joinParts(last);
  return ok ? storeOutputs({last[0], last[1], last[2]}) : failure();
}

LogicalResult emitAttention(TileEmitter &emitter, tile::ScheduleAttr schedule) {
  return AttentionEmitter(emitter, schedule).emit();
}

} // namespace tilewright::tilegen
