// SPDX-License-Identifier: Apache-2.0
// Chooses a layout for every tile.
//
// Tiles are put into groups that share one layout, for the largest shape in the group. A smaller tile has that layout
// with the bits of its dimensions of size 1 struck out. So no tile of a group is ever converted, and a broadcast only
// renames registers.
//  - The main group holds everything but operands of tile.dot. If there is a tile.dot on matrix units, the layout is
//    that of its accumulator's fragments; otherwise threads are blocked so that most accesses are wide.
//  - Where a tile's columns are computed in strips (192 are 128 and 64, since sizes are powers of two), each tile of
//    the main group has the layout of an accumulator of its own shape.
//  - So it is where a product's left side is computed from another product's result (attention). That side stays in
//    registers, and all warps are spread over the rows.
//  - Each other operand of a tile.dot is a group of its own, together with what computes it. Its threads are blocked so
//    that its loads are wide; shared memory brings it to the layout that tile.dot reads.
#include "tilegen/place/AccessFacts.h"
#include "tilegen/place/ChooseBlocking.h"
#include "tilegen/place/roles/RolePlan.h"
#include "tilegen/tile/MatmulPrecision.h"

#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright::tile;

//===- Making operands exclusive ----------------------------------------------------------------------------------===//

/// A copy of `value` and of all tiles that it is computed from, so that no tile belongs to two groups. Each copied
/// operation stands behind its original.
static Value cloneProducers(Value value, IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<RankedTensorType>(value.getType()) || isa<DotOp, scf::ForOp>(op))
    return value;
  if (Value done = mapping.lookupOrNull(value))
    return done;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      mapping.map(operand, cloneProducers(operand, mapping));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *clone = builder.clone(*op, mapping);
  return clone->getResult(cast<OpResult>(value).getResultNumber());
}

/// Whether the operand is a load that only contractions read, several of them, all as the same side. They may share the
/// group of this load.
static bool isSharedOperand(OpOperand &operand) {
  auto load = operand.get().getDefiningOp<LoadOp>();
  return load && !load->hasOneUse() && llvm::all_of(load->getUses(), [&](OpOperand &use) {
           return isa<DotOp>(use.getOwner()) && use.getOperandNumber() == operand.getOperandNumber() &&
                  use.getOwner()->getBlock() == load->getBlock();
         });
}

static void makeOperandsExclusive(KernelOp kernel) {
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  for (DotOp dot : dots)
    for (OpOperand *operand : {&dot.getLhsMutable(), &dot.getRhsMutable()}) {
      if (isHeldInRegisters(operand->get()) || isSharedOperand(*operand))
        continue;
      IRMapping mapping;
      operand->set(cloneProducers(operand->get(), mapping));
    }
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

//===- Groups -----------------------------------------------------------------------------------------------------===//

static void addToGroup(LayoutGroup &group, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  group.values.push_back(value);
  group.shape.resize(type.getRank(), 1);
  for (int64_t i = 0; i < type.getRank(); ++i)
    group.shape[i] = std::max(group.shape[i], type.getDimSize(i));
}

static void setLayout(Value value, const Layout &layout) {
  auto placed = withLayout(cast<RankedTensorType>(value.getType()), layout);
  value.setType(placed);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      constant.setValueAttr(DenseElementsAttr::get(placed, splat.getSplatValue<Attribute>()));
}

static LogicalResult collectOperand(DotOp dot, Value value, LayoutGroup &group, DenseSet<Value> &taken) {
  if (!taken.insert(value).second)
    return success();
  Operation *op = value.getDefiningOp();
  if (!op || isa<DotOp, scf::ForOp>(op))
    return dot.emitOpError(
        "expected operands that are loaded and computed where they are used because they go through shared memory, got "
        "one carried by a loop");
  addToGroup(group, value);
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && failed(collectOperand(dot, operand, group, taken)))
      return failure();
  return success();
}

static void collectRest(KernelOp kernel, LayoutGroup &main, const DenseSet<Value> &taken) {
  kernel.walk([&](Operation *op) {
    auto add = [&](Value value) {
      if (isa<RankedTensorType>(value.getType()) && !taken.contains(value))
        addToGroup(main, value);
    };
    llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
  });
}

/// Gives every value of the group the group's layout, projected to the value's shape.
static void setLayouts(LayoutGroup &group) {
  if (group.values.empty())
    return;
  TileShape wide(group.shape);
  for (Value value : group.values) {
    setLayout(value, project(group.layout, wide, TileShape(cast<RankedTensorType>(value.getType()).getShape())));
  }
}

//===- Contractions -----------------------------------------------------------------------------------------------===//

