// SPDX-License-Identifier: Apache-2.0
// Sizes that are only known at run time: elements of inputs, and what a node computes from them.
//
//   RunTimeSizes sizes(b);
//   AffineExpr count = sizes.add(limit - start, b.number(1));
//   sizes.require(isPositive, "expected a positive step");
//   sizes.read();
//   b.out(b.iota({count}, ...));
//
// A kernel computes all of a node's numbers into one vector, the plan reads it (graph.read_sizes), and each element is
// a symbol from then on.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright {

class RunTimeSizes {
public:
  explicit RunTimeSizes(NodeBuilder &b) : b(b) {}

  /// Makes an i64 scalar a size. Negative values are an error at run time. `like` stands for it in trial runs at import
  /// (HostCallResults.h).
  mlir::AffineExpr add(Term number, mlir::AffineExpr like);
  /// Adds a check: it is an error at run time, with this message, if `condition` (an i1 scalar) is false.
  void require(Term condition, const std::string &expected);
  /// Emits the read. To be called once, before anything uses one of the sizes, and after the last `decline`.
  void read();

private:
  NodeBuilder &b;
  std::vector<Term> numbers;
  Sizes symbols;
  std::vector<std::pair<mlir::AffineExpr, std::string>> conditions;
};

/// Axes of a tensor that are only known at run time. Their number is known.
class RunTimeAxes {
public:
  /// The elements of input `i`, which must be distinct and from -rank to rank - 1.
  RunTimeAxes(NodeBuilder &b, size_t i, int64_t rank, RunTimeSizes &sizes);

  const std::vector<Term> &axes() const { return list; } // none negative
  int64_t count() const { return static_cast<int64_t>(list.size()); }
  /// Whether `dim` is among the first `count` axes.
  Term contains(int64_t dim, int64_t count) const;
  Term contains(int64_t dim) const { return contains(dim, count()); }
  /// The number of axes less than `dim`.
  Term below(int64_t dim) const;

private:
  NodeBuilder &b;
  std::vector<Term> list;
};

/// The sizes of a tensor reshaped to three dimensions: before an axis, along it, after it.
struct AxisView {
  mlir::AffineExpr before, along, after;
  Sizes sizes() const { return {before, along, after}; }
};

/// Whether input `i` is present and its contents are only known at run time.
bool isRunTime(NodeBuilder &b, size_t i);
/// An i64 scalar.
Term scalarOf(NodeBuilder &b, mlir::AffineExpr number);
Term scalarOf(NodeBuilder &b, int64_t number);
Term isEqual(Term a, Term b);
Term isBelow(Term a, Term b);
Term either(Term a, Term b);
Term both(Term a, Term b);
/// The number of elements of first, first + step, ... before `last`; 0 if `step` leads away from it.
Term stepsBetween(Term first, Term last, Term step);
/// a modulo m, in 0..m-1.
Term floorModulo(Term a, Term m);
/// For each axis in turn: the view along it of a tensor of `sizes` whose axes before it in the list are reduced to size
/// 1.
std::vector<AxisView> viewsAlong(NodeBuilder &b, const RunTimeAxes &axes, const Sizes &sizes, RunTimeSizes &read);
/// `sizes` with the axes set to 1 if `keep`, or removed.
Sizes sizesWithout(NodeBuilder &b, const RunTimeAxes &axes, const Sizes &sizes, bool keep, RunTimeSizes &read);

} // namespace tilewright
