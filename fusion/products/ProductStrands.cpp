// SPDX-License-Identifier: Apache-2.0
// Walks the strands as far as they go in step, then builds one of them all.
#include "fusion/products/ProductStrands.h"

#include "fusion/Geometry.h"
#include "fusion/Replacement.h"
#include "fusion/products/ColumnConstants.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

//===- Products ---------------------------------------------------------------------------------------------------===//

std::optional<JoinableProduct> fusion::joinableProduct(graph::ContractOp contract) {
  auto weights = contract.getRhs().getDefiningOp<graph::ConstantOp>();
  if (!weights || !weights->hasOneUse() || !isa<FloatType>(getElementTypeOrSelf(weights.getType())))
    return std::nullopt;
  AffineMap left = contract.getMap(0), right = contract.getMap(1), result = contract.getMap(2);
  for (auto [resultDim, expr] : llvm::enumerate(result.getResults())) {
    std::optional<unsigned> rightDim = right.getResultPosition(expr);
    if (rightDim && !left.getResultPosition(expr))
      return JoinableProduct{contract, *rightDim, static_cast<int64_t>(resultDim),
                             cast<RankedTensorType>(weights.getType()).getDimSize(*rightDim)};
  }
  return std::nullopt;
}

SmallVector<Type> fusion::typesWithoutColumns(const JoinableProduct &product) {
  graph::ContractOp contract = product.contract;
  return {withSize(cast<RankedTensorType>(contract.getRhs().getType()), product.rightDim, 1),
          withSize(cast<RankedTensorType>(contract.getType()), product.resultDim, 1)};
}

//===- Steps ------------------------------------------------------------------------------------------------------===//

/// What an operation computes, without the ONNX node it is from.
static DictionaryAttr meaning(Operation *op) {
  NamedAttrList attributes(op->getAttrs());
  attributes.erase(graph::nodeAttr);
  attributes.erase(graph::nodesOfAttr);
  return attributes.getDictionary(op->getContext());
}

ProductStrands::ProductStrands(ArrayRef<JoinableProduct> products) : products(products) {
  for (const JoinableProduct &product : products)
    ends.push_back(graph::ContractOp(product.contract).getResult());
  while (takeCommonStep() || takeScale())
    ;
}

/// The only reader of a value, if it is elementwise with at most one further operand; nullopt otherwise.
std::optional<ProductStrands::Part> ProductStrands::partAfter(Value value) {
  if (!value.hasOneUse())
    return std::nullopt;
  OpOperand &use = *value.use_begin();
  Operation *op = use.getOwner();
  if (!isElementwise(op) || op->getNumResults() != 1 || op->getNumOperands() > 2)
    return std::nullopt;
  unsigned position = use.getOperandNumber();
  return Part{op, position, op->getNumOperands() == 2 ? op->getOperand(1 - position) : Value()};
}

/// The multiplication that follows `value`, with the casts before and behind it if they lead back to the type of
/// `value`. Empty if none follows.
SmallVector<ProductStrands::Part> ProductStrands::scaleAfter(Value value) {
  SmallVector<Part> parts;
  bool scaled = false;
  for (Value at = value; std::optional<Part> part = partAfter(at); at = part->op->getResult(0)) {
    bool fits = scaled ? isa<arith::TruncFOp>(part->op)
                       : isa<arith::MulFOp>(part->op) || (parts.empty() && isa<arith::ExtFOp>(part->op));
    if (!fits)
      break;
    scaled |= isa<arith::MulFOp>(part->op);
    parts.push_back(*part);
    if (scaled && part->op->getResult(0).getType() == value.getType())
      return parts;
  }
  return {};
}

SmallVector<int64_t> ProductStrands::columns() const {
  return llvm::map_to_vector(products, [](const JoinableProduct &product) { return product.columns; });
}

/// Whether the parts are the same operation in all strands, with joinable constants as other operands.
bool ProductStrands::isStep(const Step &step) const {
  const Part *first = nullptr;
  ColumnOperands others{{}, columns(), products.front().resultDim};
  for (const Part &part : step) {
    others.values.push_back(part.other);
    if (!part.op)
      continue;
    first = first ? first : &part;
    bool samePlace = part.position == first->position || part.op->hasTrait<OpTrait::IsCommutative>();
    if (part.op->getName() != first->op->getName() || meaning(part.op) != meaning(first->op) || !samePlace ||
        !part.other != !first->other ||
        getElementTypeOrSelf(part.op->getResult(0)) != getElementTypeOrSelf(first->op->getResult(0)))
      return false;
  }
  return first && (!first->other || areJoinable(others));
}

bool ProductStrands::takeCommonStep() {
  Step step;
  for (Value end : ends) {
    std::optional<Part> part = partAfter(end);
    if (!part)
      return false;
    step.push_back(*part);
  }
  if (!isStep(step))
    return false;
  for (auto [end, part] : llvm::zip_equal(ends, step))
    end = part.op->getResult(0);
  steps.push_back(std::move(step));
  return true;
}

