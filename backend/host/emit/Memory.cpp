// SPDX-License-Identifier: Apache-2.0
#include "backend/host/emit/Memory.h"

#include "backend/host/Elementwise.h"
#include "backend/host/emit/SpacedLoads.h"
#include "backend/host/plan/DotOperands.h"
#include "runtime/plan/KernelAbi.h"

#include "llvm/IR/Intrinsics.h"

using namespace mlir;

namespace tilewright::host {

/// Elements at `base` + `offsets`. Gathers load words of 32 bits or more: a smaller element is extracted from the
/// aligned word that holds it, which never crosses a page. Without masks (AVX2), lanes that are off read the kernel's
/// arguments instead, because LLVM would turn a masked gather into a branch for every lane.
llvm::Value *Memory::gather(llvm::Value *base, llvm::Value *offsets, llvm::Value *mask, llvm::Type *memory,
                            llvm::Value *fills) {
  bool masks = function.vectors.masks;
  unsigned width = cast<llvm::FixedVectorType>(offsets->getType())->getNumElements(),
           bytes = memory->getPrimitiveSizeInBits() / 8;
  llvm::Type *word = bytes < 4 ? ir.getInt32Ty() : memory, *offsetType = offsets->getType();
  llvm::Value *shifts = nullptr;
  if (bytes < 4) {
    llvm::Value *low = ir.CreateAnd(ir.CreatePtrToInt(base, ir.getInt64Ty()), 3);
    base = ir.CreateGEP(ir.getInt8Ty(), base, ir.CreateNeg(low));
    llvm::Value *lows = ir.CreateVectorSplat(width, ir.CreateIntCast(low, offsetType->getScalarType(), false));
    llvm::Value *places = ir.CreateAdd(ir.CreateMul(offsets, llvm::ConstantInt::get(offsetType, bytes)), lows);
    llvm::Value *within = ir.CreateAnd(places, llvm::ConstantInt::get(offsetType, 3));
    shifts =
        ir.CreateIntCast(ir.CreateShl(within, llvm::ConstantInt::get(offsetType, 3)), vectorOf(word, width), false);
    offsets = ir.CreateSub(places, within);
  }
  llvm::Value *pointers = ir.CreateGEP(bytes < 4 ? ir.getInt8Ty() : memory, base, offsets),
              *on = llvm::Constant::getAllOnesValue(vectorOf(ir.getInt1Ty(), width));
  if (mask && !masks)
    pointers = ir.CreateSelect(mask, pointers, ir.CreateVectorSplat(width, function.readable()));
  llvm::Type *words = vectorOf(word, width);
  llvm::Value *result = ir.CreateMaskedGather(words, pointers, alignOf(word), mask && masks ? mask : on,
                                              llvm::Constant::getNullValue(words));
  if (shifts)
    result = ir.CreateTrunc(ir.CreateLShr(result, shifts), vectorOf(memory, width));
  return mask ? ir.CreateSelect(mask, result, fills) : result;
}

//===- Loads ------------------------------------------------------------------------------------------------------===//

/// Loads one element for all lanes. Where the condition is false, other memory is read and the fill selected.
llvm::Value *Memory::loadUniform(const Access &access, llvm::Type *memory, llvm::Value *fill, unsigned width) {
  llvm::Value *pointer =
      access.condition ? math.choose(access.condition, access.pointer, function.readable()) : access.pointer;
  llvm::Value *value = ir.CreateAlignedLoad(memory, pointer, alignOf(memory));
  if (access.condition)
    value = ir.CreateSelect(access.condition, value, fill);
  if (width > 1)
    value = ir.CreateVectorSplat(width, value);
  return access.mask ? ir.CreateSelect(access.mask, value, ir.CreateVectorSplat(width, fill)) : value;
}

/// `fill` has the type of an element in memory.
llvm::Value *Memory::loadRow(const Access &access, llvm::Type *element, llvm::Value *fill, unsigned width) {
  llvm::Type *memory = memoryType(element), *type = vectorOf(memory, width);
  llvm::Align align = alignOf(memory);
  if (access.isUniform())
    return loadUniform(access, memory, fill, width);
  llvm::Value *fills = ir.CreateVectorSplat(width, fill);
  auto touch = [&]() -> llvm::Value * {
    if (access.isContiguous())
      return access.mask ? (llvm::Value *)ir.CreateMaskedLoad(type, access.pointer, align, access.mask, fills)
                         : ir.CreateAlignedLoad(type, access.pointer, align);
    std::optional<int64_t> step = access.delta ? std::nullopt : constantOf(access.stride);
    if (step && *step > 1 && *step <= mostSpacing && (!access.mask || function.vectors.masks)) {
      llvm::Value *spaced = loadSpaced(ir, access.pointer, memory, align, width, *step, access.mask);
      return access.mask ? ir.CreateSelect(access.mask, spaced, fills) : spaced;
    }
    return gather(access.pointer, addresses.offsetsOf(access, width), access.mask, memory, fills);
  };
  if (!access.condition)
    return touch();
  llvm::Value *place = function.slot(type);
  ir.CreateStore(fills, place);
  math.when(access.condition, [&] { ir.CreateStore(touch(), place); });
  return ir.CreateLoad(type, place);
}

/// The value that `op` gives outside of its bounds and its buffer, as the type in memory.
llvm::Value *Memory::fillOf(tile::LoadOp op) {
  llvm::Type *element = function.typeOf(op.getResult());
  Attribute attribute = op.getFillAttr();
  if (!attribute)
    return llvm::Constant::getNullValue(memoryType(element));
  llvm::Constant *constant =
      isa<FloatAttr>(attribute)
          ? (llvm::Constant *)llvm::ConstantFP::get(function.context, cast<FloatAttr>(attribute).getValue())
          : llvm::ConstantInt::get(element, cast<IntegerAttr>(attribute).getValue().getZExtValue(), false, true);
  return toMemory(ir, constant, 1);
}

Rows Memory::load(tile::LoadOp op, const Position &position) {
  llvm::Type *element = function.typeOf(op.getResult());
  llvm::Value *fill = fillOf(op);
  Reference reference = addresses.referenceTo(op);
  if (isPacked(op))
    reference.panel = cast<AffineConstantExpr>(op.getBuffer().getType().getSizes().getResults().back()).getValue();
  for (Value index : op.getIndices())
    reference.indices.push_back(
        values.tileOf(index, values.isUniform(index, position) ? values.uniformAt(position) : position));
  Rows rows;
  for (unsigned row = 0; row < position.rows.size(); ++row)
    rows.push_back(fromMemory(ir, loadRow(addresses.access(reference, position, row), element, fill, position.width),
                              element, position.width));
  return rows;
}

llvm::Value *Memory::addressOf(tile::LoadOp op, const Position &position, unsigned row, int64_t panel,
                               llvm::Value *outside) {
  Reference reference = addresses.referenceTo(op);
  reference.panel = panel;
  Access place = addresses.access(reference, position, row);
  return place.condition ? math.choose(place.condition, place.pointer, outside) : place.pointer;
}

void Memory::prefetch(llvm::Value *place, Ix distance) {
  llvm::Value *line = math.pointer(ir.getInt8Ty(), place, distance);
  enum : uint32_t { Read = 0, SecondLevel = 2, Data = 1 };
  ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {line->getType()},
                     {line, ir.getInt32(Read), ir.getInt32(SecondLevel), ir.getInt32(Data)});
}

