// SPDX-License-Identifier: Apache-2.0
// NVIDIA's instructions. LLVM's "User Guide for NVPTX Back-end" has the intrinsics' names, the PTX ISA their meanings.
#include "backend/nvptx/NvptxTarget.h"
#include "backend/gpu/Intrinsics.h"
#include "backend/math/PairReciprocals.h"
#include "backend/nvptx/Assembly.h"
#include "backend/nvptx/SplitSingles.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tilewright;

Value NvptxTarget::threadId(Builder &b) {
  return callIntrinsic(b, "llvm.nvvm.read.ptx.sreg.tid.x", b.getI32Type(), {});
}

Value NvptxTarget::threadIdAnew(Builder &b) {
  return assemblyValue(b, b.getI32Type(), {}, "mov.u32 $0, %tid.x;", "=r", /*claimsEffects=*/true);
}

/// ptxas keeps what is computed from a shuffle from one lane in uniform registers. It does not find out that the number
/// of a warp, which is a thread's number shifted, is uniform too.
Value NvptxTarget::uniform(Builder &b, Value word) {
  return callIntrinsic(b, "llvm.nvvm.shfl.sync.idx.i32", b.getI32Type(),
                       {wordConstant(b, -1), word, wordConstant(b, 0), wordConstant(b, lanes() - 1)});
}

Value NvptxTarget::opaque(Builder &b, Value value) {
  return assemblyValue(b, value.getType(), {value, wordConstant(b, opaqueValues_++)}, "",
                       value.getType().isInteger(64) ? "=l,0,n" : "=r,0,n");
}

Value NvptxTarget::blockId(Builder &b, unsigned dim) {
  static constexpr StringRef names[] = {"llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                        "llvm.nvvm.read.ptx.sreg.ctaid.z"};
  return callIntrinsic(b, names[dim], b.getI32Type(), {});
}

Value NvptxTarget::shuffle(Builder &b, Value word, unsigned mask) {
  return callIntrinsic(b, "llvm.nvvm.shfl.sync.bfly.i32", b.getI32Type(),
                       {wordConstant(b, -1), word, wordConstant(b, mask), wordConstant(b, 31)});
}

/// PTX ISA, "add": with .rn it is not contracted; without, ptxas may do so even where LLVM does not.
Value NvptxTarget::addRounded(Builder &b, Value own, Value received) {
  return callIntrinsic(b, own.getType().isF64() ? "llvm.nvvm.add.rn.d" : "llvm.nvvm.add.rn.f", own.getType(),
                       {own, received});
}

void NvptxTarget::barrier(Builder &b) {
  callIntrinsic(b, "llvm.nvvm.barrier.cta.sync.aligned.all", {}, {wordConstant(b, 0)});
}

/// PTX ISA, "griddepcontrol". Assembly, because LLVM's intrinsic does not say that it orders accesses to memory.
void NvptxTarget::awaitKernelsBefore(Builder &b) {
  if (!startsEarly_)
    return;
  assemblyEffect(b, {}, "griddepcontrol.wait; griddepcontrol.launch_dependents;");
}

/// PTX ISA, "Memory Consistency Model": causality order is transitive and includes barriers, so the fence of one thread
/// orders the accesses of its block's threads too.
void NvptxTarget::fence(Builder &b) { LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, "device"); }
Value NvptxTarget::countUpTo(Builder &b, Value address, unsigned most) {
  return LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::uinc_wrap, address, wordConstant(b, most),
                                   LLVM::AtomicOrdering::monotonic, "device");
}

/// 16 bytes bypass the first-level cache (cg); cg has no other size, so fewer bytes go through the cache (ca). LLVM has
/// no intrinsic for a copy with a cache policy.
void NvptxTarget::copy(Builder &b, Value shared, Value global, unsigned bytes, Value live, bool streamed) {
  if (streamed && bytes == 16) {
    SmallVector<Value> arguments{LLVM::PtrToIntOp::create(b, b.getI32Type(), shared),
                                 LLVM::PtrToIntOp::create(b, b.getI64Type(), global), makeStreamPolicy(b)};
    if (live)
      arguments.push_back(live);
    assemblyEffect(b, arguments,
                   live ? "cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $3, $2;"
                        : "cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $2;",
                   live ? "r,l,l,r" : "r,l,l");
    return;
  }
  std::string name =
      "llvm.nvvm.cp.async." + std::string(bytes == 16 ? "cg" : "ca") + ".shared.global." + std::to_string(bytes);
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
  StringRef name = transposed ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
                              : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3";
  return fields(b, callIntrinsic(b, name, type, {address}), 4);
}

