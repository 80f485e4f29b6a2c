// The constants of an artifact while it is being built: weights as they are, packed into panels, and small ones written out.
#pragma once

#include "runtime/ArtifactWriter.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <deque>
#include <map>
#include <string>

namespace tilewright {

/// How a packed constant is read from its source: element `p` of the packed shape is source element `map(p)`, or zero outside the source.
struct Packing {
  llvm::SmallVector<int64_t> packedShape;
  llvm::SmallVector<int64_t> sourceShape;
  mlir::AffineMap map; // fastest where it is linear in the innermost packed coordinate
  uint32_t elementBytes = 0;
};

/// Fills `Contents::constants`; equal bytes are one entry. Owns what it makes; bytes handed in must outlive the artifact's writing.
class PlanConstants {
public:
  explicit PlanConstants(std::vector<std::span<const std::byte>> &entries) : pool(entries) {}

  uint32_t add(std::span<const std::byte> bytes) { return pool.add(bytes); }
  /// Writes out an attribute as memory holds it: bool as bytes.
  uint32_t add(mlir::DenseElementsAttr value);
  /// Packs once for each distinct (key, packing).
  Expected<uint32_t> addPacked(const std::string &key, std::span<const std::byte> source, const Packing &packing);

private:
  uint32_t own(std::vector<std::byte> bytes);

  runtime::ConstantPool pool;
  std::deque<std::vector<std::byte>> owned; // a deque: entries never move
  std::map<std::string, uint32_t> packed;
};

} // namespace tilewright
