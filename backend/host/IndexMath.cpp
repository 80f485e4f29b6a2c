// Index arithmetic: folding by facts, hash-consing, hoisting; loops and conditionals as scopes.
//
//   before:  for i { for k { a = (i * 768 + k) } }      after:  for i { t = i * 768; for k { a = t + k } }
#include "backend/host/IndexMath.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using llvm::Value;

namespace tilewright::host {

//===- Facts ------------------------------------------------------------------------------------------------------===//

static const llvm::ConstantInt *asConstant(Value *value) { return llvm::dyn_cast<llvm::ConstantInt>(value); }
static bool isConstant(Value *value, int64_t expected) {
  return asConstant(value) && asConstant(value)->getSExtValue() == expected;
}

Facts IndexMath::facts(Value *value) const {
  if (value->getType()->isIntegerTy(1) && llvm::isa<llvm::ConstantInt>(value))
    return {};
  if (const llvm::ConstantInt *constant = asConstant(value)) {
    int64_t v = constant->getSExtValue();
    return {0, v, v, v == INT64_MIN ? 1 : std::abs(v)};
  }
  auto found = known.find(value);
  return found == known.end() ? Facts{depth()} : found->second;
}

llvm::SmallVector<Ix> IndexMath::outermostFirst(llvm::ArrayRef<Ix> terms) const {
  llvm::SmallVector<Ix> result;
  for (unsigned depth = 0; result.size() < terms.size(); ++depth)
    llvm::copy_if(terms, std::back_inserter(result), [&](Ix term) { return facts(term).depth == depth; });
  return result;
}

Ix IndexMath::define(Value *value, Facts facts) {
  if (asConstant(value) || !known.try_emplace(value, facts).second)
    return value;
  if (facts.depth > 0 && facts.depth <= scopes.size())
    scopes[facts.depth - 1].known.push_back(value);
  return value;
}

// Ends of ranges saturate: INT64_MIN and INT64_MAX mean "not known" and stay so.
static bool isOpen(int64_t end) { return end == INT64_MIN || end == INT64_MAX; }
static int64_t addEnds(int64_t a, int64_t b, int64_t open) {
  int64_t sum;
  return isOpen(a) || isOpen(b) || llvm::AddOverflow(a, b, sum) ? open : sum;
}

static Facts mulFacts(const Facts &a, const Facts &b) {
  Facts result;
  result.depth = std::max(a.depth, b.depth);
  if (llvm::MulOverflow(a.divisor, b.divisor, result.divisor))
    result.divisor = 1;
  if (a.min < 0 || b.min < 0)
    return result;
  if (llvm::MulOverflow(a.min, b.min, result.min))
    result.min = 0;
  if (isOpen(a.max) || isOpen(b.max) || llvm::MulOverflow(a.max, b.max, result.max))
    result.max = INT64_MAX;
  return result;
}

//===- Placement --------------------------------------------------------------------------------------------------===//

Value *IndexMath::place(Key key, unsigned depth, llvm::function_ref<Value *()> make, Facts facts) {
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
  facts.depth = depth;
  return define(value, facts);
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
  Facts fa = facts(a), fb = facts(b);
  Facts result{0, addEnds(fa.min, fb.min, INT64_MIN), addEnds(fa.max, fb.max, INT64_MAX),
               std::gcd(fa.divisor, fb.divisor)};
  Ix sum =
      place({Kind::Add, a, b, nullptr}, std::max(fa.depth, fb.depth), [&] { return ir.CreateNSWAdd(a, b); }, result);
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
  Facts fa = facts(a), fb = facts(b);
  int64_t low = isOpen(fb.max) ? INT64_MIN : -fb.max, high = isOpen(fb.min) ? INT64_MAX : -fb.min;
  Facts result{0, addEnds(fa.min, low, INT64_MIN), addEnds(fa.max, high, INT64_MAX), std::gcd(fa.divisor, fb.divisor)};
  return place({Kind::Sub, a, b, nullptr}, std::max(fa.depth, fb.depth), [&] { return ir.CreateNSWSub(a, b); }, result);
}

Ix IndexMath::mul(Ix a, Ix b) {
  if (asConstant(a))
    std::swap(a, b);
  if (isConstant(b, 1))
    return a;
  if (isConstant(b, 0))
    return b;
  Facts result = mulFacts(facts(a), facts(b));
  return place({Kind::Mul, a, b, nullptr}, result.depth, [&] { return ir.CreateNSWMul(a, b); }, result);
}

Ix IndexMath::floorDiv(Ix a, Ix b) {
  Facts fa = facts(a), fb = facts(b);
  if (isConstant(b, 1))
    return a;
  if (fa.min >= 0 && fb.min > 0 && fa.max < fb.min)
    return constant(0);
  Facts result;
  if (fa.min >= 0) {
    result.min = fb.max == INT64_MAX ? 0 : fa.min / std::max<int64_t>(fb.max, 1);
    result.max = isOpen(fa.max) ? INT64_MAX : fa.max / std::max<int64_t>(fb.min, 1);
  }
  if (asConstant(b) && fa.divisor % fb.divisor == 0)
    result.divisor = fa.divisor / fb.divisor;
  bool exact = asConstant(b) && fa.divisor % fb.divisor == 0;
  Ix divisor = fb.min > 0 ? b : max(b, constant(1)); // hoisted above the test that a size is not zero
  return place(
      {Kind::Div, a, divisor, nullptr}, std::max(fa.depth, facts(divisor).depth),
      [&]() -> Value * {
        if (fa.min >= 0)
          return ir.CreateUDiv(a, divisor, "", exact);
        Value *quotient = ir.CreateSDiv(a, divisor), *rest = ir.CreateSRem(a, divisor);
        return ir.CreateAdd(quotient, ir.CreateSExt(ir.CreateICmpSLT(rest, ir.getInt64(0)), ir.getInt64Ty()));
      },
      result);
}

Ix IndexMath::ceilDiv(Ix a, Ix b) { return floorDiv(add(a, sub(b, constant(1))), b); }

Ix IndexMath::mod(Ix a, Ix b) {
  Facts fa = facts(a), fb = facts(b);
  if (asConstant(b) && fa.divisor % fb.divisor == 0)
    return constant(0);
  if (fa.min >= 0 && fb.min > 0 && fa.max < fb.min)
    return a;
  Facts result{0, 0, isOpen(fb.max) ? INT64_MAX : fb.max - 1, std::gcd(fa.divisor, fb.divisor)};
  Ix divisor = fb.min > 0 ? b : max(b, constant(1));
  return place(
      {Kind::Mod, a, divisor, nullptr}, std::max(fa.depth, facts(divisor).depth),
      [&]() -> Value * {
        if (fa.min >= 0)
          return ir.CreateURem(a, divisor);
        Value *rest = ir.CreateSRem(a, divisor);
        return ir.CreateSelect(ir.CreateICmpSLT(rest, ir.getInt64(0)), ir.CreateAdd(rest, divisor), rest);
      },
      result);
}

Ix IndexMath::min(Ix a, Ix b) {
  Facts fa = facts(a), fb = facts(b);
  if (a == b || (!isOpen(fa.max) && fa.max <= fb.min))
    return a;
  if (!isOpen(fb.max) && fb.max <= fa.min)
    return b;
  Facts result{0, std::min(fa.min, fb.min), std::min(fa.max, fb.max), std::gcd(fa.divisor, fb.divisor)};
  return place(
      {Kind::Min, a, b, nullptr}, std::max(fa.depth, fb.depth),
      [&] { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }, result);
}

Ix IndexMath::max(Ix a, Ix b) {
  Facts fa = facts(a), fb = facts(b);
  if (a == b || (!isOpen(fb.max) && fa.min >= fb.max))
    return a;
  if (!isOpen(fa.max) && fb.min >= fa.max)
    return b;
  Facts result{0, std::max(fa.min, fb.min), std::max(fa.max, fb.max), std::gcd(fa.divisor, fb.divisor)};
  return place(
      {Kind::Max, a, b, nullptr}, std::max(fa.depth, fb.depth),
      [&] { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); }, result);
}

