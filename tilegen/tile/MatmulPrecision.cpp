// SPDX-License-Identifier: Apache-2.0
#include "tilegen/tile/MatmulPrecision.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

using namespace tilewright;

static constexpr std::pair<MatmulPrecision, llvm::StringLiteral> names[] = {
    {MatmulPrecision::Ieee, "ieee"}, {MatmulPrecision::Tf32x3, "tf32x3"}, {MatmulPrecision::Tf32, "tf32"}};

llvm::StringRef tilewright::name(MatmulPrecision precision) { return names[static_cast<size_t>(precision)].second; }

std::optional<MatmulPrecision> tilewright::parseMatmulPrecision(llvm::StringRef text) {
  for (auto [precision, name] : names)
    if (name == text)
      return precision;
  return std::nullopt;
}

MatmulPrecision tilewright::matmulPrecisionOf(mlir::Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto text = op->getAttrOfType<mlir::StringAttr>(matmulPrecisionAttr))
      return parseMatmulPrecision(text.getValue()).value_or(defaultMatmulPrecision);
  return defaultMatmulPrecision;
}
