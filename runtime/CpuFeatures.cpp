// SPDX-License-Identifier: Apache-2.0
// A row for each feature by LLVM's name. The compiler's builtin asks cpuid, and whether the operating system saves the
// registers.
#include "runtime/CpuFeatures.h"

#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

namespace tilewright::runtime {

struct CpuFeature {
  const char *name;
  const char *meaning; // its common name
  bool (*present)();
};

/// Whether Linux lets this process use the registers of AMX, which it saves for those alone that have asked for them.
/// Threads inherit the permission. Documentation/arch/x86/xstate.rst.
static bool mayUseTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

#define FEATURE(name, meaning) {name, meaning, [] { return __builtin_cpu_supports(name) != 0; }}

// Levels: x86-64 psABI, "microarchitecture levels". Features: LLVM's X86.td.
static constexpr CpuFeature cpuFeatures[] = {
    FEATURE("x86-64-v4", "AVX-512"),
    FEATURE("x86-64-v3", "AVX2 and FMA"),
    FEATURE("x86-64-v2", "SSE4.2"),
    FEATURE("avx2", "AVX2"),
    FEATURE("fma", "FMA"),
    FEATURE("f16c", "F16C"),
    FEATURE("avx512f", "AVX-512 F"),
    FEATURE("avx512bw", "AVX-512 BW"),
    FEATURE("avx512dq", "AVX-512 DQ"),
    FEATURE("avx512vl", "AVX-512 VL"),
    FEATURE("avx512vnni", "AVX-512 VNNI"),
    FEATURE("avx512bf16", "AVX-512 BF16"),
    FEATURE("avx512fp16", "AVX-512 FP16"),
    FEATURE("avxvnni", "AVX VNNI"),
    {"amx-tile", "AMX", [] { return __builtin_cpu_supports("amx-tile") && mayUseTiles(); }},
    {"amx-int8", "AMX int8", [] { return __builtin_cpu_supports("amx-int8") && mayUseTiles(); }},
    {"amx-bf16", "AMX bf16", [] { return __builtin_cpu_supports("amx-bf16") && mayUseTiles(); }},
};
#undef FEATURE

std::string cpuLevel() {
  for (const CpuFeature &feature : cpuFeatures)
    if (std::string_view(feature.name).starts_with("x86-64-") && feature.present())
      return feature.name;
  return "x86-64";
}

Status checkCpuFeatures(std::span<const std::string> requirements, const std::string &artifact) {
  for (const std::string &wanted : requirements) {
    const CpuFeature *known = nullptr;
    for (const CpuFeature &feature : cpuFeatures)
      known = wanted == feature.name ? &feature : known;
    if (!known)
      return {
          Code::Device,
          fmt::format("{} needs the processor feature '{}', which this version does not know; use a newer Tilewright",
                      artifact, wanted)};
    if (!known->present())
      return {
          Code::Device,
          fmt::format("{} was compiled for {} ({}), this machine has {}; compile the model again with --target host",
                      artifact, wanted, known->meaning, cpuLevel())};
  }
  return {};
}

} // namespace tilewright::runtime