bool IndexMath::alwaysLess(Ix a, Ix b) {
  Facts fa = facts(a), fb = facts(b);
  return !isOpen(fa.max) && !isOpen(fb.min) && fa.max < fb.min;
}

Value *IndexMath::less(Ix a, Ix b) {
  if (alwaysLess(a, b))
    return ir.getTrue();
  Facts fa = facts(a), fb = facts(b);
  if (a == b || (!isOpen(fa.min) && !isOpen(fb.max) && fa.min >= fb.max))
    return ir.getFalse();
  return place({Kind::Less, a, b, nullptr}, std::max(fa.depth, fb.depth), [&] { return ir.CreateICmpSLT(a, b); });
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
  return place({Kind::And, a, b, nullptr}, std::max(facts(a).depth, facts(b).depth),
               [&] { return ir.CreateAnd(a, b); });
}

Value *IndexMath::negate(Value *condition) {
  return place({Kind::Not, condition, nullptr, nullptr}, facts(condition).depth,
               [&] { return ir.CreateNot(condition); });
}

Value *IndexMath::choose(Value *condition, Value *a, Value *b) {
  Facts fa = facts(a), fb = facts(b);
  Facts result{0, std::min(fa.min, fb.min), std::max(fa.max, fb.max), std::gcd(fa.divisor, fb.divisor)};
  return place(
      {Kind::Select, condition, a, b}, std::max({facts(condition).depth, fa.depth, fb.depth}),
      [&] { return ir.CreateSelect(condition, a, b); }, result);
}

