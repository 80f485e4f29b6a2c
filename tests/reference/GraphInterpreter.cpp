// Graph kernels by their definition.
#include "tests/tilegen/Elements.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;

namespace tilewright::tests {

int64_t Dense::count() const {
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  return total;
}

namespace {

class GraphInterpreter {
public:
  GraphInterpreter(llvm::ArrayRef<int64_t> symbols) : symbols(symbols) {}
  std::vector<Dense> run(graph::KernelOp kernel, const std::vector<Dense> &inputs);

private:
  Dense make(Value value) {
    Dense dense;
    for (AffineExpr size : graph::getSizes(cast<RankedTensorType>(value.getType())))
      dense.shape.push_back(graph::evaluate(size, {}, symbols));
    dense.elements.resize(dense.count());
    return dense;
  }
  void access(graph::AccessOpInterface op, Dense &out);
  void concat(graph::ConcatOp op, Dense &out);
  void reduce(graph::ReduceOp op, Dense &out);
  void contract(graph::ContractOp op, Dense &out);

  llvm::ArrayRef<int64_t> symbols;
  DenseMap<Value, Dense> values;
};

} // namespace

void GraphInterpreter::access(graph::AccessOpInterface op, Dense &out) {
  const Dense &data = values[op.getData()];
  forEachPoint(out.shape, [&](ArrayRef<int64_t> point, int64_t position) {
    SmallVector<int64_t> dims(point), at;
    for (Value index : op.getIndexOperands())
      dims.push_back(values[index].elements[position]);
    bool inside = true;
    for (auto [expr, size] : llvm::zip_equal(op.getAccessMap().getResults(), data.shape)) {
      at.push_back(graph::evaluate(expr, dims, symbols));
      inside &= at.back() >= 0 && at.back() < size;
    }
    out.elements[position] = inside         ? data.elements[positionOf(at, data.shape)]
                             : op.getFill() ? numberOf(op.getFill())
                                            : NAN;
  });
}

void GraphInterpreter::concat(graph::ConcatOp op, Dense &out) {
  forEachPoint(out.shape, [&](ArrayRef<int64_t> point, int64_t position) {
    SmallVector<int64_t> at(point);
    for (Value input : op.getInputs()) {
      const Dense &data = values[input];
      if (at[op.getAxis()] < data.shape[op.getAxis()]) {
        out.elements[position] = data.elements[positionOf(at, data.shape)];
        return;
      }
      at[op.getAxis()] -= data.shape[op.getAxis()];
    }
  });
}

void GraphInterpreter::reduce(graph::ReduceOp op, Dense &out) {
  const Dense &data = values[op.getInput()];
  int kind = static_cast<int>(op.getKind());
  bool real = isa<FloatType>(cast<RankedTensorType>(op.getType()).getElementType());
  std::fill(out.elements.begin(), out.elements.end(), reduceIdentity(kind, real));
  forEachPoint(data.shape, [&](ArrayRef<int64_t> point, int64_t position) {
    SmallVector<int64_t> kept;
    for (auto [i, coordinate] : llvm::enumerate(point))
      if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(i)))
        kept.push_back(coordinate);
    double &sum = out.elements[positionOf(kept, out.shape)];
    sum = reduceStep(kind, sum, data.elements[position]);
  });
}

void GraphInterpreter::contract(graph::ContractOp op, Dense &out) {
  const Dense &lhs = values[op.getLhs()], &rhs = values[op.getRhs()];
  SmallVector<int64_t> loops(op.getMap(0).getNumDims());
  for (auto [map, data] : {std::pair(op.getMap(0), &lhs), std::pair(op.getMap(1), &rhs)})
    for (auto [expr, size] : llvm::zip_equal(map.getResults(), data->shape))
      loops[cast<AffineDimExpr>(expr).getPosition()] = size;
  auto at = [&](AffineMap map, ArrayRef<int64_t> point, const Dense &data) {
    SmallVector<int64_t> coordinates;
    for (AffineExpr expr : map.getResults())
      coordinates.push_back(point[cast<AffineDimExpr>(expr).getPosition()]);
    return positionOf(coordinates, data.shape);
  };
  auto read = [](const Dense &data, int64_t i, bool isUnsigned) {
    return isUnsigned && data.elements[i] < 0 ? data.elements[i] + 256 : data.elements[i];
  };
  forEachPoint(loops, [&](ArrayRef<int64_t> point, int64_t) {
    out.elements[at(op.getMap(2), point, out)] += read(lhs, at(op.getMap(0), point, lhs), op.getLhsUnsigned()) *
                                                  read(rhs, at(op.getMap(1), point, rhs), op.getRhsUnsigned());
  });
}

std::vector<Dense> GraphInterpreter::run(graph::KernelOp kernel, const std::vector<Dense> &inputs) {
  for (auto [argument, input] : llvm::zip_equal(kernel.getBody().getArguments(), inputs))
    values[argument] = input;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    Dense out = make(op.getResult(0));
    if (auto access = dyn_cast<graph::AccessOpInterface>(op)) {
      this->access(access, out);
    } else if (auto concat = dyn_cast<graph::ConcatOp>(op)) {
      this->concat(concat, out);
    } else if (auto reduce = dyn_cast<graph::ReduceOp>(op)) {
      this->reduce(reduce, out);
    } else if (auto contract = dyn_cast<graph::ContractOp>(op)) {
      this->contract(contract, out);
    } else if (auto iota = dyn_cast<graph::IotaOp>(op)) {
      forEachPoint(out.shape,
                   [&](ArrayRef<int64_t> point, int64_t position) { out.elements[position] = point[iota.getDim()]; });
    } else {
      for (int64_t i = 0; i < out.count(); ++i) {
        SmallVector<double> operands;
        for (Value operand : op.getOperands())
          operands.push_back(values[operand].elements[i]);
        out.elements[i] = evaluateElement(&op, operands);
      }
    }
    values[op.getResult(0)] = std::move(out);
  }
  std::vector<Dense> outputs;
  for (Value value : kernel.getBody().front().getTerminator()->getOperands())
    outputs.push_back(values[value]);
  return outputs;
}

std::vector<Dense> interpretGraph(graph::KernelOp kernel, const std::vector<Dense> &inputs,
                                  llvm::ArrayRef<int64_t> symbols) {
  return GraphInterpreter(symbols).run(kernel, inputs);
}

} // namespace tilewright::tests
