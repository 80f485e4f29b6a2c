// SPDX-License-Identifier: Apache-2.0
// What the host backend generates code for, and the vectors of it that emission chooses from.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// The processor feature, as LLVM calls it, that products of whole matrices of bytes need.
inline constexpr std::string_view matrixFeature = "amx-int8";

struct HostOptions {
  std::string cpu = "x86-64-v4"; // an x86-64 microarchitecture level: v3 (AVX2, FMA, F16C) or v4 (AVX-512)
  unsigned vectorBits = 512;     // width of a vector register that code should use
  // Beyond the level's, in LLVM's words: avx512vnni or avxvnni, products of bytes summed by fours; matrixFeature.
  std::vector<std::string> features = {};
  bool repeats = false;                // kernels are steps of a loop, which read their weights again and again
  unsigned jobs = 1;                   // modules compiled at a time; the code does not depend on it
  std::string *llvmText = nullptr;     // receives the optimized LLVM IR, if set
  std::string *assemblyText = nullptr; // receives the assembly, if set

  bool has(std::string_view feature) const { return std::ranges::find(features, feature) != features.end(); }
  /// As LLVM wants them: "+avx512vnni,+amx-int8".
  std::string featureText() const {
    std::string text;
    for (const std::string &feature : features)
      text += (text.empty() ? "+" : ",+") + feature;
    return text;
  }
};

namespace host {

struct VectorUnit {
  unsigned wide;   // elements of a main loop's vector: a few registers of f32, one of bytes
  unsigned narrow; // elements of one register of f32
  bool masks;      // masked accesses of every element size

  explicit VectorUnit(const HostOptions &options)
      : wide(options.vectorBits / 8), narrow(options.vectorBits / 32), masks(options.vectorBits >= 512) {}
  unsigned registers() const { return masks ? 32 : 16; }
};

} // namespace host
} // namespace tilewright
