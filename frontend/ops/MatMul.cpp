// SPDX-License-Identifier: Apache-2.0
// Matrix products: each becomes a contraction with as few loops as possible.
#include "frontend/ops/Handlers.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tilewright::ops {
namespace {

/// [..., M, K] x [K, N]: the leading dimensions are merged with the rows.
Term matmulByMatrix(NodeBuilder &b, Term lhs, Term rhs) {
  Sizes sizes = lhs.sizes();
  AffineExpr depth = sizes.pop_back_val();
  Term rows = lhs.rank() == 2 ? lhs : b.reshape(lhs, {b.product(sizes), depth});
  Term result = b.contract(rows, rhs, "mk,kn->mn");
  sizes.push_back(result.sizes()[1]);
  return b.reshape(result, sizes);
}

/// Broadcasts the batch dimensions; each becomes a batch loop.
Term matmulBatched(NodeBuilder &b, Term lhs, Term rhs) {
  Sizes left = lhs.sizes(), right = rhs.sizes();
  Sizes batch = b.broadcastSizes({Sizes(left.begin(), left.end() - 2), Sizes(right.begin(), right.end() - 2)});
  auto spread = [&](Term x) {
    Sizes sizes = batch;
    llvm::append_range(sizes, llvm::ArrayRef(x.sizes()).take_back(2));
    return b.broadcast(x, sizes);
  };
  std::string loops(std::string_view("abcdefgh").substr(0, batch.size()));
  if (batch.size() > 8)
    decline("more than 8 batch dimensions are not compiled");
  return b.contract(spread(lhs), spread(rhs), loops + "mk," + loops + "kn->" + loops + "mn");
}

Term matmulOf(NodeBuilder &b, Term lhs, Term rhs) {
  b.expect(lhs.rank() > 0 && rhs.rank() > 0, "expected operands of rank 1 or more, got a scalar");
  bool isRow = lhs.rank() == 1, isColumn = rhs.rank() == 1;
  if (isRow)
    lhs = b.reshape(lhs, {b.number(1), lhs.sizes()[0]});
  if (isColumn)
    rhs = b.reshape(rhs, {rhs.sizes()[0], b.number(1)});
  Sizes right = rhs.sizes();
  bool oneMatrix =
      llvm::all_of(llvm::ArrayRef(right).drop_back(2), [](AffineExpr size) { return graph::constantSize(size) == 1; });
  if (oneMatrix && right.size() > 2 && lhs.rank() >= rhs.rank()) // [1, 1, K, N] is one matrix
    rhs = b.reshape(rhs, llvm::ArrayRef(right).take_back(2));
  Term result = rhs.rank() == 2 ? matmulByMatrix(b, lhs, rhs) : matmulBatched(b, lhs, rhs);
  Sizes sizes = result.sizes();
  if (isColumn)
    sizes.pop_back();
  if (isRow)
    sizes.erase(sizes.end() - 1 - !isColumn);
  return b.reshape(result, sizes);
}

/// An integer operand in 32 bits, minus its zero point if it has one. A vector of zero points is along dimension
/// `alongDim`.
Term shifted(NodeBuilder &b, size_t i, size_t zeroPoint, int64_t alongDim) {
  Term x = b.convert(b.raw(i), b.type(i), DType::I32);
  if (!b.has(zeroPoint))
    return x;
  Term zero = b.convert(b.raw(zeroPoint), b.type(zeroPoint), DType::I32);
  if (zero.rank() == 1 && graph::constantSize(zero.sizes()[0]) != 1)
    zero = b.along(zero, x, alongDim);
  else if (zero.rank() == 1 && graph::constantSize(zero.sizes()[0]) == 1)
    zero = b.reshape(zero, {});
  return x - zero;
}

} // namespace

void matmul(NodeBuilder &b) { b.out(matmulOf(b, b.raw(0), b.raw(1))); }

void matmulInteger(NodeBuilder &b) {
  Term lhs = shifted(b, 0, 2, b.rank(0) - 2), rhs = shifted(b, 1, 3, b.rank(1) - 1);
  b.out(matmulOf(b, lhs, rhs), DType::I32);
}

/// Inputs: a, its scale and zero point; b, its scale and zero point; scale and zero point of y.
void qlinearMatmul(NodeBuilder &b) {
  auto scalar = [&](size_t i) {
    Term scale = b.in(i);
    if (scale.rank() > 1 || (scale.rank() == 1 && graph::constantSize(scale.sizes()[0]) != 1))
      decline("scales along a dimension are not compiled");
    return b.reshape(scale, {});
  };
  Term sum = matmulOf(b, shifted(b, 0, 2, b.rank(0) - 2), shifted(b, 3, 5, b.rank(3) - 1));
  Term scale = scalar(1) * scalar(4) / scalar(6);
  b.out(requantized(b, b.convert(sum, DType::I32, DType::F32) * scale, 7), b.type(7));
}

