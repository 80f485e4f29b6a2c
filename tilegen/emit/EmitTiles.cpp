// SPDX-License-Identifier: Apache-2.0
// Stage "tile": every graph.kernel becomes a tile.kernel of the same name.
//
//   graph.kernel @k(%x: tensor<?x768xf32, (s2, 768)>) -> tensor<...> attributes {schedule = #tile.schedule<pointwise,
//   tile = [4, 256], ...>}
//
//   tile.kernel @k(%x: !tile.buffer<f32, ()[s0] -> (s0, 768)>, %y: !tile.buffer<...>, %s0: index)
//       attributes {grid = affine_map<()[s0] -> ((s0 ceildiv 4) * 3, 1, 1)>, schedule = ...,
//                   symbols = affine_map<()[s0, s1, s2] -> (s2)>}
#include "tilegen/emit/EmitTiles.h"

#include "frontend/graph/Sizes.h"
#include "tilegen/emit/NameSizes.h"
#include "tilegen/roots/Panels.h"
#include "tilegen/roots/RootTable.h"
#include "tilegen/steps/RepeatSteps.h"
#include "tilegen/steps/StepSchedules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace tilewright {

using namespace tilegen;

namespace {

class KernelEmitter {
public:
  KernelEmitter(graph::KernelOp source, const KernelSpace &space, tile::ScheduleAttr schedule)
      : source(source), space(space), schedule(schedule) {}
  LogicalResult emit();

private:
  LogicalResult assignTiles();
  void collectSymbols();
  tile::KernelOp createKernel();
  AffineExpr local(AffineExpr expr);
  const PanelForm *panelOf(unsigned argument) const;
  tile::BufferType bufferOf(unsigned buffer, Type tensor);
  AffineMap grid();
  AffineMap moduleSymbols();
  bool isLongestLast(unsigned loop);
  bool isLastFilled(unsigned loop);
  void setOffsets(TileEmitter &emitter);
  Value orderPrograms(TileEmitter &emitter, Value program, unsigned last);
  Type indexType();

  graph::KernelOp source;
  const KernelSpace &space;
  tile::ScheduleAttr schedule;
  SmallVector<int64_t> tiles, symbols;
  SmallVector<PanelForm> panels; // of arguments
};

} // namespace

/// Takes each loop's tile size from the schedule: `tile` has those of the loops that are not reduced, `reduce` the
/// others.
LogicalResult KernelEmitter::assignTiles() {
  SmallVector<unsigned> reduced = space.loopsOfKind(LoopKind::Reduction);
  if (schedule.getTile().size() + reduced.size() != space.loops().size() ||
      schedule.getReduce().size() != reduced.size())
    return source.emitOpError() << "expected a schedule with " << space.loops().size() - reduced.size() << " tile and "
                                << reduced.size() << " reduce sizes because the kernel has that many loops, got "
                                << schedule;
  size_t parallel = 0, inner = 0;
  for (const Loop &loop : space.loops())
    tiles.push_back(loop.kind == LoopKind::Reduction ? schedule.getReduce()[inner++] : schedule.getTile()[parallel++]);
  if (schedule.getRoot() == graph::RootKind::Matmul)
    for (unsigned loop : ArrayRef(reduced).drop_back())
      if (tiles[loop] != 1)
        return source.emitOpError() << "expected outer reduce sizes of 1 because only the innermost reduced loop is a "
                                       "dimension of the product, got "
                                    << schedule;
  return success();
}

/// The module's symbols that the kernel mentions, in order.
void KernelEmitter::collectSymbols() {
  llvm::SmallSetVector<int64_t, 4> found;
  auto visit = [&](AffineExpr expr) {
    expr.walk([&](AffineExpr e) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        found.insert(symbol.getPosition());
    });
  };
  for (TypeRange types : {TypeRange(source.getArgumentTypes()), TypeRange(source.getResultTypes())})
    for (Type type : types)
      llvm::for_each(graph::getSizes(cast<RankedTensorType>(type)), visit);
  source.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        llvm::for_each(graph::getSizes(tensor), visit);
    if (auto access = dyn_cast<graph::AccessOpInterface>(op))
      llvm::for_each(access.getAccessMap().getResults(), visit);
  });
  if (auto steps = source.getSteps())
    visit(steps->getCountExpr());
  llvm::for_each(space.keysFrom, visit);
  llvm::for_each(space.keysBelow, visit);
  for (const NeutralMask &mask : space.masks) {
    llvm::for_each(mask.from, visit);
    llvm::for_each(mask.below, visit);
  }
  symbols = found.takeVector();
  llvm::sort(symbols);
}

