// Checks a plan in the order of PlanVerifier.h: tables first, so that the steps can be walked without a range check at
// every turn.
#include "runtime/plan/PlanVerifier.h"

#include "runtime/artifact/Format.h"
#include "runtime/plan/PlanAnalysis.h"
#include "runtime/artifact/StringConstants.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace tilewright::runtime {

template <typename... Args> static Status broken(fmt::format_string<Args...> format, Args &&...args) {
  return {Code::Malformed, fmt::format(format, std::forward<Args>(args)...)};
}

namespace {

/// One plan with what is known of it once its tables are checked.
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
    written_.assign(plan_.values.size(), false);
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      TILEWRIGHT_TRY(checkStep(static_cast<int64_t>(i)));
    for (ValueId output : plan_.outputs)
      if (!written_[output])
        return broken("output '{}' is written by no step", plan_.values[output].name);
    return {};
  }

private:
  /// A value that a step passes to a body or takes from it: what it must agree with.
  struct Passed {
    std::string_view what;
    DType type = DType::F32;
    std::optional<size_t> rank = std::nullopt;
    bool unread = false; // an output that nobody takes
  };
  static constexpr Passed unreadOutput = {"", DType::F32, std::nullopt, true};
  Passed passed(ValueId id) const { return {value(id).name, value(id).dtype, value(id).dims.size(), false}; }
  Passed slice(ValueId id) const { return {value(id).name, value(id).dtype, value(id).dims.size() - 1, false}; }
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
  Status checkStep(int64_t step);
  Status checkReads(int64_t step, ValueId id) const;
  Status checkWrites(int64_t step, ValueId id, bool bindsSymbols = false);
  Status checkKnown(int64_t step, std::span<const ExprId> exprs) const;
  Status checkOne(int64_t step, const Launch &launch);
  Status checkOne(int64_t step, const HostCall &call);
  Status checkOne(int64_t step, const WriteDims &write);
  Status checkOne(int64_t step, const Copy &copy);
  Status checkOne(int64_t step, const Guard &guard);
  Status checkOne(int64_t step, const Branch &branch);
  Status checkOne(int64_t step, const Loop &loop);
  Status checkOne(int64_t step, const ReadSizes &read);
  std::optional<int64_t> elementsRead(const ReadSizes &read) const;
  Status checkUse(int64_t step, const BodyUse &use, const std::vector<Passed> &inputs,
                  const std::vector<Passed> &outputs) const;
  Status checkPassed(int64_t step, const Passed &passed, const Plan &body, ValueId inside) const;

  const Contents &contents_;
  const Plan &plan_;
  int depth_;
  PlanAnalysis analysis_;
  std::vector<bool> written_; // by root
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
  bool otherSizes = plan_.mode.ends_with(broadcastingSuffix); // may give another rank
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
        if (bound.symbol >= plan_.symbols.size() || bound.output != 0 || bound.dim >= elementsRead(*read).value_or(0))
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
  if (kernel.flags != 0)
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

Status PlanChecker::checkKnown(int64_t step, std::span<const ExprId> exprs) const {
  for (ExprId id : exprs) {
    if (analysis_.exprStep[id] >= step)
      return broken("step {} needs expression {} before its symbols are bound", step, id);
  }
  return {};
}

Status PlanChecker::checkReads(int64_t step, ValueId id) const {
  const Value &root = value(analysis_.roots[id]);
  bool given = root.kind == ValueKind::Input || root.kind == ValueKind::Constant;
  if (!given && !written_[analysis_.roots[id]])
    return broken("step {} reads '{}' before any step has written it", step, value(id).name);
  if (analysis_.valueStep[id] >= step)
    return broken("step {} reads '{}' before its size is known", step, value(id).name);
  return {};
}

Status PlanChecker::checkWrites(int64_t step, ValueId id, bool bindsSymbols) {
  ValueId root = analysis_.roots[id];
  if (value(root).kind == ValueKind::Input || value(root).kind == ValueKind::Constant)
    return broken("step {} writes '{}', which is {}", step, value(id).name,
                  value(root).kind == ValueKind::Input ? "an input" : "a constant");
  // A call that binds symbols knows its outputs' sizes only once it has run; an alias would need its root's before.
  int64_t latest = bindsSymbols && root == id ? step : step - 1;
  if (analysis_.valueStep[id] > latest || analysis_.valueStep[root] > latest)
    return broken("step {} writes '{}' before its size is known", step, value(id).name);
  written_[root] = true;
  return {};
}

