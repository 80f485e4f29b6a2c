// SPDX-License-Identifier: Apache-2.0
// One contraction with the weights side by side, what follows each product in step, and a slice for each reader:
//
//     %q = contract %x, %wq         %y = contract %x, %[wq wk wv]
//     %r = addf %q, %bq             %z = addf %y, %[bq bk bv]
//     %k = contract %x, %wk    ->   %r = slice %z at 0
//     %s = addf %k, %bk             %s = slice %z at 768
//     %v = contract %x, %wv         ...
//
// It pays on GPUs by the launches that it saves: one kernel reads the left side once and has the tiles of all, which
// matters most where one product has fewer tiles than the machine has units. So a product stays out if it would cost a
// launch: if its readers are an epilogue that its own kernel would compute, or need its result in memory of its own.
#include "fusion/products/JoinProducts.h"

#include "fusion/products/ProductStrands.h"

#include "frontend/graph/GraphOps.h"
#include "frontend/normalize/Patterns.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

/// More products of one left side become several contractions: their results would all be in memory at once.
static constexpr size_t mostProducts = 4;

namespace {
/// What products must agree on to be one contraction.
struct JoinKey {
  Value left;
  Attribute maps;
  SmallVector<Type> types; // left and right without its columns, result without its columns
  bool operator==(const JoinKey &) const = default;
};
} // namespace

/// Products of one left side that differ in their columns alone, in program order.
static SmallVector<SmallVector<JoinableProduct>> candidates(func::FuncOp main) {
  llvm::MapVector<Value, SmallVector<std::pair<JoinKey, SmallVector<JoinableProduct>>>> byLeft;
  for (auto contract : main.front().getOps<graph::ContractOp>()) {
    std::optional<JoinableProduct> product = joinableProduct(contract);
    if (!product)
      continue;
    JoinKey key{contract.getLhs(), contract.getMaps(), typesWithoutColumns(*product)};
    auto &sets = byLeft[contract.getLhs()];
    auto set = llvm::find_if(sets, [&](auto &other) { return other.first == key; });
    if (set == sets.end())
      set = sets.insert(sets.end(), {key, {}});
    set->second.push_back(*product);
  }
  SmallVector<SmallVector<JoinableProduct>> result;
  for (auto &[left, sets] : byLeft)
    for (auto &[key, products] : sets)
      for (size_t first = 0; first + 1 < products.size(); first += mostProducts)
        result.push_back(llvm::to_vector(ArrayRef(products).slice(first).take_front(mostProducts)));
  return result;
}

/// Whether a column of the result has at most `most` elements. False for results of run-time sizes.
static bool hasAtMostRows(const JoinableProduct &product, int64_t most) {
  auto result = cast<RankedTensorType>(graph::ContractOp(product.contract).getType());
  return result.hasStaticShape() && result.getNumElements() / product.columns <= most;
}

/// Leaves out products that would cost a launch, until all that remain can be joined, and joins them.
static Join join(SmallVector<JoinableProduct> products, int64_t mostRows) {
  Join result{{}, JoinVerdict::Joined};
  JoinVerdict refused = JoinVerdict::Joined;
  auto nodesOf = [](ArrayRef<JoinableProduct> products) {
    SmallVector<int64_t> nodes;
    for (const JoinableProduct &product : products)
      llvm::append_range(nodes, normalize::nodesOf(product.contract));
    return nodes;
  };
  SmallVector<int64_t> all = nodesOf(products);
  if (mostRows != anyRows && !hasAtMostRows(products.front(), mostRows))
    return {all, JoinVerdict::ManyRows};
  while (products.size() > 1) {
    ProductStrands strands(products);
    SmallVector<JoinableProduct> kept;
    for (size_t i = 0; i < products.size(); ++i) {
      JoinVerdict verdict = strands.verdictOn(i);
      if (verdict == JoinVerdict::Joined)
        kept.push_back(products[i]);
      else if (refused == JoinVerdict::Joined)
        refused = verdict;
    }
    if (kept.size() == products.size()) {
      strands.join();
      return {nodesOf(products), JoinVerdict::Joined};
    }
    products = std::move(kept);
  }
  return {all, refused};
}

std::vector<Join> fusion::joinProducts(func::FuncOp main, int64_t mostRows) {
  std::vector<Join> joins;
  for (SmallVector<JoinableProduct> &products : candidates(main))
    joins.push_back(join(std::move(products), mostRows));
  return joins;
}
