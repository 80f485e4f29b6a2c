// SPDX-License-Identifier: Apache-2.0
// Each rule of the plan verifier, broken once.
#include "runtime/plan/PlanVerifier.h"
#include "tests/runtime/SamplePlans.h"

#include <functional>
#include <gtest/gtest.h>

namespace tilewright::runtime {

struct Breakage {
  const char *name;
  std::function<void(Contents &, Plan &)> apply;
  const char *expected; // part of the sentence
};

using S = SampleContents;

static Launch &launchOf(Plan &plan) { return std::get<Launch>(plan.steps[1]); }
static HostCall &callOf(Plan &plan) { return std::get<HostCall>(plan.steps[0]); }

static const Breakage breakages[] = {
    {"NoPlan", [](Contents &c, Plan &) { c.plans.clear(); }, "it has no plan"},
    {"TwoPlansForOneKey", [](Contents &c, Plan &) { c.plans.push_back(c.plans[0]); },
     "two plans for target 'host' and fusion mode 'all'"},
    {"OperandAfterItsNode", [](Contents &, Plan &p) { p.exprs.push_back({ExprKind::Add, 0, 99}); },
     "operand that does not come before it"},
    {"NegativeOperand", [](Contents &, Plan &p) { p.exprs.push_back({ExprKind::Add, -1, 0}); },
     "operand that does not come before it"},
    {"UnknownSymbol", [](Contents &, Plan &p) { p.exprs.push_back({ExprKind::Symbol, 5, 0}); }, "names symbol 5 of 1"},
    {"StringValue", [](Contents &, Plan &p) { p.values[S::t].dtype = DType::String; },
     "passes the string 't' to a kernel"},
    {"UndefinedDType", [](Contents &, Plan &p) { p.values[S::t].dtype = static_cast<DType>(0); },
     "value 't' has an element type"},
    {"DTypeAfterTheLast", [](Contents &, Plan &p) { p.values[S::t].dtype = static_cast<DType>(27); },
     "value 't' has an element type"},
    {"GapInDTypes", [](Contents &, Plan &p) { p.values[S::t].dtype = static_cast<DType>(99); },
     "value 't' has an element type"},
    {"DimensionOutOfRange", [](Contents &, Plan &p) { p.values[S::t].dims[0] = 77; },
     "value 't' has a dimension without an expression"},
    {"AliasOfItself", [](Contents &, Plan &p) { p.values[S::t] = {"t", DType::F32, ValueKind::Alias, {}, S::t, 0}; },
     "alias 't' does not come after"},
    {"AliasWithoutOffset",
     [](Contents &, Plan &p) { p.values[S::t] = {"t", DType::F32, ValueKind::Alias, {}, S::x, none}; },
     "alias 't' has no byte offset"},
    {"InputNumberedWrong", [](Contents &, Plan &p) { p.values[S::x].source = 1; }, "value 'x' is not the input"},
    {"ConstantOutsideThePool", [](Contents &, Plan &p) { p.values[S::w].source = 1; },
     "constant 'w' names entry 1 of a pool of 1"},
    {"ConstantOfAnotherSize", [](Contents &, Plan &p) { p.values[S::w].dtype = DType::F64; },
     "constant 'w' has 32 bytes"},
    {"ConstantOfSymbolicSize", [](Contents &, Plan &p) { p.values[S::w].dims[0] = 0; },
     "dimension that is not a constant size"},
    {"OutputListedAsInput", [](Contents &, Plan &p) { p.inputs.push_back(S::y); }, "listed as an input but is none"},
    {"SymbolOfAnotherDimension", [](Contents &, Plan &p) { p.symbols[0].dim = 1; },
     "symbol 'batch' is not dimension 1 of input 0"},
    {"SymbolNeverBound", [](Contents &, Plan &p) { p.symbols.push_back({"ghost", none, 0}); },
     "symbol 'ghost' is bound 0 times"},
    {"SymbolBoundTwice", [](Contents &, Plan &p) { callOf(p).binds = {{0, 0, 0}}; }, "symbol 'batch' is bound 2 times"},
    {"BindOfAnotherDimension", [](Contents &, Plan &p) { callOf(p).binds = {{0, 1, 0}}; },
     "binds a symbol that is not dimension 1"},
    {"CodeOutOfRange", [](Contents &, Plan &p) { p.kernels[0].code = 3; }, "names code object 3 of 1"},
    {"CodeForAnotherTarget", [](Contents &, Plan &p) { p.target = "sm_90a"; },
     "is code for host, its plan is for sm_90a"},
    {"CodeOfAnotherKind", [](Contents &c, Plan &) { c.code[0].kind = CodeKind::Ptx; },
     "of a kind that this target does not run"},
    {"MissingEntry", [](Contents &, Plan &p) { p.kernels[0].entry = "ghost"; }, "has no entry 'ghost'"},
    {"EntryWithASpace", [](Contents &, Plan &p) { p.kernels[0].entry = "a b"; }, "has no proper entry name"},
    {"EntryOutsideTheCode", [](Contents &c, Plan &) { c.code[0].symbols[0].offset = 1 << 30; }, "outside its"},
    {"EmptyBlock", [](Contents &, Plan &p) { p.kernels[0].block[1] = 0; }, "impossible block or cluster size"},
    {"ReservedFlags", [](Contents &, Plan &p) { p.kernels[0].flags = 2; },
     "launch flags that this version does not know"},
    {"GroupProduct", [](Contents &, Plan &p) { p.groups[0].products = {{0, 0, 0, 99}}; },
     "group 'add' names an expression"},
    {"GroupExpression", [](Contents &, Plan &p) { p.groups[0].flops = 99; }, "group 'add' names an expression"},
    {"GroupOutOfRange", [](Contents &, Plan &p) { launchOf(p).group = 9; }, "step 1 names group 9 of 1"},
    {"KernelOutOfRange", [](Contents &, Plan &p) { launchOf(p).kernel = 9; }, "step 1 launches kernel 9 of 1"},
    {"ArgumentMissing", [](Contents &, Plan &p) { launchOf(p).buffers.pop_back(); }, "passes 2 buffers and 1 scalars"},
    {"ScalarOutOfRange", [](Contents &, Plan &p) { launchOf(p).scalars[0] = 99; }, "step 1 names expression 99"},
    {"GridMissing", [](Contents &, Plan &p) { launchOf(p).grid[2] = none; }, "step 1 names expression"},
    {"WorkspaceOutOfRange", [](Contents &, Plan &p) { launchOf(p).workspaceBytes = 99; }, "step 1 names expression 99"},
    {"TensorMapTooMany",
     [](Contents &, Plan &p) { launchOf(p).tensorMaps.push_back({0, 0, {0}, {0}, {1}, 0, {}, {}, {}}); },
     "step 1 passes 1 tensor maps to 'add__f32__host', which takes 0"},
    {"TensorMapOfNoBuffer",
     [](Contents &, Plan &p) {
       p.kernels[0].tensorMaps = 1;
       launchOf(p).tensorMaps.push_back({9, 0, {0}, {0}, {1}, 0, {}, {}, {}});
     },
     "step 1 has a tensor map of buffer 9 of 3"},
    {"TensorMapOfManyDimensions",
     [](Contents &, Plan &p) {
       p.kernels[0].tensorMaps = 1;
       launchOf(p).tensorMaps.push_back({0, 0, {0, 0, 0, 0, 0, 0}, {0}, {1}, 0, {}, {}, {}});
     },
     "step 1 has a tensor map of 6 sizes, 1 strides and a box of 1"},
    {"TensorMapOfNoExpression",
     [](Contents &, Plan &p) {
       p.kernels[0].tensorMaps = 1;
       launchOf(p).tensorMaps.push_back({0, 99, {0}, {0}, {1}, 0, {}, {}, {}});
     },
     "step 1 names expression 99"},
    {"TensorMapOfPixelsWithoutSteps",
     [](Contents &, Plan &p) {
       p.kernels[0].tensorMaps = 1;
       launchOf(p).tensorMaps.push_back({0, 0, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 0, {-1}, {1}, {0}});
     },
     "step 1 has a tensor map of 3 sizes whose pixels have 1 and 1 corners and 1 steps"},
    {"TensorMapOfUnknownRounding",
     [](Contents &, Plan &p) {
       p.kernels[0].tensorMaps = 1;
       launchOf(p).tensorMaps.push_back({0, 0, {0}, {0}, {1}, 2, {}, {}, {}});
     },
     "step 1 has a tensor map with rounding 2 of 't', which is float32"},
    {"TensorMapThatRoundsIntegers",
     [](Contents &, Plan &p) {
       p.kernels[0].tensorMaps = 1;
       p.values[S::t].dtype = DType::I32;
       launchOf(p).tensorMaps.push_back({0, 0, {0}, {0}, {1}, 1, {}, {}, {}});
     },
     "step 1 has a tensor map with rounding 1 of 't', which is int32"},
    {"BufferOutOfRange", [](Contents &, Plan &p) { launchOf(p).buffers[0] = 99; }, "step 1 names value 99"},
    {"WritesAnInput", [](Contents &, Plan &p) { launchOf(p).buffers[2] = S::x; },
     "step 1 writes 'x', which is an input"},
    {"WritesAConstant", [](Contents &, Plan &p) { launchOf(p).buffers[2] = S::w; },
     "step 1 writes 'w', which is a constant"},
    {"ReadBeforeWrite", [](Contents &, Plan &p) { std::swap(p.steps[0], p.steps[1]); },
     "step 0 reads 't' before any step has written it"},
    {"OutputNotWritten", [](Contents &, Plan &p) { p.steps.pop_back(); }, "output 'y' is written by no step"},
    {"GuardWithoutMessage", [](Contents &, Plan &p) { p.steps.push_back(Guard{Relation::Less, 0, 0, ""}); },
     "guard without a message"},
    {"DimsIntoFloats", [](Contents &, Plan &p) { p.steps.push_back(WriteDims{S::t, {0}}); },
     "writes dimensions into 't', which is not int64"},
    {"SizesReadFromFloats", [](Contents &, Plan &p) { p.steps.push_back(ReadSizes{S::t, {}, "node"}); },
     "reads sizes from 't', which is no int64"},
    {"SizeOfAnElementThatIsNotThere",
     [](Contents &, Plan &p) { p.steps.push_back(ReadSizes{S::t, {{0, 0, 0}}, "node"}); },
     "binds a symbol that is not one of the elements"},
    {"SizeNeededBeforeItIsBound",
     [](Contents &, Plan &p) {
       // 'count' is bound by a call at the end, but the launch already needs it.
       p.symbols.push_back({"count", none, 0});
       ExprId count = ExprBuilder(p.exprs).symbol(1);
       launchOf(p).scalars[0] = count;
       auto id = static_cast<ValueId>(p.values.size());
       p.values.push_back({"n", DType::I64, ValueKind::Temporary, {count}, none, none});
       HostCall call = callOf(p);
       call.outputs = {id};
       call.binds = {{0, 0, 1}};
       p.steps.push_back(call);
     },
     "needs expression"},
    {"ZeroedOfUnknownSize",
     [](Contents &, Plan &p) {
       p.values[S::t].kind = ValueKind::Zeroed; // of [batch, 4]
     },
     "has no constant size"},
    {"PlansWithOtherInterfaces",
     [](Contents &c, Plan &) {
       c.plans.push_back(c.plans[0]);
       c.plans[1].mode = "none";
       c.plans[1].values[S::x].name = "other";
     },
     "differ in name, type or rank"},
};

class PlanVerifier : public testing::TestWithParam<Breakage> {};

TEST_P(PlanVerifier, Refuses) {
  SampleContents sample;
  GetParam().apply(sample.contents, sample.contents.plans[0]);
  Status status = verifyContents(sample.contents);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), Code::Malformed);
  EXPECT_NE(status.message().find(GetParam().expected), std::string::npos) << status.message();
}

INSTANTIATE_TEST_SUITE_P(, PlanVerifier, testing::ValuesIn(breakages),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(PlanVerifierAccepts, TheSample) { EXPECT_EQ(verifyContents(SampleContents().contents).message(), ""); }

TEST(PlanVerifierAccepts, SymbolsBoundWhileRunning) {
  SampleContents sample;
  Plan &plan = sample.contents.plans[0];
  plan.symbols.push_back({"count", none, 0});
  ExprId count = ExprBuilder(plan.exprs).symbol(1);
  auto id = static_cast<ValueId>(plan.values.size());
  plan.values.push_back({"n", DType::I64, ValueKind::Temporary, {count}, none, none});
  HostCall call = callOf(plan);
  call.outputs = {id};
  call.binds = {{0, 0, 1}};
  plan.steps.insert(plan.steps.begin(), call);
  std::get<Launch>(plan.steps[2]).scalars[0] = count;
  EXPECT_EQ(verifyContents(sample.contents).message(), "");
}

} // namespace tilewright::runtime
