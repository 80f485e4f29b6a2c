// SPDX-License-Identifier: Apache-2.0
// Checks a plan in the order of PlanVerifier.h: tables first, so that the steps can be checked without range checks.
#include "runtime/plan/PlanVerifier.h"

#include "runtime/artifact/Format.h"
#include "runtime/artifact/StringConstants.h"
#include "runtime/plan/PlanAnalysis.h"
#include "runtime/plan/StepVerifier.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace tilewright::runtime {

namespace {

/// Checks one plan; the analysis is filled in once its tables are valid.
class PlanChecker {
public:
  PlanChecker(const Contents &contents, const Plan &plan, int depth = 0)
      : contents_(contents), plan_(plan), depth_(depth) {}

  Status check() {
    TILEWRIGHT_TRY(checkExprs());
    TILEWRIGHT_TRY(checkValues());
    TILEWRIGHT_TRY(checkInterface());
    TILEWRIGHT_TRY(checkSymbols());
    TILEWRIGHT_TRY(checkKernels());
    TILEWRIGHT_TRY(checkGroups());
    TILEWRIGHT_TRY(checkBodies());
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      TILEWRIGHT_TRY(checkIds(i));
    analysis_ = analyzePlan(plan_);
    TILEWRIGHT_TRY(checkValueSizes());
    return verifySteps(plan_, analysis_);
  }

private:
  bool isExpr(ExprId id) const { return id < plan_.exprs.size(); }
  bool isExprOrNone(ExprId id) const { return id == none || isExpr(id); }
  bool isValue(ValueId id) const { return id < plan_.values.size(); }
  const Value &value(ValueId id) const { return plan_.values[id]; }

  Status checkExprs() const;
  Status checkValues() const;
  Status checkValue(ValueId id) const;
  Status checkInterface() const;
  Status checkSymbols() const;
  Status checkKernels() const;
  Status checkKernel(const Kernel &kernel) const;
  Status checkGroups() const;
  Status checkBodies() const;
  Status checkValueSizes() const;

  Status checkIds(size_t step) const;

