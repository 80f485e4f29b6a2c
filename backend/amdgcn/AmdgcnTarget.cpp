// SPDX-License-Identifier: Apache-2.0
// AMD's instructions. LLVM's "User Guide for AMDGPU Backend" has the intrinsics' names.
#include "backend/amdgcn/AmdgcnTarget.h"
#include "backend/gpu/Intrinsics.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

Value AmdgcnTarget::threadId(Builder &b) { return callIntrinsic(b, "llvm.amdgcn.workitem.id.x", b.getI32Type(), {}); }

Value AmdgcnTarget::blockId(Builder &b, unsigned dim) {
  static constexpr StringRef names[] = {"llvm.amdgcn.workgroup.id.x", "llvm.amdgcn.workgroup.id.y",
                                        "llvm.amdgcn.workgroup.id.z"};
  return callIntrinsic(b, names[dim], b.getI32Type(), {});
}

/// Within four lanes by DPP (quad_perm), within 32 by ds_swizzle (bit mode: xor mask in bits 10 to 14), else by
/// ds_bpermute. None of them touches LDS memory.
Value AmdgcnTarget::shuffle(Builder &b, Value word, unsigned mask) {
  Type i32 = b.getI32Type();
  if (mask == 1 || mask == 2) {
    int64_t quadPerm = mask == 1 ? 0xb1 : 0x4e; // lanes 1 0 3 2, and 2 3 0 1
    Value all = wordConstant(b, 0xf), bounds = arith::ConstantOp::create(b, b.getBoolAttr(true));
    return callIntrinsic(b, "llvm.amdgcn.update.dpp.i32", i32,
                         {word, word, wordConstant(b, quadPerm), all, all, bounds});
  }
  if (mask < 32)
    return callIntrinsic(b, "llvm.amdgcn.ds.swizzle", i32, {word, wordConstant(b, mask << 10 | 0x1f)});
  Value lane = callIntrinsic(b, "llvm.amdgcn.mbcnt.lo", i32, {wordConstant(b, -1), wordConstant(b, 0)});
  lane = callIntrinsic(b, "llvm.amdgcn.mbcnt.hi", i32, {wordConstant(b, -1), lane});
  Value address = arith::ShLIOp::create(b, arith::XOrIOp::create(b, lane, wordConstant(b, mask)), wordConstant(b, 2));
  return callIntrinsic(b, "llvm.amdgcn.ds.bpermute", i32, {address, word});
}

/// LLVM does not see through empty assembly. (llvm.arithmetic.fence stops LLVM 22, "illegal VGPR to SGPR copy", where
/// the value is the same in all lanes.)
Value AmdgcnTarget::addRounded(Builder &b, Value own, Value received) {
  return arith::AddFOp::create(b, opaque(b, own), received);
}

/// The fences order accesses to LDS alone, so that loads from global memory for the next step stay in flight.
void AmdgcnTarget::barrier(Builder &b) {
  auto local = LLVM::MMRATagAttr::get(b.getContext(), "amdgpu-synchronize-as", "local");
  auto fence = [&](LLVM::AtomicOrdering ordering) {
    auto op = LLVM::FenceOp::create(b, ordering, "workgroup");
    op->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(), local);
  };
  fence(LLVM::AtomicOrdering::release);
  callIntrinsic(b, "llvm.amdgcn.s.barrier", {}, {});
  fence(LLVM::AtomicOrdering::acquire);
}

/// LLVM, "User Guide for AMDGPU Backend", memory model of gfx942: the fence waits for the stores of its own wave only,
/// writes back the second-level cache and invalidates the first. So every wave of a block executes a fence of its own
/// (fenceBesideBarrier): barrier() orders LDS only.
void AmdgcnTarget::fence(Builder &b) { LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, "agent"); }
Value AmdgcnTarget::countUpTo(Builder &b, Value address, unsigned most) {
  return LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::uinc_wrap, address, wordConstant(b, most),
                                   LLVM::AtomicOrdering::monotonic, "agent");
}

/// A load and a store: these chips have no asynchronous copy as wide as that.
void AmdgcnTarget::copy(Builder &b, Value shared, Value global, unsigned bytes, Value live, bool) {
  auto type = VectorType::get(bytes / 4, b.getI32Type());
  Value data = LLVM::LoadOp::create(b, type, global, bytes);
  if (live) {
    Value all = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, live, wordConstant(b, 0));
    data = arith::SelectOp::create(b, all, data,
                                   arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getI32IntegerAttr(0))));
  }
  LLVM::StoreOp::create(b, data, shared, bytes);
}