/// The type by which matrix instructions are chosen for a contraction, that of its right side, since a left side of
/// singles may be split into halves; nullopt if none takes its operands.
static std::optional<tilewright::MatrixType> matrixTypeOf(DotOp dot) {
  Type element = cast<RankedTensorType>(dot.getRhs().getType()).getElementType(),
       sum = cast<RankedTensorType>(dot.getType()).getElementType();
  if (element.isInteger(8) && sum.isInteger(32))
    return tilewright::MatrixType::I8;
  if (element.isF32() && sum.isF32() && tilewright::matmulPrecisionOf(dot) != tilewright::MatmulPrecision::Ieee)
    return tilewright::MatrixType::TF32;
  if (!sum.isF32() || !(element.isF16() || element.isBF16()))
    return std::nullopt;
  return element.isF16() ? tilewright::MatrixType::F16 : tilewright::MatrixType::BF16;
}

/// Does a row compute singles as precisely as the product's module says?
static bool isPrecise(const Fragments &row, DotOp dot) {
  bool inParts = tilewright::matmulPrecisionOf(dot) == tilewright::MatmulPrecision::Tf32x3;
  return matrixTypeOf(dot) != tilewright::MatrixType::TF32 || row.products == (inParts ? 3 : 1);
}

/// Whether roles can feed this instruction with the product's operands. If the copy engine has to round singles, the
/// right side must run along k in memory too.
static bool isFedByRoles(const Fragments &row, DotOp dot, const PlaceFacts &facts) {
  if (!facts.copiesBulk || !row.needsRounding())
    return facts.copiesBulk;
  LoadOp right = plainLoad(dot.getRhs());
  return right && isContiguous(Access::of(right), cast<RankedTensorType>(right.getType()).getRank() - 2);
}

/// The first instruction of the target that computes the product. Roles feed only those that read shared memory, so
/// where there may be roles the first of these comes before all others.
static const Fragments *chooseFragments(DotOp dot, const PlaceFacts &facts, unsigned warps) {
  auto acc = cast<RankedTensorType>(dot.getType()), lhs = cast<RankedTensorType>(dot.getLhs().getType());
  int64_t rank = acc.getRank(), m = acc.getDimSize(rank - 2), n = acc.getDimSize(rank - 1),
          k = lhs.getDimSize(rank - 1);
  std::optional<tilewright::MatrixType> type = matrixTypeOf(dot);
  const Fragments *first = nullptr;
  for (auto [elements, name] : facts.fragments) {
    const Fragments *row = findFragments(name);
    bool isFed = !row->isForRoles() || isFedByRoles(*row, dot, facts);
    if (elements != type || !isPrecise(*row, dot) || !isFed || m < row->m || n < row->n || k < row->k ||
        warps < row->warps())
      continue;
    if (!facts.copiesBulk || row->readsShared())
      return row;
    first = first ? first : row;
  }
  return first;
}

/// The accumulator's layout without matrix units: a thread has four neighbours of a row first, and a warp a nearly
/// square block.
static Layout multiplyAddLayout(const TileShape &shape, unsigned lanes, unsigned warps) {
  unsigned rank = shape.rank(), n = rank - 1, m = rank - 2;
  Layout layout;
  unsigned nTaken = 0, mTaken = 0;
  auto take = [&](SmallVector<uint32_t> &bases, unsigned dim, unsigned &taken, unsigned most) {
    for (unsigned i = 0; i < most && taken < shape.bits(dim); ++i)
      bases.push_back(shape.basis(dim, taken++));
  };
  take(layout.reg, n, nTaken, 2);
  take(layout.lane, n, nTaken, 3);
  take(layout.lane, m, mTaken, llvm::Log2_32(lanes) - layout.lane.size());
  take(layout.lane, n, nTaken, llvm::Log2_32(lanes) - layout.lane.size());
  layout.lane.resize(llvm::Log2_32(lanes), 0);
  take(layout.warp, m, mTaken, llvm::Log2_32(warps));
  take(layout.warp, n, nTaken, llvm::Log2_32(warps) - layout.warp.size());
  layout.warp.resize(llvm::Log2_32(warps), 0);
  take(layout.reg, n, nTaken, 32);
  take(layout.reg, m, mTaken, 32);
  return layout;
}

/// The first instruction of the target whose results have the layout of those of `fragments`. A product whose left side
/// need not be in registers may use it, although its operands have other layouts.
static StringRef preferred(const Fragments &fragments, DotOp dot, const PlaceFacts &facts) {
  constexpr auto result = static_cast<size_t>(Operand::C);
  for (auto [elements, name] : facts.fragments) {
    const Fragments *row = findFragments(name);
    bool liesAlike = row->reg[result] == fragments.reg[result] && row->lane[result] == fragments.lane[result] &&
                     row->warp[result] == fragments.warp[result];
    if (elements == matrixTypeOf(dot) && isPrecise(*row, dot) && liesAlike && row->k <= fragments.k)
      return row->name;
  }
  return fragments.name;
}

