// SPDX-License-Identifier: Apache-2.0
// The host's index code, executed, has the value of the expression, and what is known of each value is true of it.
#include "backend/host/IndexMath.h"

#include "frontend/graph/Sizes.h"
#include "tests/frontend/index/RandomExpr.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

namespace {

/// The values of straight-line integer code.
class Execution {
public:
  void set(llvm::Value *value, int64_t number) { values[value] = number; }
  int64_t operator[](llvm::Value *value) const {
    auto *constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    return constant ? constant->getSExtValue() : values.at(value);
  }
  void run(llvm::BasicBlock &block) {
    for (llvm::Instruction &instruction : block)
      values[&instruction] = execute(instruction);
  }

private:
  int64_t execute(llvm::Instruction &i) {
    int64_t a = (*this)[i.getOperand(0)], b = i.getNumOperands() > 1 ? (*this)[i.getOperand(1)] : 0;
    switch (i.getOpcode()) {
    case llvm::Instruction::Add:
      return a + b;
    case llvm::Instruction::Sub:
      return a - b;
    case llvm::Instruction::Mul:
      return a * b;
    case llvm::Instruction::UDiv:
      EXPECT_TRUE(!i.isExact() || a % b == 0);
      [[fallthrough]];
    case llvm::Instruction::URem:
      EXPECT_GE(a, 0);
      return i.getOpcode() == llvm::Instruction::UDiv ? a / b : a % b;
    case llvm::Instruction::SDiv:
      return a / b;
    case llvm::Instruction::SRem:
      return a % b;
    case llvm::Instruction::SExt:
      return a ? -1 : 0; // of a condition
    case llvm::Instruction::ICmp:
      EXPECT_EQ(llvm::cast<llvm::ICmpInst>(i).getPredicate(), llvm::CmpInst::ICMP_SLT);
      return a < b;
    case llvm::Instruction::Select:
      return a ? b : (*this)[i.getOperand(2)];
    default:
      auto *call = llvm::cast<llvm::IntrinsicInst>(&i);
      return call->getIntrinsicID() == llvm::Intrinsic::smin ? std::min(a, b) : std::max(a, b);
    }
  }
  std::map<llvm::Value *, int64_t> values;
};

struct IndexMathTest : testing::Test {
  llvm::LLVMContext context;
  llvm::Module module{"test", context};
  llvm::IRBuilder<> ir{context};
  IndexMath math{ir};
  llvm::BasicBlock *block = nullptr;
  SmallVector<Ix> arguments;
  tests::RandomExpr random{13};

  void SetUp() override {
    auto *type = llvm::FunctionType::get(ir.getVoidTy(), SmallVector<llvm::Type *>(3, ir.getInt64Ty()), false);
    auto *function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "f", module);
    block = llvm::BasicBlock::Create(context, "entry", function);
    ir.SetInsertPoint(block);
    for (llvm::Argument &argument : function->args())
      arguments.push_back(&argument);
  }
  int64_t pick(int64_t n) { return random.pick(n); }

  static bool holds(const Facts &facts, int64_t value) {
    return (!facts.low || value >= *facts.low) && (!facts.high || value <= *facts.high) &&
           (facts.divisor ? value % facts.divisor == 0 : value == 0);
  }
};

TEST_F(IndexMathTest, EmittedCodeHasTheValueOfTheExpression) {
  MLIRContext mlir{MLIRContext::Threading::DISABLED};
  AffineExpr d0 = getAffineDimExpr(0, &mlir), d1 = getAffineDimExpr(1, &mlir), s0 = getAffineSymbolExpr(0, &mlir);
  SmallVector<Facts> facts{{4, -8, 16}, Facts::between(0, std::nullopt), Facts::between(1, 5)};
  for (auto [argument, fact] : llvm::zip(arguments, facts))
    math.define(argument, fact, 0);
  SmallVector<std::pair<AffineExpr, Ix>> emitted;
  for (int round = 0; round < 400; ++round) {
    AffineExpr expr = random.make({d0, d1, s0}, {s0, s0 + 1}, 5);
    emitted.push_back({expr, math.evaluate(expr, ArrayRef(arguments).take_front(2), arguments[2])});
  }
  for (int64_t x = -8; x <= 16; x += 4)
    for (int64_t y : {0, 1, 7, 100})
      for (int64_t s = 1; s <= 5; ++s) {
        Execution execution;
        SmallVector<int64_t> point{x, y, s};
        for (auto [argument, value] : llvm::zip(arguments, point))
          execution.set(argument, value);
        execution.run(*block);
        for (auto [expr, value] : emitted)
          ASSERT_EQ(execution[value], graph::evaluate(expr, {x, y}, {s})) << graph::printSize(expr);
        for (llvm::Instruction &instruction : *block)
          ASSERT_TRUE(!instruction.getType()->isIntegerTy(64) ||
                      holds(math.facts(&instruction), execution[&instruction]));
      }
}

/// Minima, maxima and comparisons that facts decide are no code, and those that they do not are right.
TEST_F(IndexMathTest, DecidesByFacts) {
  for (int round = 0; round < 300; ++round) {
    block->erase(block->begin(), block->end());
    IndexMath local(ir);
    int64_t low[2], high[2];
    for (int i : {0, 1}) {
      low[i] = pick(10) - 5;
      high[i] = low[i] + pick(6);
      local.define(arguments[i], Facts::between(low[i], high[i]), 0);
    }
    Ix a = arguments[0], b = arguments[1];
    Ix least = local.min(a, b), most = local.max(a, b), isLess = local.less(a, b), chosen = local.choose(isLess, a, b);
    bool isDecided = high[0] < low[1] || low[0] >= high[1];
    EXPECT_EQ(llvm::isa<llvm::Constant>(isLess), isDecided);
    EXPECT_EQ(local.alwaysLess(a, b), high[0] < low[1]);
    for (int64_t x = low[0]; x <= high[0]; ++x)
      for (int64_t y = low[1]; y <= high[1]; ++y) {
        Execution execution;
        execution.set(a, x), execution.set(b, y);
        execution.run(*block);
        ASSERT_EQ(execution[least], std::min(x, y));
        ASSERT_EQ(execution[most], std::max(x, y));
        ASSERT_EQ(execution[isLess] != 0, x < y);
        ASSERT_EQ(execution[chosen], x < y ? x : y);
        for (Ix value : {least, most, chosen})
          ASSERT_TRUE(holds(local.facts(value), execution[value]));
      }
  }
}

} // namespace
