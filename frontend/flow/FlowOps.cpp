// The flow dialect: registration, and what its operations' traits cannot verify.
#include "frontend/flow/FlowOps.h"

#include "mlir/IR/Builders.h"
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

LogicalResult LoopOp::verify() {
  if (getReverseScanned().size() != getScanned().size())
    return emitOpError() << "expected " << getScanned().size() << " directions because so many inputs are scanned, got "
                         << getReverseScanned().size();
  if (getCarried().size() + getReverseCollected().size() != getResults().size())
    return emitOpError() << "expected " << getCarried().size() + getReverseCollected().size()
                         << " results because so many values are carried and collected, got " << getResults().size();
  return success();
}
