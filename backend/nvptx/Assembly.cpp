// SPDX-License-Identifier: Apache-2.0
#include "backend/nvptx/Assembly.h"

using namespace mlir;

namespace tilewright {

Value assemblyValue(GpuTarget::Builder &b, Type result, ValueRange operands, StringRef text, StringRef constraints,
                    bool claimsEffects) {
  return LLVM::InlineAsmOp::create(b, result, operands, text, constraints, claimsEffects, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getRes();
}

void assemblyEffect(GpuTarget::Builder &b, ValueRange operands, StringRef text, StringRef constraints) {
  std::string all = constraints.empty() ? "~{memory}" : (constraints + ",~{memory}").str();
  LLVM::InlineAsmOp::create(b, TypeRange(), operands, text, all, /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
}

} // namespace tilewright
