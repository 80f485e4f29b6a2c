// SPDX-License-Identifier: Apache-2.0
#include "tilegen/tile/MatmulPrecision.h"

#include "tilegen/tile/TileOps.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

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
      return parseMatmulPrecision(text.getValue()).value_or(defaultMatmulPrecision); // verified below
  return defaultMatmulPrecision;
}

/// Anybody may have edited the IR of a stage.
mlir::LogicalResult tile::TileDialect::verifyOperationAttribute(mlir::Operation *op, mlir::NamedAttribute attribute) {
  if (attribute.getName() != matmulPrecisionAttr)
    return mlir::success();
  auto text = mlir::dyn_cast<mlir::StringAttr>(attribute.getValue());
  if (mlir::isa<mlir::ModuleOp>(op) && text && parseMatmulPrecision(text))
    return mlir::success();
  return op->emitOpError() << "expected " << matmulPrecisionAttr << " on a module, ieee, tf32x3 or tf32, got "
                           << attribute.getValue();
}
