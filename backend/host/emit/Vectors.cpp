// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/Vectors.h"

#include "backend/host/Elementwise.h"

using namespace mlir;

namespace tilewright::host {

llvm::Value *laneNumbers(llvm::Type *type, unsigned width) {
  if (width == 1)
    return llvm::ConstantInt::get(type, 0);
  SmallVector<llvm::Constant *> elements;
  for (unsigned i = 0; i < width; ++i)
    elements.push_back(llvm::ConstantInt::get(type, i));
  return llvm::ConstantVector::get(elements);
}

Rows splat(llvm::IRBuilder<> &ir, const Rows &scalars, unsigned rows, unsigned width) {
  Rows result;
  for (llvm::Value *scalar : scalars)
    result.push_back(width == 1 || scalar->getType()->isVectorTy() ? scalar : ir.CreateVectorSplat(width, scalar));
  if (result.size() == 1)
    result.resize(rows, result.front());
  return result;
}

llvm::Value *lanesBelow(llvm::IRBuilder<> &ir, IndexMath &math, Ix count, unsigned width) {
  Ix clamped = math.max(math.min(count, math.constant(width)), math.constant(0));
  return ir.CreateICmpSLT(laneNumbers(ir.getInt32Ty(), width),
                          ir.CreateVectorSplat(width, ir.CreateIntCast(clamped, ir.getInt32Ty(), true)));
}

llvm::Value *columnsBeforeEnd(llvm::IRBuilder<> &ir, IndexMath &math, const Position &position) {
  return lanesBelow(ir, math, math.sub(position.end, position.column), position.width);
}

llvm::Type *memoryType(llvm::Type *element) {
  llvm::LLVMContext &context = element->getContext();
  if (element->isIntegerTy(1))
    return llvm::Type::getInt8Ty(context);
  return element->isHalfTy() || element->isBFloatTy() ? llvm::Type::getInt16Ty(context) : element;
}

llvm::Value *fromMemory(llvm::IRBuilder<> &ir, llvm::Value *value, llvm::Type *element, unsigned width) {
  if (element->isIntegerTy(1) && !value->getType()->isIntOrIntVectorTy(1))
    return ir.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  return ir.CreateBitCast(value, vectorOf(element, width));
}

llvm::Value *toMemory(llvm::IRBuilder<> &ir, llvm::Value *value, unsigned width) {
  llvm::Type *type = vectorOf(memoryType(value->getType()->getScalarType()), width);
  return value->getType()->isIntOrIntVectorTy(1) ? ir.CreateZExt(value, type) : ir.CreateBitCast(value, type);
}

llvm::Align alignOf(llvm::Type *element) {
  return llvm::Align(std::max<uint64_t>(1, element->getPrimitiveSizeInBits() / 8));
}

llvm::Value *convertIfFloat(llvm::IRBuilder<> &ir, llvm::Value *value, llvm::Type *element, unsigned width) {
  return value->getType()->isFPOrFPVectorTy() ? convertFloat(ir, value, element, width) : value;
}

/// Each step interleaves the upper half of the rows with the lower.
Rows transpose(llvm::IRBuilder<> &ir, Rows rows) {
  int count = rows.size();
  for (int step = 1; step < count; step *= 2) {
    Rows next;
    for (int i = 0; i < count; ++i) {
      SmallVector<int> elements; // of rows i / 2 and i / 2 + count / 2
      for (int j = 0; j < count; ++j)
        elements.push_back((i % 2 * count + j) / 2 + j % 2 * count);
      next.push_back(ir.CreateShuffleVector(rows[i / 2], rows[i / 2 + count / 2], elements));
    }
    rows = next;
  }
  return rows;
}

} // namespace tilewright::host
