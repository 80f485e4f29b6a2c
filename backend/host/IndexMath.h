// SPDX-License-Identifier: Apache-2.0
// Scalar index arithmetic that places itself: every value is computed once, in the outermost scope in which its
// operands exist.
//
// A scope is a loop's body or a conditional's. Hoisting by construction leaves nothing for loop-invariant code motion
// to do, and facts about values (tilegen/index/Facts.h) fold most bound checks and all of the remainders of aligned
// loops before any instruction is made.
#pragma once

#include "tilegen/index/Facts.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

#include <functional>

namespace tilewright::host {

using Ix = llvm::Value *; // an i64

using index::Facts;

class IndexMath {
public:
  explicit IndexMath(llvm::IRBuilder<> &ir) : ir(ir) {}

  Ix constant(int64_t value) { return ir.getInt64(value); }
  Ix add(Ix a, Ix b);
  Ix sub(Ix a, Ix b);
  Ix mul(Ix a, Ix b);
  Ix floorDiv(Ix a, Ix b); // b > 0
  Ix ceilDiv(Ix a, Ix b);  // b > 0
  Ix mod(Ix a, Ix b);      // b > 0; the result is not negative
  Ix min(Ix a, Ix b);
  Ix max(Ix a, Ix b);
  /// a rounded down to a multiple of a constant.
  Ix roundDown(Ix a, int64_t unit) { return mul(floorDiv(a, constant(unit)), constant(unit)); }
  /// a rounded up to a multiple of a constant.
  Ix roundUp(Ix a, int64_t unit) { return roundDown(add(a, constant(unit - 1)), unit); }
  Ix evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Ix> dims, llvm::ArrayRef<Ix> symbols);

  /// Conditions (i1), also placed in the outermost scope.
  llvm::Value *less(Ix a, Ix b);
  llvm::Value *both(llvm::Value *a, llvm::Value *b); // null stands for true
  llvm::Value *negate(llvm::Value *condition);
  llvm::Value *choose(llvm::Value *condition, llvm::Value *a, llvm::Value *b);
  bool alwaysLess(Ix a, Ix b); // provably
  llvm::Value *pointer(llvm::Type *element, llvm::Value *base, Ix index);

  Facts facts(llvm::Value *value) const;
  /// The depth of the scope that the value belongs to: it can be used in that scope and those inside of it.
  unsigned depthOf(llvm::Value *value) const;
  /// `index` as the sum of an index and a constant. If it was not made by adding a constant: itself and 0.
  std::pair<Ix, int64_t> split(Ix index) const;
  /// Terms of a sum in the order in which adding them hoists most.
  llvm::SmallVector<Ix> outermostFirst(llvm::ArrayRef<Ix> terms) const;
  /// Makes a value known that was not made here, with facts about it. `depth` is that of its scope.
  Ix define(llvm::Value *value, const Facts &facts, unsigned depth);

  /// How many scopes are open.
  unsigned depth() const { return static_cast<unsigned>(scopes.size()); }
  /// for (iv = from; iv < to; iv += step) body(iv). Emits nothing if it provably never runs, and no loop if it runs
  /// once.
  void loop(Ix from, Ix to, int64_t step, llvm::function_ref<void(Ix)> body);
  void when(llvm::Value *condition, llvm::function_ref<void()> body);
  /// Runs the body in a scope of its own, without a branch, so that values made inside are not reused after it: one
  /// iteration of an unrolled loop.
  void once(llvm::function_ref<void()> body);
  /// Treats `condition`, a result of `less` or `both`, as true in the current scope.
  void assume(llvm::Value *condition);
  /// Called with its depth when a scope closes: values made inside can no longer be used.
  std::function<void(unsigned)> onClose;

private:
  enum class Kind { Add, Sub, Mul, Div, Mod, Min, Max, Less, And, Not, Select, Pointer };
  using Key = std::tuple<Kind, llvm::Value *, llvm::Value *, void *>;
  llvm::Value *place(Key key, unsigned depth, llvm::function_ref<llvm::Value *()> make, const Facts &facts = {});
  void open(llvm::Instruction *before);
  void close();

  unsigned depthOf(llvm::ArrayRef<llvm::Value *> operands) const;

  struct Known {
    Facts facts;
    unsigned depth;
  };
  struct Scope {
    llvm::Instruction *before; // the branch into the scope: what is hoisted out of it goes here
    llvm::SmallVector<Key> made;
    llvm::SmallVector<llvm::Value *> known, assumed;
  };
  Ix positive(Ix b);
  bool isMultiple(Ix a, Ix b) const;
  bool isAssumed(llvm::Value *condition) const;
  llvm::IRBuilder<> &ir;
  llvm::SmallVector<Scope> scopes;
  std::map<Key, llvm::Value *> memo;
  llvm::DenseMap<llvm::Value *, Known> known;
  llvm::DenseMap<llvm::Value *, std::pair<Ix, int64_t>> sums; // index + constant
};

} // namespace tilewright::host
