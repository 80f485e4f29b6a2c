// SPDX-License-Identifier: Apache-2.0
// Runs the programs of a grid one after the other.
#include "tests/reference/TileInterpreter.h"

#include "frontend/graph/Sizes.h"
#include "tests/tilegen/Elements.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

#include <cmath>

using namespace mlir;

namespace tilewright::tests {
namespace {

class TileInterpreter {
public:
  TileInterpreter(tile::KernelOp kernel, std::vector<Dense> &buffers, ArrayRef<int64_t> symbols, std::string &error)
      : kernel(kernel), buffers(buffers), symbols(symbols), error(error) {
    for (const Dense &buffer : buffers)
      stored.emplace_back(buffer.elements.size(), false);
    tile::ScheduleAttr schedule = kernel.getScheduleAttr();
    computesRowsTwice = schedule && schedule.getGroups() > 1; // of the last tile, which is filled
  }
  bool run();

private:
  using Window = SmallVector<int64_t>;
  void runBlock(Block &block);
  void runFor(scf::ForOp loop);
  void load(tile::LoadOp op);
  void store(tile::StoreOp op);
  void dot(tile::DotOp op);
  void check(tile::CheckOp op);
  void elementwise(Operation *op);
  void fail(Operation *op, StringRef what) {
    if (error.empty())
      llvm::raw_string_ostream(error) << what << " at " << *op;
  }
  SmallVector<int64_t> indicesOf(ValueRange range) {
    return llvm::map_to_vector(range, [&](Value value) { return scalars[value]; });
  }
  Dense &tile(Value value) { return tiles[value]; }
  Dense make(Value value) {
    Dense dense;
    dense.shape = cast<RankedTensorType>(value.getType()).getShape().vec();
    dense.elements.assign(dense.count(), NAN);
    return dense;
  }
  /// Appends the coordinates of an element, and returns whether they are within the bounds.
  bool live(ArrayRef<int64_t> offsets, AffineMap bounds, ArrayRef<int64_t> point,
            SmallVectorImpl<int64_t> &coordinates);
  unsigned bufferOf(Value buffer) { return cast<BlockArgument>(buffer).getArgNumber(); }

