// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "cp.async.bulk.tensor", "mbarrier" and "setmaxnreg". Where LLVM has no intrinsic for the form that is
// wanted, it is assembly, which GenerateCode marks as convergent.
#include "backend/nvptx/NvptxCopyEngine.h"

#include "backend/gpu/Intrinsics.h"
#include "backend/nvptx/Assembly.h"
#include "runtime/plan/KernelAbi.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tilewright;

static Value addressOf(CopyEngine::Builder &b, Value shared) {
  return LLVM::PtrToIntOp::create(b, b.getI32Type(), shared);
}

/// Claims no side effects, so that those of several copies may become one.
Value tilewright::makeStreamPolicy(CopyEngine::Builder &b) {
  return assemblyValue(b, b.getI64Type(), {}, "createpolicy.fractional.L2::evict_first.b64 $0;", "=l");
}

/// The map is a parameter that is passed by value, in the bytes that the driver encoded.
void NvptxCopyEngine::markTensorMap(LLVM::LLVMFuncOp function, unsigned index) {
  OpBuilder b(function.getContext());
  function.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), tensorMapBytes)));
  function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(tensorMapAlignment));
}

/// Assembly, because LLVM's intrinsic becomes two instructions for a parameter.
void NvptxCopyEngine::prefetchMap(Builder &b, Value map) {
  if (prefetchesMaps_)
    assemblyEffect(b, map, "prefetch.tensormap [$0];", "l");
}

void NvptxCopyEngine::prefetchLine(Builder &b, Value address) {
  callIntrinsic(b, "llvm.nvvm.prefetch.global.L2", {}, address);
}

/// An address in a block's shared memory is its address in the cluster's, too (PTX ISA, "State Spaces"). LLVM's cast
/// would convert it to a generic address and back, and the thread that copies would wait for that at each step.
static Value inCluster(CopyEngine::Builder &b, Value shared) {
  constexpr unsigned clusterSpace = 7;
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), shared);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), clusterSpace), address);
}

void NvptxCopyEngine::copyBox(Builder &b, Value shared, Value map, ArrayRef<Value> coordinates, ArrayRef<Value> offsets,
                              Value barrier, bool streamed) {
  auto constant = [&](Type type, int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  SmallVector<Value> arguments{inCluster(b, shared), barrier, map};
  llvm::append_range(arguments, coordinates);
  for (Value offset : offsets)
    arguments.push_back(arith::TruncIOp::create(b, b.getI16Type(), offset));
  // An H200 stops at copies of pixels that have a policy, with an illegal instruction.
  bool arePixels = !offsets.empty(), hasPolicy = streamed && !arePixels;
  // The multicast mask, which is not used, the cache policy, and whether they are; no group of blocks (cta_group).
  arguments.append({constant(b.getI16Type(), 0), hasPolicy ? makeStreamPolicy(b) : constant(b.getI64Type(), 0),
                    constant(b.getI1Type(), 0), constant(b.getI1Type(), hasPolicy), wordConstant(b, 0)});
  callIntrinsic(
      b, fmt::format("llvm.nvvm.cp.async.bulk.tensor.g2s.{}.{}d", arePixels ? "im2col" : "tile", coordinates.size()),
      {}, arguments);
}

void NvptxCopyEngine::storeBox(Builder &b, Value shared, Value map, ArrayRef<Value> coordinates) {
  SmallVector<Value> arguments{shared, map};
  llvm::append_range(arguments, coordinates);
  // The cache policy, which is not used.
  arguments.push_back(arith::ConstantOp::create(b, b.getI64IntegerAttr(0)));
  arguments.push_back(arith::ConstantOp::create(b, b.getBoolAttr(false)));
  callIntrinsic(b, ("llvm.nvvm.cp.async.bulk.tensor.s2g.tile." + Twine(coordinates.size()) + "d").str(), {}, arguments);
}

void NvptxCopyEngine::commitStores(Builder &b) { assemblyEffect(b, {}, "cp.async.bulk.commit_group;"); }
void NvptxCopyEngine::awaitStores(Builder &b, unsigned pending) {
  assemblyEffect(b, {}, ("cp.async.bulk.wait_group.read " + Twine(pending) + ";").str());
}

/// Of a thread that is found by its number, ptxas does not know that it is alone. It then starts each copy in a loop
/// over the threads that may want one, and moves coordinates and addresses to the warp's registers each time. A step
/// of a small tile waits for that, and so does a kernel that starts the copies of all its slots before anything else.
Value NvptxCopyEngine::elect(Builder &b, Value) {
  auto both = LLVM::LLVMStructType::getLiteral(b.getContext(), {b.getI32Type(), b.getI1Type()});
  Value elected = callIntrinsic(b, "llvm.nvvm.elect.sync", both, {wordConstant(b, -1)});
  return LLVM::ExtractValueOp::create(b, elected, 1);
}

void NvptxCopyEngine::writeMatrices(Builder &b, Value address, ArrayRef<Value> words) {
  SmallVector<Value> arguments{address};
  llvm::append_range(arguments, words);
  callIntrinsic(b, "llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p3", {}, arguments);
}

void NvptxCopyEngine::meetWarp(Builder &b) { callIntrinsic(b, "llvm.nvvm.bar.warp.sync", {}, {wordConstant(b, -1)}); }

void NvptxCopyEngine::makeBarrier(Builder &b, Value address, unsigned arrivals) {
  callIntrinsic(b, "llvm.nvvm.mbarrier.init.shared", {}, {address, wordConstant(b, arrivals)});
}

/// Makes the barriers visible to the other threads, and to the copy engine.
void NvptxCopyEngine::publishBarriers(Builder &b) {
  callIntrinsic(b, "llvm.nvvm.fence.mbarrier_init.release.cluster", {}, {});
  callIntrinsic(b, "llvm.nvvm.fence.proxy.async.shared_cta", {}, {});
}

void NvptxCopyEngine::expectBytes(Builder &b, Value barrier, unsigned bytes) {
  assemblyEffect(b, {addressOf(b, barrier), wordConstant(b, bytes)},
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r");
}

void NvptxCopyEngine::arrive(Builder &b, Value barrier) {
  assemblyEffect(b, addressOf(b, barrier), "mbarrier.arrive.shared::cta.b64 _, [$0];", "r");
}

/// The loop is part of the assembly, so that the warp's threads leave it together.
void NvptxCopyEngine::waitPhase(Builder &b, Value barrier, Value parity) {
  assemblyEffect(
      b, {addressOf(b, barrier), parity},
      "{ .reg .pred ended; again: mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1; @ended bra done; bra "
      "again; done: }",
      "r,r");
}

/// About ten times as long as a copy from the memory takes.
void NvptxCopyEngine::pause(Builder &b) {
  constexpr unsigned nanoseconds = 10'000;
  callIntrinsic(b, "llvm.nvvm.nanosleep", {}, {wordConstant(b, nanoseconds)});
}

void NvptxCopyEngine::roleBarrier(Builder &b, Value number, unsigned threads) {
  callIntrinsic(b, "llvm.nvvm.barrier.cta.sync.aligned.count", {}, {number, wordConstant(b, threads)});
}

void NvptxCopyEngine::setRegisters(Builder &b, unsigned registers, bool more) {
  callIntrinsic(b, more ? "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32" : "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32", {},
                wordConstant(b, registers));
}
