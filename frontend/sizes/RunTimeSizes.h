// Sizes from numbers that only running tells: elements of inputs, and what a node computes from them.
//
//   RunTimeSizes sizes(b);
//   AffineExpr count = sizes.add(limit - start, b.number(1));
//   sizes.require(isPositive, "expected a positive step");
//   sizes.read();
//   b.out(b.iota({count}, ...));
//
// The numbers become one vector, which a kernel computes, and the plan reads it: each element is a symbol like any
// other from then on.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright {

class RunTimeSizes {
public:
  explicit RunTimeSizes(NodeBuilder &b) : b(b) {}

  /// A scalar of i64 as a size; negative ones are refused when running. Kernels that follow are tried at import as if
  /// it were `like`.
  mlir::AffineExpr add(Term number, mlir::AffineExpr like);
  /// Refuses to run, with this sentence, where a scalar of i1 is false.
  void require(Term condition, const std::string &expected);
  /// Once, before anything that has one of these sizes, and when nothing declines any more.
  void read();

private:
  NodeBuilder &b;
  std::vector<Term> numbers;
  Sizes symbols;
  std::vector<std::pair<mlir::AffineExpr, std::string>> conditions;
};

/// Axes of a tensor that only running tells; how many they are is known.
class RunTimeAxes {
public:
  /// The elements of input `i`, which must be distinct and within -rank and rank - 1.
  RunTimeAxes(NodeBuilder &b, size_t i, int64_t rank, RunTimeSizes &sizes);

  const std::vector<Term> &axes() const { return list; } // from 0 on
  int64_t count() const { return static_cast<int64_t>(list.size()); }
  /// Whether `dim` is one of the first `count`.
  Term contains(int64_t dim, int64_t count) const;
  Term contains(int64_t dim) const { return contains(dim, count()); }
  /// How many of them are below `dim`.
  Term below(int64_t dim) const;

private:
  NodeBuilder &b;
  std::vector<Term> list;
};

/// A tensor of any rank as [before, along, after] one axis.
struct AxisView {
  mlir::AffineExpr before, along, after;
  Sizes sizes() const { return {before, along, after}; }
};

/// Whether the elements of input `i` are there and not known.
bool isRunTime(NodeBuilder &b, size_t i);
/// An i64 scalar.
Term scalarOf(NodeBuilder &b, mlir::AffineExpr number);
Term scalarOf(NodeBuilder &b, int64_t number);
Term isEqual(Term a, Term b);
Term isBelow(Term a, Term b);
Term either(Term a, Term b);
Term both(Term a, Term b);
/// How many times `step` goes from `first` to `last`, which it does not reach: 0 if it leads away from it.
Term stepsBetween(Term first, Term last, Term step);
/// a modulo m, from 0 to m - 1.
Term floorModulo(Term a, Term m);
/// The views of a tensor of `sizes` along each of the axes in turn, where those before it have become 1.
std::vector<AxisView> viewsAlong(NodeBuilder &b, const RunTimeAxes &axes, const Sizes &sizes, RunTimeSizes &read);
/// `sizes` where the axes have become 1, or are gone.
Sizes sizesWithout(NodeBuilder &b, const RunTimeAxes &axes, const Sizes &sizes, bool keep, RunTimeSizes &read);

} // namespace tilewright
