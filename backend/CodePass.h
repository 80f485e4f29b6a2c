// Code generation as a pass: tilewright-code-print{target=sm_80} prints the assembly of a module's tile kernels to
// stdout.
#pragma once

namespace tilewright {
void registerCodePasses();
} // namespace tilewright
