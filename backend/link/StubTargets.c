/* SPDX-License-Identifier: Apache-2.0 */
/* lld initializes every target that its LLVM was built with. Only X86, NVPTX and AMDGPU are in this binary: for the
 * rest, nothing. */

#define STUB_TARGET(name)                                                                                              \
  void LLVMInitialize##name##TargetInfo(void) {}                                                                       \
  void LLVMInitialize##name##Target(void) {}                                                                           \
  void LLVMInitialize##name##TargetMC(void) {}                                                                         \
  void LLVMInitialize##name##AsmPrinter(void) {}                                                                       \
  void LLVMInitialize##name##AsmParser(void) {}

STUB_TARGET(AArch64)
STUB_TARGET(ARM)
STUB_TARGET(AVR)
STUB_TARGET(BPF)
STUB_TARGET(Hexagon)
STUB_TARGET(Lanai)
STUB_TARGET(LoongArch)
STUB_TARGET(M68k)
STUB_TARGET(MSP430)
STUB_TARGET(Mips)
STUB_TARGET(PowerPC)
STUB_TARGET(RISCV)
STUB_TARGET(SPIRV)
STUB_TARGET(Sparc)
STUB_TARGET(SystemZ)
STUB_TARGET(VE)
STUB_TARGET(WebAssembly)
STUB_TARGET(XCore)
STUB_TARGET(Xtensa)
/* NVPTX has no assembly parser to initialize. */
void LLVMInitializeNVPTXAsmParser(void) {}