AffineExpr KernelEmitter::local(AffineExpr expr) {
  SmallVector<AffineExpr> replacement;
  for (auto [i, symbol] : llvm::enumerate(symbols)) {
    replacement.resize(symbol + 1, getAffineConstantExpr(0, source.getContext()));
    replacement[symbol] = getAffineSymbolExpr(i, source.getContext());
  }
  return expr.replaceSymbols(replacement);
}

/// The panels that an argument is stored in; null if it is stored as it is.
const PanelForm *KernelEmitter::panelOf(unsigned argument) const {
  const auto *found = llvm::find_if(panels, [&](const PanelForm &form) { return form.argument == argument; });
  return found == panels.end() ? nullptr : found;
}

/// The type of an argument or result as memory: bool is a byte, and dimensions that are addressed together are one.
tile::BufferType KernelEmitter::bufferOf(unsigned buffer, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  MLIRContext *context = source.getContext();
  Exprs sizes;
  if (const PanelForm *panel = panelOf(buffer)) {
    for (int64_t size : panel->sizes)
      sizes.push_back(getAffineConstantExpr(size, context));
  } else {
    Exprs whole = graph::getSizes(tensor);
    IndexAlgebra facts(context, {});
    unsigned first = 0;
    DimGroups groups = space.buffers[buffer];
    if (groups.empty()) // an argument that nothing reads
      groups.assign(whole.size(), 1);
    for (unsigned count : groups) {
      sizes.push_back(local(facts.simplify(product(context, ArrayRef(whole).slice(first, count)))));
      first += count;
    }
  }
  Type element = tensor.getElementType();
  if (element.isInteger(1))
    element = IntegerType::get(context, 8);
  return tile::BufferType::get(context, element, AffineMap::get(0, symbols.size(), sizes, context));
}

/// All programs along x, which alone has no limit of 65535; the last parallel loop is fastest.
AffineMap KernelEmitter::grid() {
  AffineExpr programs = getAffineConstantExpr(1, source.getContext()), one = programs;
  for (auto [loop, tile] : llvm::zip_equal(space.loops(), tiles))
    if (loop.kind != LoopKind::Reduction)
      programs = programs * loop.size.ceilDiv(tile);
  return AffineMap::get(0, symbols.size(), {local(programs), one, one}, source.getContext());
}

/// Whether the last tiles along `loop` take longest, as rows under a causal mask do. Their programs then start first,
/// so that no long one starts last.
bool KernelEmitter::isLongestLast(unsigned loop) {
  return space.loops()[loop].kind == LoopKind::Row && isa<AffineConstantExpr>(space.loops()[loop].size) &&
         llvm::any_of(space.keysBelow, [&](AffineExpr expr) { return dependsOn(expr, loop); });
}

/// Whether the last tile along `loop` begins so early that it is full, and the rows that it shares with the tile before
/// it are computed twice, to the same bits. A tile with few rows runs ahead of its neighbours, and then what they ask
/// the cache for is no longer the same. Two groups of warps, which ask for the most, feel that
/// (docs/performance/gpu-products.md, "Last rows of tiles, filled"). Not where rows are neighbours in memory, since
/// they would no longer begin at a multiple of 16 bytes, and not of an unknown number, which made residuals spill.
bool KernelEmitter::isLastFilled(unsigned loop) {
  if (schedule.getGroups() < 2 || space.loops()[loop].kind != LoopKind::Row)
    return false;
  auto size = dyn_cast<AffineConstantExpr>(space.loops()[loop].size);
  if (!size || size.getValue() < tiles[loop] || size.getValue() % tiles[loop] == 0)
    return false;
  auto isApart = [&](const Access &access) {
    AffineExpr stride = space.strideOf(access, loop);
    auto constant = dyn_cast_if_present<AffineConstantExpr>(stride);
    return stride && !(constant && constant.getValue() == 1);
  };
  return llvm::all_of(space.nest.accesses, isApart) &&
         llvm::none_of(space.outputs, [&](const Exprs &at) { return at.empty() || dependsOn(at.back(), loop); });
}

