// One pass over each table, then one over the steps.
#include "runtime/PlanAnalysis.h"

#include <algorithm>

namespace tilewright::runtime {

static void findRoots(const Plan &plan, PlanAnalysis &analysis) {
  for (ValueId id = 0; id < plan.values.size(); ++id) {
    const Value &value = plan.values[id];
    analysis.roots.push_back(value.kind == ValueKind::Alias ? analysis.roots[value.source] : id);
  }
}

static void findSteps(const Plan &plan, PlanAnalysis &analysis) {
  std::vector<int64_t> symbolStep(plan.symbols.size(), atBind);
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (const auto *call = std::get_if<HostCall>(&plan.steps[i]))
      for (const BoundSymbol &bound : call->binds)
        symbolStep[bound.symbol] = static_cast<int64_t>(i);
  analysis.bindsWhileRunning = std::ranges::any_of(symbolStep, [](int64_t step) { return step != atBind; });
  for (const Expr &node : plan.exprs) {
    int64_t step = atBind;
    if (node.kind == ExprKind::Symbol)
      step = symbolStep[static_cast<size_t>(node.lhs)];
    else if (node.kind != ExprKind::Constant)
      step = std::max(analysis.exprStep[static_cast<size_t>(node.lhs)], analysis.exprStep[static_cast<size_t>(node.rhs)]);
    analysis.exprStep.push_back(step);
  }
  for (const Value &value : plan.values) {
    int64_t step = atBind;
    if (value.kind == ValueKind::Alias)
      step = std::max(analysis.exprStep[value.byteOffset], analysis.valueStep[value.source]);
    for (ExprId dim : value.dims)
      step = std::max(step, analysis.exprStep[dim]);
    analysis.valueStep.push_back(step);
  }
}

static void findUses(const Plan &plan, PlanAnalysis &analysis) {
  analysis.firstUse.assign(plan.values.size(), INT64_MAX);
  analysis.lastUse.assign(plan.values.size(), INT64_MIN);
  for (size_t i = 0; i < plan.steps.size(); ++i)
    forEachValue(plan.steps[i], [&](ValueId id) {
      ValueId root = analysis.roots[id];
      analysis.firstUse[root] = std::min(analysis.firstUse[root], static_cast<int64_t>(i));
      analysis.lastUse[root] = static_cast<int64_t>(i);
    });
}

static bool isRecordable(const Step &step, const PlanAnalysis &analysis) {
  bool known = !std::holds_alternative<HostCall>(step);
  forEachValue(step, [&](ValueId id) { known = known && analysis.valueStep[id] == atBind; });
  forEachExpr(step, [&](ExprId id) { known = known && analysis.exprStep[id] == atBind; });
  return known;
}

static void cutSegments(const Plan &plan, PlanAnalysis &analysis) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    bool recordable = isRecordable(plan.steps[i], analysis);
    if (analysis.segments.empty() || analysis.segments.back().recordable != recordable)
      analysis.segments.push_back({i, i, recordable});
    analysis.segments.back().end = i + 1;
  }
}

PlanAnalysis analyzePlan(const Plan &plan) {
  PlanAnalysis analysis;
  findRoots(plan, analysis);
  findSteps(plan, analysis);
  findUses(plan, analysis);
  cutSegments(plan, analysis);
  return analysis;
}

} // namespace tilewright::runtime
