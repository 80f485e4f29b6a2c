// SPDX-License-Identifier: Apache-2.0
// Loads of single elements under a predicate.
//
// They are assembly because LLVM takes more than the load into a branch: also what follows from the value that the
// element has otherwise. Then the next load waits for this one. Stores stay branches: with predicates, reductions that
// store one element here and there took up to 1.6 of their time (docs/performance/gpu-rows.md, "Long rows").
#include "backend/gpu/KernelDistributor.h"
#include "backend/nvptx/Assembly.h"
#include "backend/nvptx/NvptxTarget.h"

using namespace mlir;
using namespace tilewright;

constexpr unsigned leastBits = 16; // of a register

/// The constraint of LLVM's inline assembly for a register of this type.
static char constraintOf(IntegerType type) { return type.getWidth() == 64 ? 'l' : type.getWidth() == 32 ? 'r' : 'h'; }

Value NvptxTarget::loadWhere(Builder &b, Value live, Value address, Value otherwise) {
  Type type = otherwise.getType();
  unsigned bits = 8 * elementBytes(type);
  IntegerType integer = b.getIntegerType(type.getIntOrFloatBitWidth()),
              word = b.getIntegerType(std::max(bits, leastBits));
  Value dead = type == integer ? otherwise : LLVM::BitcastOp::create(b, integer, otherwise).getResult();
  if (integer != word)
    dead = LLVM::ZExtOp::create(b, word, dead);
  Value loaded = assemblyValue(b, word, {dead, live, address}, fmt::format("@$2 ld.global.b{} $0, [$3];", bits),
                               fmt::format("={},0,b,l,~{{memory}}", constraintOf(word)), /*claimsEffects=*/true);
  if (integer != word)
    loaded = LLVM::TruncOp::create(b, integer, loaded);
  return type == integer ? loaded : LLVM::BitcastOp::create(b, type, loaded).getResult();
}
