// SPDX-License-Identifier: Apache-2.0
// Groups grow until their products agree.
#include "frontend/normalize/Reassociation.h"

#include "frontend/graph/Sizes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

unsigned normalize::countReal(ArrayRef<AffineExpr> sizes, unsigned begin, unsigned end) {
  return llvm::count_if(sizes.slice(begin, end - begin), [](AffineExpr size) { return !isUnit(size); });
}

SmallVector<ReassociationGroup> normalize::reassociation(ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
  SmallVector<ReassociationGroup> groups;
  if (from.empty() && to.empty())
    return groups;
  MLIRContext *context = (from.empty() ? to : from).front().getContext();
  unsigned i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationGroup group{i, i + 1, j, j + 1};
    AffineExpr fromProduct = from[i], toProduct = to[j];
    while (fromProduct != toProduct && (group.fromEnd < from.size() || group.toEnd < to.size())) {
      // Extend the side whose product divides the other; if neither does, extend both.
      bool fromLags = graph::divideExactly(toProduct, fromProduct) != nullptr;
      bool toLags = !fromLags && graph::divideExactly(fromProduct, toProduct) != nullptr;
      if (group.fromEnd < from.size() && (!toLags || group.toEnd == to.size()))
        fromProduct = graph::productOf(context, {fromProduct, from[group.fromEnd++]});
      if (group.toEnd < to.size() && (!fromLags || group.fromEnd == from.size()) && fromProduct != toProduct)
        toProduct = graph::productOf(context, {toProduct, to[group.toEnd++]});
    }
    i = group.fromEnd, j = group.toEnd;
    groups.push_back(group);
  }
  if (groups.empty())
    groups.push_back({0, 0, 0, 0});
  groups.back().fromEnd = from.size();
  groups.back().toEnd = to.size();
  return groups;
}
