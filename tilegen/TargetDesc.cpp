// SPDX-License-Identifier: Apache-2.0
// The table of targets. Above each group: where its numbers are from.
#include "tilegen/TargetDesc.h"

#include <fmt/format.h>
#include <ranges>

namespace tilewright {

//===- Matrix instructions ----------------------------------------------------------------------------------------===//

// PTX ISA, "Matrix multiply-accumulate operation using mma instruction": warp-wide mma.sync.
static constexpr MatrixInstruction ampereMatrix[] = {
    {"mma.sync.m16n8k16.f16", 16, 8, 16, MatrixType::F16}, {"mma.sync.m16n8k16.bf16", 16, 8, 16, MatrixType::BF16},
    {"mma.sync.m16n8k8.tf32", 16, 8, 8, MatrixType::TF32}, {"mma.sync.m8n8k4.f64", 8, 8, 4, MatrixType::F64},
    {"mma.sync.m16n8k32.s8", 16, 8, 32, MatrixType::I8},
};

// PTX ISA, "Asynchronous warpgroup level matrix multiply-accumulate": as Ampere's, and wgmma, here with 64 of its 8 to
// 256 columns, and with 16 for what roles feed in narrower pieces.
static constexpr MatrixInstruction hopperMatrix[] = {
    {"wgmma.mma_async.m64n64k16.f16", 64, 64, 16, MatrixType::F16, 4},
    {"wgmma.mma_async.m64n64k16.bf16", 64, 64, 16, MatrixType::BF16, 4},
    {"wgmma.mma_async.m64n64k32.s8", 64, 64, 32, MatrixType::I8, 4},
    {"wgmma.mma_async.m64n64k8.tf32", 64, 64, 8, MatrixType::TF32, 4},
    {"wgmma.mma_async.m64n16k16.f16", 64, 16, 16, MatrixType::F16, 4},
    {"wgmma.mma_async.m64n16k16.bf16", 64, 16, 16, MatrixType::BF16, 4},
    {"mma.sync.m16n8k16.f16", 16, 8, 16, MatrixType::F16},
    {"mma.sync.m16n8k16.bf16", 16, 8, 16, MatrixType::BF16},
    {"mma.sync.m16n8k8.tf32", 16, 8, 8, MatrixType::TF32},
    {"mma.sync.m8n8k4.f64", 8, 8, 4, MatrixType::F64},
    {"mma.sync.m16n8k32.s8", 16, 8, 32, MatrixType::I8},
};

// AMD Instinct MI100, MI200 and MI300 instruction set architecture guides, "Matrix core instructions".
static constexpr MatrixInstruction cdna1Matrix[] = {
    {"v_mfma_f32_32x32x8f16", 32, 32, 8, MatrixType::F16},   {"v_mfma_f32_16x16x16f16", 16, 16, 16, MatrixType::F16},
    {"v_mfma_f32_32x32x4bf16", 32, 32, 4, MatrixType::BF16}, {"v_mfma_f32_16x16x8bf16", 16, 16, 8, MatrixType::BF16},
    {"v_mfma_f32_32x32x2f32", 32, 32, 2, MatrixType::F32},   {"v_mfma_i32_32x32x8i8", 32, 32, 8, MatrixType::I8},
};
static constexpr MatrixInstruction cdna2Matrix[] = {
    {"v_mfma_f32_32x32x8f16", 32, 32, 8, MatrixType::F16},
    {"v_mfma_f32_16x16x16f16", 16, 16, 16, MatrixType::F16},
    {"v_mfma_f32_32x32x8bf16_1k", 32, 32, 8, MatrixType::BF16},
    {"v_mfma_f32_16x16x16bf16_1k", 16, 16, 16, MatrixType::BF16},
    {"v_mfma_f32_32x32x2f32", 32, 32, 2, MatrixType::F32},
    {"v_mfma_f64_16x16x4f64", 16, 16, 4, MatrixType::F64},
    {"v_mfma_i32_32x32x8i8", 32, 32, 8, MatrixType::I8},
};
static constexpr MatrixInstruction cdna3Matrix[] = {
    {"v_mfma_f32_32x32x8_f16", 32, 32, 8, MatrixType::F16},
    {"v_mfma_f32_16x16x16_f16", 16, 16, 16, MatrixType::F16},
    {"v_mfma_f32_32x32x8_bf16", 32, 32, 8, MatrixType::BF16},
    {"v_mfma_f32_16x16x16_bf16", 16, 16, 16, MatrixType::BF16},
    {"v_mfma_f32_32x32x2_f32", 32, 32, 2, MatrixType::F32},
    {"v_mfma_f64_16x16x4_f64", 16, 16, 4, MatrixType::F64},
    {"v_mfma_i32_32x32x16_i8", 32, 32, 16, MatrixType::I8},
};

// AMD RDNA3 and RDNA4 instruction set architecture guides, "Wave matrix multiply accumulate".
static constexpr MatrixInstruction rdnaMatrix[] = {
    {"v_wmma_f32_16x16x16_f16", 16, 16, 16, MatrixType::F16},
    {"v_wmma_f32_16x16x16_bf16", 16, 16, 16, MatrixType::BF16},
    {"v_wmma_i32_16x16x16_iu8", 16, 16, 16, MatrixType::I8},
};

// Intel SDM, "TDPBUSD": tiles of 16 rows of 64 bytes, of which the right side's hold four k of 16 columns each.
static constexpr MatrixInstruction amxMatrix[] = {{"tdpbusd", 16, 16, 64, MatrixType::I8}};

//===- Targets ----------------------------------------------------------------------------------------------------===//

using enum Backend;
using enum ProgramModel;

// What these brought: docs/performance.md, "What a kernel with roles does before it waits", "What a step costs", "Which
// tiles are neighbours" and "First steps asked for ahead".
static constexpr RoleOptions hopperRoles{
    .prefetchesMaps = true, .constantsFirst = true, .bulkStoresFrom = 2, .stepsAhead = 2, .neighbours = 24};

static constexpr TargetDesc table[] = {
    // x86-64 psABI, "Micro-architecture levels": v3 has AVX2, FMA and F16C, v4 AVX-512 F, BW, CD, DQ and VL.
    {"x86-64-v3", "x86-64-v3", Host, Vector, 256, 16, 1, 1, 1, 0, 0, 0, 0, 0, {}, false},
    // Intel SDM, "VPDPBUSD": four bytes times four signed bytes, added to 32 bits without saturation. From the least to
    // the best.
    {"x86-64-v3-vnni", "x86-64-v3", Host, Vector, 256, 16, 1, 1, 1, 0, 0, 0, 0, 0, {}, false, "avxvnni"},
    {"x86-64-v4", "x86-64-v4", Host, Vector, 512, 32, 1, 1, 1, 0, 0, 0, 0, 0, {}, false},
    {"x86-64-v4-vnni", "x86-64-v4", Host, Vector, 512, 32, 1, 1, 1, 0, 0, 0, 0, 0, {}, false, "avx512vnni"},
    {"x86-64-v4-amx", "x86-64-v4", Host, Vector, 512, 32, 1, 1, 1, 0, 0, 0, 0, 0, amxMatrix, false,
     "avx512vnni,amx-int8"},

    // CUDA C++ Programming Guide, "Technical specifications per compute capability" (threads, registers, shared
    // memory), and the data sheets: A100 80 GB SXM, RTX A6000, L40S, H200 SXM, B200, RTX PRO 6000.
    {"sm_80", "sm_80", Nvptx, Block, 128, 255, 32, 1024, 108, 163 << 10, 2.039e12, 19.5e12, 312e12, 624e12,
     ampereMatrix, true},
    {"sm_86", "sm_86", Nvptx, Block, 128, 255, 32, 1024, 84, 99 << 10, 0.768e12, 38.7e12, 154.8e12, 309.7e12,
     ampereMatrix, true},
    {"sm_89", "sm_89", Nvptx, Block, 128, 255, 32, 1024, 142, 99 << 10, 0.864e12, 91.6e12, 362e12, 733e12, ampereMatrix,
     true},
    // clang-format off
    {"sm_90a", "sm_90a", Nvptx, Block, 128, 255, 32, 1024, 132, 227 << 10, 4.8e12, 67e12, 989e12, 1979e12,
     hopperMatrix, true, /*features=*/{}, /*bulkCopies=*/true, /*dependentLaunches=*/true, hopperRoles,
     /*clusterBlocks=*/8},
    // clang-format on
    {"sm_100a", "sm_100a", Nvptx, Block, 128, 255, 32, 1024, 148, 227 << 10, 8.0e12, 80e12, 2250e12, 4500e12,
     ampereMatrix, true,
     /*features=*/{}, /*bulkCopies=*/false, /*dependentLaunches=*/true},
    {"sm_120a", "sm_120a", Nvptx, Block, 128, 255, 32, 1024, 188, 99 << 10, 1.792e12, 125e12, 500e12, 1000e12,
     ampereMatrix, true, /*features=*/{}, /*bulkCopies=*/false, /*dependentLaunches=*/true},

    // AMD's architecture guides as above (registers, LDS) and data sheets: MI100, MI250X (one of its two dies), MI300X,
    // MI355X, RX 7900 XTX, RX 9070 XT.
    {"gfx908", "gfx908", Amdgcn, Block, 128, 256, 64, 1024, 120, 64 << 10, 1.23e12, 23.1e12, 184.6e12, 184.6e12,
     cdna1Matrix, false},
    {"gfx90a", "gfx90a", Amdgcn, Block, 128, 512, 64, 1024, 110, 64 << 10, 1.6e12, 23.9e12, 191.5e12, 191.5e12,
     cdna2Matrix, false},
    {"gfx942", "gfx942", Amdgcn, Block, 128, 512, 64, 1024, 304, 64 << 10, 5.3e12, 163.4e12, 1307e12, 2614.9e12,
     cdna3Matrix, false},
    {"gfx950", "gfx950", Amdgcn, Block, 128, 512, 64, 1024, 256, 160 << 10, 8.0e12, 157.3e12, 2500e12, 5000e12,
     cdna3Matrix, false},
    {"gfx1100", "gfx1100", Amdgcn, Block, 128, 256, 32, 1024, 96, 64 << 10, 0.96e12, 61.4e12, 123e12, 123e12,
     rdnaMatrix, false},
    {"gfx1201", "gfx1201", Amdgcn, Block, 128, 256, 32, 1024, 64, 64 << 10, 0.64e12, 48.7e12, 195e12, 389e12,
     rdnaMatrix, false},
};

std::span<const TargetDesc> targets() { return table; }

std::vector<std::string> requirementsOf(const TargetDesc &target) {
  std::vector<std::string> result = {std::string(target.cpu)};
  for (auto feature : std::views::split(target.features, ','))
    result.emplace_back(feature.begin(), feature.end());
  return result;
}

Expected<const TargetDesc *> findTarget(std::string_view name) {
  if (name == "host")
    return &table[0];
  std::string known = "host";
  for (const TargetDesc &row : table) {
    if (row.name == name)
      return &row;
    known += fmt::format(", {}", row.name);
  }
  return Status(Code::Usage, fmt::format("unknown target '{}': expected one of {}", name, known));
}

} // namespace tilewright