/// Gives each tile the layout of an accumulator of its shape. A dimension of size 1 is taken as long as in the first
/// accumulator, and its bits are struck out.
static LogicalResult layoutByShape(ArrayRef<DotOp> dots, LayoutGroup &main, const Fragments &fragments, WarpGrid grid,
                                   const PlaceFacts &facts, unsigned warps) {
  DotOp first = dots.front();
  ArrayRef<int64_t> sums = cast<RankedTensorType>(first.getType()).getShape();
  for (Value value : main.values) {
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(value.getType()).getShape();
    SmallVector<int64_t> wide(sizes);
    for (unsigned d = 0; d < wide.size(); ++d)
      if (wide[d] == 1)
        wide[d] = sums[d];
    TileShape shape(wide);
    if (wide[wide.size() - 2] != sums[sums.size() - 2] ||
        shape.bits() != shape.bits(wide.size() - 2) + shape.bits(wide.size() - 1))
      return first.emitOpError() << "expected tiles of its rows around it, got " << value.getType();
    setLayout(value, project(fragmentLayout(fragments, Operand::C, shape, grid, warps), shape, TileShape(sizes)));
  }
  for (DotOp dot : dots)
    dot.setInstruction(isHeldInRegisters(dot.getLhs()) ? StringRef(fragments.name) : preferred(fragments, dot, facts));
  main.values.clear();
  return success();
}

/// Products that take other products' results: all warps are spread over rows. Then a row's scores, the weights
/// computed from them and the second product's sums are in the same lanes, and the weights, its left side, need not
/// move.
static LogicalResult layoutChain(ArrayRef<DotOp> dots, LayoutGroup &main, const PlaceFacts &facts, unsigned warps) {
  auto sizesOf = [](Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); };
  DotOp first = dots.front();
  auto fits = [&](const Fragments &row) {
    return llvm::all_of(dots, [&](DotOp dot) {
      ArrayRef<int64_t> acc = sizesOf(dot.getResult()).take_back(2);
      return acc[0] >= row.m * warps / row.warps() && acc[1] >= row.n && sizesOf(dot.getLhs()).back() >= row.k;
    });
  };
  const Fragments *fragments = nullptr;
  for (auto [elements, name] : facts.fragments) {
    const Fragments *row = findFragments(name);
    if (!fragments && elements == matrixTypeOf(first) && isPrecise(*row, first) && warps >= row->warps() &&
        chains(*row) && fits(*row))
      fragments = row;
  }
  if (!fragments)
    return first.emitOpError() << "expected a matrix instruction of the target whose results are laid out as its left "
                                  "side for products of "
                               << first.getLhs().getType() << " whose results are multiplied again";
  return layoutByShape(dots, main, *fragments, {llvm::Log2_32(warps / fragments->warps()), 0}, facts, warps);
}

/// Sums of several widths, strips of one tile's columns. All are spread over warps as the narrowest is, so that a value
/// of a row (a tile of one column) has one layout for all of them.
static LogicalResult layoutStrips(ArrayRef<DotOp> dots, LayoutGroup &main, const PlaceFacts &facts, unsigned warps) {
  auto columnsOf = [](DotOp dot) { return cast<RankedTensorType>(dot.getType()).getShape().back(); };
  DotOp narrowest = *llvm::min_element(dots, [&](DotOp a, DotOp b) { return columnsOf(a) < columnsOf(b); });
  const Fragments *fragments = chooseFragments(narrowest, facts, warps);
  if (!fragments)
    return narrowest.emitOpError() << "expected a matrix instruction of the target for strips of a tile's columns, got "
                                   << narrowest.getType();
  WarpGrid grid = spreadWarps(*fragments, TileShape(cast<RankedTensorType>(narrowest.getType()).getShape()), warps);
  return layoutByShape(dots, main, *fragments, grid, facts, warps);
}