void gemm(NodeBuilder &b) {
  b.expect(b.rank(0) == 2 && b.rank(1) == 2,
           fmt::format("expected two matrices, got ranks {} and {}", b.rank(0), b.rank(1)));
  double alpha = b.real("alpha", 1), beta = b.real("beta", 1);
  if (!isFloat(b.type(0)) && (alpha != 1 || beta != 1))
    decline("integer Gemm with alpha or beta is not compiled");
  std::string loops =
      std::string(b.integer("transA", 0) ? "km" : "mk") + (b.integer("transB", 0) ? ",nk" : ",kn") + "->mn";
  Term result = b.contract(b.raw(0), b.raw(1), loops);
  if (alpha != 1)
    result = result * alpha;
  if (b.has(2) && beta != 0) {
    Term bias = b.in(2);
    result = result + (beta == 1 ? bias : bias * beta);
  }
  b.out(result);
}

//===- Einsum -----------------------------------------------------------------------------------------------------===//

namespace {

/// "bij,bjk->bik": a label for each dimension. The dimensions of an ellipsis get capital letters.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Equation parseEquation(NodeBuilder &b) {
  std::string text;
  for (char c : b.text("equation", ""))
    if (c != ' ')
      text += c;
  size_t arrow = text.find("->");
  Equation equation;
  std::string left = text.substr(0, arrow);
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = left.find(',', begin);
    equation.inputs.push_back(left.substr(begin, end == std::string::npos ? end : end - begin));
  }
  b.expect(equation.inputs.size() == b.node.inputs.size(),
           fmt::format("expected an equation of {} operands, got '{}'", b.node.inputs.size(), text));
  size_t dots = 0;
  for (size_t i = 0; i < equation.inputs.size(); ++i) {
    std::string &labels = equation.inputs[i];
    if (size_t at = labels.find("..."); at != std::string::npos) {
      size_t count = static_cast<size_t>(b.rank(i)) - (labels.size() - 3);
      b.expect(count <= 8,
               fmt::format("expected operand {} to have the dimensions of '{}', got rank {}", i, labels, b.rank(i)));
      dots = std::max(dots, count);
      std::string letters;
      for (size_t d = 0; d < count; ++d)
        letters += static_cast<char>('H' - count + 1 + d);
      labels.replace(at, 3, letters);
    }
    b.expect(static_cast<int64_t>(labels.size()) == b.rank(i),
             fmt::format("expected operand {} to have the dimensions of '{}', got rank {}", i, labels, b.rank(i)));
  }
  std::string letters;
  for (size_t d = 0; d < dots; ++d)
    letters += static_cast<char>('H' - dots + 1 + d);
  if (arrow != std::string::npos) {
    equation.output = text.substr(arrow + 2);
    if (size_t at = equation.output.find("..."); at != std::string::npos)
      equation.output.replace(at, 3, letters);
    return equation;
  }
  // Without an arrow, the output has the ellipsis, then the labels that occur once, in alphabetical order.
  std::map<char, int> uses;
  for (const std::string &labels : equation.inputs)
    for (char label : labels)
      ++uses[label];
  equation.output = letters;
  for (auto [label, count] : uses)
    if (count == 1 && letters.find(label) == std::string::npos)
      equation.output += label;
  return equation;
}

/// Sums over labels that nothing else has. Declines a label that occurs twice in one operand (a diagonal).
Term sumAlone(NodeBuilder &b, Term x, std::string &labels, const std::string &needed) {
  SmallVector<int64_t> axes;
  std::string kept;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels.find(labels[i], i + 1) != std::string::npos)
      decline("an Einsum that takes a diagonal is not compiled");
    if (needed.find(labels[i]) == std::string::npos)
      axes.push_back(static_cast<int64_t>(i));
    else
      kept += labels[i];
  }
  labels = kept;
  return axes.empty() ? x : b.reduce(graph::ReduceKind::Sum, b.widen(x), axes);
}

Term permuted(NodeBuilder &b, Term x, const std::string &labels, const std::string &output) {
  SmallVector<int64_t> perm;
  for (char label : output) {
    if (labels.find(label) == std::string::npos)
      decline("an Einsum whose output repeats elements is not compiled");
    perm.push_back(static_cast<int64_t>(labels.find(label)));
  }
  return b.transpose(x, perm);
}