void KernelEmitter::setOffsets(TileEmitter &emitter) {
  AffineExpr one = getAffineConstantExpr(1, source.getContext()), stride = one,
             id = getAffineDimExpr(0, source.getContext());
  emitter.at(0);
  Value program = tile::ProgramIdOp::create(emitter.getBuilder(), emitter.loc, emitter.getBuilder().getIndexType(), 0);
  SmallVector<unsigned> numbered;
  for (auto [i, loop] : llvm::enumerate(space.loops()))
    if (loop.kind != LoopKind::Reduction && loop.size.ceilDiv(tiles[i]) != one)
      numbered.push_back(i);
  if (numbered.size() > 1 && schedule.getOrder() > 1)
    program = orderPrograms(emitter, program, numbered.back());
  for (unsigned i : llvm::reverse(numbered)) {
    AffineExpr count = space.loops()[i].size.ceilDiv(tiles[i]), at = id.floorDiv(stride);
    if (i != numbered.front())
      at = at % count;
    if (isLongestLast(i))
      at = count - 1 - at;
    Value offset = emitter.index(at * tiles[i], {program});
    if (isLastFilled(i)) {
      Value last = emitter.index(space.loops()[i].size - tiles[i], {});
      emitter.at(0);
      offset = arith::MinSIOp::create(emitter.getBuilder(), emitter.loc, offset, last);
    }
    emitter.setOffset(i, offset);
    stride = stride * count;
  }
  if (numbered.empty())
    program.getDefiningOp()->erase();
}

/// The number of the program that runs as `program`, in the schedule's order. Tiles of loop `last` are a row of
/// programs, and all other loops together number the rows.
Value KernelEmitter::orderPrograms(TileEmitter &emitter, Value program, unsigned last) {
  AffineExpr columns = local(space.loops()[last].size.ceilDiv(tiles[last])),
             rows = grid().getResult(0).floorDiv(columns);
  auto map = [&](AffineExpr expr) {
    return AffineMap::get(0, symbols.size(), IndexAlgebra(source.getContext(), {}).simplify(expr));
  };
  return tile::OrderedProgramOp::create(emitter.getBuilder(), emitter.loc, program, map(rows), map(columns),
                                        schedule.getOrder());
}

/// The type in which masks compare coordinates: 32 bits wide where all loops and buffers are known to be small enough.
Type KernelEmitter::indexType() {
  bool small = llvm::all_of(space.loops(), [](const Loop &loop) {
    auto size = dyn_cast<AffineConstantExpr>(loop.size);
    return size && size.getValue() < (1 << 30);
  });
  small = small && llvm::all_of(space.nest.accesses, [](const Access &access) {
            return llvm::all_of(access.sizes, [](AffineExpr size) {
              auto constant = dyn_cast<AffineConstantExpr>(size);
              return constant && constant.getValue() < (1 << 30);
            });
          });
  return IntegerType::get(source.getContext(), small ? 32 : 64);
}

/// The map from the module's symbols to those of the kernel.
AffineMap KernelEmitter::moduleSymbols() {
  Exprs taken;
  for (int64_t symbol : symbols)
    taken.push_back(getAffineSymbolExpr(symbol, source.getContext()));
  return AffineMap::get(0, symbols.empty() ? 0 : symbols.back() + 1, taken, source.getContext());
}