Value *IndexMath::pointer(llvm::Type *element, Value *base, Ix index) {
  if (isConstant(index, 0))
    return base;
  return place({Kind::Pointer, base, index, element}, std::max(facts(base).depth, facts(index).depth),
               [&] { return ir.CreateGEP(element, base, index); });
}

Ix IndexMath::evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Ix> dims, llvm::ArrayRef<Ix> symbols) {
  using mlir::AffineExprKind;
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return constant(mlir::cast<mlir::AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return dims[mlir::cast<mlir::AffineDimExpr>(expr).getPosition()];
  case AffineExprKind::SymbolId:
    return symbols[mlir::cast<mlir::AffineSymbolExpr>(expr).getPosition()];
  default:
    break;
  }
  auto binary = mlir::cast<mlir::AffineBinaryOpExpr>(expr);
  Ix a = evaluate(binary.getLHS(), dims, symbols), b = evaluate(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(a, b);
  case AffineExprKind::Mul:
    return mul(a, b);
  case AffineExprKind::FloorDiv:
    return floorDiv(a, b);
  case AffineExprKind::CeilDiv:
    return ceilDiv(a, b);
  default:
    return mod(a, b);
  }
}

//===- Control flow -----------------------------------------------------------------------------------------------===//

/// Rotated loops: the test is at the end, and once before unless the first turn is certain.
void IndexMath::loop(Ix from, Ix to, int64_t step, llvm::function_ref<void(Ix)> body) {
  Value *enter = less(from, to);
  if (enter == ir.getFalse())
    return;
  Facts ff = facts(from), ft = facts(to);
  if (enter == ir.getTrue() && asConstant(from) && !isOpen(ft.max) && ft.max <= ff.min + step)
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
    int64_t last = isOpen(ft.max) ? INT64_MAX : ft.max - 1;
    if (asConstant(from) && !isOpen(last))
      last -= (last - ff.min) % step;
    define(iv, {depth(), ff.min, last, std::gcd(ff.divisor, step)});
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
