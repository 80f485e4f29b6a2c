// SPDX-License-Identifier: Apache-2.0
// Facts about a plan that do not depend on sizes: which values share memory, when sizes become known, lifetimes.
#pragma once

#include "runtime/plan/Plan.h"

namespace tilewright::runtime {

inline constexpr int64_t atBind = -1; // before step 0

/// Steps [first, end). If `recordable`, a device may record and replay them as a whole; else they run one by one.
struct Segment {
  size_t first = 0;
  size_t end = 0;
  bool recordable = false;
};

struct PlanAnalysis {
  std::vector<ValueId> roots;     // by value: the value at the end of its chain of aliases; itself if it is no alias
  std::vector<int64_t> exprStep;  // by expression: the step after which its value is known, or atBind
  std::vector<int64_t> valueStep; // by value: the same for its dimensions and offset
  std::vector<int64_t> firstUse;  // by root: the first step that uses it or an alias of it; INT64_MAX if none does
  std::vector<int64_t> lastUse;   // the last one; INT64_MIN if none does
  std::vector<Segment> segments;  // all steps, in order
  bool bindsWhileRunning = false; // a step binds a symbol
};

/// Requires that ids are in range and that aliases follow their sources; PlanVerifier.h checks both first.
PlanAnalysis analyzePlan(const Plan &plan);

/// The symbols that a step binds once it has run.
std::span<const BoundSymbol> bindsOf(const Step &step);
/// The outputs of a step that binds symbols, in the order that BoundSymbol::output counts; `none` for unused ones.
std::vector<ValueId> outputsOf(const Step &step);
/// How a Branch or a Loop uses its bodies.
std::vector<const BodyUse *> bodiesOf(const Step &step);
/// Whether a step runs on the host, so that it cannot be recorded.
bool runsOnHost(const Step &step);
/// The values that a Branch or a Loop reads, its captures among them.
std::vector<ValueId> controlReads(const Step &step);

/// Calls `visit(value)` for each value that a step reads or writes.
template <typename Visit> void forEachValue(const Step &step, const Visit &visit) {
  if (const auto *launch = std::get_if<Launch>(&step)) {
    for (ValueId id : launch->buffers)
      visit(id);
  } else if (const auto *call = std::get_if<HostCall>(&step)) {
    for (const std::vector<ValueId> *ids : {&call->inputs, &call->outputs})
      for (ValueId id : *ids)
        if (id != none) // an absent optional input
          visit(id);
  } else if (const auto *write = std::get_if<WriteDims>(&step)) {
    visit(write->value);
  } else if (const auto *read = std::get_if<ReadSizes>(&step)) {
    visit(read->value);
  } else if (const auto *copy = std::get_if<Copy>(&step)) {
    visit(copy->source);
    visit(copy->target);
  } else {
    for (ValueId id : controlReads(step))
      visit(id);
    for (ValueId id : outputsOf(step))
      if (id != none)
        visit(id);
  }
}

/// Calls `visit(expr)` for each expression that a step evaluates.
template <typename Visit> void forEachExpr(const Step &step, const Visit &visit) {
  if (const auto *launch = std::get_if<Launch>(&step)) {
    for (ExprId id : launch->scalars)
      visit(id);
    for (ExprId id : launch->grid)
      visit(id);
    if (launch->workspaceBytes != none)
      visit(launch->workspaceBytes);
    for (const TensorMap &map : launch->tensorMaps) {
      visit(map.start);
      for (const auto *list : {&map.sizes, &map.strides})
        for (ExprId id : *list)
          visit(id);
    }
  } else if (const auto *write = std::get_if<WriteDims>(&step)) {
    for (ExprId id : write->elements)
      visit(id);
  } else if (const auto *guard = std::get_if<Guard>(&step)) {
    visit(guard->lhs);
    visit(guard->rhs);
  }
  for (const BodyUse *use : bodiesOf(step))
    for (ExprId id : use->sizes)
      visit(id);
}

} // namespace tilewright::runtime