/// Takes the steps of a multiplication that only some strands have; the others are multiplied by 1.
bool ProductStrands::takeScale() {
  SmallVector<SmallVector<Part>> scales = llvm::map_to_vector(ends, scaleAfter);
  auto scaled = llvm::find_if(scales, [](ArrayRef<Part> parts) { return !parts.empty(); });
  if (scaled == scales.end())
    return false;
  SmallVector<Step> taken(scaled->size());
  for (ArrayRef<Part> parts : scales) {
    if (!parts.empty() && parts.size() != taken.size())
      return false;
    for (auto [i, step] : llvm::enumerate(taken))
      step.push_back(parts.empty() ? Part() : parts[i]);
  }
  if (!llvm::all_of(taken, [&](const Step &step) { return isStep(step); }))
    return false;
  for (auto [end, part] : llvm::zip_equal(ends, taken.back()))
    end = part.op ? part.op->getResult(0) : end;
  llvm::append_range(steps, taken);
  return true;
}

//===- The verdict ------------------------------------------------------------------------------------------------===//

static bool isCast(Operation *op) { return isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp>(op); }

JoinVerdict ProductStrands::verdictOn(size_t strand) const {
  // Readers behind views and casts. If one of them is not elementwise, the end is in memory anyway, and a slice of the
  // joined result does as well.
  llvm::SetVector<Operation *> readers(ends[strand].user_begin(), ends[strand].user_end());
  bool isEpilogue = true;
  for (size_t i = 0; i < readers.size(); ++i) {
    Operation *reader = readers[i];
    auto concat = dyn_cast<graph::ConcatOp>(reader);
    bool besideOthers = concat && static_cast<int64_t>(concat.getAxis()) == products.front().resultDim &&
                        llvm::is_contained(concat.getInputs(), ends[strand]);
    bool isComputed = isElementwise(reader) ||
                      isa<graph::AccessOpInterface, graph::ConcatOp, graph::ReduceOp, graph::ContractOp>(reader);
    // Windows over a slice were measured: Inception v1 takes 1.05 of its time on the host.
    if (besideOthers || isa<graph::WindowOp>(reader) || !isComputed)
      return JoinVerdict::NeedOwnMemory;
    if (isa<graph::ReshapeOp, graph::TransposeOp>(reader) || isCast(reader))
      readers.insert(reader->user_begin(), reader->user_end());
    else
      isEpilogue &= isElementwise(reader);
  }
  return isEpilogue ? JoinVerdict::OwnEpilogues : JoinVerdict::Joined;
}

//===- Joining ----------------------------------------------------------------------------------------------------===//

Value ProductStrands::joinContractions(OpBuilder &builder) const {
  const JoinableProduct &first = products.front();
  graph::ContractOp like = first.contract;
  int64_t total = 0;
  SmallVector<Operation *> weights, contracts;
  for (const JoinableProduct &product : products) {
    total += product.columns;
    weights.push_back(product.weights());
    contracts.push_back(product.contract);
  }
  auto rightType = cast<RankedTensorType>(like.getRhs().getType());
  Value right =
      graph::ConstantOp::create(builder, weights.front()->getLoc(), withSize(rightType, first.rightDim, total),
                                joinedKey(weights, first.rightDim));
  OperationState state(like.getLoc(), like->getName(), {like.getLhs(), right},
                       withSize(cast<RankedTensorType>(like.getType()), first.resultDim, total), like->getAttrs());
  return nameAfter(builder.create(state), contracts)->getResult(0);
}

Value ProductStrands::joinStep(const Step &step, Value value, OpBuilder &builder) const {
  auto type = cast<RankedTensorType>(value.getType());
  ColumnOperands others{{}, columns(), products.front().resultDim};
  SmallVector<Operation *> ops;
  const Part *like = nullptr;
  for (const Part &part : step) {
    others.values.push_back(part.other);
    if (part.op)
      ops.push_back(part.op);
    if (part.op && !like)
      like = &part;
  }
  SmallVector<Value> operands = {value};
  if (like->other) {
    auto otherType = cast<RankedTensorType>(like->other.getType());
    operands.insert(operands.begin() + (1 - like->position),
                    joined(others, graph::withElementType(type, otherType.getElementType()), builder));
  }
  RankedTensorType result = graph::withElementType(type, getElementTypeOrSelf(like->op->getResult(0)));
  OperationState state(like->op->getLoc(), like->op->getName(), operands, result, like->op->getAttrs());
  return nameAfter(builder.create(state), ops)->getResult(0);
}

void ProductStrands::join() {
  OpBuilder builder(products.front().contract);
  Value value = joinContractions(builder);
  for (const Step &step : steps)
    value = joinStep(step, value, builder);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AffineExpr> offsets(type.getRank(), builder.getAffineConstantExpr(0));
  int64_t dim = products.front().resultDim, start = 0;
  for (auto [product, end] : llvm::zip_equal(products, ends)) {
    offsets[dim] = builder.getAffineConstantExpr(start);
    start += product.columns;
    auto map = AffineMap::get(0, 0, offsets, builder.getContext());
    for (OpOperand &use : llvm::make_early_inc_range(end.getUses())) { // a slice belongs to the node that reads it
      auto slice = graph::SliceOp::create(builder, end.getLoc(), end.getType(), value, map,
                                          SmallVector<int64_t>(type.getRank(), 1));
      if (Attribute node = use.getOwner()->getAttr(graph::nodeAttr))
        slice->setAttr(graph::nodeAttr, node);
      use.set(slice);
    }
  }
  for (Value end : ends)
    eraseDead(end.getDefiningOp());
}
