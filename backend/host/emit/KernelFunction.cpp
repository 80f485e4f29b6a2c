// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/KernelFunction.h"

#include "backend/host/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilewright::host {

static llvm::Function *createFunction(llvm::Module &module, StringRef name, const HostOptions &options) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *i64 = llvm::Type::getInt64Ty(context), *pointer = llvm::PointerType::getUnqual(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, i64, i64}, false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr("target-cpu", options.cpu);
  if (!options.features.empty())
    function->addFnAttr("target-features", options.featureText());
  function->addFnAttr("prefer-vector-width", std::to_string(options.vectorBits));
  function->addFnAttr("min-legal-vector-width", std::to_string(options.vectorBits));
  function->addFnAttr("no-builtins");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

KernelFunction::KernelFunction(llvm::Module &module, tile::KernelOp kernel, const HostOptions &options)
    : context(module.getContext()), ir(context), math(ir), options(options), vectors(options), kernel(kernel),
      function(createFunction(module, kernel.getSymName(), options)) {
  llvm::FastMathFlags flags; // for loop-carried sums: Elementwise.cpp clears it for other operations
  flags.setAllowContract();
  ir.setFastMathFlags(flags);
  ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  loadArguments();
}

void KernelFunction::loadArguments() {
  arguments = function->getArg(0);
  math.define(arguments, {}, 0);
  auto field = [&](llvm::Type *type, llvm::Value *base, unsigned index) {
    llvm::Value *value = ir.CreateLoad(type, ir.CreateConstGEP1_32(type, base, index));
    if (type->isPointerTy())
      math.define(value, {}, 0);
    return value;
  };
  llvm::Type *pointer = ir.getPtrTy();
  llvm::Value *bufferTable = field(pointer, arguments, 0), *scalars = field(pointer, arguments, 1);
  workspaceBase = field(pointer, arguments, 3);
  errors = field(pointer, arguments, 4);
  aheadBytes = math.define(field(ir.getInt64Ty(), arguments, 5), Facts::between(0, std::nullopt), 0);
  for (unsigned i = 0, n = kernel.getNumBuffers(); i < n; ++i)
    buffers.push_back(field(pointer, bufferTable, i));
  for (unsigned i = 0, n = kernel.getNumSymbols(); i < n; ++i) {
    symbols.push_back(math.define(field(ir.getInt64Ty(), scalars, i), Facts::between(0, std::nullopt), 0));
    indices[kernel.getSymbol(i)] = symbols.back();
  }
}

Status KernelFunction::run(llvm::function_ref<void()> emitProgram) {
  Ix programs = math.constant(1);
  for (unsigned i = 0; i < 3; ++i) {
    grid.push_back(evaluate(kernel.getGrid(), i));
    programs = math.mul(programs, grid.back());
  }
  std::optional<int64_t> count = math.facts(programs).high;
  firstProgram = math.define(function->getArg(1), Facts::between(0, std::nullopt), 0);
  Ix last = math.define(function->getArg(2), Facts::between(0, count), 0);
  math.loop(firstProgram, last, 1, [&](Ix number) {
    program = number;
    programId = idsOf(program);
    emitProgram();
  });
  ir.CreateRetVoid();
  return status;
}

/// The coordinates of a program in the grid.
SmallVector<Ix, 3> KernelFunction::idsOf(Ix number) {
  Ix rest = math.floorDiv(number, grid[0]);
  return {math.mod(number, grid[0]), math.mod(rest, grid[1]), math.floorDiv(rest, grid[1])};
}

llvm::Value *KernelFunction::differsFromPrevious(ArrayRef<Value> values) {
  llvm::Value *isSame = math.less(firstProgram, program);
  llvm::SaveAndRestore restore(programId, idsOf(math.max(math.sub(program, math.constant(1)), math.constant(0))));
  for (Value value : values) {
    Ix before = index(value);
    llvm::SaveAndRestore current(programId, idsOf(program));
    Ix now = index(value);
    isSame = math.both(isSame, math.both(math.negate(math.less(before, now)), math.negate(math.less(now, before))));
  }
  return math.negate(isSame);
}

void KernelFunction::fail(Operation *op, const Twine &reason) {
  if (status.ok())
    status = Status(Code::Unsupported, (Twine("kernel '") + kernel.getSymName() + "': the host backend cannot emit '" +
                                        op->getName().getStringRef() + "': " + reason)
                                           .str());
}

llvm::Type *KernelFunction::typeOf(Value value) { return elementType(context, value.getType()); }

llvm::Value *KernelFunction::slot(llvm::Type *type) {
  llvm::BasicBlock &entry = ir.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> top(&entry, entry.begin());
  return top.CreateAlloca(type);
}

llvm::Value *KernelFunction::zeros(int64_t bytes) {
  auto *type = llvm::ArrayType::get(ir.getInt8Ty(), bytes);
  auto *global = new llvm::GlobalVariable(*function->getParent(), type, /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, llvm::ConstantAggregateZero::get(type));
  global->setAlignment(llvm::Align(64));
  return math.define(global, {}, 0);
}

//===- Index arithmetic -------------------------------------------------------------------------------------------===//

/// Not memoized: IndexMath reuses equal arithmetic by itself, as long as its scope is open.
Ix KernelFunction::index(Value value) {
  if (auto found = indices.find(value); found != indices.end())
    return found->second;
  if (Operation *op = value.getDefiningOp())
    return indexOf(op);
  fail(value.getParentRegion()->getParentOp(), "a block argument is used before it has a value");
  return math.constant(0);
}

Ix KernelFunction::indexOf(Operation *op) {
  auto operand = [&](unsigned i) { return index(op->getOperand(i)); };
  return llvm::TypeSwitch<Operation *, Ix>(op)
      .Case([&](tile::ProgramIdOp id) { return programId[id.getDim()]; })
      .Case([&](tile::SizeOp size) {
        SmallVector<Ix> dims;
        for (Value value : size.getOperands())
          dims.push_back(index(value));
        return evaluate(size.getExpr(), 0, dims);
      })
      .Case([&](arith::ConstantOp constant) { return math.constant(cast<IntegerAttr>(constant.getValue()).getInt()); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>([&](auto) { return operand(0); })
      .Case([&](arith::AddIOp) { return math.add(operand(0), operand(1)); })
      .Case([&](arith::SubIOp) { return math.sub(operand(0), operand(1)); })
      .Case([&](arith::MulIOp) { return math.mul(operand(0), operand(1)); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [&](auto) { return math.floorDiv(operand(0), operand(1)); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) { return math.ceilDiv(operand(0), operand(1)); })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) { return math.mod(operand(0), operand(1)); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return math.min(operand(0), operand(1)); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return math.max(operand(0), operand(1)); })
      .Default([&](Operation *other) {
        fail(other, "it is not index arithmetic that a kernel may hold");
        return math.constant(0);
      });
}

} // namespace tilewright::host
