// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: tables from operation to instruction, intrinsic or comparison, and the few that need more
// than one.
//
// Half types are storage: operands are widened to f32, the result is rounded. Integer division never traps, whatever
// lanes that are not live hold.
#include "backend/host/Elementwise.h"

#include "backend/math/MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"

#include <numeric>

using namespace mlir;
using llvm::Intrinsic::ID;
namespace intrinsic = llvm::Intrinsic;

namespace tilewright::host {

//===- Tables -----------------------------------------------------------------------------------------------------===//

namespace {
struct InstructionRow {
  StringRef operation;
  llvm::Instruction::BinaryOps opcode;
};
struct IntrinsicRow {
  StringRef operation;
  ID intrinsic;
};
struct CastRow {
  StringRef operation;
  llvm::Instruction::CastOps opcode;
};
struct CostRow {
  StringRef operation;
  unsigned cost;
};
} // namespace

using I = llvm::Instruction;
static const InstructionRow binaryRows[] = {
    {"arith.addf", I::FAdd},  {"arith.subf", I::FSub}, {"arith.mulf", I::FMul}, {"arith.divf", I::FDiv},
    {"arith.addi", I::Add},   {"arith.subi", I::Sub},  {"arith.muli", I::Mul},  {"arith.andi", I::And},
    {"arith.ori", I::Or},     {"arith.xori", I::Xor},  {"arith.shli", I::Shl},  {"arith.shrsi", I::AShr},
    {"arith.shrui", I::LShr},
};

static const IntrinsicRow intrinsicRows[] = {
    {"arith.maximumf", intrinsic::maximum},
    {"arith.minimumf", intrinsic::minimum},
    {"arith.maxnumf", intrinsic::maxnum},
    {"arith.minnumf", intrinsic::minnum},
    {"arith.maxsi", intrinsic::smax},
    {"arith.minsi", intrinsic::smin},
    {"arith.maxui", intrinsic::umax},
    {"arith.minui", intrinsic::umin},
    {"math.fma", intrinsic::fma},
    {"math.sqrt", intrinsic::sqrt},
    {"math.absf", intrinsic::fabs},
    {"math.copysign", intrinsic::copysign},
    {"math.floor", intrinsic::floor},
    {"math.ceil", intrinsic::ceil},
    {"math.trunc", intrinsic::trunc},
    {"math.round", intrinsic::round},
    {"math.roundeven", intrinsic::roundeven},
    {"math.ctpop", intrinsic::ctpop},
};

static const CastRow castRows[] = {
    {"arith.extsi", I::SExt},    {"arith.extui", I::ZExt},    {"arith.trunci", I::Trunc},
    {"arith.sitofp", I::SIToFP}, {"arith.uitofp", I::UIToFP}, {"arith.bitcast", I::BitCast},
};

static const StringRef otherOperations[] = {
    "arith.fptosi",     "arith.fptoui",       "arith.negf",       "arith.cmpf",      "arith.cmpi",  "arith.select",
    "arith.extf",       "arith.truncf",       "arith.divsi",      "arith.divui",     "arith.remsi", "arith.remui",
    "arith.index_cast", "arith.index_castui", "arith.floordivsi", "arith.ceildivsi", "math.absi",   "math.isnan",
    "math.isinf",       "math.isfinite",      "math.exp2",
};

static const CostRow costRows[] = {
    {"arith.divf", 4},   {"math.sqrt", 6},      {"arith.divsi", 20},      {"arith.divui", 20},
    {"arith.remsi", 20}, {"arith.remui", 20},   {"arith.floordivsi", 24}, {"arith.ceildivsi", 24},
    {"arith.select", 1}, {"arith.maximumf", 2}, {"arith.minimumf", 2},
};

/// The row of `op` in a table; null if it has none. The index by name is made once for each type Row, so there can be
/// one table of each. A hash, because this is called many times for each operation of a kernel.
template <typename Row, size_t N> static const Row *find(const Row (&rows)[N], Operation *op) {
  static const llvm::StringMap<const Row *> index = [&] {
    llvm::StringMap<const Row *> result;
    for (const Row &row : rows)
      result[row.operation] = &row;
    return result;
  }();
  return index.lookup(op->getName().getStringRef());
}

bool isElementwise(Operation *op) {
  static const llvm::StringSet<> names = [] {
    llvm::StringSet<> result;
    auto add = [&](const auto &rows) {
      for (const auto &row : rows)
        result.insert(row.operation);
    };
    add(binaryRows), add(intrinsicRows), add(castRows);
    result.insert_range(otherOperations);
    return result;
  }();
  return names.contains(op->getName().getStringRef());
}

unsigned elementwiseCost(Operation *op) {
  const CostRow *row = find(costRows, op);
  return row ? row->cost : 1;
}

//===- Types ------------------------------------------------------------------------------------------------------===//

llvm::Type *elementType(llvm::LLVMContext &context, Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isIndex())
    return llvm::Type::getInt64Ty(context);
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::Type::getIntNTy(context, integer.getWidth());
  if (type.isF16())
    return llvm::Type::getHalfTy(context);
  if (type.isBF16())
    return llvm::Type::getBFloatTy(context);
  if (type.isF32())
    return llvm::Type::getFloatTy(context);
  return type.isF64() ? llvm::Type::getDoubleTy(context) : nullptr;
}

