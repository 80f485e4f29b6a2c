// SPDX-License-Identifier: Apache-2.0
// Index arithmetic: folding by facts, hash-consing, hoisting; loops and conditionals as scopes.
//
//   before:  for i { for k { a = (i * 768 + k) } }      after:  for i { t = i * 768; for k { a = t + k } }
#include "backend/host/IndexMath.h"

#include "frontend/index/Evaluate.h"

#include "llvm/IR/Intrinsics.h"

using llvm::Value;

namespace tilewright::host {

//===- Facts ------------------------------------------------------------------------------------------------------===//

static const llvm::ConstantInt *asConstant(Value *value) { return llvm::dyn_cast<llvm::ConstantInt>(value); }
static bool isConstant(Value *value, int64_t expected) {
  return asConstant(value) && asConstant(value)->getSExtValue() == expected;
}

Facts IndexMath::facts(Value *value) const {
  if (const llvm::ConstantInt *constant = asConstant(value))
    return constant->getType()->isIntegerTy(1) ? Facts() : Facts::constant(constant->getSExtValue());
  auto found = known.find(value);
  return found == known.end() ? Facts() : found->second.facts;
}

unsigned IndexMath::depthOf(Value *value) const {
  if (asConstant(value))
    return 0;
  auto found = known.find(value);
  return found == known.end() ? depth() : found->second.depth;
}

unsigned IndexMath::depthOf(llvm::ArrayRef<Value *> operands) const {
  unsigned result = 0;
  for (Value *operand : operands)
    result = std::max(result, depthOf(operand));
  return result;
}

llvm::SmallVector<Ix> IndexMath::outermostFirst(llvm::ArrayRef<Ix> terms) const {
  llvm::SmallVector<Ix> result;
  for (unsigned depth = 0; result.size() < terms.size(); ++depth)
    llvm::copy_if(terms, std::back_inserter(result), [&](Ix term) { return depthOf(term) == depth; });
  return result;
}

Ix IndexMath::define(Value *value, const Facts &facts, unsigned depth) {
  if (asConstant(value) || !known.try_emplace(value, Known{facts, depth}).second)
    return value;
  if (depth > 0 && depth <= scopes.size())
    scopes[depth - 1].known.push_back(value);
  return value;
}

//===- Placement --------------------------------------------------------------------------------------------------===//

Value *IndexMath::place(Key key, unsigned depth, llvm::function_ref<Value *()> make, const Facts &facts) {
  auto found = memo.find(key);
  if (found != memo.end())
    return found->second;
  Value *value;
  if (depth < scopes.size()) {
    llvm::IRBuilder<>::InsertPointGuard guard(ir);
    ir.SetInsertPoint(scopes[depth].before);
    value = make();
  } else {
    value = make();
  }
  memo.emplace(key, value);
  if (depth > 0)
    scopes[depth - 1].made.push_back(key);
  return define(value, facts, depth);
}

void IndexMath::open(llvm::Instruction *before) { scopes.push_back({before, {}, {}, {}}); }

void IndexMath::close() {
  if (onClose)
    onClose(depth());
  for (const Key &key : scopes.back().made)
    memo.erase(key);
  for (Value *value : scopes.back().known)
    known.erase(value);
  scopes.pop_back();
}

std::pair<Ix, int64_t> IndexMath::split(Ix index) const {
  auto found = sums.find(index);
  return found == sums.end() ? std::pair(index, int64_t(0)) : found->second;
}

//===- Arithmetic -------------------------------------------------------------------------------------------------===//

Ix IndexMath::add(Ix a, Ix b) {
  if (asConstant(a))
    std::swap(a, b);
  if (isConstant(b, 0))
    return a;
  Ix sum =
      place({Kind::Add, a, b, nullptr}, depthOf({a, b}), [&] { return ir.CreateNSWAdd(a, b); }, facts(a) + facts(b));
  if (asConstant(b) && !asConstant(sum)) {
    auto [base, constant] = split(a);
    sums[sum] = {base, constant + asConstant(b)->getSExtValue()};
  }
  return sum;
}

Ix IndexMath::sub(Ix a, Ix b) {
  if (isConstant(b, 0))
    return a;
  if (a == b)
    return constant(0);
  return place({Kind::Sub, a, b, nullptr}, depthOf({a, b}), [&] { return ir.CreateNSWSub(a, b); }, facts(a) - facts(b));
}

Ix IndexMath::mul(Ix a, Ix b) {
  if (asConstant(a))
    std::swap(a, b);
  if (isConstant(b, 1))
    return a;
  if (isConstant(b, 0))
    return b;
  return place({Kind::Mul, a, b, nullptr}, depthOf({a, b}), [&] { return ir.CreateNSWMul(a, b); }, facts(a) * facts(b));
}

/// The divisor to use for b, at least 1: a division may be hoisted above the test that the size b is not zero, and must
/// not trap there.
Ix IndexMath::positive(Ix b) { return facts(b).isPositive() ? b : max(b, constant(1)); }

/// Whether b is a constant that divides a.
bool IndexMath::isMultiple(Ix a, Ix b) const { return asConstant(b) && facts(a).divisor % facts(b).divisor == 0; }

Ix IndexMath::floorDiv(Ix a, Ix b) {
  Facts fa = facts(a), fb = facts(b);
  if (isConstant(b, 1))
    return a;
  if (fa.isNonNegative() && isAlwaysLess(fa, fb))
    return constant(0);
  bool exact = isMultiple(a, b);
  Ix divisor = positive(b);
  return place(
      {Kind::Div, a, divisor, nullptr}, depthOf({a, divisor}),
      [&]() -> Value * {
        if (fa.isNonNegative())
          return ir.CreateUDiv(a, divisor, "", exact);
        Value *quotient = ir.CreateSDiv(a, divisor), *rest = ir.CreateSRem(a, divisor);
        return ir.CreateAdd(quotient, ir.CreateSExt(ir.CreateICmpSLT(rest, ir.getInt64(0)), ir.getInt64Ty()));
      },
      floorDivide(fa, fb));
}

Ix IndexMath::ceilDiv(Ix a, Ix b) { return floorDiv(add(a, sub(b, constant(1))), b); }

Ix IndexMath::mod(Ix a, Ix b) {
  Facts fa = facts(a), fb = facts(b);
  if (isMultiple(a, b))
    return constant(0);
  if (fa.isNonNegative() && isAlwaysLess(fa, fb))
    return a;
  Ix divisor = positive(b);
  return place(
      {Kind::Mod, a, divisor, nullptr}, depthOf({a, divisor}),
      [&]() -> Value * {
        if (fa.isNonNegative())
          return ir.CreateURem(a, divisor);
        Value *rest = ir.CreateSRem(a, divisor);
        return ir.CreateSelect(ir.CreateICmpSLT(rest, ir.getInt64(0)), ir.CreateAdd(rest, divisor), rest);
      },
      modulo(fa, fb));
}

Ix IndexMath::min(Ix a, Ix b) {
  Facts fa = facts(a), fb = facts(b);
  if (a == b || isAtMost(fa, fb))
    return a;
  if (isAtMost(fb, fa))
    return b;
  return place(
      {Kind::Min, a, b, nullptr}, depthOf({a, b}),
      [&] { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }, smaller(fa, fb));
}

Ix IndexMath::max(Ix a, Ix b) {
  Facts fa = facts(a), fb = facts(b);
  if (a == b || isAtMost(fb, fa))
    return a;
  if (isAtMost(fa, fb))
    return b;
  return place(
      {Kind::Max, a, b, nullptr}, depthOf({a, b}),
      [&] { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); }, larger(fa, fb));
}

