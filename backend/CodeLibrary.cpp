// SPDX-License-Identifier: Apache-2.0
#include "backend/CodeLibrary.h"

#include <set>

using namespace mlir;

namespace tilewright {

namespace {

/// Writes operations down with their values numbered from 0.
class SignatureWriter {
public:
  explicit SignatureWriter(KernelSignature &signature) : signature(signature) {}

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

  KernelSignature &signature;
  llvm::DenseMap<Value, uintptr_t> numbers;
  llvm::DenseMap<Block *, uintptr_t> blocks;
};

} // namespace

KernelSignature signatureOf(tile::KernelOp kernel) {
  KernelSignature signature;
  SignatureWriter writer(signature);
  for (NamedAttribute attribute : kernel->getAttrs()) // in the order of their names
    if (attribute.getName() != kernel.getSymNameAttrName() && attribute.getName() != kernel.getSymbolsAttrName()) {
      writer.add(attribute.getName());
      writer.add(attribute.getValue());
    }
  writer.write(kernel.getBody());
  return signature;
}

static void require(const std::vector<std::string> &needs, PlanRequest &request) {
  for (const std::string &needed : needs)
    if (!llvm::is_contained(request.requirements, needed))
      request.requirements.push_back(needed);
}

/// The kernels that have no code yet, generated as one module that keeps its other kernels after that.
Status CodeLibrary::generateNew(ModuleOp module, const TargetDesc &target, const CodeOptions &options,
                                PlanRequest &request, const std::map<Operation *, Key> &keys) {
  std::set<const Key *, bool (*)(const Key *, const Key *)> seen([](const Key *a, const Key *b) { return *a < *b; });
  SmallVector<tile::KernelOp> all(module.getOps<tile::KernelOp>()), others;
  for (tile::KernelOp kernel : all)
    if (known.count(keys.at(kernel)) || !seen.insert(&keys.at(kernel)).second)
      others.push_back(kernel);
  for (tile::KernelOp kernel : others)
    kernel->remove();
  Expected<TargetCode> code = generateCode(module, target, options);
  for (tile::KernelOp kernel : others)
    module.push_back(kernel);
  TILEWRIGHT_TRY(code);
  require(code->requirements, request);
  bool isFirst = llvm::none_of(objects, [&](const auto &object) { return object.target == request.target; });
  if (code->kernels.empty() && !isFirst)
    return {};
  const TargetCode &kept = codes.emplace_back(std::move(*code));
  auto index = static_cast<uint32_t>(objects.size());
  objects.push_back({kept.kind, request.target, kept.symbols, kept.bytes});
  for (tile::KernelOp kernel : all)
    if (auto facts = kept.kernels.find(kernel.getSymName().str()); facts != kept.kernels.end())
      known.try_emplace(keys.at(kernel), KernelCode{index, facts->first, facts->second});
  return {};
}

Status CodeLibrary::generate(ModuleOp module, const TargetDesc &target, const CodeOptions &options,
                             PlanRequest &request) {
  std::map<Operation *, Key> keys;
  for (auto kernel : module.getOps<tile::KernelOp>())
    keys[kernel] = {target.name, signatureOf(kernel)};
  TILEWRIGHT_TRY(generateNew(module, target, options, request, keys));
  for (auto &[kernel, key] : keys) {
    const KernelCode &code = request.code[kernel] = known.at(key);
    require(codes[code.index].requirements, request);
  }
  return {};
}

} // namespace tilewright