llvm::Type *vectorOf(llvm::Type *type, unsigned width) {
  return width == 1 ? type : llvm::FixedVectorType::get(type, width);
}

static bool isHalf(llvm::Type *type) {
  return type->getScalarType()->isHalfTy() || type->getScalarType()->isBFloatTy();
}

//===- Conversions ------------------------------------------------------------------------------------------------===//

static llvm::Value *floatOfBFloat(llvm::IRBuilder<> &ir, llvm::Value *value, unsigned width) {
  llvm::Value *bits = ir.CreateBitCast(value, vectorOf(ir.getInt16Ty(), width));
  llvm::Type *i32 = vectorOf(ir.getInt32Ty(), width);
  return ir.CreateBitCast(ir.CreateShl(ir.CreateZExt(bits, i32), 16), vectorOf(ir.getFloatTy(), width));
}

/// Round to nearest even by adding just under half a unit, plus one if the kept part is odd; a NaN stays one.
static llvm::Value *bfloatOfFloat(llvm::IRBuilder<> &ir, llvm::Value *value, unsigned width) {
  llvm::Type *i32 = vectorOf(ir.getInt32Ty(), width);
  auto c = [&](uint32_t constant) { return llvm::ConstantInt::get(i32, constant); };
  llvm::Value *bits = ir.CreateBitCast(value, i32);
  llvm::Value *odd = ir.CreateAnd(ir.CreateLShr(bits, c(16)), c(1));
  llvm::Value *rounded = ir.CreateAdd(bits, ir.CreateAdd(odd, c(0x7fff)));
  llvm::Value *quiet = ir.CreateOr(bits, c(0x400000));
  llvm::Value *chosen = ir.CreateSelect(ir.CreateFCmpUNO(value, value), quiet, rounded);
  llvm::Value *narrow = ir.CreateTrunc(ir.CreateLShr(chosen, c(16)), vectorOf(ir.getInt16Ty(), width));
  return ir.CreateBitCast(narrow, vectorOf(ir.getBFloatTy(), width));
}

/// f64 to f32, rounded to odd. A second rounding, to fewer bits, then gives the same as one rounding of `value`. An
/// inexact result with an even mantissa is replaced by its odd neighbour on the other side of `value`.
static llvm::Value *oddFloatOfDouble(llvm::IRBuilder<> &ir, llvm::Value *value, unsigned width) {
  llvm::Type *f32 = vectorOf(ir.getFloatTy(), width), *i32 = vectorOf(ir.getInt32Ty(), width);
  llvm::Value *rounded = ir.CreateFPTrunc(value, f32), *back = ir.CreateFPExt(rounded, value->getType()),
              *bits = ir.CreateBitCast(rounded, i32);
  llvm::Value *isEven =
      ir.CreateICmpEQ(ir.CreateAnd(bits, llvm::ConstantInt::get(i32, 1)), llvm::ConstantInt::get(i32, 0));
  llvm::Value *isSmaller =
      ir.CreateFCmpOLT(ir.CreateUnaryIntrinsic(intrinsic::fabs, back), ir.CreateUnaryIntrinsic(intrinsic::fabs, value));
  llvm::Value *step = ir.CreateSelect(isSmaller, llvm::ConstantInt::get(i32, 1), llvm::Constant::getAllOnesValue(i32));
  llvm::Value *moves = ir.CreateAnd(isEven, ir.CreateFCmpONE(back, value));
  return ir.CreateBitCast(ir.CreateSelect(moves, ir.CreateAdd(bits, step), bits), f32);
}