  tile::KernelOp kernel;
  std::vector<Dense> &buffers;
  ArrayRef<int64_t> symbols;
  std::string &error;
  std::vector<std::vector<bool>> stored;
  bool computesRowsTwice;
  DenseMap<Value, int64_t> scalars;
  DenseMap<Value, Dense> tiles;
  int64_t program = 0;
};

} // namespace

bool TileInterpreter::live(ArrayRef<int64_t> offsets, AffineMap bounds, ArrayRef<int64_t> point,
                           SmallVectorImpl<int64_t> &coordinates) {
  bool live = true;
  for (auto [offset, element, bound] : llvm::zip_equal(offsets, point, bounds.getResults())) {
    coordinates.push_back(offset + element);
    live &= coordinates.back() >= 0 && coordinates.back() < graph::evaluate(bound, {}, symbols);
  }
  return live;
}

void TileInterpreter::load(tile::LoadOp op) {
  Dense out = make(op.getResult());
  const Dense &buffer = buffers[bufferOf(op.getBuffer())];
  SmallVector<int64_t> offsets = indicesOf(op.getOffsets()), sizes;
  for (AffineExpr size : op.getBuffer().getType().getSizes().getResults())
    sizes.push_back(graph::evaluate(size, {}, symbols));
  double fill = op.getFill() ? numberOf(*op.getFill()) : NAN;
  forEachPoint(out.shape, [&](ArrayRef<int64_t> point, int64_t position) {
    SmallVector<int64_t> coordinates, at;
    bool alive = live(offsets, op.getBounds(), point, coordinates), inside = true;
    for (Value index : op.getIndices())
      coordinates.push_back(std::isnan(tile(index).elements[position]) ? 0 : tile(index).elements[position]);
    for (auto [i, expr, size] : llvm::enumerate(op.getMap().getResults(), sizes)) {
      at.push_back(graph::evaluate(expr, coordinates, symbols));
      bool here = at.back() >= 0 && at.back() < size;
      if (alive && !here && !llvm::is_contained(op.getGuard(), static_cast<int64_t>(i)))
        fail(op, "a live element leaves the buffer");
      inside &= here;
    }
    out.elements[position] = alive && inside ? buffer.elements[positionOf(at, sizes)] : fill;
  });
  tiles[op.getResult()] = std::move(out);
}

void TileInterpreter::store(tile::StoreOp op) {
  const Dense &value = tile(op.getValue());
  unsigned number = bufferOf(op.getBuffer());
  SmallVector<int64_t> offsets = indicesOf(op.getOffsets()), sizes;
  for (AffineExpr size : op.getBuffer().getType().getSizes().getResults())
    sizes.push_back(graph::evaluate(size, {}, symbols));
  forEachPoint(value.shape, [&](ArrayRef<int64_t> point, int64_t position) {
    SmallVector<int64_t> coordinates, at;
    if (!live(offsets, op.getBounds(), point, coordinates))
      return;
    for (auto [expr, size] : llvm::zip_equal(op.getMap().getResults(), sizes)) {
      at.push_back(graph::evaluate(expr, coordinates, symbols));
      if (at.back() < 0 || at.back() >= size)
        return fail(op, "a store leaves the buffer");
    }
    int64_t element = positionOf(at, sizes);
    double &old = buffers[number].elements[element];
    if (stored[number][element] && !(computesRowsTwice && old == value.elements[position]))
      fail(op, "an element is stored twice");
    stored[number][element] = true;
    old = value.elements[position];
  });
}

void TileInterpreter::check(tile::CheckOp op) {
  Dense out = tile(op.getIndex());
  SmallVector<int64_t> offsets = indicesOf(op.getOffsets());
  int64_t size = graph::evaluate(op.getSize().getResult(0), {}, symbols);
  forEachPoint(out.shape, [&](ArrayRef<int64_t> point, int64_t position) {
    SmallVector<int64_t> coordinates;
    double &index = out.elements[position];
    if (live(offsets, op.getBounds(), point, coordinates) && !(index >= 0 && index < size))
      fail(op, "an index is out of range");
    index = std::isnan(index) ? 0 : std::min<double>(std::max(index, 0.0), size - 1);
  });
  tiles[op.getResult()] = std::move(out);
}

void TileInterpreter::dot(tile::DotOp op) {
  Dense out = tile(op.getAcc());
  const Dense &lhs = tile(op.getLhs()), &rhs = tile(op.getRhs());
  int64_t m = out.shape[out.shape.size() - 2], n = out.shape.back(), k = lhs.shape.back(),
          batch = out.count() / (m * n);
  auto read = [](const Dense &data, int64_t i, bool isUnsigned) {
    return isUnsigned && data.elements[i] < 0 ? data.elements[i] + 256 : data.elements[i];
  };
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          out.elements[(b * m + i) * n + j] +=
              read(lhs, (b * m + i) * k + l, op.getLhsUnsigned()) * read(rhs, (b * k + l) * n + j, op.getRhsUnsigned());
  tiles[op.getResult()] = std::move(out);
}

void TileInterpreter::runFor(scf::ForOp loop) {
  SmallVector<Dense> carried;
  for (Value initial : loop.getInitArgs())
    carried.push_back(tile(initial));
  for (int64_t i = scalars[loop.getLowerBound()]; i < scalars[loop.getUpperBound()]; i += scalars[loop.getStep()]) {
    scalars[loop.getInductionVar()] = i;
    for (auto [argument, value] : llvm::zip_equal(loop.getRegionIterArgs(), carried))
      tiles[argument] = value;
    runBlock(*loop.getBody());
    for (auto [value, yielded] : llvm::zip_equal(carried, loop.getBody()->getTerminator()->getOperands()))
      value = tile(yielded);
  }
  for (auto [result, value] : llvm::zip_equal(loop.getResults(), carried))
    tiles[result] = value;
}

void TileInterpreter::elementwise(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op)) {
    scalars[constant] = constant.value();
    return;
  }
  if (op->getResult(0).getType().isIndex()) {
    SmallVector<double> operands;
    for (int64_t value : indicesOf(op->getOperands()))
      operands.push_back(static_cast<double>(value));
    scalars[op->getResult(0)] = static_cast<int64_t>(evaluateElement(op, operands));
    return;
  }
  Dense out = make(op->getResult(0));
  for (int64_t i = 0; i < out.count(); ++i) {
    SmallVector<double> operands;
    for (Value operand : op->getOperands())
      operands.push_back(tile(operand).elements[i]);
    out.elements[i] = evaluateElement(op, operands);
  }
  tiles[op->getResult(0)] = std::move(out);
}

