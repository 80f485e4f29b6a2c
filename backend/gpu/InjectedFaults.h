// SPDX-License-Identifier: Apache-2.0
// Faults that can be built into distributed kernels, for tests of the tests.
#pragma once

namespace tilewright {

/// Faults that a careful test suite must notice when they are built in on purpose.
struct InjectedFaults {
  bool dropMasks = false;     // stores ignore their bounds
  bool dropBarriers = false;  // no barrier is emitted
  bool dropRingWaits = false; // slots are read before they are full
  bool releaseEarly = false;  // nobody waits for products, so slots are released while these read them
  bool dropProxyFences =
      false; // what threads write to shared memory is not made visible to the instructions' own reads
};

} // namespace tilewright
