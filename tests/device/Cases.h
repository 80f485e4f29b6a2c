// SPDX-License-Identifier: Apache-2.0
// The cases of device conformance: each is a tile kernel, its inputs, and the expected outputs by plain loops in
// double.
//
// Three programs share this list. `tilewright-device-cases` compiles it to a folder; `tilewright-device-check` runs
// that folder on a device without a compiler; and tests/backend/gpu runs the small cases on an imitated GPU.
#pragma once

#include "runtime/DType.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tilewright::test {

/// A buffer of the kernel. Inputs hold numbers in [-1, 1), or in [0, below) if that is not 0; the output is poisoned.
struct BufferSpec {
  DType type = DType::F32;
  int64_t count = 0;
  int64_t below = 0;
};

/// Element `index` of input buffer number `buffer`, the same on every machine.
double inputValue(const BufferSpec &spec, size_t buffer, int64_t index);
/// The value rounded to `type`.
double rounded(DType type, double value);
/// The value with ten bits behind the first one, to nearest even.
double roundedToTf32(double value);
void store(DType type, std::byte *at, double value);
double load(DType type, const std::byte *at);

struct DeviceCase {
  std::string name = {}, family = {}, layout = {}, edge = {};
  DType type = DType::F32;
  std::string kernel = {};              // text of a tile.kernel @k, or of a graph.kernel with a schedule
  std::vector<BufferSpec> buffers = {}; // the last one is the output
  std::vector<int64_t> scalars = {};
  std::array<int64_t, 3> grid = {1, 1, 1};
  /// The expected output element.
  std::function<double(int64_t index)> expected = {};
  double tolerance = 1e-5; // times 1 + |expected|
  uint64_t errorWord = 0;
  bool small = false;          // fast enough for an imitated GPU
  bool chainsTf32 = false;     // for targets that multiply what is made of products of singles (tile::chainsSingles)
  bool takesWideTiles = false; // for targets with shared memory for tiles of 320 columns, which AMD's 64 KiB are not
  bool needsClusters = false;  // for targets with clusters of blocks
  bool roundsTf32 = false;     // for targets whose copy engine rounds to tf32: others take ties elsewhere, or no tf32
};

std::vector<DeviceCase> deviceCases();

// Families, a file each.
void addPointwiseCases(std::vector<DeviceCase> &cases);
void addRowCases(std::vector<DeviceCase> &cases);
void addProductCases(std::vector<DeviceCase> &cases);
void addStreamedCases(std::vector<DeviceCase> &cases);
void addModelProductCases(std::vector<DeviceCase> &cases);
void addFirstStripCases(std::vector<DeviceCase> &cases);
void addLateStoreCases(std::vector<DeviceCase> &cases);
void addGemvCases(std::vector<DeviceCase> &cases);
void addWindowCases(std::vector<DeviceCase> &cases);
void addGatherCases(std::vector<DeviceCase> &cases);
void addRollCases(std::vector<DeviceCase> &cases);
void addAttentionCases(std::vector<DeviceCase> &cases);
void addSharedSumCases(std::vector<DeviceCase> &cases);
void addStoredWeightCases(std::vector<DeviceCase> &cases);
void addPairedProductCases(std::vector<DeviceCase> &cases);
void addGatedStepCases(std::vector<DeviceCase> &cases);
void addPixelCases(std::vector<DeviceCase> &cases);
void addSlidingWindowCases(std::vector<DeviceCase> &cases);
void addStepCases(std::vector<DeviceCase> &cases);

/// "f16" and the like: how tile text spells a type.
std::string typeText(DType type);
/// The unit roundoff of a float type; 0 for integers.
double roundoff(DType type);

} // namespace tilewright::test
