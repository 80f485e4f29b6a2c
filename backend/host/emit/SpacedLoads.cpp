// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/SpacedLoads.h"

#include "llvm/ADT/SmallVector.h"

namespace tilewright::host {

llvm::Value *loadSpaced(llvm::IRBuilderBase &ir, llvm::Value *pointer, llvm::Type *element, llvm::Align align,
                        unsigned width, int64_t step, llvm::Value *mask) {
  auto *type = llvm::FixedVectorType::get(element, width);
  int64_t count = width, behind = (count - 1) * step + 1;
  llvm::Value *result = nullptr, *off = mask ? llvm::Constant::getNullValue(mask->getType()) : nullptr;
  for (int64_t chunk = 0, next = 0; chunk < step; ++chunk) { // lanes below `next` are loaded
    int64_t first = std::min(chunk * count, behind - count);
    // Element i of the vector belongs to lane (first + i) / step, where the step divides.
    llvm::SmallVector<int> merge, masked;
    for (int64_t lane = 0; lane < count; ++lane)
      merge.push_back(static_cast<int>(lane < next                   ? lane
                                       : lane * step < first + count ? count + lane * step - first
                                                                     : -1));
    for (int64_t i = 0; i < count; ++i)
      masked.push_back(static_cast<int>((first + i) % step == 0 ? (first + i) / step : count));
    llvm::Value *from = ir.CreateConstGEP1_64(element, pointer, first);
    llvm::Value *vector =
        mask ? (llvm::Value *)ir.CreateMaskedLoad(type, from, align, ir.CreateShuffleVector(mask, off, masked),
                                                  llvm::PoisonValue::get(type))
             : ir.CreateAlignedLoad(type, from, align);
    result = ir.CreateShuffleVector(result ? result : llvm::PoisonValue::get(type), vector, merge);
    while (next < count && next * step < first + count)
      ++next;
  }
  return result;
}

} // namespace tilewright::host
