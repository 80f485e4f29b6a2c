// A plan at given sizes: every expression evaluated, every value sized and placed, every guard that can be checked,
// checked. Made once for each combination of symbol values and kept by the Context.
#pragma once

#include "runtime/Device.h"
#include "runtime/plan/ArenaPlan.h"
#include "runtime/plan/PlanAnalysis.h"

#include <memory>

namespace tilewright::runtime {

/// Ends a sentence on sizes that a plan does not take: the model may.
inline constexpr std::string_view sizesNeedPlan = "; if the model takes these sizes, compile it for them with --shapes";

inline constexpr uint64_t noPlace = UINT64_MAX;

struct Frame {
  std::vector<int64_t> symbols; // the key
  ExprValues sizes;
  std::vector<uint64_t> bytes;   // of each value; 0 while its size is not known
  std::vector<uint64_t> offsets; // of each root's place in the arena; noPlace for values that live elsewhere
  uint64_t arenaBytes = 0;

  std::shared_ptr<void> dims;       // staging memory with the elements of all recordable WriteDims steps
  std::vector<uint64_t> dimsOffset; // of each step's part of it

  // Recordings of the segments, valid while the addresses are those they were made with; empty until the second run.
  std::vector<std::unique_ptr<Recording>> recordings;
  std::vector<void *> recordedAddresses;
  int runs = 0;
};

/// Which values the arena holds besides temporaries: on a device with memory of its own, inputs and outputs too.
enum class ArenaScope { Temporaries, InputsAndOutputsToo };

Expected<std::unique_ptr<Frame>> makeFrame(const Plan &plan, const PlanAnalysis &analysis, std::vector<int64_t> symbols,
                                           ArenaScope scope);

/// Bytes of a value whose dimensions are known. Code::Malformed if it is negative or beyond 2^48.
Expected<uint64_t> valueBytes(const Plan &plan, const ExprValues &sizes, ValueId id);
Expected<Shape> valueShape(const Plan &plan, const ExprValues &sizes, ValueId id);

/// What must hold of a step's sizes before it runs: guards, views inside what they view, equal sizes of copies, grids
/// not negative.
Status checkStepSizes(const Plan &plan, const PlanAnalysis &analysis, const ExprValues &sizes, const Step &step);

} // namespace tilewright::runtime