llvm::Value *convertFloat(llvm::IRBuilder<> &ir, llvm::Value *value, llvm::Type *element, unsigned width) {
  llvm::IRBuilder<>::FastMathFlagGuard guard(ir);
  ir.clearFastMathFlags(); // no pass may merge two roundings into one, which would call a library
  llvm::Type *from = value->getType()->getScalarType(), *f32 = ir.getFloatTy();
  if (from == element)
    return value;
  if (from->isBFloatTy())
    return convertFloat(ir, floatOfBFloat(ir, value, width), element, width);
  if (isHalf(element) && from->isDoubleTy())
    return convertFloat(ir, oddFloatOfDouble(ir, value, width), element, width);
  if (isHalf(element) && from != f32)
    return convertFloat(ir, convertFloat(ir, value, f32, width), element, width);
  if (element->isBFloatTy())
    return bfloatOfFloat(ir, value, width);
  if (from->isHalfTy() && element->isDoubleTy())
    return convertFloat(ir, convertFloat(ir, value, f32, width), element, width);
  return ir.CreateFPCast(value, vectorOf(element, width));
}

//===- Comparisons, divisions and the rest ------------------------------------------------------------------------===//

static llvm::CmpInst::Predicate predicate(arith::CmpFPredicate predicate) {
  // Both enumerations list false, oeq, ogt, oge, olt, ole, one, ord, then the unordered ones; only ueq..uno are ordered
  // differently.
  using P = arith::CmpFPredicate;
  using C = llvm::CmpInst;
  static const std::pair<P, C::Predicate> rows[] = {
      {P::AlwaysFalse, C::FCMP_FALSE}, {P::OEQ, C::FCMP_OEQ}, {P::OGT, C::FCMP_OGT}, {P::OGE, C::FCMP_OGE},
      {P::OLT, C::FCMP_OLT},           {P::OLE, C::FCMP_OLE}, {P::ONE, C::FCMP_ONE}, {P::ORD, C::FCMP_ORD},
      {P::UEQ, C::FCMP_UEQ},           {P::UGT, C::FCMP_UGT}, {P::UGE, C::FCMP_UGE}, {P::ULT, C::FCMP_ULT},
      {P::ULE, C::FCMP_ULE},           {P::UNE, C::FCMP_UNE}, {P::UNO, C::FCMP_UNO}, {P::AlwaysTrue, C::FCMP_TRUE}};
  return llvm::find_if(rows, [&](auto &row) { return row.first == predicate; })->second;
}

static llvm::CmpInst::Predicate predicate(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  using C = llvm::CmpInst;
  static const std::pair<P, C::Predicate> rows[] = {{P::eq, C::ICMP_EQ},   {P::ne, C::ICMP_NE},   {P::slt, C::ICMP_SLT},
                                                    {P::sle, C::ICMP_SLE}, {P::sgt, C::ICMP_SGT}, {P::sge, C::ICMP_SGE},
                                                    {P::ult, C::ICMP_ULT}, {P::ule, C::ICMP_ULE}, {P::ugt, C::ICMP_UGT},
                                                    {P::uge, C::ICMP_UGE}};
  for (auto [ours, theirs] : rows)
    if (ours == predicate)
      return theirs;
  llvm_unreachable("every predicate has a row");
}

