// SPDX-License-Identifier: Apache-2.0
// Slices move from a product's result to its right side, through the elementwise work in between:
//
//     %y = contract %x, %w                 %a = contract %x, (slice %w at 0)
//     %z = addf %y, %b                     %p = addf %a, (slice %b at 0)
//     %p = slice %z at 0             ->    %c = contract %x, (slice %w at 256)
//     %q = slice %z at 256                 %q = addf %c, (slice %b at 256)
//     %r = mulf %p, %q                     %r = mulf %p, %q
//
// No result is computed twice, since the parts do not overlap, and nothing is copied: slices are accesses.
#include "fusion/groups/SplitProducts.h"

#include "fusion/Legality.h"
#include "fusion/products/ColumnConstants.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

namespace {

class ProductParts {
public:
  ProductParts(GroupGraph &graph, const Edge &edge)
      : graph(graph), producer(*edge.producer), consumer(*edge.consumer),
        root(cast<graph::ContractOp>(producer.geometry.root)) {}

  /// Finds what is replaced: everything from the product to the slices. False if that is not of the form above.
  bool find();
  /// Builds the parts, and lets the consumer read them instead of the slices.
  void build();
  /// Undoes `build`.
  void drop();
  /// Whether both groups are one kernel with the parts.
  GeometryOrRefusal check();
  /// Merges the groups.
  void merge(Geometry geometry);

private:
  bool followReaders(Value value);
  bool keepsColumns(Operation *op) const;
  Value partOf(Value value, int64_t offset, OpBuilder &builder);
  Value partOfFree(Value value, int64_t dim, int64_t offset, OpBuilder &builder);
  SmallVector<Operation *> united() const;
  SmallVector<Operation *> replaced() const;

  GroupGraph &graph;
  Group &producer, &consumer;
  graph::ContractOp root;
  int64_t columns = 0, part = 0;                           // of the product, of a part
  llvm::SetVector<Operation *> spine;                      // the contraction, and what is between it and the slices
  SmallVector<int64_t> starts;                             // of the slices, in their order
  llvm::SetVector<graph::SliceOp> slices;                  // of the consumer
  llvm::MapVector<std::pair<Value, int64_t>, Value> parts; // of a value, from a column on
  SmallVector<Operation *> built;                          // in program order
  SmallVector<std::pair<OpOperand *, Value>> before;       // what operands were that read parts now
};

} // namespace

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static int64_t columnsOf(Value value) { return typeOf(value).getRank() ? typeOf(value).getShape().back() : 1; }

//===- What is replaced -------------------------------------------------------------------------------------------===//

/// Whether an operation leaves the columns where they are: the last dimension.
bool ProductParts::keepsColumns(Operation *op) const {
  return (isElementwise(op) || isa<graph::ReshapeOp>(op)) && columnsOf(op->getResult(0)) == columns;
}

/// Takes all readers of `value` into the spine, up to the slices. False if one of them is not of the form above.
bool ProductParts::followReaders(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    const Group *group = graph.groupOf(user);
    if (auto slice = dyn_cast<graph::SliceOp>(user); slice && group == &consumer) {
      slices.insert(slice);
      return true;
    }
    bool isBetween = group == &producer || (group == &consumer && isa<graph::ReshapeOp>(user));
    return isBetween && keepsColumns(user) && (!spine.insert(user) || followReaders(user->getResult(0)));
  });
}

/// Where a slice of the last dimension begins; nullopt if it cuts other dimensions too, or has strides.
static std::optional<int64_t> offsetOf(graph::SliceOp slice) {
  SmallVector<AffineExpr> from(graph::getSizes(typeOf(slice.getData()))),
      to(graph::getSizes(typeOf(slice.getResult())));
  bool hasGaps = llvm::any_of(slice.getStrides(), [](int64_t stride) { return stride != 1; });
  if (hasGaps || ArrayRef(from).drop_back() != ArrayRef(to).drop_back())
    return std::nullopt;
  return graph::constantSize(slice.getOffsets().getResults().back());
}

bool ProductParts::find() {
  AffineMap result = root.getMap(2);
  columns = columnsOf(root.getResult());
  if (sideOfColumns(root) != 1 || ShapedType::isDynamic(columns) ||
      !root.getMap(1).getResultPosition(result.getResults().back()))
    return false;
  spine.insert(root);
  if (!followReaders(root.getResult()) || slices.empty())
    return false;
  part = columnsOf(graph::SliceOp(slices.front()).getResult());
  if (part <= 0) // none, or not known
    return false;
  llvm::SmallDenseSet<int64_t> offsets;
  for (graph::SliceOp slice : slices.getArrayRef()) {
    std::optional<int64_t> offset = offsetOf(slice);
    if (!offset || columnsOf(slice.getResult()) != part || *offset % part != 0)
      return false;
    offsets.insert(*offset);
    starts.push_back(*offset);
  }
  return offsets.size() >= 2 && offsets.size() <= mostContractions;
}

