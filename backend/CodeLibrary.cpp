// SPDX-License-Identifier: Apache-2.0
#include "backend/CodeLibrary.h"

#include <set>

using namespace mlir;

namespace tilewright {

/// Equal for kernels with equal code: it leaves out the kernel's name and the sizes that launches pass.
static graph::Signature signatureOf(tile::KernelOp kernel) {
  return graph::signatureOf(kernel, {kernel.getSymNameAttrName(), kernel.getSymbolsAttrName()});
}

static void require(const std::vector<std::string> &needs, PlanRequest &request) {
  for (const std::string &needed : needs)
    if (!llvm::is_contained(request.requirements, needed))
      request.requirements.push_back(needed);
}

/// Generates code for the kernels that have none yet. The others are taken out of `module` meanwhile and put back at
/// its end.
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
