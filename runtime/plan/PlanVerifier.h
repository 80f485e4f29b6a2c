// SPDX-License-Identifier: Apache-2.0
// The invariants of plans. Both the writer and the loader check them before anything of a plan is used.
//
//   ids          every id is in range; the operands of an expression come before it
//   names        targets, modes, symbols and entries are not empty, and unique where they are looked up by name
//   symbols      a symbol bound to dimension d of input i is that dimension's whole expression; any other is bound by
//                exactly one step, and not read before it
//   values       inputs and outputs are numbered without gaps; a constant has exactly its entry's size; an alias is
//                listed after its source, so that chains have no cycle, and has an offset
//   bodies       their symbols are bound by inputs or by the step that runs them; inputs and outputs have the types and
//                ranks that the step passes and expects; nested no deeper than Format.h allows
//   steps        arguments match the kernel's ABI; inputs and constants are never written; everything is written before
//                it is read, and every output is written
//   code         a kernel's entry exists in its code object, inside its bytes; code and plan have the same target
//   interface    all plans have the same inputs and outputs (name, type, rank)
#pragma once

#include "runtime/plan/Plan.h"

namespace tilewright::runtime {

/// Code::Malformed with the first violation and where it is.
Status verifyContents(const Contents &contents);

} // namespace tilewright::runtime
