// SPDX-License-Identifier: Apache-2.0
// What a handler works with: one ONNX node with its inputs and attributes, and functions with which most operators are
// one line.
//
//   void silu(NodeBuilder &b) { Term x = b.in(0); b.out(x * b.sigmoid(x)); }
//
// Arithmetic on terms broadcasts as in NumPy. `in` widens half types to f32, and `out` narrows to the ONNX type again,
// so a node rounds once, as ONNX specifies. `raw` keeps the storage type, for nodes that only move elements. A handler
// calls `decline` (ImportFailure.h) for forms of the operator that it does not cover.
#pragma once

#include "frontend/state/ImportState.h"
#include "runtime/reference/Reference.h"

#include "mlir/IR/AffineMap.h"

namespace tilewright {

class NodeBuilder;

/// A tensor under construction. Operators choose the float or the integer operation by element type; numbers become
/// splats.
struct Term {
  NodeBuilder *builder = nullptr;
  mlir::Value value;

  mlir::RankedTensorType type() const { return llvm::cast<mlir::RankedTensorType>(value.getType()); }
  mlir::Type element() const { return type().getElementType(); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(element()); }
  int64_t rank() const { return type().getRank(); }
  Sizes sizes() const { return graph::getSizes(type()); }
};

Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b); // of floats only
Term operator+(Term a, double b);
Term operator-(Term a, double b);
Term operator*(Term a, double b);
Term operator/(Term a, double b);
Term operator+(double a, Term b);
Term operator-(double a, Term b);
Term operator*(double a, Term b);
Term operator/(double a, Term b);
Term operator-(Term a);

/// Element `i` of a tensor of numbers; nullopt for types that are only stored, strings and complex numbers.
std::optional<double> numberAt(const Tensor &tensor, int64_t i);

class NodeBuilder {
public:
  /// `inputs` has null for absent optional inputs, `outputs` for outputs that the model does not name.
  struct Node {
    std::string name, op, domain;
    int64_t opset = 0;
    Attributes attributes;
    std::vector<ImportedValue *> inputs, outputs;
    bool feedsOneProduct = true; // one product or gather, perhaps of the transpose, is its only reader
  };

  NodeBuilder(ImportState &state, Node &node) : state(state), node(node) {}

  ImportState &state;
  Node &node;

  //===- Inputs and attributes ------------------------------------------------------------------------------------===//
  bool has(size_t i) const { return i < node.inputs.size() && node.inputs[i]; }
  /// Malformed if the input is absent.
  ImportedValue &input(size_t i) const;
  DType type(size_t i) const { return input(i).type; }
  const Sizes &sizes(size_t i) const { return input(i).sizes; }
  int64_t rank(size_t i) const { return input(i).rank(); }
  Term raw(size_t i);
  Term in(size_t i);