  const Contents &contents_;
  const Plan &plan_;
  int depth_;
  PlanAnalysis analysis_;
};

Status PlanChecker::checkExprs() const {
  for (size_t id = 0; id < plan_.exprs.size(); ++id) {
    const Expr &node = plan_.exprs[id];
    bool binary = node.kind != ExprKind::Constant && node.kind != ExprKind::Symbol;
    auto isEarlier = [&](int64_t operand) { return operand >= 0 && operand < static_cast<int64_t>(id); };
    if (binary && !(isEarlier(node.lhs) && isEarlier(node.rhs)))
      return broken("expression {} has an operand that does not come before it", id);
    if (node.kind == ExprKind::Symbol && (node.lhs < 0 || node.lhs >= static_cast<int64_t>(plan_.symbols.size())))
      return broken("expression {} names symbol {} of {}", id, node.lhs, plan_.symbols.size());
  }
  return {};
}

Status PlanChecker::checkValue(ValueId id) const {
  const Value &v = value(id);
  if (!findDType(v.dtype) && !isObject(v.dtype))
    return broken("value '{}' has an element type that no kernel can hold", v.name);
  if (isObject(v.dtype) && v.dtype != DType::String && !v.dims.empty())
    return broken("value '{}' is a {} and has dimensions, which only tensors have", v.name, name(v.dtype));
  if (!std::ranges::all_of(v.dims, [&](ExprId dim) { return isExpr(dim); }))
    return broken("value '{}' has a dimension without an expression", v.name);
  if (v.kind == ValueKind::Alias) {
    if (v.source >= id)
      return broken("alias '{}' does not come after what it aliases", v.name);
    if (isObject(v.dtype) || isObject(value(v.source).dtype))
      return broken("alias '{}' looks at the bytes of objects", v.name);
    if (!isExpr(v.byteOffset))
      return broken("alias '{}' has no byte offset", v.name);
    return {};
  }
  auto isNumbered = [&](const std::vector<ValueId> &list) { return v.source < list.size() && list[v.source] == id; };
  if ((v.kind == ValueKind::Input && !isNumbered(plan_.inputs)) ||
      (v.kind == ValueKind::Output && !isNumbered(plan_.outputs)))
    return broken("value '{}' is not the {} that its number says", v.name,
                  v.kind == ValueKind::Input ? "input" : "output");
  if (v.kind == ValueKind::Zeroed && (isObject(v.dtype) || !std::ranges::all_of(v.dims, [&](ExprId dim) {
                                        return plan_.exprs[dim].kind == ExprKind::Constant;
                                      })))
    return broken("value '{}' is zeroed for all launches and has no constant size", v.name);
  if (v.kind == ValueKind::Constant && v.source >= contents_.constants.size())
    return broken("constant '{}' names entry {} of a pool of {}", v.name, v.source, contents_.constants.size());
  return {};
}

Status PlanChecker::checkValues() const {
  for (ValueId id = 0; id < plan_.values.size(); ++id)
    TILEWRIGHT_TRY(checkValue(id));
  return {};
}

Status PlanChecker::checkInterface() const {
  const Plan &first = contents_.plans.front();
  auto isKind = [&](ValueId id, ValueKind kind) { return isValue(id) && value(id).kind == kind; };
  for (ValueId id : plan_.inputs)
    if (!isKind(id, ValueKind::Input))
      return broken("value {} is listed as an input but is none", id);
  for (ValueId id : plan_.outputs)
    if (!isKind(id, ValueKind::Output))
      return broken("value {} is listed as an output but is none", id);
  if (depth_ > 0)
    return {};
  if (plan_.inputs.size() != first.inputs.size() || plan_.outputs.size() != first.outputs.size())
    return broken("it has another number of inputs or outputs than the first plan");
  auto sameType = [&](ValueId here, ValueId there) {
    const Value &a = value(here), &b = first.values[there];
    return a.name == b.name && a.dtype == b.dtype;
  };
  auto agrees = [&](ValueId here, ValueId there) {
    return sameType(here, there) && value(here).dims.size() == first.values[there].dims.size();
  };
  bool otherSizes = plan_.mode.ends_with(broadcastingSuffix); // its outputs may have other ranks
  if (!std::ranges::equal(plan_.inputs, first.inputs, agrees) ||
      !(otherSizes ? std::ranges::equal(plan_.outputs, first.outputs, sameType)
                   : std::ranges::equal(plan_.outputs, first.outputs, agrees)))
    return broken("its inputs or outputs differ in name, type or rank from the first plan's");
  return {};
}

Status PlanChecker::checkSymbols() const {
  std::vector<uint32_t> binders(plan_.symbols.size(), 0);
  auto isItself = [&](ExprId id, SymbolId symbol) { return plan_.exprs[id] == Expr{ExprKind::Symbol, symbol, 0}; };
  if (plan_.givenSymbols > (depth_ > 0 ? plan_.symbols.size() : 0))
    return broken("it is given {} of {} symbols", plan_.givenSymbols, plan_.symbols.size());
  for (SymbolId id = 0; id < plan_.symbols.size(); ++id) {
    const Symbol &symbol = plan_.symbols[id];
    if (id < plan_.givenSymbols)
      ++binders[id];
    if (symbol.input == none)
      continue;
    if (symbol.input >= plan_.inputs.size() || symbol.dim >= value(plan_.inputs[symbol.input]).dims.size() ||
        !isItself(value(plan_.inputs[symbol.input]).dims[symbol.dim], id))
      return broken("symbol '{}' is not dimension {} of input {}", symbol.name, symbol.dim, symbol.input);
    ++binders[id];
  }
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    std::vector<ValueId> outputs = outputsOf(plan_.steps[i]);
    const auto *read = std::get_if<ReadSizes>(&plan_.steps[i]);
    for (const BoundSymbol &bound : bindsOf(plan_.steps[i])) {
      if (read) {
        if (bound.symbol >= plan_.symbols.size() || bound.output != 0 ||
            bound.dim >= elementsRead(plan_, *read).value_or(0))
          return broken("step {} binds a symbol that is not one of the elements that it reads", i);
        ++binders[bound.symbol];
        continue;
      }
      ValueId output = bound.output < outputs.size() ? outputs[bound.output] : none;
      if (bound.symbol >= plan_.symbols.size() || !isValue(output) || bound.dim >= value(output).dims.size() ||
          !isItself(value(output).dims[bound.dim], bound.symbol))
        return broken("step {} binds a symbol that is not dimension {} of its output {}", i, bound.dim, bound.output);
      ++binders[bound.symbol];
    }
  }
  for (SymbolId id = 0; id < plan_.symbols.size(); ++id)
    if (binders[id] != 1)
      return broken("symbol '{}' is bound {} times, expected once", plan_.symbols[id].name, binders[id]);
  return {};
}

static bool kindFitsTarget(CodeKind kind, const std::string &target) {
  switch (kind) {
  case CodeKind::HostX86:
    return target == "host";
  case CodeKind::Ptx:
  case CodeKind::Cubin:
    return target.starts_with("sm_");
  case CodeKind::Hsaco:
    return target.starts_with("gfx");
  }
  return false;
}

Status PlanChecker::checkKernel(const Kernel &kernel) const {
  if (kernel.code >= contents_.code.size())
    return broken("kernel '{}' names code object {} of {}", kernel.name, kernel.code, contents_.code.size());
  const CodeObject &code = contents_.code[kernel.code];
  if (code.target != plan_.target)
    return broken("kernel '{}' is code for {}, its plan is for {}", kernel.name, code.target, plan_.target);
  auto isPlain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; };
  if (kernel.entry.empty() || !std::ranges::all_of(kernel.entry, isPlain))
    return broken("kernel '{}' has no proper entry name", kernel.name);
  if (code.kind == CodeKind::HostX86 && std::ranges::count(code.symbols, kernel.entry, &CodeSymbol::name) != 1)
    return broken("kernel '{}' has no entry '{}' in its code object", kernel.name, kernel.entry);
  auto product = [](const std::array<uint32_t, 3> &extents) { return uint64_t(extents[0]) * extents[1] * extents[2]; };
  auto inRange = [&](const std::array<uint32_t, 3> &extents, uint32_t limit) {
    return std::ranges::all_of(extents, [&](uint32_t e) { return e >= 1 && e <= limit; }) && product(extents) <= limit;
  };
  if (!inRange(kernel.block, 1024) || !inRange(kernel.cluster, 16))
    return broken("kernel '{}' has an impossible block or cluster size", kernel.name);
  if (kernel.flags & ~Kernel::startsEarly)
    return broken("kernel '{}' has launch flags that this version does not know", kernel.name);
  return {};
}

