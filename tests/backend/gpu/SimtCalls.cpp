// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/gpu/SimtCalls.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilewright;

Value test::callThroughTable(ImplicitLocOpBuilder &b, StringRef name, unsigned size, unsigned row, Type result,
                             ValueRange arguments) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto table = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!table) {
    OpBuilder start = OpBuilder::atBlockBegin(module.getBody());
    table = LLVM::GlobalOp::create(start, b.getLoc(), LLVM::LLVMArrayType::get(b.getI64Type(), size),
                                   /*isConstant=*/false, LLVM::Linkage::External, name,
                                   start.getZeroAttr(RankedTensorType::get({size}, b.getI64Type())), /*alignment=*/8);
  }
  Value address = LLVM::GEPOp::create(b, pointer, b.getI64Type(), LLVM::AddressOfOp::create(b, table),
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(row)});
  SmallVector<Value> operands{LLVM::LoadOp::create(b, pointer, address)};
  SmallVector<Type> types;
  for (Value argument : arguments) {
    if (auto type = dyn_cast<LLVM::LLVMPointerType>(argument.getType()); type && type.getAddressSpace())
      argument = LLVM::AddrSpaceCastOp::create(b, pointer, argument);
    operands.push_back(argument);
    types.push_back(argument.getType());
  }
  Type returned = result ? result : Type(LLVM::LLVMVoidType::get(b.getContext()));
  auto op = LLVM::CallOp::create(b, LLVM::LLVMFunctionType::get(returned, types), operands);
  return result ? op.getResult() : Value();
}