/// x / y and x % y, which are 0 where y is 0; y = -1 negates. No lane traps, whatever it holds.
static llvm::Value *divide(llvm::IRBuilder<> &ir, StringRef name, llvm::Value *x, llvm::Value *y) {
  llvm::Type *type = x->getType();
  llvm::Value *zero = llvm::ConstantInt::get(type, 0), *one = llvm::ConstantInt::get(type, 1),
              *minusOne = llvm::Constant::getAllOnesValue(type);
  llvm::Value *isZero = ir.CreateICmpEQ(y, zero);
  if (name.ends_with("ui")) {
    llvm::Value *divisor = ir.CreateSelect(isZero, one, y);
    return name == "arith.divui" ? ir.CreateSelect(isZero, zero, ir.CreateUDiv(x, divisor)) : ir.CreateURem(x, divisor);
  }
  llvm::Value *isMinusOne = ir.CreateICmpEQ(y, minusOne);
  llvm::Value *divisor = ir.CreateSelect(ir.CreateOr(isZero, isMinusOne), one, y);
  if (name == "arith.remsi")
    return ir.CreateSRem(x, divisor); // by 1: 0
  llvm::Value *quotient = ir.CreateSelect(isMinusOne, ir.CreateNeg(x), ir.CreateSDiv(x, divisor));
  if (name != "arith.divsi") {
    llvm::Value *rest = ir.CreateSub(x, ir.CreateMul(quotient, y));
    bool isFloor = name == "arith.floordivsi";
    llvm::Value *differ = ir.CreateICmpSLT(ir.CreateXor(rest, y), zero);
    llvm::Value *adjust = ir.CreateAnd(ir.CreateICmpNE(rest, zero), isFloor ? differ : ir.CreateNot(differ));
    llvm::Value *step = ir.CreateZExt(adjust, type);
    quotient = isFloor ? ir.CreateSub(quotient, step) : ir.CreateAdd(quotient, step);
  }
  return ir.CreateSelect(isZero, zero, quotient);
}

static llvm::Value *classify(llvm::IRBuilder<> &ir, StringRef name, llvm::Value *x) {
  if (name == "math.isnan")
    return ir.CreateFCmpUNO(x, x);
  llvm::Value *infinity = llvm::ConstantFP::getInfinity(x->getType()),
              *size = ir.CreateUnaryIntrinsic(intrinsic::fabs, x);
  return name == "math.isinf" ? ir.CreateFCmpOEQ(size, infinity) : ir.CreateFCmpOLT(size, infinity);
}

static std::optional<double> splatOf(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>().convertToDouble();
}

/// Whether a conversion's operand is clamped to a range that its result type can represent, as quantization does: then
/// the conversion need not saturate.
static bool isClamped(Operation *convert) {
  auto most = convert->getOperand(0).getDefiningOp<arith::MinNumFOp>();
  auto least = most ? most.getLhs().getDefiningOp<arith::MaxNumFOp>() : arith::MaxNumFOp();
  if (!least || getElementTypeOrSelf(convert->getResult(0)).getIntOrFloatBitWidth() < 32)
    return false;
  std::optional<double> low = splatOf(least.getRhs()), high = splatOf(most.getRhs());
  return low && high && *low >= -(1 << 30) && *high <= (1 << 30);
}

/// x / y for a quantization's constant y: the quotient by the reciprocal, corrected by its remainder (Markstein 1990),
/// which is the correctly rounded quotient for all but a few y, and then next to it. Where the quotient is no finite
/// number, there is nothing to correct.
static llvm::Value *divideByConstant(llvm::IRBuilder<> &ir, llvm::Value *x, llvm::Value *y, double divisor) {
  llvm::Type *type = x->getType();
  llvm::Value *reciprocal = llvm::ConstantFP::get(type, 1.0f / static_cast<float>(divisor));
  llvm::Value *quotient = ir.CreateFMul(x, reciprocal);
  llvm::Value *rest = ir.CreateIntrinsic(intrinsic::fma, {type}, {ir.CreateFNeg(quotient), y, x});
  llvm::Value *corrected = ir.CreateIntrinsic(intrinsic::fma, {type}, {rest, reciprocal, quotient});
  return ir.CreateSelect(ir.CreateFCmpORD(rest, rest), corrected, quotient);
}

static bool dividesToQuantize(Operation *op) {
  std::optional<double> divisor = isa<arith::DivFOp>(op) && op->hasOneUse() ? splatOf(op->getOperand(1)) : std::nullopt;
  return divisor && isa<math::RoundEvenOp>(*op->user_begin()) && std::abs(*divisor) > 1e-30 &&
         std::abs(*divisor) < 1e30 && getElementTypeOrSelf(op->getResult(0)).isF32();
}

