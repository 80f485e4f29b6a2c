// What follows from a plan alone, whatever the sizes: who shares bytes, what is known when, how long buffers live.
#pragma once

#include "runtime/plan/Plan.h"

namespace tilewright::runtime {

inline constexpr int64_t atBind = -1; // before step 0

/// A stretch of steps [first, end) that a device may record and replay as a whole, or that must be run step by step.
struct Segment {
  size_t first = 0;
  size_t end = 0;
  bool recordable = false;
};

struct PlanAnalysis {
  std::vector<ValueId> roots;     // of each value: itself, or what its chain of aliases ends in
  std::vector<int64_t> exprStep;  // the step that makes an expression's value known: atBind, or the step's number
  std::vector<int64_t> valueStep; // likewise for a value's place and dimensions
  std::vector<int64_t> firstUse;  // of each root, by steps that touch it or an alias of it; INT64_MAX if none does
  std::vector<int64_t> lastUse;   // INT64_MIN if none does
  std::vector<Segment> segments;  // all steps, in order
  bool bindsWhileRunning = false; // some symbol is bound by a step
};

/// `plan` must have ids in range and aliases after what they alias (PlanVerifier.h checks both first).
PlanAnalysis analyzePlan(const Plan &plan);

/// The symbols that a step binds once it has run.
std::span<const BoundSymbol> bindsOf(const Step &step);
/// The values that a step which binds symbols writes, by the numbers that its binds use; `none` for one that nobody
/// reads.
std::vector<ValueId> outputsOf(const Step &step);
/// How a Branch or a Loop uses its bodies.
std::vector<const BodyUse *> bodiesOf(const Step &step);
/// Whether a step runs on the host, with results that no recording can hold.
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
        if (id != none) // an absent optional one
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