Status PlanChecker::checkOne(int64_t step, const Launch &launch) {
  if (launch.kernel >= plan_.kernels.size())
    return broken("step {} launches kernel {} of {}", step, launch.kernel, plan_.kernels.size());
  const Kernel &kernel = plan_.kernels[launch.kernel];
  if (launch.buffers.size() != kernel.buffers.size() || launch.scalars.size() != kernel.scalars)
    return broken("step {} passes {} buffers and {} scalars to '{}', which takes {} and {}", step,
                  launch.buffers.size(), launch.scalars.size(), kernel.name, kernel.buffers.size(), kernel.scalars);
  TILEWRIGHT_TRY(checkKnown(step, launch.scalars));
  TILEWRIGHT_TRY(checkKnown(step, launch.grid));
  if (launch.workspaceBytes != none)
    TILEWRIGHT_TRY(checkKnown(step, {&launch.workspaceBytes, 1}));
  for (ValueId buffer : launch.buffers)
    if (isObject(value(buffer).dtype))
      return broken("step {} passes the {} '{}' to a kernel", step, name(value(buffer).dtype), value(buffer).name);
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    if (kernel.buffers[i] != BufferAccess::Write)
      TILEWRIGHT_TRY(checkReads(step, launch.buffers[i]));
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    if (kernel.buffers[i] != BufferAccess::Read)
      TILEWRIGHT_TRY(checkWrites(step, launch.buffers[i]));
  return {};
}

Status PlanChecker::checkOne(int64_t step, const HostCall &call) {
  for (ValueId input : call.inputs)
    if (input != none)
      TILEWRIGHT_TRY(checkReads(step, input));
  for (ValueId output : call.outputs)
    if (output != none)
      TILEWRIGHT_TRY(checkWrites(step, output, true));
  return {};
}

Status PlanChecker::checkOne(int64_t step, const WriteDims &write) {
  TILEWRIGHT_TRY(checkKnown(step, write.elements));
  TILEWRIGHT_TRY(checkWrites(step, write.value));
  if (value(write.value).dtype != DType::I64)
    return broken("step {} writes dimensions into '{}', which is not int64", step, value(write.value).name);
  return {};
}

/// How many elements the value has, where the plan says it.
std::optional<int64_t> PlanChecker::elementsRead(const ReadSizes &read) const {
  if (!isValue(read.value) || value(read.value).dtype != DType::I64 || value(read.value).dims.size() != 1)
    return std::nullopt;
  const Expr &count = plan_.exprs[value(read.value).dims[0]];
  return count.kind == ExprKind::Constant ? std::optional(count.lhs) : std::nullopt;
}

Status PlanChecker::checkOne(int64_t step, const ReadSizes &read) {
  TILEWRIGHT_TRY(checkReads(step, read.value));
  return elementsRead(read) ? Status()
                            : broken("step {} reads sizes from '{}', which is no int64 vector of known length", step,
                                     value(read.value).name);
}

Status PlanChecker::checkOne(int64_t step, const Copy &copy) {
  TILEWRIGHT_TRY(checkReads(step, copy.source));
  if ((isObject(value(copy.source).dtype) || isObject(value(copy.target).dtype)) &&
      value(copy.source).dtype != value(copy.target).dtype)
    return broken("step {} copies a {} to a {}", step, name(value(copy.source).dtype), name(value(copy.target).dtype));
  return checkWrites(step, copy.target);
}

Status PlanChecker::checkOne(int64_t step, const Guard &guard) {
  TILEWRIGHT_TRY(checkKnown(step, {&guard.lhs, 1}));
  TILEWRIGHT_TRY(checkKnown(step, {&guard.rhs, 1}));
  return guard.message.empty() ? broken("step {} is a guard without a message", step) : Status();
}

Status PlanChecker::checkPassed(int64_t step, const Passed &passed, const Plan &body, ValueId inside) const {
  const Value &taken = body.values[inside];
  if (taken.dtype != passed.type || (passed.rank && taken.dims.size() != *passed.rank))
    return broken("step {} passes '{}' of {} to or from '{}' of {} in its body, whose type or rank differs", step,
                  passed.what, name(passed.type), taken.name, name(taken.dtype));
  return {};
}

