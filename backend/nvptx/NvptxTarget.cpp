// NVIDIA's instructions for the distributor's verbs. Names are those of LLVM's NVPTX usage guide; meanings those of the PTX ISA.
#include "backend/nvptx/NvptxTarget.h"
#include "backend/lowering/Intrinsics.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;


Value NvptxTarget::threadId(Builder &b) { return callIntrinsic(b, "llvm.nvvm.read.ptx.sreg.tid.x", b.getI32Type(), {}); }

Value NvptxTarget::blockId(Builder &b, unsigned dim) {
  static constexpr StringRef names[] = {"llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                        "llvm.nvvm.read.ptx.sreg.ctaid.z"};
  return callIntrinsic(b, names[dim], b.getI32Type(), {});
}

Value NvptxTarget::shuffle(Builder &b, Value word, unsigned mask) {
  return callIntrinsic(b, "llvm.nvvm.shfl.sync.bfly.i32", b.getI32Type(),
                       {wordConstant(b, -1), word, wordConstant(b, mask), wordConstant(b, 31)});
}

void NvptxTarget::barrier(Builder &b) { callIntrinsic(b, "llvm.nvvm.barrier.cta.sync.aligned.all", {}, {wordConstant(b, 0)}); }

/// 16 bytes pass the first-level cache by (cg); fewer go through it, as cg has no other size.
void NvptxTarget::copy(Builder &b, Value shared, Value global, unsigned bytes, Value live) {
  std::string name = "llvm.nvvm.cp.async." + std::string(bytes == 16 ? "cg" : "ca") + ".shared.global." + std::to_string(bytes);
  SmallVector<Value> arguments{shared, global};
  if (live) {
    name += ".s";
    arguments.push_back(live);
  }
  callIntrinsic(b, name, {}, arguments);
}

void NvptxTarget::commitCopies(Builder &b) { callIntrinsic(b, "llvm.nvvm.cp.async.commit.group", {}, {}); }
void NvptxTarget::waitCopies(Builder &b, unsigned pending) {
  callIntrinsic(b, "llvm.nvvm.cp.async.wait.group", {}, {wordConstant(b, pending)});
}

static SmallVector<Value> fields(GpuTarget::Builder &b, Value structure, unsigned count) {
  SmallVector<Value> values;
  for (unsigned i = 0; i < count; ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, structure, i));
  return values;
}

SmallVector<Value> NvptxTarget::readMatrices(Builder &b, Value address, bool transposed) {
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getI32Type()));
  StringRef name = transposed ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3" : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3";
  return fields(b, callIntrinsic(b, name, type, {address}), 4);
}

/// mma.m16n8k16 takes pairs of elements: as <2 x half>, or as words for bf16.
SmallVector<Value> NvptxTarget::multiply(Builder &b, const tile::Fragments &, Value lhs, Value rhs, ArrayRef<Value> acc) {
  Type element = cast<VectorType>(lhs.getType()).getElementType();
  Type pair = element.isBF16() ? Type(b.getI32Type()) : Type(VectorType::get(2, element));
  SmallVector<Value> arguments;
  for (Value operand : {lhs, rhs}) {
    int64_t pairs = cast<VectorType>(operand.getType()).getNumElements() / 2;
    Value words = LLVM::BitcastOp::create(b, VectorType::get(pairs, b.getI32Type()), operand);
    for (int64_t i = 0; i < pairs; ++i) {
      Value word = vector::ExtractOp::create(b, words, i);
      arguments.push_back(element.isBF16() ? word : LLVM::BitcastOp::create(b, pair, word).getResult());
    }
  }
  llvm::append_range(arguments, acc);
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getF32Type()));
  StringRef name = element.isBF16() ? "llvm.nvvm.mma.m16n8k16.row.col.bf16" : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32";
  return fields(b, callIntrinsic(b, name, type, arguments), 4);
}

/// What is left of math that LLVM would not select: each on f32.
void NvptxTarget::lowerMath(Operation *root) {
  static constexpr IntrinsicRow rows[] = {
      {"math.exp2", "llvm.nvvm.ex2.approx.ftz.f32"}, // 2 ulp; subnormal results are zero
      {"math.log2", "llvm.nvvm.lg2.approx.f"},   // 2^-22.6 absolute near 1, else 2 ulp
      {"math.rsqrt", "llvm.nvvm.rsqrt.approx.f"}, // 2 ulp
      {"arith.divf", "llvm.nvvm.div.full"},       // 2 ulp, PTX ISA "div.full.f32"
  };
  multiplyByReciprocals(root, "llvm.nvvm.rcp.approx.ftz.f"); // 1 ulp
  replaceByIntrinsics(root, rows);
}

/// Dynamic shared memory: its size is the launch's, so that it may exceed the 48 KiB that static memory is limited to.
Value NvptxTarget::sharedMemory(Builder &b, ModuleOp module, int64_t) {
  constexpr StringLiteral name = "shared_memory";
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    global =
        LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(), /*alignment=*/128, sharedSpace);
  }
  return LLVM::AddressOfOp::create(b, global);
}

void NvptxTarget::markKernel(LLVM::LLVMFuncOp function, unsigned threads) {
  function.setCConv(LLVM::cconv::CConv::PTX_Kernel);
  GpuTarget::Builder b(function.getLoc(), function.getContext());
  function.setPassthroughAttr(b.getArrayAttr({b.getStrArrayAttr({"nvvm.maxntid", std::to_string(threads)})}));
}
