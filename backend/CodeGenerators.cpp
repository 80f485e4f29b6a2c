// SPDX-License-Identifier: Apache-2.0
// Hands tile IR to the backend that TargetDesc names.
#include "backend/CodeGenerators.h"

#include "backend/amdgcn/AmdgcnTarget.h"
#include "backend/amdgcn/CompileAmdgcn.h"
#include "backend/host/HostBackend.h"
#include "backend/nvptx/CompileNvptx.h"
#include "backend/nvptx/NvptxTarget.h"
#include "tilegen/place/Place.h"

#include <fmt/format.h>
#include <span>

namespace tilewright {

static HostOptions hostOptions(const TargetDesc &target) {
  HostOptions options;
  options.cpu = std::string(target.cpu);
  options.vectorBits = target.vectorBits;
  std::vector<std::string> needs = requirementsOf(target);
  options.features.assign(needs.begin() + 1, needs.end());
  return options;
}

static Expected<TargetCode> generateHost(mlir::ModuleOp module, const TargetDesc &target, unsigned jobs) {
  HostOptions options = hostOptions(target);
  options.jobs = jobs;
  Expected<HostCode> host = compileHost(module, options);
  if (!host)
    return host.status();
  TargetCode code;
  code.kind = runtime::CodeKind::HostX86;
  std::span<const std::byte> bytes = std::as_bytes(std::span(host->bytes)); // none, of a model without kernels
  code.bytes.assign(bytes.begin(), bytes.end());
  code.requirements = requirementsOf(target);
  bool usesMatrixUnit = llvm::any_of(module.getOps<tile::KernelOp>(), [](tile::KernelOp kernel) {
    return kernel.getScheduleAttr() && kernel.getScheduleAttr().getMatrix();
  });
  if (!usesMatrixUnit)
    std::erase(code.requirements, matrixFeature);
  for (const HostKernelCode &kernel : host->kernels) {
    code.symbols.push_back({kernel.name, kernel.entry});
    code.kernels[kernel.name].workspaceBytes = kernel.workspaceBytes;
  }
  return code;
}

Expected<TargetCode> generateCode(mlir::ModuleOp module, const TargetDesc &target, const CodeOptions &options) {
  switch (target.backend) {
  case Backend::Nvptx:
    return compileNvptx(module, target,
                        {.cubin = options.cubin, .faults = {}, .jobs = options.jobs, .llvmText = nullptr});
  case Backend::Amdgcn:
    return compileAmdgcn(module, target,
                         {.codeObjectVersion = options.codeObjectVersion, .faults = {}, .llvmText = nullptr});
  case Backend::Host:
    break;
  }
  return generateHost(module, target, options.jobs);
}

Expected<CodeText> generateText(mlir::ModuleOp module, const TargetDesc &target, const CodeOptions &options) {
  CodeText text;
  if (target.backend == Backend::Host) {
    HostOptions options = hostOptions(target);
    options.llvmText = &text.llvm;
    options.assemblyText = &text.assembly;
    Expected<HostCode> host = compileHost(module, options);
    return host ? Expected<CodeText>(std::move(text)) : host.status();
  }
  if (target.backend == Backend::Amdgcn) {
    Expected<std::string> assembly = assemblyAmdgcn(
        module, target, {.codeObjectVersion = options.codeObjectVersion, .faults = {}, .llvmText = &text.llvm});
    if (!assembly)
      return assembly.status();
    text.assembly = std::move(*assembly);
    return text;
  }
  Expected<TargetCode> code =
      compileNvptx(module, target, {.cubin = false, .faults = {}, .jobs = 1, .llvmText = &text.llvm});
  if (!code)
    return code.status();
  text.assembly.assign(reinterpret_cast<const char *>(code->bytes.data()), code->bytes.size()); // PTX is text already
  return text;
}

std::unique_ptr<GpuTarget> makeGpuTarget(const TargetDesc &target) {
  switch (target.backend) {
  case Backend::Nvptx:
    return std::make_unique<NvptxTarget>(target);
  case Backend::Amdgcn:
    return std::make_unique<AmdgcnTarget>(target.warpWidth);
  case Backend::Host:
    break;
  }
  return nullptr;
}

mlir::LogicalResult placeKernels(mlir::ModuleOp module, const TargetDesc &target) {
  return target.backend == Backend::Host ? mlir::success() : tile::placeTiles(module, target);
}

} // namespace tilewright