//===- Stores -----------------------------------------------------------------------------------------------------===//

void Memory::storeRow(const Access &target, llvm::Value *value, unsigned width) {
  llvm::Align align = alignOf(value->getType()->getScalarType());
  llvm::Value *mask = target.mask ? target.mask : llvm::Constant::getAllOnesValue(vectorOf(ir.getInt1Ty(), width));
  bool isContiguous = width == 1 || target.isContiguous();
  if (isContiguous && !target.mask) {
    ir.CreateAlignedStore(value, target.pointer, align);
  } else if (isContiguous) {
    ir.CreateMaskedStore(value, target.pointer, align, mask);
  } else {
    llvm::Value *offsets = addresses.offsetsOf(target, width);
    llvm::Value *pointers = offsets ? ir.CreateGEP(value->getType()->getScalarType(), target.pointer, offsets)
                                    : ir.CreateVectorSplat(width, target.pointer);
    ir.CreateMaskedScatter(value, pointers, align, mask);
  }
}

void Memory::store(tile::StoreOp op, const Position &position, const Rows &rows) {
  Reference reference = addresses.referenceTo(op);
  unsigned width = position.width;
  for (unsigned row = 0; row < rows.size(); ++row) {
    Access target = addresses.access(reference, position, row);
    if (position.end)
      target.require(ir, columnsBeforeEnd(ir, math, position));
    llvm::Value *value = toMemory(ir, rows[row], width);
    math.when(target.condition, [&] { storeRow(target, value, width); });
  }
}

//===- Checks -----------------------------------------------------------------------------------------------------===//

Rows Memory::check(tile::CheckOp op, const Position &position) {
  Reference reference{nullptr, {}, op.getOffsets(), op.getBounds(), {}};
  Rows rows = values.tileOf(op.getIndex(), position), result;
  unsigned width = position.width;
  llvm::Type *type = rows.front()->getType();
  llvm::Value *size = ir.CreateIntCast(function.evaluate(op.getSize(), 0), type->getScalarType(), true),
              *zero = llvm::Constant::getNullValue(type);
  llvm::Value *sizes = splat(ir, {size}, 1, width).front();
  llvm::Value *last = ir.CreateSub(sizes, llvm::ConstantInt::get(type, 1));
  for (unsigned row = 0; row < rows.size(); ++row) {
    Access live = addresses.withinBounds(reference, position, row);
    if (position.end)
      live.require(ir, columnsBeforeEnd(ir, math, position));
    llvm::Value *bad = ir.CreateICmpUGE(rows[row], sizes);
    if (live.mask)
      bad = ir.CreateAnd(bad, live.mask);
    if (width > 1)
      bad = ir.CreateOrReduce(bad);
    if (live.condition)
      bad = ir.CreateAnd(bad, live.condition);
    math.when(bad, [&] {
      uint64_t word = errorWordOf(Fault::IndexOutOfRange, static_cast<uint32_t>(op.getSite()));
      ir.CreateAtomicCmpXchg(function.errorWord(), ir.getInt64(0), ir.getInt64(word), llvm::Align(8),
                             llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
    });
    llvm::Value *atMost = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rows[row], last);
    result.push_back(ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, atMost, zero));
  }
  return result;
}

} // namespace tilewright::host
