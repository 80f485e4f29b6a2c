// SPDX-License-Identifier: Apache-2.0
// Branches and loops as plans written by hand: what they compute, what they bind, and what the verifier refuses.
#include "runtime/Devices.h"
#include "runtime/artifact/ArtifactWriter.h"
#include "runtime/execute/Context.h"
#include "runtime/plan/PlanVerifier.h"
#include "tests/runtime/TestKernels.h"

#include <gtest/gtest.h>

namespace tilewright::runtime {
namespace {

/// A plan under construction: values by name, host calls by operator.
struct Builder {
  Plan plan;
  std::vector<Expr> &exprs = plan.exprs;

  Builder() { plan.target = "host", plan.mode = "all"; }
  Builder(const Builder &) = delete;

  ExprBuilder build() { return ExprBuilder(plan.exprs); }
  ExprId number(int64_t value) { return build().constant(value); }
  ExprId symbol(const std::string &name, uint32_t input = none, uint32_t dim = 0) {
    plan.symbols.push_back({name, input, dim});
    return build().symbol(static_cast<int64_t>(plan.symbols.size()) - 1);
  }
  ValueId value(ValueKind kind, DType type, std::vector<ExprId> dims) {
    auto id = static_cast<ValueId>(plan.values.size());
    std::vector<ValueId> *list = kind == ValueKind::Input    ? &plan.inputs
                                 : kind == ValueKind::Output ? &plan.outputs
                                                             : nullptr;
    plan.values.push_back({"v" + std::to_string(id), type, kind, std::move(dims),
                           list ? static_cast<uint32_t>(list->size()) : none, none});
    if (list)
      list->push_back(id);
    return id;
  }
  ValueId input(DType type, std::vector<ExprId> dims) { return value(ValueKind::Input, type, std::move(dims)); }
  ValueId output(DType type, std::vector<ExprId> dims) { return value(ValueKind::Output, type, std::move(dims)); }
  HostCall &call(const std::string &op, std::vector<ValueId> inputs, ValueId output) {
    plan.steps.push_back(HostCall{op, "", 17, {}, std::move(inputs), {output}, {}, op, none});
    return std::get<HostCall>(plan.steps.back());
  }
};

Contents contentsOf(const Builder &builder) {
  Contents contents;
  contents.plans = {builder.plan};
  return contents;
}

Tensor floats(Shape shape, std::vector<float> values) {
  Tensor tensor = Tensor::allocate(DType::F32, std::move(shape));
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}
template <typename T> Tensor scalar(DType type, T value) {
  Tensor tensor = Tensor::allocate(type, {});
  *tensor.data<T>() = value;
  return tensor;
}
std::vector<float> elements(const Tensor &tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.count()};
}

/// Serializes and reads the artifact, so that every case covers the writer, the reader and the verifier.
std::unique_ptr<Context> load(const Contents &contents, const std::string &device = "host") {
  Expected<std::vector<std::byte>> bytes = serializeArtifact(contents);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  Expected<Artifact> artifact = Artifact::fromBytes(*bytes);
  EXPECT_TRUE(artifact.ok()) << artifact.status().message();
  auto opened = openDevice(device);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  auto program = Program::create(*artifact, (*opened)->info());
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(*Context::create(*program, *opened));
}

std::vector<Tensor> run(Context &context, std::vector<Tensor> inputs) {
  Expected<std::vector<Tensor>> outputs = context.run(inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs ? *outputs : std::vector<Tensor>();
}

/// y = c ? x + x : -x, for x of [n].
void branchPlan(Builder &outer) {
  ExprId n = outer.symbol("n", 1, 0);
  ValueId condition = outer.input(DType::Bool, {}), x = outer.input(DType::F32, {n}), y = outer.output(DType::F32, {n});
  for (std::string op : {"Add", "Neg"}) {
    Builder body;
    ExprId inside = body.symbol("n");
    body.plan.givenSymbols = 1;
    ValueId in = body.input(DType::F32, {inside}), out = body.output(DType::F32, {inside});
    body.call(op, op == "Add" ? std::vector{in, in} : std::vector{in}, out);
    outer.plan.bodies.push_back(body.plan);
  }
  outer.plan.steps.push_back(Branch{condition, {0, {n}, {x}}, {1, {n}, {x}}, {y}, {}, "if", none});
}

TEST(Branch, RunsOneOfTwoBodies) {
  for (const char *device : {"host", "null:host"}) {
    Builder builder;
    branchPlan(builder);
    std::unique_ptr<Context> context = load(contentsOf(builder), device);
    Tensor x = floats({3}, {1, -2, 3});
    for (int turn = 0; turn < 3; ++turn) { // the second and third run reuse memory
      EXPECT_EQ(elements(run(*context, {scalar<uint8_t>(DType::Bool, 1), x})[0]), (std::vector<float>{2, -4, 6}))
          << device;
      EXPECT_EQ(elements(run(*context, {scalar<uint8_t>(DType::Bool, 0), x})[0]), (std::vector<float>{-1, 2, -3}))
          << device;
    }
  }
}

TEST(Branch, BindsSizesInWhichBodiesDiffer) {
  Builder builder;
  ExprId n = builder.symbol("n", 1, 0), u = builder.symbol("u");
  ValueId condition = builder.input(DType::Bool, {}), x = builder.input(DType::F32, {n}),
          late = builder.value(ValueKind::Temporary, DType::F32, {u}), y = builder.output(DType::F32, {u});
  for (int64_t factor : {1, 2}) {
    Builder body;
    ExprId inside = body.symbol("n", 0, 0); // bound by the capture, not given
    ValueId in = body.input(DType::F32, {inside}),
            out = body.output(DType::F32, {body.build().mul(inside, body.number(factor))});
    body.call("Concat", factor == 1 ? std::vector{in} : std::vector{in, in}, out).attributes["axis"] = int64_t{0};
    builder.plan.bodies.push_back(body.plan);
  }
  builder.plan.steps.push_back(Branch{condition, {0, {}, {x}}, {1, {}, {x}}, {late}, {{0, 0, 1}}, "if", none});
  builder.call("Neg", {late}, y);
  std::unique_ptr<Context> context = load(contentsOf(builder));
  EXPECT_EQ(elements(run(*context, {scalar<uint8_t>(DType::Bool, 0), floats({2}, {1, 2})})[0]),
            (std::vector<float>{-1, -2, -1, -2}));
  EXPECT_EQ(elements(run(*context, {scalar<uint8_t>(DType::Bool, 1), floats({2}, {1, 2})})[0]),
            (std::vector<float>{-1, -2}));
  EXPECT_EQ(run(*context, {scalar<uint8_t>(DType::Bool, 0), floats({5}, {1, 2, 3, 4, 5})})[0].shape(), Shape{10});
}

/// Sizes that a body refuses, here an x of other than two elements, are taken by the program's other plan. It is chosen
/// for the whole of the model, not for the body, which has no inputs and outputs of its own.
TEST(Branch, SizesThatABodyRefusesAreTakenByTheOtherPlan) {
  for (const char *device : {"host", "null:host"}) {
    Builder first, second;
    branchPlan(first), branchPlan(second);
    Plan &body = first.plan.bodies[0];
    ExprBuilder inside(body.exprs);
    body.steps.insert(body.steps.begin(),
                      Guard{Relation::Equal, inside.symbol(0), inside.constant(2), "node 'add': expected two"});
    second.plan.mode += broadcastingSuffix;
    Contents contents;
    contents.plans = {first.plan, second.plan};
    std::unique_ptr<Context> context = load(contents, device);
    for (int64_t count : {2, 3, 2}) {
      Tensor x = floats({count}, std::vector<float>(count, 4));
      EXPECT_EQ(elements(run(*context, {scalar<uint8_t>(DType::Bool, 1), x})[0]), std::vector<float>(count, 8));
      EXPECT_EQ(context->program().plan().mode, count == 2 ? "all" : "all+broadcast");
      EXPECT_EQ(elements(run(*context, {scalar<uint8_t>(DType::Bool, 0), x})[0]), std::vector<float>(count, -4));
      EXPECT_EQ(context->program().plan().mode, "all");
    }
  }
}

/// sum, terms = loop of `trips` iterations: sum = sum + x, collecting -sum; sum and x of [2].
void sumPlan(Builder &outer, bool late) {
  ExprId two = outer.number(2), trips = late ? outer.symbol("u") : outer.number(3);
  ValueId count = outer.input(DType::I64, {}), start = outer.input(DType::F32, {two}),
          x = outer.input(DType::F32, {two});
  ValueId total = outer.output(DType::F32, {two}), terms = outer.output(DType::F32, {trips, two});
  Builder body;
  ExprId width = body.number(2);
  body.input(DType::I64, {}), body.input(DType::Bool, {});
  ValueId sum = body.input(DType::F32, {width}), addend = body.input(DType::F32, {width});
  ValueId next = body.output(DType::F32, {width}), term = body.output(DType::F32, {width});
  body.call("Add", {sum, addend}, next);
  body.call("Neg", {next}, term);
  outer.plan.bodies.push_back(body.plan);
  Loop loop;
  loop.tripCount = count, loop.conditional = false, loop.carried = {start}, loop.body = {0, {}, {x}};
  loop.finals = {total}, loop.collected = {{terms, false}}, loop.node = "loop";
  if (late)
    loop.binds = {{1, 0, 0}};
  outer.plan.steps.push_back(loop);
}

TEST(Loop, CarriesAndCollects) {
  for (const char *device : {"host", "null:host"})
    for (bool late : {false, true}) {
      Builder builder;
      sumPlan(builder, late);
      std::unique_ptr<Context> context = load(contentsOf(builder), device);
      for (int turn = 0; turn < 3; ++turn) {
        std::vector<Tensor> outputs =
            run(*context, {scalar<int64_t>(DType::I64, 3), floats({2}, {0, 1}), floats({2}, {1, 2})});
        ASSERT_EQ(outputs.size(), 2u);
        EXPECT_EQ(elements(outputs[0]), (std::vector<float>{3, 7})) << device;
        EXPECT_EQ(elements(outputs[1]), (std::vector<float>{-1, -3, -2, -5, -3, -7})) << device;
      }
    }
}

TEST(Loop, WhatItsBodyDoesCountsOnceATurn) {
  Builder builder;
  sumPlan(builder, true);
  Plan &body = builder.plan.bodies[0];
  ExprBuilder build(body.exprs);
  body.groups.push_back({"add", "pointwise", {"add|Add"}, build.constant(24), build.constant(2), {}, {}});
  std::get<HostCall>(body.steps[0]).group = 0;
  std::unique_ptr<Context> context = load(contentsOf(builder));
  for (int64_t trips : {0, 1, 7}) {
    Tensor count = scalar<int64_t>(DType::I64, trips), start = floats({2}, {0, 1}), x = floats({2}, {1, 2});
    ASSERT_TRUE(context->run(std::vector{count, start, x}).ok());
    Expected<std::vector<StepProfile>> profile = context->profile();
    ASSERT_TRUE(profile.ok()) << profile.status().message();
    const Work &work = profile->front().work;
    EXPECT_EQ(work.hostCalls, 2u * trips);
    EXPECT_EQ(work.bytes, 24.0 * trips);
    EXPECT_EQ(work.flops, 2.0 * trips);
  }
}

TEST(Loop, WithoutATurnGivesWhatWasThere) {
  Builder builder;
  sumPlan(builder, true);
  std::unique_ptr<Context> context = load(contentsOf(builder));
  for (int64_t trips : {0, -4}) {
    std::vector<Tensor> outputs =
        run(*context, {scalar<int64_t>(DType::I64, trips), floats({2}, {8, 9}), floats({2}, {1, 2})});
    EXPECT_EQ(elements(outputs[0]), (std::vector<float>{8, 9}));
    EXPECT_EQ(outputs[1].shape(), (Shape{0, 2}));
  }
}

TEST(Loop, ResultsOfAnotherLengthThanThePlanSaysAreAnError) {
  Builder builder;
  sumPlan(builder, false);
  std::unique_ptr<Context> context = load(contentsOf(builder));
  std::vector<Tensor> inputs = {scalar<int64_t>(DType::I64, 2), floats({2}, {0, 0}), floats({2}, {1, 1})};
  Expected<std::vector<Tensor>> outputs = context->run(inputs);
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.status().code(), Code::Malformed);
  EXPECT_EQ(outputs.status().message(), "node 'loop': 'v4' would have the shape [2, 2], expected [3, 2]");
}

/// x = Concat(x, x) while the condition that the body computes is true: its size is below 20.
TEST(Loop, CarriesValuesThatGrowWhileACondtionHolds) {
  Builder builder;
  ExprId n = builder.symbol("n", 1, 0), u = builder.symbol("u");
  ValueId limit = builder.input(DType::I64, {}), x = builder.input(DType::F32, {n}),
          y = builder.output(DType::F32, {u});
  Builder body;
  ExprId inside = body.symbol("c", 2, 0);
  body.input(DType::I64, {}), body.input(DType::Bool, {});
  ValueId in = body.input(DType::F32, {inside}), most = body.input(DType::I64, {});
  ValueId goesOn = body.output(DType::Bool, {}),
          out = body.output(DType::F32, {body.build().mul(inside, body.number(2))});
  ValueId size = body.value(ValueKind::Temporary, DType::I64, {});
  body.call("Concat", {in, in}, out).attributes["axis"] = int64_t{0};
  body.call("Size", {out}, size);
  body.call("Less", {size, most}, goesOn);
  builder.plan.bodies.push_back(body.plan);
  Loop loop;
  loop.carried = {x}, loop.body = {0, {}, {limit}}, loop.finals = {y}, loop.binds = {{0, 0, 1}}, loop.node = "loop";
  builder.plan.steps.push_back(loop);
  for (const char *device : {"host", "null:host"}) {
    std::unique_ptr<Context> context = load(contentsOf(builder), device);
    EXPECT_EQ(run(*context, {scalar<int64_t>(DType::I64, 20), floats({3}, {1, 2, 3})})[0].shape(), Shape{24}) << device;
    std::vector<float> twice = elements(run(*context, {scalar<int64_t>(DType::I64, 1), floats({2}, {1, 2})})[0]);
    EXPECT_EQ(twice, (std::vector<float>{1, 2, 1, 2})) << device;
  }
}

TEST(Loop, ScansForwardsAndBackwards) {
  Builder builder;
  ExprId n = builder.symbol("n", 0, 0), two = builder.number(2);
  ValueId x = builder.input(DType::F32, {n, two}), y = builder.output(DType::F32, {n, two}),
          z = builder.output(DType::F32, {n, two});
  Builder body;
  ExprId width = body.number(2);
  ValueId forwards = body.input(DType::F32, {width}), backwards = body.input(DType::F32, {width});
  ValueId sum = body.output(DType::F32, {width}), kept = body.output(DType::F32, {width});
  body.call("Add", {forwards, backwards}, sum);
  body.call("Neg", {forwards}, kept);
  builder.plan.bodies.push_back(body.plan);
  Loop loop;
  loop.counted = loop.conditional = false, loop.scanned = {{x, false}, {x, true}}, loop.body = {0, {}, {}};
  loop.collected = {{y, false}, {z, true}}, loop.node = "scan";
  builder.plan.steps.push_back(loop);
  std::unique_ptr<Context> context = load(contentsOf(builder));
  std::vector<Tensor> outputs = run(*context, {floats({3, 2}, {1, 2, 3, 4, 5, 7})});
  EXPECT_EQ(elements(outputs[0]), (std::vector<float>{6, 9, 6, 8, 6, 9}));
  EXPECT_EQ(elements(outputs[1]), (std::vector<float>{-5, -7, -3, -4, -1, -2}));
}

/// Each iteration collects the slice of the one before, the last one first. Slices of 64 bytes are written to their
/// place in the result, others are copied there. Other sizes in between move the memory that recordings know of.
TEST(Loop, IsRecordedWhereItsIterationsAreKnown) {
  for (int64_t width : {2, 16}) {
    Builder builder, body;
    ExprId n = builder.symbol("n", 0, 0), columns = builder.number(width), inside = body.number(width);
    ValueId x = builder.input(DType::F32, {n, columns}), start = builder.input(DType::F32, {columns}),
            y = builder.output(DType::F32, {n, columns}), last = builder.output(DType::F32, {columns});
    ValueId before = body.input(DType::F32, {inside}), slice = body.input(DType::F32, {inside}),
            next = body.output(DType::F32, {inside}), kept = body.output(DType::F32, {inside});
    body.plan.steps = {Copy{next, slice}, Copy{kept, before}};
    builder.plan.bodies.push_back(body.plan);
    Loop loop;
    loop.counted = loop.conditional = false, loop.carried = {start}, loop.scanned = {{x, false}};
    loop.body = {0, {}, {}}, loop.finals = {last}, loop.collected = {{y, true}}, loop.node = "scan";
    builder.plan.steps.push_back(loop);
    std::unique_ptr<Context> context = load(contentsOf(builder), "null:host");
    float number = 0;
    for (int64_t rows : {3, 3, 3, 5, 3, 3, 9, 3, 3, 3, 9, 9, 9, 0, 0, 0, 9}) {
      Tensor whole = Tensor::allocate(DType::F32, {rows, width}), first = Tensor::allocate(DType::F32, {width});
      for (Tensor *tensor : {&first, &whole})
        for (int64_t i = 0; i < tensor->count(); ++i)
          tensor->data<float>()[i] = ++number;
      std::vector<float> all = elements(first), slices = elements(whole), expected;
      all.insert(all.end(), slices.begin(), slices.end());
      for (int64_t t = rows; t-- > 0;)
        expected.insert(expected.end(), all.begin() + t * width, all.begin() + (t + 1) * width);
      std::vector<Tensor> outputs = run(*context, {whole, first});
      EXPECT_EQ(elements(outputs[0]), expected) << rows << " rows of " << width;
      EXPECT_EQ(elements(outputs[1]), std::vector<float>(all.end() - width, all.end())) << rows << " rows of " << width;
    }
    EXPECT_GE(context->counters().recordings, 3u);
    EXPECT_GT(context->counters().replays, context->counters().recordings);
  }
}

TEST(Loop, CarriesSequences) {
  Builder builder;
  ValueId count = builder.input(DType::I64, {}), start = builder.input(DType::Sequence, {}),
          end = builder.output(DType::Sequence, {});
  Builder body;
  ValueId turn = body.input(DType::I64, {});
  body.input(DType::Bool, {});
  ValueId in = body.input(DType::Sequence, {}), out = body.output(DType::Sequence, {});
  body.call("SequenceInsert", {in, turn}, out);
  builder.plan.bodies.push_back(body.plan);
  Loop loop;
  loop.tripCount = count, loop.conditional = false, loop.carried = {start}, loop.body = {0, {}, {}},
  loop.finals = {end};
  builder.plan.steps.push_back(loop);
  for (const char *device : {"host", "null:host"}) {
    std::unique_ptr<Context> context = load(contentsOf(builder), device);
    std::vector<Tensor> outputs = run(*context, {scalar<int64_t>(DType::I64, 4), Tensor::of(DType::Sequence, {})});
    ASSERT_EQ(outputs[0].count(), 4) << device;
    for (int64_t i = 0; i < 4; ++i) // each is a value of its own, not a view of the iteration number
      EXPECT_EQ(*outputs[0].data<Tensor>()[i].data<int64_t>(), i) << device;
  }
}

//===- What is refused --------------------------------------------------------------------------------------------===//

struct Refusal {
  const char *name;
  void (*spoil)(Plan &);
  const char *sentence;
};

class ControlFlowRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(ControlFlowRefusal, IsOneSentence) {
  Builder builder;
  sumPlan(builder, true);
  GetParam().spoil(builder.plan);
  Status status = verifyContents(contentsOf(builder));
  ASSERT_EQ(status.code(), Code::Malformed) << status.message();
  EXPECT_NE(status.message().find(GetParam().sentence), std::string::npos) << status.message();
}

Loop &loopOf(Plan &plan) { return std::get<Loop>(plan.steps[0]); }

constexpr Refusal refusals[] = {
    {"NoSuchBody", [](Plan &p) { loopOf(p).body.body = 1; }, "step 0 runs body 1 of 1"},
    {"MissingCapture", [](Plan &p) { loopOf(p).body.captures.clear(); }, "to a body for"},
    {"WrongCaptureType", [](Plan &p) { loopOf(p).body.captures = {0}; }, "type or rank differs"},
    {"UnknownCapture", [](Plan &p) { loopOf(p).body.captures = {77}; }, "step 0 names value 77"},
    {"SizesThatTheBodyDoesNotTake", [](Plan &p) { loopOf(p).body.sizes = {0}; }, "passes 1 sizes"},
    {"UngivenSymbol", [](Plan &p) { p.bodies[0].symbols.push_back({"n", none, 0}); }, "symbol 'n' is bound 0 times"},
    {"GivenSymbolsOfARoot", [](Plan &p) { p.givenSymbols = 1; }, "it is given 1 of 1 symbols"},
    {"TripCountThatIsNoInteger", [](Plan &p) { loopOf(p).tripCount = 1; }, "which is not int64"},
    {"ConditionThatIsNoBool", [](Plan &p) { loopOf(p).condition = 0; }, "which is not bool"},
    {"FinalsWithoutCarried", [](Plan &p) { loopOf(p).finals.push_back(none); },
     "binds a symbol that is not dimension 0 of its output 1"},
    {"SlicesOfAScalar", [](Plan &p) { loopOf(p).scanned = {{0, false}}; }, "takes slices of 'v0', which has none"},
    {"OtherTarget", [](Plan &p) { p.bodies[0].target = "sm_90a"; }, "body 0 is for another target"},
    {"BodyWithAnUnwrittenOutput", [](Plan &p) { p.bodies[0].steps.pop_back(); },
     "body 0: output 'v5' is written by no step"},
    {"UnboundResult", [](Plan &p) { loopOf(p).binds.clear(); }, "symbol 'u' is bound 0 times"},
    {"TooDeep",
     [](Plan &p) {
       for (int depth = 0; depth < 70; ++depth) {
         Plan outer = p.bodies[0];
         outer.bodies = {p.bodies[0]};
         p.bodies = {outer};
       }
     },
     "bodies are nested more than 64 deep"},
};

INSTANTIATE_TEST_SUITE_P(All, ControlFlowRefusal, testing::ValuesIn(refusals),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace tilewright::runtime
