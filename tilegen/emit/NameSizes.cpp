// SPDX-License-Identifier: Apache-2.0
#include "tilegen/emit/NameSizes.h"

#include "frontend/graph/Sizes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright::tilegen {

namespace {

/// The expressions of a kernel's symbols, and where each symbol is read.
class SizeReader {
public:
  explicit SizeReader(tile::KernelOp kernel);

  /// The kernel's new symbols, as expressions in the ones it has: in the order in which they are read.
  SmallVector<AffineExpr> named() const;

private:
  void read(AffineExpr expr, AffineExpr quotient);
  bool isNamed(AffineExpr quotient) const;

  llvm::SetVector<AffineExpr> order;                                 // symbols, and quotients around them
  llvm::MapVector<AffineExpr, AffineExpr> quotientAround;            // by symbol: null if it is read outside of it too
  llvm::DenseMap<AffineExpr, llvm::SetVector<AffineExpr>> symbolsIn; // by quotient
};

} // namespace

SizeReader::SizeReader(tile::KernelOp kernel) {
  auto visit = [&](AffineMap map) {
    for (AffineExpr expr : map.getResults())
      read(expr, {});
  };
  AttrTypeWalker walker; // visits equal attributes and types once
  walker.addWalk([&](AffineMapAttr map) { visit(map.getValue()); });
  walker.addWalk([&](tile::BufferType buffer) { visit(buffer.getSizes()); });
  walker.walk(kernel.getFunctionType());
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (attribute.getName() != kernel.getSymbolsAttrName())
        walker.walk(attribute.getValue());
    for (Type type : op->getResultTypes())
      walker.walk(type);
  });
}

static bool isQuotientOfSymbols(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary && (expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::CeilDiv) &&
         expr.isSymbolicOrConstant();
}

/// Reads `expr`, which is inside of `quotient` if that is not null.
void SizeReader::read(AffineExpr expr, AffineExpr quotient) {
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    AffineExpr around = isQuotientOfSymbols(expr) ? expr : quotient;
    read(binary.getLHS(), around);
    read(binary.getRHS(), around);
    return;
  }
  if (!isa<AffineSymbolExpr>(expr))
    return;
  auto [found, isNew] = quotientAround.try_emplace(expr, quotient);
  if (!isNew && found->second != quotient)
    found->second = {};
  if (quotient)
    symbolsIn[quotient].insert(expr);
  if (quotient)
    order.insert(quotient);
  order.insert(expr);
}

/// Whether the symbols in `quotient` are read nowhere else, and it is at least 1 where its symbols are at least 1.
bool SizeReader::isNamed(AffineExpr quotient) const {
  const llvm::SetVector<AffineExpr> &inside = symbolsIn.at(quotient);
  if (llvm::any_of(inside, [&](AffineExpr symbol) { return quotientAround.lookup(symbol) != quotient; }))
    return false;
  return graph::isNonNegative(quotient - 1, 1);
}

SmallVector<AffineExpr> SizeReader::named() const {
  SmallVector<AffineExpr> result;
  for (AffineExpr expr : order) {
    AffineExpr quotient = isa<AffineSymbolExpr>(expr) ? quotientAround.lookup(expr) : expr;
    if (isa<AffineSymbolExpr>(expr) ? !quotient || !isNamed(quotient) : isNamed(quotient))
      result.push_back(expr);
  }
  return result;
}

/// Replaces the kernel's symbol arguments by `count` new ones.
static void setSymbolArguments(tile::KernelOp kernel, unsigned count) {
  Builder builder(kernel.getContext());
  Block &body = kernel.getBody().front();
  unsigned buffers = kernel.getNumBuffers();
  body.eraseArguments(buffers, body.getNumArguments() - buffers);
  for (unsigned i = 0; i < count; ++i)
    body.addArgument(builder.getIndexType(), kernel.getLoc());
  kernel.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), {}));
  SmallVector<Attribute> attributes(kernel.getArgAttrsAttr().getValue().take_front(buffers));
  attributes.resize(buffers + count, builder.getDictionaryAttr({}));
  kernel.setArgAttrsAttr(builder.getArrayAttr(attributes));
}

/// Names quotients and numbers symbols once. True if a quotient was named: another one around it may be named next.
static bool nameOnce(tile::KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  AffineMap before = kernel.getSymbolsAttr().getValue();
  SmallVector<AffineExpr> named = SizeReader(kernel).named();
  llvm::DenseMap<AffineExpr, AffineExpr> replacements;
  for (auto [i, expr] : llvm::enumerate(named))
    replacements[expr] = getAffineSymbolExpr(i, context);
  auto renamed = [&](AffineMap map) { // a map without symbols stays one
    return map.getNumSymbols() == 0 ? map : map.replace(replacements, map.getNumDims(), named.size());
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](AffineMapAttr map) { return AffineMapAttr::get(renamed(map.getValue())); });
  replacer.addReplacement([&](tile::BufferType buffer) {
    return tile::BufferType::get(context, buffer.getElementType(), renamed(buffer.getSizes()));
  });
  kernel.removeSymbolsAttr();
  replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  setSymbolArguments(kernel, named.size());
  bool hasQuotients = false;
  for (AffineExpr &expr : named) {
    hasQuotients |= !isa<AffineSymbolExpr>(expr);
    expr = graph::canonicalSize(expr.replaceSymbols(before.getResults()));
  }
  kernel.setSymbolsAttr(AffineMapAttr::get(AffineMap::get(0, before.getNumSymbols(), named, context)));
  return hasQuotients;
}

void nameSizes(tile::KernelOp kernel) {
  while (nameOnce(kernel)) {
  }
}

} // namespace tilewright::tilegen