tile::KernelOp KernelEmitter::createKernel() {
  OpBuilder builder(source);
  MLIRContext *context = source.getContext();
  SmallVector<Type> types;
  SmallVector<Attribute> argumentAttrs;
  SmallVector<Value> streamed; // what a streamed schedule's right sides are read from
  if (schedule.getStreamed()) {
    streamed.push_back(memoryOf(space.rhs));
    llvm::append_range(streamed, llvm::map_range(space.moreRhs, memoryOf));
  }
  for (auto [i, type] : llvm::enumerate(source.getArgumentTypes())) {
    types.push_back(bufferOf(i, type));
    SmallVector<NamedAttribute> attrs;
    for (StringRef name : {graph::constantAttr, graph::inputAttr})
      if (Attribute known = source.getArgAttr(i, name))
        attrs.push_back(builder.getNamedAttr(name, known));
    if (const PanelForm *panel = panelOf(i)) {
      attrs.push_back(builder.getNamedAttr(tile::packedFromAttr, AffineMapAttr::get(panel->from)));
      attrs.push_back(builder.getNamedAttr(tile::sourceAttr, TypeAttr::get(type)));
    }
    if (llvm::is_contained(streamed, source.getBody().getArgument(i)))
      attrs.push_back(builder.getNamedAttr(tile::streamedAttr, builder.getUnitAttr()));
    argumentAttrs.push_back(builder.getDictionaryAttr(attrs));
  }
  for (auto [i, type] : llvm::enumerate(source.getResultTypes()))
    types.push_back(bufferOf(source.getNumArguments() + i, type));
  types.append(symbols.size(), builder.getIndexType());
  argumentAttrs.resize(types.size(), builder.getDictionaryAttr({}));
  auto kernel =
      tile::KernelOp::create(builder, source.getLoc(), source.getSymName(), builder.getFunctionType(types, {}), grid(),
                             schedule, AffineMapAttr::get(moduleSymbols()), /*threads=*/nullptr,
                             /*shared_bytes=*/nullptr, builder.getArrayAttr(argumentAttrs), ArrayAttr());
  Block *block =
      builder.createBlock(&kernel.getBody(), {}, types, SmallVector<Location>(types.size(), source.getLoc()));
  builder.setInsertionPointToEnd(block);
  tile::ReturnOp::create(builder, UnknownLoc::get(context));
  return kernel;
}

LogicalResult KernelEmitter::emit() {
  if (failed(assignTiles()))
    return failure();
  if (schedule.getPack())
    panels = makePanelForms(space, schedule.getPack());
  if (schedule.getPack() && panels.empty())
    return source.emitOpError() << "expected a schedule without pack because the right side is no constant that can be "
                                   "stored in panels, got "
                                << schedule;
  std::optional<int64_t> blocks = blocksOfStates(space, schedule);
  if (source.getSteps() && !blocks)
    return source.emitOpError(
        "expected a known number of columns because a cluster of blocks computes those of a state");
  if (source.getSteps() && (!schedule.isOfBlock() || schedule.getGroups() || schedule.getParts() > 1))
    return source.emitOpError() << "expected a schedule of blocks without groups and parts because these make loops of "
                                   "their own around the program, got "
                                << schedule;
  collectSymbols();
  tile::KernelOp kernel = createKernel();
  TileEmitter emitter(kernel, space, symbols, tiles, indexType());
  setOffsets(emitter);
  if (failed(rootOf(schedule.getRoot()).emit(emitter, schedule))) {
    kernel.erase();
    return failure();
  }
  if (auto steps = source.getSteps())
    repeatSteps(kernel, *steps, local(steps->getCountExpr()), source.getNumArguments(), *blocks);
  source.erase();
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  nameSizes(kernel);
  return success();
}

/// Whether the kernel can be computed as its schedule says.
static LogicalResult checkRoot(graph::KernelOp kernel, tile::ScheduleAttr schedule) {
  graph::RootKind root = rootKindOf(kernel);
  if (!llvm::is_contained(rootOf(schedule.getRoot()).computes, root))
    return kernel.emitOpError() << "expected a schedule of root " << graph::stringifyRootKind(root)
                                << " because the kernel has that root, got " << schedule;
  return success();
}

LogicalResult emitTiles(ModuleOp module, const TargetDesc &) {
  for (auto kernel : llvm::make_early_inc_range(module.getOps<graph::KernelOp>())) {
    auto schedule = dyn_cast_or_null<tile::ScheduleAttr>(kernel.getScheduleAttr());
    if (!schedule)
      return kernel.emitOpError("expected a schedule because the schedule stage comes before tiles");
    if (failed(checkRoot(kernel, schedule)))
      return failure();
    FailureOr<KernelSpace> space = analyzeKernel(kernel, schedule.getRoot());
    if (failed(space) || failed(KernelEmitter(kernel, *space, schedule).emit()))
      return failure();
  }
  return success();
}

} // namespace tilewright