Status PlanChecker::checkKernels() const {
  for (const Kernel &kernel : plan_.kernels)
    TILEWRIGHT_TRY(checkKernel(kernel));
  return {};
}

Status PlanChecker::checkGroups() const {
  for (const Group &group : plan_.groups) {
    bool there = isExprOrNone(group.bytesMoved) && isExprOrNone(group.flops);
    for (const Product &product : group.products) {
      for (ExprId size : {product.batch, product.m, product.n, product.k})
        there &= size < plan_.exprs.size();
      if (!findDType(product.type))
        return broken("group '{}' has a product of an unknown type", group.name);
    }
    if (!there)
      return broken("group '{}' names an expression that is not there", group.name);
  }
  return {};
}

Status PlanChecker::checkBodies() const {
  if (!plan_.bodies.empty() && depth_ >= format::deepestBody)
    return broken("bodies are nested more than {} deep", format::deepestBody);
  for (size_t i = 0; i < plan_.bodies.size(); ++i) {
    if (plan_.bodies[i].target != plan_.target)
      return broken("body {} is for another target", i);
    if (Status status = PlanChecker(contents_, plan_.bodies[i], depth_ + 1).check(); !status.ok())
      return broken("body {}: {}", i, status.message());
  }
  return {};
}

Status PlanChecker::checkValueSizes() const {
  for (ValueId id = 0; id < plan_.values.size(); ++id) {
    const Value &v = value(id);
    if (v.kind == ValueKind::Input && analysis_.valueStep[id] != atBind)
      return broken("input '{}' has a dimension that is known only while running", v.name);
    if (v.kind != ValueKind::Constant)
      continue;
    if (isObject(v.dtype) && v.dtype != DType::String)
      return broken("constant '{}' is a {}, of which there are no constants", v.name, name(v.dtype));
    uint64_t bytes = v.dtype == DType::String ? 1 : elementBytes(v.dtype);
    for (ExprId dim : v.dims) {
      const Expr &extent = plan_.exprs[dim];
      if (extent.kind != ExprKind::Constant || extent.lhs < 0 ||
          __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent.lhs), &bytes))
        return broken("constant '{}' has a dimension that is not a constant size", v.name);
    }
    if (v.dtype == DType::String && !countsStrings(contents_.constants[v.source], bytes))
      return broken("constant '{}' is of {} strings, its entry in the pool is not", v.name, bytes);
    if (v.dtype != DType::String && bytes != contents_.constants[v.source].size())
      return broken("constant '{}' has {} bytes, its entry in the pool {}", v.name, bytes,
                    contents_.constants[v.source].size());
  }
  return {};
}

Status PlanChecker::checkIds(size_t step) const {
  Status status;
  forEachValue(plan_.steps[step], [&](ValueId id) {
    if (!isValue(id))
      status = broken("step {} names value {} of {}", step, id, plan_.values.size());
  });
  forEachExpr(plan_.steps[step], [&](ExprId id) {
    if (!isExpr(id))
      status = broken("step {} names expression {} of {}", step, id, plan_.exprs.size());
  });
  return status;
}

} // namespace

static Status checkCode(const CodeObject &code) {
  if (!kindFitsTarget(code.kind, code.target))
    return broken("a code object for '{}' is of a kind that this target does not run", code.target);
  for (const CodeSymbol &symbol : code.symbols)
    if (symbol.offset >= code.bytes.size())
      return broken("code symbol '{}' is at {}, outside its {} bytes", symbol.name, symbol.offset, code.bytes.size());
  return {};
}

Status verifyContents(const Contents &contents) {
  if (contents.plans.empty())
    return broken("it has no plan");
  for (const CodeObject &code : contents.code)
    TILEWRIGHT_TRY(checkCode(code));
  std::set<std::tuple<std::string, std::string, std::vector<std::string>>> keys;
  for (const Plan &plan : contents.plans) {
    if (!keys.emplace(plan.target, plan.mode, plan.requirements).second)
      return broken("it has two plans for target '{}' and fusion mode '{}'", plan.target, plan.mode);
    if (Status status = PlanChecker(contents, plan).check(); !status.ok())
      return broken("plan '{}' for '{}': {}", plan.mode, plan.target, status.message());
  }
  return {};
}

} // namespace tilewright::runtime
