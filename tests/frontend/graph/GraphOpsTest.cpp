// SPDX-License-Identifier: Apache-2.0
// What no text of IR can bring about: a constant whose bytes are in the pool, but are not as many as its type has.
#include "frontend/graph/GraphOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;

TEST(GraphOps, RefusesConstantsOfAnotherSize) {
  MLIRContext context;
  std::string key =
      context.getOrLoadDialect<graph::GraphDialect>()->constants().add(std::as_bytes(std::span("eight b")));
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  OpBuilder builder(&context);
  auto verifyAs = [&](int64_t elements) {
    auto type = RankedTensorType::get({elements}, builder.getF32Type());
    OwningOpRef<graph::ConstantOp> constant = graph::ConstantOp::create(builder, builder.getUnknownLoc(), type, key);
    return succeeded(verify(constant->getOperation()));
  };
  EXPECT_TRUE(verifyAs(2)) << message;
  EXPECT_FALSE(verifyAs(3));
  EXPECT_NE(message.find("expected 12 bytes because of the type 'tensor<3xf32>', the pool has 8"), std::string::npos)
      << message;
}