/// p 2^n for whole n, rounded once: AVX-512's vscalefps.
static llvm::Value *scaleByPower(llvm::IRBuilder<> &ir, llvm::Value *p, llvm::Value *n) {
  constexpr int currentRounding = 4;
  auto *vector = dyn_cast<llvm::FixedVectorType>(n->getType());
  unsigned width = vector ? vector->getNumElements() : 1, lanes = width <= 4 ? 4 : width <= 8 ? 8 : 16;
  if (width > lanes) {
    auto half = [&](unsigned first) {
      SmallVector<int> places(width / 2);
      std::iota(places.begin(), places.end(), first);
      return scaleByPower(ir, ir.CreateShuffleVector(p, places), ir.CreateShuffleVector(n, places));
    };
    return llvm::concatenateVectors(ir, {half(0), half(width / 2)});
  }
  auto *type = llvm::FixedVectorType::get(ir.getFloatTy(), lanes);
  SmallVector<int> padding(lanes, -1);
  std::iota(padding.begin(), padding.begin() + width, 0);
  auto padded = [&](llvm::Value *value) {
    return !vector          ? ir.CreateInsertElement(llvm::PoisonValue::get(type), value, uint64_t(0))
           : width == lanes ? value
                            : ir.CreateShuffleVector(value, padding);
  };
  SmallVector<llvm::Value *> operands = {padded(p), padded(n), llvm::Constant::getNullValue(type),
                                         llvm::ConstantInt::getAllOnesValue(ir.getIntNTy(lanes == 16 ? 16 : 8))};
  if (lanes == 16)
    operands.push_back(ir.getInt32(currentRounding));
  ID scale = lanes == 16  ? intrinsic::x86_avx512_mask_scalef_ps_512
             : lanes == 8 ? intrinsic::x86_avx512_mask_scalef_ps_256
                          : intrinsic::x86_avx512_mask_scalef_ps_128;
  llvm::Value *scaled = ir.CreateIntrinsic(scale, {}, operands);
  return !vector          ? ir.CreateExtractElement(scaled, uint64_t(0))
         : width == lanes ? scaled
                          : ir.CreateShuffleVector(scaled, ArrayRef(padding).take_front(width));
}

/// Whether `op` adds to a loop-carried sum.
static bool addsToSum(Operation *op) {
  return isa<arith::AddFOp>(op) && llvm::any_of(op->getOperands(), [](Value operand) {
           auto argument = dyn_cast<BlockArgument>(operand);
           return argument && isa<scf::ForOp>(argument.getOwner()->getParentOp());
         });
}

/// The factors of `product` if it is x times a power of two of at most 1. That is exact, unless it is subnormal.
static std::optional<std::pair<llvm::Value *, llvm::Value *>> exactFactors(llvm::Value *product) {
  using namespace llvm::PatternMatch;
  llvm::Value *x = nullptr;
  const llvm::APFloat *factor = nullptr;
  if (!match(product, m_c_FMul(m_Value(x), m_APFloat(factor))) || factor->getExactLog2() == INT_MIN ||
      factor->getExactLog2() > 0)
    return std::nullopt;
  return std::pair(x, llvm::ConstantFP::get(product->getType(), *factor));
}

/// A product and an addition to it are rounded separately, as in the model, because a comparison behind them may depend
/// on the last bit. Only loop-carried sums may be contracted to fma, and left operands that are not rounded.
static llvm::Value *emitBinary(llvm::IRBuilder<> &ir, Operation *op, llvm::Instruction::BinaryOps opcode,
                               ArrayRef<llvm::Value *> v) {
  bool isSum = isa<arith::AddFOp, arith::SubFOp>(op) && !addsToSum(op);
  if (auto factors = isSum ? exactFactors(v[0]) : std::nullopt)
    return ir.CreateIntrinsic(intrinsic::fma, {v[0]->getType()},
                              {factors->first, factors->second, isa<arith::SubFOp>(op) ? ir.CreateFNeg(v[1]) : v[1]});
  llvm::IRBuilder<>::FastMathFlagGuard guard(ir);
  llvm::FastMathFlags flags = ir.getFastMathFlags();
  if (isSum)
    flags.setAllowContract(false);
  ir.setFastMathFlags(flags);
  return ir.CreateBinOp(opcode, v[0], v[1]);
}

