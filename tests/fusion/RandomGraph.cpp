// SPDX-License-Identifier: Apache-2.0
// Grows a graph by random steps, each on values that are there already.
#include "tests/fusion/RandomGraph.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/graph/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <random>

using namespace mlir;
using namespace tilewright;

namespace {

class Grower {
public:
  Grower(MLIRContext &context, unsigned seed)
      : module(ModuleOp::create(UnknownLoc::get(&context))), builder(&context), random(seed) {
    builder.setInsertionPointToEnd(module->getBody());
    main = func::FuncOp::create(builder, builder.getUnknownLoc(), "main", builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(main.addEntryBlock());
    for (unsigned i = 0, count = 1 + pick(3); i < count; ++i)
      values.push_back(input(randomShape()));
  }

  OwningOpRef<ModuleOp> grow(unsigned operations);

private:
  using Shape = SmallVector<int64_t>;
  static constexpr int64_t largest = 2000; // elements of a value

  unsigned pick(unsigned limit) { return random() % limit; }
  Value anyValue() { return values[pick(values.size())]; }
  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  static Shape shapeOf(Value value) { return Shape(typeOf(value).getShape()); }
  RankedTensorType tensor(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); }

  Shape randomShape() {
    Shape shape;
    for (unsigned i = 0, rank = 1 + pick(4); i < rank; ++i)
      shape.push_back(1 + pick(6));
    return shape;
  }
  Value input(ArrayRef<int64_t> shape) {
    (void)main.insertArgument(main.getNumArguments(), tensor(shape), {}, builder.getUnknownLoc());
    return main.getArguments().back();
  }
  template <typename Op, typename... Args> Value make(Args &&...args) {
    auto op = Op::create(builder, builder.getUnknownLoc(), std::forward<Args>(args)...);
    op->setAttr(graph::nodeAttr, builder.getI64IntegerAttr(node));
    return op->getResult(0);
  }

  Value unary(Value x);
  Value binary(Value x);
  Value transpose(Value x);
  Value reshape(Value x);
  Value slice(Value x);
  Value roll(Value x);
  Value pad(Value x);
  Value reduce(Value x, Shape axes, graph::ReduceKind kind);
  Value someReduce(Value x);
  Value normalize(Value x);
  Value repeat(Value x);
  Value concat(Value x);
  Value contract(Value x);
  Value window(Value x);
  void nameEverything(unsigned outputs);

  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
  OpBuilder builder;
  std::mt19937 random;
  std::vector<Value> values;
  int64_t node = 0;
};

Value Grower::unary(Value x) {
  switch (pick(3)) {
  case 0:
    return make<arith::NegFOp>(x);
  case 1:
    return make<math::TanhOp>(x);
  default:
    return make<math::AbsFOp>(x);
  }
}

/// The other operand: a value of the same type, a scalar, or an input repeated along some dimensions.
Value Grower::binary(Value x) {
  SmallVector<Value> same;
  for (Value value : values)
    if (value.getType() == x.getType())
      same.push_back(value);
  Value y;
  if (unsigned kind = pick(3); kind == 0) {
    y = same[pick(same.size())];
  } else {
    Shape shape, dims;
    for (auto [dim, size] : llvm::enumerate(shapeOf(x)))
      if (kind == 2 && pick(2))
        shape.push_back(pick(4) ? size : 1), dims.push_back(dim);
    y = make<graph::BroadcastOp>(x.getType(), input(shape), dims);
  }
  switch (pick(3)) {
  case 0:
    return make<arith::AddFOp>(x, y);
  case 1:
    return make<arith::MulFOp>(x, y);
  default:
    return make<arith::MaximumFOp>(y, x);
  }
}

Value Grower::transpose(Value x) {
  Shape perm = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank())), shape;
  std::shuffle(perm.begin(), perm.end(), random);
  for (int64_t dim : perm)
    shape.push_back(shapeOf(x)[dim]);
  return make<graph::TransposeOp>(tensor(shape), x, perm);
}

/// Merges two neighbours, splits one dimension, or both.
Value Grower::reshape(Value x) {
  Shape shape = shapeOf(x);
  if (shape.size() > 1 && pick(2)) {
    unsigned at = pick(shape.size() - 1);
    shape[at] *= shape[at + 1];
    shape.erase(shape.begin() + at + 1);
  }
  if (!shape.empty() && pick(2)) {
    unsigned at = pick(shape.size());
    for (int64_t factor : {3, 2, 1})
      if (shape[at] % factor == 0) {
        shape[at] /= factor;
        shape.insert(shape.begin() + at + pick(2), factor);
        break;
      }
  }
  return make<graph::ReshapeOp>(tensor(shape), x);
}

