// SPDX-License-Identifier: Apache-2.0
// The form of the dialect's attributes on a module, which anybody may have edited in the IR of a stage.
#include "frontend/graph/GraphOps.h"
#include "frontend/graph/SizeDefinition.h"

using namespace mlir;

namespace tilewright::graph {

static bool isText(Attribute attribute) { return isa<StringAttr>(attribute); }

static bool isGuard(Attribute attribute) {
  auto parts = dyn_cast<ArrayAttr>(attribute);
  return parts && (parts.size() == 3 || parts.size() == 4) && isSize(parts[0]) && isSize(parts[1]) &&
         isText(parts[2]) && (parts.size() == 3 || isText(parts[3]));
}

static bool isDefinition(Attribute attribute) {
  auto parts = dyn_cast<ArrayAttr>(attribute);
  return parts && SizeDefinition::isValid(parts);
}

namespace {
struct ListForm {
  StringLiteral name;
  bool (*isElement)(Attribute);
  const char *expected;
};
} // namespace

static constexpr ListForm lists[] = {
    {nodesAttr, isText, "strings, \"name|OpType\" each"},
    {symbolsAttr, isText, "strings, the names of sizes"},
    {guardsAttr, isGuard, "[expression, expression, message, relation] each"},
    {definitionsAttr, isDefinition, "[symbol, kind, expression, expression] each"},
};

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == repeatedAttr && !(isa<ModuleOp>(op) && isa<UnitAttr>(attribute.getValue())))
    return op->emitOpError() << "expected " << repeatedAttr << " on a module, without a value";
  for (const ListForm &form : lists) {
    if (attribute.getName() != form.name)
      continue;
    auto list = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !list || !llvm::all_of(list, form.isElement))
      return op->emitOpError() << "expected " << form.name << " on a module, a list of " << form.expected;
  }
  return success();
}

} // namespace tilewright::graph