SmallVector<Operation *> ProductParts::replaced() const {
  SmallVector<Operation *> ops(spine.begin(), spine.end());
  ops.append(slices.begin(), slices.end());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

//===- The parts --------------------------------------------------------------------------------------------------===//

/// The part of a value that is not computed from the product: elements `offset` to `offset + part` of dimension `dim`.
Value ProductParts::partOfFree(Value value, int64_t dim, int64_t offset, OpBuilder &builder) {
  RankedTensorType type = withSize(typeOf(value), dim, part);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(builder, value.getLoc(), splat.resizeSplat(type));
  SmallVector<AffineExpr> offsets(type.getRank(), builder.getAffineConstantExpr(0));
  offsets[dim] = builder.getAffineConstantExpr(offset);
  return graph::SliceOp::create(builder, value.getLoc(), type, value,
                                AffineMap::get(0, 0, offsets, builder.getContext()),
                                SmallVector<int64_t>(type.getRank(), 1));
}

/// Columns `offset` to `offset + part` of a value.
Value ProductParts::partOf(Value value, int64_t offset, OpBuilder &builder) {
  if (Value known = parts.lookup({value, offset}))
    return known;
  Operation *op = value.getDefiningOp();
  Value result;
  if (!op || !spine.contains(op)) {
    result = partOfFree(value, typeOf(value).getRank() - 1, offset, builder);
  } else {
    SmallVector<Value> operands(op->getOperands());
    if (op == root)
      operands[1] = partOfFree(operands[1], *root.getMap(1).getResultPosition(root.getMap(2).getResults().back()),
                               offset, builder);
    else
      for (Value &operand : operands)
        operand = partOf(operand, offset, builder);
    OperationState state(op->getLoc(), op->getName(), operands,
                         withSize(typeOf(value), typeOf(value).getRank() - 1, part), op->getAttrs());
    result = builder.create(state)->getResult(0);
  }
  parts[{value, offset}] = result;
  return result;
}

namespace {
/// Collects the operations that a builder inserts in `ops`, and gives them the ONNX nodes of `like`.
class Recorder : public OpBuilder::Listener {
public:
  Recorder(SmallVector<Operation *> &ops, Operation *like) : ops(ops), like(like) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    for (StringRef name : {graph::nodeAttr, graph::nodesOfAttr})
      if (Attribute node = like->getAttr(name); node && !op->hasAttr(graph::nodeAttr))
        op->setAttr(name, node);
    ops.push_back(op);
  }

private:
  SmallVector<Operation *> &ops;
  Operation *like;
};
} // namespace

void ProductParts::build() {
  Operation *last = root; // of the replaced operations of the producer: their operands dominate what is built behind it
  for (Operation *op : spine)
    if (graph.groupOf(op) == &producer && last->isBeforeInBlock(op))
      last = op;
  Recorder recorder(built, root);
  OpBuilder builder(root.getContext(), &recorder);
  builder.setInsertionPointAfter(last);
  for (auto [op, start] : llvm::zip_equal(slices, starts)) {
    graph::SliceOp slice = op;
    Value value = partOf(slice.getData(), start, builder);
    for (OpOperand &use : llvm::make_early_inc_range(slice.getResult().getUses())) {
      before.emplace_back(&use, use.get());
      use.set(value);
    }
  }
}

void ProductParts::drop() {
  for (auto [use, value] : before)
    use->set(value);
  for (Operation *op : llvm::reverse(built))
    op->erase();
}

/// The operations of both groups with the parts, in program order.
SmallVector<Operation *> ProductParts::united() const {
  SmallVector<Operation *> old = replaced(), ops;
  llvm::SmallPtrSet<Operation *, 16> gone(old.begin(), old.end());
  for (Operation *op : GroupGraph::united(producer, consumer))
    if (!gone.contains(op))
      ops.push_back(op);
  llvm::copy_if(built, std::back_inserter(ops), [](Operation *op) { return !isConstantLike(op); });
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

GeometryOrRefusal ProductParts::check() {
  if (graph.pathAround(producer, consumer))
    return Refusal{Reason::NotConvex, root};
  // The replaced operations are still there, and must not count as readers while the geometry is analyzed.
  SmallVector<Operation *> ops = united(), old = replaced();
  SmallVector<SmallVector<Value>> operands;
  for (Operation *op : old) {
    operands.emplace_back(op->getOperands());
    op->setOperands({});
  }
  GeometryOrRefusal geometry = checkKernel(ops, graph.machine());
  for (auto [op, saved] : llvm::zip_equal(old, operands))
    op->setOperands(saved);
  return geometry;
}

void ProductParts::merge(Geometry geometry) {
  graph.replaceAndMerge(consumer, producer, united(), replaced(), std::move(geometry));
}

bool fusion::splitProduct(GroupGraph &graph, const Edge &edge) {
  ProductParts parts(graph, edge);
  if (!parts.find())
    return false;
  parts.build();
  GeometryOrRefusal geometry = parts.check();
  if (auto *legal = std::get_if<Geometry>(&geometry)) {
    parts.merge(std::move(*legal));
    return true;
  }
  parts.drop();
  edge.consumer->notInParts = std::get<Refusal>(geometry).reason;
  return false;
}
