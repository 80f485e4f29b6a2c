// SPDX-License-Identifier: Apache-2.0
// Collects the constants of an artifact: weights, plain or packed into panels, and small constants from attributes.
#pragma once

#include "runtime/artifact/ArtifactWriter.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <map>
#include <string>

namespace tilewright {

/// How a packed constant is read from its source: element `p` of the packed shape is source element `map(p)`, or zero
/// outside the source.
struct Packing {
  llvm::SmallVector<int64_t> packedShape;
  llvm::SmallVector<int64_t> sourceShape;
  mlir::AffineMap map; // packs fastest if linear in the two innermost packed coordinates
  uint32_t elementBytes = 0;
};

/// Fills `Contents::constants`, one entry for equal bytes. Owns copies of all constants in blocks of huge pages, which
/// a program on the host reads in place; the pages of the files they came from are released.
class PlanConstants {
public:
  explicit PlanConstants(std::vector<std::span<const std::byte>> &entries) : entries(entries), pool(entries) {}
  ~PlanConstants();
  PlanConstants(const PlanConstants &) = delete;

  uint32_t add(std::span<const std::byte> bytes);
  /// Adds an attribute's elements as they lie in memory (bools are bytes).
  uint32_t add(mlir::DenseElementsAttr value);
  /// Packs `source`, the constant named `key`, once for each distinct (key, packing), and returns the entry's index.
  Expected<uint32_t> addPacked(const std::string &key, std::span<const std::byte> source, const Packing &packing);

private:
  struct Block {
    std::byte *memory;
    size_t size, used;
  };
  std::span<std::byte> reserve(size_t bytes);
  uint32_t keep(std::span<const std::byte> reserved);

  const std::vector<std::span<const std::byte>> &entries;
  runtime::ConstantPool pool;
  std::vector<Block> blocks;
  std::map<std::string, uint32_t> packed;
};

} // namespace tilewright