/// `inputs` are what the step passes before the captures.
Status PlanChecker::checkUse(int64_t step, const BodyUse &use, const std::vector<Passed> &inputs,
                             const std::vector<Passed> &outputs) const {
  if (use.body >= plan_.bodies.size())
    return broken("step {} runs body {} of {}", step, use.body, plan_.bodies.size());
  const Plan &body = plan_.bodies[use.body];
  if (use.sizes.size() != body.givenSymbols || inputs.size() + use.captures.size() != body.inputs.size() ||
      outputs.size() != body.outputs.size())
    return broken("step {} passes {} sizes and {} values to a body for {} values, which takes {} and {} for {}", step,
                  use.sizes.size(), inputs.size() + use.captures.size(), outputs.size(), body.givenSymbols,
                  body.inputs.size(), body.outputs.size());
  TILEWRIGHT_TRY(checkKnown(step, use.sizes));
  for (ValueId capture : use.captures)
    TILEWRIGHT_TRY(checkReads(step, capture));
  for (size_t i = 0; i < body.inputs.size(); ++i)
    TILEWRIGHT_TRY(checkPassed(step, i < inputs.size() ? inputs[i] : passed(use.captures[i - inputs.size()]), body,
                               body.inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].unread)
      TILEWRIGHT_TRY(checkPassed(step, outputs[i], body, body.outputs[i]));
  return {};
}

Status PlanChecker::checkOne(int64_t step, const Branch &branch) {
  TILEWRIGHT_TRY(checkReads(step, branch.condition));
  if (value(branch.condition).dtype != DType::Bool)
    return broken("step {} branches on '{}', which is not bool", step, value(branch.condition).name);
  std::vector<Passed> outputs;
  for (ValueId output : branch.outputs)
    outputs.push_back(output == none ? unreadOutput : passed(output));
  TILEWRIGHT_TRY(checkUse(step, branch.onTrue, {}, outputs));
  TILEWRIGHT_TRY(checkUse(step, branch.onFalse, {}, outputs));
  for (ValueId output : branch.outputs)
    if (output != none)
      TILEWRIGHT_TRY(checkWrites(step, output, true));
  return {};
}

Status PlanChecker::checkOne(int64_t step, const Loop &loop) {
  for (ValueId id : controlReads(plan_.steps[static_cast<size_t>(step)]))
    TILEWRIGHT_TRY(checkReads(step, id));
  if (loop.tripCount != none && value(loop.tripCount).dtype != DType::I64)
    return broken("step {} counts by '{}', which is not int64", step, value(loop.tripCount).name);
  if (loop.condition != none && value(loop.condition).dtype != DType::Bool)
    return broken("step {} loops while '{}', which is not bool", step, value(loop.condition).name);
  if (loop.finals.size() != loop.carried.size())
    return broken("step {} carries {} values and keeps {}", step, loop.carried.size(), loop.finals.size());
  for (const std::vector<Slices> *list : {&loop.scanned, &loop.collected})
    for (const Slices &slices : *list)
      if (slices.value != none && (value(slices.value).dims.empty() || isObject(value(slices.value).dtype)))
        return broken("step {} takes slices of '{}', which has none", step, value(slices.value).name);
  std::vector<Passed> inputs, outputs;
  if (loop.counted)
    inputs = {{"turn", DType::I64, std::nullopt, false}, {"condition", DType::Bool, std::nullopt, false}};
  if (loop.conditional)
    outputs = {{"condition", DType::Bool, std::nullopt, false}};
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    inputs.push_back(passed(loop.carried[i]));
    outputs.push_back(passed(loop.carried[i]));
    if (loop.finals[i] != none && (value(loop.finals[i]).dtype != value(loop.carried[i]).dtype ||
                                   value(loop.finals[i]).dims.size() != value(loop.carried[i]).dims.size()))
      return broken("step {} keeps '{}' in '{}', which has another type or rank", step, value(loop.carried[i]).name,
                    value(loop.finals[i]).name);
  }
  for (const Slices &slices : loop.scanned)
    inputs.push_back(slice(slices.value));
  for (const Slices &slices : loop.collected)
    outputs.push_back(slices.value == none ? unreadOutput : slice(slices.value));
  TILEWRIGHT_TRY(checkUse(step, loop.body, inputs, outputs));
  for (ValueId output : outputsOf(plan_.steps[static_cast<size_t>(step)]))
    if (output != none)
      TILEWRIGHT_TRY(checkWrites(step, output, true));
  return {};
}

Status PlanChecker::checkStep(int64_t step) {
  return std::visit(
      [&](const auto &s) {
        if constexpr (requires { s.group; })
          if (s.group != none && s.group >= plan_.groups.size())
            return broken("step {} names group {} of {}", step, s.group, plan_.groups.size());
        return checkOne(step, s);
      },
      plan_.steps[static_cast<size_t>(step)]);
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