Value Grower::slice(Value x) {
  Shape shape, strides;
  SmallVector<AffineExpr> offsets;
  for (int64_t size : shapeOf(x)) {
    int64_t first = pick(size), stride = 1 + pick(2), count = (size - 1 - first) / stride + 1;
    if (pick(4) == 0) { // backwards
      count = first / stride + 1;
      stride = -stride;
    }
    offsets.push_back(builder.getAffineConstantExpr(first));
    strides.push_back(stride);
    shape.push_back(count);
  }
  return make<graph::SliceOp>(tensor(shape), x, AffineMap::get(0, 0, offsets, builder.getContext()), strides);
}

/// As exporters write it: the tail of a slice along one dimension, then its head.
Value Grower::roll(Value x) {
  Shape shape = shapeOf(x);
  if (shape.empty())
    return x;
  unsigned axis = pick(shape.size());
  if (shape[axis] < 2)
    return x;
  int64_t first = 1 + pick(shape[axis] - 1);
  auto part = [&](int64_t from, int64_t to) {
    Shape partShape = shape;
    partShape[axis] = to - from;
    SmallVector<AffineExpr> offsets(shape.size(), builder.getAffineConstantExpr(0));
    offsets[axis] = builder.getAffineConstantExpr(from);
    return make<graph::SliceOp>(tensor(partShape), x, AffineMap::get(0, 0, offsets, builder.getContext()),
                                SmallVector<int64_t>(shape.size(), 1));
  };
  Value tail = part(first, shape[axis]), head = part(0, first);
  return make<graph::ConcatOp>(tensor(shape), axis, ValueRange{tail, head});
}

Value Grower::pad(Value x) {
  Shape shape = shapeOf(x), low;
  for (int64_t &size : shape) {
    low.push_back(pick(3));
    size += low.back() + pick(2);
  }
  return make<graph::PadOp>(tensor(shape), x, low, builder.getF32FloatAttr(0.5));
}

Value Grower::reduce(Value x, Shape axes, graph::ReduceKind kind) {
  Shape shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(x)))
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      shape.push_back(size);
  return make<graph::ReduceOp>(tensor(shape), kind, x, axes);
}

Value Grower::someReduce(Value x) {
  Shape axes;
  for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
    if (pick(2))
      axes.push_back(dim);
  if (axes.empty())
    return x;
  return reduce(x, axes, pick(2) ? graph::ReduceKind::Sum : graph::ReduceKind::Max);
}

/// x minus its reduction over the last dimensions, or over any one: one node.
Value Grower::normalize(Value x) {
  int64_t rank = typeOf(x).getRank();
  if (rank == 0)
    return x;
  int64_t axis = pick(3) ? rank - 1 : pick(rank);
  Shape kept;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      kept.push_back(dim);
  Value reduced = reduce(x, {axis}, graph::ReduceKind::Max);
  return make<arith::SubFOp>(x, make<graph::BroadcastOp>(x.getType(), reduced, kept));
}

/// A new dimension somewhere, along which x is repeated.
Value Grower::repeat(Value x) {
  Shape shape = shapeOf(x), dims = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  unsigned at = pick(shape.size() + 1);
  for (size_t i = at; i < dims.size(); ++i)
    ++dims[i];
  shape.insert(shape.begin() + at, 1 + pick(3));
  return make<graph::BroadcastOp>(tensor(shape), x, dims);
}

Value Grower::concat(Value x) {
  Shape shape = shapeOf(x);
  if (shape.empty())
    return x;
  unsigned axis = pick(shape.size());
  Shape other = shape;
  other[axis] = 1 + pick(3);
  shape[axis] += other[axis];
  return make<graph::ConcatOp>(tensor(shape), axis, ValueRange{x, input(other)});
}