void TileInterpreter::runBlock(Block &block) {
  for (Operation &op : block)
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](tile::ProgramIdOp id) { scalars[id] = id.getDim() == 0 ? program : 0; })
        .Case([&](tile::SizeOp size) {
          scalars[size] = graph::evaluate(size.getExpr().getResult(0), indicesOf(size.getOperands()), symbols);
        })
        .Case([&](tile::LoadOp op) { load(op); })
        .Case([&](tile::StoreOp op) { store(op); })
        .Case([&](tile::CheckOp op) { check(op); })
        .Case([&](tile::DotOp op) { dot(op); })
        .Case([&](scf::ForOp op) { runFor(op); })
        .Case([&](tile::CoordinateOp op) {
          Dense out = make(op.getResult());
          forEachPoint(out.shape, [&](ArrayRef<int64_t> point, int64_t position) {
            out.elements[position] = scalars[op.getOffset()] + point[op.getDim()];
          });
          tiles[op.getResult()] = std::move(out);
        })
        .Case([&](tile::BroadcastOp op) {
          Dense out = make(op.getResult());
          const Dense &in = tile(op.getInput());
          forEachPoint(out.shape, [&](ArrayRef<int64_t> point, int64_t position) {
            SmallVector<int64_t> at(point);
            for (auto [coordinate, size] : llvm::zip_equal(at, in.shape))
              coordinate = size == 1 ? 0 : coordinate;
            out.elements[position] = in.elements[positionOf(at, in.shape)];
          });
          tiles[op.getResult()] = std::move(out);
        })
        .Case([&](tile::ReduceOp op) {
          Dense out = make(op.getResult());
          const Dense &in = tile(op.getInput());
          int kind = static_cast<int>(op.getKind());
          std::fill(out.elements.begin(), out.elements.end(),
                    reduceIdentity(kind, isa<FloatType>(cast<RankedTensorType>(op.getType()).getElementType())));
          forEachPoint(in.shape, [&](ArrayRef<int64_t> point, int64_t position) {
            SmallVector<int64_t> at(point);
            at[op.getDim()] = 0;
            double &sum = out.elements[positionOf(at, out.shape)];
            sum = reduceStep(kind, sum, in.elements[position]);
          });
          tiles[op.getResult()] = std::move(out);
        })
        .Case<tile::ReturnOp, scf::YieldOp>([](auto) {})
        .Default([&](Operation *other) { elementwise(other); });
}

bool TileInterpreter::run() {
  for (auto [i, symbol] : llvm::enumerate(symbols))
    scalars[kernel.getSymbol(i)] = symbol;
  int64_t programs = graph::evaluate(kernel.getGrid().getResult(0), {}, symbols);
  for (program = 0; program < programs && error.empty(); ++program) {
    tiles.clear();
    runBlock(kernel.getBody().front());
  }
  return error.empty();
}

bool interpretTile(tile::KernelOp kernel, std::vector<Dense> &buffers, ArrayRef<int64_t> symbols, std::string &error) {
  return TileInterpreter(kernel, buffers, symbols, error).run();
}

} // namespace tilewright::tests
