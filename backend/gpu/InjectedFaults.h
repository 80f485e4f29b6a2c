// SPDX-License-Identifier: Apache-2.0
// Faults that can be built into distributed kernels, for tests of the tests.
#pragma once

namespace tilewright {

/// Faults that a careful test suite must notice when they are built in on purpose.
struct InjectedFaults {
  bool dropMasks = false;      // stores ignore their bounds
  bool dropBarriers = false;   // no barrier is emitted
  bool dropAwaits = false;     // nobody waits for the kernels before
  bool dropRingWaits = false;  // slots are read before they are full
  bool dropStoreWaits = false; // rooms of stores are used again before these have read them
  bool dropReleases = false;   // a program of a shared tile arrives before its part has
  bool dropAcquires = false;   // the last program may read what memory held before the others arrived
  bool dropArrivals = false;   // nobody counts the programs that share a tile, so that none is the last
  bool allAreLast = false;     // each program of a shared tile goes on as if it were the last
  bool releaseEarly = false;   // nobody waits for products, so slots are released while these read them
  /// What threads write to shared memory is not made visible to the instructions' own reads.
  bool dropProxyFences = false;
};

} // namespace tilewright
