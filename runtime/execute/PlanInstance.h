// SPDX-License-Identifier: Apache-2.0
// A plan instantiated at given sizes: expressions evaluated, values sized and placed in the arena, and all guards
// checked whose sizes are known. A Context caches one for each combination of symbol values.
#pragma once

#include "runtime/Device.h"
#include "runtime/plan/ArenaPlan.h"
#include "runtime/plan/PlanAnalysis.h"

#include <memory>

namespace tilewright::runtime {

/// The end of sentences about sizes that this plan refuses, though the model may accept them.
inline constexpr std::string_view sizesNeedPlan = "; if the model takes these sizes, compile it for them with --shapes";

/// The code of a failure that says only that sizes are not those which a plan assumes, so that another plan of the
/// model may take them. Nothing else in a run has this code. A Context gives its callers Code::Malformed instead.
inline constexpr Code sizesDiffer = Code::Differs;

inline constexpr uint64_t noPlace = UINT64_MAX;

/// Blocks of memory: (address, size in bytes).
using MemoryUsed = std::vector<std::pair<const void *, uint64_t>>;

struct PlanInstance {
  std::vector<int64_t> symbols; // the cache key
  ExprValues sizes;
  std::vector<uint64_t> bytes;   // by value; 0 while its size is unknown
  std::vector<uint64_t> offsets; // by value: where a root lies in the arena; noPlace for values that live elsewhere
  uint64_t arenaBytes = 0;

  std::shared_ptr<void> dims;       // staging memory with the elements of all recordable WriteDims steps
  std::vector<uint64_t> dimsOffset; // by step, into `dims`

  // Recordings by segment, valid while addresses of values equal recordedAddresses; null until the second run.
  std::vector<std::unique_ptr<Recording>> recordings;
  std::vector<void *> recordedAddresses;
  // By segment: the memory that its loops' bodies used in the last run that was not replayed.
  std::vector<MemoryUsed> usedByBodies;
  int runs = 0;
};

/// Which values the arena holds: on a device with memory of its own, inputs and outputs too.
enum class ArenaScope { Temporaries, InputsAndOutputsToo };

Expected<std::unique_ptr<PlanInstance>> instantiate(const Plan &plan, const PlanAnalysis &analysis,
                                                    std::vector<int64_t> symbols, ArenaScope scope);

/// Bytes of a value whose dimensions are known. Code::Malformed if a dimension is negative or the value has more than
/// 2^48 bytes.
Expected<uint64_t> valueBytes(const Plan &plan, const ExprValues &sizes, ValueId id);
Expected<Shape> valueShape(const Plan &plan, const ExprValues &sizes, ValueId id);

/// Checks a step's sizes before it runs: guards hold (else `sizesDiffer`), views lie inside the viewed value, copies
/// have equal sizes, grids are not negative.
Status checkStepSizes(const Plan &plan, const PlanAnalysis &analysis, const ExprValues &sizes, const Step &step);

} // namespace tilewright::runtime