/// Emits `op` on operands that are not of half types.
static llvm::Value *emitWide(llvm::IRBuilder<> &ir, Operation *op, ArrayRef<llvm::Value *> v, llvm::Type *result) {
  StringRef name = op->getName().getStringRef();
  if (dividesToQuantize(op))
    return divideByConstant(ir, v[0], v[1], *splatOf(op->getOperand(1)));
  if (exponentOfScale(op))
    return scaleByPower(ir, v[0], v[1]);
  if (const InstructionRow *row = find(binaryRows, op))
    return emitBinary(ir, op, row->opcode, v);
  if (const IntrinsicRow *row = find(intrinsicRows, op)) {
    llvm::IRBuilder<>::FastMathFlagGuard guard(ir);
    llvm::FastMathFlags flags = ir.getFastMathFlags();
    flags.setNoSignedZeros(); // max(-0, +0) may be either zero, which takes half the instructions
    if (v[0]->getType()->isFPOrFPVectorTy() && v.size() == 2 && row->intrinsic != intrinsic::copysign)
      ir.setFastMathFlags(flags);
    return ir.CreateIntrinsic(row->intrinsic, {v[0]->getType()}, v);
  }
  if (const CastRow *row = find(castRows, op))
    return ir.CreateCast(row->opcode, v[0], result);
  if (name == "arith.fptosi" && isClamped(op))
    return ir.CreateFPToSI(v[0], result);
  if (name == "arith.fptosi" || name == "arith.fptoui") { // saturates; NaN gives 0
    ID convert = name == "arith.fptosi" ? intrinsic::fptosi_sat : intrinsic::fptoui_sat;
    return ir.CreateIntrinsic(convert, {result, v[0]->getType()}, {v[0]});
  }
  if (name == "arith.negf")
    return ir.CreateFNeg(v[0]);
  if (name == "math.exp2") // of a whole number: the only one that MathExpansion leaves here
    return scaleByPower(ir, llvm::ConstantFP::get(v[0]->getType(), 1.0), v[0]);
  if (name == "arith.select")
    return ir.CreateSelect(v[0], v[1], v[2]);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return ir.CreateFCmp(predicate(compare.getPredicate()), v[0], v[1]);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return ir.CreateICmp(predicate(compare.getPredicate()), v[0], v[1]);
  if (name == "arith.index_cast" || name == "arith.index_castui")
    return ir.CreateIntCast(v[0], result, name == "arith.index_cast");
  if (name == "math.absi")
    return ir.CreateIntrinsic(intrinsic::abs, {v[0]->getType()}, {v[0], ir.getFalse()});
  if (name.starts_with("math.is"))
    return classify(ir, name, v[0]);
  return divide(ir, name, v[0], v[1]);
}

Value exponentOfScale(Operation *op) {
  auto product = dyn_cast<arith::MulFOp>(op); // an edited stage may have the attribute anywhere
  if (!product || !product->hasAttr(scalesAttr) || !getElementTypeOrSelf(product.getType()).isF32())
    return {};
  auto power = product.getRhs().getDefiningOp<math::Exp2Op>();
  return power && power->hasAttr(wholeAttr) ? power.getOperand() : Value();
}

llvm::Value *emitElementwise(llvm::IRBuilder<> &ir, Operation *op, ArrayRef<llvm::Value *> operands, unsigned width) {
  if (!isElementwise(op))
    return nullptr;
  llvm::Type *element = elementType(ir.getContext(), op->getResult(0).getType());
  StringRef name = op->getName().getStringRef();
  if (name == "arith.extf" || name == "arith.truncf")
    return convertFloat(ir, operands[0], element, width);
  if (name == "arith.select" || name == "arith.bitcast")
    return emitWide(ir, op, operands, vectorOf(element, width));
  SmallVector<llvm::Value *> wide;
  for (llvm::Value *operand : operands)
    wide.push_back(isHalf(operand->getType()) ? convertFloat(ir, operand, ir.getFloatTy(), width) : operand);
  llvm::Type *wideElement = isHalf(element) ? ir.getFloatTy() : element;
  llvm::Value *result = emitWide(ir, op, wide, vectorOf(wideElement, width));
  return isHalf(element) ? convertFloat(ir, result, element, width) : result;
}

} // namespace tilewright::host