/// mma.m16n8k32 takes words of four bytes.
static SmallVector<Value> multiplyBytes(GpuTarget::Builder &b, Value lhs, Value rhs, ArrayRef<Value> acc,
                                        GpuTarget::Unsigned isUnsigned) {
  SmallVector<Value> arguments;
  for (Value operand : {lhs, rhs}) {
    int64_t count = cast<VectorType>(operand.getType()).getNumElements() / 4;
    Value words = LLVM::BitcastOp::create(b, VectorType::get(count, b.getI32Type()), operand);
    for (int64_t i = 0; i < count; ++i)
      arguments.push_back(vector::ExtractOp::create(b, words, i));
  }
  llvm::append_range(arguments, acc);
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getI32Type()));
  static constexpr StringRef names[2][2] = {
      {"llvm.nvvm.mma.m16n8k32.row.col.s8", "llvm.nvvm.mma.m16n8k32.row.col.s8.u8"},
      {"llvm.nvvm.mma.m16n8k32.row.col.u8.s8", "llvm.nvvm.mma.m16n8k32.row.col.u8"}};
  return fields(b, callIntrinsic(b, names[isUnsigned.lhs][isUnsigned.rhs], type, arguments), 4);
}

/// mma.m16n8k8 takes words of tf32, which cvt.rna makes: to nearest, ties away from zero.
static SmallVector<Value> multiplyWords(GpuTarget::Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                        ArrayRef<Value> acc) {
  auto round = [&](Value value) { return callIntrinsic(b, "llvm.nvvm.f2tf32.rna", b.getI32Type(), {value}); };
  auto multiply = [&](ArrayRef<Value> left, ArrayRef<Value> right, ArrayRef<Value> sums) {
    SmallVector<Value> arguments(left);
    llvm::append_range(arguments, right);
    llvm::append_range(arguments, sums);
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getF32Type()));
    return fields(b, callIntrinsic(b, "llvm.nvvm.mma.m16n8k8.row.col.tf32", type, arguments), 4);
  };
  return multiplySingles(b, fragments, lhs, rhs, acc, round, multiply);
}

