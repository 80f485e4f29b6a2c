// SPDX-License-Identifier: Apache-2.0
#include "backend/host/SingleLaneStores.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

using namespace llvm;

namespace tilewright::host {

/// The only lane of a constant mask; nothing if there are more, or none, or the mask is not constant.
static std::optional<unsigned> onlyLane(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  std::optional<unsigned> only;
  for (unsigned lane = 0, lanes = cast<FixedVectorType>(mask->getType())->getNumElements(); lane < lanes; ++lane) {
    Constant *element = constant ? constant->getAggregateElement(lane) : nullptr;
    if (!element || (!element->isNullValue() && only))
      return std::nullopt;
    if (!element->isNullValue())
      only = lane;
  }
  return only;
}

void storeSingleLanes(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *store = dyn_cast<IntrinsicInst>(&instruction);
      if (!store || store->getIntrinsicID() != Intrinsic::masked_store)
        continue;
      enum : unsigned { Vector = 0, Pointer = 1, Mask = 2 };
      std::optional<unsigned> lane = onlyLane(store->getArgOperand(Mask));
      if (!lane)
        continue;
      IRBuilder<> builder(store);
      Value *element = builder.CreateExtractElement(store->getArgOperand(Vector), *lane);
      Value *place = builder.CreateConstGEP1_32(element->getType(), store->getArgOperand(Pointer), *lane);
      uint64_t offset = uint64_t{*lane} * element->getType()->getScalarSizeInBits() / 8; // bytes
      builder.CreateAlignedStore(element, place, commonAlignment(store->getParamAlign(Pointer).valueOrOne(), offset));
      store->eraseFromParent();
    }
}

} // namespace tilewright::host
