// SPDX-License-Identifier: Apache-2.0
// A small complete artifact that tests modify: y = Relu(x) + w for x of [batch, 4].
//
//   x (input) ──HostCall Relu──▶ t (temporary) ──Launch addBias──▶ y (output)
//                                w (constant)  ──┘
#pragma once

#include "runtime/plan/Plan.h"
#include "tests/runtime/TestKernels.h"

namespace tilewright::runtime {

struct SampleContents {
  std::vector<float> weights = {1, 2, 3, 4};
  Contents contents;

  enum : ValueId { x, w, t, y };

  SampleContents() {
    contents.metadata = {"sample", "0.1", {{"fuse", "all"}}};
    contents.report = R"({"schema": 1})";
    contents.constants = {std::as_bytes(std::span(weights))};
    contents.code = {testKernels()};
    contents.plans = {plan()};
  }

  static Plan plan() {
    Plan plan;
    plan.target = "host";
    plan.mode = "all";
    plan.symbols = {{"batch", 0, 0}};
    ExprBuilder build(plan.exprs);
    ExprId batch = build.symbol(0), four = build.constant(4), one = build.constant(1);
    plan.values = {{"x", DType::F32, ValueKind::Input, {batch, four}, 0, none},
                   {"w", DType::F32, ValueKind::Constant, {four}, 0, none},
                   {"t", DType::F32, ValueKind::Temporary, {batch, four}, none, none},
                   {"y", DType::F32, ValueKind::Output, {batch, four}, 0, none}};
    plan.inputs = {x};
    plan.outputs = {y};
    Kernel kernel;
    kernel.name = "add__f32__host";
    kernel.code = 0;
    kernel.entry = "addBias";
    kernel.buffers = {BufferAccess::Read, BufferAccess::Read, BufferAccess::Write};
    kernel.scalars = 1;
    plan.kernels = {kernel};
    HostCall relu;
    relu.op = "Relu";
    relu.opset = 17;
    relu.inputs = {x};
    relu.outputs = {t};
    relu.node = "relu_0";
    Launch launch;
    launch.kernel = 0;
    launch.buffers = {t, w, y};
    launch.scalars = {four};
    launch.grid = {batch, one, one};
    launch.group = 0;
    plan.steps = {relu, launch};
    plan.groups = {{"add",
                    "pointwise",
                    {"add_0"},
                    build.mul(batch, build.constant(48)),
                    build.mul(batch, four),
                    {},
                    {{one, batch, four, one, DType::F16}}}};
    plan.faults = {"gather index out of range at node 'gather_0'"};
    return plan;
  }
};

} // namespace tilewright::runtime