  int64_t integer(std::string_view name, int64_t fallback) const;
  double real(std::string_view name, double fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
  std::vector<float> reals(std::string_view name) const;       // empty without the attribute
  std::vector<std::string> texts(std::string_view name) const; // the same
  bool hasAttribute(std::string_view name) const { return node.attributes.contains(name); }

  /// The contents of an integer input, as numbers or as expressions in symbols. Declines if they are only known at run
  /// time.
  std::vector<int64_t> knownIntegers(size_t i) const;
  Sizes knownSizes(size_t i) const;
  mlir::AffineExpr knownSize(size_t i) const; // of an input with one element
  /// The elements of an input as scalars of type `as`, whether their values are known or not. Declines if their number
  /// is unknown.
  std::vector<Term> scalars(size_t i, DType as = DType::I64);
  /// The elements of an input as sizes: known expressions, or symbols that are bound at run time.
  Sizes sizesFrom(size_t i);
  /// The value of a constant input of one element; nullopt if input `i` is absent or anything else.
  std::optional<double> scalarConstant(size_t i) const;
  const Tensor *constant(size_t i) const { return has(i) ? state.constantOf(*node.inputs[i]) : nullptr; }
  /// Integers that are an attribute in early opsets and an input in later ones. nullopt if both are absent.
  std::optional<std::vector<int64_t>> integersFrom(std::string_view attribute, size_t input) const;

  /// Converts a negative axis. Malformed unless -rank <= axis < rank (<= rank if `orEnd`).
  int64_t axis(int64_t axis, int64_t rank, bool orEnd = false) const;
  std::vector<int64_t> axes(std::vector<int64_t> axes, int64_t rank) const; // sorted, distinct
  void expect(bool condition, const std::string &what) const;               // else Malformed
  void expectRank(size_t input, int64_t least, int64_t most) const;
  void expectRank(size_t input, int64_t rank) const { expectRank(input, rank, rank); }

  //===- Results --------------------------------------------------------------------------------------------------===//
  /// Sets output `i` to `term`, narrowed to the type of input 0.
  void out(Term term, size_t i = 0) { out(term, type(0), i); }
  void out(Term term, DType type, size_t i = 0);
  /// Sets output `i` to input `from`, unchanged.
  void forward(size_t from, size_t i = 0);
  bool wants(size_t i) const { return i < node.outputs.size() && node.outputs[i]; }

  //===- Sizes ----------------------------------------------------------------------------------------------------===//
  mlir::AffineExpr number(int64_t value) const { return state.number(value); }
  mlir::AffineExpr product(llvm::ArrayRef<mlir::AffineExpr> sizes) const {
    return state.resolve(graph::productOf(state.context, sizes));
  }
  std::string print(llvm::ArrayRef<mlir::AffineExpr> sizes) const { return state.print(sizes); }
  /// The shape that `shapes` broadcast to, as in NumPy. Unifies symbols where that is necessary.
  Sizes broadcastSizes(llvm::ArrayRef<Sizes> shapes);
  mlir::AffineExpr broadcastSize(mlir::AffineExpr a, mlir::AffineExpr b, size_t dim);
  /// Requires equal sizes, by a check at run time if necessary. Malformed if they differ for all values of the symbols:
  /// "expected `what` = b, got a".
  void unify(mlir::AffineExpr a, mlir::AffineExpr b, const std::string &what);
  /// size / by, which must be exact; checked at run time if necessary. Error: "expected `what` that `by` divides".
  mlir::AffineExpr divide(mlir::AffineExpr size, mlir::AffineExpr by, const std::string &what);
  /// The rank that the model declares for output `i`; nullopt if it declares none.
  std::optional<int64_t> declaredRank(size_t i) const;

  //===- Building: accesses ---------------------------------------------------------------------------------------===//
  /// Gives `x` these sizes, which `unify` has made equal to its own but which may be different expressions.
  Term conform(Term x, llvm::ArrayRef<mlir::AffineExpr> sizes);
  Term term(mlir::Value value) { return {this, value}; }
  Term broadcast(Term x, llvm::ArrayRef<mlir::AffineExpr> sizes);
  /// The same, with dimension i of x as dimension dims[i] of the result.
  Term broadcast(Term x, llvm::ArrayRef<mlir::AffineExpr> sizes, llvm::ArrayRef<int64_t> dims);
  /// Broadcasts a vector along dimension `dim` to the sizes of `like`.
  Term along(Term vector, Term like, int64_t dim);
  Term reshape(Term x, llvm::ArrayRef<mlir::AffineExpr> sizes);
  Term transpose(Term x, llvm::ArrayRef<int64_t> perm);
  /// `size` elements of dimension `dim`, starting at `offset`.
  Term slice(Term x, int64_t dim, mlir::AffineExpr offset, mlir::AffineExpr size, int64_t stride = 1);
  /// Pads with `fill`: x's element 0 of dimension d becomes element low[d] of the result, whose sizes are `sizes`.
  Term pad(Term x, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<mlir::AffineExpr> sizes, double fill);
  Term concat(llvm::ArrayRef<Term> terms, int64_t axis);
  /// result[c] = data[map(c, indices[c])]: the map's dimensions are the result's coordinates, then one for each index
  /// tensor. Indices are broadcast to `sizes`.
  Term gather(Term data, llvm::ArrayRef<Term> indices, mlir::AffineMap map, llvm::ArrayRef<mlir::AffineExpr> sizes);
  /// Adds `size` to negative indices.
  Term wrapped(Term index, mlir::AffineExpr size);
  /// result[..., i, ...] = x[..., index[i], ...] for each of `dims`, with one index vector each.
  Term take(Term x, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<Term> indices);
  /// result[..., i, ...] = x[..., index[..., i, ...], ...] along `dim`, with an index for each element of the result.
  Term takeElements(Term x, int64_t dim, Term index);
  mlir::TypedAttr scalar(mlir::Type element, double value) const;

  //===- Building: elements ---------------------------------------------------------------------------------------===//
  Term splat(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, double value) {
    return term(state.splat(sizes, element, value));
  }
  Term splatInteger(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, int64_t value) {
    return term(state.splatInteger(sizes, element, value));
  }
  Term like(Term x, double value) { return splat(x.sizes(), x.element(), value); }
  /// A tensor of shape `sizes` with the value of `size` in every element.
  Term sizeAs(mlir::AffineExpr size, llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element);
  Term constantTerm(const Tensor &tensor) { return term(state.constant(tensor)); }
  /// A tensor whose elements are their coordinate along `dim`.
  Term iota(llvm::ArrayRef<mlir::AffineExpr> sizes, int64_t dim, mlir::Type element);
  template <typename Op> Term apply(Term x) {
    if (Op::getOperationName().starts_with("math.") && !x.isFloat() && !std::is_same_v<Op, mlir::math::AbsIOp>)
      malformed("expected floats, got {}", print(x));
    return term(Op::create(state.builder, state.location, x.value));
  }
  template <typename Op> Term apply(Term a, Term b) {
    std::tie(a, b) = together(a, b);
    return term(Op::create(state.builder, state.location, a.value, b.value));
  }
  /// Broadcasts both to one shape. Malformed if their element types differ.
  std::pair<Term, Term> together(Term a, Term b);
  std::string print(Term x) const;
  /// Compares by predicate `f` if the elements are floats, else by `i`. Elements of the result are i1.
  Term compare(mlir::arith::CmpFPredicate f, mlir::arith::CmpIPredicate i, Term a, Term b);
  Term select(Term condition, Term yes, Term no);
  Term maximum(Term a, Term b, bool isSigned = true);
  Term minimum(Term a, Term b, bool isSigned = true);
  Term maximum(Term a, double b) { return maximum(a, like(a, b)); }
  Term minimum(Term a, double b) { return minimum(a, like(a, b)); }
  /// Integer division, rounded toward zero. x / 0 is 0, and INT_MIN / -1 wraps.
  Term divideIntegers(Term a, Term b, bool isSigned);
  /// Converts from one ONNX type to another, as Cast does.
  Term convert(Term x, DType from, DType to);
  /// `x`, computed in f32, rounded to `type` if that is a half type; else `x`.
  Term stored(Term x, DType type) { return isHalf(type) ? convert(x, DType::F32, type) : x; }
  Term widen(Term x); // half types to f32
  Term exp(Term x);
  Term log(Term x);
  Term sqrt(Term x);
  Term tanh(Term x);
  Term erf(Term x);
  Term abs(Term x);
  Term sigmoid(Term x);
  Term relu(Term x) { return maximum(x, 0); }

  //===- Building: loops ------------------------------------------------------------------------------------------===//
  /// The result of a reduction of no elements, in every element of a tensor of `sizes`.
  Term neutral(graph::ReduceKind kind, llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element);
  /// Reduces `axes`, which the result does not have; x itself if there are none.
  Term reduce(graph::ReduceKind kind, Term x, llvm::ArrayRef<int64_t> axes);
  /// Broadcasts the result of reducing `axes` of `like` back to the sizes of `like`.
  Term spread(Term reduced, Term like, llvm::ArrayRef<int64_t> axes);
  /// The mean over `axes`, which are removed.
  Term mean(Term x, llvm::ArrayRef<int64_t> axes);
  /// Adds the reduced dimensions again with size 1 if `keep`.
  Term keepDims(Term reduced, Term like, llvm::ArrayRef<int64_t> axes, bool keep);
  /// With named loops, as in einsum: contract(a, b, "mk,kn->mn").
  Term contract(Term lhs, Term rhs, std::string_view loops);
  /// The same as a multiplication of elements, with loops in this order, and a sum over some of them:
  /// sumOfProducts(x, "bxhc", y, "hc", "bxhc", "h").
  Term sumOfProducts(Term lhs, std::string_view left, Term rhs, std::string_view right, std::string_view loops,
                     std::string_view summed);
};

} // namespace tilewright
