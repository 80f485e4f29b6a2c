// The rules that a plan must keep before anything of it is used. The writer and the loader both check them.
//
//   ids          every id is in range; the operands of an expression come before it
//   names        targets, modes, symbols and entries are there and unique where they are looked up by name
//   symbols      one bound by input dimension (i, d) stands in that dimension as itself; any other is bound by exactly
//                one step, and nothing reads it before
//   values       inputs and outputs are numbered without gaps; a constant has exactly its entry's size; an alias is
//                acyclic, names its offset, and ends in something that is not an output's alias of itself
//   bodies       their symbols are bound by inputs or by the step that runs them; inputs and outputs have the types and
//                ranks that it gives and takes; no deeper than Format.h says
//   steps        arguments match the kernel's ABI; inputs and constants are never written; everything is written before
//                it is read, and every output is written
//   code         a kernel's entry exists in its code object, inside its bytes; code and plan have the same target
//   interface    all plans have the same inputs and outputs (name, type, rank)
#pragma once

#include "runtime/plan/Plan.h"

namespace tilewright::runtime {

/// Ok, or Code::Malformed with what is wrong where.
Status verifyContents(const Contents &contents);

} // namespace tilewright::runtime
