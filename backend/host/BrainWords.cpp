// SPDX-License-Identifier: Apache-2.0
#include "backend/host/BrainWords.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace tilewright::host {

/// The type with words for bfloat elements.
static Type *asWords(Type *type) {
  return type->getScalarType()->isBFloatTy() ? type->getWithNewType(Type::getInt16Ty(type->getContext())) : type;
}

/// `value` bit-cast to `type`; if it is such a cast itself, its operand.
static Value *castTo(IRBuilder<> &builder, Value *value, Type *type) {
  auto *cast = dyn_cast<BitCastInst>(value);
  return cast && cast->getSrcTy() == type ? cast->getOperand(0) : builder.CreateBitCast(value, type);
}

/// A phi of words that replaces a phi of bfloats.
static Value *phiOfWords(PHINode &phi) {
  IRBuilder<> builder(&phi);
  PHINode *moved = builder.CreatePHI(asWords(phi.getType()), phi.getNumIncomingValues());
  for (auto [block, value] : llvm::zip(phi.blocks(), phi.incoming_values())) {
    IRBuilder<> before(block->getTerminator());
    moved->addIncoming(castTo(before, value, moved->getType()), block);
  }
  builder.SetInsertPoint(phi.getParent(), phi.getParent()->getFirstInsertionPt());
  return builder.CreateBitCast(moved, phi.getType());
}

/// A replacement of the instruction that works on words. Null if it does not move elements, or none of bfloat.
static Value *onWords(Instruction &instruction) {
  if (asWords(instruction.getType()) == instruction.getType())
    return nullptr;
  if (auto *phi = dyn_cast<PHINode>(&instruction))
    return phiOfWords(*phi);
  if (!isa<LoadInst, InsertElementInst, ShuffleVectorInst, ExtractElementInst, SelectInst>(instruction))
    return nullptr;
  IRBuilder<> builder(&instruction);
  Instruction *moved = instruction.clone();
  for (Use &operand : moved->operands())
    operand.set(castTo(builder, operand, asWords(operand->getType())));
  moved->mutateType(asWords(instruction.getType()));
  return builder.CreateBitCast(builder.Insert(moved), instruction.getType());
}

/// Removes the casts to bfloat and back that are left between two instructions on words, which may be in different
/// blocks.
static void foldCasts(Function &function) {
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (auto *back = dyn_cast<BitCastInst>(&instruction))
      if (auto *cast = dyn_cast<BitCastInst>(back->getOperand(0)); cast && cast->getSrcTy() == back->getDestTy())
        back->replaceAllUsesWith(cast->getOperand(0));
  for (BasicBlock &block : function)
    for (Instruction &instruction : make_early_inc_range(reverse(block)))
      if (isa<BitCastInst>(instruction) && instruction.use_empty())
        instruction.eraseFromParent();
}

void moveBrainsAsWords(Module &module) {
  for (Function &function : module) {
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      if (auto *store = dyn_cast<StoreInst>(&instruction)) {
        IRBuilder<> builder(store);
        Value *value = store->getValueOperand();
        store->setOperand(0, castTo(builder, value, asWords(value->getType())));
      } else if (Value *moved = onWords(instruction)) {
        instruction.replaceAllUsesWith(moved);
        instruction.eraseFromParent();
      }
    }
    foldCasts(function);
  }
}

} // namespace tilewright::host
