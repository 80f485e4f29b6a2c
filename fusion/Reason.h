// SPDX-License-Identifier: Apache-2.0
// The reasons why two kernels are not fused, with the sentences that --explain-fusion prints.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <string>

namespace tilewright::fusion {

enum class Reason {
  OtherMode,
  DataDependent,
  SecondContraction,
  SecondReduction,
  ReductionOfContraction,
  NotSoftmax,
  KeysMixed,
  UnknownHead,
  FewRows,
  SmallScores,
  Target,
  OtherLoops,
  WindowIsRepeated,
  MapNotInvertible,
  RepeatsRoot,
  TwoMaps,
  OutputsDiffer,
  NeededInMemory,
  NotConvex,
  RepeatsWork,
  TooLarge,
  ShortRows,
  ScatteredRows,
  BesideRoot,
  WindowIsCopied,
  PixelsAreCopied,
  RowsAreCopied,
};

struct Refusal {
  Reason reason;
  mlir::Operation *at; // the operation that does not fit
};

struct ReasonText {
  Reason reason;
  llvm::StringLiteral name;     // stable: appears in JSON and tests
  llvm::StringLiteral sentence; // completes "not fused because ..."
};

inline constexpr ReasonText reasonTexts[] = {
    {Reason::OtherMode, "mode", "the fusion mode keeps them apart"},
    {Reason::DataDependent, "data-dependent", "one of them runs on the host, outside any kernel"},
    {Reason::SecondContraction, "second-contraction",
     "a kernel holds one contraction (two around a softmax, or of one left side), and this would be one more"},
    {Reason::SecondReduction, "contraction-of-reduction",
     "a contraction would wait for a whole reduction of its operand"},
    {Reason::ReductionOfContraction, "reduction-of-contraction",
     "a reduction needs whole rows of a contraction, which no one tile holds"},
    {Reason::NotSoftmax, "not-softmax",
     "between the two contractions is no softmax whose rows can be summed a few keys at a time"},
    {Reason::KeysMixed, "keys-mixed",
     "the rows between the two contractions are not those along which both have a loop of its own"},
    {Reason::UnknownHead, "unknown-head",
     "the size of a head is not known when compiling, or more than one tile can hold"},
    {Reason::FewRows, "few-rows",
     "too few rows would share what one kernel reads again for each of its blocks of rows"},
    {Reason::SmallScores, "small-scores", "the scores are so few that they stay in a core's cache between kernels"},
    {Reason::Target, "target", "this target computes such contractions in kernels of their own"},
    {Reason::OtherLoops, "other-loops", "a reduction feeds a reduction over other loops"},
    {Reason::WindowIsRepeated, "window-result-repeated",
     "the result of a reduction over windows or outer loops is read again inside those loops"},
    {Reason::MapNotInvertible, "map-not-invertible", "the result is read through an access that is not one to one"},
    {Reason::RepeatsRoot, "repeats-root",
     "it would recompute a contraction or reduction for every repetition of its result"},
    {Reason::TwoMaps, "two-maps", "one value would be needed at two coordinates at once"},
    {Reason::OutputsDiffer, "outputs-differ", "the outputs would have different numbers of elements, or another order"},
    {Reason::NeededInMemory, "needed-in-memory", "the value is needed in memory by several kernels"},
    {Reason::NotConvex, "not-convex", "the group would not be convex: a path leaves it and comes back"},
    {Reason::RepeatsWork, "repeats-work", "work would be repeated for every use of its result"},
    {Reason::TooLarge, "too-large", "one kernel would hold more than registers and compile time are good for"},
    {Reason::ShortRows, "short-rows", "the reduced rows are too short to hide what would be computed on them"},
    {Reason::ScatteredRows, "scattered-rows",
     "the elements of a reduced row would lie apart in memory, and so would those of neighbouring rows"},
    {Reason::BesideRoot, "beside-root",
     "each has a contraction or reduction of its own, and the one's value only joins the other's result"},
    {Reason::WindowIsCopied, "window-copied", "windows of singles are multiplied faster where they lie in memory"},
    {Reason::PixelsAreCopied, "pixels-copied", "the pixels of its windows are copied as they are, from memory"},
    {Reason::RowsAreCopied, "rows-copied", "the rows that it pads are copied as they are, from memory"},
};

constexpr const ReasonText &text(Reason reason) { return reasonTexts[static_cast<size_t>(reason)]; }

/// Every reason has its row, in the order of the enumeration.
static_assert([] {
  size_t i = 0;
  for (const ReasonText &row : reasonTexts)
    if (static_cast<size_t>(row.reason) != i++)
      return false;
  return i == static_cast<size_t>(Reason::RowsAreCopied) + 1;
}());

} // namespace tilewright::fusion