SmallVector<Value> AmdgcnTarget::readMatrices(Builder &, Value, bool) { llvm_unreachable("readsMatrices is false"); }

/// One instruction for each step of k, which takes four elements of each lane. The operands are swapped, because the
/// instruction's result is the transpose of what the fragments in tilegen/tile/Layout.cpp say.
SmallVector<Value> AmdgcnTarget::multiply(Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                          ArrayRef<Value> acc, Unsigned) {
  Type element = cast<VectorType>(lhs.getType()).getElementType();
  bool isBrain = element.isBF16();
  StringRef name = fragments.m == 32
                       ? (isBrain ? "llvm.amdgcn.mfma.f32.32x32x8bf16.1k" : "llvm.amdgcn.mfma.f32.32x32x8f16")
                       : (isBrain ? "llvm.amdgcn.mfma.f32.16x16x16bf16.1k" : "llvm.amdgcn.mfma.f32.16x16x16f16");
  auto part = [&](Value fragment, int64_t step) -> Value {
    SmallVector<int64_t> lanes = {step * 4, step * 4 + 1, step * 4 + 2, step * 4 + 3};
    Value four = vector::ShuffleOp::create(b, fragment, fragment, lanes);
    return isBrain ? LLVM::BitcastOp::create(b, VectorType::get(4, b.getI16Type()), four).getResult() : four;
  };
  auto type = VectorType::get(acc.size(), b.getF32Type());
  Value sum = vector::FromElementsOp::create(b, type, acc), zero = wordConstant(b, 0);
  for (unsigned step = 0; step < fragments.steps; ++step)
    sum = callIntrinsic(b, name, type, {part(rhs, step), part(lhs, step), sum, zero, zero, zero});
  SmallVector<Value> results;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    results.push_back(vector::ExtractOp::create(b, sum, i));
  return results;
}

void AmdgcnTarget::lowerMath(Operation *root) {
  static constexpr IntrinsicRow rows[] = {
      {"math.exp2", "llvm.amdgcn.exp2.f32"},   // 1 ulp; subnormal results are zero
      {"math.rsqrt", "llvm.amdgcn.rsq.f32"},   // 1 ulp
      {"arith.divf", "llvm.amdgcn.fdiv.fast"}, // 2.5 ulp
  };
  multiplyByReciprocals(root, "llvm.amdgcn.rcp.f32"); // 1 ulp
  replaceByIntrinsics(root, rows);
}

/// Empty assembly. Its number makes each one differ from the others: LLVM would compute equal ones once and keep the
/// result.
Value AmdgcnTarget::opaque(Builder &b, Value value) {
  return LLVM::InlineAsmOp::create(
             b, value.getType(), ValueRange{value, wordConstant(b, opaqueValues_++)}, "", "=v,0,i",
             /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getRes();
}

/// Each kernel has an array of its own, because the size is part of the kernel's metadata.
Value AmdgcnTarget::sharedMemory(Builder &b, ModuleOp module, int64_t bytes) {
  auto function = cast<LLVM::LLVMFuncOp>(b.getInsertionBlock()->getParentOp());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
  OpBuilder start = OpBuilder::atBlockBegin(module.getBody());
  auto global = LLVM::GlobalOp::create(start, b.getLoc(), type, /*isConstant=*/false, LLVM::Linkage::Internal,
                                       ("lds_" + function.getSymName()).str(), Attribute(),
                                       /*alignment=*/128, sharedSpace);
  return LLVM::AddressOfOp::create(b, global);
}

void AmdgcnTarget::markKernel(LLVM::LLVMFuncOp function, unsigned threads) {
  function.setCConv(LLVM::cconv::CConv::AMDGPU_KERNEL);
  GpuTarget::Builder b(function.getLoc(), function.getContext());
  std::string size = std::to_string(threads);
  function.setPassthroughAttr(b.getArrayAttr({b.getStrArrayAttr({"amdgpu-flat-work-group-size", size + "," + size}),
                                              b.getStrArrayAttr({"uniform-work-group-size", "true"}),
                                              b.getStrArrayAttr({"amdgpu-no-implicitarg-ptr", ""}),
                                              b.getStrArrayAttr({"denormal-fp-math-f32", "ieee,ieee"})}));
}
