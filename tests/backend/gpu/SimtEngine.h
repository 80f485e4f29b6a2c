// SPDX-License-Identifier: Apache-2.0
// The copy engine of the imitated GPU, and the barriers of roles.
//
// Copies of boxes are done as late as allowed: when somebody waits for their barrier, and stores when somebody waits
// for their group, or never. Until then the destination of a copy is poisoned, and the source of a store may change. A
// thread that waits for what cannot happen any more hangs, which the machine sees.
#pragma once

#include "backend/gpu/CopyEngine.h"

#include <array>
#include <cstdint>

namespace tilewright::test {

/// What a kernel gets for a tensor map.
struct SimtTensorMap {
  const std::byte *start;
  uint32_t elementBytes, rank;
  bool isConstant, rounded, arePixels;
  std::array<int64_t, 5> sizes, strides, box; // strides in elements
  std::array<int64_t, 5> lower, upper, steps; // of pixels, from the second dimension on
};

/// Positions in the table `simt_engine`.
enum EngineVerb {
  StoreBox,
  CommitStores,
  AwaitStores,
  WriteMatrices,
  MeetWarp,
  PrefetchLine,
  CopyBox,
  MakeBarrier,
  ExpectBytes,
  Arrive,
  WaitPhase,
  Pause,
  RoleBarrier,
  EngineVerbCount
};

class SimtEngine final : public CopyEngine {
public:
  void markTensorMap(mlir::LLVM::LLVMFuncOp, unsigned) override {}
  void prefetchMap(Builder &, Value) override {} // changes nothing but times
  void prefetchLine(Builder &b, Value address) override;
  void copyBox(Builder &b, Value shared, Value map, llvm::ArrayRef<Value> coordinates, llvm::ArrayRef<Value> offsets,
               Value barrier, bool streamed) override;
  void storeBox(Builder &b, Value shared, Value map, llvm::ArrayRef<Value> coordinates) override;
  void commitStores(Builder &b) override;
  void awaitStores(Builder &b, unsigned pending) override;
  Value elect(Builder &b, Value lane) override;
  void writeMatrices(Builder &b, Value address, llvm::ArrayRef<Value> words) override;
  void meetWarp(Builder &b) override;
  void makeBarrier(Builder &b, Value address, unsigned arrivals) override;
  void publishBarriers(Builder &) override {}
  void expectBytes(Builder &b, Value barrier, unsigned bytes) override;
  void arrive(Builder &b, Value barrier) override;
  void waitPhase(Builder &b, Value barrier, Value parity) override;
  void pause(Builder &b) override;
  void roleBarrier(Builder &b, Value number, unsigned threads) override;
  void setRegisters(Builder &, unsigned, bool) override {}
};

/// The functions of the table.
std::array<const void *, EngineVerbCount> engineVerbs();

} // namespace tilewright::test