bool IndexMath::alwaysLess(Ix a, Ix b) { return isAlwaysLess(facts(a), facts(b)); }

Value *IndexMath::less(Ix a, Ix b) {
  if (alwaysLess(a, b))
    return ir.getTrue();
  if (a == b || isAtMost(facts(b), facts(a)))
    return ir.getFalse();
  return place({Kind::Less, a, b, nullptr}, depthOf({a, b}), [&] { return ir.CreateICmpSLT(a, b); });
}

bool IndexMath::isAssumed(Value *condition) const {
  return llvm::any_of(scopes, [&](const Scope &scope) { return llvm::is_contained(scope.assumed, condition); });
}

void IndexMath::assume(Value *condition) {
  if (condition && !scopes.empty())
    scopes.back().assumed.push_back(condition);
}

Value *IndexMath::both(Value *a, Value *b) {
  if (a && isAssumed(a))
    a = nullptr;
  if (b && isAssumed(b))
    b = nullptr;
  if (!a || a == ir.getTrue())
    return b == ir.getTrue() ? nullptr : b;
  if (!b || b == ir.getTrue() || a == b)
    return a;
  return place({Kind::And, a, b, nullptr}, depthOf({a, b}), [&] { return ir.CreateAnd(a, b); });
}

Value *IndexMath::negate(Value *condition) {
  return place({Kind::Not, condition, nullptr, nullptr}, depthOf(condition), [&] { return ir.CreateNot(condition); });
}

