// SPDX-License-Identifier: Apache-2.0
// What a contraction multiplies lies in memory, unless it is an access alone. So arithmetic on a value that is repeated
// is done once for all copies, and the contraction reads the one result through the broadcast. Exporters write keys
// that several heads of queries share so, and scale the copies:
//
//     %1 = graph.broadcast %keys dims [0, 2, 3]        %1 = arith.mulf %keys, %s
//     %2 = graph.reshape %1                            %2 = graph.broadcast %1 dims [0, 2, 3]
//     %3 = arith.mulf %2, %s                     ->    %3 = graph.reshape %2
//     %4 = graph.contract %q, %3                       %4 = graph.contract %q, %3
//
// The same holds for what several operations read, such as the mask of padding that all layers of a model add to their
// scores: it is computed once, and each kernel reads the one result through the broadcast.
//
// Elsewhere arithmetic stays behind broadcasts, where kernels take it in.
#include "frontend/normalize/Patterns.h"
#include "frontend/normalize/Rebuild.h"

#include "frontend/graph/Sizes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

namespace {

/// A scalar or a splat constant with the number that a tensor has everywhere; null if there is none.
Value uniformOf(Value value) {
  if (auto broadcast = value.getDefiningOp<graph::BroadcastOp>())
    return tensorOf(broadcast.getData()).getRank() == 0 ? broadcast.getData() : Value();
  SplatElementsAttr splat;
  return matchPattern(value, m_Constant(&splat)) ? value : Value();
}

/// The broadcast that repeats the elements of `value`, perhaps through a reshape.
graph::BroadcastOp repeatOf(Value value) {
  if (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getData();
  auto broadcast = value.getDefiningOp<graph::BroadcastOp>();
  return broadcast && tensorOf(broadcast.getData()).getRank() > 0 ? broadcast : graph::BroadcastOp();
}

/// The only operand of an elementwise operation that is not the same number everywhere; null if there are more, or
/// none.
Value variedOperand(Operation *op) {
  Value varied;
  for (Value operand : op->getOperands()) {
    if (uniformOf(operand))
      continue;
    if (varied && varied != operand)
      return {};
    varied = operand;
  }
  return varied;
}

/// Whether a contraction multiplies `value`, as it is or after arithmetic that this rewrite could move as well. Looks
/// at a few readers only, since each step of a chain asks again.
bool isMultiplied(Value value) {
  constexpr size_t mostReaders = 32;
  llvm::SetVector<Operation *> readers(value.user_begin(), value.user_end());
  for (size_t i = 0; i < std::min(readers.size(), mostReaders); ++i) {
    Operation *reader = readers[i];
    if (isa<graph::ContractOp>(reader))
      return true;
    if (isa<graph::ReshapeOp, graph::TransposeOp>(reader) || (isElementwise(reader) && variedOperand(reader)))
      readers.insert_range(reader->getResult(0).getUsers());
  }
  return false;
}

/// Whether several operations read `value`, as it is or after arithmetic that this rewrite could move as well.
bool isShared(Value value) {
  constexpr int mostSteps = 32;
  for (int step = 0; step < mostSteps && value.hasOneUse(); ++step) {
    Operation *reader = *value.user_begin();
    bool isAccess = isa<graph::ReshapeOp, graph::TransposeOp, graph::BroadcastOp>(reader);
    if (!isAccess && !(isElementwise(reader) && variedOperand(reader)))
      return false;
    value = reader->getResult(0);
  }
  return llvm::any_of(value.getUsers(), [&](Operation *reader) { return reader != *value.user_begin(); });
}

struct SinkRepeats : RewritePattern {
  explicit SinkRepeats(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    Value varied = variedOperand(op);
    graph::BroadcastOp repeat = varied ? repeatOf(varied) : graph::BroadcastOp();
    if (!repeat || !(isMultiplied(op->getResult(0)) || isShared(op->getResult(0))))
      return failure();
    // A splat constant must have known sizes.
    if (tensorOf(repeat.getData()).hasStaticShape() != tensorOf(op->getResult(0)).hasStaticShape())
      return failure();
    Rebuild build(rewriter, op);
    Sizes sizes = sizesOf(repeat.getData());
    auto once = [&](Value operand) {
      return operand == varied ? repeat.getData() : build.broadcast(uniformOf(operand), {}, sizes);
    };
    Value result = build.elementwise(op, llvm::map_to_vector(op->getOperands(), once), sizes);
    Value repeated = build.broadcast(result, repeat.getDims(), sizesOf(repeat));
    rewriter.replaceOp(op, build.reshape(repeated, sizesOf(op->getResult(0))));
    return success();
  }
};

} // namespace

void normalize::addSinkRepeats(RewritePatternSet &patterns) { patterns.add<SinkRepeats>(patterns.getContext()); }
