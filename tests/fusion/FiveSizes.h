// SPDX-License-Identifier: Apache-2.0
// One model with symbolic sizes, compiled once fused and once unfused, run at five sizes, and compared with the
// reference at each.
#pragma once

#include "tests/fusion/RandomModel.h"

namespace tilewright::test {

enum class Verdict { Ran, Refused };

/// Fails the test if results differ or an internal error occurs. Refused: the compiler does not support the model; its
/// message is printed. With `compiledOnly` no node may run through the reference.
Verdict compareAtFiveSizes(const RandomModel &model, unsigned seed, bool compiledOnly);

} // namespace tilewright::test