Value *IndexMath::choose(Value *condition, Value *a, Value *b) {
  return place(
      {Kind::Select, condition, a, b}, depthOf({condition, a, b}), [&] { return ir.CreateSelect(condition, a, b); },
      either(facts(a), facts(b)));
}

Value *IndexMath::pointer(llvm::Type *element, Value *base, Ix index) {
  if (isConstant(index, 0))
    return base;
  return place({Kind::Pointer, base, index, element}, depthOf({base, index}),
               [&] { return ir.CreateGEP(element, base, index); });
}

namespace {

/// The algebra of indices for index::evaluate (frontend/index/Evaluate.h). Its values carry no facts: IndexMath finds
/// them by value.
struct IndexAlgebra {
  using Value = Ix;
  IndexMath &math;
  llvm::ArrayRef<Ix> dims, symbols;

  std::optional<Ix> leaf(mlir::AffineExpr expr) {
    return index::leafOf<Ix>(expr, dims, symbols, [&](int64_t value) { return math.constant(value); });
  }
  Ix add(Ix a, Ix b) { return math.add(a, b); }
  Ix multiply(Ix a, Ix b) { return math.mul(a, b); }
  Ix floorDivide(Ix a, Ix b) { return math.floorDiv(a, b); }
  Ix ceilDivide(Ix a, Ix b) { return math.ceilDiv(a, b); }
  Ix modulo(Ix a, Ix b) { return math.mod(a, b); }
};

} // namespace

Ix IndexMath::evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Ix> dims, llvm::ArrayRef<Ix> symbols) {
  IndexAlgebra algebra{*this, dims, symbols};
  return index::evaluate(expr, algebra);
}

//===- Control flow -----------------------------------------------------------------------------------------------===//

/// Loops are rotated: the test is at the end, and also before the loop unless the first iteration is certain.
void IndexMath::loop(Ix from, Ix to, int64_t step, llvm::function_ref<void(Ix)> body) {
  Value *enter = less(from, to);
  if (enter == ir.getFalse())
    return;
  Facts first = facts(from), end = facts(to);
  if (enter == ir.getTrue() && asConstant(from) && end.high && *end.high <= *first.low + step)
    return body(from);
  auto turns = [&] {
    llvm::BasicBlock *before = ir.GetInsertBlock();
    llvm::Function *function = before->getParent();
    auto *header = llvm::BasicBlock::Create(ir.getContext(), "loop", function),
         *after = llvm::BasicBlock::Create(ir.getContext(), "after", function);
    open(ir.CreateBr(header));
    ir.SetInsertPoint(header);
    llvm::PHINode *iv = ir.CreatePHI(ir.getInt64Ty(), 2);
    iv->addIncoming(from, before);
    define(iv, index::inductionOf(first, end, Facts::constant(step)), depth());
    body(iv);
    Value *next = ir.CreateNSWAdd(iv, ir.getInt64(step));
    iv->addIncoming(next, ir.GetInsertBlock());
    ir.CreateCondBr(ir.CreateICmpSLT(next, to), header, after);
    close();
    ir.SetInsertPoint(after);
  };
  if (enter == ir.getTrue())
    turns();
  else
    when(enter, turns);
}

void IndexMath::when(Value *condition, llvm::function_ref<void()> body) {
  if (!condition || condition == ir.getTrue())
    return body();
  if (condition == ir.getFalse())
    return;
  llvm::Function *function = ir.GetInsertBlock()->getParent();
  auto *then = llvm::BasicBlock::Create(ir.getContext(), "then", function),
       *after = llvm::BasicBlock::Create(ir.getContext(), "after", function);
  open(ir.CreateCondBr(condition, then, after));
  ir.SetInsertPoint(then);
  body();
  ir.CreateBr(after);
  close();
  ir.SetInsertPoint(after);
}

void IndexMath::once(llvm::function_ref<void()> body) {
  auto *inside = llvm::BasicBlock::Create(ir.getContext(), "once", ir.GetInsertBlock()->getParent());
  open(ir.CreateBr(inside));
  ir.SetInsertPoint(inside);
  body();
  close();
}

} // namespace tilewright::host