/// An operand, or the product of several.
struct Labelled {
  Term term;
  std::string labels; // one for each dimension
};

bool has(const std::string &labels, char label) { return labels.find(label) != std::string::npos; }

/// The product of two operands, summed over the labels that are not `needed`. Its labels are those of both operands,
/// then those of the rows and those of the columns, each in the order of `needed`.
Labelled contractPair(NodeBuilder &b, Labelled lhs, Labelled rhs, const std::string &needed) {
  lhs.term = sumAlone(b, lhs.term, lhs.labels, rhs.labels + needed);
  rhs.term = sumAlone(b, rhs.term, rhs.labels, lhs.labels + needed);
  if (lhs.term.element() != rhs.term.element())
    lhs.term = b.widen(lhs.term), rhs.term = b.widen(rhs.term);
  std::string batch, rows, columns;
  for (char label : needed) {
    bool left = has(lhs.labels, label), right = has(rhs.labels, label);
    if (std::string &list = left && right ? batch : left ? rows : columns; (left || right) && !has(list, label))
      list += label;
  }
  // Broadcasting within one label (size 1 against another size) is rare, and left to the reference.
  for (size_t i = 0; i < lhs.labels.size(); ++i)
    if (size_t j = rhs.labels.find(lhs.labels[i]); j != std::string::npos)
      if ((graph::constantSize(lhs.term.sizes()[i]) == 1) != (graph::constantSize(rhs.term.sizes()[j]) == 1))
        decline("an Einsum that broadcasts a dimension of size 1 is not compiled");
  std::string order = batch + rows + columns;
  return {b.contract(lhs.term, rhs.term, lhs.labels + "," + rhs.labels + "->" + order), order};
}

/// The elements of the product of two operands, with unknown sizes as in the import's first trial run.
double elementsOfPair(NodeBuilder &b, const Labelled &lhs, const Labelled &rhs, const std::string &needed) {
  double elements = 1;
  auto count = [&](const Labelled &operand, const std::string &counted) {
    for (auto [label, size] : llvm::zip_equal(operand.labels, operand.term.sizes()))
      if (has(needed, label) && !has(counted, label))
        elements *= static_cast<double>(graph::evaluate(size, {}, b.state.trialNumbers(0)));
  };
  count(lhs, ""), count(rhs, lhs.labels);
  return elements;
}

/// The labels that the output and all operands but numbers `i` and `j` have.
std::string neededBeside(ArrayRef<Labelled> operands, size_t i, size_t j, const std::string &output) {
  std::string needed = output;
  for (auto [at, operand] : llvm::enumerate(operands))
    if (at != i && at != j)
      needed += operand.labels;
  return needed;
}

} // namespace

/// Several operands are multiplied two at a time, those first whose product has the fewest elements.
void einsum(NodeBuilder &b) {
  constexpr size_t most = 16; // finding an order takes time that grows with the fourth power
  Equation equation = parseEquation(b);
  if (equation.inputs.size() > most)
    decline("an Einsum of {} operands is not compiled, only of up to {}", equation.inputs.size(), most);
  SmallVector<Labelled> operands;
  std::string all;
  for (auto [i, labels] : llvm::enumerate(equation.inputs))
    operands.push_back({b.raw(i), labels}), all += labels;
  for (char label : equation.output)
    if (!has(all, label))
      malformed("expected every label of the output in an operand, '{}' is in none", label);
  if (operands.size() == 1)
    operands[0].term = sumAlone(b, operands[0].term, operands[0].labels, equation.output);
  while (operands.size() > 1) {
    std::tuple<double, size_t, size_t> best{std::numeric_limits<double>::infinity(), 0, 1};
    for (size_t j = 1; j < operands.size(); ++j)
      for (size_t i = 0; i < j; ++i)
        best = std::min(
            best, {elementsOfPair(b, operands[i], operands[j], neededBeside(operands, i, j, equation.output)), i, j});
    auto [elements, i, j] = best;
    Labelled product = contractPair(b, operands[i], operands[j], neededBeside(operands, i, j, equation.output));
    if (operands.size() > 2)
      product.term = b.stored(product.term, b.type(0)); // as two nodes would
    operands[i] = product;
    operands.erase(operands.begin() + static_cast<int64_t>(j));
  }
  b.out(permuted(b, operands[0].term, operands[0].labels, equation.output));
}

} // namespace tilewright::ops