/// x [b..., k] with weights [k, n], or with the columns first.
Value Grower::contract(Value x) {
  Shape shape = shapeOf(x);
  if (shape.empty())
    return x;
  unsigned rank = shape.size();
  int64_t n = 1 + pick(5), k = shape.back();
  AffineExpr column = builder.getAffineDimExpr(rank - 1), inner = builder.getAffineDimExpr(rank);
  SmallVector<AffineExpr> left, result;
  for (unsigned dim = 0; dim + 1 < rank; ++dim) {
    left.push_back(builder.getAffineDimExpr(dim));
    result.push_back(builder.getAffineDimExpr(dim));
  }
  left.push_back(inner);
  result.push_back(column);
  bool columnsFirst = pick(2);
  Value weights = input(columnsFirst ? Shape{n, k} : Shape{k, n});
  AffineMap maps[] = {
      AffineMap::get(rank + 1, 0, left, builder.getContext()),
      AffineMap::get(rank + 1, 0,
                     columnsFirst ? ArrayRef<AffineExpr>{column, inner} : ArrayRef<AffineExpr>{inner, column},
                     builder.getContext()),
      AffineMap::get(rank + 1, 0, result, builder.getContext())};
  shape.back() = n;
  return make<graph::ContractOp>(tensor(shape), x, weights, builder.getAffineMapArrayAttr(maps));
}

/// A pooling along one or two dimensions: one node.
Value Grower::window(Value x) {
  Shape shape = shapeOf(x);
  if (shape.size() < 2)
    return x;
  unsigned spatial = 1 + pick(2), first = pick(shape.size() - spatial + 1);
  Shape dims, strides, dilations(spatial, 1), low, outer, kernel, axes;
  for (unsigned i = 0; i < spatial; ++i) {
    dims.push_back(first + i);
    strides.push_back(1 + pick(2));
    low.push_back(pick(2));
    outer.push_back((shape[first + i] - 1) / strides.back() + 1);
    kernel.push_back(1 + pick(3));
    axes.push_back(first + spatial + i);
  }
  Shape windows(shape.begin(), shape.begin() + first);
  llvm::append_range(windows, outer);
  llvm::append_range(windows, kernel);
  windows.append(shape.begin() + first + spatial, shape.end());
  Value view = make<graph::WindowOp>(tensor(windows), x, dims, strides, dilations, low, builder.getF32FloatAttr(0));
  return reduce(view, axes, graph::ReduceKind::Sum);
}

/// What an importer would have written: names and types of inputs and outputs, and the nodes.
void Grower::nameEverything(unsigned outputs) {
  StringAttr type = builder.getStringAttr("float32");
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    main.setArgAttr(i, graph::nameAttr, builder.getStringAttr("input" + std::to_string(i)));
    main.setArgAttr(i, graph::dtypeAttr, type);
  }
  for (unsigned i = 0; i < outputs; ++i) {
    main.setResultAttr(i, graph::nameAttr, builder.getStringAttr("output" + std::to_string(i)));
    main.setResultAttr(i, graph::dtypeAttr, type);
  }
  SmallVector<std::string> nodes;
  for (int64_t i = 0; i <= node; ++i)
    nodes.push_back("node" + std::to_string(i) + "|Step");
  (*module)->setAttr(graph::nodesAttr, builder.getStrArrayAttr(SmallVector<StringRef>(nodes.begin(), nodes.end())));
  (*module)->setAttr(graph::symbolsAttr, builder.getArrayAttr({}));
}

OwningOpRef<ModuleOp> Grower::grow(unsigned operations) {
  using Step = Value (Grower::*)(Value);
  constexpr Step steps[] = {
      &Grower::unary,     &Grower::binary,    &Grower::binary, &Grower::binary, &Grower::transpose, &Grower::transpose,
      &Grower::reshape,   &Grower::reshape,   &Grower::slice,  &Grower::roll,   &Grower::pad,       &Grower::someReduce,
      &Grower::normalize, &Grower::normalize, &Grower::repeat, &Grower::concat, &Grower::contract,  &Grower::window};
  for (unsigned i = 0; i < operations; ++i) {
    // Mostly the latest values, so that chains grow long.
    Value x = pick(3) ? values.back() : anyValue();
    ++node;
    Value y = (this->*steps[pick(std::size(steps))])(x);
    if (typeOf(y).getNumElements() <= largest && typeOf(y).getRank() <= 6)
      values.push_back(y);
  }
  SmallVector<Value> outputs = {values.back()};
  for (Value value : values)
    if (value.getDefiningOp() && (value.use_empty() || pick(8) == 0) && !llvm::is_contained(outputs, value))
      outputs.push_back(value);
  func::ReturnOp::create(builder, builder.getUnknownLoc(), outputs);
  main.setFunctionType(builder.getFunctionType(main.getArgumentTypes(), ValueRange(outputs).getTypes()));
  nameEverything(outputs.size());
  return std::move(module);
}

} // namespace

OwningOpRef<ModuleOp> tilewright::test::randomGraph(MLIRContext &context, unsigned seed, unsigned operations) {
  return Grower(context, seed).grow(operations);
}
