// Hands tile IR to the backend that TargetDesc names.
#include "backend/CodeGenerators.h"

#include "backend/amdgcn/CompileAmdgcn.h"
#include "backend/host/HostBackend.h"
#include "backend/nvptx/CompileNvptx.h"

#include <cstring>
#include <fmt/format.h>

namespace tilewright {

static HostOptions hostOptions(const TargetDesc &target) {
  HostOptions options;
  options.cpu = std::string(target.cpu);
  options.vectorBits = target.vectorBits;
  return options;
}

static Expected<TargetCode> generateHost(mlir::ModuleOp module, const TargetDesc &target) {
  Expected<HostCode> host = compileHost(module, hostOptions(target));
  if (!host)
    return host.status();
  TargetCode code;
  code.kind = runtime::CodeKind::HostX86;
  code.bytes.resize(host->bytes.size());
  std::memcpy(code.bytes.data(), host->bytes.data(), host->bytes.size());
  code.requirements = {std::string(target.cpu)};
  for (const HostKernelCode &kernel : host->kernels) {
    code.symbols.push_back({kernel.name, kernel.entry});
    code.kernels[kernel.name].workspaceBytes = kernel.workspaceBytes;
  }
  return code;
}

Expected<TargetCode> generateCode(mlir::ModuleOp module, const TargetDesc &target) {
  switch (target.backend) {
  case Backend::Nvptx: return compileNvptx(module, target);
  case Backend::Amdgcn: return compileAmdgcn(module, target);
  case Backend::Host: break;
  }
  return generateHost(module, target);
}

Expected<std::string> generateAssembly(mlir::ModuleOp module, const TargetDesc &target) {
  if (target.backend == Backend::Amdgcn)
    return assemblyAmdgcn(module, target);
  if (target.backend == Backend::Nvptx) { // PTX is text already
    Expected<TargetCode> code = compileNvptx(module, target);
    if (!code)
      return code.status();
    return std::string(reinterpret_cast<const char *>(code->bytes.data()), code->bytes.size());
  }
  std::string text;
  HostOptions options = hostOptions(target);
  options.llvmText = &text;
  Expected<HostCode> host = compileHost(module, options);
  if (!host)
    return host.status();
  return text;
}

} // namespace tilewright
