// SPDX-License-Identifier: Apache-2.0
// The flow dialect: registration, and what its operations' traits cannot verify.
#include "frontend/flow/FlowOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::flow;

#include "frontend/flow/FlowDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "frontend/flow/FlowTypes.cpp.inc"

#define GET_OP_CLASSES
#include "frontend/flow/FlowOps.cpp.inc"

void FlowDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "frontend/flow/FlowTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "frontend/flow/FlowOps.cpp.inc"
      >();
}

//===- Checks of both ---------------------------------------------------------------------------------------------===//

/// A body is a module in the same symbol table.
static LogicalResult verifyBody(Operation *op, FlatSymbolRefAttr body, SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<ModuleOp>(op, body))
    return op->emitOpError() << "expected a body, a module of the name '" << body.getValue() << "', found none";
  return success();
}

static LogicalResult verifySizes(Operation *op, AffineMap sizes) {
  if (sizes.getNumDims() != 0)
    return op->emitOpError() << "expected sizes that are expressions of symbols alone, got "
                             << AffineMapAttr::get(sizes);
  return success();
}

static LogicalResult verifyCondition(Operation *op, Value condition) {
  auto type = llvm::cast<RankedTensorType>(condition.getType());
  if (!type.getElementType().isInteger(1))
    return op->emitOpError() << "expected a boolean as condition, got " << type;
  return success();
}

//===- if ---------------------------------------------------------------------------------------------------------===//

LogicalResult IfOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return failed(verifyBody(*this, getOnTrueAttr(), symbols)) ? failure() : verifyBody(*this, getOnFalseAttr(), symbols);
}

LogicalResult IfOp::verify() {
  if (failed(verifyCondition(*this, getCondition())) || failed(verifySizes(*this, getTrueSizes())))
    return failure();
  return verifySizes(*this, getFalseSizes());
}

//===- loop -------------------------------------------------------------------------------------------------------===//

LogicalResult LoopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyBody(*this, getBodyAttr(), symbols);
}

LogicalResult LoopOp::verify() {
  if (failed(verifySizes(*this, getSizes())) || (getCondition() && failed(verifyCondition(*this, getCondition()))))
    return failure();
  if (getTripCount() && !llvm::cast<RankedTensorType>(getTripCount().getType()).getElementType().isInteger(64))
    return emitOpError() << "expected a trip count of type i64, got " << getTripCount().getType();
  if (getReverseScanned().size() != getScanned().size())
    return emitOpError() << "expected " << getScanned().size() << " directions because so many inputs are scanned, got "
                         << getReverseScanned().size();
  if (getCarried().size() + getReverseCollected().size() != getResults().size())
    return emitOpError() << "expected " << getCarried().size() + getReverseCollected().size()
                         << " results because so many values are carried and collected, got " << getResults().size();
  return success();
}