static LogicalResult layoutAccumulators(ArrayRef<DotOp> dots, LayoutGroup &main, const PlaceFacts &facts,
                                        unsigned warps) {
  DotOp first = dots.front();
  auto shape = cast<RankedTensorType>(first.getType()).getShape();
  for (DotOp dot : dots)
    if (llvm::any_of(dot.getType().getShape().drop_back(2), [](int64_t size) { return size != 1; }))
      return dot.emitOpError() << "expected accumulators with batch sizes of 1, got " << dot.getType();
  if (!llvm::all_equal(llvm::map_range(dots, [](DotOp dot) { return dot.getType(); })))
    return layoutStrips(dots, main, facts, warps);
  if (ArrayRef(main.shape) != shape)
    return first.emitOpError() << "expected no tile around it that is larger than its accumulator, got sizes "
                               << main.shape;
  const Fragments *fragments = chooseFragments(first, facts, warps);
  TileShape tile(shape);
  main.layout = fragments ? fragmentLayout(*fragments, Operand::C, tile, spreadWarps(*fragments, tile, warps), warps)
                          : multiplyAddLayout(tile, facts.lanes, warps);
  for (DotOp dot : dots)
    if (fragments)
      dot.setInstruction(fragments->name);
  return success();
}

//===- All together -----------------------------------------------------------------------------------------------===//

/// Refuses tile sizes that are no powers of two, since layouts are maps of bits, and tiles of several ranks, since
/// those of a group share a layout.
static LogicalResult checkSizes(KernelOp kernel) {
  int64_t rank = -1;
  auto result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile)
        continue;
      if (!TileShape::valid(tile.getShape()))
        return op->emitOpError() << "expected tile sizes that are powers of two because layouts are maps of bits, got "
                                 << tile,
               WalkResult::interrupt();
      if (rank >= 0 && tile.getRank() != rank)
        return op->emitOpError() << "expected tiles of rank " << rank << " as elsewhere in the kernel, got " << tile,
               WalkResult::interrupt();
      rank = tile.getRank();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Every tile of the kernel gets its layout, and every product its instruction.
static LogicalResult layOut(KernelOp kernel, const PlaceFacts &facts) {
  unsigned warps = warpsOf(kernel);
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });

  DenseSet<Value> taken;
  std::vector<std::pair<DotOp, LayoutGroup>> operands;
  for (DotOp dot : dots)
    for (Value operand : {dot.getLhs(), dot.getRhs()}) {
      if (isHeldInRegisters(operand) || taken.contains(operand))
        continue;
      LayoutGroup &group = operands.emplace_back(dot, LayoutGroup()).second;
      if (failed(collectOperand(dot, operand, group, taken)))
        return failure();
    }
  LayoutGroup main;
  collectRest(kernel, main, taken);

  bool isChain = llvm::any_of(dots, [](DotOp dot) { return isHeldInRegisters(dot.getLhs()); });
  if (isChain) {
    if (failed(layoutChain(dots, main, facts, warps)))
      return failure();
  } else if (!dots.empty()) {
    if (failed(layoutAccumulators(dots, main, facts, warps)))
      return failure();
  } else if (!main.values.empty()) {
    Blocking blocking = chooseBlocking(main, facts.lanes, warps);
    bool repeats = kernel.walk([](StepEndOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (repeats)
      holdColumns(blocking, main);
    else if (kernel.getScheduleAttr() && kernel.getScheduleAttr().getUnrolled())
      holdWindowNeighbours(blocking, main);
    else
      holdTransposedNeighbours(blocking, main);
    main.layout = blocked(TileShape(main.shape), blocking);
  }
  for (auto &[dot, group] : operands) {
    Blocking blocking = chooseBlocking(group, facts.lanes, warps);
    bool isLhs = group.values.front() == dot.getLhs();
    holdSharingNeighbours(blocking, group, isLhs);
    transposeInRegisters(blocking, group, dot, isLhs);
    group.layout = blocked(TileShape(group.shape), blocking);
  }
  setLayouts(main);
  for (auto &[dot, group] : operands)
    setLayouts(group);
  return success();
}

/// Was an instruction chosen that only the loop of a role can feed?
static bool needsRoles(KernelOp kernel) {
  return kernel
      .walk([](DotOp dot) {
        const Fragments *fragments = fragmentsOf(dot);
        return fragments && fragments->isForRoles() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult tilewright::tile::assignLayouts(KernelOp kernel, const PlaceFacts &facts) {
  unsigned warps = warpsOf(kernel);
  if (failed(checkSizes(kernel)))
    return failure();
  if (!llvm::isPowerOf2_32(warps))
    return kernel.emitOpError()
           << "expected a number of warps that is a power of two because layouts are maps of bits, got " << warps;
  makeOperandsExclusive(kernel);
  PlaceFacts here = facts;
  here.copiesBulk = facts.copiesBulk && kernel.getScheduleAttr() && kernel.getScheduleAttr().getGroups();
  std::string why;
  if (failed(layOut(kernel, here)))
    return failure();
  if (!needsRoles(kernel) || planRoles(kernel, why))
    return success();
  kernel.emitRemark() << "its singles are split or rounded by the warps that multiply because " << why;
  here.copiesBulk = false;
  return layOut(kernel, here);
}
