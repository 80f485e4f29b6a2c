// SPDX-License-Identifier: Apache-2.0
// Faults that can be injected into distributed kernels, to test that the tests notice them.
#pragma once

namespace tilewright {

/// Each switch leaves out or breaks one thing that correct code needs.
struct InjectedFaults {
  bool dropMasks = false;        // stores ignore their bounds
  bool dropBarriers = false;     // no barrier is emitted
  bool dropAwaits = false;       // no thread waits for the kernels before this one
  bool dropRingWaits = false;    // slots are read before they are full
  bool dropStoreWaits = false;   // rooms of results are overwritten before they have been read, or read too early
  bool dropReleases = false;     // no fence between writing a part and counting the arrival
  bool dropAcquires = false;     // no fence between counting the arrival and reading parts
  bool dropArrivals = false;     // arrivals are not counted, so that no program is the last
  bool allAreLast = false;       // each program of a shared tile acts as the last one
  bool dropProductWaits = false; // products are not awaited: slots are released while they read
  bool releaseEarly = false;     // slots are released, and time passes, before products read them
  /// No proxy fence: instructions that read shared memory by themselves (wgmma, bulk stores) may miss writes of
  /// threads.
  bool dropProxyFences = false;
  bool giveEarly = false;    // to blocks of a cluster that may not have started
  bool addEarly = false;     // what blocks of a cluster may not have given yet
  bool contractSums = false; // of lanes, so that one adds what is not rounded and the other one what is
};

} // namespace tilewright
