// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Signature.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace tilewright::graph {

namespace {

/// Writes operations down with their values numbered from 0.
class SignatureWriter {
public:
  explicit SignatureWriter(Signature &signature) : signature(signature) {}

  void write(Region &region) {
    signature.push_back(region.getBlocks().size());
    for (Block &block : region) {
      blocks.try_emplace(&block, blocks.size());
      define(block.getArguments());
    }
    for (Block &block : region) {
      signature.push_back(block.getOperations().size());
      for (Operation &op : block)
        write(op);
    }
  }

  template <typename Unique> void add(Unique unique) {
    signature.push_back(reinterpret_cast<uintptr_t>(unique.getAsOpaquePointer()));
  }

private:
  void write(Operation &op) {
    add(op.getName());
    add(op.getAttrDictionary());
    signature.push_back(op.getNumOperands());
    for (Value operand : op.getOperands())
      signature.push_back(numbers.at(operand));
    signature.push_back(op.getNumSuccessors());
    for (Block *successor : op.getSuccessors())
      signature.push_back(blocks.at(successor));
    define(op.getResults());
    signature.push_back(op.getNumRegions());
    for (Region &region : op.getRegions())
      write(region);
  }

  void define(ValueRange values) {
    signature.push_back(values.size());
    for (Value value : values) {
      numbers.try_emplace(value, numbers.size());
      add(value.getType());
    }
  }

  Signature &signature;
  llvm::DenseMap<Value, uintptr_t> numbers;
  llvm::DenseMap<Block *, uintptr_t> blocks;
};

} // namespace

Signature signatureOf(Operation *op, ArrayRef<StringRef> without) {
  Signature signature;
  SignatureWriter writer(signature);
  for (NamedAttribute attribute : op->getAttrs()) // in the order of their names
    if (!llvm::is_contained(without, attribute.getName().strref())) {
      writer.add(attribute.getName());
      writer.add(attribute.getValue());
    }
  for (Region &region : op->getRegions())
    writer.write(region);
  return signature;
}

} // namespace tilewright::graph