/// mma.m16n8k16 takes pairs of elements: as <2 x half>, or as words for bf16.
SmallVector<Value> NvptxTarget::multiply(Builder &b, const tile::Fragments &fragments, Value lhs, Value rhs,
                                         ArrayRef<Value> acc, Unsigned isUnsigned) {
  Type element = cast<VectorType>(lhs.getType()).getElementType();
  if (element.isInteger(8))
    return multiplyBytes(b, lhs, rhs, acc, isUnsigned);
  if (element.isF32())
    return multiplyWords(b, fragments, lhs, rhs, acc);
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

//===- Clusters ---------------------------------------------------------------------------------------------------===//

/// PTX ISA, "barrier.cluster": an arrival releases and a wait acquires, unless it says otherwise.
void NvptxTarget::arriveInCluster(Builder &b, bool releases) {
  callIntrinsic(
      b, releases ? "llvm.nvvm.barrier.cluster.arrive.aligned" : "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned", {},
      {});
}
void NvptxTarget::waitForCluster(Builder &b) { callIntrinsic(b, "llvm.nvvm.barrier.cluster.wait.aligned", {}, {}); }

Value NvptxTarget::inBlock(Builder &b, Value shared, Value block) {
  constexpr unsigned clusterSpace = 7;
  auto there = LLVM::LLVMPointerType::get(b.getContext(), clusterSpace);
  return callIntrinsic(b, "llvm.nvvm.mapa.shared.cluster", there, {shared, block});
}

//===- wgmma ------------------------------------------------------------------------------------------------------===//

void NvptxTarget::startProducts(Builder &b) { callIntrinsic(b, "llvm.nvvm.wgmma.fence.sync.aligned", {}, {}); }
void NvptxTarget::commitProducts(Builder &b) { callIntrinsic(b, "llvm.nvvm.wgmma.commit_group.sync.aligned", {}, {}); }
void NvptxTarget::publishShared(Builder &b) { callIntrinsic(b, "llvm.nvvm.fence.proxy.async.shared_cta", {}, {}); }

/// Assembly with the operands `sums` and `others`, which returns new sums in the registers of the old ones. With
/// `comeIn` false the old values are not read.
static SmallVector<Value> updateInPlace(GpuTarget::Builder &b, const std::string &text, ArrayRef<Value> sums,
                                        ArrayRef<Value> others = {}, bool comeIn = true) {
  std::string constraints;
  Type type = sums.front().getType();
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += type.isF32() ? "=f," : "=r,";
  for (Value other : others)
    constraints += other.getType().isInteger(64) ? "l," : "r,";
  SmallVector<Value> operands(others);
  if (comeIn) {
    for (size_t i = 0; i < sums.size(); ++i)
      constraints += std::to_string(i) + ",";
    llvm::append_range(operands, sums);
  }
  constraints += "~{memory}";
  auto structure = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(sums.size(), type));
  auto assembly = LLVM::InlineAsmOp::create(
      b, TypeRange(structure), operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return fields(b, assembly.getResult(0), sums.size());
}

/// PTX ISA, "Matrix Descriptor Format", in units of 16 bytes: bits 0 to 13 the address, 16 to 29 the leading
/// dimension's offset (from panel to panel, where rows run across k), 32 to 45 the stride (from eight rows to the next
/// eight), 62 and 63 the swizzle: 1 for rows of 128 bytes, 2 for 64, 3 for 32.
static Value descriptor(GpuTarget::Builder &b, const GpuTarget::SharedMatrix &matrix) {
  constexpr uint32_t unit = GpuTarget::SharedMatrix::chunkBytes, addressBits = 18, rowsOfStride = 8, widestRow = 128;
  uint32_t stride = rowsOfStride * matrix.rowBytes / unit, swizzle = 1 + llvm::Log2_32(widestRow / matrix.rowBytes);
  uint32_t leading = matrix.alongK || !matrix.panels ? 1 : matrix.panels / unit;
  // In a cluster an address has the number of the block in its high bits.
  Value base = LLVM::PtrToIntOp::create(b, b.getI32Type(), matrix.base);
  base = arith::AndIOp::create(b, base, wordConstant(b, (1 << addressBits) - 1));
  base = arith::ShRUIOp::create(b, base, wordConstant(b, llvm::Log2_32(unit)));
  Value low = arith::AddIOp::create(b, arith::AddIOp::create(b, base, matrix.chunks), wordConstant(b, leading << 16));
  // Assembly, so that LLVM leaves the offset to an addition of its own: one instruction for both words.
  std::string text = fmt::format("mov.b64 $0, {{$1, {}}};", stride | swizzle << 30);
  Value start = assemblyValue(b, b.getI64Type(), low, text, "=l,r");
  return arith::AddIOp::create(b, start, arith::ConstantOp::create(b, b.getI64IntegerAttr(matrix.offset / unit)));
}

/// False if all sums are zero: then the instruction is told to overwrite them, and no register need be set to zero.
static bool addsTo(ArrayRef<Value> sums) {
  return !llvm::all_of(sums, [](Value sum) { return matchPattern(sum, m_PosZeroFloat()); });
}

/// Registers $first to $(first + count - 1) of an instruction's assembly.
static std::string registerList(size_t first, size_t count) {
  std::string list;
  for (size_t i = 0; i < count; ++i)
    list += fmt::format("{}${}", i ? ", " : "", first + i);
  return list;
}

/// The instruction's name for an element type other than bytes.
static StringRef wgmmaType(Type element) { return element.isF32() ? "tf32" : element.isBF16() ? "bf16" : "f16"; }

SmallVector<Value> NvptxTarget::multiplyShared(Builder &b, Type element, const SharedMatrix &lhs,
                                               const SharedMatrix &rhs, ArrayRef<Value> acc, Unsigned isUnsigned) {
  StringRef type = wgmmaType(element);
  std::string sums = registerList(0, acc.size());
  if (element.isInteger(8)) { // rows run along k, always
    std::string text =
        llvm::formatv(
            "{{ .reg .pred adds; setp.ne.b32 adds, 1, 0; wgmma.mma_async.sync.aligned.m64n{0}k32.s32.{1}.{2} {{{3}}, "
            "${4}, ${5}, adds; }",
            acc.size() * 2, isUnsigned.lhs ? "u8" : "s8", isUnsigned.rhs ? "u8" : "s8", sums, acc.size(),
            acc.size() + 1)
            .str();
    return updateInPlace(b, text, acc, {descriptor(b, lhs), descriptor(b, rhs)});
  }
  bool isSingle = element.isF32(), adds = addsTo(acc);
  // adds: to the sums; 1, 1: no operand is negated; then, for halves, which operands' rows run across k.
  std::string across = isSingle ? "" : fmt::format(", {}, {}", lhs.alongK ? 0 : 1, rhs.alongK ? 0 : 1);
  std::string text = fmt::format("{{ .reg .pred adds; setp.ne.b32 adds, {}, 0; "
                                 "wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{}.{} {{{}}}, ${}, ${}, adds, 1, 1{}; }}",
                                 adds ? 1 : 0, acc.size() * 2, isSingle ? 8 : 16, type.str(), type.str(), sums,
                                 acc.size(), acc.size() + 1, across);
  return updateInPlace(b, text, acc, {descriptor(b, lhs), descriptor(b, rhs)}, adds);
}

SmallVector<Value> NvptxTarget::multiplyHeld(Builder &b, Value lhs, const SharedMatrix &rhs, ArrayRef<Value> acc) {
  constexpr unsigned words = 4;
  Type element = cast<VectorType>(lhs.getType()).getElementType();
  Value packed = LLVM::BitcastOp::create(b, VectorType::get(words, b.getI32Type()), lhs);
  SmallVector<Value> others;
  for (unsigned i = 0; i < words; ++i)
    others.push_back(vector::ExtractOp::create(b, packed, static_cast<int64_t>(i)));
  others.push_back(descriptor(b, rhs));
  bool isSingle = element.isF32(), adds = addsTo(acc);
  StringRef type = wgmmaType(element);
  // adds: to the sums; 1, 1: no operand is negated; then, for halves, whether the right side's rows run across k.
  std::string text =
      fmt::format("{{ .reg .pred adds; setp.ne.b32 adds, {}, 0; "
                  "wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{}.{} {{{}}}, {{{}}}, ${}, adds, 1, 1{}; }}",
                  adds ? 1 : 0, acc.size() * 2, isSingle ? 8 : 16, type.str(), type.str(), registerList(0, acc.size()),
                  registerList(acc.size(), words), acc.size() + words,
                  isSingle     ? ""
                  : rhs.alongK ? ", 0"
                               : ", 1");
  return updateInPlace(b, text, acc, others, adds);
}

/// The sums are operands and results of the assembly, so that no use of them can be moved before the wait.
SmallVector<Value> NvptxTarget::waitProducts(Builder &b, unsigned pending, ArrayRef<Value> acc) {
  if (!acc.empty())
    return updateInPlace(b, "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", acc);
  Value count = arith::ConstantOp::create(b, b.getI64IntegerAttr(pending));
  callIntrinsic(b, "llvm.nvvm.wgmma.wait_group.sync.aligned", {}, {count});
  return {};
}

//===- Math and memory --------------------------------------------------------------------------------------------===//

/// Functions on f32 for which LLVM's NVPTX backend has no instruction of its own.
void NvptxTarget::lowerMath(Operation *root) {
  static constexpr IntrinsicRow rows[] = {
      {"math.exp2", "llvm.nvvm.ex2.approx.ftz.f32"}, // 2 ulp; subnormal results are zero
      {"math.log2", "llvm.nvvm.lg2.approx.f"},       // 2^-22.6 absolute near 1, else 2 ulp
      {"math.rsqrt", "llvm.nvvm.rsqrt.approx.f"},    // 2 ulp
      {"arith.divf", "llvm.nvvm.div.full"},          // 2 ulp, PTX ISA "div.full.f32"
  };
  pairReciprocals(root);
  multiplyByReciprocals(root, "llvm.nvvm.rcp.approx.ftz.f"); // 1 ulp
  replaceByIntrinsics(root, rows);
}

/// Dynamic shared memory, whose size is given at launch: static memory is limited to 48 KiB. Aligned to 1024 bytes as
/// wgmma's swizzled rows must be.
Value NvptxTarget::sharedMemory(Builder &b, ModuleOp module, int64_t) {
  constexpr StringLiteral name = "shared_memory";
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    global = LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(),
                                    /*alignment=*/1024, sharedSpace);
  }
  return LLVM::AddressOfOp::create(b, global);
}

void NvptxTarget::markKernel(LLVM::LLVMFuncOp function, unsigned threads) {
  function.setCConv(LLVM::cconv::CConv::PTX_Kernel);
  GpuTarget::Builder b(function.getLoc(), function.getContext());
  function.setPassthroughAttr(b.getArrayAttr({b.getStrArrayAttr({"nvvm.maxntid", std::to_string(threads)})}));
}
